import { assertEquals } from "@std/assert";
import { type MessageId, parseAgentId, parseBinaryId, replySecretBytes } from "../../proto/mod.ts";
import type { Incoming } from "./incoming.ts";
import type { Ports, RequestEvent } from "./ports.ts";
import { Service } from "./service.ts";

const [alice, bob] = [parseAgentId("A".repeat(22)), parseAgentId("B".repeat(22))];
const deadlineMs = 1000;

function request(): Incoming {
  const fields = { to: [bob], deadlineMs, replySecret: new Uint8Array(replySecretBytes) };
  const opened = { id: parseBinaryId<MessageId>("C".repeat(21) + "A"), sender: alice, identity: new Uint8Array(1) };
  const at = { verified: true, timeMs: 0, sequence: 1 };
  return { ...opened, ...at, kind: "request", lane: "request", fields, body: new Uint8Array(1) };
}

/** A channel whose time the test moves, and whose disk takes as long as `write` says. */
function createPorts(
  write: (time: { nowMs: number }) => void,
): { ports: Ports; events: string[]; time: { nowMs: number } } {
  const time = { nowMs: 0 };
  const events: string[] = [];
  const ports: Ports = {
    agentId: bob,
    runtime: { nowMs: () => time.nowMs, after: () => () => {}, randomBytes: (length) => new Uint8Array(length) },
    relayNowMs: () => time.nowMs,
    maxAgeMs: () => deadlineMs,
    records: {
      asked: () => Promise.resolve([]),
      putAsked: () => ({ type: "delete", kind: "asked", id: "" }),
      deleteAsked: () => [],
      putReply: () => ({ type: "delete", kind: "reply", id: "" }),
      reply: () => Promise.resolve(undefined),
      attempts: () => Promise.resolve(new Map()),
      putAttempts: (id) => ({ type: "delete", kind: "run", id }),
      deleteAttempts: (id) => ({ type: "delete", kind: "run", id }),
      write: () => Promise.resolve(write(time)),
    },
    send: () => Promise.resolve(),
    isMember: () => true,
    stands: () => Promise.resolve(false),
    tell: ({ type }: RequestEvent) => void events.push(type),
    refuse: () => {},
  };
  return { ports, events, time };
}

for (
  const { lateMs, runs, told } of [{ lateMs: 1, runs: 1, told: [] }, { lateMs: deadlineMs, runs: 0, told: ["expired"] }]
) {
  Deno.test(`a disk that takes ${lateMs} ms to note a request with a deadline after ${deadlineMs}: ${runs} runs`, async () => {
    const { ports, events } = createPorts((time) => time.nowMs += lateMs);
    const service = new Service(ports);
    service.connected(0);
    let ran = 0;
    service.serve(() => void ran++);
    const { promise, resolve } = Promise.withResolvers<void>();
    service.request({ incoming: request(), done: () => resolve() });
    await promise;
    assertEquals([ran, events], [runs, told]);
    service.end();
  });
}
