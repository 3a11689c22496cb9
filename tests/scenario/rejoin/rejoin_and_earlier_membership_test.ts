/**
 * Members that left, were removed or lost step come back: facts about the earlier membership say
 * nothing about this one.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  binaryIdFromBytes,
  inviteIdOf,
  joinMac,
  type JoinRequestId,
  type NoticeBody,
  parseChannelName,
  parseInviteToken,
  type RequestBody,
} from "../../../proto/mod.ts";
import { type IssueKind, MlsError } from "../../../sdk/mod.ts";
import { allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

Deno.test("messages of a member that came back are shown after a restart of their reader", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  for (const text of ["one", "two", "three"]) await carol.manager.send(name, text);
  assertEquals(await read(await bob.channel(), 3), ["one", "two", "three"]);
  const channel = await alice.channel();
  await channel.removeMember(carol.client.agentId);
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, carol);
  await bob.restart();
  await carol.manager.send(name, "here again");
  assertEquals(await read(await bob.channel(), 1, 10_000), ["here again"]);
});

Deno.test("a Welcome that a relay repeats does not start an epoch again whose keys were used", async () => {
  await using stage = await Stage.open();
  const [alice, bob] = [await stage.actor("alice"), await stage.actor("bob")];
  // A relay can hand out a last resort whenever it likes, and its private keys stay after a use.
  let lastResort: Uint8Array | undefined;
  bob.session.tampering.call = (operation, body, forward) => {
    if (operation === "UploadKeyPackage") {
      lastResort = (body as RequestBody<"UploadKeyPackage">).lastResort;
    }
    return forward();
  };
  const low = { remaining: 1, wanted: 0, hasLastResort: false };
  bob.session.inject({ kind: "notice", operation: "KeyPackagesLow", body: low });
  await until("bob has given his last resort", () => lastResort !== undefined);
  const channel = await alice.manager.create(name);
  assert(lastResort);
  const welcome = await channel.addMember(lastResort);
  const joined = await bob.client.joinChannel(name, welcome);
  await joined.send("under the first key of this epoch");
  await joined.leave();
  await assertRejects(
    () => bob.client.joinChannel(name, welcome),
    MlsError,
    "followed the Welcome before",
  );
  assertEquals(bob.client.channels, []);
});

Deno.test("a request that was answered just before a crash lets in nobody that was removed after it", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const heard: NoticeBody<"DeliverJoinRequest">[] = [];
  alice.session.tampering.notice = (notice) => {
    if (notice.operation === "DeliverJoinRequest") heard.push(notice.body);
    return [notice];
  };
  const carol = await stage.actor("carol");
  // Alice's process dies with the relay's answer to the commit that adds carol: whatever would be
  // noted after it is not.
  let taken = false;
  alice.session.tampering.call = async (operation, _, forward) => {
    const reply = await forward();
    if (operation !== "SendCommit") return reply;
    taken = true;
    return await new Promise<never>(() => {});
  };
  const joining = carol.manager.joinWithToken(name, await alice.manager.invite(name, { uses: 2 }));
  await until("the relay has the commit", () => taken);
  await alice.crash();
  await joining;
  await allAgree(alice, bob, carol);
  const channel = await alice.channel();
  await channel.removeMember(carol.client.agentId);
  const [request] = heard;
  assert(request);
  const requestId = binaryIdFromBytes<JoinRequestId>(crypto.getRandomValues(new Uint8Array(16)));
  alice.session.inject({
    kind: "notice",
    operation: "DeliverJoinRequest",
    body: { ...request, requestId },
  });
  await until(
    "it is refused",
    () => channel.health().issues.some(({ kind }) => kind === "refused_join"),
    10_000,
  );
  assertEquals(channel.members().length, 2);
});

Deno.test("who was removed and comes back does not let in the guests of its earlier invites", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const token = await bob.manager.invite(name);
  const { secret, channelId, inviter } = parseInviteToken(token);
  await (await alice.channel()).removeMember(bob.client.agentId);
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob);
  // The relay has forgotten the invite; one that lies delivers the request all the same.
  const mallory = await stage.actor("mallory");
  const keyPackage = await mallory.client.generateKeyPackage();
  const body = {
    requestId: binaryIdFromBytes<JoinRequestId>(crypto.getRandomValues(new Uint8Array(16))),
    channelId,
    inviteId: inviteIdOf(secret),
    agentId: mallory.client.agentId,
    keyPackage,
    mac: joinMac(secret, { channelId, name: parseChannelName(name), inviter, keyPackage }),
    expiresAtMs: Date.now() + 60_000,
  };
  bob.session.inject({ kind: "notice", operation: "DeliverJoinRequest", body });
  const channel = await bob.channel();
  await until(
    "it is refused",
    () => channel.health().issues.some(({ kind }) => kind === "refused_join"),
    10_000,
  );
  assertEquals(channel.members().length, 2);
});

Deno.test("who rejoins by the word of a member that owns nothing does not show a known identity with a new key", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol] = await stage.channelOf(3);
  assert(alice && bob && carol);
  const channel = await bob.channel();
  const saw = (wanted: IssueKind): boolean =>
    channel.health().issues.some(({ kind }) => kind === wanted);
  let welcomes = 0;
  bob.session.tampering.notice = (notice) => {
    if (notice.operation === "DeliverWelcome") welcomes++;
    return notice.operation === "DeliverCommit" && welcomes === 0 ? [] : [notice];
  };
  // Dave has lost his disk: he comes back with another key, by the owner's word, of which bob never
  // hears.
  const dave = await stage.actor("dave");
  const [former] = (await alice.channel()).members().filter(({ identity }) => identity === "dave");
  assert(former);
  await dave.manager.joinWithToken(
    name,
    await alice.manager.invite(name, { replaces: former.agentId }),
  );
  await allAgree(alice, carol, dave);
  await alice.stop();
  await carol.manager.send(name, "without alice");
  await until("bob was let in again by carol", () => saw("rejoined"));
  assert(saw("key_changed"));
  await allAgree(bob, carol, dave);
  await dave.manager.send(name, "hidden from bob");
  await carol.manager.send(name, "shown to all");
  assertEquals(await read(await carol.channel(), 1), ["hidden from bob"]);
  assertEquals(await read(channel, 1), ["shown to all"]);
  await bob.restart();
  await dave.manager.send(name, "hidden from bob after a restart");
  await carol.manager.send(name, "shown to all again");
  assertEquals(await read(await bob.channel(), 1), ["shown to all again"]);
  await alice.start();
  const owned = await alice.channel();
  await owned.removeMember(dave.client.agentId);
  await until("dave has noticed", () => dave.client.channels.length === 0);
  await dave.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, carol, dave);
  await dave.manager.send(name, "vouched for");
  assertEquals(await read(await bob.channel(), 1), ["vouched for"]);
});

Deno.test("a note that an earlier membership is being erased does not outlive a new one, which is there after a restart", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const { id } = await alice.channel();
  const carol = await stage.actor("carol");
  await carol.agent.parts.store.put("erasing", id, Uint8Array.of(1));
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await carol.restart();
  assertEquals((await carol.channel()).members().length, 3);
});
