/**
 * Receipts in answers to a model: real channels, no messages beside them, and a time at whose
 * end they would be without receipts.
 */
import { assertEquals } from "@std/assert";
import { type Actor, readEnvelopes, runtime, Stage } from "../../tests/support/scenario/stage.ts";
import { Inbox, type InboxBatch } from "./inbox.ts";
import { SessionReceipts } from "./receipts.ts";

/** Receipts wait for seconds; here for a hundredth of that. */
function hurry(actor: Actor): void {
  actor.after = (ms, run) => runtime.after(ms >= 1000 && ms <= 6000 ? ms / 100 : ms, run);
}

interface Model {
  readonly inbox: Inbox;
  readonly wait: (call: number) => Promise<InboxBatch>;
  readonly ask: (text: string) => Promise<string>;
}

/** A session of alice's, who asks bob. */
async function createModel(alice: Actor, bob: Actor): Promise<Model> {
  const channel = await alice.channel();
  const receipts = new SessionReceipts();
  const inbox = new Inbox({
    reader: "mcp",
    channels: () => Promise.resolve([]),
    deadline: (ms) => AbortSignal.timeout(ms),
    judge: () => Promise.resolve("accept"),
    released: () => Promise.resolve([]),
    notes: { give: () => Promise.resolve(new Set()), forget: () => Promise.resolve() },
    receipts,
  });
  return {
    inbox,
    wait: (call) => {
      const { signal } = new AbortController();
      return inbox.wait({ call, signal, timeoutMs: 120_000, maxMessages: 10 });
    },
    ask: async (text) => {
      const { id } = await channel.send(text, { to: bob.client.agentId, receipt: "done" });
      receipts.ask(channel, id);
      return id;
    },
  };
}

/** The ids and states that a model is told. */
function told({ receipts }: InboxBatch): readonly string[] {
  return receipts.map(({ id, state }) => `${id} ${state}`);
}

Deno.test("a question ends as soon as there is a receipt, and the next one tells what came after it", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  hurry(bob);
  const { inbox, wait, ask } = await createModel(alice, bob);
  const id = await ask("build it");
  const first = wait(1);
  const [envelope] = await readEnvelopes(await bob.channel(), 1);
  assertEquals(told(await first), [`${id} delivered`]);
  inbox.sent(1);
  const second = wait(2);
  await envelope?.done();
  assertEquals(told(await second), [`${id} done`]);
  inbox.sent(2);
  // Neither is told again.
  const third = wait(3);
  const next = await ask("and this");
  await readEnvelopes(await bob.channel(), 1);
  assertEquals(told(await third), [`${next} delivered`]);
});

Deno.test("receipts of an answer that was given up come again, and others once", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  hurry(bob);
  const { inbox, wait, ask } = await createModel(alice, bob);
  const id = await ask("build it");
  await readEnvelopes(await bob.channel(), 1);
  assertEquals(told(await wait(1)), [`${id} delivered`]);
  inbox.givenUp(1);
  // Of questions that are asked at the same time one is told.
  const [again, other] = [wait(2), wait(3)];
  assertEquals(told(await again), [`${id} delivered`]);
  const next = await ask("and this");
  await readEnvelopes(await bob.channel(), 1);
  assertEquals(told(await other), [`${next} delivered`]);
});
