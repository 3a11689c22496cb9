// Operations over a relay in memory: what a program gets, and what comes again when it goes away.
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { StaticError } from "../../mod.ts";
import type { HostAnswer, HostConnection } from "../connection.ts";
import { eventually } from "../../../tests/support/mod.ts";
import { type Actor, name, Stage } from "../../../tests/support/scenario/stage.ts";
import { holdAlone } from "./connecting.ts";
import { createReaderRecords } from "./reader_records.ts";
import { SharedAgent } from "./shared_agent.ts";
import { ProgramStreams } from "./streams.ts";
import { type Program, programOf, programWith } from "./testing/memory_program.ts";

const utf8 = new TextEncoder();
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const channel = { channel: name };

async function pair(stage: Stage): Promise<{ alice: Actor; bob: Actor; a: Program; b: Program }> {
  const [alice, bob] = [await stage.actor("alice"), await stage.actor("bob")];
  const [a, b] = [programOf(alice), programOf(bob)];
  await a.connection.call("create", channel);
  const { bytes: keyPackage } = await b.connection.call("keyPackage");
  const { bytes: welcome } = await a.connection.call("addMember", channel, { bytes: keyPackage });
  await b.connection.call("join", channel, { bytes: welcome });
  return { alice, bob, a, b };
}

async function next(
  { connection }: Program,
  stream: number,
): Promise<{ item: number; text: string } | undefined> {
  const { fields, bytes } = await connection.call("next", { stream });
  return fields.flag("done") ? undefined : { item: fields.number("item"), text: text(bytes) };
}

async function open(connection: HostConnection, op: string, fields = {}): Promise<number> {
  return (await connection.call(op, { ...channel, ...fields })).fields.number("stream");
}

Deno.test("a program says what it wants by frames alone: members, health, fingerprint, messages", async () => {
  await using stage = await Stage.open();
  const { alice, a, b } = await pair(stage);
  const hello = await a.connection.hello;
  assertEquals([hello.number("protocol"), hello.text("agentId")], [1, alice.client.agentId]);
  const { fields } = await b.connection.call("members", channel);
  const members = fields.raw("members") as { identity: string; owner: boolean; self: boolean }[];
  assertEquals(members.map(({ identity, owner, self }) => [identity, owner, self]), [
    ["alice", true, false],
    ["bob", false, true],
  ]);
  const prints = await Promise.all(
    [a, b].map((each) => each.connection.call("fingerprint", channel)),
  );
  assertEquals(prints[0]?.fields.text("fingerprint"), prints[1]?.fields.text("fingerprint"));
  const sent = await a.connection.call("send", {
    ...channel,
    contentType: "text/plain",
    headers: { n: "1" },
  }, {
    bytes: utf8.encode("hello"),
  });
  const { fields: got, bytes } = await b.connection.call("receive", {
    ...channel,
    timeoutMs: 60_000,
  });
  const envelope = got.optionalObject("envelope");
  assertEquals(
    [
      envelope?.text("id"),
      envelope?.text("contentType"),
      envelope?.optionalMap("headers"),
      text(bytes),
    ],
    [sent.fields.text("id"), "text/plain", { n: "1" }, "hello"],
  );
  const none = await b.connection.call("receive", { ...channel, timeoutMs: 1 });
  assertEquals(none.fields.flag("none"), true);
});

Deno.test("next acknowledges the item before; what a program was given when it died comes again", async () => {
  await using stage = await Stage.open();
  const { a, b, bob } = await pair(stage);
  for (const each of ["one", "two", "three"]) {
    await a.connection.call("send", channel, { bytes: utf8.encode(each) });
  }
  const stream = await open(b.connection, "read");
  assertEquals((await next(b, stream))?.text, "one");
  assertEquals((await next(b, stream))?.text, "two");
  b.die();
  const again = programOf(bob);
  const second = await open(again.connection, "read");
  assertEquals((await next(again, second))?.text, "two");
  await again.connection.call("finish", { stream: second });
  const third = await open(again.connection, "read");
  assertEquals((await next(again, third))?.text, "three");
});

Deno.test("with manual acknowledgement only ack does, in any order", async () => {
  await using stage = await Stage.open();
  const { a, b, bob } = await pair(stage);
  for (const each of ["one", "two", "three"]) {
    await a.connection.call("send", channel, { bytes: utf8.encode(each) });
  }
  const stream = await open(b.connection, "read", { ack: "manual" });
  const items = [await next(b, stream), await next(b, stream), await next(b, stream)];
  await b.connection.call("ack", { stream, item: items[1]?.item });
  b.die();
  const again = programOf(bob);
  const second = await open(again.connection, "read");
  assertEquals([(await next(again, second))?.text, (await next(again, second))?.text], [
    "one",
    "three",
  ]);
});

Deno.test("a next that is given up loses nothing: what comes goes to the next who asks", async () => {
  await using stage = await Stage.open();
  const { a, b } = await pair(stage);
  const stream = await open(b.connection, "read");
  const stop = new AbortController();
  const asking = b.connection.call("next", { stream }, { signal: stop.signal });
  stop.abort(new Error("no more patience"));
  await assertRejects(() => asking, Error, "no more patience");
  await a.connection.call("send", channel, { bytes: utf8.encode("for the next") });
  assertEquals((await next(b, stream))?.text, "for the next");
});

Deno.test("requests go to the program that serves; when it dies, to the next one, which is told the attempt", async () => {
  await using stage = await Stage.open();
  const { a, bob } = await pair(stage);
  const held = holdAlone(bob.client, bob.manager);
  const [b, other] = [programWith(held), programWith(held)];
  const stream = await open(b.connection, "serve", { concurrency: 2 });
  const to = bob.client.agentId;
  const asking = a.connection.call("request", { ...channel, to, timeoutMs: 60_000 }, {
    bytes: utf8.encode("ping"),
  });
  const first = await b.connection.call("next", { stream });
  assertEquals([first.fields.number("attempt"), text(first.bytes)], [1, "ping"]);
  const second = await open(other.connection, "serve");
  b.die();
  const { fields, bytes } = await other.connection.call("next", { stream: second });
  assertEquals([fields.number("attempt"), text(bytes)], [2, "ping"]);
  await other.connection.call("reply", { stream: second, item: fields.number("item") }, {
    bytes: utf8.encode("pong"),
  });
  assertEquals(text((await asking).bytes), "pong");
});

Deno.test("a handler's failure reaches the requester with its code; without one its words stay", async () => {
  await using stage = await Stage.open();
  const { a, b, bob } = await pair(stage);
  const stream = await open(b.connection, "serve");
  const to = bob.client.agentId;
  const ask = (): Promise<unknown> =>
    a.connection.call("request", { ...channel, to, timeoutMs: 60_000 });
  const answered = Promise.allSettled([ask(), ask()]);
  for (const remoteCode of ["no_such_city", undefined]) {
    const { fields } = await b.connection.call("next", { stream });
    await b.connection.call("fail", {
      stream,
      item: fields.number("item"),
      message: "secret words",
      remoteCode,
    });
  }
  const errors = (await answered).flatMap((each) =>
    each.status === "rejected" ? [each.reason] : []
  );
  const codes = errors.map((
    error,
  ) => [error.name, error.code, error.remoteCode, error.message.includes("secret")]);
  assertEquals(codes.toSorted(), [
    ["RemoteError", "remote_error", "handler_failed", false],
    ["RemoteError", "remote_error", "no_such_city", true],
  ]);
});

Deno.test("several members are asked at once, and each answer comes as an item", async () => {
  await using stage = await Stage.open();
  const { a, b, bob } = await pair(stage);
  const serving = await open(b.connection, "serve");
  const stream = await open(a.connection, "requestAll", {
    to: [bob.client.agentId],
    timeoutMs: 60_000,
  });
  const { fields } = await b.connection.call("next", { stream: serving });
  const item = fields.number("item");
  await b.connection.call("reply", { stream: serving, item, contentType: "application/json" }, {
    bytes: utf8.encode('{"yes":true}'),
  });
  const answer = await a.connection.call("next", { stream });
  assertEquals([answer.fields.text("from"), text(answer.bytes)], [
    bob.client.agentId,
    '{"yes":true}',
  ]);
  assertEquals((await a.connection.call("next", { stream })).fields.flag("done"), true);
});

Deno.test("errors keep class, code and what stands beside them", async () => {
  await using stage = await Stage.open();
  const { a } = await pair(stage);
  const taken = await assertRejects(() => a.connection.call("create", channel), StaticError);
  assertEquals([taken.name, taken.code, taken.channel, taken.retryable], [
    "ChannelError",
    "name_taken",
    name,
    false,
  ]);
  const codes: unknown[] = [];
  for (
    const [op, fields] of [["nothing", {}], ["send", {}], ["next", { stream: 99 }], ["send", {
      channel: 5,
    }]] as const
  ) {
    await a.connection.call(op, fields).catch((error) => void codes.push(error.code));
  }
  assertEquals(codes, [
    "unknown_operation",
    "invalid_request",
    "invalid_request",
    "invalid_request",
  ]);
});

Deno.test("watch tells the state now and whenever it changes", async () => {
  await using stage = await Stage.open();
  const { alice, a } = await pair(stage);
  const { fields } = await a.connection.call("watch", channel);
  const { epoch } = fields.optionalObject("state")?.raw("health") as { epoch: number };
  const carol = await stage.actor("carol");
  await (await alice.channel()).addMember(await carol.client.generateKeyPackage());
  const seen = await eventually(
    { what: "the new state" },
    () => Promise.resolve(a.events.filter((each) => each.name === "channel").at(-1)),
    (event) => event !== undefined,
  );
  const state = seen?.fields.optionalObject("state");
  assertEquals((state?.raw("health") as { epoch: number }).epoch, epoch + 1);
  assertEquals((state?.raw("members") as unknown[]).length, 3);
});

Deno.test("too many calls under way are refused one by one, and the others go on", async () => {
  await using stage = await Stage.open();
  const { a, b } = await pair(stage);
  const waiting = Array.from({ length: 1024 }, () => b.connection.call("receive", channel));
  const settled = Promise.allSettled(waiting);
  const over = await assertRejects(() => b.connection.call("health", channel), StaticError);
  assertEquals(over.code, "overloaded");
  await a.connection.call("send", channel, { bytes: utf8.encode("x") });
  assertEquals(text((await Promise.race(waiting)).bytes), "x");
  b.connection.end();
  b.die();
  await settled;
});

Deno.test("with too many calls under way a loop still says what it has seen, and the rest comes again", async () => {
  await using stage = await Stage.open();
  const { a, b, bob } = await pair(stage);
  const quiet = { channel: "acme/ops/quiet" };
  await b.connection.call("create", quiet);
  const stream = await open(b.connection, "read");
  for (const each of ["one", "two", "three"]) {
    await a.connection.call("send", channel, { bytes: utf8.encode(each) });
  }
  const unread = async (): Promise<number> => (await bob.manager.channel(name)).health().unread;
  await eventually({ what: "three messages" }, unread, (count) => count === 3);
  assertEquals(
    (await b.connection.call("next", { stream, count: 3 })).fields.optionalObjects("items")?.length,
    3,
  );
  const waiting = Promise.allSettled(
    Array.from({ length: 1025 }, () => b.connection.call("receive", quiet)),
  );
  await b.connection.call("passed", { stream, item: 1, back: 2 });
  await eventually({ what: "two messages again" }, unread, (count) => count === 2);
  const over = await assertRejects(() => b.connection.call("next", { stream }), StaticError);
  assertEquals(over.code, "overloaded");
  await b.connection.call("end", { stream });
  b.connection.end();
  b.die();
  await waiting;
});

Deno.test("with too many calls under way requests are still answered, and messages acknowledged", async () => {
  await using stage = await Stage.open();
  const { a, b, bob } = await pair(stage);
  const quiet = { channel: "acme/ops/quiet" };
  await b.connection.call("create", quiet);
  const [serving, reading] = [
    await open(b.connection, "serve"),
    await open(b.connection, "read", { ack: "manual" }),
  ];
  await a.connection.call("send", channel, { bytes: utf8.encode("work") });
  const message = await next(b, reading);
  const asked = [1, 2].map(() =>
    a.connection.call("request", { ...channel, to: bob.client.agentId, timeoutMs: 60_000 })
  );
  const settled = Promise.allSettled(asked);
  const items = [await next(b, serving), await next(b, serving)];
  const waiting = Promise.allSettled(
    Array.from({ length: 1025 }, () => b.connection.call("receive", quiet)),
  );
  await b.connection.call("reply", { stream: serving, item: items[0]?.item }, {
    bytes: utf8.encode("yes"),
  });
  await b.connection.call("fail", {
    stream: serving,
    item: items[1]?.item,
    message: "no",
    remoteCode: "busy",
  });
  await b.connection.call("ack", { stream: reading, item: message?.item });
  assertEquals((await settled).map(({ status }) => status), ["fulfilled", "rejected"]);
  const unread = async (): Promise<number> => (await bob.manager.channel(name)).health().unread;
  await eventually({ what: "nothing unread" }, unread, (count) => count === 0);
  const place = { ...channel, sequence: 1, timeMs: 1 };
  const over = await assertRejects(() => b.connection.call("ack", place), StaticError);
  assertEquals(over.code, "overloaded", "of these there may be any number");
  b.connection.end();
  b.die();
  await waiting;
});

Deno.test("what is no call ends the connection", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  for (
    const header of [
      {},
      { id: 0, op: "agent" },
      { id: "1", op: "agent" },
      { id: 1.5, op: "agent" },
      { id: 1 },
    ]
  ) {
    const { session } = programOf(alice);
    assertThrows(
      () => session.receive({ header, bytes: new Uint8Array(0) }),
      StaticError,
      "A call has an id",
    );
    session.end();
  }
  const { session, connection } = programOf(alice);
  session.goodbye(new StaticError("protocol_error", "no frame"));
  assertEquals((await connection.over).code, "protocol_error");
  await assertRejects(() => connection.call("agent"), StaticError, "no frame");
});

Deno.test("what a program still works on when it ends its loop can be acknowledged", async () => {
  await using stage = await Stage.open();
  const { a, b, bob } = await pair(stage);
  for (const each of ["one", "two"]) {
    await a.connection.call("send", channel, { bytes: utf8.encode(each) });
  }
  const stream = await open(b.connection, "read", { ack: "manual" });
  const first = await next(b, stream);
  await b.connection.call("end", { stream });
  await b.connection.call("ack", { stream, item: first?.item });
  b.die();
  const again = programOf(bob);
  assertEquals((await next(again, await open(again.connection, "read")))?.text, "two");
});

Deno.test("a stream that is opened for a program that has gone ends at once", () => {
  const streams = new ProgramStreams();
  const ends: unknown[] = [];
  streams.endAll();
  streams.add({ next: () => Promise.resolve(undefined), end: (gone) => void ends.push(gone) });
  streams.whenEnded(() => ends.push("told"));
  assertEquals(ends, [true, "told"]);
});

Deno.test("a stream that fails leaves its source, so that what it was given is for others", async () => {
  const streams = new ProgramStreams();
  const ends: unknown[] = [];
  const number = streams.add({
    next: () => Promise.reject(new Error("no disk")),
    end: (gone) => void ends.push(gone),
  });
  await assertRejects(() => streams.next(number, new AbortController().signal), Error, "no disk");
  assertEquals(ends, [false]);
});

Deno.test("one answer brings what is there; what the program did not see comes again, in order, to it and to the next", async () => {
  await using stage = await Stage.open();
  const { a, b, bob } = await pair(stage);
  for (const each of ["one", "two", "three", "four"]) {
    await a.connection.call("send", channel, { bytes: utf8.encode(each) });
  }
  const stream = await open(b.connection, "read");
  // The first may come before the others are there.
  const seen: string[] = [];
  let last: HostAnswer | undefined;
  while (seen.length < 4) {
    last = await b.connection.call("next", { stream, count: 64 });
    seen.push(...textsOf(last));
  }
  assertEquals(seen, ["one", "two", "three", "four"]);
  const items = last?.fields.optionalObjects("items")?.map((each) => each.number("item")) ?? [4];
  const [first = 0] = items;
  // It worked on the first of them.
  await b.connection.call("passed", { stream, item: first - 1, back: first + 1 });
  b.die();
  const again = programOf(bob);
  const second = await open(again.connection, "read");
  const rest = seen.slice(4 - items.length);
  for (const each of rest) assertEquals((await next(again, second))?.text, each);
});

Deno.test("finishing a stream acknowledges what the program has seen, and what was on its way to it comes again", async () => {
  await using stage = await Stage.open();
  const { a, b, bob } = await pair(stage);
  for (const each of ["one", "two", "three", "four"]) {
    await a.connection.call("send", channel, { bytes: utf8.encode(each) });
  }
  const stream = await open(b.connection, "read");
  for (const each of ["one", "two"]) assertEquals((await next(b, stream))?.text, each);
  const rest = await b.connection.call("next", { stream, count: 64 });
  await b.connection.call("finish", { stream, item: 2 });
  b.die();
  const again = programOf(bob);
  for (const each of ["three", "four"]) {
    assertEquals(
      text((await again.connection.call("receive", { ...channel, timeoutMs: 60_000 })).bytes),
      each,
    );
  }
  assertEquals(textsOf(rest)[0], "three");
});

Deno.test("finishing a stream does not acknowledge what came for a next that was given up", async () => {
  await using stage = await Stage.open();
  const { agent } = await stage.actor("bob");
  const shared = await SharedAgent.over(agent);
  const holds = [() => holdAlone(shared.manager.client, shared.manager), () => shared.hold()];
  const alice = programOf(await stage.actor("alice"));
  for (const [i, hold] of holds.entries()) {
    const own = { channel: `acme/ops/given-up-${i}` };
    await alice.connection.call("create", own);
    const bob = programWith({ ...hold(), close: () => Promise.resolve() });
    const { bytes: keyPackage } = await bob.connection.call("keyPackage");
    const { bytes: welcome } = await alice.connection.call("addMember", own, { bytes: keyPackage });
    await bob.connection.call("join", own, { bytes: welcome });
    const send = (each: string): Promise<HostAnswer> =>
      alice.connection.call("send", own, { bytes: utf8.encode(each) });
    const { fields } = await bob.connection.call("read", own);
    const stream = fields.number("stream");
    await send("one");
    const first = await next(bob, stream);
    const stop = new AbortController();
    const asking = bob.connection.call("next", { stream }, { signal: stop.signal });
    stop.abort(new Error("no more patience"));
    await assertRejects(() => asking, Error, "no more patience");
    await send("two");
    const unread = async (): Promise<number> =>
      (await shared.manager.channel(own.channel)).health().unread;
    await eventually({ what: "the second message" }, unread, (count) => count === 1);
    await bob.connection.call("finish", { stream, item: first?.item });
    const { bytes } = await bob.connection.call("receive", { ...own, timeoutMs: 60_000 });
    assertEquals(text(bytes), "two");
    bob.die();
  }
});

Deno.test("what a stream has passed in any way is on disk when it is finished", async () => {
  const giveUp = async (b: Program, stream: number): Promise<void> => {
    const stop = new AbortController();
    const asking = b.connection.call("next", { stream }, { signal: stop.signal });
    stop.abort(new Error("no more patience"));
    await assertRejects(() => asking, Error, "no more patience");
  };
  const sayPassed = async (b: Program, stream: number): Promise<void> =>
    void await b.connection.call("passed", { stream, item: 1 });
  for (const pass of [giveUp, sayPassed]) {
    for (const kind of ["alone", "shared", "behind"]) {
      await using stage = await Stage.open();
      const { a, bob } = await pair(stage);
      const hold = async (): Promise<Program> => {
        const shared = await SharedAgent.over(bob.agent);
        return programWith(
          kind === "alone" ? holdAlone(bob.manager.client, bob.manager) : shared.hold(),
        );
      };
      // With a name, the reader `default` is behind.
      const options = kind === "behind" ? { as: "worker" } : {};
      const b = await hold();
      const stream = await open(b.connection, "read", options);
      await a.connection.call("send", channel, { bytes: utf8.encode("one") });
      const first = await next(b, stream);
      await pass(b, stream);
      await b.connection.call("finish", { stream, item: first?.item });
      await bob.crash();
      await a.connection.call("send", channel, { bytes: utf8.encode("two") });
      const again = await hold();
      const { text: shown } = await next(again, await open(again.connection, "read", options)) ??
        {};
      assertEquals(shown, "two", `${kind}, ${pass.name}`);
    }
  }
});

Deno.test("a place that no message can have is not acknowledged, and costs no reader anything", async () => {
  await using stage = await Stage.open();
  const { a, bob } = await pair(stage);
  await a.connection.call("send", channel, { bytes: utf8.encode("one") });
  const shared = await SharedAgent.over(bob.agent);
  const b = programWith(shared.hold());
  const message = "A".repeat(22);
  const good = { sequence: 700, timeMs: 1, message };
  const odd = [7.5, 2 ** 53, 1e300, -1, 0.1];
  const wrong = [
    ...odd.map((sequence) => ({ ...good, sequence })),
    ...odd.map((timeMs) => ({ ...good, timeMs })),
    ...["", "x", "A".repeat(23), "!".repeat(22), "x".repeat(100_000)].map((text) => ({
      ...good,
      message: text,
    })),
  ];
  for (const place of wrong) {
    const refused = await assertRejects(
      () => b.connection.call("ack", { ...channel, ...place }),
      StaticError,
    );
    assertEquals(refused.code, "invalid_request", JSON.stringify(place).slice(0, 100));
  }
  await b.connection.call("ack", { ...channel, ...good });
  await b.connection.call("ack", {
    ...channel,
    sequence: Number.MAX_SAFE_INTEGER,
    timeMs: Number.MAX_SAFE_INTEGER,
  });
  const readers = createReaderRecords((await bob.manager.channel(name)).id, bob.agent.parts.store);
  const [record] = await readers.list();
  assertEquals(record?.position.beyond.map(({ sequence }) => sequence), [
    700,
    Number.MAX_SAFE_INTEGER,
  ]);
});

Deno.test("messages of a finished stream that a program acknowledges by hand are acknowledged when it says so", async () => {
  await using stage = await Stage.open();
  const { a, b, bob } = await pair(stage);
  for (const each of ["one", "two"]) {
    await a.connection.call("send", channel, { bytes: utf8.encode(each) });
  }
  const stream = await open(b.connection, "read", { ack: "manual" });
  const [, second] = [await next(b, stream), await next(b, stream)];
  await b.connection.call("finish", { stream, item: second?.item });
  await b.connection.call("ack", { stream, item: second?.item });
  b.die();
  const again = programOf(bob);
  const { bytes } = await again.connection.call("receive", { ...channel, timeoutMs: 60_000 });
  assertEquals([text(bytes), (await bob.manager.channel(name)).health().unread], ["one", 1]);
});

Deno.test("more items than one answer brings are refused before anything is taken", async () => {
  await using stage = await Stage.open();
  const { a, b } = await pair(stage);
  await a.connection.call("send", channel, { bytes: utf8.encode("one") });
  const stream = await open(b.connection, "read");
  for (const count of [0, -1, 1.5, 65, 1e9]) {
    const asked = b.connection.call("next", { stream, count });
    assertEquals(
      (await assertRejects(() => asked, StaticError)).code,
      "invalid_request",
      `${count}`,
    );
  }
  assertEquals((await next(b, stream))?.text, "one");
});

function textsOf({ fields, bytes }: HostAnswer): string[] {
  const items = fields.optionalObjects("items");
  if (items === undefined) return [text(bytes)];
  let at = 0;
  return items.map((each) => text(bytes.subarray(at, at += each.number("length"))));
}
