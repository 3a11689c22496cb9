import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { faultNamed, FaultRun } from "./fault_run.ts";

async function inFile(use: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-run-" });
  try {
    await use(`${folder}/lines`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a campaign that was interrupted does what no audit came after, and its slowest recovery counts", () =>
  inFile(async (path) => {
    const first = new FaultRun({ wanted: 3, path });
    await first.tell({ kind: "a", recoveryMs: 10 });
    await first.tell({ audited: 1, recoveries: { a: [10] } });
    await first.tell({ kind: "b", recoveryMs: 40_000 });
    const second = new FaultRun({ wanted: 3, path });
    assertEquals(await second.missing(), 2);
    await assertRejects(() => second.assertComplete(), Error, "2 of 3 faults are missing");
    await second.tell({ kind: "b", recoveryMs: 20 });
    await second.tell({ audited: 2, recoveries: { a: [5], b: [20] } });
    await second.assertComplete();
    assertEquals(await second.recoveries(), { a: [10, 5], b: [20] });
    assertEquals(await second.slowest(), { kind: "b", ms: 40_000 });
  }));

Deno.test("a campaign that failed does not go on", () =>
  inFile(async (path) => {
    const first = new FaultRun({ wanted: 1, path });
    const lose = (): Promise<void> => Promise.reject(new Error("a text was lost"));
    await assertRejects(() => first.attempt(lose), Error, "a text was lost");
    await first.tell({ audited: 1, recoveries: { a: [10] } });
    const second = new FaultRun({ wanted: 1, path });
    const questions = [() => second.missing(), () =>
      second.assertComplete(), () =>
      second.recoveries()];
    for (const ask of questions) {
      await assertRejects(ask, Error, "a text was lost");
    }
  }));

Deno.test("a fault that is misspelt is refused", () => {
  const all = { "leader killed": () => {}, "relay frozen": () => {} };
  assertThrows(() => faultNamed(all, "leader"), RangeError, "leader killed, relay frozen");
});
