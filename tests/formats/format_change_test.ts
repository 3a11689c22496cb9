/** Data of earlier versions is opened after a change of every format: forward, once, despite faults meanwhile. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { EngineError, migrations } from "../../relay/engine/mod.ts";
import { StaticError } from "../../sdk/mod.ts";
import { StoreError } from "../../sdk/platform/directory_store.ts";
import { fixtures } from "./fixture.ts";
import { goOn } from "./going_on.ts";
import { nextFormats, relayApplied, storeApplied } from "./next_formats.ts";
import { OpenedFixture } from "./opened_fixture.ts";

const [today, next] = [{ relay: [], store: [] }, nextFormats()];
const agents = ["alice", "bob", "carol"];
/** The oldest has the longest way. */
const [oldest] = await fixtures();
if (oldest === undefined) throw new TypeError("there are fixtures");
const { name, path, relayFormat } = oldest;

/** Starts the process, and kills it when it says so. */
async function dieInMigration(what: "relay" | "store", place: string, moment: "during" | "after"): Promise<void> {
  const program = new URL("dying_migration.ts", import.meta.url).pathname;
  const args = ["run", "-A", "--no-check", program, what, place, moment];
  await using child = new Deno.Command(Deno.execPath(), { args, stdout: "piped" }).spawn();
  const output = child.stdout.getReader();
  const { value } = await output.read();
  child.kill("SIGKILL");
  await output.cancel();
  await child.status;
  assertEquals(new TextDecoder().decode(value), "now\n");
}

async function refusesNewerStore(directory: string): Promise<void> {
  const error = await assertRejects(() => storeApplied(directory, today), StoreError, "update this one");
  assertEquals(error.code, "unsupported_version");
}

Deno.test(`${name}: after a change of both formats all goes on; it is made once, and there is no way back`, async () => {
  await using opened = await OpenedFixture.unpack(path);
  await opened.start(next);
  const names = [...migrations, ...next.relay].slice(relayFormat).map((migration) => migration.name);
  assertEquals(opened.migrated, [{ from: relayFormat, to: migrations.length + 1, names }]);
  await goOn(opened, relayFormat);
  await opened.stop();

  await opened.start(next);
  assertEquals(opened.migrated.length, 1, "the second start had nothing to migrate");
  for (const agent of agents) await opened.manager(agent);
  await opened.stop();
  assertEquals(relayApplied(opened.folder), { format: migrations.length + 1, times: 1 });
  for (const agent of agents) assertEquals(await storeApplied(`${opened.folder}/${agent}`, next), 1);

  const relay = await assertRejects(() => opened.start(today), EngineError, `format ${migrations.length + 1}`);
  assertEquals(relay.code, "unsupported_version");
  await opened.start({ ...next, store: [] });
  for (const agent of agents) {
    const error = await assertRejects(() => opened.manager(agent), StaticError, "update this one");
    assertEquals(error.code, "unsupported_version");
  }
  await opened.stop();
  await opened.start(next);
  await opened.manager("alice");
});

Deno.test(`${name}: kill -9 in the middle of a change leaves the format before, after it the new one; all goes on`, async () => {
  await using opened = await OpenedFixture.unpack(path);
  const { folder } = opened;
  await dieInMigration("relay", folder, "during");
  assertEquals(relayApplied(folder), { format: migrations.length, times: 0 });
  await dieInMigration("relay", folder, "after");
  assertEquals(relayApplied(folder), { format: migrations.length + 1, times: 1 });
  for (const agent of agents) {
    const directory = `${folder}/${agent}`;
    await dieInMigration("store", directory, "during");
    assertEquals(await storeApplied(directory, today), 0, "the program of today still opens it");
    await dieInMigration("store", directory, "after");
    await refusesNewerStore(directory);
    assertEquals(await storeApplied(directory, next), 1);
  }
  await opened.start(next);
  assert(opened.migrated.length === 0);
  await goOn(opened, relayFormat);
});
