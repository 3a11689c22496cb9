/**
 * Senders that ask learn what became of their messages: once, in order, and whenever a process
 * dies. A receipt counts of those alone that the message was for.
 */
import {
  binaryIdFromBytes,
  encodeCbor,
  encodeContent,
  encodeReceipts,
  leafExtensions,
  type MessageId,
  parseAgentId,
  receiptsCapability,
  type ReceiptState,
  type RequestBody,
} from "../../../proto/mod.ts";
import type { Channel, ChannelEvent } from "../../../sdk/mod.ts";
import { Inside } from "../../../sdk/testing/agents.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { addOlderMember } from "../../support/scenario/older_member.ts";
import {
  type Actor,
  issueCount,
  read,
  readEnvelopes,
  runtime,
  Stage,
  until,
} from "../../support/scenario/stage.ts";

/** Receipts wait for seconds; here for a hundredth of that. */
function hurry(...actors: readonly Actor[]): void {
  for (const actor of actors) {
    actor.after = (ms, run) => runtime.after(ms >= 1000 && ms <= 6000 ? ms / 100 : ms, run);
  }
}

async function hurriedPair(stage: Stage): Promise<{ alice: Actor; bob: Actor }> {
  const { alice, bob } = await stage.pair();
  hurry(alice, bob);
  return { alice, bob };
}

/** At the first that it was for. */
async function stateOf(channel: Channel, id: string): Promise<ReceiptState | undefined> {
  return (await channel.receiptsOf(id))[0]?.state;
}

async function untilState(channel: Channel, id: string, wanted: ReceiptState): Promise<void> {
  await until(`it is ${wanted}`, async () => await stateOf(channel, id) === wanted);
}

/** The events `receipt` of a channel, as they come. */
function receiptEvents(channel: Channel): string[] {
  const told: string[] = [];
  void (async () => {
    for await (const event of channel.events() as AsyncIterable<ChannelEvent>) {
      if (event.type === "receipt") told.push(event.state);
    }
  })();
  return told;
}

Deno.test("a sender that asks learns that its message was delivered, and that the work is done; others learn nothing", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  hurry(alice, bob, carol);
  const [asking, handling] = [await alice.channel(), await bob.channel()];
  const [events, others] = [receiptEvents(asking), receiptEvents(await carol.channel())];
  const to = bob.client.agentId;
  const { id, receipts } = await asking.send("build it", { to, receipt: "done" });
  assertEquals([receipts, await asking.receiptsOf(id)], ["asked", [{ agentId: to }]]);
  const [envelope] = await readEnvelopes(handling, 1);
  assertEquals(envelope?.receipt, "done");
  await untilState(asking, id, "delivered");
  await envelope?.done();
  await untilState(asking, id, "done");
  assertEquals([events, others], [["delivered", "done"], []]);
  // Without asking, and for all, nothing is owed.
  const silent = await asking.send("not asked", { to });
  await asking.send("to all");
  await read(handling, 2);
  assertEquals(await asking.receiptsOf(silent.id), []);
  await assertRejects(() => asking.send("all", { receipt: "delivered" }), Error, "`to`");
  for (const { channel } of [{ channel: asking }, { channel: await carol.channel() }]) {
    assertEquals(channel.health().issues, []);
  }
});

/** The reasons for which messages of a channel are skipped, as they come. */
function skippedEvents(channel: Channel): string[] {
  const told: string[] = [];
  void (async () => {
    for await (const event of channel.events() as AsyncIterable<ChannelEvent>) {
      if (event.type === "skipped") told.push(event.why);
    }
  })();
  return told;
}

/** Of the messages that it sends from now on, the bytes that the relay sees. */
function messageSizes(actor: Actor): number[] {
  const sizes: number[] = [];
  actor.session.tampering.call = (operation, body, forward) => {
    // cast: of this operation
    if (operation === "SendMessage") {
      sizes.push((body as RequestBody<"SendMessage">).ciphertext.length);
    }
    return forward();
  };
  return sizes;
}

Deno.test("receipts of many messages go together: 1,000 in 20 messages at most, one cell each", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await hurriedPair(stage);
  const [asking, handling] = [await alice.channel(), await bob.channel()];
  const to = bob.client.agentId;
  const sent = await Promise.all(
    Array.from({ length: 1000 }, (_, i) => asking.send(`${i}`, { to, receipt: "delivered" })),
  );
  const [asked, told] = [messageSizes(alice), messageSizes(bob)];
  await read(handling, 1000);
  const [last] = sent.slice(-1);
  await untilState(asking, last?.id ?? "", "delivered");
  await until("all are delivered", async () => {
    const states = await Promise.all(sent.map(({ id }) => stateOf(asking, id)));
    return states.every((state) => state === "delivered");
  });
  assert(told.length <= 20, `${told.length} messages`);
  // One that asks for receipts, or is one, is as large as a message that does not.
  await asking.send("plain", { to });
  await asking.send("asking", { to, receipt: "delivered" });
  const sizes = new Set([...asked, ...told]);
  assertEquals([asked.length, sizes.size, [...sizes].every((size) => size < 4096)], [2, 1, true]);
});

/** Of one that acknowledges 100 messages one by one, and has told nobody yet. */
async function countWrites(receipt: "delivered" | undefined): Promise<number> {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  bob.after = (ms, run) => ms >= 1000 && ms <= 6000 ? () => {} : runtime.after(ms, run);
  const [asking, handling] = [await alice.channel(), await bob.channel()];
  const to = bob.client.agentId;
  const asked = receipt === undefined ? {} : { receipt };
  await Promise.all(Array.from({ length: 100 }, (_, i) => asking.send(`${i}`, { to, ...asked })));
  const reader = handling.envelopes({ ack: "manual" });
  const before = bob.writes;
  for (let count = 0; count < 100; count++) await (await reader.next()).value?.ack();
  return bob.writes - before;
}

Deno.test("acknowledging with a debt takes as many writes as without, but for 5 %", async () => {
  const [without, withDebt] = [await countWrites(undefined), await countWrites("delivered")];
  assert(without >= 100, `${without}`);
  assert(withDebt <= 1.05 * without, `${withDebt} and ${without}`);
});

Deno.test("what a rule holds is held until a person decides; what expires unread is refused", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await hurriedPair(stage);
  const [asking, handling] = [await alice.channel(), await bob.channel()];
  const to = bob.client.agentId;
  const held = await asking.send("held", { to, receipt: "delivered" });
  const reader = handling.envelopes();
  const { value: envelope } = await reader.next();
  if (envelope === undefined) throw new Error("it came");
  await handling.giveReceipt(envelope, "held");
  void reader.next();
  await untilState(asking, held.id, "held");
  await reader.return?.();
  await bob.restart();
  const again = await bob.channel();
  await again.giveReceipt(envelope, "refused");
  await untilState(asking, held.id, "refused");
  await again.giveReceipt(envelope, "done");
  const late = await asking.send("late", { to, receipt: "delivered", expiresInMs: 20 });
  // wait: its time is over
  await new Promise((resolve) => setTimeout(resolve, 60));
  void read(again, 1).catch(() => {});
  await untilState(asking, late.id, "refused");
  assertEquals(await stateOf(asking, held.id), "refused");
  assertEquals(asking.health().issues, []);
});

Deno.test("an agent that wants no messages has acknowledged none", async () => {
  await using stage = await Stage.open();
  const { alice } = await hurriedPair(stage);
  const carol = await stage.actor("carol");
  hurry(carol);
  const asking = await alice.channel();
  const welcome = await asking.addMember(await carol.client.generateKeyPackage());
  const discarding = await carol.client.joinChannel(asking.name, welcome, { receive: false });
  const to = carol.client.agentId;
  const { id } = await asking.send("unwanted", { to, receipt: "delivered" });
  await discarding.send("seen");
  await until("it is passed over", () => discarding.health().unread === 0);
  await carol.restart();
  const { id: next } = await asking.send("wanted", { to, receipt: "delivered" });
  await read(await carol.channel(), 1);
  await untilState(asking, next, "delivered");
  assertEquals(await stateOf(asking, id), undefined);
});

Deno.test("while a member runs a version without receipts, send() says so and nobody sends any", async () => {
  await using stage = await Stage.open();
  stage.postQuantum = "prefer";
  const { alice, bob } = await hurriedPair(stage);
  const old = await stage.actor("old");
  const known = leafExtensions.filter((type) => type !== receiptsCapability);
  await addOlderMember(alice, old, stage, known);
  const [asking, handling] = [await alice.channel(), await bob.channel()];
  await until("all are there", () => handling.members().length === 3);
  const to = bob.client.agentId;
  const { id, receipts } = await asking.send("hello", { to, receipt: "done" });
  const [envelope] = await readEnvelopes(handling, 1);
  assertEquals([receipts, envelope?.receipt, await asking.receiptsOf(id)], [
    "unsupported",
    undefined,
    [],
  ]);
});

/** Returns false when there are fewer writes. */
async function addresseeDies(writes: number): Promise<boolean> {
  await using stage = await Stage.open();
  const { alice, bob } = await hurriedPair(stage);
  const [asking, handling] = [await alice.channel(), await bob.channel()];
  const to = bob.client.agentId;
  const events = receiptEvents(asking);
  const dead = bob.diesAfter(writes).then(() => true);
  const { id } = await asking.send("one", { to, receipt: "done" });
  const living = (async () => {
    const [envelope] = await readEnvelopes(handling, 1);
    await envelope?.done();
    await untilState(asking, id, "done");
    // The debt is deleted.
    for (let i = 0; i < 5; i++) await bob.agent.parts.store.list("none");
    return false;
  })().catch(() => dead);
  const hasDied = await Promise.race([dead, living]);
  await bob.crash();
  const again = await bob.channel();
  // It comes again, unless its acknowledgement was on disk with its debt.
  const stop = new AbortController();
  void (async () => {
    for await (const envelope of again.envelopes({ signal: stop.signal })) await envelope.done();
  })().catch(() => {});
  await until("the sender knows", async () => await stateOf(asking, id) !== undefined);
  const envelope = { id, sender: { agentId: alice.client.agentId }, receipt: "done" } as const;
  await again.giveReceipt(envelope, "done");
  await untilState(asking, id, "done");
  stop.abort();
  const order = events.join();
  assert(order === "delivered,done" || order === "done", order);
  assertEquals([asking.health().issues, events.length <= 2], [[], true]);
  return hasDied;
}

Deno.test("an addressee dies at any write to its disk: no receipt is lost, and none takes another back", async () => {
  let moments = 0;
  while (await addresseeDies(moments)) assert(++moments < 30);
  assert(moments > 2, `${moments}`);
});

/** The same of the one that asks. */
async function askerDies(writes: number): Promise<boolean> {
  await using stage = await Stage.open();
  const { alice, bob } = await hurriedPair(stage);
  const [asking, handling] = [await alice.channel(), await bob.channel()];
  const to = bob.client.agentId;
  const dead = alice.diesAfter(writes).then(() => true);
  let id: string | undefined;
  void (async () => {
    for await (const envelope of handling.envelopes()) await envelope.done();
  })().catch(() => {});
  const living = (async () => {
    ({ id } = await asking.send("one", { to, receipt: "done" }));
    await untilState(asking, id, "done");
    return false;
  })().catch(() => dead);
  const hasDied = await Promise.race([dead, living]);
  await alice.crash();
  const again = await alice.channel();
  if (id !== undefined) await untilState(again, id, "done");
  assertEquals(again.health().issues, []);
  return hasDied;
}

Deno.test("a sender dies at any write to its disk: it hears what became of every message that it knows of", async () => {
  let moments = 0;
  while (await askerDies(moments)) assert(++moments < 30);
  assert(moments > 1, `${moments}`);
});

Deno.test("receipts that nobody may give change nothing, and name their sender", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  hurry(alice, bob, carol);
  const asking = await alice.channel();
  const events = receiptEvents(asking);
  const to = bob.client.agentId;
  const { id } = await asking.send("for bob", { to, receipt: "done" });
  const own = parseAgentId(alice.client.agentId);
  const [eve, honest] = [await carol.inside(), await bob.inside()];
  const receipt = (state: ReceiptState, about = id): Uint8Array =>
    encodeContent({
      kind: "receipt",
      fields: { to: [own] },
      body: encodeReceipts([{ id: about as MessageId, state }]),
    });
  const blamed = (): number => issueCount(asking, "bad_content");
  // Of anybody else.
  await eve.send(receipt("done"));
  await until("it is seen", () => blamed() === 1);
  // Of messages that were never sent, or that asked for nothing: nobody is to blame, who knows.
  const silent = await asking.send("not asked", { to });
  const unknown = binaryIdFromBytes<MessageId>(new Uint8Array(16).fill(7));
  await honest.send(receipt("done", unknown));
  await honest.send(receipt("done", silent.id));
  // Backwards.
  await honest.send(receipt("refused"));
  await untilState(asking, id, "refused");
  await honest.send(receipt("delivered"));
  await until("it is seen", () => blamed() === 2);
  // Twice an id, none, 65, states that are none, not a list, 9 KiB.
  const row = [new Uint8Array(16), 1];
  const bodies = [
    [row, row],
    [],
    Array.from({ length: 65 }, (_, i) => [
      new Uint8Array(16).fill(i),
      1,
    ]),
    [[new Uint8Array(16), 0]],
    [[new Uint8Array(16), 5]],
    "done",
    [[new Uint8Array(9 * 1024), 1]],
  ];
  for (const body of bodies) {
    await honest.send(
      encodeContent({ kind: "receipt", fields: { to: [own] }, body: encodeCbor(body) }),
    );
  }
  await until("all are seen", () => blamed() === 2 + bodies.length);
  assertEquals([await stateOf(asking, id), events], ["refused", ["refused"]]);
  // The channel goes on.
  const { id: next } = await asking.send("next", { to, receipt: "delivered" });
  await read(await bob.channel(), 3);
  await untilState(asking, next, "delivered");
});

Deno.test("receipts for another member and of another channel change nothing", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  hurry(alice, bob, carol);
  const [asking, other] = [await alice.channel(), await alice.manager.create("acme/ops/other")];
  await bob.manager.joinWithToken(other.name, await alice.manager.invite(other.name));
  const to = bob.client.agentId;
  const { id } = await asking.send("for bob", { to, receipt: "done" });
  const [own, others] = [parseAgentId(alice.client.agentId), parseAgentId(carol.client.agentId)];
  const body = encodeReceipts([{ id: id as MessageId, state: "done" }]);
  const [honest, elsewhere] = [await bob.inside(), await Inside.of(bob.agent, other.name)];
  await honest.send(encodeContent({ kind: "receipt", fields: { to: [others] }, body }));
  const skipped = skippedEvents(other);
  await elsewhere.send(encodeContent({ kind: "receipt", fields: { to: [own] }, body }));
  await until("it is skipped", () => skipped.length === 1);
  await honest.send(new TextEncoder().encode("behind them"));
  assertEquals(await read(asking, 1), ["behind them"]);
  assertEquals([await stateOf(asking, id), await asking.receiptsOf(id)], [undefined, [{
    agentId: to,
  }]]);
  assertEquals([issueCount(other, "bad_content"), await other.receiptsOf(id)], [0, []]);
  // The message is as good as before.
  await readEnvelopes(await bob.channel(), 1);
  await untilState(asking, id, "delivered");
});

Deno.test("a message that asks everybody owes nothing", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await hurriedPair(stage);
  const [asking, handling] = [await alice.channel(), await bob.channel()];
  const told = messageSizes(bob);
  const body = new TextEncoder().encode("for all");
  await (await alice.inside()).send(
    encodeContent({ kind: "message", fields: { receipt: "done" }, body }),
  );
  const { id } = await asking.send("for bob", { to: bob.client.agentId, receipt: "delivered" });
  const [first, second] = await readEnvelopes(handling, 2);
  assertEquals([first?.text(), second?.text()], ["for all", "for bob"]);
  await first?.done();
  await untilState(asking, id, "delivered");
  // One receipt, of the second one.
  assertEquals(told.length, 1);
  assertEquals([asking.health().issues, handling.health().issues], [[], []]);
});
