import { assertEquals } from "@std/assert";
import {
  type AgentId,
  binaryIdFromBytes,
  type MessageId,
  parseAgentId,
  type ReceiptState,
} from "../../../proto/mod.ts";
import { ask, hear, restoreAsked } from "./asked_receipts.ts";

const [alice, bob, eve] = [
  parseAgentId("A".repeat(22)),
  parseAgentId("B".repeat(22)),
  parseAgentId("E".repeat(22)),
];
const dayMs = 24 * 60 * 60 * 1000;

function idOf(number: number): MessageId {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(0, number);
  return binaryIdFromBytes<MessageId>(bytes);
}

function heard(
  asked: ReturnType<typeof restoreAsked>,
  from: AgentId,
  ...states: ReceiptState[]
): string[] {
  return states.map((state) => {
    const { news, blame, unknown } = hear(asked, { from, receipts: [{ id: idOf(1), state }] }, 0);
    return blame ?? (unknown > 0 ? "unknown" : news.length === 0 ? "nothing" : "news");
  });
}

Deno.test("receipts of those that a message was for are news once, and go forward alone", () => {
  const asked = restoreAsked([]);
  ask(asked, { id: idOf(1), to: [alice, bob] }, 0);
  const back = "a receipt takes back an earlier one";
  assertEquals(heard(asked, alice, "held", "held", "delivered", "held", "done", "delivered"), [
    "news",
    "nothing",
    "news",
    back,
    "news",
    back,
  ]);
  assertEquals(heard(asked, bob, "refused", "refused", "delivered"), ["news", "nothing", back]);
  assertEquals([...asked.values()].map(({ by }) => [...by.values()].map((said) => said?.state)), [[
    "done",
    "refused",
  ]]);
});

Deno.test("a receipt of anybody else, or of a message that was never sent, changes nothing", () => {
  const asked = restoreAsked([]);
  assertEquals(heard(asked, alice, "delivered"), ["unknown"]);
  ask(asked, { id: idOf(1), to: [alice] }, 0);
  assertEquals(heard(asked, eve, "done"), [
    "a receipt is of an agent that the message was not for",
  ]);
  assertEquals(asked.get(idOf(1))?.by, new Map([[alice, undefined]]));
});

Deno.test("asking again keeps what was heard; the oldest go, and those that nobody answers any more", () => {
  const asked = restoreAsked([]);
  ask(asked, { id: idOf(1), to: [alice] }, 0);
  heard(asked, alice, "delivered");
  assertEquals(ask(asked, { id: idOf(1), to: [alice] }, 0), [idOf(1)]);
  assertEquals(heard(asked, alice, "delivered"), ["nothing"]);
  assertEquals(ask(asked, { id: idOf(2), to: [alice] }, 14 * dayMs + 1), [idOf(2), idOf(1)]);
  for (let i = 3; i < 4098; i++) ask(asked, { id: idOf(i), to: [alice] }, 14 * dayMs);
  assertEquals([asked.size, asked.has(idOf(2))], [4096, true]);
  ask(asked, { id: idOf(5000), to: [alice] }, 14 * dayMs);
  assertEquals([asked.size, asked.has(idOf(2))], [4096, false]);
});
