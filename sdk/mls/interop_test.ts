/**
 * ts-mls as published is the second judge of our groups: it joins them, lets ours in, and follows
 * and makes commits, in channels that either side created. In suite 1 its cryptography is its own
 * too. Both must reach the same epoch, to the last byte, after every commit.
 */
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { inCampaign, tried } from "../../tests/support/campaign.ts";
import { createRandom, type Random, seedFromEnvironment } from "../../tests/support/mod.ts";
import type { OwnersChange } from "../../proto/mod.ts";
import { decodeBinding } from "./channel_extensions.ts";
import type { SuiteId } from "./crypto/suite.ts";
import { type Change, Group } from "./group.ts";
import type { OwnKeyPackage } from "./key_package.ts";
import { policyOf } from "./policy_rules.ts";
import { newSealing, type Sealing } from "./sealing_rules.ts";
import { leafOf, TsMlsPeer } from "./testing/ts_mls_peer.ts";
import { withoutLayer } from "./testing/without_layer.ts";
import { type Agent, name, World } from "./testing/world.ts";
import type { Proposal } from "./ts_mls.ts";
import { readyToJoin } from "./welcome.ts";

const anything = (): undefined => undefined;
const suites: readonly { readonly suiteId: SuiteId; readonly whose: string }[] = [
  { suiteId: 1, whose: "suite 1, with its own cryptography" },
  { suiteId: 3, whose: "suite 3" },
];
/** ts-mls looks at the machine's clock. */
const tomorrow = Date.now() + 86_400_000;

/** Members of ours and of ts-mls in one channel. Everybody receives everything at once. */
class Mixed {
  readonly world: World;
  readonly ours: Agent[] = [];
  readonly theirs: TsMlsPeer[] = [];
  /** How the owners came to be. */
  changes: readonly OwnersChange[] = [];

  constructor(random: Random, suiteId: SuiteId) {
    this.world = new World(random, { suiteId });
  }

  /** A channel that one of ours created. */
  async begin(sealing?: Sealing): Promise<Agent> {
    const creator = await this.world.create(sealing);
    this.ours.push(creator);
    this.changes = creator.member.changes;
    return creator;
  }

  async newcomer(): Promise<{ agent: Agent; own: OwnKeyPackage }> {
    const agent = this.world.newAgent();
    return { agent, own: await agent.createSealedKeyPackage(tomorrow) };
  }

  /** One of ours commits: everybody follows. Returns the Welcome. */
  async commit(by: Agent, change: Change): Promise<Uint8Array | undefined> {
    const prepared = await by.joined.prepare(change);
    await this.#deliver(prepared.message, by);
    await by.joined.accept(prepared);
    this.changes = by.member.changes;
    this.#agree();
    return prepared.welcome;
  }

  async commitByTsMls(by: TsMlsPeer, proposals: Proposal[] = []): Promise<Uint8Array | undefined> {
    const { bytes, welcome } = await by.commit(this.changes, proposals);
    await this.#deliver(bytes, by);
    this.#agree();
    return welcome;
  }

  async enter(agent: Agent, own: OwnKeyPackage, welcome: Uint8Array | undefined): Promise<void> {
    assert(welcome !== undefined);
    const { channelId } = this.world;
    const ready = await readyToJoin(welcome, own, agent.deps.signatures);
    await agent.enter(Group.join(welcome, ready, agent.deps, { name, channelId }), 0);
    this.ours.push(agent);
    this.#agree();
  }

  /** ts-mls joins by a Welcome of ours, with a KeyPackage that it made. */
  async invite(by: Agent): Promise<TsMlsPeer> {
    const peer = await TsMlsPeer.create(this.world);
    const welcome = await this.commit(by, { add: [peer.keyPackage] });
    assert(welcome !== undefined);
    await peer.join(welcome);
    this.theirs.push(peer);
    this.#agree();
    return peer;
  }

  /** Everybody says something, and everybody else reads it. */
  async talk(): Promise<void> {
    for (const sender of [...this.ours, ...this.theirs]) {
      const text = utf8ToBytes(`said by ${sender.id}`);
      const bytes = sender instanceof TsMlsPeer
        ? await sender.say(text)
        : (await sender.joined.seal(text, new Uint8Array(0))).message;
      for (const agent of this.ours.filter((one) => one !== sender)) {
        const { outcome } = await agent.joined.receive(bytes, anything);
        assert(outcome.kind === "message", JSON.stringify(outcome));
        assertEquals([outcome.payload, outcome.sender.agentId], [text, sender.id]);
      }
      for (const peer of this.theirs.filter((one) => one !== sender)) {
        assertEquals(await peer.receive(bytes), text);
      }
    }
  }

  async #deliver(commit: Uint8Array, by: Agent | TsMlsPeer): Promise<void> {
    for (const agent of this.ours.filter((one) => one !== by)) {
      const { outcome } = await agent.joined.receive(commit, anything);
      if (outcome.kind === "removed") this.ours.splice(this.ours.indexOf(agent), 1);
      else assert(outcome.kind === "commit", JSON.stringify(outcome));
    }
    for (const peer of this.theirs.filter((one) => one !== by)) {
      assertEquals(await peer.receive(commit), undefined);
    }
  }

  #agree(): void {
    const states = [
      ...this.ours.map((
        { member },
      ) => [bytesToHex(member.authenticator), member.current.context.extensions]),
      ...this.theirs.map((peer) => [bytesToHex(peer.authenticator), peer.extensions]),
    ];
    for (const state of states) assertEquals(state, states[0]);
  }
}

for (const { suiteId, whose } of suites) {
  Deno.test(`ts-mls joins by our Welcome, lets one of ours in by its own, and all read each other (${whose})`, async () => {
    const channel = new Mixed(createRandom(6), suiteId);
    const peer = await channel.invite(await channel.begin());
    const { agent, own } = await channel.newcomer();
    const add: Proposal = { proposalType: "add", add: { keyPackage: own.keyPackage } };
    await channel.enter(agent, own, await channel.commitByTsMls(peer, [add]));
    await channel.talk();
    await channel.commitByTsMls(peer);
    await channel.commit(agent, { forcePath: true });
    await channel.talk();
    const removed = leafOf(peer, agent.identity.signatureKey);
    await channel.commitByTsMls(peer, [{ proposalType: "remove", remove: { removed } }]);
    assertEquals(channel.ours.length, 1);
    await channel.talk();
  });

  Deno.test(`in a channel that ts-mls created, ours join and commit (${whose})`, async () => {
    const channel = new Mixed(createRandom(7), suiteId);
    const { peer, changes } = await TsMlsPeer.found(channel.world);
    channel.theirs.push(peer);
    channel.changes = changes;
    const { agent, own } = await channel.newcomer();
    const add: Proposal = { proposalType: "add", add: { keyPackage: own.keyPackage } };
    await channel.enter(agent, own, await channel.commitByTsMls(peer, [add]));
    await channel.talk();
    await channel.invite(agent);
    await channel.talk();
  });

  Deno.test(`ts-mls joins a sealed channel by our Welcome with the layer taken off (${whose})`, async () => {
    const channel = new Mixed(createRandom(8), suiteId);
    const creator = await channel.begin(newSealing("require"));
    const { agent, own } = await channel.newcomer();
    const welcome = await channel.commit(creator, { add: [own.keyPackage] });
    assert(welcome !== undefined);
    const peer = await TsMlsPeer.with(agent);
    await assertRejects(() => peer.join(welcome), Error);
    await peer.join(await withoutLayer(welcome, own, agent.deps.signatures));
    channel.theirs.push(peer);
    await channel.talk();
    await channel.commit(creator, { forcePath: true });
    await channel.talk();
  });
}

Deno.test("a commit that refers to a proposal is followed, also when a restart came between the two", async () => {
  const channel = new Mixed(createRandom(6), 3);
  const a = await channel.begin();
  const peer = await channel.invite(a);
  const { agent, own } = await channel.newcomer();
  const proposal = await peer.propose({ proposalType: "add", add: { keyPackage: own.keyPackage } });
  assertEquals((await a.joined.receive(proposal, anything)).outcome.kind, "proposal");
  await a.crash();
  const welcome = await channel.commitByTsMls(peer);
  assertEquals(a.member.proposals.size, 0);
  await a.crash();
  assertEquals(a.member.proposals.size, 0, "proposals do not outlive their epoch");
  await channel.enter(agent, own, welcome);
  await channel.talk();
});

Deno.test("commits about policy, owners, keys and members are followed by ts-mls, to the same epoch and extensions", async () => {
  const channel = new Mixed(createRandom(6), 3);
  const a = await channel.begin();
  const [bob, carol] = [await channel.newcomer(), await channel.newcomer()];
  const welcome = await channel.commit(a, { add: [bob.own.keyPackage, carol.own.keyPackage] });
  await channel.enter(bob.agent, bob.own, welcome);
  await channel.enter(carol.agent, carol.own, welcome);
  const peer = await channel.invite(a);
  await channel.commit(a, { policy: { admission: "owners", posting: "members" } });
  await channel.commit(a, { owners: [a.id, bob.agent.id].toSorted() });
  await channel.commit(bob.agent, { policy: { admission: "members", posting: "owners" } });
  await channel.commit(carol.agent, { forcePath: true });
  await channel.commit(bob.agent, { owners: [bob.agent.id] });
  await channel.commit(bob.agent, { remove: [carol.agent.id] });
  // Its own commit keeps every extension as it is.
  await channel.commitByTsMls(peer);
  assertEquals(policyOf(decodeBinding(a.member.current.context.extensions)), {
    admission: "members",
    posting: "owners",
  });
});

/**
 * Two members of ts-mls are there from the start, because it refuses some valid Welcomes of later
 * trees (docs/architecture.md). Ours come and go, by commits of either side.
 */
Deno.test("ts-mls and ours agree after every commit of random histories", async () => {
  const [histories, steps] = inCampaign ? [200, 40] : [1, 12];
  const random = createRandom(seedFromEnvironment());
  let commits = 0;
  for (let i = 0; i < histories; i++) {
    const channel = new Mixed(random, random.chance(0.5) ? 1 : 3);
    const creator = await channel.begin();
    await channel.invite(creator);
    await channel.invite(creator);
    for (let step = 0; step < steps; step++) commits += await randomStep(channel, random, creator);
    await channel.talk();
  }
  tried(`${commits} commits beside ts-mls`);
});

/** Returns the number of commits. */
async function randomStep(channel: Mixed, random: Random, creator: Agent): Promise<number> {
  const others = channel.ours.filter((agent) => agent !== creator);
  const peer = random.pick(channel.theirs);
  const byTsMls = random.chance(0.5);
  switch (random.below(4)) {
    case 0: {
      const { agent, own } = await channel.newcomer();
      const { keyPackage } = own;
      const welcome = byTsMls
        ? await channel.commitByTsMls(peer, [{ proposalType: "add", add: { keyPackage } }])
        : await channel.commit(random.pick(channel.ours), { add: [keyPackage] });
      await channel.enter(agent, own, welcome);
      return 1;
    }
    case 1: {
      if (others.length === 0) return 0;
      const gone = random.pick(others);
      const removed = leafOf(peer, gone.identity.signatureKey);
      if (byTsMls) {
        await channel.commitByTsMls(peer, [{ proposalType: "remove", remove: { removed } }]);
      } else await channel.commit(creator, { remove: [gone.id] });
      return 1;
    }
    case 2:
      if (byTsMls) await channel.commitByTsMls(peer);
      else await channel.commit(random.pick(channel.ours), { forcePath: true });
      return 1;
    default:
      await channel.talk();
      return 0;
  }
}
