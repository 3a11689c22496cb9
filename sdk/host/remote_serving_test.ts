// A handler in a program, for a host that the test plays.
import { assertEquals } from "@std/assert";
import { agentIdOf } from "../../proto/mod.ts";
import { createError } from "../base/errors.ts";
import { HostConnection } from "./connection.ts";
import { encodeFrame, FrameReader, type Header } from "./frames.ts";
import { HostLink } from "./link.ts";
import { serveRemote } from "./remote_serving.ts";
import { encodeError } from "./wire_errors.ts";

const sender = { agentId: agentIdOf(new Uint8Array(32), Uint8Array.of(1)), identity: "alice", keyUnchanged: true };
const request: Header = {
  item: 1,
  envelope: { kind: "request", id: "A".repeat(22), sender, timeMs: 1 },
  attempt: 1,
  deadlineMs: 60_000,
};

Deno.test("a handler whose host has too much to do for a moment asks again, and goes on", async () => {
  const waits: number[] = [];
  const runtime = {
    nowMs: (): number => 0,
    after: (ms: number, run: () => void): () => void => {
      waits.push(ms);
      queueMicrotask(run);
      return () => {};
    },
    randomBytes: (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length),
  };
  const heard: unknown[] = [];
  const reader = new FrameReader();
  const busy = { error: encodeError(createError("overloaded", "1024 calls are under way")) };
  const answers: Record<string, Header[]> = {
    serve: [{ ok: { stream: 3 } }],
    next: [busy, busy, { ok: request }, { ok: { done: true } }],
    reply: [{ ok: {} }],
  };
  const connection = new HostConnection({
    write: (bytes) => {
      for (const { header: { id, op } } of reader.push(bytes)) {
        heard.push(op);
        const answer = answers[String(op)]?.shift() ?? { ok: {} };
        queueMicrotask(() => connection.receive(encodeFrame({ id, ...answer })));
      }
    },
    close: () => {},
  });
  const link = new HostLink({ runtime, find: () => Promise.resolve(connection) });
  await serveRemote(link, "acme/ops/deploy", () => "yes", {}).ended;
  assertEquals(heard, ["serve", "next", "next", "next", "reply", "next"]);
  assertEquals(waits, [500, 500]);
});
