/** Members with a modified client: whatever they sign and seal, the others refuse it and go on. */
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { limits, parseChannelName } from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { atOnce } from "../base/interruptible_work.ts";
import { encodeBinding } from "./channel_extensions.ts";
import { label, MlsFault, vector } from "./codec.ts";
import { createCommit } from "./commit.ts";
import { deriveSecret } from "./crypto/labelled.ts";
import { portableSignatures } from "./testing/portable_signatures.ts";
import { aeadOf } from "./crypto/suite.ts";
import { contentToSign, type FramedContentType, kindOf, sealMessage } from "./framing.ts";
import { Group } from "./group.ts";
import { createKeyPackage, type OwnKeyPackage } from "./key_package.ts";
import { leafToVerify } from "./leaf.ts";
import type { MlsIdentity } from "./identity.ts";
import { applyProposals } from "./proposals.ts";
import { createLeaf } from "./ratchet_tree.ts";
import { encodeShownChanges } from "./shown_owners.ts";
import { type Agent, name, World } from "./testing/world.ts";
import { encodeCommit, encodeProposal, type KeyPackage, type Proposal } from "./ts_mls.ts";

const hello = utf8ToBytes("hello");
const anything = (): undefined => undefined;

async function createMembers(): Promise<{ world: World; a: Agent; b: Agent; c: Agent }> {
  const world = new World(createRandom(1));
  const a = await world.create();
  const [b, c] = [world.newAgent(), world.newAgent()];
  await world.add(a, b, c);
  return { world, a, b, c };
}

interface Forgery {
  readonly contentType: FramedContentType;
  readonly content: Uint8Array;
  /** The member whose place and key it claims. */
  readonly sender?: Agent;
  /** Bytes in place of the padding. */
  readonly behind?: Uint8Array;
}

/**
 * Any content, signed with the agent's own key and sealed with keys that every member can derive.
 */
function forge(agent: Agent, forgery: Forgery): Uint8Array {
  const { contentType, content, sender = agent, behind = new Uint8Array(0) } = forgery;
  const epoch = agent.member.current;
  const { groupId, epoch: number } = epoch.context;
  const claimed = sender.member.current.ownLeaf;
  const framed = {
    groupId,
    epoch: number,
    sender: claimed,
    authenticatedData: new Uint8Array(0),
    contentType,
    content,
  } as const;
  const { signingSeed } = agent.identity;
  const signature = portableSignatures.sign(signingSeed, contentToSign(framed, epoch.contextBytes));
  const tag = contentType === "commit" ? vector(new Uint8Array(32)) : new Uint8Array(0);
  return sealMessage(framed, {
    aead: aeadOf[epoch.suiteId],
    senderDataSecret: epoch.secrets.senderData,
    messageKey: epoch.secretTree.next(claimed, kindOf(contentType)),
    reuseGuard: new Uint8Array(4),
    auth: concatBytes(vector(signature), tag, behind),
    paddingBytes: 0,
  });
}

/** A KeyPackage of an attacker, which is free in its fields and keys. */
function packageOf(
  world: World,
  identity: MlsIdentity,
  randomBytes = (length: number): Uint8Array => world.random.bytes(length),
): OwnKeyPackage {
  const times = { notBeforeMs: 1_789_999_000_000, notAfterMs: 1_790_001_000_000 };
  const { suiteId, signatures } = world;
  return createKeyPackage({
    suiteId,
    identity,
    ...times,
    lastResort: false,
    randomBytes,
    signatures,
  });
}

Deno.test("a member can neither change its identity nor bring in extensions that others do not support", async () => {
  const { a, b } = await createMembers();
  const epoch = b.member.current;
  const leaf = epoch.tree.leaf(epoch.ownLeaf);
  assert(leaf);
  const input = { identity: b.identity, authenticatedData: new Uint8Array(0), padding: () => 0 };
  const boss = createLeaf({
    ...leaf.node,
    credential: { credentialType: "basic", identity: utf8ToBytes("the boss") },
  });
  const renamed = { ...epoch, tree: epoch.tree.replace(epoch.ownLeaf, boss) };
  const odd = 0xf123;
  const extensions = [...epoch.context.extensions, {
    extensionType: odd,
    extensionData: new Uint8Array(0),
  }];
  // As if everybody could: its own program would refuse as well.
  let able = epoch.tree;
  for (const [leafIndex, { node }] of epoch.tree.leaves()) {
    const capabilities = {
      ...node.capabilities,
      extensions: [...node.capabilities.extensions, odd],
    };
    able = able.replace(leafIndex, createLeaf({ ...node, capabilities }));
  }
  const extended = [{
    proposalType: "group_context_extensions" as const,
    groupContextExtensions: { extensions },
  }];
  const reasons: string[] = [];
  for (const [from, proposals] of [[renamed, []], [{ ...epoch, tree: able }, extended]] as const) {
    const { message } = atOnce(createCommit(from, { ...input, proposals }, b.deps));
    const outcome = await a.member.receive(message, anything);
    reasons.push(outcome.kind === "refused" ? outcome.reason : outcome.kind);
  }
  assert(reasons[0]?.includes("identity"), reasons[0]);
  assert(reasons[1]?.includes("extension"), reasons[1]);
});

Deno.test("whatever a member writes into a commit, the others refuse it and go on", async () => {
  const { a, b } = await createMembers();
  const leafNode = b.member.current.tree.leaf(b.member.current.ownLeaf)?.node;
  assert(leafNode);
  const encryptedPathSecret = [{ kemOutput: new Uint8Array(32), ciphertext: new Uint8Array(48) }];
  const path = {
    leafNode: { ...leafNode, leafNodeSource: "commit" as const, parentHash: new Uint8Array(32) },
    nodes: [{ hpkePublicKey: new Uint8Array(32), encryptedPathSecret }],
  };
  const commits: Uint8Array[] = [
    encodeCommit({ proposals: [], path }),
    encodeCommit({ proposals: [], path: undefined }),
    encodeCommit({
      proposals: [{ proposalOrRefType: "reference", reference: hello }],
      path: undefined,
    }),
    encodeCommit({
      proposals: [{
        proposalOrRefType: "proposal",
        proposal: { proposalType: "remove", remove: { removed: 99 } },
      }],
      path: undefined,
    }),
    encodeCommit({
      proposals: [{
        proposalOrRefType: "proposal",
        proposal: { proposalType: "external_init", externalInit: { kemOutput: hello } },
      }],
      path: undefined,
    }),
    new Uint8Array(0),
    createRandom(5).bytes(300),
  ];
  const before = a.member.authenticator;
  for (const content of commits) {
    const outcome = await a.member.receive(forge(b, { contentType: "commit", content }), anything);
    assert(outcome.kind === "refused" && outcome.reason.length > 10, outcome.kind);
  }
  assertEquals(a.member.authenticator, before);
  assertEquals(
    (await a.member.receive((await b.member.seal(hello, hello)).message, anything)).kind,
    "message",
  );
});

Deno.test("padding that is not zero, first byte or last, is refused (RFC 9420 section 6.3.1)", async () => {
  const { a, b } = await createMembers();
  const padding = (...at: number[]): Uint8Array =>
    new Uint8Array(100).map((_, i) => at.includes(i) ? 1 : 0);
  for (
    const [behind, kind] of [[padding(0), "undecryptable"], [padding(99), "undecryptable"], [
      padding(),
      "message",
    ]] as const
  ) {
    const forged = forge(b, { contentType: "application", content: vector(hello), behind });
    assertEquals((await a.member.receive(forged, anything)).kind, kind);
  }
});

Deno.test("a message under another's name and key, but not its signature, is refused and uses up nothing", async () => {
  const { a, b, c } = await createMembers();
  const forged = forge(b, { contentType: "application", content: vector(hello), sender: c });
  const outcome = await a.member.receive(forged, anything);
  assert(outcome.kind === "undecryptable" && outcome.reason.includes("signature"), outcome.kind);
  const real = await a.member.receive((await c.member.seal(hello, hello)).message, anything);
  assert(real.kind === "message" && real.sender.agentId === c.id);
});

Deno.test("of a commit and what it carries, each signature counts, whichever is wrong", async () => {
  const { world, a, b, c } = await createMembers();
  const { keyPackage } = await world.newAgent().createKeyPackage();
  const commitOf = (added: KeyPackage): Uint8Array => {
    const proposal = { proposalType: "add" as const, add: { keyPackage: added } };
    return encodeCommit({
      proposals: [{ proposalOrRefType: "proposal", proposal }],
      path: undefined,
    });
  };
  const leafNode = { ...keyPackage.leafNode, signature: new Uint8Array(64) };
  const cases = [
    {
      content: commitOf(keyPackage),
      sender: c,
      kind: "undecryptable",
      why: "The sender's signature",
    },
    {
      content: encodeCommit({ proposals: [], path: undefined }),
      sender: c,
      kind: "undecryptable",
      why: "signature",
    },
    {
      content: commitOf({ ...keyPackage, signature: leafNode.signature }),
      sender: b,
      kind: "refused",
      why: "KeyPackage's",
    },
    {
      content: commitOf({ ...keyPackage, leafNode }),
      sender: b,
      kind: "refused",
      why: "KeyPackage's",
    },
    { content: commitOf(keyPackage), sender: b, kind: "refused", why: "confirmation tag" },
  ];
  for (const { content, sender, kind, why } of cases) {
    const outcome = await a.member.receive(
      forge(b, { contentType: "commit", content, sender }),
      anything,
    );
    const reason = "reason" in outcome ? outcome.reason : "";
    assert(outcome.kind === kind && reason.includes(why), `${outcome.kind}: ${reason}`);
  }
});

Deno.test("a commit that renames the channel is refused", async () => {
  const { a, b } = await createMembers();
  const epoch = a.member.current;
  const extensions = encodeBinding({
    ...a.member.binding,
    name: parseChannelName("acme/ops/other"),
  });
  const proposals = [{
    proposalType: "group_context_extensions" as const,
    groupContextExtensions: { extensions },
  }];
  const input = { identity: a.identity, authenticatedData: new Uint8Array(0), padding: () => 0 };
  const { message } = atOnce(createCommit(epoch, { ...input, proposals }, a.deps));
  const outcome = await b.member.receive(message, anything);
  assert(outcome.kind === "refused" && outcome.reason.includes("renames"), outcome.kind);
  assertEquals(b.member.binding.name, name);
});

Deno.test("an update by proposal renews a key, and changes neither identity nor signature key", async () => {
  const { world, a, b } = await createMembers();
  const epoch = a.member.current;
  const place = { groupId: epoch.context.groupId, leafIndex: b.member.current.ownLeaf };
  const fresh = packageOf(world, b.identity).keyPackage.leafNode;
  const stranger = world.newAgent().identity;
  const apply = (identity: MlsIdentity, signer = identity): void => {
    const { hpkePublicKey, capabilities, extensions } = fresh;
    const leaf = {
      leafNodeSource: "update",
      hpkePublicKey,
      capabilities,
      extensions,
      signaturePublicKey: identity.signatureKey,
      credential: { credentialType: "basic", identity: identity.identity },
      signature: hello,
    } as const;
    const signature = portableSignatures.sign(signer.signingSeed, leafToVerify(leaf, place));
    const proposal: Proposal = {
      proposalType: "update",
      update: { leafNode: { ...leaf, signature } },
    };
    const { updated } = atOnce(
      applyProposals(epoch, epoch.ownLeaf, [{ proposal, sender: place.leafIndex }], a.deps),
    );
    assertEquals(updated, [place.leafIndex]);
  };
  apply(b.identity);
  const changed = "changes its sender's identity or signature key";
  assertThrows(() => apply({ ...b.identity, identity: hello }), MlsFault, changed);
  assertThrows(() => apply({ ...stranger, identity: b.identity.identity }), MlsFault, changed);
  assertThrows(() => apply(b.identity, stranger), MlsFault, "signature is wrong");
});

Deno.test("a leaf of more than 4 KiB, or one that does not list what it uses, is not added", async () => {
  const { world, a } = await createMembers();
  const { identity } = world.newAgent();
  const long = packageOf(world, { ...identity, identity: new Uint8Array(4096) });
  assertThrows(() => a.member.prepare({ add: [long.keyPackage] }), MlsFault, "longer than 4096");
  const { keyPackage } = packageOf(world, identity);
  const { leafNode } = keyPackage;
  const unlisted = { ...leafNode, extensions: [{ extensionType: 0xf777, extensionData: hello }] };
  const otherSuite = { ...leafNode, capabilities: { ...leafNode.capabilities, ciphersuites: [] } };
  for (
    const [leaf, why] of [[unlisted, "extension 0xf777"], [otherSuite, "cipher suite"]] as const
  ) {
    const proposal: Proposal = {
      proposalType: "add",
      add: { keyPackage: { ...keyPackage, leafNode: leaf } },
    };
    const trusting = {
      policy: anything,
      signatures: { ...portableSignatures, verifyHandshakes: () => true },
    };
    assertThrows(
      () => atOnce(applyProposals(a.member.current, 0, [{ proposal, sender: 0 }], trusting)),
      MlsFault,
      why,
    );
  }
});

Deno.test("a newcomer whose leaf carries a parent's key is not added", async () => {
  const { world, a } = await createMembers();
  const drawn: Uint8Array[] = [];
  const randomBytes = (length: number): Uint8Array => {
    const bytes = world.random.bytes(length);
    drawn.push(bytes);
    return bytes;
  };
  const group = Group.restore(a.member.parts, { ...a.deps, randomBytes });
  await group.accept(await group.prepare({}));
  // The first thing that a committer draws is the secret of its lowest parent.
  const parentMaterial = deriveSecret(drawn[0] ?? hello, label("node"));
  const materials = [world.random.bytes(32), parentMaterial];
  const own = packageOf(world, world.newAgent().identity, () => materials.shift() ?? hello);
  assertThrows(
    () => group.prepare({ add: [own.keyPackage] }),
    MlsFault,
    "encryption key of a parent",
  );
});

Deno.test("a Welcome into a group with a member that has not signed its leaf, by joining or by a commit, is refused", async () => {
  const { world, a, b, c } = await createMembers();
  await world.commit(b, () => ({}));
  await a.sync();
  const epoch = a.member.current;
  const guest = world.newAgent();
  const own = await guest.createKeyPackage();
  const proposals = [{ proposalType: "add" as const, add: { keyPackage: own.keyPackage } }];
  const groupInfoExtensions = encodeShownChanges(a.member.changes);
  const shared = { identity: a.identity, authenticatedData: new Uint8Array(0), padding: () => 0 };
  const joinWith = (leafIndex: number, signature?: Uint8Array): Group => {
    const leaf = epoch.tree.leaf(leafIndex);
    assert(leaf);
    const forged = createLeaf({ ...leaf.node, signature: signature ?? leaf.node.signature });
    const from = { ...epoch, tree: epoch.tree.replace(leafIndex, forged) };
    const input = { ...shared, proposals, groupInfoExtensions, forcePath: true };
    const { welcome } = atOnce(createCommit(from, input, a.deps));
    assert(welcome);
    return Group.join(welcome, own, guest.deps, { name, channelId: world.channelId });
  };
  const places = [b, c].map(({ member }) => member.current.ownLeaf);
  assertEquals(places.map((place) => epoch.tree.leaf(place)?.node.leafNodeSource), [
    "commit",
    "key_package",
  ]);
  for (const place of places) {
    assertEquals(joinWith(place).members().length, 4);
    assertThrows(() => joinWith(place, new Uint8Array(64)), MlsFault, "of a leaf is wrong");
  }
});

Deno.test("a pre-shared key with a short nonce, or twice in a commit, is refused", async () => {
  const { world, a, b } = await createMembers();
  world.psks.set("01", new Uint8Array(32).fill(1));
  const psk = (nonceBytes: number): Proposal & { proposalType: "psk" } => {
    const id = {
      psktype: "external",
      pskId: Uint8Array.of(1),
      pskNonce: new Uint8Array(nonceBytes),
    } as const;
    return { proposalType: "psk", psk: { preSharedKeyId: id } };
  };
  assertThrows(() => a.member.prepare({ psks: [psk(31)] }), MlsFault, "nonce");
  assertThrows(() => a.member.prepare({ psks: [psk(32), psk(32)] }), MlsFault, "twice");
  const content = encodeCommit({
    proposals: [{ proposalOrRefType: "proposal", proposal: psk(0) }],
    path: undefined,
  });
  const outcome = await a.member.receive(forge(b, { contentType: "commit", content }), anything);
  assert(outcome.kind === "refused" && outcome.reason.includes("nonce"), outcome.kind);
  assertEquals(
    (await b.member.receive((await a.member.prepare({ psks: [psk(32)] })).message, anything)).kind,
    "commit",
  );
});

Deno.test("proposals on their own are kept up to a number and a length", async () => {
  const { a, b } = await createMembers();
  const removal = (removed: number): Uint8Array =>
    encodeProposal({ proposalType: "remove", remove: { removed } });
  const kinds: string[] = [];
  for (let i = 0; i < 65; i++) {
    const message = forge(b, { contentType: "proposal", content: removal(i) });
    kinds.push((await a.member.receive(message, anything)).kind);
  }
  assertEquals([kinds.indexOf("refused"), a.member.proposals.size], [64, 64]);
  const long: Proposal = {
    proposalType: "external_init",
    externalInit: { kemOutput: new Uint8Array(2 * limits.keyPackageBytes) },
  };
  const { a: reader, b: writer } = await createMembers();
  const message = forge(writer, { contentType: "proposal", content: encodeProposal(long) });
  assertEquals((await reader.member.receive(message, anything)).kind, "refused");
});
