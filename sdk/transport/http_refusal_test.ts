import { assertEquals } from "@std/assert";
import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack, AnySchema } from "@bufbuild/protobuf/wkt";
import { ErrorDetailSchema } from "../../proto/wire/grpc.ts";
import { busyEndOf, grpcStreamEndOf, streamEndOf } from "./http_refusal.ts";

const detail = create(ErrorDetailSchema, {
  code: "overloaded",
  message: "no place",
  epoch: 7n,
  retryAfterMs: 30_000n,
  padding: new Uint8Array(200),
});
const expected = { code: "overloaded", message: "no place", retryAfterMs: 30_000 } as const;

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(/=+$/, "");
}

/** `google.rpc.Status`: code, message, details. */
function statusOf(...details: readonly Uint8Array[]): string {
  const parts = details.flatMap((
    each,
  ) => [0x1a, each.length & 0x7f | 0x80, each.length >> 7, ...each]);
  return base64(Uint8Array.from([0x08, 14, 0x12, 2, 0x6e, 0x6f, ...parts]));
}

Deno.test("the relay's reason and the time that it names arrive over Connect and over gRPC", () => {
  const value = base64(toBinary(ErrorDetailSchema, detail));
  const error = {
    code: "unavailable",
    message: "no place",
    details: [{ type: "static.relay.v1.ErrorDetail", value }],
  };
  assertEquals(streamEndOf(JSON.stringify(error), "otherwise"), expected);
  assertEquals(streamEndOf(JSON.stringify({ error }), "otherwise"), expected);
  const other = toBinary(
    AnySchema,
    create(AnySchema, { typeUrl: "type.example/other", value: new Uint8Array(150) }),
  );
  const packed = toBinary(AnySchema, anyPack(ErrorDetailSchema, detail));
  assertEquals(grpcStreamEndOf(statusOf(other, packed), "otherwise"), expected);
});

Deno.test("a status of gRPC that is missing or cannot be read leaves the text beside it", () => {
  for (
    const status of [
      "",
      "?",
      statusOf(),
      "//////",
      base64(Uint8Array.of(0x1a, 200, 1)),
      statusOf(Uint8Array.of(9)),
    ]
  ) {
    assertEquals(grpcStreamEndOf(status, "otherwise"), { message: "otherwise" }, status);
  }
});

Deno.test("429 and 503 mean busy, of the relay's port and of somebody between; no other status is a reason", () => {
  const message = "HTTP status";
  assertEquals(busyEndOf(429, "1", { message }), {
    code: "rate_limited",
    message,
    retryAfterMs: 1_000,
  });
  assertEquals(busyEndOf(503, null, { message }), { code: "overloaded", message });
  assertEquals(busyEndOf(503, "Wed, 18 Nov 2026 09:00:00 GMT", { message }), {
    code: "overloaded",
    message,
  });
  assertEquals(busyEndOf(503, "5", expected), expected);
  assertEquals(busyEndOf(401, null, { code: "auth_failed", message }), { message });
});
