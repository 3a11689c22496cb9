/**
 * The chain of owners across generations: what a member believes that comes back into one that it
 * has not seen begin.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { assertThrows } from "@std/assert";
import {
  type AgentId,
  type ChannelIssuers,
  type ChannelPolicy,
  groupIdOf,
  leaveStatement,
  type OwnersChange,
} from "../../proto/mod.ts";
import { MlsFault } from "./codec.ts";
import { portableSignatures } from "./testing/portable_signatures.ts";
import {
  checkChain,
  checkContinuation,
  foundedChange,
  type KnownOwners,
  leaveChange,
  noVersion,
  type ShownChain,
  signChange,
  versionOf,
} from "./owners_chain.ts";
import { channelId, type Someone, someone } from "./testing/people.ts";

const [bob, alice, mallory] = [someone("bob"), someone("alice"), someone("mallory")];
const idsOf = (owners: readonly Someone[]): AgentId[] => owners.map(({ id }) => id);

function versionBefore(changes: readonly OwnersChange[]): ReturnType<typeof versionOf> {
  const last = changes.at(-1);
  return last === undefined ? noVersion : versionOf(last);
}

async function set(
  changes: readonly OwnersChange[],
  by: Someone,
  ...owners: Someone[]
): Promise<OwnersChange[]> {
  const plan = { channelId, before: versionBefore(changes), owners: idsOf(owners) };
  return [...changes, await signChange(plan, by, portableSignatures)];
}

async function setPolicy(
  changes: readonly OwnersChange[],
  by: Someone,
  policy: ChannelPolicy,
): Promise<OwnersChange[]> {
  const before = versionBefore(changes);
  return [
    ...changes,
    await signChange({ channelId, before, owners: before.owners, policy }, by, portableSignatures),
  ];
}

async function found(
  changes: readonly OwnersChange[],
  generation: number,
  by: Someone,
  ...owners: Someone[]
): Promise<OwnersChange[]> {
  const founded = { generation, founding: new Uint8Array(32).fill(generation) };
  const last = changes.findLast(({ kind }) => kind === "policy" || kind === "founded");
  const policy = last !== undefined && "policy" in last ? last.policy : undefined;
  const plan = {
    channelId,
    before: versionBefore(changes),
    owners: idsOf(owners),
    founded,
    policy,
  };
  return [...changes, await foundedChange(plan, by, portableSignatures)];
}

const shown = (
  changes: readonly OwnersChange[],
  generation: number,
  policy?: ChannelPolicy,
): ShownChain => ({
  channelId,
  now: versionBefore(changes),
  generation,
  changes,
  policy,
});
const known = (
  changes: readonly OwnersChange[],
  generation?: number,
  policy?: ChannelPolicy,
): KnownOwners => {
  const version = versionBefore(changes);
  return {
    owners: version.owners,
    chain: version,
    policy,
    ...(generation !== undefined && { generation: { generation } }),
  };
};
const refuse = (why: string, act: () => void): unknown => assertThrows(act, MlsFault, why);
const comesBack = (from: KnownOwners, to: ShownChain): void =>
  checkContinuation(from, to, portableSignatures);

Deno.test("a member that comes back follows foundings by owners that it knew, one for each generation", async () => {
  const base = await set(await set([], alice, alice), alice, alice, bob);
  const first = await found(base, 1, alice, alice, bob);
  const second = await set(await found(first, 2, bob, bob), bob, bob, mallory);
  comesBack(known(base), shown(first, 1));
  comesBack(known(base), shown(second, 2));
  comesBack(known(first, 1), shown(second, 2));
  checkChain(shown(second, 2), portableSignatures);
  refuse("does not show how a generation", () => comesBack(known(base), shown(base, 1)));
  refuse("does not show how a generation", () => comesBack(known(base), shown(second, 1)));
  refuse("does not show how a generation", () => comesBack(known(base), shown(first, 2)));
  refuse("older generation", () => comesBack(known(second, 2), shown(first, 1)));
});

Deno.test("what a founding has undone is forgotten, if an owner that the member knew has founded it", async () => {
  const base = await set(await set([], alice, alice), alice, alice, bob);
  // The commit that was called bad made an owner; the member followed it, and knows a version that
  // no longer exists.
  const undone = await set(base, bob, alice, bob, mallory);
  const founded = await found(base, 1, alice, alice);
  comesBack(known(undone), shown(founded, 1));
  const more = await set(await set(founded, alice, alice, bob), alice, alice);
  comesBack(known(undone), shown(more, 1));
  // Without alice among those that it knew, it believes none of that.
  const without = await set(base, alice, bob, mallory);
  refuse("does not lead on", () => comesBack(known(without), shown(founded, 1)));
});

Deno.test("a founding is signed by an owner of the version before, over its generation", async () => {
  const base = await set([], alice, alice);
  const by = await found(base, 1, mallory, mallory);
  refuse("not signed by an owner", () => checkChain(shown(by, 1), portableSignatures));
  const [first, last] = await found(base, 1, alice, alice);
  if (first === undefined || last?.kind !== "founded") {
    throw new TypeError("a founding is two changes here");
  }
  const other = { ...last, founded: { ...last.founded, generation: 2 } };
  refuse("signature", () => checkChain(shown([first, other], 2), portableSignatures));
});

Deno.test("what an owner signed when it left names the group of its generation", async () => {
  const base = await found(
    await set(await set([], alice, alice), alice, alice, bob),
    1,
    alice,
    alice,
    bob,
  );
  const leafHash = new Uint8Array(32).fill(9);
  const leave = (generation: number): OwnersChange[] => {
    const statement = leaveStatement({
      channelId: groupIdOf(channelId, generation),
      agentId: bob.id,
      leafHash,
    });
    const signature = ed25519.sign(statement, bob.signingSeed);
    return [...base, leaveChange(versionBefore(base), { ...bob, leafHash, signature })];
  };
  checkChain(shown(leave(1), 1), portableSignatures);
  refuse("signature", () => checkChain(shown(leave(0), 1), portableSignatures));
});

Deno.test("a founding takes the policy of its base along, and a policy that it has undone locks nobody out", async () => {
  const [closed, quiet] = [
    { admission: "owners", posting: "members" },
    { admission: "owners", posting: "owners" },
  ] as const;
  const base = await setPolicy(
    await set(await set([], alice, alice), alice, alice, bob),
    alice,
    closed,
  );
  const founded = await found(base, 1, alice, alice, bob);
  comesBack(known(base, 0, closed), shown(founded, 1, closed));
  checkChain(shown(founded, 1, closed), portableSignatures);
  for (const wrong of [undefined, quiet]) {
    refuse(
      "not the one that its owners set",
      () => comesBack(known(base, 0, closed), shown(founded, 1, wrong)),
    );
    refuse(
      "not the one that its owners set",
      () => checkChain(shown(founded, 1, wrong), portableSignatures),
    );
  }
  // Bob's change was in the commit that was called bad.
  const undone = await setPolicy(base, bob, quiet);
  comesBack(known(undone, 0, quiet), shown(founded, 1, closed));
  refuse(
    "not the one that its owners set",
    () => comesBack(known(undone, 0, quiet), shown(founded, 1, quiet)),
  );
  const later = await setPolicy(founded, bob, quiet);
  comesBack(known(undone, 0, quiet), shown(later, 1, quiet));
});

Deno.test("a member 64 changes behind follows the policy, a newcomer takes it from behind the window, and one further behind is refused", async () => {
  const [closed, open] = [
    { admission: "owners", posting: "members" },
    { admission: "members", posting: "members" },
  ] as const;
  let changes = await setPolicy(await set([], alice, alice), alice, closed);
  const from = known(changes, 0, closed);
  for (let i = 0; i < 64; i++) {
    changes = await (i % 2 === 0 ? set(changes, alice, alice, bob) : set(changes, alice, alice));
  }
  const kept = changes.slice(-64);
  comesBack(from, shown(kept, 0, closed));
  refuse("not the one that its owners set", () => comesBack(from, shown(kept, 0)));
  refuse("not the one that its owners set", () => comesBack(from, shown(kept, 0, open)));
  checkChain(shown(kept, 0, closed), portableSignatures);
  const further = await set(changes, alice, alice, bob);
  refuse("more than 64", () => comesBack(from, shown(further.slice(-64), 0, closed)));
});

Deno.test("a founding takes the issuers of its base along, and issuers that it has undone lock nobody out", () => {
  const issuersOf = (domain: string): ChannelIssuers => ({
    required: true,
    issuers: [{ domain, key: new Uint8Array(32).fill(1), closed: false }],
  });
  const [acme, other] = [issuersOf("acme.com"), issuersOf("other.org")];
  const setIssuers = (changes: readonly OwnersChange[], by: Someone, issuers: ChannelIssuers) => {
    const before = versionBefore(changes);
    const plan = { channelId, before, owners: before.owners, issuers };
    return [...changes, signChange(plan, by, portableSignatures)];
  };
  const foundWith = (changes: readonly OwnersChange[], issuers?: ChannelIssuers) => {
    const founded = { generation: 1, founding: new Uint8Array(32).fill(1) };
    const before = versionBefore(changes);
    const plan = { channelId, before, owners: before.owners, founded, issuers };
    return [...changes, foundedChange(plan, alice, portableSignatures)];
  };
  const start = signChange(
    { channelId, before: noVersion, owners: idsOf([alice, bob]).sort() },
    alice,
    portableSignatures,
  );
  const base = setIssuers([start], alice, acme);
  const founded = foundWith(base, acme);
  const at = (changes: readonly OwnersChange[], generation: number, issuers?: ChannelIssuers) => ({
    ...shown(changes, generation),
    issuers,
  });
  const knew = (changes: readonly OwnersChange[], issuers?: ChannelIssuers) => ({
    ...known(changes, 0),
    issuers,
  });
  comesBack(knew(base, acme), at(founded, 1, acme));
  checkChain(at(founded, 1, acme), portableSignatures);
  const notSet = "not those that its owners set";
  for (const wrong of [undefined, other]) {
    refuse(notSet, () => comesBack(knew(base, acme), at(founded, 1, wrong)));
    refuse(notSet, () => checkChain(at(founded, 1, wrong), portableSignatures));
  }
  // A founding without them has none, whatever there was before.
  const without = foundWith(base);
  refuse(notSet, () => comesBack(knew(base, acme), at(without, 1, acme)));
  comesBack(knew(base, acme), at(without, 1));
  // Bob's change was in the commit that was called bad.
  const undone = setIssuers(base, bob, other);
  comesBack(knew(undone, other), at(founded, 1, acme));
  refuse(notSet, () => comesBack(knew(undone, other), at(founded, 1, other)));
  comesBack(knew(undone, other), at(setIssuers(founded, bob, other), 1, other));
  // A change of the policy says nothing about issuers, and one of the issuers nothing about it.
  const closed = { admission: "owners", posting: "members" } as const;
  const before = versionBefore(base);
  const policy = { channelId, before, owners: before.owners, policy: closed };
  const mixed = [...base, signChange(policy, alice, portableSignatures)];
  const both = { ...at(mixed, 0, acme), policy: closed };
  checkChain(both, portableSignatures);
  refuse(notSet, () => checkChain({ ...both, issuers: undefined }, portableSignatures));
  const last = { ...at(setIssuers(mixed, alice, other), 0, other), policy: closed };
  checkChain(last, portableSignatures);
  refuse("not the one", () => checkChain({ ...last, policy: undefined }, portableSignatures));
  const mallory = signChange(
    { channelId, before, owners: [...before.owners, someone("mallory").id].sort(), issuers: other },
    alice,
    portableSignatures,
  );
  refuse("makes owners", () => checkChain(at([...base, mallory], 0, other), portableSignatures));
});
