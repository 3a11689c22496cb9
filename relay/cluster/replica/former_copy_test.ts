// A relay that has read more of its log than the log has.
import { assertEquals } from "@std/assert";
import { natsInstalled } from "../../../tests/support/nats.ts";
import { testWhen } from "../../../tests/support/requirement.ts";
import type { LogFields } from "../../../server/mod.ts";
import { createChannel } from "../../engine/testing/sample.ts";
import { freshPrefix, openTestCluster } from "../testing/open_test_cluster.ts";
import { sharedUrls } from "../testing/shared_nats.ts";

testWhen(
  natsInstalled,
  "a relay that finds a log which ends before where it had read says so, and serves",
  async () => {
    const folder = await Deno.makeTempDir();
    const path = `${folder}/copy.sqlite`;
    const [prefix, empty] = [freshPrefix(), freshPrefix()];
    let lives = 0;
    /** One life of the relay. Returns what it warned of. */
    const live = async (prefix: string): Promise<readonly LogFields[]> => {
      const warnings: LogFields[] = [];
      const { engine } = await openTestCluster({
        urls: sharedUrls,
        prefix,
        path,
        log: (level, event, fields = {}) => {
          if (level === "warn") warnings.push({ event, ...fields });
        },
      });
      await createChannel(engine, ++lives);
      await engine.close();
      return warnings;
    };
    assertEquals(await live(prefix), []);
    assertEquals(await live(prefix), []);
    const [warning, ...others] = await live(empty);
    const { event, former, position } = warning ?? {};
    assertEquals([event, Number(former) > Number(position), others], ["log_set_back", true, []]);
    assertEquals(await live(empty), []);
    await Deno.writeTextFile(path, "no database");
    assertEquals(await live(empty), []);
    await Deno.remove(folder, { recursive: true });
  },
);
