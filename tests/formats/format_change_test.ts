/**
 * Data of format 1 is opened after a change of every format, which is invented here: forward, once,
 * despite faults meanwhile.
 */
import { assertEquals, assertRejects } from "@std/assert";
import { EngineError, migrations } from "../../relay/engine/mod.ts";
import type { ChannelManager } from "../../sdk/mod.ts";
import { StoreFault } from "../../sdk/platform/directory_store.ts";
import { inCampaign } from "../support/campaign.ts";
import { nextFormats, relayApplied, storeApplied } from "./next_formats.ts";
import { noMore, WrittenData } from "./written_data.ts";

const next = nextFormats();
const channel = "acme/ops/deploy";
const format = migrations.length;

/** Two agents, a message that one has not read, and an open invite. */
async function write(data: WrittenData): Promise<{ readonly invite: string }> {
  await data.start();
  const alice = await data.manager("alice");
  await alice.create(channel);
  const invite = await alice.invite(channel, { expiresInMs: 3_600_000, uses: 2 });
  const bob = await data.manager("bob");
  await bob.joinWithToken(channel, invite);
  await bob.close();
  await alice.send(channel, "unread");
  await data.stop();
  return { invite };
}

async function receive(manager: ChannelManager): Promise<string> {
  return new TextDecoder().decode(await manager.receive(channel, { timeoutMs: 60_000 }));
}

/** Everything that was left open is taken up. */
async function goOn(data: WrittenData, invite: string): Promise<void> {
  const [alice, bob] = [await data.manager("alice"), await data.manager("bob")];
  assertEquals(await receive(bob), "unread");
  const carol = await data.manager("carol");
  await carol.joinWithToken(channel, invite, { timeoutMs: 60_000 });
  for (
    const [sender, others] of [[alice, [bob, carol]], [bob, [alice, carol]], [carol, [
      alice,
      bob,
    ]]] as const
  ) {
    await sender.send(channel, "go on");
    assertEquals(await Promise.all(others.map(receive)), ["go on", "go on"]);
  }
}

/** Starts the process, and kills it when it says so. */
async function dieInMigration(
  what: "relay" | "store",
  place: string,
  moment: "during" | "after",
): Promise<void> {
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

Deno.test("after a change of both formats all goes on; it is made once, and there is no way back", async () => {
  await using data = await WrittenData.create();
  const { invite } = await write(data);
  await data.start(next);
  assertEquals(data.migrated, [{
    from: format,
    to: format + 1,
    names: next.relay.map(({ name }) => name),
  }]);
  await goOn(data, invite);
  await data.stop();

  await data.start(next);
  assertEquals(data.migrated.length, 1, "the second start had nothing to migrate");
  for (const agent of ["alice", "bob"]) await data.manager(agent);
  await data.stop();
  assertEquals(relayApplied(data.folder), { format: format + 1, times: 1 });
  assertEquals(await storeApplied(`${data.folder}/alice`, next), 1);

  const refused = await assertRejects(() => data.start(), EngineError, "A newer relay wrote it");
  assertEquals(refused.code, "unsupported_version");
  const error = await assertRejects(
    () => storeApplied(`${data.folder}/alice`, noMore),
    StoreFault,
    "update this one",
  );
  assertEquals(error.code, "unsupported_version");
});

for (const moment of inCampaign ? ["during", "after"] as const : ["during"] as const) {
  Deno.test(`a process that dies ${moment} the change leaves one format or the other, and all goes on`, async () => {
    await using data = await WrittenData.create();
    const { invite } = await write(data);
    await dieInMigration("relay", data.folder, moment);
    for (const agent of ["alice", "bob"]) {
      await dieInMigration("store", `${data.folder}/${agent}`, moment);
    }
    const isMade = moment === "after";
    assertEquals(relayApplied(data.folder), {
      format: isMade ? format + 1 : format,
      times: isMade ? 1 : 0,
    });
    await data.start(next);
    await goOn(data, invite);
    await data.stop();
    assertEquals(relayApplied(data.folder), { format: format + 1, times: 1 });
    for (const agent of ["alice", "bob"]) {
      assertEquals(await storeApplied(`${data.folder}/${agent}`, next), 1);
    }
  });
}
