import { assertEquals } from "@std/assert";
import { type Circumstances, judge } from "./append_rule.ts";

const now: Circumstances = { epoch: 3, isPaid: true, full: undefined, isOvertaken: false };

Deno.test("judge() takes an entry of the channel's epoch, and a founding in any epoch of its range", () => {
  assertEquals(judge({ epoch: 3 }, now), undefined);
  for (const epoch of [2, 4]) assertEquals(judge({ epoch }, now), { kind: "conflict", epoch: 3 });
  assertEquals(judge({ epoch: 10, fromEpoch: 3 }, now), undefined);
  assertEquals(judge({ epoch: 10, fromEpoch: 4 }, now), { kind: "conflict", epoch: 3 });
  assertEquals(judge({ epoch: 2, fromEpoch: 0 }, now), { kind: "conflict", epoch: 3 });
});

Deno.test("judge() looks at the epoch first, then at the charge, then at the room", () => {
  const worst: Circumstances = { epoch: 4, isPaid: false, full: "account", isOvertaken: false };
  assertEquals(judge({ epoch: 3 }, worst), { kind: "conflict", epoch: 4 });
  assertEquals(judge({ epoch: 4 }, worst), { kind: "lease_spent" });
  assertEquals(judge({ epoch: 4 }, { ...worst, isPaid: true }), { kind: "full", of: "account" });
  assertEquals(judge({ epoch: 4 }, { ...worst, isOvertaken: true }), {
    kind: "conflict",
    epoch: 4,
  });
});
