import { assert, assertEquals } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import { judgeReport, type ReportedLease } from "./lease_report.ts";

Deno.test("any sequence of reports keeps used + returned ≤ granted and equal to the lease's own count", () => {
  const random = createRandom(seedFromEnvironment());
  for (let round = 0; round < 2000; round++) {
    const granted = random.below(20);
    let lease: ReportedLease = {
      fence: 1,
      granted,
      consumed: 0,
      payload: 0,
      padding: 0,
      cover: 0,
      closed: false,
    };
    const total = { used: 0, returned: 0, cover: 0 };
    for (let i = 0; i < 10; i++) {
      const close = random.chance(0.2);
      const bytes = { payload: 0, padding: 0, cover: random.below(10) };
      const report = {
        leaseId: "",
        fence: random.chance(0.9) ? 1 : 2,
        consumed: random.below(25),
        bytes,
        close,
      };
      const { outcome, change } = judgeReport(lease, report);
      if (change === undefined) continue;
      assertEquals(outcome, "accepted");
      total.used += change.used;
      total.returned += change.returned;
      total.cover += change.bytes.cover;
      lease = { ...lease, consumed: report.consumed, ...bytes, closed: close };
    }
    const seed = `seed ${random.seed}, round ${round}`;
    assertEquals([total.used, total.cover], [lease.consumed, lease.cover], seed);
    assertEquals(total.returned, lease.closed ? granted - lease.consumed : 0, seed);
    assert(total.used + total.returned <= granted, seed);
  }
});
