/**
 * A key that strangers hold leaves the account's others half of everything: sessions, work,
 * KeyPackages, commits.
 */
import { assertEquals } from "@std/assert";
import { channelRights, parseKeyId, type TokenGrant } from "../../../proto/mod.ts";
import { Actor } from "../testing/actors.ts";
import { createPair, refused, worldTest } from "../testing/scene.ts";
import { startMs, tokenOf, type World } from "../testing/world.ts";

const dayMs = 24 * 60 * 60 * 1000;
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

/** The member comes back from this address, with a token of the account that made the channel. */
async function visit(world: World, member: Actor, { address, isPublic }: Visit): Promise<void> {
  member.client.close();
  member.client = world.connect();
  member.client.remoteAddress = address;
  const ofKey: TokenGrant = isPublic ? { ...grant, isPublic } : grant;
  await member.client.authenticate(member.agent, tokenOf(1, startMs + 400 * dayMs, ofKey));
}

interface Visit {
  readonly address: string;
  readonly isPublic?: true;
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
      if (!await actor.client.call("UploadKeyPackage", body).then(() => true, () => false)) {
        return done;
      }
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
    await target.client.call("UploadKeyPackage", {
      keyPackages: [target.keyPackage()],
      replace: false,
    });
    return await by.client.call("AddMember", {
      channelId,
      agentId: target.agentId,
      nonce: new Uint8Array(16),
    });
  };
  await claim(bob, 21);
  await refused("rate_limited", claim(bob, 22));
  await claim(alice, 23);
}, { config: { claimsPerAccountAndHour: 4 } });

worldTest(
  "a key has half of its account's commits of a day, and pays for more itself",
  async (world) => {
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
  },
  { config: { handshakesPerDay: 0.6 } },
);

worldTest(
  "a visitor with a public key sends 100 messages a day, and leaves the rest of them to others",
  async (world) => {
    const { bob, channelId } = await createPair(world);
    let number = 0;
    const send = (): Promise<unknown> => bob.send(channelId, 1, number++);
    const sent = async (): Promise<number> => {
      for (let count = 0;; count++) if (!await send().then(() => true, () => false)) return count;
    };
    world.quota.left = 1_000;
    await visit(world, bob, { address: "192.0.2.1", isPublic: true });
    assertEquals(await sent(), 100);
    const { body } = await refused("quota_exceeded", send());
    assertEquals([body.retryAfterMs, world.quota.left], [dayMs / 100, 900]);
    // Not by another session, nor by what it sends again; another address has its own day.
    await visit(world, bob, { address: "192.0.2.1", isPublic: true });
    assertEquals(await sent(), 0);
    await visit(world, bob, { address: "192.0.2.2", isPublic: true });
    assertEquals(await sent(), 100);
    const networks = Array.from({ length: 8 }, (_, i) => `2001:db8:0:${i}::/64`);
    let ofNetworks = 0;
    for (const address of networks) {
      await visit(world, bob, { address, isPublic: true });
      ofNetworks += await sent();
    }
    assertEquals([ofNetworks, world.quota.left], [400, 400]);
    await world.time.advance(dayMs / 2);
    await visit(world, bob, { address: "192.0.2.1", isPublic: true });
    assertEquals(await sent(), 50);
    // A key that is not public has no visitors.
    await visit(world, bob, { address: "192.0.2.1" });
    assertEquals(await sent(), 350);
  },
);

worldTest("what a visitor's message did not use comes back to its day", async (world) => {
  const { bob, channelId } = await createPair(world);
  await visit(world, bob, { address: "192.0.2.1", isPublic: true });
  world.quota.left = 0;
  for (let number = 0; number < 150; number++) {
    await refused("quota_exceeded", bob.send(channelId, 1, number));
  }
  world.quota.left = 200;
  for (let number = 0; number < 100; number++) await bob.send(channelId, 1, number);
  for (let number = 0; number < 100; number++) await bob.send(channelId, 1, number);
  assertEquals(world.quota.left, 100);
  await refused("quota_exceeded", bob.send(channelId, 1, 100));
});
