import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals } from "@std/assert";
import {
  type AgentId,
  agentIdOf,
  binaryIdFromBytes,
  CellPacker,
  type ChannelId,
  encodeNotice,
  encodeRequest,
  leaveStatement,
  limits,
  type MessageId,
  rejoinStatement,
} from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { createRules, isLeaveValid, isRejoinValid, type RuleInput } from "./channel_rules.ts";
import { portableSignatures } from "./crypto/signatures.ts";
import { Group } from "./group.ts";
import { createCellPadding } from "./padding.ts";
import { World } from "./testing/world.ts";
import { FirstUseTrust } from "./first_use.ts";

const agent = (name: string): AgentId => agentIdOf(new Uint8Array(32), utf8ToBytes(name));
const [alice, bob, carol] = [agent("alice"), agent("bob"), agent("carol")];
const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16));

interface Case {
  readonly does: { added?: AgentId[]; removed?: AgentId[]; owners?: AgentId[] };
  readonly declared?: Case["does"];
  readonly owner?: boolean;
  readonly ownersBefore?: AgentId[];
  readonly leaving?: AgentId[];
  readonly rejoining?: AgentId[];
  /** Under which KeyPackage they asked to come back; those that are added come in under 1. */
  readonly keyPackage?: number;
}

const hashOf = (keyPackage: number): Uint8Array => new Uint8Array(32).fill(keyPackage);

function verdict(
  { does, declared = does, owner = false, leaving = [], rejoining = [], keyPackage = 1, ownersBefore = [alice] }: Case,
): string | undefined {
  const complete = ({ added = [], removed = [], owners }: Case["does"]): RuleInput["declared"] => ({
    added,
    removed,
    owners,
  });
  const rejoins = new Map(rejoining.map((agentId) => [agentId, hashOf(keyPackage)]));
  const input = { declared: complete(declared), leaving: new Set(leaving), rejoining: rejoins };
  const keyPackageHashes = new Map(does.added?.map((agentId) => [agentId, hashOf(1)]));
  const committer = { leafIndex: 0, agentId: alice, identity: new Uint8Array(0), owner };
  return createRules(input)({ committer: alice, ...complete(does), keyPackageHashes, ownersBefore }, committer);
}

Deno.test("any member adds, updates, and removes who has left", () => {
  assertEquals(verdict({ does: {} }), undefined);
  assertEquals(verdict({ does: { added: [bob, carol] } }), undefined);
  assertEquals(verdict({ does: { removed: [bob] }, leaving: [bob] }), undefined);
  assertEquals(verdict({ does: { removed: [bob], added: [bob] }, rejoining: [bob] }), undefined);
  const leavingOwner = { ownersBefore: [bob, carol], leaving: [bob] };
  assertEquals(verdict({ does: { removed: [bob], owners: [carol] }, ...leavingOwner }), undefined);
  assert(
    verdict({ does: { removed: [bob], owners: [carol, alice] }, ...leavingOwner })?.includes("Only owners change"),
  );
});

Deno.test("only owners remove others or change the owners", () => {
  assert(verdict({ does: { removed: [bob] } })?.includes("Only owners remove"));
  assert(verdict({ does: { removed: [bob, carol] }, leaving: [bob] })?.includes("Only owners remove"));
  assert(verdict({ does: { removed: [bob] }, rejoining: [bob] })?.includes("Only owners remove"));
  assert(verdict({ does: { owners: [bob] } })?.includes("Only owners change"));
  assertEquals(verdict({ does: { removed: [bob], owners: [alice, carol] }, owner: true }), undefined);
});

Deno.test("what a commit does must be what its sender declared, whoever it is", () => {
  for (const owner of [true, false]) {
    assert(verdict({ does: { added: [bob] }, declared: {}, owner })?.includes("declared"));
    assert(verdict({ does: {}, declared: { removed: [bob] }, owner })?.includes("declared"));
    assert(verdict({ does: { added: [bob] }, declared: { added: [carol] }, owner })?.includes("declared"));
    assert(verdict({ does: { owners: [bob] }, declared: {}, owner })?.includes("declared"));
  }
  assertEquals(verdict({ does: { added: [bob, carol] }, declared: { added: [carol, bob] } }), undefined);
});

const seed = new Uint8Array(32).fill(3);
const member = { signatureKey: ed25519.getPublicKey(seed), memberSince: 5 };

Deno.test("a leave statement counts for its channel, agent and membership only", () => {
  const claim = { channelId, agentId: bob, epoch: 7 };
  const signature = ed25519.sign(leaveStatement(claim), seed);
  const check = (change: Partial<typeof claim>, since = 5): boolean =>
    isLeaveValid({ ...claim, ...change, signature }, { ...member, memberSince: since }, portableSignatures);
  assert(check({}));
  assert(!check({ agentId: carol }));
  assert(!check({ epoch: 8 }));
  assert(!check({ channelId: binaryIdFromBytes<ChannelId>(new Uint8Array(16).fill(1)) }));
  assert(!check({}, 8), "a statement of an earlier membership");
});

Deno.test("a member that signed its leave is removed by anybody; one that did not is not", async () => {
  const world = new World(createRandom(2));
  const owner = await world.create();
  const [leaver, other] = [world.newAgent(), world.newAgent()];
  await world.add(owner, leaver, other);
  const claim = { channelId: world.channelId, agentId: leaver.id, epoch: leaver.member.epoch };
  const signature = ed25519.sign(leaveStatement(claim), leaver.identity.signingSeed);
  const { signatureKey } = leaver.identity;
  assert(isLeaveValid({ ...claim, signature }, { signatureKey, memberSince: 1 }, portableSignatures));
  const prepared = await other.member.prepare({ remove: [leaver.id] });
  const input = { declared: prepared.summary, rejoining: new Map<AgentId, Uint8Array>() };
  const before = await owner.member.receive(prepared.message, createRules({ ...input, leaving: new Set() }));
  assertEquals(before.kind, "refused");
  const again = await other.member.prepare({ remove: [leaver.id] });
  const after = await owner.member.receive(again.message, createRules({ ...input, leaving: new Set([leaver.id]) }));
  assertEquals(after.kind, "commit");
  assertEquals(owner.member.members().map(({ agentId }) => agentId), [owner.id, other.id]);
});

Deno.test("a request to rejoin lets in the KeyPackage that it names and no other, and removes nobody without it", async () => {
  const does = { removed: [bob], added: [bob] };
  assertEquals(verdict({ does, rejoining: [bob], keyPackage: 1 }), undefined);
  assert(verdict({ does, rejoining: [bob], keyPackage: 2 })?.includes("did not ask"));
  assert(verdict({ does: { removed: [bob], added: [carol] }, rejoining: [bob] })?.includes("did not ask"));
  assertEquals(verdict({ does, leaving: [bob] }), undefined, "it left, and somebody invited it again");

  const world = new World(createRandom(2));
  const owner = await world.create();
  const [lost, helper] = [world.newAgent(), world.newAgent()];
  await world.add(owner, lost, helper);
  const [asked, other] = [await lost.createKeyPackage(), await lost.createKeyPackage()];
  const rejoining = new Map([[lost.id, sha256(asked.message)]]);
  for (const [{ keyPackage }, kind] of [[other, "refused"], [asked, "commit"]] as const) {
    const { message, summary } = await helper.member.prepare({ remove: [lost.id], add: [keyPackage] });
    const rules = createRules({ declared: summary, leaving: new Set(), rejoining });
    assertEquals((await owner.member.receive(message, rules)).kind, kind);
  }
});

Deno.test("a rejoin request is bound to its KeyPackage and its membership", () => {
  const claim = { channelId, agentId: bob, keyPackageHash: new Uint8Array(32).fill(1), epoch: 7 };
  const signature = ed25519.sign(rejoinStatement(claim), seed);
  const check = (change: Partial<typeof claim>, since = 5): boolean =>
    isRejoinValid({ ...claim, ...change, signature }, { ...member, memberSince: since }, portableSignatures);
  assert(check({}));
  assert(!check({ keyPackageHash: new Uint8Array(32).fill(2) }));
  assert(!check({ epoch: 8 }));
  assert(!check({}, 8), "a request of an earlier membership");
});

Deno.test("an identity keeps its first key; a change is refused unless announced, and then reported", () => {
  const identity = utf8ToBytes("agent");
  const [first, second] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const trust = new FirstUseTrust();
  assertEquals(trust.policy({ identity, signatureKey: first }), undefined);
  assertEquals(trust.policy({ identity, signatureKey: second }), undefined, "checking alone learns nothing");
  assertEquals(trust.learn([{ identity, signatureKey: first }]), []);
  assert(trust.policy({ identity, signatureKey: second })?.includes("another key"));
  const restored = new FirstUseTrust(trust.keys());
  assert(restored.policy({ identity, signatureKey: second })?.includes("another key"));
  restored.announce({ identity, signatureKey: second });
  assertEquals(restored.policy({ identity, signatureKey: second }), undefined);
  assertEquals(restored.learn([{ identity, signatureKey: second }]), [identity]);
  assert(restored.policy({ identity, signatureKey: first })?.includes("another key"));
});

Deno.test("messages up to a cell have one length, and so on cell by cell, sent and delivered", async () => {
  const world = new World(createRandom(1));
  const creator = await world.create();
  const padding = createCellPadding(limits.cellBytes);
  const group = Group.restore(creator.member.current, creator.member.past, { ...creator.deps, padding });
  const messageId = binaryIdFromBytes<MessageId>(new Uint8Array(16));
  const lengths = new Map<number, Set<number>>();
  for (const size of [0, 1, 63, 64, 1024, 3000, 3700, 4000, 8000, 20_000]) {
    const { epoch, message } = await group.seal(new Uint8Array(size), new Uint8Array(24));
    const envelopes = [
      encodeRequest(1, "SendMessage", { channelId, epoch, messageId, ciphertext: message }),
      encodeNotice("DeliverMessage", {
        channelId,
        sequence: 1,
        epoch,
        sender: bob,
        timeMs: 1,
        messageId,
        ciphertext: message,
      }),
    ];
    const cells = envelopes.map((envelope) => {
      const packer = new CellPacker(limits.cellBytes);
      packer.push("data", envelope);
      let count = 0;
      while (packer.next() !== undefined) count++;
      return count;
    });
    assertEquals(cells[0], cells[1]);
    lengths.set(cells[0] ?? 0, (lengths.get(cells[0] ?? 0) ?? new Set()).add(message.length));
  }
  assertEquals([...lengths.keys()], [1, 2, 3, 5]);
  for (const [cells, sizes] of lengths) assertEquals(sizes.size, 1, `${cells} cells: ${[...sizes]}`);
});
