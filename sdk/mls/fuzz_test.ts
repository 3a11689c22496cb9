/**
 * Random histories of a channel, checked against a model that knows who was a member when: adds,
 * removes, leaves, rejoins, updates, batches, changes of owners, guests, pre-shared keys, lost
 * races, lost replies to own commits, crashes and reloads, reordered and duplicated messages. The
 * rules of a channel are in force. The campaign has 5,000 histories of up to 30 members.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals } from "@std/assert";
import type { AgentId } from "../../proto/mod.ts";
import { inCampaign, tried } from "../../tests/support/campaign.ts";
import { createRandom, type Random, seedFromEnvironment } from "../../tests/support/mod.ts";
import { createSignatures, type Signatures } from "./crypto/signatures.ts";
import { createWebCryptoEd25519 } from "./crypto/web_crypto_ed25519.ts";
import type { Change, Group, PreparedCommit } from "./group.ts";
import { type Agent, type Entry, rulesFor, World } from "./testing/world.ts";

const [histories, maxMembers] = inCampaign ? [5000, 30] : [4, 10];
const steps = 25;

const anything = (): undefined => undefined;

type Psk = NonNullable<Change["psks"]>[number];

/**
 * One channel's history, with the groups of removed agents kept to see that they can read nothing.
 */
class History {
  readonly world: World;
  readonly random: Random;
  readonly removed: { agent: Agent; group: Group; from: number }[] = [];
  /** Index of the first log entry that an agent may read. */
  readonly joinedAt = new Map<Agent, number>();
  sent = 0;
  /** Those that came as guests, until an owner made them something else, or they went. */
  readonly guests = new Set<AgentId>();

  constructor(random: Random, signatures: Signatures) {
    this.random = random;
    this.world = new World(random, { signatures, suiteId: random.chance(0.2) ? 1 : 3 });
  }

  async run(): Promise<void> {
    await this.world.create();
    for (let i = 0; i < steps; i++) await this.#step();
    await this.#everybodySyncs();
    await this.#nobodyElseReads();
  }

  async #step(): Promise<void> {
    const { random, world } = this;
    const agent = random.pick(world.active());
    switch (random.below(13)) {
      case 0:
      case 1:
        return await this.#add(agent);
      case 2:
        return await this.#remove(agent);
      case 3:
        return await this.#commit(agent, () => ({}));
      case 9:
        return await this.#rejoin(agent);
      case 10:
        return await this.#changeOwners(agent);
      case 11:
        await this.#everybodySyncs();
        return agent.group === undefined
          ? undefined
          : await this.#isRefused(agent, { psks: [this.#psk()] });
      case 12:
        return await this.#release(agent);
      case 4:
        return await this.#race();
      case 5:
        return await this.#loseReply(agent);
      case 6:
        return await this.#crash(agent);
      default:
        return await this.#talk();
    }
  }

  async #commit(agent: Agent, change: () => Change): Promise<void> {
    await this.#sync(agent);
    if (agent.group === undefined) return;
    await this.world.commit(agent, change);
    await this.#someSync();
  }

  async #add(by: Agent): Promise<void> {
    const room = maxMembers - this.world.members.size;
    const agents = Array.from(
      { length: Math.min(room, 1 + this.random.below(3)) },
      () => this.world.newAgent(),
    );
    await this.#sync(by);
    if (by.group === undefined || agents.length === 0) return;
    const packages = await Promise.all(agents.map((agent) => agent.createKeyPackage()));
    const add = packages.map(({ keyPackage }) => keyPackage);
    const guests = agents.map(({ id }) => id).filter(() => this.random.chance(0.3));
    if (by.member.self.guest) {
      await this.#everybodySyncs();
      return await this.#isRefused(by, { add, guests });
    }
    await this.world.commit(by, () => ({ add, guests }));
    for (const agent of agents) await agent.join();
    for (const guest of guests) this.guests.add(guest);
    for (const agent of agents) this.joinedAt.set(agent, this.world.log.length);
    await this.#someSync();
  }

  /**
   * Owners may remove any member. Others may remove only members that said that they leave;
   * otherwise nobody follows the commit.
   */
  async #remove(by: Agent): Promise<void> {
    await this.#everybodySyncs();
    const others = this.world.active().filter((agent) => agent !== by);
    if (by.group === undefined || others.length === 0) return;
    const gone = others.filter(() => this.random.chance(0.3)).slice(0, 2).map(({ id }) => id);
    if (!by.member.self.owner) await this.#isRefused(by, { remove: gone });
    const leaves = others.filter(({ id }) => gone.includes(id)).map((agent) => agent.leave());
    await this.world.commit(by, () => ({ remove: gone, leaves }));
    for (const agentId of gone) this.guests.delete(agentId);
    await this.#everybodySyncs();
  }

  /**
   * An agent that lost its way is removed and added in one commit, under the KeyPackage that it
   * asked for.
   */
  async #rejoin(by: Agent): Promise<void> {
    await this.#everybodySyncs();
    const lost = this.random.pick(this.world.active());
    if (by.group === undefined || lost === by) return;
    const [other, own] = [await lost.createKeyPackage(), await lost.createKeyPackage()];
    const rejoins = [lost.rejoin(own)];
    await this.#isRefused(by, { remove: [lost.id], add: [other.keyPackage], rejoins });
    const { self: { owner }, binding: known } = lost.member;
    await this.world.commit(by, () => ({ remove: [lost.id], add: [own.keyPackage], rejoins }));
    await this.#sync(lost);
    assert(lost.group === undefined);
    await lost.join(known);
    assertEquals(lost.member.self.owner, owner);
    this.joinedAt.set(lost, this.world.log.length);
    await this.#everybodySyncs();
  }

  async #changeOwners(by: Agent): Promise<void> {
    await this.#everybodySyncs();
    if (by.group === undefined) return;
    const picked = this.world.active().filter(() => this.random.chance(0.4)).map(({ id }) => id);
    const owners = picked.length > 0 ? picked.sort() : [by.id];
    const unchanged = owners.join() === by.member.binding.owners.join();
    if (!by.member.self.owner) return unchanged ? undefined : await this.#isRefused(by, { owners });
    await this.world.commit(by, () => ({ owners }));
    for (const owner of owners) this.guests.delete(owner);
    await this.#everybodySyncs();
    for (const { member } of this.world.active()) assertEquals(member.binding.owners, owners);
  }

  /** Owners make a guest a member like the others; others that try are followed by nobody. */
  async #release(by: Agent): Promise<void> {
    await this.#everybodySyncs();
    const [guest] = this.guests;
    if (by.group === undefined || guest === undefined) return;
    if (!by.member.self.owner) return await this.#isRefused(by, { released: [guest] });
    await this.world.commit(by, () => ({ released: [guest] }));
    this.guests.delete(guest);
    await this.#everybodySyncs();
  }

  /** A forbidden action: another member refuses it and stays where it is. */
  async #isRefused(by: Agent, change: Change): Promise<void> {
    const others = this.world.active().filter((agent) => agent !== by);
    if (others.length === 0 || change.remove?.length === 0) return;
    const prepared = await by.joined.prepare(change);
    const { joined } = this.random.pick(others);
    const { outcome } = await joined.receive(prepared.message, rulesFor(prepared));
    assertEquals([outcome.kind, joined.group.epoch], ["refused", this.world.epoch]);
    await by.joined.discard();
  }

  #psk(): Psk {
    const [pskId, key, pskNonce] = [
      this.random.bytes(8),
      this.random.bytes(32),
      this.random.bytes(32),
    ];
    this.world.psks.set(bytesToHex(pskId), key);
    return {
      proposalType: "psk",
      psk: { preSharedKeyId: { psktype: "external", pskId, pskNonce } },
    };
  }

  /** Several prepare in the same epoch; one wins, the others follow it and carry on. */
  async #race(): Promise<void> {
    await this.#everybodySyncs();
    const racers = this.world.active().filter(() => this.random.chance(0.5));
    const prepared = await Promise.all(racers.map((agent) => agent.joined.prepare({})));
    for (const [i, agent] of racers.entries()) {
      const commit = prepared[i];
      if (commit === undefined || !this.world.submitCommit(agent.id, commit)) {
        await agent.joined.discard();
        continue;
      }
      await agent.joined.accept(commit);
      agent.cursor = this.world.log.length;
    }
    await this.#everybodySyncs();
  }

  /**
   * The relay took our commit, or not, and its answer was lost, perhaps with a crash: the log
   * tells, by hash.
   */
  async #loseReply(agent: Agent): Promise<void> {
    await this.#sync(agent);
    if (agent.group === undefined) return;
    await agent.acknowledge();
    let candidate: PreparedCommit | undefined = await agent.joined.prepare({});
    if (this.random.chance(0.5)) assert(this.world.submitCommit(agent.id, candidate));
    if (this.random.chance(0.5)) {
      await agent.crash();
      candidate = agent.candidate;
    }
    assert(candidate !== undefined);
    const entry = this.world.log[agent.cursor];
    if (entry !== undefined && bytesToHex(sha256(entry.bytes)) === bytesToHex(candidate.hash)) {
      await agent.joined.accept(candidate);
      agent.cursor++;
    } else {
      await agent.joined.discard();
    }
    assertEquals(agent.member.epoch, this.world.epoch);
    await this.#someSync();
  }

  /** Whatever was not acknowledged is delivered again, and can be read again. */
  async #crash(agent: Agent): Promise<void> {
    await agent.crash();
    const { cursor } = agent;
    const outcomes = await agent.sync();
    outcomes.forEach((outcome, i) => {
      const entry = this.world.log[cursor + i];
      const expected = entry?.kind === "commit"
        ? ["commit", "removed", "stale"]
        : entry?.sender === agent.id
        ? ["own"]
        : ["message"];
      assert(expected.includes(outcome.kind), `${outcome.kind} for a ${entry?.kind} after a crash`);
    });
    this.#agree();
  }

  /** A burst of messages, delivered to each reader in its own order, some of them twice. */
  async #talk(): Promise<void> {
    await this.#everybodySyncs();
    const start = this.world.log.length;
    for (let i = 1 + this.random.below(6); i > 0; i--) {
      const sender = this.random.pick(this.world.active());
      assert(await this.world.send(sender, utf8ToBytes(`message ${this.sent++}`)));
    }
    const burst = this.world.log.slice(start);
    for (const reader of this.world.active()) {
      const order = burst.map((entry) => ({ entry, at: this.random.uint32() })).sort((a, b) =>
        a.at - b.at
      );
      for (const { entry } of order) await this.#read(reader, entry);
      for (const { entry } of order.filter(() => this.random.chance(0.3))) {
        const { kind } = await reader.receive(entry);
        assertEquals(kind, entry.sender === reader.id ? "own" : "duplicate");
      }
      reader.cursor = this.world.log.length;
      if (this.random.chance(0.5)) await reader.acknowledge();
    }
  }

  async #read(reader: Agent, entry: Entry): Promise<void> {
    const outcome = await reader.receive(entry);
    if (entry.sender === reader.id) assertEquals(outcome.kind, "own");
    else {assert(
        outcome.kind === "message" && outcome.sender.agentId === entry.sender,
        outcome.kind,
      );}
  }

  async #someSync(): Promise<void> {
    for (const agent of this.world.active()) if (this.random.chance(0.5)) await this.#sync(agent);
    this.#agree();
  }

  async #everybodySyncs(): Promise<void> {
    for (const agent of this.world.active()) await this.#sync(agent);
    this.#agree();
    assertEquals(this.world.active().length, this.world.members.size);
    const guests = [...this.guests].sort();
    for (const { member } of this.world.active()) assertEquals(member.binding.guests ?? [], guests);
  }

  /** Every entry that an agent has not seen: commits are followed, messages are read. */
  async #sync(agent: Agent): Promise<void> {
    const { group, cursor } = agent;
    if (group === undefined) return;
    const outcomes = await agent.sync();
    outcomes.forEach((outcome, i) => {
      const entry = this.world.log[cursor + i];
      const expected = entry?.sender === agent.id
        ? ["own", "stale"]
        : ["commit", "message", "removed"];
      assert(
        expected.includes(outcome.kind),
        `${outcome.kind} for a ${entry?.kind}: ${JSON.stringify(outcome)}`,
      );
    });
    if (agent.group === undefined) this.removed.push({ agent, group, from: agent.cursor });
  }

  /** Members that are at the same epoch have the same authenticator. */
  #agree(): void {
    const byEpoch = new Map<number, string>();
    for (const { member } of this.world.active()) {
      const authenticator = bytesToHex(member.authenticator);
      assertEquals(
        byEpoch.get(member.epoch) ?? authenticator,
        authenticator,
        `epoch ${member.epoch} is forked`,
      );
      byEpoch.set(member.epoch, authenticator);
    }
  }

  async #nobodyElseReads(): Promise<void> {
    for (const { group, from } of this.removed) {
      for (const entry of this.world.log.slice(from)) {
        const { kind } = await group.receive(entry.bytes, anything);
        assert(kind === "future" || kind === "undecryptable", `a removed member got ${kind}`);
      }
    }
    for (const [agent, start] of this.joinedAt) {
      if (agent.group === undefined) continue;
      for (const entry of this.world.log.slice(0, start - 1)) {
        const { kind } = await agent.group.receive(entry.bytes, anything);
        assert(kind === "stale", `a member got ${kind} from before it joined`);
      }
    }
  }
}

Deno.test("random histories: authenticators agree, messages are read by the members of their epoch and nobody else", async () => {
  const seed = seedFromEnvironment();
  const signatures = await createSignatures({ ed25519: createWebCryptoEd25519(crypto.subtle) });
  let entries = 0;
  for (let at = 0; at < histories; at++) {
    const history = new History(createRandom(seed + at), signatures);
    try {
      await history.run();
    } catch (error) {
      throw new Error(`history with STATIC_TEST_SEED=${seed + at}: ${error}`, { cause: error });
    }
    entries += history.world.log.length;
    if (inCampaign && at % 20 === 19) {
      console.log(`${at + 1} histories, ${entries} commits and messages so far`);
    }
  }
  console.log(`seed ${seed}: ${histories} histories, ${entries} commits and messages`);
  tried(`${histories} histories of groups`);
});
