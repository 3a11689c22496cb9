// Relays of a cluster as processes of their own, with no more permissions than the pages give them.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { protocolVersion } from "../../proto/mod.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { natsInstalled, startNats } from "../support/nats.ts";
import { eventually } from "../support/eventually.ts";
import { testWhen } from "../support/mod.ts";
import { openQuic } from "../support/relay/deno_clients.ts";
import { startRelayProcess } from "../support/relay/process.ts";
import { refusedStart } from "../support/relay/refused_start.ts";

/** The metrics of a relay that `docs/cluster.md` lists. */
async function listed(): Promise<string[]> {
  const page = await Deno.readTextFile(new URL("../../docs/cluster.md", import.meta.url));
  return [...page.matchAll(/^- `(static_relay_cluster_\w+)`/gm)].map(([, name = ""]) => name)
    .sort();
}

testWhen(
  natsInstalled,
  "relays find each other by their log over TLS, tell it in metrics, and stop in order",
  async () => {
    await using nats = await startNats({ nodes: 1 });
    const folders = [
      await Deno.makeTempDir({ prefix: "static-relay-" }),
      await Deno.makeTempDir({ prefix: "static-relay-" }),
    ];
    const relays = await Promise.all(
      folders.map((folder) => startRelayProcess({ ...nats.variables, STATIC_DATA_DIR: folder })),
    );
    const [first, second] = relays;
    assert(first !== undefined && second !== undefined);
    const together = (text: string): boolean => /^static_relay_cluster_relays 2$/m.test(text);
    const text = await eventually(
      { what: "both relays are counted" },
      () => first.metrics(),
      together,
    );
    const served = [...text.matchAll(/^# HELP (static_relay_cluster_\w+)/gm)].map(([, name = ""]) =>
      name
    ).sort();
    assertEquals(served, await listed());
    for (const relay of relays) {
      relay.signal("SIGTERM");
      assertEquals(await relay.finished(), 0, relay.output());
      assert(!relay.output().includes("NKEY SEED"), "the key is in no log");
    }
    for (const folder of folders) await Deno.remove(folder, { recursive: true });
  },
);

testWhen(natsInstalled, "a relay that cannot go on tells its agents, and ends", async () => {
  await using nats = await startNats({ nodes: 1 });
  const folders = [
    await Deno.makeTempDir({ prefix: "static-relay-" }),
    await Deno.makeTempDir({ prefix: "static-relay-" }),
  ];
  const [variables, twin] = folders.map((folder) => ({
    ...nats.variables,
    STATIC_DATA_DIR: folder,
    STATIC_RELAY_ID: "one",
  }));
  assert(variables !== undefined && twin !== undefined);
  {
    await using relay = await startRelayProcess(variables);
    const client = await openQuic(
      Number(new URL(relay.quicUrl).port),
      await Deno.readTextFile(relay.caFile),
    );
    await client.call("GetChallenge", { versions: [protocolVersion], features: [] });
    // The log has one relay of a name: the first is given up.
    await using _twin = await startRelayProcess(twin);
    assertEquals(await client.ended, "relay_draining");
    assertEquals(await relay.finished(), 1);
    assertStringIncludes(relay.output(), "The other relays have given this one up");
    assert(!relay.output().includes('"event":"fault"'), relay.output());
  }
  for (const folder of folders) await Deno.remove(folder, { recursive: true });
});

Deno.test("a relay without its nodes does not start, and says which variable to look at", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-relay-" });
  const { message } = await refusedStart({
    STATIC_DATA_DIR: folder,
    STATIC_RELAY_ENGINE: "jetstream",
    STATIC_NATS_URLS: "nats://127.0.0.1:1",
    STATIC_NATS_MONITOR_URLS: "http://127.0.0.1:1",
  });
  assertMatch(message, /^Cannot start: the shared log cannot be used \(STATIC_NATS_URLS\): \S/);
  await Deno.remove(folder, { recursive: true });
});

if (inCampaign) {
  testWhen(
    natsInstalled,
    "a relay of a cluster writes a backup with the permissions that the pages give it",
    backUp,
  );
}

async function backUp(): Promise<void> {
  await using nats = await startNats({ nodes: 1 });
  const folder = await Deno.makeTempDir({ prefix: "static-relay-" });
  {
    await using relay = await startRelayProcess({ ...nats.variables, STATIC_DATA_DIR: folder });
    for (let round = 0; round < 2; round++) {
      const written = (): number =>
        relay.output().match(/"event":"backup_(written|failed)"/g)?.length ?? 0;
      const before = written();
      relay.signal("SIGUSR1");
      const ask = (): Promise<number> => Promise.resolve(written());
      await eventually({ what: "a backup" }, ask, (count) => count > before);
    }
    assert(!relay.output().includes("backup_failed"), relay.output());
  }
  const { size, mode } = await Deno.stat(`${folder}/relay.sqlite.backup`);
  assert(size > 0);
  assertEquals((mode ?? 0) & 0o777, 0o600);
  // One relay alone goes on from it.
  await Deno.rename(`${folder}/relay.sqlite.backup`, `${folder}/relay.sqlite`);
  {
    await using relay = await startRelayProcess({ STATIC_DATA_DIR: folder });
    assertMatch(relay.output(), /"event":"listening"/);
  }
  await Deno.remove(folder, { recursive: true });
  tried("2 backups of a relay of a cluster");
}
