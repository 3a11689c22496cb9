import { assert, assertEquals } from "@std/assert";
import { leaseReportBatch, leaseRequest, leaseResponse } from "./lease.ts";

const uuid = "0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11";
const request = { nonce: uuid, relay_id: "relay-1", account_id: uuid, messages: 1000 };
const report = {
  lease_id: uuid,
  fence: 1,
  consumed: 2,
  bytes: { payload: 3, padding: 4, cover: 5 },
  close: false,
};

Deno.test("leaseRequest accepts what a relay sends, also without messages", () => {
  assertEquals(leaseRequest.parse(request), request);
  assertEquals(leaseRequest.parse({ ...request, messages: 0 }).messages, 0);
});

Deno.test("leaseRequest refuses wrong types, ranges and unknown fields", () => {
  for (
    const change of [
      { messages: -1 },
      { messages: 1.5 },
      { messages: "10" },
      { messages: 1_000_001 },
      { account_id: "x" },
      { nonce: undefined },
      { relay_id: "" },
      { relay_id: "a b" },
      { relay_id: "r".repeat(65) },
      { extra: 1 },
    ]
  ) {
    assert(!leaseRequest.safeParse({ ...request, ...change }).success, JSON.stringify(change));
  }
});

Deno.test("leaseReportBatch takes 1 to 100 reports with whole, non-negative counts", () => {
  const batch = (reports: unknown[]): boolean =>
    leaseReportBatch.safeParse({ relay_id: "r", reports }).success;
  assert(batch([report]) && batch(new Array(100).fill(report)));
  assert(!batch([]) && !batch(new Array(101).fill(report)));
  assert(
    !batch([{ ...report, consumed: -1 }]) &&
      !batch([{ ...report, bytes: { payload: 1, padding: 1 } }]),
  );
});

Deno.test("leaseResponse lets a newer API add fields", () => {
  const lease = {
    id: uuid,
    fence: 1,
    account_id: uuid,
    granted: 10,
    consumed: 0,
    expires_at: "2026-11-15T00:05:00.000Z",
  };
  const period = { start: "2026-11-01T00:00:00.000Z", end: "2026-12-01T00:00:00.000Z" };
  assert(
    leaseResponse.safeParse({ lease: { ...lease, added: true }, plan: "free", period, added: 1 })
      .success,
  );
});
