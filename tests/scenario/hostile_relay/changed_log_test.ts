/**
 * A relay that changes the log for one reader, alone or together with a member that was removed:
 * what is shown was sent by a member while it was one, and what is made up neither stops a reader
 * nor makes it rejoin.
 */
import { assert, assertEquals } from "@std/assert";
import { binaryIdToBytes, type NoticeBody, type NoticeEnvelope } from "../../../proto/mod.ts";
import type { Channel, IssueKind } from "../../../sdk/mod.ts";
import { HostileMember } from "../../../sdk/testing/hostile_member.ts";
import { createPrivateMessage } from "../../support/mls.ts";
import { signedBy } from "../../support/scenario/bad_commits.ts";
import type { Tampering } from "../../support/scenario/memory_session.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

const saw = (channel: Channel, wanted: IssueKind): boolean =>
  channel.health().issues.some(({ kind }) => kind === wanted);

const isOut = (channel: Channel, { client }: Actor): boolean =>
  !channel.members().some(({ agentId }) => agentId === client.agentId);

type Entry = NoticeEnvelope & { readonly body: { readonly sequence: number } };
type Message = Pick<
  NoticeBody<"DeliverMessage">,
  "channelId" | "epoch" | "messageId" | "ciphertext"
>;

function isEntry(notice: NoticeEnvelope): notice is Entry {
  return ["DeliverMessage", "DeliverCommit", "DeliverLeave"].includes(notice.operation);
}

interface Insertion {
  readonly tampering: Tampering;
  readonly done: () => boolean;
}

/**
 * Puts a message into an agent's log, before the first entry that `before` picks; everything behind
 * it moves on.
 */
function insertion(message: Message, sender: Actor, before: (entry: Entry) => boolean): Insertion {
  let at: number | undefined;
  const notice = (notice: NoticeEnvelope): NoticeEnvelope[] => {
    if (!isEntry(notice)) return [notice];
    const { sequence } = notice.body;
    const isFirst = at === undefined && before(notice);
    if (isFirst) at = sequence;
    // cast: the same notice, with another sequence
    const moved = { ...notice, body: { ...notice.body, sequence: sequence + 1 } } as NoticeEnvelope;
    const body = { ...message, sequence, sender: sender.client.agentId, timeMs: 0 };
    const inserted: NoticeEnvelope = { kind: "notice", operation: "DeliverMessage", body };
    return isFirst ? [inserted, moved] : at === undefined || sequence < at ? [notice] : [moved];
  };
  return { tampering: { notice }, done: () => at !== undefined };
}

const removes = (actor: Actor) => ({ operation, body }: Entry): boolean =>
  operation === "DeliverCommit" && "removed" in body && body.removed.includes(actor.client.agentId);

Deno.test("a message that a removed member sealed under its last epoch is not shown to a reader in step", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await bob.manager.send(name, "as a member");
  const hostile = await HostileMember.of(bob.agent, name);
  const late = await hostile.counted(2, "as a ghost");
  const channel = await carol.channel();
  await until("carol has the first", () => channel.health().unread === 1);
  await (await alice.channel()).removeMember(bob.client.agentId);
  await until("carol knows", () => isOut(channel, bob));
  const ghost = insertion(late, bob, ({ operation }) => operation === "DeliverMessage");
  carol.session.tampering = ghost.tampering;
  await alice.manager.send(name, "bob is out");
  assertEquals(await read(channel, 2), ["as a member", "bob is out"]);
  assert(ghost.done() && saw(channel, "relay_lied"));
  assertEquals(channel.health().state, "ok");
});

Deno.test("a message that a removed member adds to a part of the log that is read again is not shown", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await bob.manager.send(name, "as a member");
  const hostile = await HostileMember.of(bob.agent, name);
  const late = await hostile.counted(2, "as a ghost");
  await (await alice.channel()).removeMember(bob.client.agentId);
  await until("carol knows", async () => isOut(await carol.channel(), bob));
  await carol.stop();
  const ghost = insertion(late, bob, removes(bob));
  await carol.start(ghost.tampering);
  await alice.manager.send(name, "bob is out");
  const channel = await carol.channel();
  assertEquals(await read(channel, 2), ["as a member", "bob is out"]);
  assert(ghost.done() && saw(channel, "spoke_after_removal"));
});

Deno.test("nor what a member adds there that was silenced by a policy", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await bob.manager.send(name, "while I may");
  const hostile = await HostileMember.of(bob.agent, name);
  const late = await hostile.counted(2, "as a ghost");
  await (await alice.channel()).setPolicy({ posting: "owners" });
  await allAgree(alice, bob, carol);
  await carol.stop();
  const ghost = insertion(late, bob, ({ operation }) => operation === "DeliverCommit");
  await carol.start(ghost.tampering);
  await alice.manager.send(name, "bob listens");
  const channel = await carol.channel();
  assertEquals(await read(channel, 2), ["while I may", "bob listens"]);
  assert(ghost.done() && saw(channel, "spoke_after_removal"));
});

Deno.test("nor to the owner that removed it, whose own commit the relay does not deliver", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await bob.manager.send(name, "as a member");
  const hostile = await HostileMember.of(bob.agent, name);
  const late = await hostile.counted(2, "as a ghost");
  await (await alice.channel()).removeMember(bob.client.agentId);
  await carol.manager.send(name, "bob is out");
  await until("alice has both", async () => (await alice.channel()).health().unread === 2);
  await alice.stop();
  const ghost = insertion(
    late,
    bob,
    ({ body }) => "sender" in body && body.sender === carol.client.agentId,
  );
  await alice.start(ghost.tampering);
  const channel = await alice.channel();
  assertEquals(await read(channel, 2), ["as a member", "bob is out"]);
  assert(ghost.done() && saw(channel, "relay_lied"));
  assertEquals(channel.health().state, "ok");
});

Deno.test("nor where the owner's own messages leave room for it before its commit", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await bob.manager.send(name, "as a member");
  const hostile = await HostileMember.of(bob.agent, name);
  const late = await hostile.counted(2, "as a ghost");
  await alice.manager.send(name, "a word before it");
  await (await alice.channel()).removeMember(bob.client.agentId);
  await carol.manager.send(name, "bob is out");
  await until("alice has both", async () => (await alice.channel()).health().unread === 2);
  await alice.stop();
  let inserted = 0;
  await alice.start({
    notice: (notice) => {
      if (notice.operation !== "DeliverMessage" || notice.body.sender !== bob.client.agentId) {
        return [notice];
      }
      inserted++;
      const { sender, timeMs, sequence } = notice.body;
      return [notice, { ...notice, body: { ...late, sender, timeMs, sequence: sequence + 1 } }];
    },
  });
  const channel = await alice.channel();
  assertEquals(await read(channel, 2), ["as a member", "bob is out"]);
  assert(inserted === 1 && saw(channel, "spoke_after_removal"));
});

Deno.test("nor where messages were passed over because nobody read them", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const megabyte = new Uint8Array(1024 * 1024);
  for (let sent = 0; sent < 9; sent++) await bob.manager.send(name, megabyte);
  const hostile = await HostileMember.of(bob.agent, name);
  const late = await hostile.counted(10, "as a ghost");
  await (await alice.channel()).removeMember(bob.client.agentId);
  const channel = await carol.channel();
  await until("carol knows", () => isOut(channel, bob));
  assertEquals(channel.health().unread, 8, "one was passed over");
  const ghost = insertion(late, bob, removes(bob));
  carol.session.tampering = ghost.tampering;
  await alice.manager.send(name, "bob is out");
  const heard = await read(channel, 10);
  assertEquals(heard.map((text) => text.length), [
    ...Array(9).fill(1024 * 1024),
    "bob is out".length,
  ]);
  assert(ghost.done() && saw(channel, "spoke_after_removal"));
});

Deno.test("an entry that is delivered after a later one is not looked at", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  let first: NoticeEnvelope | undefined;
  bob.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverMessage") return [notice];
    first ??= notice;
    return [notice, first];
  };
  for (const text of ["one", "two"]) await alice.manager.send(name, text);
  assertEquals(await read(channel, 2), ["one", "two"]);
  assert(saw(channel, "relay_lied"));
  assertEquals(channel.health().state, "ok");
});

Deno.test("an epoch that the relay makes up is found out, and makes nobody rejoin", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  bob.session.tampering.notice = (notice) =>
    notice.operation === "DeliverMessage" && notice.body.sequence === 2
      ? [{ ...notice, body: { ...notice.body, epoch: notice.body.epoch + 1 } }]
      : [notice];
  for (const text of ["one", "two"]) await alice.manager.send(name, text);
  assertEquals(await read(channel, 1), ["two"]);
  assert(saw(channel, "relay_lied") && !saw(channel, "rejoined"));
  assertEquals(channel.health().state, "ok");
});

Deno.test("a relay that changes what belongs to a commit is asked again until it tells the truth, and nobody rejoins", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  let lies = 3;
  bob.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverCommit" || lies-- <= 0) return [notice];
    const commit = notice.body.commit.slice();
    // The last byte of the epoch in the clear header: version, format, group id, epoch.
    commit[28] = (commit[28] ?? 0) ^ 1;
    return [{ ...notice, body: { ...notice.body, commit } }];
  };
  const carol = await stage.actor("carol");
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, carol);
  assert(lies < 0 && saw(channel, "relay_lied") && !saw(channel, "rejoined"));
  assertEquals(channel.health().state, "ok");
});

Deno.test("a message that the relay puts behind a commit, under the epoch that this began, is not shown", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const [channel, inside] = [await bob.channel(), await alice.inside()];
  let early: (NoticeEnvelope & { readonly operation: "DeliverMessage" }) | undefined;
  bob.session.tampering.notice = (notice) => {
    if (notice.operation === "DeliverMessage") early ??= notice;
    if (early === undefined || !isEntry(notice)) return [notice];
    const { sequence, epoch } = early.body;
    if (notice.body.sequence === sequence) return [];
    if (notice.operation !== "DeliverCommit" || notice.body.sequence !== sequence + 1) {
      return [notice];
    }
    const late = { ...early.body, sequence: sequence + 1, epoch: epoch + 1 };
    return [{ ...notice, body: { ...notice.body, sequence } }, { ...early, body: late }];
  };
  await alice.manager.send(name, "before");
  await inside.commit();
  await alice.manager.send(name, "after");
  assertEquals(await read(channel, 1), ["after"]);
  assert(saw(channel, "relay_lied") && !saw(channel, "rejoined"));
  assertEquals(channel.health().state, "ok");
});

Deno.test("a member that signs a commit for another epoch than the log has there, and the relay, stop nobody", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await alice.channel();
  const { channelId, epoch } = await carol.inside();
  const other = createPrivateMessage({
    groupId: binaryIdToBytes(channelId),
    epoch: epoch + 1,
    contentType: 3,
  });
  const { welcomes: _, answers: __, ...signed } = await signedBy(carol, other);
  let lies = 0;
  alice.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverCommit" || lies === 3) return [notice];
    lies++;
    return [{
      ...notice,
      body: { ...signed, sequence: notice.body.sequence, sender: carol.client.agentId, timeMs: 0 },
    }];
  };
  await (await bob.inside()).commit();
  await allAgree(alice, bob, carol);
  assert(lies === 3 && saw(channel, "relay_lied") && !saw(channel, "refused_commit"));
  assertEquals(channel.health().state, "ok");
});

Deno.test("messages around commits of ours are read after a restart, each under its epoch", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const expected: string[] = [];
  const say = async (): Promise<void> => {
    expected.push(`message ${expected.length}`);
    await bob.manager.send(name, expected.at(-1) ?? "");
  };
  await say();
  for (const label of ["carol", "dave", "erin"]) {
    const guest = await stage.actor(label);
    await guest.manager.joinWithToken(name, await alice.manager.invite(name));
    await allAgree(alice, bob, guest);
    await say();
    await say();
  }
  await until(
    "alice has them",
    async () => (await alice.channel()).health().unread === expected.length,
  );
  assertEquals(await read(await alice.channel(), 2), expected.slice(0, 2));
  for (const again of [() => alice.restart(), () => alice.crash()]) {
    await again();
    const channel = await alice.channel();
    await until("alice has the rest", () => channel.health().unread === expected.length - 2);
    assertEquals(channel.health().issues, []);
  }
  assertEquals(await read(await alice.channel(), expected.length - 2), expected.slice(2));
  assertEquals((await alice.channel()).health().issues, []);
});

Deno.test("a place that the relay made up is given up with the next connection, and makes nobody rejoin", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await alice.manager.send(name, "before");
  const channel = await bob.channel();
  assertEquals(await read(channel, 1), ["before"]);
  await until("it is acknowledged", async () => {
    const cursors = await stage.world.engine.cursors(channel.id);
    return (cursors.get(bob.client.agentId)?.acknowledged ?? 0) > 1;
  });
  const inside = await bob.inside();
  const { channelId, epoch } = inside;
  const body = { channelId, sequence: 500, epoch, agentId: alice.client.agentId, timeMs: 0 };
  bob.session.inject({ kind: "notice", operation: "DeliverLapse", body });
  await until("bob has heard it", () => inside.lapsed.length === 1);
  bob.session.disconnect();
  await bob.session.connect();
  await alice.manager.send(name, "after");
  assertEquals(await read(channel, 1), ["after"]);
  for (const kind of ["store_unproven", "rejoined"] as const) assert(!saw(channel, kind), kind);
});
