/**
 * Ways to lose step that only another member's word, or a new connection, shows: each of them ends,
 * without a restart.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  equalBytes,
  type NoticeEnvelope,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { type Channel, type IssueKind, StaticError } from "../../../sdk/mod.ts";
import {
  createError,
  decodeKeyPackageMessage,
  keyPackageReference,
  storedChannel,
} from "../../../sdk/testing/agents.ts";
import { answerWrongly, withholdCommits } from "../../support/scenario/hostile.ts";
import { loseStep } from "../../support/scenario/lost_step.ts";
import { deafen } from "../../support/scenario/recovery.ts";
import {
  type Actor,
  allAgree,
  issueCount,
  name,
  read,
  Stage,
  until,
} from "../../support/scenario/stage.ts";

async function countOf(actor: Actor, kind: IssueKind): Promise<number> {
  return issueCount(await actor.channel(), kind);
}

async function commit(actor: Actor): Promise<void> {
  await (await actor.inside()).commit();
}

async function reconnect({ session }: Actor): Promise<void> {
  session.disconnect();
  await session.connect();
}

for (const isFaster of [true, false]) {
  const what = isFaster
    ? "whose maker commits again before it can"
    : "before anybody else has committed";
  Deno.test(`an agent that a Welcome of another commit let in finds out, ${what}, and comes back`, async () => {
    await using stage = await Stage.open();
    const { alice, bob, carol: mallory } = await stage.trio();
    const answers = await answerWrongly(mallory);
    alice.session.tampering.notice = (notice) =>
      notice.operation === "DeliverRejoinRequest" && answers() === 0 ? [] : [notice];
    let isMade = !isFaster;
    bob.session.tampering.call = async (operation, _, forward) => {
      if (operation === "SendCommit") await until("mallory has committed", () => isMade);
      return await forward();
    };
    withholdCommits(bob, () => answers() > 0);
    await commit(alice);
    await alice.manager.send(name, "lost to bob");
    await until("mallory has answered", () => answers() === 1);
    if (isFaster) await commit(mallory);
    isMade = true;
    await until("bob is back", async () => await countOf(bob, "rejoined") === 2);
    await allAgree(alice, bob, mallory);
    await alice.manager.send(name, "after all");
    assertEquals((await read(await bob.channel(), 1)).at(-1), "after all");
    assertEquals(await countOf(bob, "relay_lied"), 0);
  });
}

Deno.test("a removed member that has committed reads what was sent while it was one", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await commit(bob);
  await allAgree(alice, bob, carol);
  const channel = await bob.channel();
  bob.session.disconnect();
  await alice.manager.send(name, "for all of us");
  await (await alice.channel()).removeMember(bob.client.agentId);
  await bob.session.connect();
  assertEquals(await read(channel, 1), ["for all of us"]);
  await until("bob has noticed", () => bob.client.channels.length === 0);
});

Deno.test("a refusal of what a new connection asks first is no end: the agent asks again", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await commit(bob);
  const channel = await bob.channel();
  const refusals = [
    ["Subscribe", "not_allowed"],
    ["FindCommit", "epoch_conflict"],
    ["Subscribe", "auth_failed"],
  ] as const;
  const open = [...refusals];
  bob.session.tampering.call = (operation, _, forward) => {
    if (operation !== open[0]?.[0]) return forward();
    const code = open.shift()?.[1] ?? "internal";
    return Promise.reject(createError(code, "Refused by a relay that is not well"));
  };
  await reconnect(bob);
  await until("all are refused", () => open.length === 0);
  await until("bob has caught up", () => channel.health().state === "ok");
  await alice.manager.send(name, "still here?");
  assertEquals(await read(channel, 1), ["still here?"]);
});

Deno.test("a commit that the relay took and contradicted leads back into the channel, not to its end", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await bob.channel();
  let hash: Uint8Array | undefined;
  bob.session.tampering.call = async (operation, body, forward) => {
    if (operation === "SendCommit" && hash === undefined) {
      hash = sha256((body as RequestBody<"SendCommit">).commit); // cast: of this operation
    }
    if (operation === "SendCommit" && !isBack) {
      throw createError("transport_error", "The connection was lost");
    }
    const reply = await forward();
    // cast: the reply of this operation
    const { commit } = reply as { commit?: { commitHash: Uint8Array } };
    if (operation === "FindCommit" && commit !== undefined && hash !== undefined && !isBack) {
      commit.commitHash = hash;
    }
    return reply;
  };
  let isBack = false;
  await assertRejects(() => commit(bob), StaticError);
  await commit(alice);
  await until(
    "bob has followed",
    async () => (await bob.inside()).epoch === (await alice.inside()).epoch,
  );
  await reconnect(bob);
  await until(
    "bob is on its way",
    async () =>
      (await bob.inside()).state.rejoining !== undefined || channel.health().state === "ended",
  );
  isBack = true;
  await until("bob is back", async () => await countOf(bob, "rejoined") === 1);
  await allAgree(alice, bob, carol);
  assert(await countOf(bob, "relay_lied") > 0);
});

/** Whether the relay has all of the log as read by the actor: it says so with a new connection. */
async function hasReadAll(actor: Actor): Promise<boolean> {
  let isAll: boolean | undefined;
  actor.session.tampering.call = async (operation, _, forward) => {
    const reply = await forward();
    if (operation !== "Subscribe") return reply;
    const { consumed, head } = reply as ReplyBody<"Subscribe">; // cast: of this operation
    isAll = consumed === head;
    return reply;
  };
  await reconnect(actor);
  await until("it has subscribed", () => isAll !== undefined);
  return isAll === true;
}

Deno.test("a place that the log never had is forgotten: what is read afterwards is acknowledged", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  bob.session.tampering.notice = (notice) =>
    notice.operation === "DeliverMessage"
      ? [{ ...notice, body: { ...notice.body, sequence: 900 } }]
      : [notice];
  await alice.manager.send(name, "moved by the relay");
  assertEquals(await read(channel, 1), ["moved by the relay"]);
  bob.session.tampering = {};
  await reconnect(bob);
  await until("bob has caught up", () => channel.health().state === "ok");
  await alice.manager.send(name, "where it should be");
  assertEquals(await read(channel, 1), ["where it should be"]);
  await until("the relay knows", () => hasReadAll(bob), 5000);
});

Deno.test("an answer to a second request, after the first one's let the agent in, does not keep it out", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const { after } = bob;
  // Nobody waits ten seconds for an answer here.
  bob.after = (ms, run) => after(ms === 10_000 ? 200 : ms, run);
  const welcomes: NoticeEnvelope[] = [];
  const requests: NoticeEnvelope[] = [];
  let isIn = false;
  let first: Uint8Array | undefined;
  bob.session.tampering.notice = (notice) => {
    if (notice.operation === "DeliverCommit") return isIn ? [notice] : [];
    if (notice.operation !== "DeliverWelcome" || isIn) return [notice];
    welcomes.push(notice);
    return [];
  };
  let isAnswered = false;
  bob.session.tampering.call = async (operation, _, forward) => {
    if (operation === "SendCommit") await until("the second request is answered", () => isAnswered);
    return await forward();
  };
  alice.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverRejoinRequest") return [notice];
    first ??= notice.body.keyPackage;
    if (isIn || equalBytes(first, notice.body.keyPackage)) return [notice];
    requests.push(notice);
    return [];
  };
  await commit(alice);
  await alice.manager.send(name, "lost to bob");
  await until("bob has asked with another KeyPackage", () => requests.length > 0);
  isIn = true;
  for (const notice of welcomes.slice(0, 1)) bob.session.inject(notice);
  await until("bob is in", async () => await countOf(bob, "rejoined") === 1);
  const inside = await alice.inside();
  const { epoch } = inside;
  for (const notice of requests.slice(0, 1)) alice.session.inject(notice);
  await until("alice has answered", () => inside.epoch > epoch);
  isAnswered = true;
  await until("bob is back", async () => await countOf(bob, "rejoined") === 2, 15_000);
  await allAgree(alice, bob);
});

/**
 * Bob's disk is older than a leaf of his whose keys he does not hold any more: only an invite leads
 * back.
 */
async function stuckChannel(
  { alice, bob }: { readonly alice: Actor; readonly bob: Actor },
): Promise<Channel> {
  const backup = await bob.backup();
  // It comes back with a KeyPackage that the backup does not have, and makes no leaf of its own.
  let isAway = true;
  withholdCommits(bob, () => !isAway);
  bob.session.tampering.call = (operation, _, forward) =>
    operation === "SendCommit" ? Promise.reject(createError("not_allowed", "Not now")) : forward();
  await commit(alice);
  await alice.manager.send(name, "lost to bob");
  // On a busy machine bob may be back before anybody looks.
  const isBack = async (): Promise<boolean> => await countOf(bob, "rejoined") === 1;
  await until(
    "bob is on its way",
    async () => (await bob.inside()).state.rejoining !== undefined || await isBack(),
  );
  isAway = false;
  await until("bob is back", isBack);
  const { after } = bob;
  bob.after = (ms, run) => after(ms === 10_000 ? 200 : ms, run);
  await bob.restore(backup);
  const channel = await bob.channel();
  await until(
    "bob says so",
    () => channel.health().action?.includes("new invite") === true,
    10_000,
  );
  return channel;
}

Deno.test("an agent that cannot know its leaf says so, keeps its place when it creates, and comes back by a new invite", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await stuckChannel({ alice, bob });
  await assertRejects(() => bob.manager.create(name), StaticError, "already");
  const { channelId, epoch } = await bob.inside();
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, carol);
  // Whatever epoch it came into, it remembers how far it had seen members come and go.
  assertEquals((await storedChannel(bob.agent.parts.store, channelId)).anchor.formerEpoch, epoch);
});

Deno.test("such an agent gives up its place for an invite only while somebody is there to let it in", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await stuckChannel({ alice, bob });
  const token = await carol.manager.invite(name);
  carol.session.disconnect();
  await assertRejects(() => bob.manager.joinWithToken(name, token), StaticError, "keeps its place");
  const { members } = await alice.session.call("ListMembers", {
    channelId: (await alice.inside()).channelId,
  });
  assertEquals(members.filter(({ leaving }) => leaving), []);
  await carol.session.connect();
});

Deno.test("a Welcome that is passed by hand takes the place of a membership in which an agent is stuck", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await stuckChannel({ alice, bob });
  // One that the relay delivers is taken without the application.
  bob.session.tampering.notice = (notice) => notice.operation === "DeliverWelcome" ? [] : [notice];
  const welcome = await (await alice.channel()).addMember(await bob.client.generateKeyPackage());
  const channel = await bob.client.joinChannel(name, welcome);
  await allAgree(alice, bob, carol);
  const { members } = await alice.session.call("ListMembers", {
    channelId: (await alice.inside()).channelId,
  });
  assertEquals(members.filter(({ leaving }) => leaving), []);
  await channel.send("in its new place");
  assertEquals((await read(await carol.channel(), 2)).at(-1), "in its new place");
});

Deno.test("a relay that takes back what it said of an agent's store ends the way back, while nobody has answered", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await bob.channel();
  for (const member of [alice, carol]) {
    member.session.tampering.notice = (notice) =>
      notice.operation === "DeliverRejoinRequest" ? [] : [notice];
  }
  bob.session.tampering.call = async (operation, _, forward) => {
    const reply = await forward();
    // cast: of this operation
    return operation === "Subscribe"
      ? { ...reply as ReplyBody<"Subscribe">, acknowledged: 10_000 }
      : reply;
  };
  await reconnect(bob);
  await until("bob asks", () => channel.health().state === "rejoining");
  bob.session.tampering = {};
  await reconnect(bob);
  await until("bob is in step", () => channel.health().state === "ok", 10_000);
  await alice.manager.send(name, "nothing was wrong");
  assertEquals(await read(channel, 1), ["nothing was wrong"]);
  assertEquals(await countOf(bob, "rejoined"), 0);
  await commit(bob);
  await allAgree(alice, bob, carol);
});

Deno.test("a commit that the relay delivered and did not take is found out with the next connection", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const inside = await bob.inside();
  const { epoch } = inside;
  let swallowed: RequestBody<"SendCommit"> | undefined;
  carol.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit") return forward();
    swallowed = body as RequestBody<"SendCommit">; // cast: of this operation
    return Promise.reject(createError("not_allowed", "The relay keeps it for itself"));
  };
  await assertRejects(() => commit(carol), StaticError);
  assert(swallowed !== undefined);
  carol.session.tampering = {};
  // The log's own commit of that epoch, which it gives to all others.
  const { welcomes: _, answers: __, ...delivered } = swallowed;
  bob.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverCommit" || notice.body.epoch !== epoch) return [notice];
    return [{ ...notice, body: { ...notice.body, ...delivered, sender: carol.client.agentId } }];
  };
  await commit(alice);
  await until("bob has followed the wrong one", () => inside.epoch === epoch + 1);
  bob.session.tampering = {};
  await reconnect(bob);
  await until("bob is back", async () => await countOf(bob, "rejoined") === 1, 10_000);
  await allAgree(alice, bob, carol);
  assert(await countOf(bob, "relay_lied") > 0);
});

Deno.test("what was read before a crash is acknowledged after it, though nothing new comes", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  // Positions are on disk already, and the relay never hears of them.
  bob.session.acknowledge = () => {};
  await alice.manager.send(name, "read before the crash");
  assertEquals(await read(await bob.channel(), 1), ["read before the crash"]);
  const inside = await bob.inside();
  await until("it is on disk", async () => {
    const { sequence = 0 } =
      (await storedChannel(bob.agent.parts.store, inside.channelId)).position ?? {};
    return sequence > 0 && inside.unread === 0 && (await bob.channel()).health().unread === 0;
  });
  await bob.crash();
  await until("the relay knows", () => hasReadAll(bob), 5000);
});

Deno.test("a way back whose last write fails ends in words, and goes on after a restart", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const { store } = bob.agent.parts;
  const batch = store.batch.bind(store);
  let isFull = true;
  store.batch = (changes) => {
    const isEntrance = changes.some(({ id, type }) => id === "anchor" && type === "put") &&
      changes.length > 5;
    return isFull && isEntrance ? Promise.reject(new Error("The disk is full")) : batch(changes);
  };
  withholdCommits(bob, () => !isFull);
  const channel = await bob.channel();
  await commit(alice);
  await alice.manager.send(name, "lost to bob");
  await until("bob says so", () => channel.health().state === "ended");
  assertStringIncludes(channel.health().problem ?? "", "The disk is full");
  isFull = false;
  await bob.crash();
  await until("bob is back", async () => await countOf(bob, "rejoined") === 1);
  await allAgree(alice, bob, carol);
});

Deno.test("a channel that the relay calls over is opened again by its application, and goes on if that was a lie", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  const { channelId } = await bob.inside();
  bob.session.inject({
    kind: "notice",
    operation: "DeliverChannelEnd",
    body: { channelId, sequence: 9, timeMs: Date.now(), reason: "removed" },
  });
  await until("it is over", () => channel.health().state === "ended");
  const again = await bob.channel();
  await until("bob has caught up", () => again.health().state === "ok");
  await alice.manager.send(name, "still here");
  assertEquals(await read(again, 1), ["still here"]);
  await again.send("as before");
  assertEquals(await read(await alice.channel(), 1), ["as before"]);
});

Deno.test("an agent that leaves while its way back is answered leaves no ghost behind, and no keys", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const { store } = bob.agent.parts;
  const keys = (await store.list("keypackages")).length;
  let isHeld = true;
  const held: NoticeEnvelope[] = [];
  bob.session.tampering.notice = (notice) => {
    if (!isHeld) return [notice];
    if (notice.operation === "DeliverWelcome") held.push(notice);
    return notice.operation === "DeliverWelcome" || notice.operation === "DeliverCommit"
      ? []
      : [notice];
  };
  await commit(alice);
  await alice.manager.send(name, "lost to bob");
  await until("the answer is on its way", () => held.length > 0);
  const leaving = (await bob.channel()).leave();
  isHeld = false;
  for (const notice of held) bob.session.inject(notice);
  await leaving;
  const isGone = async (actor: Actor): Promise<boolean> =>
    (await actor.channel()).members().every(({ agentId }) => agentId !== bob.client.agentId);
  for (const actor of [alice, carol]) await until("bob is gone", () => isGone(actor), 20_000);
  assertEquals(bob.client.channels, []);
  await until(
    "no key is left",
    async () => (await store.list("keypackages")).length <= keys,
    5_000,
  );
});

Deno.test("an agent that leaves while nobody answers its request to come back keeps no key of the request", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  let asked: Uint8Array | undefined;
  bob.session.tampering.call = (operation, body, forward) => {
    // cast: of this operation
    if (operation === "RequestRejoin") asked = (body as RequestBody<"RequestRejoin">).keyPackage;
    return forward();
  };
  const isKept = async (): Promise<boolean> => {
    if (asked === undefined) return false;
    const reference = keyPackageReference(decodeKeyPackageMessage(asked));
    return await bob.agent.keyPackages.find(reference) !== undefined;
  };
  deafen(alice);
  await loseStep(bob, alice);
  await until("bob has asked", isKept);
  await (await bob.channel()).leave();
  assertEquals(await isKept(), false);
});

Deno.test("a reader whom a made-up place led beyond the log hears what comes there, without a new connection", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const { channelId, epoch } = await bob.inside();
  const body = {
    channelId,
    sequence: 1000,
    epoch,
    agentId: alice.client.agentId,
    timeMs: Date.now(),
  };
  bob.session.inject({ kind: "notice", operation: "DeliverLapse", body });
  await alice.manager.send(name, "before the made-up place");
  assertEquals(await read(await bob.channel(), 1, 5_000), ["before the made-up place"]);
  assert(await countOf(bob, "relay_lied") > 0);
});

Deno.test("an epoch that the relay made up is forgotten with the next connection", async () => {
  await using stage = await Stage.open();
  const { bob } = await stage.pair();
  const channel = await bob.channel();
  bob.session.tampering.call = async (operation, _, forward) => {
    const reply = await forward();
    // cast: of this operation
    return operation === "Subscribe" ? { ...reply as ReplyBody<"Subscribe">, epoch: 50 } : reply;
  };
  await reconnect(bob);
  await until("bob believes it", () => channel.health().state === "catching_up");
  bob.session.tampering = {};
  await reconnect(bob);
  await until("bob has caught up", () => channel.health().state === "ok", 5_000);
});

Deno.test("an agent to which the relay did not say that entries begin asks again, on the same connection", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const { after } = bob;
  bob.after = (ms, run) => after(ms === 10_000 ? 200 : ms, run);
  let isKept = true;
  bob.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverStart" || !isKept) return [notice];
    isKept = false;
    return [];
  };
  await reconnect(bob);
  await until("it was kept back", () => !isKept);
  await alice.manager.send(name, "not ignored");
  assertEquals(await read(await bob.channel(), 1, 5_000), ["not ignored"]);
});
