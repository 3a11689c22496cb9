// A handler's mistake is seen without a listener: once on the console of the process that runs it,
// besides the event.
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { z } from "zod";
import { type Channel, type Envelope, RemoteError } from "../../../sdk/mod.ts";
import { Stage } from "../../support/scenario/stage.ts";

/** Returns the lines that the console shows while this runs. */
async function shownBy(act: () => Promise<void>): Promise<string[]> {
  const [lines, before] = [[] as string[], console.error];
  console.error = (...words: unknown[]): void => void lines.push(words.join(" "));
  try {
    await act();
    return lines;
  } finally {
    console.error = before;
  }
}

async function failureOf(asking: Channel, to: string, value: unknown): Promise<RemoteError> {
  return await assertRejects(() => asking.request({ json: value }, { to }), RemoteError);
}

Deno.test("a handler's exception is shown once, with its place and cause and nothing that deceives; an answer is not", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const [asking, to] = [await alice.channel(), bob.client.agentId];
  (await bob.channel()).serve((request) => {
    if (request.json() === "known") throw new RemoteError("no such city");
    throw new TypeError(`bad ${request.json()}`, { cause: new Error("the disk is gone") });
  });
  const lines = await shownBy(async () => {
    assertEquals((await failureOf(asking, to, "known")).message, "no such city");
    assertEquals((await failureOf(asking, to, "\u202egnp.exe")).remoteCode, "handler_failed");
  });
  assertEquals(lines.length, 1);
  const [line = ""] = lines;
  for (
    const words of [
      alice.client.agentId,
      "TypeError: bad",
      "handler_failures_test.ts",
      "the disk is gone",
    ]
  ) {
    assertStringIncludes(line, words);
  }
  assert(!line.includes("\u202e"), "the console was deceived");
});

Deno.test("a request that does not fit the handler's schema is the requester's mistake: it is told which, and nothing is shown", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const [asking, serving, to] = [await alice.channel(), await bob.channel(), bob.client.agentId];
  const Question = z.object({ city: z.string() });
  await asking.send("not JSON");
  const other: Envelope = await serving.receiveEnvelope();
  serving.serve((request) => {
    const { city } = request.json(Question);
    // A mistake about the content of another message is the handler's own.
    return city === "Oslo" ? "4 degrees" : String(other.json(Question));
  });
  const lines = await shownBy(async () => {
    assertEquals((await asking.request({ json: { city: "Oslo" } }, { to })).text(), "4 degrees");
    const refused = await failureOf(asking, to, { city: 7 });
    assertEquals([refused.remoteCode, refused.retryable], ["content_invalid", false]);
    assertStringIncludes(refused.message, "city: ");
  });
  assertEquals([lines, serving.health().issues], [[], []]);
  const own = await shownBy(async () => {
    assertEquals((await failureOf(asking, to, { city: "Rome" })).remoteCode, "handler_failed");
  });
  assertEquals(own.length, 1);
});

Deno.test("a loop with a schema returns typed values, and passes over messages of other kinds, which do not come again", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const [sending, reading] = [await alice.channel(), await bob.channel()];
  const events = reading.events();
  const schema = z.object({ degrees: z.number().transform((degrees) => degrees + 273) });
  for (
    const value of ["text", { json: { degrees: "warm" } }, { json: { degrees: 4 } }, { json: [] }]
  ) {
    await sending.send(value);
  }
  await sending.send({ json: { degrees: 5 } });
  for (const ack of ["auto", "manual"] as const) {
    const values: number[] = [];
    for await (const envelope of reading.envelopes({ schema, ack })) {
      values.push(envelope.value.degrees);
      assertEquals(envelope.sender.agentId, alice.client.agentId);
      await envelope.ack();
      if (values.length === (ack === "auto" ? 2 : 1)) break;
    }
    assertEquals(values, ack === "auto" ? [277, 278] : [279]);
    await sending.send("text again");
    await sending.send({ json: { degrees: 6 } });
  }
  const skipped: string[] = [];
  while (skipped.length < 4) {
    const { value } = await events.next();
    if (value?.type === "skipped") skipped.push(value.why);
  }
  assertStringIncludes(skipped[1] ?? "", "degrees: ");
});
