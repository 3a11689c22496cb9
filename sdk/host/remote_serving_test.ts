// A handler in a program, for a host that the test plays.
import { assertEquals } from "@std/assert";
import { agentIdOf } from "../../proto/mod.ts";
import { createError } from "../base/errors.ts";
import { HostConnection } from "./connection.ts";
import { encodeFrame, type FrameHeader, HostFrameReader } from "./frames.ts";
import { HostLink } from "./host_link.ts";
import { serveRemote } from "./remote_serving.ts";
import { encodeError } from "./wire_errors.ts";

const sender = {
  agentId: agentIdOf(new Uint8Array(32), Uint8Array.of(1)),
  identity: "alice",
  keyUnchanged: true,
};
const request: FrameHeader = {
  item: 1,
  envelope: { kind: "request", id: "A".repeat(22), sender, timeMs: 1 },
  attempt: 1,
  deadlineMs: 60_000,
};

const runtime = {
  nowMs: (): number => 0,
  after: (_: number, run: () => void): () => void => {
    queueMicrotask(run);
    return () => {};
  },
  randomBytes: (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length),
};

/** A host that answers each operation in turn, and every further call with nothing. */
function playedHost(
  answers: Record<string, FrameHeader[]>,
  given = runtime,
): { link: HostLink; heard: FrameHeader[] } {
  const [reader, heard] = [new HostFrameReader(), [] as FrameHeader[]];
  const connection = new HostConnection({
    write: (bytes) => {
      for (const { header } of reader.push(bytes)) {
        heard.push(header);
        const answer = answers[String(header["op"])]?.shift() ?? { ok: {} };
        queueMicrotask(() => connection.receive(encodeFrame({ id: header["id"], ...answer })));
      }
    },
    close: () => {},
  });
  return { link: new HostLink({ runtime: given, find: () => Promise.resolve(connection) }), heard };
}

Deno.test("a handler whose host has too much to do for a moment asks again, and goes on", async () => {
  const waits: number[] = [];
  const after = (ms: number, run: () => void): () => void => {
    waits.push(ms);
    return runtime.after(ms, run);
  };
  const busy = { error: encodeError(createError("overloaded", "1024 calls are under way")) };
  const { link, heard } = playedHost({
    serve: [{ ok: { stream: 3 } }],
    next: [busy, busy, { ok: request }, { ok: { done: true } }],
  }, { ...runtime, after });
  await serveRemote(link, "acme/ops/deploy", () => "yes", {}).ended;
  assertEquals(heard.map(({ op }) => op), ["serve", "next", "next", "next", "reply", "next"]);
  assertEquals(waits, [500, 500]);
});

Deno.test("a handler that throws a value without a text has failed, and its host hears so", async () => {
  const answers = {
    serve: [{ ok: { stream: 3 } }],
    next: [{ ok: request }, { ok: { done: true } }],
  };
  const { link, heard } = playedHost(answers);
  await serveRemote(link, "acme/ops/deploy", () => {
    throw Object.create(null);
  }, {}).ended;
  assertEquals(heard.find(({ op }) => op === "fail")?.["message"], "a value that has no text");
});
