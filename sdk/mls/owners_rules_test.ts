/**
 * Commits and the owners of a channel, by real groups: what each member may change, and what the
 * others refuse.
 */
import { assert, assertEquals } from "@std/assert";
import {
  type AgentId,
  channelExtensions,
  emptyCommitAad,
  encodeCommitAad,
  encodeOwnersChanges,
  type MemberProof,
  type OwnersChange,
} from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { atOnce } from "../base/interruptible_work.ts";
import { type ChannelBinding, encodeBinding } from "./channel_extensions.ts";
import { createRules } from "./channel_rules.ts";
import { createCommit } from "./commit.ts";
import { portableSignatures } from "./testing/portable_signatures.ts";
import { type Epoch, stateOf } from "./epoch.ts";
import { listsExtension, ownersExtension } from "./leaf.ts";
import { isChainOf, leaveChange, signChange, versionOf } from "./owners_chain.ts";
import { versionIn } from "./owners_rules.ts";
import { createLeaf } from "./ratchet_tree.ts";
import { type Agent, World, type WorldOptions } from "./testing/world.ts";
import type { Extension } from "./ts_mls.ts";

interface Members {
  readonly world: World;
  readonly owner: Agent;
  readonly bob: Agent;
  readonly carol: Agent;
}

async function createMembers(options: WorldOptions = {}): Promise<Members> {
  const world = new World(createRandom(4), options);
  const owner = await world.create();
  const [bob, carol] = [world.newAgent(), world.newAgent()];
  await world.add(owner, bob, carol);
  return { world, owner, bob, carol };
}

async function syncAll({ world }: Pick<Members, "world">): Promise<void> {
  for (const agent of world.active()) await agent.sync();
  assertEquals(world.authenticators().length, 1);
  for (const { member } of world.active()) {
    assert(isChainOf(versionIn(member.binding), member.changes));
  }
}

/** Two owners and carol. */
async function createOwners(): Promise<Members> {
  const members = await createMembers();
  const { world, owner, bob } = members;
  await world.commit(owner, () => ({ owners: [owner.id, bob.id] }));
  await syncAll(members);
  return members;
}

/** Fields that a member with a modified program could write. */
interface Forged {
  readonly binding?: ChannelBinding;
  readonly changes?: readonly OwnersChange[];
  readonly removed?: readonly Agent[];
  readonly leaves?: readonly MemberProof[];
  readonly added?: readonly Agent[];
}

const followed = "only looking";

/** An honest reader's verdict on a forged commit; undefined when it would follow it. */
async function verdict(by: Agent, reader: Agent, forged: Forged): Promise<string | undefined> {
  const { binding, changes = [], removed = [], leaves = [], added = [] } = forged;
  const before: readonly Extension[] = by.member.current.context.extensions;
  const extensions = binding === undefined ? before : encodeBinding(binding);
  const packages = await Promise.all(added.map((agent) => agent.createKeyPackage()));
  const { message, next } = atOnce(createCommit(
    binding === undefined ? by.member.current : trusting(by.member.current),
    {
      proposals: [
        {
          proposalType: "group_context_extensions",
          groupContextExtensions: { extensions: [...extensions] },
        },
        ...removed.map(({ member }) => ({
          proposalType: "remove" as const,
          remove: { removed: member.self.leafIndex },
        })),
        ...packages.map(({ keyPackage }) => ({
          proposalType: "add" as const,
          add: { keyPackage },
        })),
      ],
      identity: by.identity,
      authenticatedData: encodeCommitAad({
        ...emptyCommitAad,
        changes: encodeOwnersChanges(changes),
        leaves,
      }),
      padding: () => 0,
    },
    by.deps,
  ));
  const outcome = await reader.member.receive(message, (commit) => {
    const { owners } = commit.summary;
    const lists = {
      added: added.map(({ id }) => id),
      removed: removed.map(({ id }) => id),
      owners,
    };
    const declared = { ...lists, nextState: stateOf(next) };
    return createRules(declared, portableSignatures)(commit) ?? followed;
  });
  assert(outcome.kind === "refused");
  return outcome.reason === followed ? undefined : outcome.reason;
}

/** The same to everybody else, but to its own program all members support all that it proposes. */
function trusting(epoch: Epoch): Epoch {
  const isAble = Array.from(epoch.tree.leaves(), ([, { node }]) => node).every((node) =>
    listsExtension(node, ownersExtension)
  );
  if (isAble) return epoch;
  let { tree } = epoch;
  for (const [leafIndex, { node }] of epoch.tree.leaves()) {
    const capabilities = { ...node.capabilities, extensions: [...channelExtensions] };
    tree = tree.replace(leafIndex, createLeaf({ ...node, capabilities }));
  }
  return { ...epoch, tree };
}

function sign(
  by: Agent,
  owners: readonly Agent[],
  before = versionIn(by.member.binding),
): OwnersChange {
  const ids = owners.map(({ id }) => id);
  return signChange(
    { channelId: by.world.channelId, before, owners: ids },
    by.identity,
    portableSignatures,
  );
}

function after(by: Agent, change: OwnersChange): ChannelBinding {
  const { version, lastChange, owners } = versionOf(change);
  return { name: by.member.binding.name, owners, chain: { version, lastChange } };
}

function leaving(by: Agent, who: Agent): OwnersChange {
  const { signature } = who.leave();
  return leaveChange(versionIn(by.member.binding), {
    ...who.identity,
    leafHash: who.leafHash,
    signature,
  });
}

const refuses = (part: string, why: string | undefined): void =>
  assert(why?.includes(part), `${why} for ${part}`);
const ids = (...agents: readonly Agent[]): AgentId[] => agents.map(({ id }) => id).sort();

Deno.test("a new channel has version 1, and every member that joins holds the changes", async () => {
  const members = await createMembers();
  for (const { member } of members.world.active()) {
    assertEquals(member.binding.owners, [members.owner.id]);
    assertEquals(member.binding.chain.version, 1);
    assertEquals(member.changes, members.owner.member.changes);
  }
  await syncAll(members);
});

Deno.test("an owner's changes make versions, which survive a crash before and after the relay's answer", async () => {
  const members = await createMembers();
  const { world, owner, bob, carol } = members;
  const prepared = await owner.joined.prepare({ owners: [owner.id, bob.id] });
  await owner.crash();
  assert(owner.candidate);
  assert(world.submitCommit(owner.id, owner.candidate));
  await owner.joined.accept(owner.candidate);
  owner.cursor = world.log.length;
  await syncAll(members);
  await owner.acknowledge();
  assertEquals(prepared.hash, owner.candidate.hash);
  for (const agent of [owner, bob, carol]) {
    await agent.acknowledge();
    await agent.crash();
    assertEquals(agent.member.binding.owners, ids(owner, bob));
    assertEquals(agent.member.binding.chain.version, 2);
    assertEquals(agent.member.changes.length, 2);
  }
});

Deno.test("a member that owns nothing strikes an owner that leaves, with what that one signed", async () => {
  const members = await createOwners();
  const { world, owner, bob, carol } = members;
  const leaves = [bob.leave()];
  await world.commit(carol, () => ({ remove: [bob.id], leaves }));
  await syncAll(members);
  assertEquals(owner.member.binding.owners, [owner.id]);
  assertEquals(owner.member.binding.chain.version, 3);
  assertEquals(owner.member.changes.at(-1)?.kind, "left");
});

Deno.test("two owners that leave at once are struck one after the other, and nobody owns the channel then", async () => {
  const members = await createOwners();
  const { world, owner, bob, carol } = members;
  const leaves = [bob.leave(), owner.leave()];
  await world.commit(carol, () => ({ remove: [owner.id, bob.id], leaves }));
  assertEquals(carol.member.binding.owners, []);
  assertEquals(carol.member.binding.chain.version, 4);
  const late = world.newAgent();
  await world.add(carol, late);
  await syncAll(members);
  assertEquals(late.member.changes.map(({ kind }) => kind), ["signed", "signed", "left", "left"]);
});

Deno.test("an owner that removes another by its leave, or without, signs the change itself", async () => {
  const members = await createOwners();
  const { world, owner, bob, carol } = members;
  await world.commit(owner, () => ({ remove: [bob.id], leaves: [bob.leave()] }));
  await syncAll(members);
  assertEquals(carol.member.binding.owners, [owner.id]);
  assertEquals(carol.member.changes.at(-1)?.kind, "signed");
});

Deno.test("a rejoin keeps ownership and changes nothing; a leave followed by an add does not keep it", async () => {
  const members = await createOwners();
  const { world, bob, carol } = members;
  const own = await bob.createKeyPackage();
  const rejoins = [bob.rejoin(own)];
  await world.commit(carol, () => ({ remove: [bob.id], add: [own.keyPackage], rejoins }));
  await bob.sync();
  await bob.join();
  await syncAll(members);
  assert(bob.member.self.owner);
  assertEquals(bob.member.binding.chain.version, 2);
  const again = await bob.createKeyPackage();
  const leaves = [bob.leave()];
  await world.commit(carol, () => ({ remove: [bob.id], add: [again.keyPackage], leaves }));
  await bob.sync();
  await bob.join();
  await syncAll(members);
  assert(!bob.member.self.owner);
  assertEquals(bob.member.binding.chain.version, 3);
});

Deno.test("who owns nothing makes no owner: not by its own change, an old one, one that another signed, or without", async () => {
  const { owner, bob, carol } = await createOwners();
  const why = "Only owners change";
  const own = await sign(carol, [carol]);
  refuses(why, await verdict(carol, bob, { binding: after(carol, own), changes: [own] }));
  const lent = await sign(owner, [owner, carol]);
  refuses(why, await verdict(carol, bob, { binding: after(carol, lent), changes: [lent] }));
  const [first] = owner.member.changes;
  assert(first);
  refuses(why, await verdict(carol, bob, { binding: after(carol, first), changes: [first] }));
  const result = "not the result";
  const { binding } = carol.member;
  refuses(result, await verdict(carol, bob, { binding: { ...binding, owners: ids(bob, carol) } }));
  refuses(result, await verdict(carol, bob, { binding: { ...binding, owners: [] } }));
});

Deno.test("who owns nothing strikes exactly the owners whose leave it carries", async () => {
  const { owner, bob, carol } = await createOwners();
  const change = leaving(carol, bob);
  const proven = { removed: [bob], leaves: [bob.leave()] };
  assertEquals(
    await verdict(carol, owner, { ...proven, binding: after(carol, change), changes: [change] }),
    undefined,
  );
  refuses("Only owners change", await verdict(carol, owner, proven));
  const other = leaving(carol, owner);
  refuses(
    "Only owners change",
    await verdict(carol, owner, { ...proven, binding: after(carol, other), changes: [other] }),
  );
  const both = [change, { ...change, version: change.version + 1 }];
  refuses(
    "Only owners change",
    await verdict(carol, owner, { ...proven, binding: after(carol, change), changes: both }),
  );
  // Its leave alone, without the removal.
  refuses(
    "Only owners change",
    await verdict(carol, owner, { binding: after(carol, change), changes: [change] }),
  );
  const back = { ...proven, added: [bob] };
  refuses("Only owners change", await verdict(carol, owner, back));
});

Deno.test("an owner makes one change at most, signs it itself, and its GroupContext is the result", async () => {
  const { owner, bob, carol } = await createOwners();
  const change = await sign(owner, [owner, carol]);
  const binding = after(owner, change);
  assertEquals(await verdict(owner, bob, { binding, changes: [change] }), undefined);
  const next = await sign(owner, [carol], versionOf(change));
  refuses(
    "once",
    await verdict(owner, bob, { binding: after(owner, next), changes: [change, next] }),
  );
  const left = leaving(owner, owner);
  refuses("once", await verdict(owner, bob, { binding: after(owner, left), changes: [left] }));
  const lent = await sign(bob, [bob]);
  refuses(
    "another owner",
    await verdict(owner, bob, { binding: after(owner, lent), changes: [lent] }),
  );
  const result = "not the result";
  refuses(result, await verdict(owner, bob, { changes: [change] }));
  refuses(result, await verdict(owner, bob, { binding }));
  const [version, lastChange] = [binding.chain.version, new Uint8Array(32)];
  refuses(
    result,
    await verdict(owner, bob, { binding: { ...binding, owners: [owner.id] }, changes: [change] }),
  );
  refuses(
    result,
    await verdict(owner, bob, {
      binding: { ...binding, chain: { version, lastChange } },
      changes: [change],
    }),
  );
});

Deno.test("a change that skips a version, was made before, or whose signature is wrong is refused of owners too", async () => {
  const { owner, bob, carol } = await createOwners();
  const now = versionIn(owner.member.binding);
  const skipped = await sign(owner, [owner, carol], { ...now, version: now.version + 1 });
  refuses(
    "does not follow",
    await verdict(owner, bob, { binding: after(owner, skipped), changes: [skipped] }),
  );
  const forked = await sign(owner, [owner, carol], { ...now, lastChange: new Uint8Array(32) });
  refuses(
    "does not follow",
    await verdict(owner, bob, { binding: after(owner, forked), changes: [forked] }),
  );
  const [, old] = owner.member.changes;
  assert(old);
  refuses(
    "does not follow",
    await verdict(owner, bob, { binding: after(owner, old), changes: [old] }),
  );
  const change = await sign(owner, [owner, carol]);
  const wrong = { ...change, signature: new Uint8Array(64) };
  refuses(
    "signature",
    await verdict(owner, bob, { binding: after(owner, wrong), changes: [wrong] }),
  );
});

Deno.test("an owner that is removed does not stay on the list, also when it is added again after a leave", async () => {
  const { owner, bob, carol } = await createOwners();
  const same = await sign(owner, [owner, bob]);
  const kept = { binding: after(owner, same), changes: [same], removed: [bob] };
  refuses("leaves it on the list", await verdict(owner, carol, kept));
  const again = { ...kept, leaves: [bob.leave()], added: [bob] };
  refuses("leaves it on the list", await verdict(owner, carol, again));
  assertEquals(
    await verdict(owner, carol, { ...kept, added: [bob] }),
    undefined,
    "an owner that lost its state",
  );
});

Deno.test("a demoted owner changes nothing any more", async () => {
  const members = await createOwners();
  const { world, owner, bob, carol } = members;
  await world.commit(bob, () => ({ owners: [bob.id] }));
  await syncAll(members);
  const change = await sign(owner, [owner]);
  refuses(
    "Only owners change",
    await verdict(owner, carol, { binding: after(owner, change), changes: [change] }),
  );
});
