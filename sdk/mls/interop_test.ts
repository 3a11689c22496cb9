/** A member that runs ts-mls itself, as published, in a channel of ours: proposals on their own and commits by reference. */
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals } from "@std/assert";
import { emptyPskIndex } from "ts-mls";
import { type ClientState, joinGroup } from "ts-mls/clientState.js";
import { createCommit } from "ts-mls/createCommit.js";
import { createApplicationMessage, createProposal } from "ts-mls/createMessage.js";
import { decodeMlsMessage, encodeMlsMessage } from "ts-mls/message.js";
import { processPrivateMessage } from "ts-mls/processMessages.js";
import { createRandom } from "../../tests/support/mod.ts";
import { decodeBinding } from "./channel_extensions.ts";
import { type Change, Group } from "./group.ts";
import { createKeyPackage } from "./key_package.ts";
import { policyOf } from "./policy_rules.ts";
import { encodeShownChanges } from "./shown_owners.ts";
import { createTsMlsSuite } from "./testing/ts_mls_suite.ts";
import { type Agent, name, World } from "./testing/world.ts";
import { decodeWelcomeMessage } from "./welcome.ts";

const anything = (): undefined => undefined;
const random = createRandom(6);
const world = new World(random);
const suite = createTsMlsSuite(3, { randomBytes: (length) => random.bytes(length), signatures: world.signatures });

async function joinWithTsMls(by: Agent, peer: Agent): Promise<ClientState> {
  const { world } = by;
  const own = await peer.createKeyPackage();
  await world.commit(by, () => ({ add: [own.keyPackage] }));
  const welcome = world.log.at(-1)?.welcome;
  assert(welcome);
  const { initPrivateKey, leafPrivateKey: hpkePrivateKey, keyPackage } = own;
  const keys = { initPrivateKey, hpkePrivateKey, signaturePrivateKey: peer.identity.signingSeed };
  return await joinGroup(decodeWelcomeMessage(welcome.bytes), keyPackage, keys, emptyPskIndex, suite);
}

Deno.test("a commit that refers to a proposal is followed, also when a restart came between the two", async () => {
  const a = await world.create();
  const peer = await joinWithTsMls(a, world.newAgent());
  const { identity } = world.newAgent();
  // ts-mls looks at the machine's clock.
  const times = { notBeforeMs: Date.now() - 3_600_000, notAfterMs: Date.now() + 3_600_000 };
  const { signatures, suiteId } = world;
  const deps = { signatures, suiteId, randomBytes: (length: number) => random.bytes(length) };
  const newcomer = await createKeyPackage({ ...deps, identity, ...times, lastResort: false });
  const proposal = { proposalType: "add", add: { keyPackage: newcomer.keyPackage } } as const;
  const proposed = await createProposal(peer, false, proposal, suite);
  const { outcome } = await a.joined.receive(encodeMlsMessage(proposed.message), anything);
  assertEquals(outcome.kind, "proposal");
  await a.crash();

  const { newState, commit, welcome } = await createCommit({ state: proposed.newState, cipherSuite: suite }, {
    ratchetTreeExtension: true,
    groupInfoExtensions: encodeShownChanges(a.member.changes),
  });
  const followed = await a.joined.receive(encodeMlsMessage(commit), anything);
  assert(followed.outcome.kind === "commit", JSON.stringify(followed.outcome));
  assertEquals(followed.outcome.summary.added.length, 1);
  assertEquals(bytesToHex(a.member.authenticator), bytesToHex(newState.keySchedule.epochAuthenticator));
  assertEquals(a.member.proposals.size, 0);
  await a.crash();
  assertEquals(a.member.proposals.size, 0, "proposals do not outlive their epoch");

  assert(welcome);
  const bytes = encodeMlsMessage({ version: "mls10", wireformat: "mls_welcome", welcome });
  const joined = Group.join(bytes, newcomer, world.newAgent().deps, { name });
  assertEquals(joined.authenticator, a.member.authenticator);
  const { privateMessage } = await createApplicationMessage(newState, utf8ToBytes("hello"), suite);
  const message = encodeMlsMessage({ version: "mls10", wireformat: "mls_private_message", privateMessage });
  for (const group of [a.member, joined]) assertEquals((await group.receive(message, anything)).kind, "message");
});

Deno.test("commits about policy, owners, keys and members are followed by ts-mls, to the same epoch and extensions", async () => {
  const world = new World(random);
  const a = await world.create();
  const [bob, carol] = [world.newAgent(), world.newAgent()];
  await world.add(a, bob, carol);
  let peer = await joinWithTsMls(a, world.newAgent());
  const follow = async (by: Agent, plan: () => Change): Promise<void> => {
    await world.commit(by, plan);
    const entry = world.log.at(-1);
    assert(entry?.kind === "commit");
    const [message] = decodeMlsMessage(entry.bytes, 0) ?? [];
    assert(message?.wireformat === "mls_private_message");
    const processed = await processPrivateMessage(peer, message.privateMessage, emptyPskIndex, suite);
    assert(processed.kind === "newState");
    peer = processed.newState;
    assertEquals(bytesToHex(peer.keySchedule.epochAuthenticator), bytesToHex(by.member.authenticator));
    assertEquals(peer.groupContext.extensions, by.member.current.context.extensions);
    for (const agent of world.active()) await agent.sync();
  };
  await follow(a, () => ({ policy: { admission: "owners", posting: "members" } }));
  await follow(a, () => ({ owners: [a.id, bob.id].toSorted() }));
  await follow(bob, () => ({ policy: { admission: "members", posting: "owners" } }));
  await follow(carol, () => ({ forcePath: true }));
  await follow(bob, () => ({ owners: [bob.id] }));
  await follow(bob, () => ({ remove: [carol.id] }));
  // Its own commit keeps every extension as it is.
  const { newState, commit } = await createCommit({ state: peer, cipherSuite: suite }, {});
  const { outcome } = await a.joined.receive(encodeMlsMessage(commit), anything);
  assertEquals(outcome.kind, "commit");
  assertEquals(bytesToHex(newState.keySchedule.epochAuthenticator), bytesToHex(a.member.authenticator));
  assertEquals(policyOf(decodeBinding(a.member.current.context.extensions)), {
    admission: "members",
    posting: "owners",
  });
});
