import { ed25519 } from "@noble/curves/ed25519.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals } from "@std/assert";
import {
  type AgentId,
  emptyCommitAad,
  encodeCommitAad,
  leaveStatement,
  limits,
  type MemberProof,
} from "../../proto/mod.ts";
import { inCampaign } from "../../tests/support/campaign.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { atOnce } from "../base/interruptible_work.ts";
import { createRules, type DeclaredChange } from "./channel_rules.ts";
import { createCommit } from "./commit.ts";
import { portableSignatures } from "./testing/portable_signatures.ts";
import { stateOf } from "./epoch.ts";
import type { Change } from "./group.ts";
import type { CommitSummary } from "./members.ts";
import { type Agent, rulesFor, World } from "./testing/world.ts";

interface Members {
  readonly world: World;
  readonly owner: Agent;
  readonly bob: Agent;
  readonly carol: Agent;
  readonly dave: Agent;
}

async function createMembers(seed = 2): Promise<Members> {
  const world = new World(createRandom(seed));
  const owner = await world.create();
  const [bob, carol, dave] = [world.newAgent(), world.newAgent(), world.newAgent()];
  await world.add(owner, bob, carol, dave);
  return { world, owner, bob, carol, dave };
}

type Lists = Pick<DeclaredChange, "added" | "removed" | "owners"> & Partial<DeclaredChange>;

/** Another member's verdict on a commit: undefined if it would follow. The member does not move. */
async function verdict(
  by: Agent,
  reader: Agent,
  change: Change,
  declare: (summary: CommitSummary) => Lists = (summary) => summary,
): Promise<string | undefined> {
  const { message, summary, next } = await by.member.prepare(change);
  const rules = createRules({ nextState: stateOf(next), ...declare(summary) }, portableSignatures);
  let why: string | undefined = "the rules were not asked";
  await reader.member.receive(message, (commit) => {
    why = rules(commit);
    return "only looking";
  });
  return why;
}

/** A commit with authenticated data that no honest member writes. */
async function withAad(
  by: Agent,
  reader: Agent,
  removed: readonly Agent[],
  aad: Uint8Array,
): Promise<string | undefined> {
  const { message, effects, next } = atOnce(createCommit(by.member.current, {
    proposals: removed.map(({ member }) => ({
      proposalType: "remove" as const,
      remove: { removed: member.self.leafIndex },
    })),
    identity: by.identity,
    authenticatedData: aad,
    padding: () => 0,
    forcePath: true,
  }, by.deps));
  assertEquals(effects.removed.length, removed.length);
  const declared = {
    added: [],
    removed: removed.map(({ id }) => id),
    owners: undefined,
    nextState: stateOf(next),
  };
  const outcome = await reader.member.receive(message, createRules(declared, portableSignatures));
  return outcome.kind === "refused" ? outcome.reason : undefined;
}

const refuses = (part: string, why: string | undefined): void =>
  assert(why?.includes(part), `${why} for ${part}`);
const id = ({ id }: Agent): AgentId => id;

Deno.test("any member adds, updates, and removes who has left or comes back", async () => {
  const { world, bob, carol, dave } = await createMembers();
  assertEquals(await verdict(bob, carol, {}), undefined);
  const { keyPackage } = await world.newAgent().createKeyPackage();
  assertEquals(await verdict(bob, carol, { add: [keyPackage] }), undefined);
  assertEquals(await verdict(bob, carol, { remove: [dave.id], leaves: [dave.leave()] }), undefined);
  const own = await dave.createKeyPackage();
  const back = { remove: [dave.id], add: [own.keyPackage] };
  assertEquals(await verdict(bob, carol, { ...back, rejoins: [dave.rejoin(own)] }), undefined);
  assertEquals(
    await verdict(bob, carol, { ...back, leaves: [dave.leave()] }),
    undefined,
    "left, and invited again",
  );
});

Deno.test("only owners remove others or change the owners", async () => {
  const { owner, bob, carol, dave } = await createMembers();
  refuses("Only owners remove", await verdict(bob, carol, { remove: [dave.id] }));
  const one = { remove: [carol.id, dave.id], leaves: [carol.leave()] };
  refuses("Only owners remove", await verdict(bob, owner, one));
  refuses("Only owners change", await verdict(bob, carol, { owners: [bob.id] }));
  assertEquals(
    await verdict(owner, carol, { remove: [dave.id], owners: [owner.id, bob.id] }),
    undefined,
  );
});

Deno.test("what a commit does must be what its sender declared, whoever it is", async () => {
  const { owner, bob, carol, dave } = await createMembers();
  for (const by of [owner, bob]) {
    const gone = { remove: [dave.id], leaves: [dave.leave()] };
    const lists: ((summary: CommitSummary) => Lists)[] = [
      (summary) => ({ ...summary, removed: [] }),
      (summary) => ({ ...summary, removed: [bob.id] }),
      (summary) => ({ ...summary, added: [dave.id] }),
      (summary) => ({ ...summary, owners: [bob.id] }),
      (summary) => ({ ...summary, owners: [] }),
      (summary) => ({ ...summary, nextState: new Uint8Array(32) }),
    ];
    for (const declare of lists) refuses("declared", await verdict(by, carol, gone, declare));
  }
  const others = (summary: CommitSummary): Lists => ({ ...summary, owners: undefined });
  refuses("declared", await verdict(owner, carol, { owners: [owner.id, bob.id] }, others));
  const both = { remove: [bob.id, dave.id] };
  const turned = (summary: CommitSummary): Lists => ({
    ...summary,
    removed: summary.removed.toReversed(),
  });
  assertEquals(await verdict(owner, carol, both, turned), undefined);
});

Deno.test("a statement counts for the leaf that it is about, and a new leaf makes it void", async () => {
  const { world, owner, bob, carol, dave } = await createMembers();
  const [leave, own] = [dave.leave(), await dave.createKeyPackage()];
  const rejoin = dave.rejoin(own);
  const back = { remove: [dave.id], add: [own.keyPackage], rejoins: [rejoin] };
  assertEquals(await verdict(bob, carol, { remove: [dave.id], leaves: [leave] }), undefined);
  await world.commit(dave, () => ({}));
  for (const agent of [owner, bob, carol]) await agent.sync();
  refuses("present leaf", await verdict(bob, carol, { remove: [dave.id], leaves: [leave] }));
  refuses("present leaf", await verdict(bob, carol, back));
  assertEquals(await verdict(bob, carol, { remove: [dave.id], leaves: [dave.leave()] }), undefined);
});

Deno.test("a statement is judged from the tree alone, by members that joined long after it was signed", async () => {
  const { world, owner, bob, carol, dave } = await createMembers();
  const leave = dave.leave();
  for (let epoch = 0; epoch < 50; epoch++) await world.commit(bob, () => ({}));
  for (const agent of [owner, carol]) await agent.sync();
  const erin = world.newAgent();
  await world.add(owner, erin);
  await bob.sync();
  assertEquals(await verdict(bob, erin, { remove: [dave.id], leaves: [leave] }), undefined);
});

Deno.test("a leave statement of an earlier membership removes nobody that came back", async () => {
  const { world, owner, bob, carol, dave } = await createMembers();
  const leave = dave.leave();
  await world.commit(owner, () => ({ remove: [dave.id] }));
  for (const agent of [bob, carol, dave]) await agent.sync();
  await world.add(owner, dave);
  for (const agent of [bob, carol]) await agent.sync();
  refuses("present leaf", await verdict(bob, carol, { remove: [dave.id], leaves: [leave] }));
});

Deno.test("a request to rejoin lets in the KeyPackage that it names and no other, and removes nobody without it", async () => {
  const { bob, carol, dave } = await createMembers();
  const [asked, other] = [await dave.createKeyPackage(), await dave.createKeyPackage()];
  const rejoins = [dave.rejoin(asked)];
  refuses(
    "present leaf",
    await verdict(bob, carol, { remove: [dave.id], add: [other.keyPackage], rejoins }),
  );
  refuses("does not add again", await verdict(bob, carol, { remove: [dave.id], rejoins }));
  const both = { remove: [dave.id], add: [asked.keyPackage], rejoins, leaves: [dave.leave()] };
  refuses("two proofs", await verdict(bob, carol, both));
});

Deno.test("a proof of another member, another channel or nobody's removal is refused, of owners too", async () => {
  const { owner, bob, carol, dave } = await createMembers();
  const elsewhere = await createMembers(3);
  const statement = leaveStatement({
    channelId: elsewhere.world.channelId,
    agentId: dave.id,
    leafHash: dave.leafHash,
  });
  const leaveElsewhere = ed25519.sign(statement, dave.identity.signingSeed);
  for (const by of [owner, bob]) {
    const forged: MemberProof[] = [
      { ...carol.leave(), agentId: dave.id },
      { agentId: dave.id, signature: new Uint8Array(64) },
      { agentId: dave.id, signature: leaveElsewhere },
    ];
    for (const proof of forged) {
      refuses("present leaf", await verdict(by, carol, { remove: [dave.id], leaves: [proof] }));
    }
    refuses("does not remove", await verdict(by, carol, { leaves: [dave.leave()] }));
  }
});

Deno.test("authenticated data has one form: this format, the order of leaves, nothing besides", async () => {
  const { bob, carol, dave, owner } = await createMembers();
  const leaves = [carol.leave(), dave.leave()];
  const aad = (proofs: readonly MemberProof[]): Uint8Array =>
    encodeCommitAad({ ...emptyCommitAad, leaves: proofs });
  const refused: [string, Uint8Array][] = [
    ["order of leaves", aad(leaves.toReversed())],
    ["order of leaves", aad([...leaves, ...leaves])],
    ["format", concatBytes(Uint8Array.of(2), aad(leaves).subarray(1))],
    ["trailing", concatBytes(aad(leaves), Uint8Array.of(0))],
    ["says nothing", Uint8Array.of(1, 0, 0, 0)],
    ["ends too early", encodeCommitAad({ ...emptyCommitAad, changes: Uint8Array.of(1), leaves })],
    ["Only owners remove", new Uint8Array(0)],
  ];
  for (const [part, bytes] of refused) {
    refuses(part, await withAad(bob, owner, [carol, dave], bytes));
  }
  assertEquals(await withAad(bob, owner, [carol, dave], aad(leaves)), undefined);
});

Deno.test("an owner that leaves is an owner no more, one that comes back still is, and its removal needs its word", async () => {
  const { world, owner, bob, carol } = await createMembers();
  refuses("Only owners remove", await verdict(bob, carol, { remove: [owner.id] }));
  const own = await owner.createKeyPackage();
  const back = { remove: [owner.id], add: [own.keyPackage] };
  assertEquals(await verdict(bob, carol, { ...back, rejoins: [owner.rejoin(own)] }), undefined);
  refuses(
    "Only owners change",
    await verdict(bob, carol, { ...back, leaves: [owner.leave()], owners: [owner.id] }),
  );
  await world.commit(bob, () => ({ ...back, leaves: [owner.leave()] }));
  await carol.sync();
  assertEquals(carol.member.binding.owners, []);
});

Deno.test("an identity of the tree comes in under another key by an owner only, also when it leaves", async () => {
  const { owner, bob, carol, dave } = await createMembers();
  const twin = await createMembers(3);
  // The same name, other keys.
  const { keyPackage } = await twin.dave.createKeyPackage();
  assertEquals(twin.dave.identity.identity, dave.identity.identity);
  const change = { remove: [dave.id], add: [keyPackage], leaves: [dave.leave()] };
  refuses("another key", await verdict(bob, carol, change));
  assertEquals(await verdict(owner, carol, change), undefined);
});

Deno.test("pre-shared keys, updates and references are for other groups than channels", async () => {
  const { world, owner, bob, carol } = await createMembers();
  const [pskId, pskNonce] = [Uint8Array.of(1), new Uint8Array(32)];
  world.psks.set("01", new Uint8Array(32));
  const psks = [{
    proposalType: "psk" as const,
    psk: { preSharedKeyId: { psktype: "external" as const, pskId, pskNonce } },
  }];
  for (const by of [owner, bob]) refuses("nothing else", await verdict(by, carol, { psks }));
});

/** In the campaign as many as a commit may prove. */
const leaving = inCampaign ? limits.proofsPerCommit : 8;

Deno.test(`${leaving} members leave by one commit`, async () => {
  const world = new World(createRandom(3));
  const owner = await world.create();
  const agents = Array.from({ length: leaving + 1 }, () => world.newAgent());
  await world.add(owner, ...agents);
  const [reader, ...leavers] = agents;
  assert(reader);
  const change = { remove: leavers.map(id), leaves: leavers.map((agent) => agent.leave()) };
  const prepared = await reader.member.prepare(change);
  assertEquals((await owner.member.receive(prepared.message, rulesFor(prepared))).kind, "commit");
});
