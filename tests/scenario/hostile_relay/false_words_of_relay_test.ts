/** Lies of the relay that docs/relay_word.md lists and no other file has a test for. */
import { sha256 } from "@noble/hashes/sha2.js";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import {
  binaryIdFromBytes,
  type CallName,
  type ChannelId,
  errorCodes,
  foundingEpoch,
  inviteIdOf,
  isErrorCode,
  joinMac,
  type JoinRequestId,
  type NoticeBody,
  parseChannelName,
  parseInviteToken,
  rejoinStatement,
  type RequestBody,
} from "../../../proto/mod.ts";
import { StaticError } from "../../../sdk/mod.ts";
import { createError, Inside, putAnchor, storedChannel } from "../../../sdk/testing/agents.ts";
import { sendBogus } from "../../support/scenario/bad_commits.ts";
import { loseStep } from "../../support/scenario/lost_step.ts";
import type { Tampering } from "../../support/scenario/memory_session.ts";
import { allStopped, issuesOf, recover, talk } from "../../support/scenario/recovery.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

type JoinRequest = NoticeBody<"DeliverJoinRequest">;
const dayMs = 24 * 60 * 60 * 1000;

type Rejected = RequestBody<"RejectJoin">;

/**
 * A request to join that nobody made, in this agent's name, as a relay that has the invite can make
 * it.
 */
async function madeUp(
  of: Actor,
  token: string,
  change: Partial<JoinRequest> = {},
): Promise<JoinRequest> {
  const { secret, ...invite } = parseInviteToken(token);
  const keyPackage = await of.client.generateKeyPackage();
  return {
    channelId: invite.channelId,
    requestId: binaryIdFromBytes<JoinRequestId>(crypto.getRandomValues(new Uint8Array(16))),
    inviteId: inviteIdOf(secret),
    agentId: of.client.agentId,
    keyPackage,
    mac: joinMac(secret, { ...invite, keyPackage }),
    expiresAtMs: Date.now() + 60_000,
    ...change,
  };
}

/** Tells the inviter of a request, and returns its refusal, or that it made a commit. */
async function refusalOf(
  inviter: Actor,
  request: JoinRequest,
): Promise<Pick<Rejected, "code" | "message">> {
  const answered = Promise.withResolvers<Pick<Rejected, "code" | "message">>();
  inviter.session.tampering.call = (operation, body, forward) => {
    if (operation === "RejectJoin") answered.resolve(body as Rejected); // cast: of this operation
    if (operation === "SendCommit") answered.resolve({ code: "none", message: "it was let in" });
    return forward();
  };
  inviter.session.inject({ kind: "notice", operation: "DeliverJoinRequest", body: request });
  return await answered.promise;
}

Deno.test("a relay that has an owner's invite does not make a member go and come again", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const { epoch } = await alice.inside();
  const token = await alice.manager.invite(name);
  const { code } = await refusalOf(alice, await madeUp(bob, token));
  assertEquals(code, "already_member");
  await alice.manager.send(name, "to bob");
  assertEquals(await read(await bob.channel(), 1), ["to bob"]);
  assertEquals([(await alice.inside()).epoch, await issuesOf(bob, "rejoined")], [epoch, []]);
});

Deno.test("a request to join without the invite's secret is told nothing about the members", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const impostor = await stage.actor("bob");
  const request = await madeUp(impostor, await alice.manager.invite(name), {
    mac: new Uint8Array(32),
  });
  const { code, message } = await refusalOf(alice, request);
  assertEquals(code, "join_rejected");
  assert(message.includes("not made with the invite's secret"), message);
});

/**
 * A member whose client was modified asks to come back, about the leaf that the other one has of
 * it.
 */
async function askAgain(actor: Actor, inside: Inside): Promise<void> {
  const { agentId } = actor.client;
  const { channelId, groupId, epoch } = inside;
  const leafHash = sha256(inside.leafOf(agentId)?.leaf.encoded ?? new Uint8Array(0));
  const keyPackage = await actor.client.generateKeyPackage();
  const statement = rejoinStatement({
    channelId: groupId,
    agentId,
    leafHash,
    keyPackageHash: sha256(keyPackage),
  });
  const signature = actor.sign(statement);
  await actor.session.call("RequestRejoin", {
    channelId,
    keyPackage,
    signature,
    leafHash,
    epoch,
    generation: 0,
  });
}

Deno.test("a member makes the others let it in 24 times a day by asking, and no more", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  // Its own client would follow.
  bob.session.tampering.notice = () => [];
  const inside = await alice.inside();
  const isAnswered = async (): Promise<void> => {
    const before = inside.leafOf(bob.client.agentId)?.leaf.encoded;
    await askAgain(bob, inside);
    // A commit alone says nothing: keys that are a day old are changed, too.
    await until(
      "alice lets bob in",
      () => inside.leafOf(bob.client.agentId)?.leaf.encoded !== before,
    );
  };
  for (let times = 0; times < 24; times++) await isAnswered();
  const { epoch } = inside;
  await askAgain(bob, inside);
  await until(
    "alice does not answer",
    async () => (await issuesOf(alice, "refused_join")).length > 0,
  );
  const [why] = await issuesOf(alice, "refused_join");
  assertEquals(
    [inside.epoch, why?.includes("came back 24 times within a day")],
    [epoch, true],
    why,
  );
  alice.clockOffsetMs += dayMs;
  // It compares its clock with the relay's when it connects.
  alice.session.disconnect();
  await alice.session.connect();
  await isAnswered();
});

/** Lies that make an agent come back. */
const reasons: Readonly<Record<string, (bob: Actor, alice: Actor) => Promise<void>>> = {
  "a relay that keeps commits back gains no way back more of an agent that came back twelve times in a day":
    loseStep,
  "a relay that says that an agent has other keys gains no way back more of one that came back twelve times in a day":
    async ({ session, agent }) => {
      const inside = await Inside.of(agent, name);
      const before = session.tampering.call;
      let isLying = true;
      session.tampering.call = (operation, body, forward) =>
        operation === "SendCommit" && isLying
          ? Promise.reject(createError("state_conflict", "the relay says so"))
          : before?.(operation, body, forward) ?? forward();
      await inside.commit().catch(() => {});
      isLying = false;
    },
};

for (const [guarantee, lie] of Object.entries(reasons)) {
  Deno.test(guarantee, async () => {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const { channelId } = await bob.inside();
    await bob.change(async (store) => {
      const [{ anchor }, nowMs] = [await storedChannel(store, channelId), stage.world.time.nowMs()];
      await store.batch([
        putAnchor(channelId, { ...anchor, cameBackMs: new Array(12).fill(nowMs) }),
      ]);
    });
    await bob.channel();
    const days: (() => void)[] = [];
    const { after } = bob;
    bob.after = (ms, run) => {
      if (ms < dayMs / 2) return after(ms, run);
      days.push(run);
      return () => {};
    };
    let asked = 0;
    bob.session.tampering.call = (operation, _, forward) => {
      if (operation === "RequestRejoin") asked++;
      return forward();
    };
    await lie(bob, alice);
    await until(
      "bob waits",
      async () => (await issuesOf(bob, "rejoined")).length > 0 && days.length > 0,
    );
    const channel = await bob.channel();
    const { state, action } = channel.health();
    assertEquals([asked, state], [0, "rejoining"]);
    assertMatch(action ?? "", /too often.* call leave\(\), and join with a new invite token$/);
    if (lie === loseStep) {
      days.forEach((run) => run());
    } else {
      await channel.leave();
      await bob.manager.joinWithToken(name, await alice.manager.invite(name));
    }
    await allAgree(alice, bob);
    await bob.manager.send(name, "back again");
    while ((await read(await alice.channel(), 1))[0] !== "back again");
  });
}

/** The relay says that it knows nothing of the channel, and makes another one of its name. */
function denying(other: ChannelId): Tampering {
  return {
    call: (operation, _, forward) => {
      if (operation === "ListMembers") {
        return Promise.reject(createError("not_found", "No such channel"));
      }
      return operation === "CreateChannel" ? Promise.resolve({ channelId: other }) : forward();
    },
  };
}

Deno.test("a relay that calls a channel over makes nobody erase its keys by creating another one, or by a stranger's Welcome", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const stranger = await stage.actor("mallory", 2);
  await stranger.manager.create(name);
  const other = (await stranger.inside()).channelId;
  const welcome = await (await stranger.channel()).addMember(await bob.client.generateKeyPackage());
  bob.session.tampering = denying(other);
  for (
    const enter of [() => bob.manager.create(name), () => bob.client.joinChannel(name, welcome)]
  ) {
    const { code, message } = await assertRejects(enter, StaticError);
    assertEquals([code, message.includes("closeChannel")], ["name_taken", true], message);
  }
  bob.session.tampering = {};
  await bob.restart();
  await allAgree(alice, bob);
  // Where it is true, the user says so.
  await alice.client.closeChannel(name);
  await bob.client.closeChannel(name);
  await bob.manager.create(name);
});

Deno.test("requests to come back that the relay makes up do not make an owner begin a channel anew sooner", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const { agentId } = carol.client;
  const keyPackage = await carol.client.generateKeyPackage();
  const { channelId, epoch } = await alice.inside();
  const leafHash = sha256(
    (await alice.inside()).leafOf(agentId)?.leaf.encoded ?? new Uint8Array(0),
  );
  carol.session.disconnect();
  await sendBogus(bob);
  await allStopped(alice);
  const requestId = binaryIdFromBytes<JoinRequestId>(new Uint8Array(16));
  const signature = bob.sign(leafHash);
  const body = {
    channelId,
    requestId,
    agentId,
    keyPackage,
    signature,
    expiresAtMs: Infinity,
    epoch,
    leafHash,
  };
  alice.session.inject({ kind: "notice", operation: "DeliverRejoinRequest", body });
  await (await alice.inside()).recover().catch(() => {}); // behind the notice
  assertEquals((await alice.channel()).health().recoverable, false);
  await carol.session.connect();
  await recover(alice);
});

Deno.test("a message that the relay drops, and calls one that it had before, is missed by those that count, and told to its sender", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await alice.manager.send(name, "zero");
  let lies = 1;
  alice.session.tampering.call = (operation, _, forward) => {
    if (operation !== "SendMessage" || lies-- <= 0) return forward();
    return Promise.resolve({ sequence: 1, timeMs: 0, duplicate: true });
  };
  for (const text of ["one", "two"]) await alice.manager.send(name, text);
  const channel = await bob.channel();
  assertEquals(await read(channel, 2), ["zero", "two"]);
  assertEquals(channel.health().missing, [{ sender: alice.client.agentId, messages: 1 }]);
  assertEquals((await issuesOf(alice, "relay_lied")).length, 1);
});

/** Fields of replies that the SDK does not read. */
const unread: Partial<Record<CallName, readonly string[]>> = {
  CreateChannel: ["welcome", "duplicate"],
  CloseChannel: ["closedAtMs"],
  ListMembers: ["epoch"],
  LeaveChannel: ["sequence"],
  UploadKeyPackage: ["stored", "hasLastResort"],
  AddMember: ["lastResort"],
  SendMessage: ["sequence", "timeMs"],
  SendCommit: ["epoch", "commitHash", "timeMs", "duplicate"],
  FoundGeneration: ["epoch", "timeMs", "duplicate"],
  Subscribe: ["generation"],
  RegisterInvite: ["expiresAtMs"],
  RequestJoin: ["expiresAtMs", "inviterOnline"],
  RequestRejoin: ["expiresAtMs"],
};

function otherThan(value: unknown): unknown {
  if (typeof value === "number") return 0;
  return typeof value === "boolean" ? !value : new Uint8Array(32);
}

Deno.test("fields of replies that the SDK does not read may say anything", async () => {
  await using stage = await Stage.open();
  const lied = new Set<CallName>();
  const lie: Tampering = {
    call: async (operation, _, forward) => {
      const reply = await forward();
      const fields = unread[operation] ?? [];
      if (fields.length > 0) lied.add(operation);
      // cast: a reply is a record
      const told = new Map(Object.entries(reply as Record<string, unknown>));
      for (const field of fields) told.set(field, otherThan(told.get(field)));
      return Object.fromEntries(told);
    },
  };
  const actors = await Promise.all(
    ["alice", "bob", "carol", "dave"].map((label) => stage.actor(label)),
  );
  // cast: as many as labels
  const [alice, bob, carol, dave] = actors as [Actor, Actor, Actor, Actor];
  for (const { session } of actors) session.tampering = lie;
  await alice.manager.create(name);
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  await (await alice.channel()).addMember(carol.client.agentId);
  await carol.client.joinChannel(name);
  await dave.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(...actors);
  await loseStep(carol, alice);
  await allAgree(...actors);
  await (await dave.channel()).leave();
  await until("dave is out", async () => (await alice.channel()).members().length === 3);
  await allAgree(alice, bob, carol);
  await sendBogus(bob);
  await allStopped(alice, carol);
  await recover(alice);
  await talk(alice, carol);
  await alice.session.call("UploadKeyPackage", { keyPackages: [], replace: false });
  await alice.client.closeChannel(name);
  assertEquals([...lied].toSorted(), Object.keys(unread).toSorted());
});

Deno.test("whatever reason the relay gives for a refusal, nobody is out of the channel and no keys are lost", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const members = (await alice.channel()).members().length;
  const { after } = bob;
  // Refused calls are repeated after a second.
  bob.after = (ms, run) => after(ms <= 2_000 ? ms / 100 : ms, run);
  for (const code of Object.keys(errorCodes).filter(isErrorCode)) {
    const refused = new Set<CallName>();
    bob.session.tampering.call = (operation, _, forward) => {
      if (
        refused.has(operation) || !["Subscribe", "SendMessage", "ListMembers"].includes(operation)
      ) return forward();
      refused.add(operation);
      return Promise.reject(createError(code, "the relay says so"));
    };
    bob.session.disconnect();
    await bob.session.connect();
    await until(`bob has subscribed in spite of ${code}`, () => refused.has("Subscribe"));
    bob.session.tampering = {};
    // One that the relay called unknown is opened again by its application.
    await until(
      `bob is in step after ${code}`,
      async () => (await bob.channel()).health().state === "ok",
    );
    await alice.manager.send(name, code);
    // Messages from before a channel was opened again may come once more.
    while ((await read(await bob.channel(), 1))[0] !== code);
  }
  assertEquals((await alice.channel()).members().length, members);
});

Deno.test("a relay that delivers word of a gap in place of a message is believed no more than the sender's counter", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await alice.manager.send(name, "zero");
  bob.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverMessage" || notice.body.sequence !== 3) return [notice];
    const { channelId, sequence } = notice.body;
    const body = {
      channelId,
      firstSequence: sequence,
      lastSequence: sequence,
      messages: 1,
      reason: "age",
    } as const;
    return [{ kind: "notice", operation: "DeliverGap", body }];
  };
  for (const text of ["one", "two"]) await alice.manager.send(name, text);
  const channel = await bob.channel();
  assertEquals(await read(channel, 2), ["zero", "two"]);
  assertEquals(channel.health().missing, [{ sender: alice.client.agentId, messages: 1 }]);
  assertEquals((await issuesOf(bob, "dropped_by_relay")).length, 1);
});

Deno.test("an inviter's refusal that the relay makes up ends one attempt to join, and the same token works", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const guest = await stage.actor("guest");
  const token = await alice.manager.invite(name);
  const { channelId } = parseInviteToken(token);
  guest.session.tampering.call = async (operation, _, forward) => {
    if (operation !== "RequestJoin") return await forward();
    const requestId = binaryIdFromBytes<JoinRequestId>(new Uint8Array(16));
    const body = { channelId, requestId, code: "identity_present", message: "no" };
    guest.session.inject({ kind: "notice", operation: "DeliverJoinRejected", body });
    return { requestId, expiresAtMs: 0, inviterOnline: true };
  };
  await assertRejects(() => guest.manager.joinWithToken(name, token), StaticError, "refused");
  guest.session.tampering = {};
  await guest.manager.joinWithToken(name, token);
});

Deno.test("a relay that gives another agent's KeyPackage for the one that is added adds nobody", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const [guest, mallory] = [await stage.actor("guest"), await stage.actor("mallory")];
  const keyPackage = await mallory.client.generateKeyPackage();
  alice.session.tampering.call = (operation, _, forward) =>
    operation === "AddMember" ? Promise.resolve({ keyPackage, lastResort: false }) : forward();
  const channel = await alice.channel();
  await assertRejects(() => channel.addMember(guest.client.agentId), StaticError, "another agent");
  assertEquals(channel.members().length, 2);
});

Deno.test("a list of channels that the relay makes up costs no keys of another channel", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const { channelId } = await alice.inside();
  const other = parseChannelName("acme/ops/other");
  alice.session.tampering.call = (operation, _, forward) => {
    if (operation === "ListChannels") {
      return Promise.resolve({ channels: [{ channelId, name: other, owned: true }], more: false });
    }
    return operation === "CloseChannel" ? Promise.resolve({ closedAtMs: 0 }) : forward();
  };
  await alice.client.closeChannel(other);
  alice.session.tampering = {};
  await alice.manager.send(name, "still here");
  assertEquals(await read(await bob.channel(), 1), ["still here"]);
});

Deno.test("an owner whose founding the relay took, and did not put into the log, is told with the next connection", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await sendBogus(bob);
  await allStopped(alice, carol);
  alice.session.tampering.call = (operation, _, forward) =>
    operation === "FoundGeneration"
      ? Promise.resolve({ sequence: 900, epoch: foundingEpoch(1), timeMs: 0, duplicate: false })
      : forward();
  await recover(alice);
  alice.session.tampering = {};
  alice.session.disconnect();
  await alice.session.connect();
  await until("alice is told", async () => (await issuesOf(alice, "relay_lied")).length > 0);
});
