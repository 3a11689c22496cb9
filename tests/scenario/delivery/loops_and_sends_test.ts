import { assert, assertEquals, assertRejects } from "@std/assert";
import { ChannelError, StaticError, TransportError } from "../../../sdk/mod.ts";
import { createError, errorFromRelay } from "../../../sdk/testing/agents.ts";
import { allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

const decode = (payload: Uint8Array | undefined): string => new TextDecoder().decode(payload);

Deno.test("a message that the loop did not ask past comes again after a crash, one that it did does not", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  for (const text of ["one", "two", "three"]) await alice.manager.send(name, text);
  const channel = await bob.channel();
  const reader = channel.messages();
  assertEquals(decode((await reader.next()).value ?? undefined), "one");
  assertEquals(decode((await reader.next()).value ?? undefined), "two");
  await until("one is written", () => channel.health().unread === 2);
  await bob.crash();
  assertEquals(await read(await bob.channel(), 2), ["two", "three"]);
});

Deno.test("each of several loops sees everything from its start, and the slowest acknowledges", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  const [fast, slow] = [channel.messages(), channel.messages()];
  const first = [fast.next(), slow.next()];
  await alice.manager.send(name, "one");
  assertEquals((await Promise.all(first)).map(({ value }) => decode(value ?? undefined)), [
    "one",
    "one",
  ]);
  await alice.manager.send(name, "two");
  assertEquals(decode((await fast.next()).value ?? undefined), "two");
  assertEquals(channel.health().unread, 2, "the slow loop has not asked past the first");
  assertEquals(decode((await slow.next()).value ?? undefined), "two");
  await until("the first is done with", () => channel.health().unread === 1);
  await Promise.all([fast.return(), slow.return()]);
});

Deno.test("a loop ends quietly with its signal, and the channel goes on", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  const stop = new AbortController();
  const loop = (async () => {
    for await (const _ of channel.messages({ signal: stop.signal }));
  })();
  stop.abort();
  await loop;
  await alice.manager.send(name, "still here?");
  assertEquals(await read(channel, 1), ["still here?"]);
  await channel.send("yes");
  assertEquals(await read(await alice.channel(), 1), ["yes"]);
});

Deno.test("receive() answers one message at a time, undefined when none comes, and close() acknowledges the last", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  assertEquals(await bob.manager.receive(name, { timeoutMs: 20 }), undefined);
  await alice.manager.send(name, "one");
  await alice.manager.send(name, "two");
  assertEquals(decode(await bob.manager.receive(name, { timeoutMs: 60_000 })), "one");
  await bob.restart();
  assertEquals(decode(await bob.manager.receive(name, { timeoutMs: 60_000 })), "two");
  for await (const { payload, sender } of bob.manager.receiveEnvelopes(name)) {
    assertEquals(
      [decode(payload), sender.agentId],
      ["two", alice.client.agentId],
      "it was not acknowledged yet",
    );
    break;
  }
});

Deno.test("a channel opened only to send acknowledges at once and shows nothing", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  const bob = await stage.actor("bob");
  const channel = await alice.client.createChannel(name);
  const welcome = await channel.addMember(await bob.client.generateKeyPackage());
  const sender = await bob.client.joinChannel(name, welcome, { receive: false });
  await channel.send("nobody reads this");
  await sender.send("I only send");
  assertEquals(await read(channel, 1), ["I only send"]);
  await bob.restart();
  await channel.send("now somebody does");
  assertEquals(await read(await bob.channel(), 1), ["now somebody does"]);
});

Deno.test("messages beyond what memory may hold are fetched later, while commits go on", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  const payload = new Uint8Array(900 * 1024);
  for (let i = 0; i < 12; i++) await alice.manager.send(name, payload.fill(i + 1));
  const carol = await stage.actor("carol");
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, carol);
  assert(channel.health().unread < 12, "not all are in memory");
  await channel.send("bob follows commits though he does not read");
  const firsts: number[] = [];
  for await (const message of channel.messages()) {
    firsts.push(message[0] ?? 0);
    if (firsts.length === 12) break;
  }
  assertEquals(firsts, Array.from({ length: 12 }, (_, i) => i + 1));
});

Deno.test("a send whose reply is lost is sent again under its id, and arrives once", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  alice.session.loseReplies = 1;
  await alice.manager.send(name, "once");
  await alice.manager.send(name, "then");
  assertEquals(await read(await bob.channel(), 2), ["once", "then"]);
  assertEquals((await bob.channel()).health().missing, []);
});

Deno.test("a commit whose reply is lost is found in the log and followed", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const carol = await stage.actor("carol");
  const keyPackage = await carol.client.generateKeyPackage();
  alice.session.loseReplies = 1;
  const welcome = await (await alice.channel()).addMember(keyPackage);
  await carol.client.joinChannel(name, welcome);
  await allAgree(alice, bob, carol);
});

Deno.test("a commit that was taken just before a crash is followed after it", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const carol = await stage.actor("carol");
  const keyPackage = await carol.client.generateKeyPackage();
  const { promise: taken, resolve } = Promise.withResolvers<void>();
  alice.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    if (operation !== "SendCommit") return reply;
    resolve();
    return await new Promise(() => {});
  };
  void (await alice.channel()).addMember(keyPackage).catch(() => {});
  await taken;
  await alice.crash();
  await until("carol's Welcome has arrived", () => carol.client.welcomes.includes(name));
  await carol.client.joinChannel(name);
  await allAgree(alice, bob, carol);
  await alice.manager.send(name, "after the crash");
  assertEquals(await read(await bob.channel(), 1), ["after the crash"]);
});

Deno.test("a queued send waits for the relay; one that is not queued fails in time and is not sent later", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await alice.channel();
  alice.session.disconnect();
  assertEquals((await channel.send("queued", { queue: true })).accepted, false);
  const refused = await assertRejects(
    () => channel.send("not queued", { timeoutMs: 50 }),
    TransportError,
  );
  assertEquals(refused instanceof StaticError && refused.code, "connection_error");
  assertEquals(channel.health().state, "offline");
  await alice.session.connect();
  await channel.send("later");
  assertEquals(await read(await bob.channel(), 2), ["queued", "later"]);
  assertEquals((await bob.channel()).health().missing, []);
});

Deno.test("a message that the relay has no room for is sent again when it says so; who will not wait so long is told at once", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await alice.channel();
  let refusals: { code: "storage_full" | "queue_full"; retryAfterMs: number }[] = [];
  alice.session.tampering = {
    call: async (operation, _body, forward) => {
      const refusal = operation === "SendMessage" ? refusals.shift() : undefined;
      if (refusal !== undefined) throw errorFromRelay({ ...refusal, message: "no room" });
      return await forward();
    },
  };
  refusals = [{ code: "storage_full", retryAfterMs: 20 }, { code: "queue_full", retryAfterMs: 20 }];
  assertEquals((await channel.send("late")).accepted, true);
  assertEquals(refusals, []);
  refusals = [{ code: "storage_full", retryAfterMs: 60_000 }];
  const refused = await assertRejects(
    () => channel.send("lost", { timeoutMs: 10_000 }),
    ChannelError,
  );
  assertEquals(refused instanceof StaticError && refused.code, "storage_full");
  await channel.send("next");
  assertEquals(await read(await bob.channel(), 2), ["late", "next"]);
  assertEquals((await bob.channel()).health().missing, []);
});

Deno.test("a wait that a relay has asked for ends with the session: the next relay may have room", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await alice.channel();
  const hourMs = 60 * 60_000;
  const waiting = Promise.withResolvers<void>();
  const { after } = alice;
  alice.after = (ms, run) => {
    if (ms >= hourMs / 2 && ms <= 2 * hourMs) waiting.resolve();
    return after(ms, run);
  };
  alice.session.tampering.call = (operation, _body, forward) => {
    if (operation !== "SendMessage") return forward();
    throw errorFromRelay({ code: "storage_full", retryAfterMs: hourMs, message: "no room" });
  };
  let isAccepted = false;
  const sending = channel.send("here", { timeoutMs: 10 * hourMs }).then(() => isAccepted = true);
  await waiting.promise;
  alice.session.tampering = {};
  alice.session.disconnect();
  await alice.session.connect();
  await until("it is accepted", () => isAccepted);
  await sending;
  assertEquals(await read(await bob.channel(), 1), ["here"]);
});

Deno.test("the outbox is bounded", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const channel = await alice.channel();
  alice.session.disconnect();
  const payload = new Uint8Array(1024 * 1024);
  for (let i = 0; i < 32; i++) await channel.send(payload, { queue: true });
  const refused = await assertRejects(() => channel.send(payload, { queue: true }), ChannelError);
  assertEquals(refused instanceof StaticError && refused.code, "queue_full");
});

Deno.test("after a crash a sender's counter goes on: nothing is missed and nothing is taken for old", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await alice.manager.send(name, "before");
  await alice.crash();
  await alice.manager.send(name, "after");
  assertEquals(await read(await bob.channel(), 2), ["before", "after"]);
  assertEquals((await bob.channel()).health().missing, []);
});

Deno.test("a channel that was being created when the process died is the same one afterwards", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  alice.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    return operation === "CreateChannel" ? await new Promise(() => {}) : reply;
  };
  void alice.client.createChannel(name).catch(() => {});
  await until("the relay has the channel", async () => {
    const { channels } = await alice.session.call("ListChannels", { limit: 10 });
    return channels.length === 1;
  });
  await alice.crash();
  const channel = await alice.client.createChannel(name);
  await channel.send("it is mine");
  assertEquals(channel.members().length, 1);
});

Deno.test("messages that the relay gave up are reported", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await bob.stop();
  await alice.manager.send(name, "too old");
  await alice.stop();
  await stage.world.time.leap(8 * 24 * 60 * 60 * 1000);
  await alice.start();
  await bob.start();
  await alice.manager.send(name, "fresh");
  assertEquals(await read(await bob.channel(), 1), ["fresh"]);
  const { issues } = (await bob.channel()).health();
  assert(issues.some(({ kind }) => kind === "dropped_by_relay"), JSON.stringify(issues));
});

Deno.test("when the session has ended for good, loops and sends end with its reason", async () => {
  await using stage = await Stage.open();
  const { bob } = await stage.pair();
  const channel = await bob.channel();
  const loop = assertRejects(
    async () => {
      for await (const _ of channel.messages()) throw new Error("nothing was sent");
    },
    TransportError,
    "another session",
  );
  bob.session.end(
    createError("session_replaced", "The relay serves another session of this agent"),
  );
  await loop;
  await assertRejects(() => channel.send("hello?"), TransportError, "another session");
  assertEquals(channel.health().state, "ended");
});

Deno.test("what waits for the relay when the client is closed is told so", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await alice.channel();
  alice.session.disconnect();
  const waiting = [
    assertRejects(() => channel.send("not sent"), TransportError),
    assertRejects(
      async () => channel.addMember(await bob.client.generateKeyPackage()),
      StaticError,
    ),
    assertRejects(() => channel.leave(), StaticError),
    assertRejects(() => alice.manager.create("acme/ops/other"), StaticError),
  ];
  await alice.manager.close();
  await Promise.all(waiting);
});

Deno.test("messages that are under way when the client is closed still arrive", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const texts = Array.from({ length: 100 }, (_, i) => `last word ${i}`);
  const channel = await alice.channel();
  const sending = Promise.all(texts.map((text) => channel.send(text)));
  await alice.manager.close();
  await sending;
  assertEquals(await read(await bob.channel(), 100), texts);
});
