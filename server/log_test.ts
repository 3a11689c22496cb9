import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { encodeApiKey } from "../proto/mod.ts";
import { assertSafe, hostileNames } from "../tests/support/hostile_names.ts";
import { createLog, describeError, describeFailure } from "./log.ts";

Deno.test("a log line is one JSON object, and what looks like a secret is struck out", () => {
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line), nowMs: () => 0 });
  const token = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl";
  const key = encodeApiKey({ environment: "live", lookup: "AAAAAAAA", secret: "a".repeat(32) });
  const invite = `inv_${"B".repeat(40)}`;
  log("warn", "odd\nevent", { text: `with ${token}, ${key} and ${invite}` });
  assertEquals(JSON.parse(lines[0] ?? ""), {
    time: "1970-01-01T00:00:00.000Z",
    level: "warn",
    event: "odd\nevent",
    text: "with [secret], [secret] and [secret]",
  });
  log("error", "fault", { nested: { error: describeError(new Error(`${key}\nand ${token}`)) } });
  for (const line of lines) {
    assert(!line.includes(key) && !line.includes(token) && !line.includes("\n"), line);
  }
});

Deno.test("an error is logged by its words and its causes', never by its other fields", () => {
  const cause = Object.assign(new TypeError("inner"), { request: "canary" });
  const error = Object.assign(new Error("outer", { cause }), { code: "23505", payload: "canary" });
  assertEquals(describeFailure(error), {
    name: "Error",
    message: "outer",
    code: "23505",
    cause: { name: "TypeError", message: "inner" },
  });
  assertStringIncludes(String(describeError(error).stack), "log_test.ts");
  assert(!JSON.stringify(describeError(error)).includes("canary"));
  assertEquals(describeFailure("canary"), { name: "string" });
});

Deno.test("a line of the log shows every character that a stranger hides, and a program reads what was there", () => {
  for (const [what, text] of Object.entries(hostileNames)) {
    const lines: string[] = [];
    createLog({ write: (line) => void lines.push(line), nowMs: () => 0 })("info", "request", {
      path: text,
    });
    assertSafe(lines.join(), what);
    assertEquals(JSON.parse(lines.join()).path, text);
  }
});
