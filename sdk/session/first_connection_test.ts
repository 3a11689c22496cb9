import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ErrorCode } from "../../proto/mod.ts";
import { StaticError } from "../base/errors.ts";
import { firstConnection } from "./first_connection.ts";
import { Bench } from "./testing/bench.ts";

/** A relay that refuses so often before it lets agents in. */
function refusing(times: number, code: ErrorCode, retryAfterMs: number): Bench {
  let refused = 0;
  return new Bench({
    relay: {
      script: (link, { id, operation }) => {
        if (operation !== "GetChallenge" || refused >= times) return false;
        refused++;
        link.error(id, code, { retryAfterMs });
        return true;
      },
    },
  });
}

/** Lets the time pass until the wait is over, and returns the result: the code of the error, or "online". */
async function outcomeOf(bench: Bench, signal?: AbortSignal): Promise<string> {
  let outcome: string | undefined;
  void firstConnection(bench.session, { nowMs: bench.clock.nowMs, signal }).then(
    () => outcome = "online",
    (error) => outcome = error instanceof StaticError ? error.code : String(error),
  );
  for (let passedMs = 0; passedMs < 60_000 && outcome === undefined; passedMs += 50) await bench.clock.advance(50);
  return outcome ?? "still waiting";
}

for (const code of ["overloaded", "relay_draining"] as const) {
  Deno.test(`a relay that says ${code} is asked again when it wants to be, and the caller notices nothing`, async () => {
    const bench = refusing(2, code, 2_000);
    assertEquals(await outcomeOf(bench), "online");
    assertEquals(bench.relay.links.length, 3);
    await bench.close();
  });
}

Deno.test("a relay that says that it drains, and is gone for a while then, is waited for", async () => {
  const bench: Bench = new Bench({
    relay: {
      script: (link, { id, operation }) => {
        if (operation !== "GetChallenge" || bench.relay.links.length > 1) return false;
        link.error(id, "relay_draining", { retryAfterMs: 500 });
        bench.relay.unreachable = new Error("connection refused");
        return true;
      },
    },
  });
  bench.clock.after(4_000, () => bench.relay.unreachable = undefined);
  assertEquals(await outcomeOf(bench), "online");
  assert(bench.relay.refused > 0);
  await bench.close();
});

Deno.test("a relay that stays busy is told to the caller with its own code", async () => {
  const bench = refusing(Infinity, "overloaded", 2_000);
  const beganMs = bench.clock.nowMs();
  assertEquals(await outcomeOf(bench), "overloaded");
  assert(bench.clock.nowMs() - beganMs <= 20_000);
  await bench.close();
});

Deno.test("a relay that wants to be asked in a minute, and every other refusal, are told at once", async () => {
  for (const [code, retryAfterMs] of [["overloaded", 60_000], ["rate_limited", 100]] as const) {
    const bench = refusing(1, code, retryAfterMs);
    const beganMs = bench.clock.nowMs();
    assertEquals(await outcomeOf(bench), code);
    assert(bench.clock.nowMs() - beganMs < 1_000);
    await bench.close();
  }
});

Deno.test("a signal ends the wait for a busy relay with its reason", async () => {
  const bench = refusing(Infinity, "overloaded", 2_000);
  const stop = new AbortController();
  const waiting = firstConnection(bench.session, { nowMs: bench.clock.nowMs, signal: stop.signal });
  await bench.clock.advance(3_000);
  stop.abort(new Error("enough"));
  await assertRejects(() => waiting, Error, "enough");
  await bench.close();
});
