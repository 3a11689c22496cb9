import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { jetstream } from "@nats-io/jetstream";
import { connectToNodes } from "../nodes/node_connection.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { natsInstalled } from "../../../tests/support/nats.ts";
import { testWhen } from "../../../tests/support/requirement.ts";
import { EngineError } from "../../engine/mod.ts";
import { appended, createChannel, message } from "../../engine/testing/sample.ts";
import { encodeBatch } from "../log/batch.ts";
import { encodeCommand } from "../log/command.ts";
import { digestEvery } from "./replica_state.ts";
import { freshPrefix, openTestCluster } from "../testing/open_test_cluster.ts";
import { sharedUrls as urls } from "../testing/shared_nats.ts";
import { DivergenceCheck } from "./divergence_check.ts";

const [ours, others] = [new Uint8Array([1]), new Uint8Array([2])];

function votes(
  ...told: [relay: string, digest: Uint8Array][]
): { stopped: number[]; differences: number } {
  const stopped: number[] = [];
  const tripwire = new DivergenceCheck({
    relay: "me",
    digestAt: (position) => position === 128 ? ours : undefined,
    onDiffers: (position) => stopped.push(position),
  });
  for (const [relay, digest] of told) tripwire.take(relay, 128, digest);
  return { stopped, differences: tripwire.differences };
}

Deno.test("a relay whose copy differs stops, unless most agree with it", () => {
  assertEquals(votes(["me", ours], ["a", ours]), { stopped: [], differences: 0 });
  assertEquals(votes(["me", ours], ["a", others]).stopped, [128]);
  assertEquals(votes(["me", ours], ["a", ours], ["b", others]), { stopped: [], differences: 1 });
  assertEquals(votes(["me", ours], ["a", ours], ["b", others], ["c", others]).stopped, [128]);
});

Deno.test("a position that is not remembered is not judged", () => {
  const stopped: number[] = [];
  const tripwire = new DivergenceCheck({
    relay: "me",
    digestAt: () => undefined,
    onDiffers: (at) => stopped.push(at),
  });
  tripwire.take("a", 256, others);
  assertEquals(stopped, []);
});

testWhen(
  natsInstalled,
  "a relay that differs from the others says so, serves nobody any more, and ends",
  async () => {
    const prefix = freshPrefix();
    const [events, failures]: [string[], string[]] = [[], []];
    const { engine, stats } = await openTestCluster({
      urls,
      prefix,
      log: (_, event) => events.push(event),
      onFailed: (error) => failures.push(error.message),
    });
    const channelId = await createChannel(engine, 1);
    // Some more, so that the digest is there.
    for (let sent = 0; stats().position < digestEvery + 20; sent++) {
      appended(await engine.append(channelId, message(`${sent}`)));
    }
    const connection = await connectToNodes({ servers: [...urls] });
    const digest = encodeCommand({ op: "digest", position: digestEvery, digest: others });
    const tell = { writer: "another", relay: "relay-2", began: Number.MAX_SAFE_INTEGER };
    for (const [index, commands] of [[], [digest]].entries()) {
      await jetstream(connection).publish(
        `${prefix}.log`,
        encodeBatch({ ...tell, number: index + 1, commands }),
      );
    }
    await eventually(
      { what: "it ends" },
      () => Promise.resolve(failures.length),
      (count) => count > 0,
    );
    assertStringIncludes(failures[0] ?? "", `differs from others' at ${digestEvery}`);
    assertEquals([events.includes("fold_differs"), stats().differences], [true, 1]);
    await assertRejects(() => engine.append(channelId, message("refused")), EngineError);
    await connection.close();
    await engine.close();
  },
);
