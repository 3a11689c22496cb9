import { assertEquals, assertThrows } from "@std/assert";
import { replyIdOf } from "../../proto/mod.ts";
import { StaticError } from "../base/errors.ts";
import type { IncomingEnvelope } from "./incoming.ts";
import type { SentRequest } from "./ports.ts";
import { Requester } from "./requester.ts";
import { alice, bob, createPorts, type TestPorts } from "./testing/ports.ts";

const timeoutMs = 1000;

function replyTo({ id, secret, deadlineMs }: SentRequest): IncomingEnvelope {
  const fields = { to: [bob], replyTo: id, expiryMs: deadlineMs };
  const replyId = replyIdOf({ id, from: bob, secret }, alice);
  const opened = {
    id: replyId,
    sender: alice,
    identity: new Uint8Array(1),
    keyUnchanged: true,
    knownAs: undefined,
    timeMs: 0,
    sequence: 1,
  };
  return { ...opened, kind: "reply", lane: "reply", fields, body: new Uint8Array(1) };
}

/** A request with a key that was answered: both lie on the disk. */
async function askWithKey({ ports, records, clock }: TestPorts): Promise<Requester> {
  const requester = new Requester(ports);
  const answers = requester.ask("?", [alice], { key: "order-17", timeoutMs });
  await clock.settle();
  const [asked] = records.asked.values();
  if (asked !== undefined) await requester.reply({ incoming: replyTo(asked), done: () => {} });
  assertEquals((await answers.next()).value?.ok, true);
  assertEquals([records.asked.size, records.replies.size], [1, 1]);
  return requester;
}

Deno.test("a request with a key and the replies to it are gone from the disk with its deadline", async () => {
  const stage = createPorts();
  await askWithKey(stage);
  await stage.clock.advance(timeoutMs - 1);
  assertEquals(stage.records.replies.size, 1);
  await stage.clock.advance(2);
  assertEquals([stage.records.asked.size, stage.records.replies.size, stage.clock.timers], [
    0,
    0,
    0,
  ]);
});

Deno.test("what an earlier life kept beyond its deadline is gone with the next connection", async () => {
  const stage = createPorts();
  (await askWithKey(stage)).end(new StaticError("transport_error", "closed"));
  assertEquals(stage.clock.timers, 0);
  stage.clock.stall(timeoutMs);
  new Requester(stage.ports).connected();
  await stage.clock.settle();
  assertEquals([stage.records.asked.size, stage.records.replies.size], [0, 0]);
});

Deno.test("as many requests wait for replies as a channel keeps, and no more", () => {
  const { ports } = createPorts();
  const requester = new Requester(ports);
  for (let i = 0; i < 4096; i++) requester.ask("?", [alice], {});
  const error = assertThrows(() => requester.ask("?", [alice], {}), StaticError);
  assertEquals(error.code, "queue_full");
  requester.end(new StaticError("transport_error", "closed"));
});

Deno.test("a request to an agent that is not known has no more than its own time, however long catching up takes", async () => {
  const { ports, clock } = createPorts({
    isMember: () => false,
    catchUp: () => new Promise(() => {}),
  });
  const codes: unknown[] = [];
  const answers = new Requester(ports).ask("?", [alice], { timeoutMs });
  void answers.next().then(({ value }) => codes.push(value?.ok === false && value.error.code));
  await clock.advance(timeoutMs - 1);
  assertEquals(codes, []);
  await clock.advance(2);
  assertEquals([codes, clock.timers], [["request_timeout"], 0]);
});
