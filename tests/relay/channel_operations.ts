/** Operations on a channel's log: creating, sending, reading, and what strangers are told. */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  type AgentId,
  type ChannelId,
  decodeCreatorWelcome,
  encodeBase64url,
  limits,
} from "../../proto/mod.ts";
import { dayMs, freshName, randomId16, type Relay, TestAgent } from "../support/relay/agent.ts";
import { check, failsWith, sameBytes } from "../support/runtime/suite.ts";
import { closeAll, createPair, failure } from "./operation_agents.ts";

export async function creation(relay: Relay): Promise<void> {
  const alice = await TestAgent.connect(relay);
  const [name, nonce] = [freshName(), randomId16()];
  const first = await alice.client.call("CreateChannel", { name, nonce });
  const welcome = decodeCreatorWelcome(first.welcome);
  check(
    welcome.channelId === first.channelId && welcome.name === name,
    "the Welcome is of another channel",
  );
  const again = await alice.client.call("CreateChannel", { name, nonce });
  check(
    again.duplicate && again.channelId === first.channelId,
    "the same nonce made another channel",
  );
  await failsWith(
    "name_taken",
    () => alice.client.call("CreateChannel", { name, nonce: randomId16() }),
  );
  alice.client.close();
}

export async function keyPackages(relay: Relay): Promise<void> {
  const [alice, bob] = await Promise.all([TestAgent.connect(relay), TestAgent.connect(relay)]);
  const channelId = await alice.createChannel();
  const upload = (keyPackage: Uint8Array): Promise<unknown> =>
    bob.client.call("UploadKeyPackage", { keyPackages: [keyPackage], replace: false });
  const claim = (): Promise<unknown> =>
    alice.client.call("AddMember", { channelId, agentId: bob.agentId, nonce: randomId16() });
  await failsWith("key_package_missing", claim);
  await failsWith("key_package_invalid", () => upload(alice.keyPackage()));
  await failsWith(
    "key_package_invalid",
    () => upload(bob.keyPackage({ notAfterMs: Date.now() - dayMs / 2 })),
  );
  await upload(bob.keyPackage());
  // An account may claim 60 of one agent at once.
  const claims = await Promise.allSettled(Array.from({ length: 50 }, claim));
  const won = claims.filter(({ status }) => status === "fulfilled").length;
  check(won === 1, `${won} of 50 got the last KeyPackage`);
  const codes = claims.flatMap((result) =>
    result.status === "rejected" ? [result.reason.code] : []
  );
  check(
    codes.every((code) => code === "key_package_missing"),
    `the others were told ${[...new Set(codes)]}`,
  );
  await bob.client.notices.first("KeyPackagesLow", 1);
  closeAll(alice, bob);
}

export async function joining(relay: Relay): Promise<void> {
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

export async function resuming(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  for (let i = 0; i < 3; i++) await alice.send(channelId, 1);
  const delivered = await bob.client.notices.first("DeliverMessage", 3);
  await bob.acknowledge(channelId, delivered[1]?.sequence ?? 0);
  await bob.reconnect();
  const { after, consumed } = await bob.subscribe(channelId, { tag: 7 });
  check(after === delivered[1]?.sequence && consumed === after, `resumed after ${after}`);
  const [again] = await bob.client.notices.first("DeliverMessage", 1);
  check(
    again?.sequence === delivered[2]?.sequence,
    "not the first message that was not acknowledged",
  );
  await failsWith("cursor_invalid", () => bob.subscribe(channelId, { after: 99 }));
  await failsWith("cursor_invalid", () => bob.acknowledge(channelId, 99));
  await failsWith("cursor_invalid", () => bob.subscribe(channelId, { after: 0 }));
  await bob.client.call("Unsubscribe", { channelId });
  await alice.send(channelId, 1);
  let { head } = await bob.subscribe(channelId, { tag: 8 });
  while (relay.isShared && head === 4) {
    await bob.client.call("Unsubscribe", { channelId });
    ({ head } = await bob.subscribe(channelId, { tag: 8 }));
  }
  check(head === 5, "another head");
  closeAll(alice, bob);
}

export async function duplicates(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const message = alice.message(channelId, 1);
  const first = await alice.client.call("SendMessage", message);
  const again = await alice.client.call("SendMessage", message);
  check(
    again.duplicate && again.sequence === first.sequence && again.timeMs === first.timeMs,
    "another answer",
  );
  for (const epoch of [0, 2, 9]) {
    const error = await failure(alice.client.call("SendMessage", alice.message(channelId, epoch)));
    check(
      error.code === "epoch_conflict" && error.epoch === 1,
      `${error.code} at epoch ${error.epoch}`,
    );
  }
  const commit = alice.commit(channelId, 1);
  const committed = await alice.client.call("SendCommit", commit);
  check(committed.epoch === 2, "the commit began another epoch");
  sameBytes(committed.commitHash, sha256(commit.commit), "the commit's hash");
  const repeated = await alice.client.call("SendCommit", commit);
  check(
    repeated.duplicate && repeated.sequence === committed.sequence,
    "the same commit got another answer",
  );
  const late = await alice.client.call("SendMessage", message);
  check(
    late.duplicate && late.sequence === first.sequence,
    "a message of an earlier epoch got another answer",
  );
  await failsWith("epoch_conflict", () => bob.client.call("SendCommit", bob.commit(channelId, 1)));
  check(bob.client.notices.of("DeliverMessage").length <= 1, "a message was delivered twice");
  closeAll(alice, bob);
}

export async function contentTypes(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const [message, commit] = [alice.message(channelId, 1), alice.commit(channelId, 1)];
  const swapped = { ...message, ciphertext: commit.commit };
  await failsWith("invalid_request", () => alice.client.call("SendMessage", swapped));
  const reverse = { ...commit, commit: message.ciphertext };
  await failsWith("invalid_request", () => alice.client.call("SendCommit", reverse));
  const garbled = { ...message, ciphertext: new Uint8Array(50).fill(9) };
  const error = await failure(alice.client.call("SendMessage", garbled));
  check(
    error.code === "invalid_request" || error.code === "protocol_error",
    `garbage is ${error.code}`,
  );
  const other = await alice.createChannel();
  await failsWith(
    "invalid_request",
    () => alice.client.call("SendMessage", { ...message, channelId: other }),
  );
  closeAll(alice, bob);
}

export async function commitRace(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const attempts = [alice, bob, alice, bob].map((agent) => ({
    agent,
    body: agent.commit(channelId, 1),
  }));
  const results = await Promise.allSettled(
    attempts.map(({ agent, body }) => agent.client.call("SendCommit", body)),
  );
  const won = results.findIndex(({ status }) => status === "fulfilled");
  const lost = results.flatMap((result) => result.status === "rejected" ? [result.reason] : []);
  check(
    lost.length === 3 && lost.every(({ code, epoch }) => code === "epoch_conflict" && epoch === 2),
    "not one won",
  );
  const found = await bob.client.call("FindCommit", { channelId, epoch: 1, generation: 0 });
  sameBytes(
    found.commit?.commitHash,
    sha256(attempts[won]?.body.commit ?? new Uint8Array(0)),
    "the winner's hash",
  );
  const open = await bob.client.call("FindCommit", { channelId, epoch: 2, generation: 0 });
  check(open.epoch === 2 && open.commit === undefined, "an epoch without a commit has one");
  closeAll(alice, bob);
}

export async function strangers(relay: Relay): Promise<void> {
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

export async function closing(relay: Relay): Promise<void> {
  const { alice, bob, channelId, name } = await createPair(relay);
  await failsWith("not_allowed", () => bob.client.call("CloseChannel", { channelId }));
  await alice.client.call("CloseChannel", { channelId });
  const [end] = await bob.client.notices.first("DeliverChannelEnd", 1);
  check(end?.reason === "closed", `the member was told ${end?.reason}`);
  await failsWith("not_found", () => bob.client.call("SendMessage", bob.message(channelId, 1)));
  await alice.client.call("CreateChannel", { name, nonce: randomId16() });
  closeAll(alice, bob);
}

export async function listing(relay: Relay): Promise<void> {
  const alice = await TestAgent.connect(relay);
  const made = await Promise.all([1, 2, 3, 4, 5].map(() => alice.createChannel()));
  const listed: ChannelId[] = [];
  let after: ChannelId | undefined;
  for (let more = true; more;) {
    const page = await alice.client.call("ListChannels", {
      limit: 2,
      ...(after !== undefined && { after }),
    });
    listed.push(...page.channels.map(({ channelId }) => channelId));
    check(
      page.channels.every(({ member, owned, members }) => member && owned && members === 1),
      "another summary",
    );
    after = page.channels.at(-1)?.channelId;
    more = page.more;
  }
  check(
    [...listed].sort().join() === [...made].sort().join(),
    `${listed.length} of ${made.length} were listed`,
  );
  const [channelId = made[0]] = made;
  const { epoch, members } = await alice.client.call("ListMembers", {
    channelId: channelId as ChannelId,
  });
  const [member] = members;
  check(epoch === 0 && members.length === 1, "another epoch or number of members");
  check(
    member?.agentId === alice.agentId && member.online && member.owner && !member.leaving,
    "another member",
  );
  closeAll(alice);
}

export async function welcomes(relay: Relay): Promise<void> {
  const [alice, bob] = await Promise.all([TestAgent.connect(relay), TestAgent.connect(relay)]);
  const channelId = await alice.createChannel();
  const commit = alice.commit(channelId, 0, { added: [bob.agentId] });
  await alice.client.call("SendCommit", commit);
  const [first] = await bob.client.notices.first("DeliverWelcome", 1);
  const again = { channelId, epoch: 1, welcome: commit.welcomes[0]?.welcome ?? new Uint8Array(1) };
  const recipients: AgentId[] = [bob.agentId];
  await alice.client.call("SendWelcome", { ...again, recipients });
  await failsWith(
    "invalid_request",
    () => alice.client.call("SendWelcome", { ...again, recipients: [] }),
  );
  await failsWith(
    "invalid_request",
    () => alice.client.call("SendWelcome", { ...again, recipients: [alice.agentId] }),
  );
  const nobody = {
    ...alice.commit(channelId, 1),
    welcomes: [{ recipients: [bob.agentId], welcome: again.welcome }],
  };
  await failsWith("invalid_request", () => alice.client.call("SendCommit", nobody));
  await bob.acknowledge(channelId, first?.joinedSequence ?? 0);
  await bob.reconnect();
  const { channels } = await bob.client.call("ListChannels", { limit: 10 });
  check(
    channels.length === 1 && !channels[0]?.welcomePending,
    "an acknowledged Welcome still waits",
  );
  closeAll(alice, bob);
}

export async function sizes(relay: Relay): Promise<void> {
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

export async function burst(relay: Relay): Promise<void> {
  const { alice, bob, channelId } = await createPair(relay);
  const messages = Array.from({ length: 100 }, (_, i) => alice.message(channelId, 1, i * 100));
  const replies = await Promise.all(
    messages.map((message) => alice.client.call("SendMessage", message)),
  );
  const delivered = await bob.client.notices.first("DeliverMessage", messages.length);
  const sequences = delivered.map(({ sequence }) => sequence);
  check(
    sequences.every((sequence, i) => i === 0 || sequence > (sequences[i - 1] ?? 0)),
    "not in one order",
  );
  const bySequence = new Map(replies.map(({ sequence }, i) => [sequence, messages[i]?.messageId]));
  check(
    delivered.every((body) => bySequence.get(body.sequence) === body.messageId),
    "another order than the answers'",
  );
  closeAll(alice, bob);
}
