import { assert, assertEquals } from "@std/assert";
import { type ErrorCode, errorCodes } from "../../proto/mod.ts";
import { StaticError } from "../../sdk/mod.ts";
import { Failure } from "../failure.ts";
import { FailureWords } from "./failure_words.ts";

const words = new FailureWords({ program: "static", hideNames: false });
const hiding = new FailureWords({ program: "static", hideNames: true });

Deno.test("a model is told what it or its user can do, and nothing of what a channel is made of", () => {
  const sdk = "the Welcome is of epoch 7; see health()";
  const codes = Object.keys(errorCodes) as ErrorCode[]; // cast: its keys
  const replaced = codes.filter((code) => !words.of(new StaticError(code, sdk)).includes(sdk));
  for (const told of replaced.map((code) => words.of(new StaticError(code, sdk)))) {
    assert(
      !/epoch|commit|welcome|key ?package|leaf|cursor|relay|token|mls|\(\)|\{\}/i.test(told),
      told,
    );
    assert(told.length < 250, told);
  }
  // These are about what the model gave, and those of the HTTP API never reach one.
  const asSaid = [
    "invalid_request",
    "not_found",
    "not_allowed",
    "channel_error",
    "payload_too_large",
    "content_invalid",
  ];
  const http = [
    "method_not_allowed",
    "unsupported_media_type",
    "email_taken",
    "key_limit_reached",
    "conflict",
  ];
  const kept = [...asSaid, ...http, "remote_error", "code_invalid", "csrf_failed"];
  assertEquals(codes.filter((code) => !replaced.includes(code)).toSorted(), kept.toSorted());
  assertEquals(
    words.of(new StaticError("name_taken", `forget it with closeChannel("acme/ops/deploy")`)),
    "Your user has a channel of this name already. Choose another name, or ask your user to close the old one with: " +
      "static channel close",
  );
  assertEquals(
    words.of(new StaticError("rate_limited", "Slow down", { retryAfterMs: 2500 })),
    "Too many calls. Try again in 3 seconds",
  );
});

Deno.test("a failure of this program keeps its words, and its advice is for the user", () => {
  const failure = new Failure("store_corrupt", "policy.json is not a list of rules", {
    advice: "Set them with: {} mcp policy",
  });
  assertEquals(
    words.of(failure),
    "policy.json is not a list of rules. Tell your user: Set them with: static mcp policy",
  );
  const repeated = new Failure("mls_error", "epoch 7", {
    advice: "See: {} doctor",
    cause: new StaticError("mls_error", "epoch 7"),
  });
  assertEquals(words.of(repeated), words.of(new StaticError("mls_error", "epoch 7")));
});

Deno.test("names that agents chose are hidden in failures, too", () => {
  const error = new StaticError(
    "not_allowed",
    'Only owners let agents into channel "acme/ops/deploy": ask a1 (calls itself "a/b/c")',
  );
  assertEquals(words.of(error), error.message);
  assertEquals(
    hiding.of(error),
    'Only owners let agents into channel "acme/ops/deploy": ask a1 (calls itself [name hidden])',
  );
});
