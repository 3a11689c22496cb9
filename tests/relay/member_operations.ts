/** Operations that change who is in a channel: invites, rejoins, foundings, leaving. */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  encodeBase64url,
  foundingEpoch,
  foundingHash,
  type InviteId,
  leaveStatement,
  rejoinStatement,
  type RequestBody,
} from "../../proto/mod.ts";
import { foundingRequest } from "../support/founding.ts";
import { dayMs, randomId16, type Relay, TestAgent } from "../support/relay/agent.ts";
import { check, failsWith, sameBytes } from "../support/runtime/suite.ts";
import { closeAll, createPair } from "./operation_agents.ts";

export async function invites(relay: Relay): Promise<void> {
  const alice = await TestAgent.connect(relay);
  const [carol, dave] = await Promise.all([TestAgent.connect(relay), TestAgent.connect(relay)]);
  const channelId = await alice.createChannel();
  const inviteId = encodeBase64url(randomId16()) as InviteId;
  await alice.client.call("RegisterInvite", {
    channelId,
    inviteId,
    expiresAtMs: Date.now() + dayMs,
    uses: 2,
  });
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
  check(
    (await carol.client.call("RequestJoin", request)).requestId === requestId,
    "a repeated request is another one",
  );
  const [heard] = await alice.client.notices.first("DeliverJoinRequest", 1);
  check(
    heard?.requestId === requestId && heard.agentId === carol.agentId,
    "the inviter heard something else",
  );
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
  check(
    rejected?.requestId === second.requestId && rejected.code === "join_rejected",
    "another rejection",
  );
  await alice.client.call("RevokeInvite", { channelId, inviteId });
  await failsWith("not_found", () => dave.client.call("RequestJoin", ask(dave)));
  closeAll(alice, carol, dave);
}

export async function rejoining(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const keyPackage = bob.keyPackage();
  const leafHash = new Uint8Array(32).fill(1);
  const claim = { channelId, agentId: bob.agentId, leafHash, keyPackageHash: sha256(keyPackage) };
  const signature = bob.sign(rejoinStatement(claim));
  const ask = { channelId, keyPackage, leafHash, signature, epoch: 1, generation: 0 };
  const { requestId } = await bob.client.call("RequestRejoin", ask);
  const [heard] = await alice.client.notices.first("DeliverRejoinRequest", 1);
  check(
    heard?.requestId === requestId && heard.agentId === bob.agentId,
    "the members heard something else",
  );
  const leaf = { leafIndex: 1, leafNode: Uint8Array.of(1, 2, 3) };
  await alice.client.call("SendLeaf", { channelId, requestId, ...leaf });
  const [told] = await bob.client.notices.first("DeliverLeaf", 1);
  check(
    told?.requestId === requestId && told.leafIndex === 1 && told.sender === alice.agentId,
    "another leaf",
  );
  sameBytes(told.leafNode, leaf.leafNode, "the leaf");
  const change = { added: [bob.agentId], removed: [bob.agentId], answers: [requestId] };
  const { sequence } = await alice.client.call("SendCommit", alice.commit(channelId, 1, change));
  const delivered = await bob.client.notices.first("DeliverWelcome", 2);
  check(delivered[1]?.joinedSequence === sequence, "the Welcome is of another commit");
  closeAll(alice, bob);
}

export async function founding(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const carol = await TestAgent.connect(relay);
  const keyPackage = carol.keyPackage();
  await carol.client.call("UploadKeyPackage", { keyPackages: [keyPackage], replace: false });
  const { sequence } = await alice.client.call(
    "SendCommit",
    alice.commit(channelId, 1, { added: [carol.agentId] }),
  );
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
  check(
    (await alice.client.call("FoundGeneration", body)).duplicate,
    "the same founding was taken twice",
  );
  const [told] = await carol.client.notices.first("DeliverFounding", 1);
  check(
    told?.sender === alice.agentId && told.sequence === reply.sequence,
    "another founding was told",
  );
  sameBytes(told.founding.signature, body.founding.signature, "the founder's signature");
  sameBytes(told.proof.signature, body.proof.signature, "the proof");
  sameBytes(
    told.welcomes[0]?.welcome,
    body.welcomes[0]?.welcome ?? new Uint8Array(0),
    "the Welcome",
  );
  const [end] = await bob.client.notices.first("DeliverChannelEnd", 1);
  check(end?.reason === "recovered", "the blamed was told something else");
  const { commit } = await carol.client.call("FindCommit", {
    channelId,
    epoch: foundingEpoch(1),
    generation: 1,
  });
  sameBytes(
    commit?.commitHash,
    foundingHash({ channelId, ...body.founding }),
    "the founding's hash",
  );
  closeAll(alice, bob, carol);
}

export async function ownEntries(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const message = bob.message(channelId, 1);
  const { sequence } = await bob.client.call("SendMessage", message);
  await bob.client.call("Acknowledge", { channelId, consumed: sequence, received: sequence });
  const { sent, acknowledged, joinedSequence } = await bob.subscribe(channelId);
  check(
    sent?.sequence === sequence && sent.epoch === 1 && sent.commitHash === undefined,
    "another entry was sent",
  );
  check(
    acknowledged === sequence && joinedSequence === 1,
    `acknowledged ${acknowledged}, joined ${joinedSequence}`,
  );
  const read = await bob.client.call("ReadOwn", { channelId, sequence });
  sameBytes(read.message?.ciphertext, message.ciphertext, "the message");
  const foreign = await alice.client.call("ReadOwn", { channelId, sequence });
  check(
    foreign.message === undefined && foreign.commit === undefined,
    "another's entry was read as one's own",
  );
  const confirmation = {
    channelId,
    epoch: 1,
    state: new Uint8Array(32),
    signature: new Uint8Array(64),
  };
  await bob.client.call("Confirm", confirmation);
  await failsWith(
    "epoch_conflict",
    () => bob.client.call("Confirm", { ...confirmation, epoch: 2 }),
  );
  closeAll(alice, bob);
}

export async function leaving(relay: Relay): Promise<void> {
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
