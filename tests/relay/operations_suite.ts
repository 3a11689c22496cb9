/**
 * The one operations suite: what a client may ask of the relay and what it is told, the same over every transport and in
 * every runtime. Each test has agents, accounts and channels of its own, so all can run against one relay at once.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  type AgentId,
  type ChannelId,
  decodeCreatorWelcome,
  encodeBase64url,
  foundingEpoch,
  foundingHash,
  type InviteId,
  leaveStatement,
  limits,
  protocolVersion,
  rejoinStatement,
  type RequestBody,
} from "../../proto/mod.ts";
import { check, failsWith, type RuntimeTest, sameBytes } from "../support/runtime/suite.ts";
import { foundingRequest } from "../support/founding.ts";
import { dayMs, freshName, randomId16, type Relay, TestAgent } from "../support/relay/agent.ts";
import { CallFailed, deferred } from "../support/relay/relay_client.ts";

const patienceMs = 120_000;
/** So that a runtime that ran only some of them is found out. */
export const operationCount = 23;

export function createOperations(relay: Relay): RuntimeTest[] {
  const tests: readonly [name: string, run: (relay: Relay) => Promise<void>][] = [
    ["Ping answers the relay's time, before and after authentication", ping],
    ["a session needs a fresh challenge, the right origin and the agent's own signature", authentication],
    ["a token is renewed on the open session, and only by one of the same account", renewal],
    ["a newer session of an agent ends the older with session_replaced", replacement],
    ["EndSession is answered, and the session ends without an error", goodbye],
    ["CreateChannel answers id and public parameters, idempotently; a name is taken once", creation],
    ["KeyPackages are the agent's own and valid, and the last one is claimed once by many", keyPackages],
    ["a member is added with KeyPackage, commit and Welcome, and messages go both ways", joining],
    ["reading resumes after what was acknowledged, and positions outside are refused", resuming],
    ["messages and commits sent again get their original answers; wrong epochs conflict", duplicates],
    ["a commit sent as a message, and the reverse, is refused", contentTypes],
    ["of commits in one epoch one wins, and FindCommit tells which", commitRace],
    ["a stranger is told not_found, as for a channel that does not exist", strangers],
    ["an invite is registered, used, refused and revoked", invites],
    ["a member rejoins with a request that it signed", rejoining],
    ["an owner claims KeyPackages and begins a new generation, and the others are told", founding],
    ["what an agent sent and acknowledged is told when it subscribes, and read again", ownEntries],
    ["a leaver is told and removed; a removed member reads no further", leaving],
    ["a closed channel ends for all, and its name is free", closing],
    ["channels and members are listed, page by page", listing],
    ["a Welcome can be sent again, and to nobody else", welcomes],
    ["messages of the largest size pass, larger ones are refused, and the session goes on", sizes],
    ["a hundred messages at once arrive once each, in one order", burst],
  ];
  return tests.map(([name, run]) => ({ name, run: () => withinTime(run(relay)) }));
}

/** A reply that never comes must fail its own test and not hold up the others. */
async function withinTime(running: Promise<void>): Promise<void> {
  const late = deferred<void>();
  const timer = setTimeout(() => late.reject(new Error(`not done after ${patienceMs} ms`)), patienceMs);
  try {
    await Promise.race([running, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function ping(relay: Relay): Promise<void> {
  const client = await relay.open();
  const before = await client.call("Ping", {});
  check(Math.abs(before.relayTimeMs - Date.now()) < 60_000, "the relay's time is not the time");
  const agent = new TestAgent(relay, client, crypto.randomUUID());
  await agent.authenticate();
  const after = await client.call("Ping", {});
  check(after.relayTimeMs >= before.relayTimeMs, "time went back");
  client.close();
}

async function authentication(relay: Relay): Promise<void> {
  const client = await relay.open();
  const agent = new TestAgent(relay, client, crypto.randomUUID());
  const challenge = { versions: [protocolVersion], features: [] };
  await failsWith("auth_failed", () => client.call("ListChannels", { limit: 1 }));
  await failsWith("unsupported_version", () => client.call("GetChallenge", { ...challenge, versions: [99] }));
  const first = await client.call("GetChallenge", challenge);
  const wrongOrigin = { ...agent.answer(first.nonce), origin: "quic://elsewhere:4433" };
  await failsWith("auth_failed", () => client.call("Authenticate", wrongOrigin));
  await failsWith("auth_failed", () => client.call("Authenticate", agent.answer(first.nonce)));
  const second = await client.call("GetChallenge", challenge);
  const forged = { ...agent.answer(second.nonce), signature: new Uint8Array(64) };
  await failsWith("auth_failed", () => client.call("Authenticate", forged));
  const third = await client.call("GetChallenge", challenge);
  const expired = agent.answer(third.nonce, agent.token(-1_000));
  await failsWith("auth_failed", () => client.call("Authenticate", expired));
  const fourth = await client.call("GetChallenge", challenge);
  const answer = agent.answer(fourth.nonce);
  const reply = await client.call("Authenticate", answer);
  check(reply.agentId === agent.agentId, "another agent id");
  check(reply.limits.payloadBytes === limits.payloadBytes, "other limits");
  await client.call("ListChannels", { limit: 1 });
  const other = await relay.open();
  await failsWith("auth_failed", () => other.call("Authenticate", answer));
  client.close();
  other.close();
}

async function renewal(relay: Relay): Promise<void> {
  const agent = await TestAgent.connect(relay);
  const stranger = `${crypto.randomUUID()} ${Date.now() + 7_200_000}`;
  await failsWith("auth_failed", () => agent.client.call("RenewToken", { token: stranger }));
  const { expiresAtMs } = await agent.client.call("RenewToken", { token: agent.token(7_200_000) });
  check(expiresAtMs > Date.now() + 7_000_000, "the token was not renewed");
  agent.client.close();
}

async function replacement(relay: Relay): Promise<void> {
  const agent = await TestAgent.connect(relay);
  const older = agent.client;
  const newer = await relay.open();
  await agent.authenticate(newer);
  check(await older.ended === "session_replaced", "the older session ended otherwise");
  check(older.notices.of("SessionEnding")[0]?.code === "session_replaced", "the older session was not told");
  await failsWith("session_replaced", () => older.call("Ping", {}));
  await newer.call("ListChannels", { limit: 1 });
  newer.close();
}

async function goodbye(relay: Relay): Promise<void> {
  const agent = await TestAgent.connect(relay);
  await agent.client.call("EndSession", {});
  check(await agent.client.ended === undefined, "an ordinary end has no code");
}

async function creation(relay: Relay): Promise<void> {
  const alice = await TestAgent.connect(relay);
  const [name, nonce] = [freshName(), randomId16()];
  const first = await alice.client.call("CreateChannel", { name, nonce });
  const welcome = decodeCreatorWelcome(first.welcome);
  check(welcome.channelId === first.channelId && welcome.name === name, "the Welcome is of another channel");
  const again = await alice.client.call("CreateChannel", { name, nonce });
  check(again.duplicate && again.channelId === first.channelId, "the same nonce made another channel");
  await failsWith("name_taken", () => alice.client.call("CreateChannel", { name, nonce: randomId16() }));
  alice.client.close();
}

async function keyPackages(relay: Relay): Promise<void> {
  const [alice, bob] = await Promise.all([TestAgent.connect(relay), TestAgent.connect(relay)]);
  const channelId = await alice.createChannel();
  const upload = (keyPackage: Uint8Array): Promise<unknown> =>
    bob.client.call("UploadKeyPackage", { keyPackages: [keyPackage], replace: false });
  const claim = (): Promise<unknown> =>
    alice.client.call("AddMember", { channelId, agentId: bob.agentId, nonce: randomId16() });
  await failsWith("key_package_missing", claim);
  await failsWith("key_package_invalid", () => upload(alice.keyPackage()));
  await failsWith("key_package_invalid", () => upload(bob.keyPackage({ notAfterMs: Date.now() - dayMs / 2 })));
  await upload(bob.keyPackage());
  const claims = await Promise.allSettled(Array.from({ length: 100 }, claim));
  const won = claims.filter(({ status }) => status === "fulfilled").length;
  check(won === 1, `${won} of 100 got the last KeyPackage`);
  const codes = claims.flatMap((result) => result.status === "rejected" ? [result.reason.code] : []);
  check(codes.every((code) => code === "key_package_missing"), `the others were told ${[...new Set(codes)]}`);
  await bob.client.notices.first("KeyPackagesLow", 1);
  closeAll(alice, bob);
}

async function joining(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const [toBob, toAlice] = [await alice.send(channelId, 1), await bob.send(channelId, 1)];
  const [atBob] = await bob.client.notices.first("DeliverMessage", 1);
  const [atAlice] = await alice.client.notices.first("DeliverMessage", 1);
  sameBytes(atBob?.ciphertext, toBob.ciphertext, "alice's message");
  sameBytes(atAlice?.ciphertext, toAlice.ciphertext, "bob's message");
  check(atBob?.sender === alice.agentId && atAlice?.sender === bob.agentId, "another sender");
  const [start] = bob.client.notices.of("DeliverStart");
  check(start?.tag === 1 && start.channelId === channelId, "no DeliverStart of this tag");
  closeAll(alice, bob);
}

async function resuming(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  for (let i = 0; i < 3; i++) await alice.send(channelId, 1);
  const delivered = await bob.client.notices.first("DeliverMessage", 3);
  await bob.acknowledge(channelId, delivered[1]?.sequence ?? 0);
  await bob.reconnect();
  const { after, consumed } = await bob.subscribe(channelId, { tag: 7 });
  check(after === delivered[1]?.sequence && consumed === after, `resumed after ${after}`);
  const [again] = await bob.client.notices.first("DeliverMessage", 1);
  check(again?.sequence === delivered[2]?.sequence, "not the first message that was not acknowledged");
  await failsWith("cursor_invalid", () => bob.subscribe(channelId, { after: 99 }));
  await failsWith("cursor_invalid", () => bob.acknowledge(channelId, 99));
  await failsWith("cursor_invalid", () => bob.subscribe(channelId, { after: 0 }));
  await bob.client.call("Unsubscribe", { channelId });
  await alice.send(channelId, 1);
  check((await bob.subscribe(channelId, { tag: 8 })).head === 5, "another head");
  closeAll(alice, bob);
}

async function duplicates(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const message = alice.message(channelId, 1);
  const first = await alice.client.call("SendMessage", message);
  const again = await alice.client.call("SendMessage", message);
  check(again.duplicate && again.sequence === first.sequence && again.timeMs === first.timeMs, "another answer");
  for (const epoch of [0, 2, 9]) {
    const error = await failure(alice.client.call("SendMessage", alice.message(channelId, epoch)));
    check(error.code === "epoch_conflict" && error.epoch === 1, `${error.code} at epoch ${error.epoch}`);
  }
  const commit = alice.commit(channelId, 1);
  const committed = await alice.client.call("SendCommit", commit);
  check(committed.epoch === 2, "the commit began another epoch");
  sameBytes(committed.commitHash, sha256(commit.commit), "the commit's hash");
  const repeated = await alice.client.call("SendCommit", commit);
  check(repeated.duplicate && repeated.sequence === committed.sequence, "the same commit got another answer");
  const late = await alice.client.call("SendMessage", message);
  check(late.duplicate && late.sequence === first.sequence, "a message of an earlier epoch got another answer");
  await failsWith("epoch_conflict", () => bob.client.call("SendCommit", bob.commit(channelId, 1)));
  check(bob.client.notices.of("DeliverMessage").length <= 1, "a message was delivered twice");
  closeAll(alice, bob);
}

async function contentTypes(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const [message, commit] = [alice.message(channelId, 1), alice.commit(channelId, 1)];
  const swapped = { ...message, ciphertext: commit.commit };
  await failsWith("invalid_request", () => alice.client.call("SendMessage", swapped));
  const reverse = { ...commit, commit: message.ciphertext };
  await failsWith("invalid_request", () => alice.client.call("SendCommit", reverse));
  const garbled = { ...message, ciphertext: new Uint8Array(50).fill(9) };
  const error = await failure(alice.client.call("SendMessage", garbled));
  check(error.code === "invalid_request" || error.code === "protocol_error", `garbage is ${error.code}`);
  const other = await alice.createChannel();
  await failsWith("invalid_request", () => alice.client.call("SendMessage", { ...message, channelId: other }));
  closeAll(alice, bob);
}

async function commitRace(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const attempts = [alice, bob, alice, bob].map((agent) => ({ agent, body: agent.commit(channelId, 1) }));
  const results = await Promise.allSettled(attempts.map(({ agent, body }) => agent.client.call("SendCommit", body)));
  const won = results.findIndex(({ status }) => status === "fulfilled");
  const lost = results.flatMap((result) => result.status === "rejected" ? [result.reason] : []);
  check(lost.length === 3 && lost.every(({ code, epoch }) => code === "epoch_conflict" && epoch === 2), "not one won");
  const found = await bob.client.call("FindCommit", { channelId, epoch: 1, generation: 0 });
  sameBytes(found.commit?.commitHash, sha256(attempts[won]?.body.commit ?? new Uint8Array(0)), "the winner's hash");
  const open = await bob.client.call("FindCommit", { channelId, epoch: 2, generation: 0 });
  check(open.epoch === 2 && open.commit === undefined, "an epoch without a commit has one");
  closeAll(alice, bob);
}

async function strangers(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const eve = await TestAgent.connect(relay);
  const unreal = encodeBase64url(randomId16()) as ChannelId;
  for (const id of [channelId, unreal]) {
    await failsWith("not_found", () => eve.client.call("SendMessage", eve.message(id, 1)));
    await failsWith("not_found", () => eve.client.call("SendCommit", eve.commit(id, 1)));
    await failsWith("not_found", () => eve.subscribe(id));
    await failsWith("not_found", () => eve.acknowledge(id, 0));
    await failsWith("not_found", () => eve.client.call("ListMembers", { channelId: id }));
    await failsWith("not_found", () => eve.client.call("CloseChannel", { channelId: id }));
    const claim = { channelId: id, agentId: bob.agentId, nonce: randomId16() };
    await failsWith("not_found", () => eve.client.call("AddMember", claim));
  }
  closeAll(alice, bob, eve);
}

async function invites(relay: Relay): Promise<void> {
  const alice = await TestAgent.connect(relay);
  const [carol, dave] = await Promise.all([TestAgent.connect(relay), TestAgent.connect(relay)]);
  const channelId = await alice.createChannel();
  const inviteId = encodeBase64url(randomId16()) as InviteId;
  await alice.client.call("RegisterInvite", { channelId, inviteId, expiresAtMs: Date.now() + dayMs, uses: 2 });
  const ask = (agent: TestAgent): RequestBody<"RequestJoin"> => ({
    channelId,
    inviteId,
    keyPackage: agent.keyPackage(),
    mac: new Uint8Array(32),
    ttlMs: 60_000,
  });
  const request = ask(carol);
  const { requestId, inviterOnline } = await carol.client.call("RequestJoin", request);
  check(inviterOnline, "the inviter is here");
  check((await carol.client.call("RequestJoin", request)).requestId === requestId, "a repeated request is another one");
  const [heard] = await alice.client.notices.first("DeliverJoinRequest", 1);
  check(heard?.requestId === requestId && heard.agentId === carol.agentId, "the inviter heard something else");
  sameBytes(heard.keyPackage, request.keyPackage, "the joiner's KeyPackage");
  const commit = alice.commit(channelId, 0, { added: [carol.agentId], answers: [requestId] });
  await alice.client.call("SendCommit", commit);
  const [welcome] = await carol.client.notices.first("DeliverWelcome", 1);
  check(welcome?.requestId === requestId, "the Welcome answers another request");

  const second = await dave.client.call("RequestJoin", ask(dave));
  await alice.client.notices.first("DeliverJoinRequest", 2);
  const no = { channelId, requestId: second.requestId, code: "join_rejected", message: "not you" };
  await alice.client.call("RejectJoin", no);
  const [rejected] = await dave.client.notices.first("DeliverJoinRejected", 1);
  check(rejected?.requestId === second.requestId && rejected.code === "join_rejected", "another rejection");
  await alice.client.call("RevokeInvite", { channelId, inviteId });
  await failsWith("not_found", () => dave.client.call("RequestJoin", ask(dave)));
  closeAll(alice, carol, dave);
}

async function rejoining(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const keyPackage = bob.keyPackage();
  const leafHash = new Uint8Array(32).fill(1);
  const claim = { channelId, agentId: bob.agentId, leafHash, keyPackageHash: sha256(keyPackage) };
  const signature = bob.sign(rejoinStatement(claim));
  const ask = { channelId, keyPackage, leafHash, signature, epoch: 1, generation: 0 };
  const { requestId } = await bob.client.call("RequestRejoin", ask);
  const [heard] = await alice.client.notices.first("DeliverRejoinRequest", 1);
  check(heard?.requestId === requestId && heard.agentId === bob.agentId, "the members heard something else");
  const leaf = { leafIndex: 1, leafNode: Uint8Array.of(1, 2, 3) };
  await alice.client.call("SendLeaf", { channelId, requestId, ...leaf });
  const [told] = await bob.client.notices.first("DeliverLeaf", 1);
  check(told?.requestId === requestId && told.leafIndex === 1 && told.sender === alice.agentId, "another leaf");
  sameBytes(told.leafNode, leaf.leafNode, "the leaf");
  const change = { added: [bob.agentId], removed: [bob.agentId], answers: [requestId] };
  const { sequence } = await alice.client.call("SendCommit", alice.commit(channelId, 1, change));
  const delivered = await bob.client.notices.first("DeliverWelcome", 2);
  check(delivered[1]?.joinedSequence === sequence, "the Welcome is of another commit");
  closeAll(alice, bob);
}

async function founding(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const carol = await TestAgent.connect(relay);
  const keyPackage = carol.keyPackage();
  await carol.client.call("UploadKeyPackage", { keyPackages: [keyPackage], replace: false });
  const { sequence } = await alice.client.call("SendCommit", alice.commit(channelId, 1, { added: [carol.agentId] }));
  await carol.client.notices.first("DeliverWelcome", 1);
  await carol.acknowledge(channelId, sequence);
  await carol.subscribe(channelId);
  const bad = bob.commit(channelId, 2);
  await bob.client.call("SendCommit", bad);
  const claim = { channelId, agentIds: [carol.agentId], nonce: randomId16() };
  await failsWith("not_allowed", () => carol.client.call("ClaimForFounding", claim));
  const { keyPackages: [claimed] } = await alice.client.call("ClaimForFounding", claim);
  check(claimed?.agentId === carol.agentId, "the KeyPackage is of another agent");
  sameBytes(claimed.keyPackage, keyPackage, "the claimed KeyPackage");
  const members = [alice.agentId, carol.agentId];
  const plan = { channelId, founder: alice, bad, blamed: bob, members };
  const forged = foundingRequest({ ...plan, change: { badCommit: new Uint8Array(32) } });
  await failsWith("invalid_request", () => alice.client.call("FoundGeneration", forged));
  const body = foundingRequest(plan);
  const reply = await alice.client.call("FoundGeneration", body);
  check(reply.epoch === foundingEpoch(1) + 1 && !reply.duplicate, "another epoch has begun");
  check((await alice.client.call("FoundGeneration", body)).duplicate, "the same founding was taken twice");
  const [told] = await carol.client.notices.first("DeliverFounding", 1);
  check(told?.sender === alice.agentId && told.sequence === reply.sequence, "another founding was told");
  sameBytes(told.founding.signature, body.founding.signature, "the founder's signature");
  sameBytes(told.proof.signature, body.proof.signature, "the proof");
  sameBytes(told.welcomes[0]?.welcome, body.welcomes[0]?.welcome ?? new Uint8Array(0), "the Welcome");
  const [end] = await bob.client.notices.first("DeliverChannelEnd", 1);
  check(end?.reason === "recovered", "the blamed was told something else");
  const { commit } = await carol.client.call("FindCommit", { channelId, epoch: foundingEpoch(1), generation: 1 });
  sameBytes(commit?.commitHash, foundingHash({ channelId, ...body.founding }), "the founding's hash");
  closeAll(alice, bob, carol);
}

async function ownEntries(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const message = bob.message(channelId, 1);
  const { sequence } = await bob.client.call("SendMessage", message);
  await bob.client.call("Acknowledge", { channelId, consumed: sequence, received: sequence });
  const { sent, acknowledged, joinedSequence } = await bob.subscribe(channelId);
  check(sent?.sequence === sequence && sent.epoch === 1 && sent.commitHash === undefined, "another entry was sent");
  check(acknowledged === sequence && joinedSequence === 1, `acknowledged ${acknowledged}, joined ${joinedSequence}`);
  const read = await bob.client.call("ReadOwn", { channelId, sequence });
  sameBytes(read.message?.ciphertext, message.ciphertext, "the message");
  const foreign = await alice.client.call("ReadOwn", { channelId, sequence });
  check(foreign.message === undefined && foreign.commit === undefined, "another's entry was read as one's own");
  const confirmation = { channelId, epoch: 1, state: new Uint8Array(32), signature: new Uint8Array(64) };
  await bob.client.call("Confirm", confirmation);
  await failsWith("epoch_conflict", () => bob.client.call("Confirm", { ...confirmation, epoch: 2 }));
  closeAll(alice, bob);
}

async function leaving(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const leafHash = new Uint8Array(32).fill(1);
  const signature = bob.sign(leaveStatement({ channelId, agentId: bob.agentId, leafHash }));
  const forged = { channelId, leafHash, signature: new Uint8Array(64) };
  await failsWith("invalid_request", () => bob.client.call("LeaveChannel", forged));
  await bob.client.call("LeaveChannel", { channelId, leafHash, signature });
  const [end] = await bob.client.notices.first("DeliverChannelEnd", 1);
  check(end?.reason === "left", `the leaver was told ${end?.reason}`);
  const [heard] = await alice.client.notices.first("DeliverLeave", 1);
  check(heard?.sender === bob.agentId, "another leaver");
  sameBytes(heard.signature, signature, "the leaver's statement");
  await alice.client.call("SendCommit", alice.commit(channelId, 1, { removed: [bob.agentId] }));
  const { members } = await alice.client.call("ListMembers", { channelId });
  check(members.length === 1, "the leaver is still listed");
  await failsWith("not_found", () => bob.client.call("SendMessage", bob.message(channelId, 2)));
  closeAll(alice, bob);
}

async function closing(relay: Relay): Promise<void> {
  const { alice, bob, channelId, name } = await createPair(relay);
  await failsWith("not_allowed", () => bob.client.call("CloseChannel", { channelId }));
  await alice.client.call("CloseChannel", { channelId });
  const [end] = await bob.client.notices.first("DeliverChannelEnd", 1);
  check(end?.reason === "closed", `the member was told ${end?.reason}`);
  await failsWith("not_found", () => bob.client.call("SendMessage", bob.message(channelId, 1)));
  await alice.client.call("CreateChannel", { name, nonce: randomId16() });
  closeAll(alice, bob);
}

async function listing(relay: Relay): Promise<void> {
  const alice = await TestAgent.connect(relay);
  const made = await Promise.all([1, 2, 3, 4, 5].map(() => alice.createChannel()));
  const listed: ChannelId[] = [];
  let after: ChannelId | undefined;
  for (let more = true; more;) {
    const page = await alice.client.call("ListChannels", { limit: 2, ...(after !== undefined && { after }) });
    listed.push(...page.channels.map(({ channelId }) => channelId));
    check(page.channels.every(({ member, owned, members }) => member && owned && members === 1), "another summary");
    after = page.channels.at(-1)?.channelId;
    more = page.more;
  }
  check([...listed].sort().join() === [...made].sort().join(), `${listed.length} of ${made.length} were listed`);
  const [channelId = made[0]] = made;
  const { epoch, members } = await alice.client.call("ListMembers", { channelId: channelId as ChannelId });
  const [member] = members;
  check(epoch === 0 && members.length === 1, "another epoch or number of members");
  check(member?.agentId === alice.agentId && member.online && member.owner && !member.leaving, "another member");
  closeAll(alice);
}

async function welcomes(relay: Relay): Promise<void> {
  const [alice, bob] = await Promise.all([TestAgent.connect(relay), TestAgent.connect(relay)]);
  const channelId = await alice.createChannel();
  const commit = alice.commit(channelId, 0, { added: [bob.agentId] });
  await alice.client.call("SendCommit", commit);
  const [first] = await bob.client.notices.first("DeliverWelcome", 1);
  const again = { channelId, epoch: 1, welcome: commit.welcomes[0]?.welcome ?? new Uint8Array(1) };
  const recipients: AgentId[] = [bob.agentId];
  await alice.client.call("SendWelcome", { ...again, recipients });
  await failsWith("invalid_request", () => alice.client.call("SendWelcome", { ...again, recipients: [] }));
  await failsWith(
    "invalid_request",
    () => alice.client.call("SendWelcome", { ...again, recipients: [alice.agentId] }),
  );
  const nobody = { ...alice.commit(channelId, 1), welcomes: [{ recipients: [bob.agentId], welcome: again.welcome }] };
  await failsWith("invalid_request", () => alice.client.call("SendCommit", nobody));
  await bob.acknowledge(channelId, first?.joinedSequence ?? 0);
  await bob.reconnect();
  const { channels } = await bob.client.call("ListChannels", { limit: 10 });
  check(channels.length === 1 && !channels[0]?.welcomePending, "an acknowledged Welcome still waits");
  closeAll(alice, bob);
}

async function sizes(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const large = alice.message(channelId, 1, limits.payloadBytes);
  await alice.client.call("SendMessage", large);
  const [delivered] = await bob.client.notices.first("DeliverMessage", 1);
  sameBytes(delivered?.ciphertext, large.ciphertext, "a message of the largest size");
  const tooLarge = { ...large, ciphertext: new Uint8Array(limits.ciphertextBytes + 1) };
  await failsWith("payload_too_large", () => alice.client.call("SendMessage", tooLarge));
  await alice.send(channelId, 1);
  await bob.client.notices.first("DeliverMessage", 2);
  closeAll(alice, bob);
}

async function burst(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const messages = Array.from({ length: 100 }, (_, i) => alice.message(channelId, 1, i * 100));
  const replies = await Promise.all(messages.map((message) => alice.client.call("SendMessage", message)));
  const delivered = await bob.client.notices.first("DeliverMessage", messages.length);
  const sequences = delivered.map(({ sequence }) => sequence);
  check(sequences.every((sequence, i) => i === 0 || sequence > (sequences[i - 1] ?? 0)), "not in one order");
  const bySequence = new Map(replies.map(({ sequence }, i) => [sequence, messages[i]?.messageId]));
  check(delivered.every((body) => bySequence.get(body.sequence) === body.messageId), "another order than the answers'");
  closeAll(alice, bob);
}

/** Two members in a channel at epoch 1, added the usual way; both read. */
async function createPair(relay: Relay): Promise<
  { alice: TestAgent; bob: TestAgent; channelId: ChannelId; name: ReturnType<typeof freshName> }
> {
  const [alice, bob] = await Promise.all([TestAgent.connect(relay), TestAgent.connect(relay)]);
  const name = freshName();
  const { channelId } = await alice.client.call("CreateChannel", { name, nonce: randomId16() });
  const keyPackage = bob.keyPackage();
  await bob.client.call("UploadKeyPackage", { keyPackages: [keyPackage], replace: false });
  const claim = { channelId, agentId: bob.agentId, nonce: randomId16() };
  const claimed = await alice.client.call("AddMember", claim);
  sameBytes(claimed.keyPackage, keyPackage, "the claimed KeyPackage");
  const commit = alice.commit(channelId, 0, { added: [bob.agentId] });
  const { sequence, epoch } = await alice.client.call("SendCommit", commit);
  check(epoch === 1, "the commit began another epoch");
  const [welcome] = await bob.client.notices.first("DeliverWelcome", 1);
  sameBytes(welcome?.welcome, commit.welcomes[0]?.welcome ?? new Uint8Array(0), "the Welcome");
  check(welcome?.joinedSequence === sequence && welcome.name === name, "the Welcome is of another commit or channel");
  await bob.acknowledge(channelId, sequence);
  await alice.subscribe(channelId);
  await bob.subscribe(channelId);
  return { alice, bob, channelId, name };
}

async function failure(call: Promise<unknown>): Promise<CallFailed> {
  try {
    await call;
  } catch (error) {
    if (error instanceof CallFailed) return error;
    throw error;
  }
  throw new Error("nothing failed");
}

function closeAll(...agents: readonly TestAgent[]): void {
  for (const { client } of agents) client.close();
}
