/**
 * A relay that lies. Members detect or heal its effects, and never see a plaintext that was not
 * sent.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type AgentId,
  binaryIdFromBytes,
  type ChannelId,
  type InviteId,
  type JoinRequestId,
  type NoticeBody,
  type NoticeEnvelope,
  parseChannelName,
  type RequestBody,
} from "../../../proto/mod.ts";
import { type Channel, type IssueKind, MlsError, StaticError } from "../../../sdk/mod.ts";
import {
  atOnce,
  createKeyPackage,
  createSealKey,
  decodeKeyPackageMessage,
  errorFromRelay,
  factsKind,
  Group,
  type OwnKeyPackage,
  portableSignatures,
  readyToJoin,
  someone,
} from "../../../sdk/testing/agents.ts";
import {
  type Actor,
  allAgree,
  issueCount,
  name,
  read,
  Stage,
  until,
} from "../../support/scenario/stage.ts";

const issueOf = (channel: Channel, kind: IssueKind): boolean =>
  channel.health().issues.some((each) => each.kind === kind);

/** The messages that this agent is delivered pass through here. */
function onMessages(
  actor: Actor,
  change: (message: NoticeBody<"DeliverMessage">) => readonly NoticeBody<"DeliverMessage">[],
): void {
  actor.session.tampering.notice = (notice) =>
    notice.operation !== "DeliverMessage"
      ? [notice]
      : change(notice.body).map((body): NoticeEnvelope => ({
        kind: "notice",
        operation: "DeliverMessage",
        body,
      }));
}

/** An agent that has nothing but its keys. */
async function createMallory(stage: Stage): Promise<
  {
    readonly agentId: AgentId;
    readonly own: OwnKeyPackage;
    readonly deps: Parameters<typeof Group.join>[2];
  }
> {
  const { id: agentId, ...identity } = someone("mallory");
  const [nowMs, hourMs] = [stage.world.time.nowMs(), 60 * 60 * 1000];
  const times = { notBeforeMs: nowMs - hourMs, notAfterMs: nowMs + hourMs };
  const randomBytes = (length: number): Uint8Array =>
    crypto.getRandomValues(new Uint8Array(length));
  const shared = { signatures: portableSignatures, randomBytes, identity };
  const sealKey = await createSealKey(randomBytes, portableSignatures.xWing);
  const own = createKeyPackage({ suiteId: 3, lastResort: false, sealKey, ...times, ...shared });
  const deps = {
    ...shared,
    policy: () => undefined,
    findPsk: () => undefined,
    clocksMs: () => [nowMs],
    carryOut: atOnce,
    padding: () => 0,
  };
  return { agentId, own, deps };
}

Deno.test("a message that the relay drops once is fetched again", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await alice.manager.send(name, "zero");
  let dropped = false;
  onMessages(bob, (message) => {
    const drop = !dropped && message.sequence === 3;
    dropped ||= drop;
    return drop ? [] : [message];
  });
  for (const text of ["one", "two", "three"]) await alice.manager.send(name, text);
  assertEquals(await read(await bob.channel(), 4), ["zero", "one", "two", "three"]);
  assert(dropped);
  assertEquals((await bob.channel()).health().missing, []);
});

Deno.test("a message that the relay drops for good is missed and reported", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await alice.manager.send(name, "zero");
  onMessages(bob, (message) => message.sequence === 3 ? [] : [message]);
  for (const text of ["one", "two"]) await alice.manager.send(name, text);
  const channel = await bob.channel();
  assertEquals(await read(channel, 2), ["zero", "two"]);
  assertEquals(channel.health().missing, [{ sender: alice.client.agentId, messages: 1 }]);
  assert(issueOf(channel, "missing_messages"));
});

Deno.test("messages delivered twice, replayed later, or under another id are shown once", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const seen: NoticeBody<"DeliverMessage">[] = [];
  onMessages(bob, (message) => {
    const replayed = [...seen].map((old) => ({ ...old, sequence: message.sequence }));
    seen.push(message);
    return [message, message, ...replayed];
  });
  for (const text of ["one", "two", "three"]) await alice.manager.send(name, text);
  assertEquals(await read(await bob.channel(), 3), ["one", "two", "three"]);
  await alice.manager.send(name, "end");
  assertEquals(await read(await bob.channel(), 1), ["end"]);
});

Deno.test("messages that the relay reorders once are put in order", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await alice.manager.send(name, "zero");
  let held: NoticeBody<"DeliverMessage"> | undefined;
  let reordered = false;
  onMessages(bob, (message) => {
    if (message.sequence === 3 && !reordered) {
      held = message;
      return [];
    }
    if (message.sequence === 4 && !reordered && held !== undefined) {
      reordered = true;
      return [message, held];
    }
    return [message];
  });
  for (const text of ["one", "two", "three"]) await alice.manager.send(name, text);
  assertEquals(await read(await bob.channel(), 4), ["zero", "one", "two", "three"]);
  assert(reordered);
});

Deno.test("a message that was changed on its way is not shown, and reported", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  onMessages(bob, (message) => {
    if (message.sequence !== 2) return [message];
    const ciphertext = message.ciphertext.slice();
    ciphertext[ciphertext.length - 1] = (ciphertext.at(-1) ?? 0) ^ 1;
    return [{ ...message, ciphertext }];
  });
  for (const text of ["one", "two"]) await alice.manager.send(name, text);
  const channel = await bob.channel();
  assertEquals(await read(channel, 1), ["two"]);
  assert(issueOf(channel, "undecryptable"));
});

Deno.test("another sender's name on a message is not believed", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  onMessages(bob, (message) => [{ ...message, sender: carol.client.agentId }]);
  await alice.manager.send(name, "by alice");
  const channel = await bob.channel();
  for await (const { sender } of channel.envelopes()) {
    assertEquals(sender.agentId, alice.client.agentId);
    break;
  }
  assert(issueOf(channel, "relay_lied"));
});

Deno.test("the KeyPackage in a join cannot be swapped", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const [guest, mallory] = [await stage.actor("guest"), await stage.actor("mallory")];
  const foreign = await mallory.client.generateKeyPackage();
  alice.session.tampering.notice = (notice) =>
    notice.operation !== "DeliverJoinRequest" ? [notice] : [{
      ...notice,
      body: { ...notice.body, keyPackage: foreign, agentId: mallory.client.agentId },
    }];
  const refused = await assertRejects(
    async () =>
      guest.manager.joinWithToken(name, await alice.manager.invite(name), { timeoutMs: 60_000 }),
    StaticError,
    "refused",
  );
  assertEquals(refused instanceof StaticError && refused.code, "join_rejected");
  const channel = await alice.channel();
  assert(issueOf(channel, "refused_join"));
  assert(!channel.members().some(({ agentId }) => agentId === mallory.client.agentId));
});

Deno.test("a KeyPackage that our clock says has expired is not added, whatever the relay's clock says", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const guest = await stage.actor("guest");
  const keyPackage = await guest.client.generateKeyPackage();
  alice.clockOffsetMs = 40 * 24 * 60 * 60 * 1000;
  await alice.restart();
  const channel = await alice.channel();
  await assertRejects(() => channel.addMember(keyPackage), StaticError, "expired");
  const token = await alice.manager.invite(name);
  await assertRejects(
    () => guest.manager.joinWithToken(name, token, { timeoutMs: 60_000 }),
    StaticError,
    "refused",
  );
  assertEquals(channel.members().length, 2);
});

Deno.test("join requests without end, to channels that nobody knows, take no endless memory", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const keyPackage = await bob.client.generateKeyPackage();
  let rejecting = 0;
  alice.session.tampering.call = (operation, _, forward) => {
    if (operation !== "RejectJoin") return forward();
    rejecting++;
    return new Promise<never>(() => {});
  };
  const id = <Id extends ChannelId | JoinRequestId | InviteId>(): Id =>
    binaryIdFromBytes<Id>(crypto.getRandomValues(new Uint8Array(16)));
  for (let asked = 0; asked < 3000; asked++) {
    const body = {
      channelId: id<ChannelId>(),
      requestId: id<JoinRequestId>(),
      inviteId: id<InviteId>(),
      agentId: bob.client.agentId,
      keyPackage,
      mac: new Uint8Array(32),
      expiresAtMs: Date.now() + 60_000,
    };
    alice.session.inject({ kind: "notice", operation: "DeliverJoinRequest", body });
  }
  await alice.manager.send(name, "still here");
  assertEquals(await read(await bob.channel(), 1), ["still here"]);
  assertEquals(rejecting, 2000);
});

Deno.test("a joiner does not follow a Welcome of somebody else than the inviter, or into another group", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const guest = await stage.actor("guest");
  const keyPackages: Uint8Array[] = [];
  guest.session.tampering.call = (operation, body, forward) => {
    if (operation === "RequestJoin") {
      keyPackages.push((body as RequestBody<"RequestJoin">).keyPackage);
    }
    return forward();
  };
  // Nobody who could answer hears of the request; bob, whom nobody asked, adds the guest.
  alice.session.tampering.notice = (notice) =>
    notice.operation === "DeliverJoinRequest" ? [] : [notice];
  const token = await alice.manager.invite(name);
  const joining = guest.manager.joinWithToken(name, token, { timeoutMs: 60_000 });
  const refused = assertRejects(() => joining, MlsError, "not made by the inviter");
  await until("the guest has asked", () => keyPackages.length > 0);
  const [keyPackage] = keyPackages;
  if (keyPackage === undefined) throw new Error("there is one");
  await (await bob.channel()).addMember(keyPackage);
  await refused;
  assertEquals(guest.client.channels, []);
});

type Commit = NoticeBody<"DeliverCommit">;
const lies: [what: string, lie: (commit: Commit) => Commit][] = [
  ["what a commit declares", (commit) => ({ ...commit, added: [] })],
  ["a commit's sender", (commit) => ({ ...commit, sender: commit.added[0] ?? commit.sender })],
  ["the proofs inside a commit", (commit) => ({ ...commit, commit: commit.commit.with(40, 0x7f) })],
  ["a commit's signature", (commit) => ({ ...commit, signature: new Uint8Array(64) })],
];

Deno.test("a relay that changes a commit for one member is reported; nobody is blocked, and nothing is lost", async () => {
  await Promise.all(lies.map(async ([what, lie]) => {
    await using stage = await Stage.open();
    const { alice, bob, carol } = await stage.trio();
    bob.session.tampering.notice = (notice) =>
      notice.operation === "DeliverCommit" ? [{ ...notice, body: lie(notice.body) }] : [notice];
    const dave = await stage.actor("dave");
    await dave.manager.joinWithToken(name, await alice.manager.invite(name));
    const channel = await bob.channel();
    await until(
      `bob has noticed, twice, that ${what} was changed`,
      () => issueCount(channel, "relay_lied") > 1,
    );
    await alice.manager.send(name, "meanwhile");
    assertEquals(channel.members().length, 3, what);
    assert(!issueOf(channel, "refused_commit") && !issueOf(channel, "rejoined"), what);
    assert(
      !["stopped", "rejoining"].includes(channel.health().state),
      `${what}: ${channel.health().state}`,
    );
    bob.session.tampering = {};
    assertEquals(await read(channel, 1), ["meanwhile"], what);
    await allAgree(alice, bob, carol, dave);
    assert(!issueOf(channel, "rejoined"), what);
  }));
});

Deno.test("a commit whose signature the relay takes away is as good as withheld: the member rejoins", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  let welcomed = false;
  bob.session.tampering.notice = (notice) => {
    welcomed ||= notice.operation === "DeliverWelcome";
    if (notice.operation !== "DeliverCommit" || welcomed) return [notice];
    const { signature: _, ...body } = notice.body;
    return [{ ...notice, body }];
  };
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await alice.manager.invite(name));
  const channel = await bob.channel();
  await until("bob has joined anew", () => issueOf(channel, "rejoined"));
  assert(issueOf(channel, "withheld_commit"));
  await allAgree(alice, bob, carol, dave);
});

Deno.test("a Welcome in the name of somebody that the asker has not met is reported, and the asker tries the next", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const stranger = await stage.actor("stranger");
  let welcomes = 0;
  bob.session.tampering.notice = (notice) => {
    if (notice.operation === "DeliverCommit" && welcomes === 0) return [];
    if (notice.operation !== "DeliverWelcome" || welcomes++ > 0) return [notice];
    return [{ ...notice, body: { ...notice.body, sender: stranger.client.agentId } }];
  };
  await (await alice.inside()).commit();
  await alice.manager.send(name, "lost to bob");
  const channel = await bob.channel();
  await until("bob is back", () => issueOf(channel, "rejoined"));
  assert(issueOf(channel, "refused_welcome"));
  await allAgree(alice, bob, carol);
});

Deno.test("an agent that was let in and removed does not come back by a log that the relay sets back, and a rejoin", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await alice.channel();
  const { id: channelId } = channel;
  // The relay tells alice that it has taken her commits, by which mallory comes and goes. The log
  // has none of them.
  let welcome: Uint8Array | undefined;
  alice.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit") return forward();
    const sent = body as RequestBody<"SendCommit">; // cast: of this operation
    welcome ??= sent.welcomes[0]?.welcome;
    const reply = {
      sequence: 90 + sent.epoch,
      epoch: sent.epoch + 1,
      commitHash: sha256(sent.commit),
      timeMs: 0,
    };
    return Promise.resolve({ ...reply, duplicate: false });
  };
  for (let made = 0; made < 4; made++) await (await alice.inside()).commit();
  const mallory = await createMallory(stage);
  await channel.addMember(mallory.own.message);
  assert(welcome);
  const own = await readyToJoin(welcome, mallory.own, portableSignatures);
  const group = Group.join(welcome, own, mallory.deps, {
    name: parseChannelName(name),
    channelId,
  });
  await channel.removeMember(mallory.agentId);
  // Bob, who saw nothing of it, lets her in again, into an earlier epoch.
  alice.session.tampering = {};
  await (await bob.inside()).commit();
  await until("alice is back", () => issueOf(channel, "rejoined"));
  assert((await alice.inside()).epoch < group.epoch);
  // She is told to ask once more, and mallory answers with what alice signed about her.
  alice.session.tampering.call = async (operation, body, forward) => {
    if (operation !== "RequestRejoin") return forward();
    // cast: of this operation
    const { keyPackage, generation } = body as RequestBody<"RequestRejoin">;
    const change = { remove: [alice.client.agentId], add: [decodeKeyPackageMessage(keyPackage)] };
    const answer = group.prepare(change);
    assert(answer.welcome);
    const place = {
      sequence: 99,
      epoch: answer.epoch + 1,
      joinedSequence: 99,
      timeMs: 0,
      generation,
    };
    const told = {
      channelId,
      ...place,
      sender: mallory.agentId,
      welcome: answer.welcome,
      name: parseChannelName(name),
    };
    alice.session.inject({ kind: "notice", operation: "DeliverWelcome", body: told });
    alice.session.tampering = {};
    return await forward();
  };
  const lapsed = { channelId, reason: "lapsed", sequence: 9, timeMs: 0 } as const;
  alice.session.inject({ kind: "notice", operation: "DeliverChannelEnd", body: lapsed });
  await until("alice has refused mallory's Welcome", () => issueOf(channel, "refused_welcome"));
  const text = channel.health().issues.find(({ kind }) => kind === "refused_welcome")?.text;
  assert(text?.includes("has not met"), text);
  await until("bob has let her in", () => issueCount(channel, "rejoined") === 2);
  await allAgree(alice, bob);
});

Deno.test("leaves that an agent did not make, or that are of another group, change nothing in its request", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const { id: channelId } = await bob.channel();
  const asked: RequestBody<"RequestRejoin">[] = [];
  const inside = await bob.inside();
  const wrong = [alice, carol].map(({ client }) =>
    inside.leafOf(client.agentId)?.leaf.encoded ?? new Uint8Array(1)
  );
  bob.session.tampering.call = (operation, body, forward) => {
    if (operation !== "RequestRejoin") return forward();
    asked.push(body as RequestBody<"RequestRejoin">); // cast: of this operation
    const requestId = binaryIdFromBytes<JoinRequestId>(new Uint8Array(16));
    for (const leafNode of [...wrong, Uint8Array.of(1, 2, 3)]) {
      const told = { channelId, requestId, sender: carol.client.agentId, leafIndex: 1, leafNode };
      bob.session.inject({ kind: "notice", operation: "DeliverLeaf", body: told });
    }
    return forward();
  };
  const lapsed = { channelId, reason: "lapsed", sequence: 9, timeMs: 0 } as const;
  bob.session.inject({ kind: "notice", operation: "DeliverChannelEnd", body: lapsed });
  await until("bob is back", async () => issueOf(await bob.channel(), "rejoined"));
  assertEquals(asked.length, 1);
  await allAgree(alice, bob, carol);
});

Deno.test("a relay that withholds a commit once is asked again, and the channel goes on", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  let withheld = 0;
  bob.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverCommit" || withheld++ > 0) return [notice];
    return [];
  };
  const carol = await stage.actor("carol");
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await alice.manager.send(name, "in the new epoch");
  assertEquals(await read(await bob.channel(), 1), ["in the new epoch"]);
  await allAgree(alice, bob, carol);
});

Deno.test("a relay that withholds a commit for good is found out, and the member rejoins", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  const { epoch } = channel.health();
  bob.session.tampering.notice = (notice) =>
    notice.operation === "DeliverCommit" && notice.body.epoch === epoch ? [] : [notice];
  const carol = await stage.actor("carol");
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await alice.manager.send(name, "lost to bob");
  await until("bob has joined anew", () => issueOf(channel, "rejoined"));
  assert(issueOf(channel, "withheld_commit"));
  await allAgree(alice, bob, carol);
  await alice.manager.send(name, "heard again");
  assertEquals(await read(channel, 1), ["heard again"]);
  await channel.send("and answered");
  assertEquals(await read(await carol.channel(), 3), [
    "lost to bob",
    "heard again",
    "and answered",
  ]);
  assertEquals(channel.health().state, "ok");
});

Deno.test("two members that a relay leads apart never read each other wrongly, and find out", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  const dave = await stage.actor("dave");
  const keyPackage = await dave.client.generateKeyPackage();
  // Bob is told that his commit was taken; the log has another one of that epoch.
  bob.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit") return forward();
    const { epoch } = body as RequestBody<"SendCommit">;
    return Promise.resolve({
      sequence: 99,
      epoch: epoch + 1,
      commitHash: new Uint8Array(32),
      timeMs: 0,
      duplicate: false,
    });
  };
  await channel.addMember(keyPackage);
  bob.session.tampering = {};
  const carol = await stage.actor("carol");
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await until("bob has found out", () => issueOf(channel, "relay_lied"));
  for (const text of ["one", "two"]) await alice.manager.send(name, text);
  await until("bob has joined anew", () => issueOf(channel, "rejoined"));
  await allAgree(alice, bob, carol);
  await alice.manager.send(name, "after");
  const heard = await read(channel, 1);
  assert(heard.every((text) => ["one", "two", "after"].includes(text)), `${heard}`);
});

Deno.test("a member that was absent too long is let in again by itself, and says what it missed", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await bob.stop();
  const carol = await stage.actor("carol");
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await Promise.all([alice.stop(), carol.stop()]);
  for (let day = 0; day < 31; day++) await stage.world.time.leap(24 * 60 * 60 * 1000);
  await Promise.all([alice.start(), carol.start()]);
  await alice.manager.send(name, "is bob still with us?");
  await until("the relay has given bob up", () => stage.world.meter.membersLapsed > 0);
  await bob.start();
  const channel = await bob.channel();
  await until("bob has joined anew", () => issueOf(channel, "rejoined"));
  await allAgree(alice, bob, carol);
  await alice.manager.send(name, "welcome back");
  assertEquals(await read(channel, 1), ["welcome back"]);
});

/** The relay says that it took the next commit of this agent, and forgets it. */
function forgetNextCommit({ session }: Actor): void {
  let forgotten = false;
  session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit" || forgotten) return forward();
    forgotten = true;
    const { epoch, commit } = body as RequestBody<"SendCommit">; // cast: of this operation
    return Promise.resolve({
      sequence: 99,
      epoch: epoch + 1,
      commitHash: sha256(commit),
      timeMs: 0,
      duplicate: false,
    });
  };
}

Deno.test("an owner whose commit the relay took and forgot notices it with the next connection, and puts it back", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  forgetNextCommit(alice);
  await (await alice.channel()).removeMember(carol.client.agentId);
  await alice.restart();
  const channel = await alice.channel();
  await until("her commit is put back", () => issueOf(channel, "log_set_back"));
  await allAgree(alice, bob);
  assertEquals(channel.members().length, 2, "carol is removed after all");
});

Deno.test("an owner in whose place the relay took another commit, and withheld it, notices it with the next connection", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  forgetNextCommit(alice);
  const inside = await alice.inside();
  await inside.commit();
  alice.session.tampering.notice = (notice) => notice.operation === "DeliverCommit" ? [] : [notice];
  await (await bob.inside()).commit();
  // She reads on behind the commit that she was not told of.
  await bob.manager.send(name, "in another group than hers");
  await until("alice has passed it", async () => issueOf(await alice.channel(), "relay_lied"));
  await alice.restart();
  const channel = await alice.channel();
  await until("alice has joined anew", () => issueOf(channel, "rejoined"));
  assert(issueOf(channel, "relay_lied"));
  await allAgree(alice, bob, carol);
});

Deno.test("an agent whose first commit the relay took and forgot comes back with the leaf that it joined with", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await bob.channel();
  forgetNextCommit(bob);
  await alice.stop();
  await (await carol.channel()).leave();
  // A removal renews bob's leaf; that of the group is still the one of his KeyPackage.
  await until("bob believes that he has removed carol", () => channel.members().length === 2);
  await alice.start();
  await until("bob has joined anew", () => issueOf(channel, "rejoined"));
  await allAgree(alice, bob);
  assertEquals(channel.members().length, 2);
});

Deno.test("a place in the log that the relay makes up is left behind: what comes later is read", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await alice.channel();
  const body = {
    channelId: channel.id,
    firstSequence: 2,
    lastSequence: 6,
    messages: 2,
    reason: "age" as const,
  };
  alice.session.inject({ kind: "notice", operation: "DeliverGap", body });
  // Her own commit is at a place that she believes to have passed.
  const carol = await stage.actor("carol");
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, carol);
  for (let sent = 0; sent < 8; sent++) await bob.manager.send(name, `${sent}`);
  assertEquals((await read(channel, 2)).length, 2);
  await bob.manager.send(name, "last");
  await until("alice has the last", async () => {
    for (;;) if ((await read(channel, 1))[0] === "last") return true;
  });
  assertEquals(channel.health().state, "ok");
});

Deno.test("a commit that the relay made a reader pass over is found out with the next connection, though nothing follows it", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await bob.channel();
  const body = {
    channelId: channel.id,
    firstSequence: 3,
    lastSequence: 4,
    messages: 1,
    reason: "age" as const,
  };
  const { store } = bob.agent.parts;
  const place = await store.get(factsKind(channel.id), "position");
  bob.session.inject({ kind: "notice", operation: "DeliverGap", body });
  await until(
    "it is believed",
    async () => String(await store.get(factsKind(channel.id), "position")) !== String(place),
  );
  const { epoch } = channel.health();
  for (const actor of [alice, carol]) {
    await (await actor.channel()).addMember(
      await (await stage.actor(`by ${actor.label}`)).client.generateKeyPackage(),
    );
    await allAgree(alice, carol);
  }
  assertEquals(channel.health().epoch, epoch, "bob believes to have read what came there");
  await bob.restart();
  await until("bob has joined anew", async () => issueOf(await bob.channel(), "rejoined"));
  assert(issueOf(await bob.channel(), "withheld_commit"));
  await allAgree(alice, bob, carol);
});

Deno.test("a relay that refuses a request to come back, for whatever reason, blocks nobody", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await bob.channel();
  const codes = ["not_allowed", "auth_failed", "invalid_request"];
  bob.session.tampering.call = (operation, _, forward) => {
    const code = operation === "RequestRejoin" ? codes.shift() : undefined;
    return code === undefined ? forward() : Promise.reject(errorFromRelay({ code, message: "no" }));
  };
  const body = { channelId: channel.id, sequence: 9, timeMs: 0, reason: "lapsed" as const };
  bob.session.inject({ kind: "notice", operation: "DeliverChannelEnd", body });
  await until("bob has joined anew", () => issueOf(channel, "rejoined"));
  assertEquals(codes, []);
  await allAgree(alice, bob, carol);
});

Deno.test("a relay that takes a commit and says that another one was first leaves nobody behind", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  alice.session.tampering.call = async (operation, _, forward) => {
    const reply = await forward();
    if (operation !== "SendCommit") return reply;
    throw errorFromRelay({ code: "epoch_conflict", message: "Another commit was first", epoch: 2 });
  };
  const channel = await alice.channel();
  await channel.removeMember(bob.client.agentId);
  assertEquals(channel.members().map(({ agentId }) => agentId), [alice.client.agentId]);
  await until("alice is in step", () => channel.health().state === "ok");
  assert(issueOf(channel, "relay_lied"));
});

Deno.test("a member to whom the relay shows a removal that its log does not hold finds out by the commit of the removed one", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  let removal: RequestBody<"SendCommit"> | undefined;
  alice.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit" || removal !== undefined) return forward();
    removal = body as RequestBody<"SendCommit">; // cast: of this operation
    return Promise.reject(
      errorFromRelay({ code: "not_allowed", message: "The relay keeps it for itself" }),
    );
  };
  await assertRejects(
    async () => await (await alice.channel()).removeMember(bob.client.agentId),
    StaticError,
  );
  let shown = 0;
  carol.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverCommit" || removal === undefined || shown++ > 0) {
      return [notice];
    }
    const { welcomes: _, answers: __, ...declared } = removal;
    return [{ ...notice, body: { ...notice.body, ...declared } }];
  };
  for (const actor of [alice, bob]) {
    await (await actor.inside()).commit();
    await allAgree(alice, bob);
  }
  const channel = await carol.channel();
  await until("carol is back", () => issueOf(channel, "rejoined"));
  await allAgree(alice, bob, carol);
});
