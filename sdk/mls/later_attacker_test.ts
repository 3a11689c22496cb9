/**
 * Recorded today, with X25519 broken later: of a sealed channel nothing opens, of another one
 * everything, and from the first Welcome without the layer on everything behind it. Somebody who
 * was a member reads on: that is not claimed.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { assert, assertEquals } from "@std/assert";
import { foundingEpoch } from "../../proto/mod.ts";
import { inCampaign, tried } from "../../tests/support/campaign.ts";
import { createRandom, type Random, seedFromEnvironment } from "../../tests/support/mod.ts";
import { atOnce } from "../base/interruptible_work.ts";
import { createEntry } from "./admissions.ts";
import { pskOf } from "./base_epoch.ts";
import type { Epoch } from "./epoch.ts";
import { addable, foundGroup } from "./founding.ts";
import { type Change, Group } from "./group.ts";
import type { KeyPackage, OwnKeyPackage } from "./key_package.ts";
import { newSealing, type Sealing } from "./sealing_rules.ts";
import { foundedPlan } from "./testing/founded_plan.ts";
import {
  type BrokenKeys,
  LaterAttacker,
  type Recorded,
  signaturesThatTell,
} from "./testing/later_attacker.ts";
import { type Agent, name, World } from "./testing/world.ts";
import { readyToJoin } from "./welcome.ts";

/** A channel whose wire is recorded. */
class Recording {
  readonly random: Random;
  readonly world: World;
  readonly wire: Recorded[] = [];
  /** Authenticators of all epochs so far, in their order. */
  readonly epochs: string[] = [];
  /** How many of them there were before the first Welcome without the layer. */
  firstOpen: number | undefined;
  readonly #keys: BrokenKeys;
  readonly owner: Agent;

  private constructor(world: World, owner: Agent, keys: BrokenKeys) {
    this.world = world;
    this.random = world.random;
    this.owner = owner;
    this.#keys = keys;
    this.#note();
  }

  static async begin(
    seed: number,
    sealing: Sealing | undefined,
    layer?: "X25519 alone",
  ): Promise<Recording> {
    const keys: BrokenKeys = new Map();
    const signatures = signaturesThatTell(keys, layer);
    const world = new World(createRandom(seed), { signatures });
    return new Recording(world, await world.create(sealing), keys);
  }

  get attacker(): LaterAttacker {
    return new LaterAttacker(this.#keys, this.owner.deps);
  }

  get others(): Agent[] {
    return this.world.active().filter((agent) => agent !== this.owner);
  }

  async add(isSealed: boolean, agent: Agent = this.world.newAgent()): Promise<Agent> {
    const own = isSealed ? await agent.createSealedKeyPackage() : agent.createKeyPackage();
    const isBack = agent.group !== undefined;
    const change = { add: [own.keyPackage], ...(isBack && { remove: [agent.id] }) };
    await this.commit(this.owner, change, agent);
    if (!isSealed) this.firstOpen ??= this.epochs.length - 1;
    return agent;
  }

  async commit(by: Agent, change: Change, joiner?: Agent): Promise<void> {
    const { world } = this;
    for (const agent of world.active()) await agent.sync();
    await world.commit(by, () => change);
    const { bytes, welcome } = world.log.at(-1) ?? {};
    assert(bytes !== undefined);
    this.wire.push({ is: "commit", bytes });
    if (welcome !== undefined) {
      this.wire.push({ is: "welcome", bytes: welcome.bytes, keyPackages: change.add ?? [] });
    }
    if (joiner !== undefined) {
      joiner.durable = undefined;
      await joiner.join();
    }
    for (const agent of world.active()) await agent.sync();
    this.#note();
  }

  /** The owner begins the channel anew, without a word of what went wrong. */
  async found(isSealed: (agent: Agent) => boolean): Promise<void> {
    const { owner, world } = this;
    const owned = new Map<Agent, OwnKeyPackage>();
    for (const agent of this.others) {
      owned.set(
        agent,
        isSealed(agent) ? await agent.createSealedKeyPackage() : agent.createKeyPackage(),
      );
    }
    const add: KeyPackage[] = [...owned.values()].map(({ keyPackage }) => keyPackage);
    const plan = foundedPlan(owner, add);
    const { base, changes: kept } = plan;
    assertEquals(atOnce(addable(plan, owner.deps)).length, add.length);
    const { next, welcome } = atOnce(foundGroup(plan, owner.deps));
    assert(welcome !== undefined);
    this.wire.push({ is: "welcome", bytes: welcome, keyPackages: add });
    const entry = createEntry([], owner.deps.randomBytes);
    await owner.enter(
      Group.restore({ epoch: next, changes: kept, entry }, owner.deps),
      world.log.length,
    );
    for (const [agent, own] of owned) {
      const ready = await readyToJoin(welcome, own, world.signatures);
      const known = agent.member.binding;
      const deps = { ...agent.deps, findPsk: pskOf(base) };
      await agent.enter(Group.join(welcome, ready, deps, { name, known }), world.log.length);
    }
    world.epoch = foundingEpoch(base.generation + 1) + 1;
    if (!add.every((_, i) => isSealed(this.others[i] ?? owner))) {
      this.firstOpen ??= this.epochs.length;
    }
    this.#note();
  }

  #note(): void {
    assertEquals(this.world.authenticators().length, 1);
    this.epochs.push(bytesToHex(this.owner.member.authenticator));
  }

  /** Places of the epochs that somebody has opened who knows these, from the wire alone. */
  openedBy(...known: readonly Epoch[]): number[] {
    const { attacker } = this;
    for (const epoch of known) attacker.learn(epoch);
    attacker.read(this.wire);
    return this.epochs.flatMap((epoch, at) => attacker.opened.includes(epoch) ? [at] : []);
  }
}

const from = (first: number, count: number): number[] =>
  Array.from({ length: count - first }, (_, i) => first + i);

/** Adds, heals, removes, lets back, begins anew; and always ends with a commit of each kind. */
async function live(recording: Recording, isSealed: () => boolean, steps: number): Promise<void> {
  const { random, owner } = recording;
  const acts: readonly (() => Promise<unknown>)[] = [
    () => recording.add(isSealed()),
    () => recording.commit(random.pick(recording.world.active()), { forcePath: true }),
    () => recording.commit(owner, { remove: [random.pick(recording.others).id] }),
    () => recording.add(isSealed(), random.pick(recording.others)),
    () => recording.found(isSealed),
  ];
  await recording.add(isSealed());
  await recording.add(isSealed());
  for (let step = 0; step < steps; step++) {
    if (recording.others.length === 0) await recording.add(isSealed());
    const act = step < acts.length ? acts[step] : random.pick(acts);
    await act?.();
    if (recording.others.length === 0) await recording.add(isSealed());
  }
  await recording.commit(owner, { forcePath: true });
}

/** In the test command one short history, always the same. */
const [histories, steps] = inCampaign ? [200, 25] : [1, 5];
const firstSeed = inCampaign ? seedFromEnvironment() : 54;

Deno.test("all private keys of X25519 open no epoch of a sealed channel", async () => {
  for (let seed = firstSeed; seed < firstSeed + histories; seed++) {
    const sealing = newSealing(seed % 2 === 0 ? "require" : "prefer");
    const recording = await Recording.begin(seed, sealing);
    await live(recording, () => true, steps);
    assertEquals(recording.owner.member.binding.sealing, sealing);
    assertEquals(recording.openedBy(), [], `seed ${seed}`);
  }
  tried(`${histories} sealed histories of about ${steps} changes`);
});

Deno.test("control: they open every epoch after the first where ML-KEM has no part in the layer", async () => {
  for (let seed = firstSeed; seed < firstSeed + histories; seed++) {
    const recording = await Recording.begin(seed, newSealing("require"), "X25519 alone");
    await live(recording, () => true, steps);
    assertEquals(recording.openedBy(), from(1, recording.epochs.length), `seed ${seed}`);
  }
});

Deno.test("control: they open every epoch after the first of a channel whose Welcomes have no layer", async () => {
  for (let seed = firstSeed; seed < firstSeed + histories; seed++) {
    const recording = await Recording.begin(seed, undefined);
    await live(recording, () => false, steps);
    assertEquals(recording.openedBy(), from(1, recording.epochs.length), `seed ${seed}`);
  }
});

Deno.test("they open all from the first Welcome without the layer on, until a sealed founding", async () => {
  for (let seed = firstSeed; seed < firstSeed + histories; seed++) {
    const recording = await Recording.begin(seed, newSealing("prefer"));
    const plain = new Set<Agent>();
    await live(recording, () => true, inCampaign ? 5 : 1);
    plain.add(await recording.add(false));
    const { firstOpen } = recording;
    assert(firstOpen !== undefined);
    assertEquals(recording.owner.member.binding.sealing, undefined);
    await recording.add(true);
    await recording.commit(recording.owner, { forcePath: true });
    assertEquals(recording.openedBy(), from(firstOpen, recording.epochs.length));
    // A founding on an open base seals nothing while somebody has no key.
    await recording.found((agent) => !plain.has(agent));
    assertEquals(recording.openedBy(), from(firstOpen, recording.epochs.length));
    const open = recording.epochs.length;
    await recording.found(() => true);
    const { sealing } = recording.owner.member.binding;
    assertEquals(sealing, { required: false, since: recording.owner.member.epoch });
    await recording.add(true);
    await recording.commit(recording.owner, { forcePath: true });
    assertEquals(recording.openedBy(), from(firstOpen, open));
  }
});

Deno.test("not claimed: a former member, or a thief of a member's state, reads on with them", async () => {
  const recording = await Recording.begin(firstSeed, newSealing("require"));
  await recording.add(true);
  const former = await recording.add(true);
  const { group: { current: left } } = await former.stolen();
  await recording.commit(recording.owner, { remove: [former.id] });
  const removed = recording.epochs.length - 1;
  await recording.commit(recording.owner, { forcePath: true });
  await recording.add(true);
  assertEquals(recording.openedBy(), []);
  assertEquals(recording.openedBy(left), from(removed - 1, recording.epochs.length));
  // A group that began anew by sealed Welcomes is closed to it, too.
  const before = recording.epochs.length;
  await recording.found(() => true);
  await recording.commit(recording.owner, { forcePath: true });
  assertEquals(recording.openedBy(left), from(removed - 1, before));
  const { group: { current: stolen } } = await recording.owner.stolen();
  await recording.commit(recording.owner, { forcePath: true });
  await recording.commit(recording.owner, { forcePath: true });
  const last = recording.epochs.length;
  assertEquals(recording.openedBy(stolen), from(last - 3, last));
});
