/**
 * Which Welcomes a joiner and a returning member believe, by real groups and a member that writes
 * its own.
 */
import { assert, assertEquals } from "@std/assert";
import {
  encodeOwnersChange,
  encodeOwnersChanges,
  limits,
  type OwnersChange,
} from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { atOnce } from "../base/interruptible_work.ts";
import { encodeBinding } from "./channel_extensions.ts";
import { MlsFault, vector } from "./codec.ts";
import { createCommit } from "./commit.ts";
import { portableSignatures } from "./testing/portable_signatures.ts";
import { type ExpectedGroup, Group } from "./group.ts";
import { ownersExtension } from "./leaf.ts";
import { noVersion, signChange, versionOf } from "./owners_chain.ts";
import { versionIn } from "./owners_rules.ts";
import { encodeShownChanges } from "./shown_owners.ts";
import { type Agent, name, World, type WorldOptions } from "./testing/world.ts";
import type { Extension } from "./ts_mls.ts";

interface Members {
  readonly world: World;
  readonly owner: Agent;
  readonly victim: Agent;
  readonly mallory: Agent;
}

async function createMembers(options: WorldOptions = {}): Promise<Members> {
  const world = new World(createRandom(7), options);
  const owner = await world.create();
  const [victim, mallory] = [world.newAgent(), world.newAgent()];
  await world.add(owner, victim, mallory);
  return { world, owner, victim, mallory };
}

async function sync({ world }: Members, ...away: Agent[]): Promise<void> {
  for (const agent of world.active()) if (!away.includes(agent)) await agent.sync();
}

interface Written {
  /** Of the GroupContext after the commit. */
  readonly extensions?: Extension[];
  /** Of the GroupInfo. */
  readonly shown?: readonly Extension[];
}

/** A member removes the victim and adds it again, and tells it what it likes. */
async function welcomeTo(
  victim: Agent,
  by: Agent,
  { extensions, shown }: Written,
): Promise<Uint8Array> {
  const epoch = by.member.current;
  const place = by.member.members().find(({ agentId }) => agentId === victim.id);
  const { keyPackage } = await victim.createKeyPackage();
  const { welcome } = atOnce(createCommit(epoch, {
    proposals: [
      ...(extensions === undefined ? [] : [{
        proposalType: "group_context_extensions" as const,
        groupContextExtensions: { extensions },
      }]),
      ...(place === undefined
        ? []
        : [{ proposalType: "remove" as const, remove: { removed: place.leafIndex } }]),
      { proposalType: "add", add: { keyPackage } },
    ],
    identity: by.identity,
    authenticatedData: new Uint8Array(0),
    padding: () => 0,
    groupInfoExtensions: shown ?? encodeShownChanges(by.member.changes),
  }, by.deps));
  assert(welcome);
  return welcome;
}

function enter(victim: Agent, welcome: Uint8Array, known?: ExpectedGroup["known"]): Group {
  assert(victim.own);
  const expected = {
    name,
    channelId: victim.world.channelId,
    ...(known !== undefined && { known }),
  };
  return Group.join(welcome, victim.own, victim.deps, expected);
}

/** The victim's verdicts on a Welcome, as a member that comes back and as a newcomer. */
async function verdicts(
  victim: Agent,
  by: Agent,
  written: Written,
): Promise<readonly [string, string]> {
  const known = victim.member.binding;
  const welcome = await welcomeTo(victim, by, written);
  const verdict = (act: () => Group): string => {
    try {
      act();
      return "";
    } catch (error) {
      assert(error instanceof MlsFault, String(error));
      return error.message;
    }
  };
  return [verdict(() => enter(victim, welcome, known)), verdict(() => enter(victim, welcome))];
}

/** A change of mallory's own making, and the group in which it is the owner. */
async function usurp(mallory: Agent, before = versionIn(mallory.member.binding)): Promise<{
  readonly change: OwnersChange;
  readonly extensions: Extension[];
}> {
  const owners = [mallory.id];
  const change = await signChange(
    { channelId: mallory.world.channelId, before, owners },
    mallory.identity,
    portableSignatures,
  );
  const { version, lastChange } = versionOf(change);
  return { change, extensions: encodeBinding({ name, owners, chain: { version, lastChange } }) };
}

Deno.test("a member that comes back finds the owners that it knew, or those that they made", async () => {
  const members = await createMembers();
  const { world, owner, victim, mallory } = members;
  assertEquals(await verdicts(victim, mallory, {}), ["", ""]);
  for (let i = 0; i < 3; i++) {
    await world.commit(
      owner,
      () => ({ owners: i % 2 === 0 ? [owner.id, mallory.id] : [owner.id] }),
    );
  }
  await sync(members, victim);
  assertEquals(victim.member.binding.chain.version, 1);
  assertEquals(await verdicts(victim, mallory, {}), ["", ""]);
});

Deno.test("a member that made itself the owner convinces nobody that comes back, by whatever chain", async () => {
  const members = await createMembers();
  const { world, owner, victim, mallory } = members;
  const honest = mallory.member.changes;
  const next = await usurp(mallory);
  const anew = await usurp(mallory, noVersion);
  const chains: [string, Written][] = [
    ["not signed by an owner", {
      extensions: next.extensions,
      shown: encodeShownChanges([...honest, next.change]),
    }],
    ["does not lead on", { extensions: anew.extensions, shown: encodeShownChanges([anew.change]) }],
    ["has 1 changes", { extensions: next.extensions, shown: encodeShownChanges([next.change]) }],
    ["does not follow", {
      extensions: next.extensions,
      shown: encodeShownChanges([...honest, ...honest]),
    }],
    ["does not show", { extensions: next.extensions, shown: [] }],
  ];
  for (const [why, written] of chains) {
    const [returning] = await verdicts(victim, mallory, written);
    assert(returning.includes(why), `${returning} for ${why}`);
  }
  await world.commit(owner, () => ({ owners: [owner.id, victim.id] }));
  await sync(members);
  const [shorter] = await verdicts(victim, mallory, {
    extensions: anew.extensions,
    shown: encodeShownChanges([anew.change]),
  });
  assert(shorter.includes("older version"), shorter);
});

Deno.test("a newcomer refuses what does not fit together", async () => {
  const { victim, mallory } = await createMembers();
  const honest = mallory.member.changes;
  const [first] = honest;
  assert(first);
  const [shown] = encodeShownChanges(honest);
  assert(shown);
  const wrong: OwnersChange = { ...first, signature: new Uint8Array(64) };
  const { version, lastChange, owners } = versionOf(wrong);
  const data = (
    extensionData: Uint8Array,
  ): Extension[] => [{ extensionType: ownersExtension, extensionData }];
  const list = encodeOwnersChanges(honest);
  const cases: [string, Written][] = [
    ["does not show", { shown: [] }],
    ["twice", { shown: [shown, shown] }],
    ["trailing", { shown: data(new Uint8Array([...vector(list), 0])) }],
    ["too early", { shown: data(vector(list).subarray(0, -1)) }],
    ["too early", { shown: data(vector(list.subarray(0, -1))) }],
    ["format", { shown: data(vector(encodeOwnersChange(first).with(0, 2))) }],
    ["has 0 changes", { shown: data(vector(new Uint8Array(0))) }],
    ["signature", {
      extensions: encodeBinding({ name, owners, chain: { version, lastChange } }),
      shown: encodeShownChanges([wrong]),
    }],
  ];
  for (const [why, written] of cases) {
    const [returning, joining] = await verdicts(victim, mallory, written);
    assert(joining.includes(why), `${joining} for ${why}`);
    assert(returning !== "", why);
  }
});

Deno.test("longer away than the changes that are kept: a new invite, which every joiner can follow", async () => {
  const members = await createMembers();
  const { world, owner, victim, mallory } = members;
  for (let i = 0; i <= limits.ownersChanges; i++) {
    await world.commit(
      owner,
      () => ({ owners: i % 2 === 0 ? [owner.id, mallory.id] : [owner.id] }),
    );
    if (i === limits.ownersChanges - 1) {
      await sync(members, victim);
      assertEquals(await verdicts(victim, mallory, {}), ["", ""], "just in time");
    }
  }
  await sync(members, victim);
  const [returning, joining] = await verdicts(victim, mallory, {});
  assert(returning.includes("new invite"), returning);
  assertEquals(joining, "");
  assertEquals(mallory.member.changes.length, limits.ownersChanges);
});
