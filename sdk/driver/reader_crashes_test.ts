// Durable readers of a real channel whose host crashes: what was left open comes again, and nothing else.
import { assertEquals } from "@std/assert";
import { type Actor, name, Stage, until } from "../../tests/support/scenario/stage.ts";
import type { MessageReader, ReadMessage } from "./held.ts";
import { SharedAgent } from "./shared_agent.ts";

const count = 300;
const numbers = Array.from({ length: count }, (_, i) => i);

async function open({ agent }: Actor, as: string): Promise<MessageReader> {
  const shared = await SharedAgent.over(agent);
  return await shared.readersOf(await shared.manager.channel(name)).open({ as, tail: false, all: false, manual: true });
}

async function take(reader: MessageReader, wanted: number): Promise<ReadMessage[]> {
  const messages: ReadMessage[] = [];
  while (messages.length < wanted) {
    const message = await reader.next();
    if (message === undefined) break;
    messages.push(message);
  }
  return messages;
}

function numbersOf(messages: readonly ReadMessage[]): number[] {
  return messages.map(({ envelope }) => Number(envelope.text()));
}

Deno.test("messages left open in many bundles come again to their reader after crashes, and no other message does", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await alice.channel();
  await Promise.all(numbers.map((i) => channel.send(String(i))));
  await until("all messages there", async () => (await bob.channel()).health().unread === count);
  const worker = await open(bob, "worker");
  const messages = await take(worker, count);
  assertEquals(numbersOf(messages), numbers);
  const odd = numbers.filter((i) => i % 2 === 1);
  await Promise.all(messages.map(async ({ ack }, i) => i % 2 === 0 && await ack?.()));
  for (let crash = 0; crash < 2; crash++) {
    await bob.crash();
    assertEquals(numbersOf(await take(await open(bob, "worker"), odd.length)), odd);
  }
  // The last reader of a message has it on disk, too, although the channel remembers few of them apart.
  await bob.crash();
  const others = await take(await open(bob, "default"), count);
  assertEquals(numbersOf(others), numbers);
  await Promise.all(others.map(async ({ ack }, i) => i % 2 === 0 && await ack?.()));
  for (const as of ["default", "worker"]) {
    await bob.crash();
    assertEquals(numbersOf(await take(await open(bob, as), odd.length)), odd);
  }
});
