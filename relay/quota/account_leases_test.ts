import { assertEquals } from "@std/assert";
import { parseAccountId } from "../../proto/mod.ts";
import { AccountLeases } from "./account_leases.ts";

const lease = {
  leaseId: "first",
  fence: 1,
  account: parseAccountId("0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11"),
  granted: 10,
  expiresAtMs: 1_000_000,
};

Deno.test("a message of which nobody knows whether it stands is not leased once more", () => {
  const leases = new AccountLeases();
  leases.add(lease, 0);
  leases.add({ ...lease, leaseId: "second" }, 0);
  const cost = { messages: 1, payloadBytes: 1 };
  for (let count = 0; count < 10; count++) {
    const charge = leases.take(cost, 0);
    if (charge !== undefined) leases.settle(charge, undefined);
  }
  // The log has counted all of them: the first lease would pay for nothing, again and again until
  // it ends.
  assertEquals(leases.take(cost, 0)?.leaseId, "second");
});
