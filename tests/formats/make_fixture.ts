/**
 * Writes what this version of the program leaves on disk, as a fixture that later versions must open: the relay's file and the
 * directories of three agents, with something open in every corner. See `README.md` beside it.
 *
 *   acme/ops/deploy  alice, who owns it, and bob have read some messages of each other; since then carol was added, and her
 *                    Welcome waits; two messages of alice wait for bob, one of bob waits for alice; an invite of alice is open;
 *                    a commit of alice is on her disk and nowhere else
 *   acme/ops/old     alice and bob; bob has left, and nobody has removed him yet
 */
import { migrations } from "../../relay/engine/mod.ts";
import { grantedToken, openTestRelay } from "../../relay/testing/open_relay.ts";
import { ChannelManager, StaticClient } from "../../sdk/mod.ts";
import { storeMigrations } from "../../sdk/testing/agents.ts";
import { createCertificate } from "../support/mod.ts";
import { fixtureAccount, fixtureFolder, fixtureName, packFixture } from "./fixture.ts";

const [deploy, old] = ["acme/ops/deploy", "acme/ops/old"];
const dayMs = 86_400_000;

const folder = await Deno.makeTempDir({ prefix: "static-fixture-" });
const certificate = await createCertificate();
const relay = await openTestRelay({ path: `${folder}/relay.sqlite`, certificate });

async function connect(identity: string): Promise<ChannelManager> {
  return await ChannelManager.connect(optionsOf(identity));
}

function optionsOf(identity: string): Parameters<typeof ChannelManager.connect>[0] {
  return {
    identity,
    dataDir: `${folder}/${identity}`,
    endpoint: `quic://localhost:${relay.quicPort}`,
    token: () => Promise.resolve(grantedToken(fixtureAccount)),
    tls: { caCerts: [certificate.cert] },
    cover: { mode: "off" },
  };
}

/** Asks once more than there is, so that all of it counts as read. */
async function readAll(manager: ChannelManager, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await manager.receive(deploy, { timeoutMs: 10_000 });
  await manager.receive(deploy, { timeoutMs: 1 });
}

async function newKeyPackage(identity: string): Promise<Uint8Array> {
  const client = await StaticClient.connect(optionsOf(identity));
  try {
    return await client.generateKeyPackage();
  } finally {
    await client.close();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms)); // wait: its callers say for what
}

const [alice, bob] = [await connect("alice"), await connect("bob")];
for (const name of [deploy, old]) {
  await alice.create(name);
  await bob.joinWithToken(name, await alice.invite(name, { expiresInMs: dayMs, uses: 1 }));
}
for (let i = 0; i < 3; i++) {
  await alice.send(deploy, `alice ${i}`);
  await bob.send(deploy, `bob ${i}`);
}
await Promise.all([readAll(alice, 3), readAll(bob, 3)]);
// wait: until the relay has trimmed what both have read, and so has written a snapshot
await pause(3_000);
const invite = await alice.invite(deploy, { expiresInMs: 30 * dayMs, uses: 2 });

await bob.close();
await (await alice.channel(deploy)).addMember(await newKeyPackage("carol"));
for (const text of ["unread by bob 1", "unread by bob 2"]) await alice.send(deploy, text);
await alice.close();
const again = await connect("bob");
await again.send(deploy, "unread by alice");
await (await again.channel(old)).leave();
await again.close();

const daves = await newKeyPackage("dave");
await Deno.remove(`${folder}/dave`, { recursive: true });
// Connected, so that there is a session, and without having read on; then the relay is gone, and the commit stays on the disk.
const committer = await StaticClient.connect(optionsOf("alice"));
await relay.close();
const adding = (await committer.channel(deploy)).addMember(daves).catch((error) =>
  console.log(`As it should be: ${error}`)
);
// wait: for the disk; how long a call without a relay takes does not matter
await Promise.race([adding, pause(3_000)]);
await committer.close();
await adding;

const name = fixtureName({ relayFormat: migrations.length, storeFormat: 1 + storeMigrations.length });
await packFixture(folder, new URL(name, fixtureFolder), { invite });
await Deno.remove(folder, { recursive: true });
