// Durable readers of a real channel whose host crashes: what was left open comes again, and nothing
// else.
import { assertEquals } from "@std/assert";
import { type Actor, name, Stage, until } from "../../../tests/support/scenario/stage.ts";
import type { MessageReader, ReadMessage } from "./agent_handle.ts";
import type { Readers } from "./readers.ts";
import { SharedAgent } from "./shared_agent.ts";

const count = 300;
const numbers = Array.from({ length: count }, (_, i) => i);

async function readersOf({ agent }: Actor): Promise<Readers> {
  const shared = await SharedAgent.over(agent);
  return shared.readersOf(await shared.manager.channel(name));
}

async function open(actor: Actor, as: string): Promise<MessageReader> {
  return await (await readersOf(actor)).open({ as, tail: false, all: false, manual: true });
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

/** A channel in which so many messages wait for bob. */
async function fill(stage: Stage): Promise<Actor> {
  const { alice, bob } = await stage.pair();
  const channel = await alice.channel();
  await Promise.all(numbers.map((i) => channel.send(String(i))));
  await until("all messages there", async () => (await bob.channel()).health().unread === count);
  return bob;
}

Deno.test("messages left open in many bundles come again to their reader after crashes, and no other message does", async () => {
  await using stage = await Stage.open();
  const bob = await fill(stage);
  const worker = await open(bob, "worker");
  const messages = await take(worker, count);
  assertEquals(numbersOf(messages), numbers);
  const odd = numbers.filter((i) => i % 2 === 1);
  await Promise.all(messages.map(async ({ ack }, i) => i % 2 === 0 && await ack?.()));
  for (let crash = 0; crash < 2; crash++) {
    await bob.crash();
    assertEquals(numbersOf(await take(await open(bob, "worker"), odd.length)), odd);
  }
  // The last reader of a message has it on disk, too, although the channel remembers few of them
  // apart.
  await bob.crash();
  const others = await take(await open(bob, "default"), count);
  assertEquals(numbersOf(others), numbers);
  await Promise.all(others.map(async ({ ack }, i) => i % 2 === 0 && await ack?.()));
  for (const as of ["default", "worker"]) {
    await bob.crash();
    assertEquals(numbersOf(await take(await open(bob, as), odd.length)), odd);
  }
});

Deno.test("a loop beside one that holds many messages of the same reader does not get its own again after a crash", async () => {
  await using stage = await Stage.open();
  const bob = await fill(stage);
  const readers = await readersOf(bob);
  const options = { as: "default", tail: false, all: false };
  const holding = await readers.open({ ...options, manual: true });
  const going = await readers.open({ ...options, manual: false });
  const held: ReadMessage[] = [];
  for (let i = 0; i < count / 2; i++) {
    held.push(...await take(holding, 1));
    await take(going, 1);
  }
  // wait: positions that nobody waits for are written after 50 ms, and after a rest for the many
  // places
  await new Promise((resolve) => setTimeout(resolve, 500));
  await bob.crash();
  const shown = numbersOf(await take(await open(bob, "default"), held.length + 1));
  // The last one of the loop that went on was not acknowledged.
  assertEquals(shown, [...numbersOf(held), count - 1]);
});
