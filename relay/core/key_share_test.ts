/** A key that strangers hold leaves the account's others half of everything: sessions, work, KeyPackages, commits. */
import { assertEquals } from "@std/assert";
import { channelRights, parseKeyId, type TokenGrant } from "../../proto/mod.ts";
import { Actor } from "./testing/actors.ts";
import { createPair, refused, worldTest } from "./testing/scene.ts";
import { startMs, tokenOf, type World } from "./testing/world.ts";

const grant: TokenGrant = {
  key: parseKeyId("5f0c3c1e-8d6b-4e0e-9f0a-2f6f7c1f9a11"),
  scopes: [{ pattern: "*", allow: channelRights }],
};

/** An agent with a token of that key. */
async function holder(world: World, number: number, account: number): Promise<Actor> {
  const actor = new Actor(world, number, account);
  actor.client = world.connect();
  await actor.client.authenticate(actor.agent, tokenOf(account, startMs + 3_600_000, grant));
  return actor;
}

worldTest("a key has half of its account's sessions", async (world) => {
  const [first] = [await holder(world, 11, 1), await holder(world, 12, 1)];
  const third = await holder(world, 13, 1).catch(() => undefined);
  assertEquals(third, undefined);
  await new Actor(world, 1).reconnect(world);
  first.client.close();
  await holder(world, 13, 1);
}, { config: { sessionsPerAccount: 4 } });

worldTest("a key has half of its account's work", async (world) => {
  const [owner, strange] = [await Actor.connect(world, 1), await holder(world, 11, 1)];
  const uploads = async (actor: Actor): Promise<number> => {
    for (let done = 0;; done++) {
      const body = { keyPackages: [actor.keyPackage(done)], replace: false };
      if (!await actor.client.call("UploadKeyPackage", body).then(() => true, () => false)) return done;
    }
  };
  assertEquals([await uploads(strange), await uploads(owner)], [3, 3]);
}, { config: { accountWorkMs: 10, accountWorkMsPerSecond: 1 } });

worldTest("a key has half of its account's claims of KeyPackages", async (world) => {
  const { alice, bob, channelId } = await createPair(world);
  bob.client.close();
  bob.client = world.connect();
  await bob.client.authenticate(bob.agent, tokenOf(alice.account, startMs + 3_600_000, grant));
  const claim = async (by: Actor, number: number): Promise<unknown> => {
    const target = await Actor.connect(world, number);
    await target.client.call("UploadKeyPackage", { keyPackages: [target.keyPackage()], replace: false });
    return await by.client.call("AddMember", { channelId, agentId: target.agentId, nonce: new Uint8Array(16) });
  };
  await claim(bob, 21);
  await refused("rate_limited", claim(bob, 22));
  await claim(alice, 23);
}, { config: { claimsPerAccountAndHour: 4 } });

worldTest("a key has half of its account's commits of a day, and pays for more itself", async (world) => {
  const { alice, bob, channelId } = await createPair(world);
  bob.client.close();
  bob.client = world.connect();
  await bob.client.authenticate(bob.agent, tokenOf(alice.account, startMs + 3_600_000, grant));
  world.quota.left = 0;
  // One of the six was alice's, when she added bob.
  for (let epoch = 1; epoch <= 3; epoch++) await bob.commit(channelId, epoch);
  await refused("quota_exceeded", bob.commit(channelId, 4));
  for (let epoch = 4; epoch <= 5; epoch++) await alice.commit(channelId, epoch);
  await refused("quota_exceeded", alice.commit(channelId, 6));
}, { config: { handshakesPerDay: 0.6 } });
