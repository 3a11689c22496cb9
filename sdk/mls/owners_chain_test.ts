/** Rights to change a channel's owners, and the chains that a member that comes back accepts. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  binaryIdFromBytes,
  type ChannelId,
  leaveStatement,
  limits,
  type OwnersChange,
  ownersStatement,
  type OwnersVersion,
} from "../../proto/mod.ts";
import { MlsFault } from "./codec.ts";
import { portableSignatures } from "./testing/portable_signatures.ts";
import {
  checkChain,
  checkContinuation,
  followChanges,
  inOrder,
  isChainOf,
  keepChanges,
  type KnownOwners,
  leaveChange,
  noVersion,
  type ShownChain,
  signChange,
  versionOf,
} from "./owners_chain.ts";
import { channelId, type Someone, someone } from "./testing/people.ts";

const elsewhere = binaryIdFromBytes<ChannelId>(new Uint8Array(16).fill(2));

const [bob, alice, mallory] = [someone("bob"), someone("alice"), someone("mallory")];

/** A chain that grows. */
class Chain {
  changes: OwnersChange[] = [];

  get now(): OwnersVersion {
    const last = this.changes.at(-1);
    return last === undefined ? noVersion : versionOf(last);
  }

  get shown(): ShownChain {
    return {
      channelId,
      now: this.now,
      generation: 0,
      changes: this.changes.slice(-limits.ownersChanges),
    };
  }

  get known(): KnownOwners {
    return { owners: this.now.owners, chain: this.now };
  }

  async set(by: Someone, ...owners: Someone[]): Promise<this> {
    const to = owners.map(({ id }) => id);
    this.changes.push(
      await signChange({ channelId, before: this.now, owners: to }, by, portableSignatures),
    );
    return this;
  }

  leave(who: Someone): this {
    this.changes.push(leaveChange(this.now, leaveOf(who)));
    return this;
  }

  /** Versions without meaning. */
  async grow(by: Someone, count: number): Promise<this> {
    for (let i = 0; i < count; i++) await this.set(by, ...(i % 2 === 0 ? [alice] : [alice, bob]));
    return this;
  }

  copy(): Chain {
    const chain = new Chain();
    chain.changes = [...this.changes];
    return chain;
  }
}

function leaveOf(who: Someone): Parameters<typeof leaveChange>[1] {
  const leafHash = new Uint8Array(32).fill(9);
  const signature = ed25519.sign(
    leaveStatement({ channelId, agentId: who.id, leafHash }),
    who.signingSeed,
  );
  return { ...who, leafHash, signature };
}

const start = (): Promise<Chain> => new Chain().set(alice, alice);

function refuse(why: string, act: () => void): void {
  assertThrows(act, MlsFault, why);
}

const follow = (before: OwnersVersion, ...changes: OwnersChange[]): OwnersVersion =>
  followChanges({ channelId, generation: 0 }, before, changes, portableSignatures);

Deno.test("owners make owners, one after the other, and an owner's leave strikes that one alone", async () => {
  const chain = await (await start()).set(alice, alice, bob);
  chain.leave(alice);
  await chain.set(bob, bob, mallory);
  const after = follow(noVersion, ...chain.changes);
  assertEquals(after, { ...chain.now, version: 4, owners: inOrder([bob.id, mallory.id]) });
  checkChain(chain.shown, portableSignatures);
});

Deno.test("the last owner's leave may leave a channel without owners; nothing else does, and nothing follows", async () => {
  const chain = await start();
  chain.leave(alice);
  assertEquals(follow(noVersion, ...chain.changes).owners, []);
  const before = (await start()).now;
  const [version, previous, owners] = [2, before.lastChange, []] as const;
  const signature = ed25519.sign(
    ownersStatement({ channelId, version, previous, owners }),
    alice.signingSeed,
  );
  const none: OwnersChange = { kind: "signed", version, previous, owners, ...alice, signature };
  refuse("without an owner", () => follow(before, none));
  await chain.set(alice, alice);
  refuse("not signed by an owner", () => follow(noVersion, ...chain.changes));
});

Deno.test("a change by somebody that owned nothing, or no more, is refused", async () => {
  const chain = await start();
  for (const forged of [await chain.copy().set(mallory, mallory), chain.copy().leave(mallory)]) {
    refuse("not signed by an owner", () => follow(noVersion, ...forged.changes));
    refuse(
      "not signed by an owner",
      () => checkContinuation(chain.known, forged.shown, portableSignatures),
    );
  }
  const demoted = await (await (await start()).set(alice, alice, bob)).set(bob, bob);
  await demoted.set(alice, alice);
  refuse("not signed by an owner", () => checkChain(demoted.shown, portableSignatures));
  refuse("not signed by an owner", () => follow(noVersion, ...demoted.changes));
});

Deno.test("version 1 is signed by one of its own owners", async () => {
  const founded = await new Chain().set(mallory, alice);
  refuse("not signed by an owner", () => checkChain(founded.shown, portableSignatures));
  const left = new Chain();
  left.changes = [{ ...leaveChange(noVersion, leaveOf(alice)), owners: [alice.id] }];
  refuse("changes other owners", () => checkChain(left.shown, portableSignatures));
});

Deno.test("a forged signature, and one of another channel, version or list of owners, is refused", async () => {
  const chain = await start();
  const { now } = chain;
  const good = (await chain.copy().set(alice, alice, bob)).changes[1];
  assert(good);
  const wrong: OwnersChange[] = [
    { ...good, signature: good.signature.with(3, 255) },
    { ...good, owners: inOrder([alice.id, mallory.id]) },
    {
      ...good,
      signatureKey: alice.signatureKey,
      signature: ed25519.sign(new Uint8Array(1), alice.signingSeed),
    },
    await signChange(
      { channelId: elsewhere, before: now, owners: [bob.id] },
      alice,
      portableSignatures,
    ),
    { ...leaveChange(now, leaveOf(alice)), signature: leaveOf(bob).signature },
  ];
  for (const change of wrong) {
    refuse("signature", () => follow(now, change));
    const shown = {
      channelId,
      now: versionOf(change),
      generation: 0,
      changes: [...chain.changes, change],
    };
    refuse("signature", () => checkChain(shown, portableSignatures));
    refuse("signature", () => checkContinuation(chain.known, shown, portableSignatures));
  }
  // A key that is not the owner's makes another agent, whatever identity it claims.
  const stolen = { ...good, signatureKey: mallory.signatureKey };
  refuse("not signed by an owner", () => follow(now, stolen));
});

Deno.test("a leave takes only its signer off the list", async () => {
  const { now } = await (await start()).set(alice, alice, bob);
  for (
    const owners of [[], [alice.id], inOrder([bob.id, mallory.id]), inOrder([alice.id, bob.id])]
  ) {
    refuse(
      "other owners than itself",
      () => follow(now, { ...leaveChange(now, leaveOf(alice)), owners }),
    );
  }
});

Deno.test("a change that skips a version, repeats one, or was made after another one is refused", async () => {
  const chain = await (await (await start()).set(alice, alice, bob)).set(alice, alice);
  const [first, second, third] = chain.changes;
  assert(first && second && third);
  const why = "does not follow";
  refuse(why, () => follow(versionOf(first), third));
  refuse(why, () => follow(versionOf(third), second));
  refuse(why, () => follow(versionOf(second), second));
  const [other] = (await new Chain().set(alice, alice, bob)).changes;
  assert(other);
  refuse(why, () => follow(versionOf(other), second));
  refuse(why, () => follow(noVersion, second));
});

Deno.test("a Welcome shows exactly the changes that members keep", async () => {
  for (
    const length of [1, 2, limits.ownersChanges, limits.ownersChanges + 1, limits.ownersChanges + 6]
  ) {
    const chain = await (await start()).grow(alice, length - 1);
    const { shown } = chain;
    checkChain(shown, portableSignatures);
    assert(isChainOf(shown.now, shown.changes));
    const odd = [shown.changes.slice(1), shown.changes.slice(0, -1), [], [
      ...shown.changes,
      ...shown.changes.slice(-1),
    ]];
    for (const changes of odd) {
      assertThrows(() => checkChain({ ...shown, changes }, portableSignatures), MlsFault);
      assertThrows(
        () => checkContinuation(chain.known, { ...shown, changes }, portableSignatures),
        MlsFault,
      );
      assert(!isChainOf(shown.now, changes));
    }
    const kept = chain.changes.reduce<readonly OwnersChange[]>(
      (all, change) => keepChanges(all, [change]),
      [],
    );
    assertEquals(kept, shown.changes);
  }
});

Deno.test("a chain that leads to another version or other owners than its group has is refused", async () => {
  const { shown } = await (await start()).set(alice, alice, bob);
  const { now } = shown;
  const others: OwnersVersion[] = [
    { ...now, lastChange: new Uint8Array(32) },
    { ...now, owners: [mallory.id] },
    { ...now, version: 3 },
  ];
  for (const other of others) {
    assertThrows(() => checkChain({ ...shown, now: other }, portableSignatures), MlsFault);
  }
});

Deno.test("a returning member follows up to as many changes as are kept, from wherever it was", async () => {
  for (const before of [1, 5, 40]) {
    for (const more of [0, 1, limits.ownersChanges - before, limits.ownersChanges]) {
      const then = await (await start()).grow(alice, before - 1);
      const now = await then.copy().grow(alice, Math.max(0, more));
      checkContinuation(then.known, now.shown, portableSignatures);
    }
  }
  const then = await (await start()).grow(alice, 4);
  const now = await then.copy().grow(alice, limits.ownersChanges + 1);
  refuse("new invite", () => checkContinuation(then.known, now.shown, portableSignatures));
});

Deno.test("a returning member refuses another past, an older version, and another list under its own version", async () => {
  const chain = await (await start()).set(alice, alice, bob);
  const known = (await chain.copy().set(alice, alice)).known;
  const forked = await (await chain.copy().set(bob, bob)).set(bob, bob, mallory);
  refuse("does not lead on", () => checkContinuation(known, forked.shown, portableSignatures));
  const same = await chain.copy().set(bob, bob);
  refuse("does not lead on", () => checkContinuation(known, same.shown, portableSignatures));
  refuse("older version", () => checkContinuation(known, chain.shown, portableSignatures));
  const elsewhere = await (await new Chain().set(mallory, mallory)).grow(mallory, 0);
  for (let i = 0; i < 70; i++) await elsewhere.set(mallory, mallory);
  const long = await chain.copy().grow(alice, limits.ownersChanges);
  refuse(
    "does not lead on",
    () => checkContinuation(long.known, elsewhere.shown, portableSignatures),
  );
});

Deno.test("where the first change that is shown follows what the member knew, its signer was an owner then", async () => {
  const then = await start();
  const rival = then.copy();
  // The first change would be judged by nobody: the version before it is not among those that are
  // shown.
  await rival.set(mallory, mallory);
  for (let i = 1; i < limits.ownersChanges; i++) await rival.set(mallory, mallory);
  assertEquals(rival.shown.changes[0]?.version, 2);
  refuse(
    "not signed by an owner",
    () => checkContinuation(then.known, rival.shown, portableSignatures),
  );
});
