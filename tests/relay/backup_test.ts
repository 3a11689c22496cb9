/**
 * A relay that is restored from its backup, with agents that went on meanwhile: they come back by
 * themselves.
 */
import { assertEquals } from "@std/assert";
import { type Channel, StaticClient } from "../../sdk/mod.ts";
import { eventually } from "../support/eventually.ts";
import { startStack } from "../support/stack.ts";

const name = "acme/ops/deploy";

Deno.test("agents survive a relay that was set back to its backup, and none believes that itself was", async () => {
  await using stack = await startStack();
  const folder = await Deno.makeTempDir({ prefix: "static-backup-" });
  await using opened = new AsyncDisposableStack();
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  const { quicUrl: endpoint, account: { apiKey }, api, caFile, relayDir } = stack;
  const connect = async (identity: string): Promise<StaticClient> => {
    const tls = { caFile };
    const dataDir = `${folder}/${identity}`;
    const client = await StaticClient.connect({
      endpoint,
      apiKey,
      apiUrl: api.url,
      identity,
      dataDir,
      tls,
    });
    opened.use(client);
    return client;
  };
  const [alice, bob, carol] = [
    await connect("alice"),
    await connect("bob"),
    await connect("carol"),
  ];
  const channel = await alice.createChannel(name);
  await channel.addMember(await carol.generateKeyPackage());
  const welcome = await channel.addMember(await bob.generateKeyPackage());
  const joined = await bob.joinChannel(name, welcome);
  const next = async (channel: Channel): Promise<string> =>
    new TextDecoder().decode(await channel.receive({ timeoutMs: 60_000 }));
  await channel.send("before");
  assertEquals(await next(joined), "before");
  await backUp(stack);
  // The backup has neither this commit nor these messages, and both were read.
  await channel.removeMember(carol.agentId);
  for (const [sender, reader] of [[joined, channel], [channel, joined]] as const) {
    await sender.send("forgotten");
    assertEquals(await next(reader), "forgotten");
  }

  await stack.killRelay();
  await Deno.copyFile(`${relayDir}/relay.sqlite.backup`, `${relayDir}/relay.sqlite`);
  await Deno.remove(`${relayDir}/relay.sqlite-wal`).catch(() => {});
  await stack.startRelay();
  for (const [sender, reader] of [[channel, joined], [joined, channel]] as const) {
    await sender.send("after", { timeoutMs: 60_000 });
    assertEquals(await next(reader), "after");
  }
  const health = [channel, joined].map((each) => each.health());
  assertEquals(health.map(({ state }) => state), ["ok", "ok"]);
  assertEquals([...new Set(health.flatMap(({ issues }) => issues.map(({ kind }) => kind)))], [
    "log_set_back",
  ]);
  assertEquals(health[0]?.epoch, health[1]?.epoch);
});

async function backUp(
  { relayDir, signalRelay }: Awaited<ReturnType<typeof startStack>>,
): Promise<void> {
  signalRelay("SIGUSR1");
  const written = (): Promise<boolean> =>
    Deno.stat(`${relayDir}/relay.sqlite.backup`).then(() => true, () => false);
  await eventually({ what: "the backup" }, written, (is) => is);
}
