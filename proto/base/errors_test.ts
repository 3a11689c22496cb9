import { assert, assertEquals } from "@std/assert";
import { errorCodeOfClose, errorCodes, isErrorCode, WireError } from "./errors.ts";

/** The client table of the interface: class and codes. */
const interfaceTable = {
  join_timeout: "TransportError",
  auth_failed: "AuthError",
  auth_key_invalid: "AuthError",
  transport_error: "TransportError",
  connection_error: "TransportError",
  listener_died: "TransportError",
  channel_error: "ChannelError",
  quota_exceeded: "QuotaExceededError",
  mls_error: "MlsError",
} as const;

/** The HTTP codes that the API answers with. */
const httpTable = {
  invalid_request: 400,
  auth_failed: 401,
  auth_key_invalid: 401,
  not_found: 404,
  method_not_allowed: 405,
  email_taken: 409,
  key_limit_reached: 409,
  account_suspended: 403,
  conflict: 409,
  code_invalid: 400,
  csrf_failed: 403,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  overloaded: 503,
} as const;

Deno.test("every code of the interface's client table is in the list, under its class", () => {
  for (const [code, errorClass] of Object.entries(interfaceTable)) {
    assert(isErrorCode(code), code);
    assertEquals(errorCodes[code].errorClass, errorClass);
  }
});

Deno.test("every HTTP code has its status", () => {
  for (const [code, status] of Object.entries(httpTable)) {
    assert(isErrorCode(code), code);
    assertEquals(errorCodes[code].http, status);
  }
});

Deno.test("close codes are unique and lead back to their code", () => {
  for (const [code, { close }] of Object.entries(errorCodes)) {
    assertEquals(errorCodeOfClose(close), code as never);
  }
  assertEquals(errorCodeOfClose(0), undefined);
});

Deno.test("statuses are ones that HTTP and gRPC know", () => {
  for (const [code, { http, grpc }] of Object.entries(errorCodes)) {
    assert(http >= 200 && http < 600, code);
    assert(grpc >= 1 && grpc <= 16, code);
  }
});

Deno.test("only own names are codes", () => {
  assert(!isErrorCode("toString") && !isErrorCode("") && !isErrorCode("Not_Found"));
});

Deno.test("WireError carries code, request id and cause", () => {
  const cause = new Error("inner");
  const error = new WireError("protocol_error", "text", { cause, requestId: 5 });
  assertEquals([error.code, error.requestId, error.cause, error.name], [
    "protocol_error",
    5,
    cause,
    "WireError",
  ]);
});
