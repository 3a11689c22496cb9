import { assert, assertEquals } from "@std/assert";
import { encodeApiKey } from "../proto/mod.ts";
import { createBatchedOutput, createLogger, describeError } from "./batched_output.ts";

Deno.test("a log line is one JSON object and strikes out keys and tokens wherever they stand", () => {
  const lines: string[] = [];
  const logger = createLogger({ write: (line) => lines.push(line), now: () => 0 });
  const key = encodeApiKey({ environment: "live", lookup: "AAAAAAAA", secret: "a".repeat(32) });
  const token = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";
  logger.log("error", "request", {
    nested: { text: `Bearer ${key}\nand ${token}` },
    error: describeError(new Error(key)),
  });
  const [line = ""] = lines;
  assertEquals(JSON.parse(line).time, "1970-01-01T00:00:00.000Z");
  assert(!line.includes(key) && !line.includes(token) && !line.includes("\n"), line);
});

Deno.test("describeError() keeps name, message, code and causes, and drops every other field", () => {
  const error = Object.assign(new Error("outer", { cause: new TypeError("inner") }), {
    code: "23505",
    parameters: ["canary"],
    detail: "canary",
  });
  const text = JSON.stringify(describeError(error));
  assert(!text.includes("canary") && text.includes("23505") && text.includes("inner"), text);
});

Deno.test("batched output writes every line once, in order, also when the descriptor takes only a part", () => {
  const written: number[] = [];
  const output = createBatchedOutput({
    writeSync: (bytes) => {
      const taken = Math.min(3, bytes.length);
      written.push(...bytes.subarray(0, taken));
      return taken;
    },
    intervalMs: 1000,
  });
  output.write("first");
  output.write("second");
  assertEquals(written.length, 0);
  output.flush();
  output.flush();
  assertEquals(new TextDecoder().decode(new Uint8Array(written)), "first\nsecond\n");
});
