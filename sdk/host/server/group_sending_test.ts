// Messages that a program gives as one, over a relay in memory, also to the host that comes after a
// crash.
import { assert, assertEquals, assertLess, assertRejects } from "@std/assert";
import {
  channelExtensions,
  decodeMessageAad,
  type MessageAad,
  readPrivateMessageHeader,
  type RequestBody,
} from "../../../proto/mod.ts";
import { StaticError } from "../../mod.ts";
import { createError } from "../../testing/agents.ts";
import type { HeaderFields } from "../fields.ts";
import type { FrameHeader } from "../frames.ts";
import { addOlderMember } from "../../../tests/support/scenario/older_member.ts";
import { type Actor, name, read, Stage, until } from "../../../tests/support/scenario/stage.ts";
import { programOf } from "./testing/memory_program.ts";

type SendMessage = RequestBody<"SendMessage">;

const utf8 = new TextEncoder();
const bundle = "B".repeat(21) + "A";
const idOf = (number: number): string => `${String(number).padStart(20, "m")}AA`;

function texts(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `message ${i}`);
}

/** A program's call for these messages, as one. */
function given(
  messages: readonly string[],
  more: FrameHeader = {},
): [string, FrameHeader, { bytes: Uint8Array }] {
  const bodies = messages.map((message) => utf8.encode(message));
  const fields = {
    channel: name,
    bundle,
    messages: bodies.map(({ length }, i) => ({ message: idOf(i), length })),
    ...more,
  };
  return ["sendAll", fields, { bytes: Uint8Array.from(bodies.flatMap((body) => [...body])) }];
}

function outcomes(answered: { readonly fields: HeaderFields }): (string | boolean)[] {
  const results = answered.fields.optionalObjects("sent") ?? [];
  return results.map((each) => each.optionalObject("error")?.text("code") ?? each.flag("accepted"));
}

/**
 * Collects the bundles that leave from now on. `isLost`: the relay takes the bundle, and its answer
 * never comes.
 */
function watch(actor: Actor, isLost: () => boolean = () => false): MessageAad[] {
  const seen: MessageAad[] = [];
  actor.session.tampering.call = async (operation, body, forward) => {
    if (operation !== "SendMessage") return await forward();
    const { ciphertext } = body as SendMessage; // cast: of this operation
    seen.push(decodeMessageAad(readPrivateMessageHeader(ciphertext).authenticatedData));
    const reply = await forward();
    return isLost() ? await new Promise<never>(() => {}) : reply;
  };
  return seen;
}

Deno.test("messages that a program gives as one go as one bundle under its id, and each is answered", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const sent = watch(alice);
  const answered = await programOf(alice).connection.call(...given(texts(30)));
  assertEquals(outcomes(answered), new Array(30).fill(true));
  assertEquals(
    answered.fields.optionalObjects("sent")?.map((each) => each.text("id")),
    texts(30).map((_, i) => idOf(i)),
  );
  assertEquals(sent.map(({ messageId, count }) => [messageId, count]), [[bundle, 30]]);
  assertEquals(await read(await bob.channel(), 30), texts(30));
});

Deno.test("what the host before had sent when it was killed is sent once, in whatever way that was", async () => {
  for (const left of [1_000, 5]) {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    stage.world.quota.left = left;
    // With too small a quota the bundle comes apart, and the last part that is taken is not
    // answered.
    const sent = watch(alice, () => left > 10 || stage.world.quota.left === 0);
    const first = programOf(alice);
    void first.connection.call(...given(texts(10))).catch(() => {});
    await until("the relay has something", () => sent.length >= (left > 10 ? 1 : 6));
    await alice.crash();
    stage.world.quota.left = 1_000;
    const again = watch(alice);
    const answered = await programOf(alice).connection.call(...given(texts(10), { again: true }));
    assertEquals(outcomes(answered), new Array(10).fill(true));
    assertEquals(again.map(({ count }) => count), new Array(left > 10 ? 1 : 11).fill(1));
    assertEquals(await read(await bob.channel(), 10), texts(10));
    assertEquals(stage.world.quota.left, left > 10 ? 1_000 : 995);
    await alice.manager.send(name, "the end");
    assertEquals(await read(await bob.channel(), 1), ["the end"], "nothing came twice");
  }
});

Deno.test("a member that does not read bundles gets each message by itself, once", async () => {
  await using stage = await Stage.open();
  stage.postQuantum = "prefer";
  const { alice, bob } = await stage.pair();
  const program = programOf(alice);
  await program.connection.call(...given(texts(3)));
  await addOlderMember(alice, await stage.actor("old"), stage, channelExtensions);
  const sent = watch(alice);
  assertEquals(outcomes(await program.connection.call(...given(texts(3), { again: true }))), [
    true,
    true,
    true,
  ]);
  assertEquals(
    sent.map(({ count, messageId }) => [count, messageId]),
    [[1, bundle]],
    "it was only asked for",
  );
  const other = "C".repeat(21) + "A";
  const messages = texts(3).map(({ length }, i) => ({ message: idOf(i + 10), length }));
  const [op, fields, { bytes }] = given(texts(3), { bundle: other, messages });
  for (const more of [{}, { again: true }]) {
    assertEquals(outcomes(await program.connection.call(op, { ...fields, ...more }, { bytes })), [
      true,
      true,
      true,
    ]);
  }
  await alice.manager.send(name, "the end");
  assertEquals(await read(await bob.channel(), 7), [...texts(3), ...texts(3), "the end"]);
});

Deno.test("what comes again waits until the relay can be asked", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const program = programOf(alice);
  let isAway = true;
  alice.session.tampering.call = async (operation, _, forward) => {
    if (operation !== "SendMessage" || !isAway) return await forward();
    isAway = false;
    throw createError("overloaded", "Later", { retryAfterMs: 1 });
  };
  assertEquals(outcomes(await program.connection.call(...given(texts(3), { again: true }))), [
    true,
    true,
    true,
  ]);
  assertEquals([isAway, await read(await bob.channel(), 3)], [false, texts(3)]);
});

Deno.test("lengths that are not those of the bytes, ids that repeat and wrong numbers of messages are refused", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const sent = watch(alice);
  const { connection } = programOf(alice);
  const [op, fields, { bytes }] = given(texts(2));
  const message = (i: number, length: number): object => ({ message: idOf(i), length });
  const wrong = [
    [],
    [message(0, 9)],
    [message(0, 9), message(1, 8)],
    [message(0, 9), message(1, 10)],
    [message(0, 19), message(1, -1)],
    [message(0, 9.5), message(1, 8.5)],
    [message(0, 9), message(0, 9)],
    [{ length: 9 }, { length: 9 }],
    Array.from({ length: 65 }, (_, i) => message(i, i < 18 ? 1 : 0)),
  ];
  for (const messages of wrong) {
    const error = await assertRejects(
      () => connection.call(op, { ...fields, messages }, { bytes }),
      StaticError,
    );
    assertEquals(error.code, "invalid_request", JSON.stringify(messages));
  }
  assertEquals(sent, []);
});

Deno.test("messages without an id for all of them go as the host likes, and one that fails fails alone", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const sent = watch(alice);
  const messages = [{ length: 1 }, { length: 0 }, { length: 2, contentType: "text/plain" }];
  const call = { channel: name, messages };
  const answered = await programOf(alice).connection.call("sendAll", call, {
    bytes: utf8.encode("abb"),
  });
  assertEquals(outcomes(answered), [true, "invalid_request", true]);
  assertLess(sent.length, 2);
  assertEquals(await read(await bob.channel(), 2), ["a", "bb"]);
});

Deno.test("a program that goes takes what was not sent with it", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const sent = watch(alice);
  alice.session.disconnect();
  const program = programOf(alice);
  const sending = program.connection.call(...given(texts(4)));
  sending.catch(() => {});
  await until("they wait", async () => (await alice.inside()).unsent === 4);
  program.die();
  await until("they do not wait", async () => (await alice.inside()).unsent === 0);
  await alice.session.connect();
  await alice.manager.send(name, "another");
  assertEquals(await read(await bob.channel(), 1), ["another"]);
  assert(sent.every(({ messageId }) => messageId !== bundle));
});
