import { assertEquals } from "@std/assert";
import { type MessageId, parseBinaryId, replySecretBytes } from "../../proto/mod.ts";
import type { IncomingEnvelope } from "./incoming.ts";
import { Service } from "./service.ts";
import { alice, bob, createPorts, type TestPorts } from "./testing/ports.ts";

const deadlineMs = 1000;

function request(again: boolean): IncomingEnvelope {
  const secret = { replySecret: new Uint8Array(replySecretBytes) };
  const fields = { to: [bob], deadlineMs, ...secret, ...(again && { again }) };
  const opened = {
    id: parseBinaryId<MessageId>("C".repeat(21) + "A"),
    sender: alice,
    identity: new Uint8Array(1),
  };
  const at = { keyUnchanged: true, knownAs: undefined, timeMs: 0, sequence: 1 };
  return { ...opened, ...at, kind: "request", lane: "request", fields, body: new Uint8Array(1) };
}

/**
 * One request to a handler, which then does this. Returns how often it ran when the request was
 * done with.
 */
async function serveOne(
  { ports }: TestPorts,
  { again = false, act = () => {} } = {},
): Promise<number> {
  const service = new Service(ports);
  service.connected(0);
  let ran = 0;
  service.serve(() => {
    ran++;
    act();
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  service.request({ incoming: request(again), done: () => resolve() });
  await promise;
  service.end();
  return ran;
}

for (
  const { lateMs, runs, told } of [{ lateMs: 1, runs: 1, told: [] }, {
    lateMs: deadlineMs,
    runs: 0,
    told: ["expired"],
  }]
) {
  Deno.test(`a disk that takes ${lateMs} ms to note a request with a deadline after ${deadlineMs}: ${runs} runs`, async () => {
    const stage = createPorts({ onWrite: (clock) => clock.stall(lateMs) });
    assertEquals([await serveOne(stage), stage.events], [runs, told]);
  });
}

Deno.test("a request of somebody who is no member any more is dropped, and not run", async () => {
  const stage = createPorts({ isMember: () => false });
  assertEquals([await serveOne(stage), stage.events], [0, ["request_dropped"]]);
});

Deno.test("a request that is asked again is not run when a reply to it stands in the log", async () => {
  for (const [stands, runs] of [[true, 0], [false, 1]] as const) {
    const stage = createPorts({ stands: () => Promise.resolve(stands) });
    assertEquals([await serveOne(stage, { again: true }), stage.events], [runs, []]);
  }
});

Deno.test("a handler that throws a value without a text has run once, and its request is answered", async () => {
  const stage = createPorts();
  const act = (): never => {
    throw Object.create(null);
  };
  const shown: string[] = [];
  const ports = {
    ...stage.ports,
    runtime: { ...stage.ports.runtime, show: (text: string) => void shown.push(text) },
  };
  assertEquals([await serveOne({ ...stage, ports }, { act }), stage.events], [1, [
    "handler_failed",
  ]]);
  assertEquals(shown.length, 1);
});
