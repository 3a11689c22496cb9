/**
 * Messages that wait together go as one: nobody sees it but the relay, which charges each of them.
 * Order, retries, gaps and what a crash may repeat stay what they are for single messages.
 */
import { assert, assertEquals, assertGreater, assertLess, assertRejects } from "@std/assert";
import {
  channelExtensions,
  decodeMessageAad,
  type MessageAad,
  readPrivateMessageHeader,
  type RequestBody,
} from "../../../proto/mod.ts";
import { type Channel, QuotaExceededError, StaticError } from "../../../sdk/mod.ts";
import { createError } from "../../../sdk/testing/agents.ts";
import { HostileMember } from "../../../sdk/testing/hostile_member.ts";
import { addOlderMember } from "../../support/scenario/older_member.ts";
import {
  type Actor,
  name,
  read,
  readEnvelopes,
  Stage,
  until,
} from "../../support/scenario/stage.ts";

type SendMessage = RequestBody<"SendMessage">;

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function texts(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `message ${i}`);
}

function sendAll(actor: Actor, messages: readonly (string | Uint8Array)[]): Promise<unknown>[] {
  return messages.map((message) => actor.manager.send(name, message));
}

/** Collects the bundles that leave from now on. `instead` may keep a call from the relay. */
function watch(
  actor: Actor,
  instead?: (aad: MessageAad, forward: () => Promise<unknown>) => Promise<unknown>,
): MessageAad[] {
  const seen: MessageAad[] = [];
  actor.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendMessage") return forward();
    const { ciphertext } = body as SendMessage; // cast: of this operation
    const aad = decodeMessageAad(readPrivateMessageHeader(ciphertext).authenticatedData);
    seen.push(aad);
    return instead === undefined ? forward() : instead(aad, forward);
  };
  return seen;
}

function assertCalm(channel: Channel): void {
  const { missing, issues } = channel.health();
  assertEquals([missing, issues.map(({ kind }) => kind)], [[], []]);
}

Deno.test("messages that wait together go together, are charged one by one, and arrive in order under ids of their own", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  stage.world.quota.left = 1_000;
  const sent = watch(alice);
  const messages = texts(200);
  await Promise.all(sendAll(alice, messages));
  assertLess(sent.length, 10);
  assertEquals(sent.reduce((sum, { count }) => sum + count, 0), 200);
  assertEquals(stage.world.quota.left, 800);
  const received = await readEnvelopes(await bob.channel(), 200);
  assertEquals(received.map((envelope) => envelope.text()), messages);
  assertEquals(new Set(received.map(({ id }) => id)).size, 200);
  assertCalm(await bob.channel());
});

Deno.test("a bundle that the quota does not take whole goes in parts, in order, and the quota is used to the last message", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  stage.world.quota.left = 10;
  const large = new Uint8Array(20_000).fill(65);
  const results = await Promise.allSettled(sendAll(alice, [...texts(30), large, "the last"]));
  assertEquals(
    results.map(({ status }) => status === "fulfilled"),
    Array.from({ length: 32 }, (_, i) => i < 10),
  );
  for (const result of results.slice(10)) {
    assert(
      result.status === "rejected" && result.reason instanceof QuotaExceededError,
      String(result.status),
    );
  }
  assertEquals(stage.world.quota.left, 0);
  stage.world.quota.left = 100;
  await alice.manager.send(name, "next month");
  assertEquals(await read(await bob.channel(), 11), [...texts(10), "next month"]);
  assertCalm(await bob.channel());
});

Deno.test("a bundle whose reply is lost goes again as it was, and every message is shown once", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  let lost = 0;
  const sent = watch(alice, async (_, forward) => {
    const reply = await forward();
    if (lost++ > 0) return reply;
    queueMicrotask(() => alice.session.disconnect());
    throw createError("transport_error", "The connection was lost");
  });
  const sending = sendAll(alice, texts(40));
  await until("the connection is lost", () => alice.session.state.kind !== "online");
  await alice.session.connect();
  await Promise.all(sending);
  const [first, again] = sent;
  assertEquals([first?.messageId, first?.counter, first?.count], [
    again?.messageId,
    again?.counter,
    again?.count,
  ]);
  assertEquals(await read(await bob.channel(), 40), texts(40));
  assertCalm(await bob.channel());
});

Deno.test("a bundle that meets another's commit is sealed anew under its id, with the same messages in the same order", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  let isFirst = true;
  const sent = watch(alice, async (_, forward) => {
    if (isFirst) {
      isFirst = false;
      await (await carol.inside()).commit();
    }
    return await forward();
  });
  await Promise.all(sendAll(alice, texts(40)));
  const ids = sent.map(({ messageId, count }) => `${messageId} ${count}`);
  assertEquals(
    ids[0],
    ids[sent.findLastIndex(({ messageId }) => messageId === sent[0]?.messageId)],
  );
  assertGreater(sent.length, new Set(ids).size);
  for (const actor of [bob, carol]) {
    assertEquals(await read(await actor.channel(), 40), texts(40));
    assertCalm(await actor.channel());
  }
});

Deno.test("nobody misses the counters that a crash of their sender left unused, nor what it sent before", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const expected: string[] = [];
  for (let life = 0; life < 4; life++) {
    await Promise.all(sendAll(alice, texts(life * 20 + 1)));
    expected.push(...texts(life * 20 + 1));
    // Taken by the relay, and nobody tells its sender.
    alice.session.loseReplies = 1;
    alice.manager.send(name, `unknown ${life}`).catch(() => {});
    const head = expected.push(`unknown ${life}`);
    await until("the relay has it", async () => (await bob.inside()).unread >= head);
    await alice.crash();
  }
  await alice.manager.send(name, "after all");
  assertEquals(await read(await bob.channel(), expected.length + 1), [...expected, "after all"]);
  assertCalm(await bob.channel());
});

Deno.test("what the relay keeps back from before a crash of its sender is still missed", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await alice.manager.send(name, "first");
  assertEquals(await read(await bob.channel(), 1), ["first"]);
  let dropped = 0;
  bob.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverMessage" || dropped > 0 && notice.body.sequence !== dropped) {
      return [notice];
    }
    dropped = notice.body.sequence;
    return [];
  };
  await alice.manager.send(name, "kept back");
  await alice.restart();
  await alice.manager.send(name, "shown");
  await alice.crash();
  await alice.manager.send(name, "after the crash");
  assertEquals(await read(await bob.channel(), 2), ["shown", "after the crash"]);
  assertEquals((await bob.channel()).health().missing.map(({ messages }) => messages), [1]);
});

Deno.test("of a bundle that was read in part, a crash brings back the rest", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await Promise.all(sendAll(alice, texts(10)));
  const channel = await bob.channel();
  const reading = channel.envelopes({ ack: "manual" });
  for (let i = 0; i < 10; i++) {
    const { value } = await reading.next();
    if (i % 2 === 0) await value?.ack();
  }
  await bob.crash();
  const again = await bob.channel();
  assertEquals(await read(again, 5), texts(10).filter((_, i) => i % 2 === 1));
  await alice.manager.send(name, "next");
  assertEquals(await read(again, 1), ["next"]);
  assertCalm(again);
});

Deno.test("a message that is withdrawn before its bundle leaves is not sent, and the others keep their order", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const giveUp = new AbortController();
  const sending = texts(5).map((text, i) =>
    alice.manager.send(name, text, i === 2 ? { signal: giveUp.signal } : {})
  );
  giveUp.abort(new Error("not that one"));
  await assertRejects(() => sending[2] ?? Promise.resolve(), Error, "not that one");
  await Promise.all(sending.filter((_, i) => i !== 2));
  assertEquals(await read(await bob.channel(), 4), texts(5).filter((_, i) => i !== 2));
  assertCalm(await bob.channel());
});

Deno.test("a bundle that lies about its number is its sender's fault, and costs nothing but itself", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const mallory = await HostileMember.of(carol.agent, name);
  const parts = ["one", "two", "three"].map(bytesOf);
  for (const [counter, count] of [[1, 2], [3, 4]] as const) {
    const message = await mallory.bundled(counter, parts, count);
    await carol.session.call("SendMessage", message);
  }
  await carol.session.call("SendMessage", await mallory.bundled(7, parts));
  await carol.session.call("SendMessage", await mallory.counted(10, "honest again"));
  const channel = await bob.channel();
  assertEquals(await read(channel, 4), ["one", "two", "three", "honest again"]);
  assertEquals(channel.health().missing, []);
  assertEquals(channel.health().issues.map(({ kind, count }) => [kind, count]), [[
    "bad_content",
    2,
  ]]);
  await alice.manager.send(name, "goes on");
  assertEquals(await read(channel, 1), ["goes on"]);
});

Deno.test("a message that came in a bundle is not shown again when it comes alone", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  let isFirst = true;
  // The relay takes the bundle and says that the quota does not.
  watch(alice, async (_, forward) => {
    await forward();
    if (!isFirst) return { sequence: 1, timeMs: 1, duplicate: false };
    isFirst = false;
    throw createError("quota_exceeded", "no more this month");
  });
  await Promise.all(sendAll(alice, texts(5)));
  await alice.manager.send(name, "next");
  assertEquals(await read(await bob.channel(), 6), [...texts(5), "next"]);
  assertCalm(await bob.channel());
});

Deno.test("a member that does not read bundles gets every message by itself", async () => {
  await using stage = await Stage.open();
  stage.postQuantum = "prefer";
  const { alice, bob } = await stage.pair();
  const sent = watch(alice);
  await addOlderMember(alice, await stage.actor("old"), stage, channelExtensions);
  await Promise.all(sendAll(alice, texts(20)));
  assertEquals(new Set(sent.map(({ count }) => count)), new Set([1]));
  assertEquals(await read(await bob.channel(), 20), texts(20));
});

Deno.test("a relay that does not know bundles gets every message by itself", async () => {
  await using stage = await Stage.open({ config: { features: [] } });
  const { alice, bob } = await stage.pair();
  const sent = watch(alice);
  await Promise.all(sendAll(alice, texts(20)));
  assertEquals(sent.length, 20);
  assertEquals(await read(await bob.channel(), 20), texts(20));
});

Deno.test("when a relay that had no room has room again, the next message goes", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  let isFull = true;
  watch(
    alice,
    (_, forward) =>
      isFull
        ? Promise.reject(createError("storage_full", "no room", { retryAfterMs: 60_000 }))
        : forward(),
  );
  await assertRejects(
    () => alice.manager.send(name, "no room for it", { timeoutMs: 1_000 }),
    StaticError,
  );
  isFull = false;
  await alice.manager.send(name, "room again");
  assertEquals(await read(await bob.channel(), 1), ["room again"]);
  assertCalm(await bob.channel());
});

Deno.test("a message whose sender was told that it failed is not sent when the relay is back", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  let isLost = true;
  watch(alice, (_, forward) => {
    if (!isLost) return forward();
    queueMicrotask(() => alice.session.disconnect());
    return Promise.reject(createError("transport_error", "The connection was lost"));
  });
  await assertRejects(
    () => alice.manager.send(name, "told as failed", { timeoutMs: 50 }),
    StaticError,
  );
  isLost = false;
  await alice.session.connect();
  await alice.manager.send(name, "later");
  assertEquals(await read(await bob.channel(), 1), ["later"]);
  assertCalm(await bob.channel());
});

Deno.test("commits in a row make nobody miss or reorder what was under way", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  let commits = 0;
  let before: Promise<unknown> = Promise.resolve();
  // In the order in which they are sent, as on a connection.
  const sent = watch(alice, (_, forward) => {
    const turn = before.then(async () => {
      if (commits++ < 3) await (await carol.inside()).commit();
    });
    before = turn;
    return turn.then(forward);
  });
  const messages = Array.from({ length: 30 }, (_, i) => `${i} ${"x".repeat(2_000)}`);
  await Promise.all(sendAll(alice, messages));
  assertGreater(sent.length, 5);
  assertEquals(await read(await bob.channel(), 30), messages);
  assertCalm(await bob.channel());
});
