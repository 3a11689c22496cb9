// Messages that nobody reads: requests and replies behind them go on, and everything is still there
// when somebody reads.
import { assertEquals } from "@std/assert";
import type { Channel } from "../../../sdk/mod.ts";
import { name, Stage, until } from "../../support/scenario/stage.ts";

/** More than an agent keeps of messages that nobody reads. */
const fill = { messages: 9, bytes: 1024 * 1024 } as const;

async function fillUp(channel: Channel): Promise<void> {
  for (let i = 0; i < fill.messages; i++) await channel.send(new Uint8Array(fill.bytes));
}

function isFull(channel: Channel): boolean {
  return channel.health().issues.some(({ kind }) => kind === "unread_messages");
}

async function readTexts(channel: Channel, count: number): Promise<string[]> {
  const texts: string[] = [];
  for (let i = 0; i < count; i++) {
    const { bytes } = await channel.receiveEnvelope();
    if (bytes.length < fill.bytes) texts.push(new TextDecoder().decode(bytes));
  }
  return texts;
}

Deno.test("behind messages that nobody reads, requests are served and replies arrive, also in later epochs; then all messages are read, and nothing runs again", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const [asking, serving] = [await alice.channel(), await bob.channel()];
  let runs = 0;
  serving.serve(() => `run ${++runs}`);
  asking.serve(() => "from alice");
  await fillUp(asking);
  await until("bob opens no more messages", () => isFull(serving));
  assertEquals((await asking.request("?", { to: bob.client.agentId })).text(), "run 1");
  assertEquals((await serving.request("?", { to: alice.client.agentId })).text(), "from alice");
  await asking.send("between");
  const carol = await stage.actor("carol");
  await carol.client.joinChannel(
    name,
    await asking.addMember(await carol.client.generateKeyPackage()),
  );
  assertEquals(
    (await (await carol.channel()).request("?", { to: bob.client.agentId })).text(),
    "run 2",
  );
  await asking.send("last");
  assertEquals(await readTexts(serving, fill.messages + 2), ["between", "last"]);
  assertEquals(await serving.receive({ timeoutMs: 20 }), undefined);
  await until("all is acknowledged", () => serving.health().unread === 0);
  assertEquals((await asking.request("?", { to: bob.client.agentId })).text(), "run 3");
  assertEquals(serving.health().issues.map(({ kind }) => kind), ["unread_messages"]);
});

Deno.test("a request is served behind more unread messages of its sender than keys are kept for", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const [asking, serving] = [await alice.channel(), await bob.channel()];
  serving.serve(() => "served");
  await fillUp(asking);
  const texts = Array.from({ length: 1100 }, (_, i) => `${i}`);
  await Promise.all(texts.map((text) => asking.send(text)));
  assertEquals((await asking.request("?", { to: bob.client.agentId })).text(), "served");
  assertEquals(await readTexts(serving, fill.messages + texts.length), texts);
  assertEquals([serving.health().missing, serving.health().unreadable], [[], []]);
});

Deno.test("killed behind messages that nobody reads, a handler runs what it had not answered again, and nothing else", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const [asking, serving] = [await alice.channel(), await bob.channel()];
  const runs: string[] = [];
  serving.serve((request) => {
    runs.push(`${request.text()} ${request.attempt}`);
    return request.text() === "slow" ? new Promise(() => {}) : "done";
  });
  await fillUp(asking);
  const to = bob.client.agentId;
  await asking.request("quick", { to });
  const slow = asking.request("slow", { to });
  await until("it runs", () => runs.length === 2);
  await bob.crash();
  const again = await bob.channel();
  again.serve((request) => {
    runs.push(`${request.text()} ${request.attempt}`);
    return "done after all";
  });
  assertEquals((await slow).text(), "done after all");
  await readTexts(again, fill.messages);
  await until("all is acknowledged", () => again.health().unread <= 1);
  assertEquals(runs, ["quick 1", "slow 1", "slow 2"]);
});
