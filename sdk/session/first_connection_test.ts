import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ErrorCode } from "../../proto/mod.ts";
import { SimulatedClock } from "../../tests/support/mod.ts";
import { createError, StaticError } from "../base/errors.ts";
import { firstConnection, patienceMs, whileBusy } from "./first_connection.ts";
import { Bench } from "./testing/bench.ts";

/** The simulated clock begins at a million. */
const untilMs = 1_000_000 + patienceMs;
const waited = { session: { untilMs } };

/** A relay that refuses so often before it lets agents in. */
function refusing(times: number, code: ErrorCode, retryAfterMs: number): Bench {
  let refused = 0;
  return new Bench({
    ...waited,
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

/**
 * Lets the time pass until the wait is over, and returns the result: the code of the error, or
 * "online".
 */
async function outcomeOf(bench: Bench, signal?: AbortSignal): Promise<string> {
  let outcome: string | undefined;
  void firstConnection(bench.session, signal).then(
    () => outcome = "online",
    (error) => outcome = error instanceof StaticError ? error.code : String(error),
  );
  for (let passedMs = 0; passedMs < 90_000 && outcome === undefined; passedMs += 50) {
    await bench.clock.advance(50);
  }
  return outcome ?? "still waiting";
}

for (const code of ["overloaded", "rate_limited", "relay_draining"] as const) {
  Deno.test(`a relay that says ${code} is asked again when it wants to be, and the caller notices nothing`, async () => {
    const bench = refusing(2, code, 2_000);
    assertEquals(await outcomeOf(bench), "online");
    assertEquals(bench.relay.links.length, 3);
    await bench.close();
  });
}

Deno.test("a relay that says that it drains, and is gone for a while then, is waited for", async () => {
  const bench: Bench = new Bench({
    ...waited,
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
  assert(bench.clock.nowMs() - beganMs <= patienceMs + 50);
  await bench.close();
});

Deno.test("a relay that was busy and never answers then is told when the time is over, however slow the network may be", async () => {
  const bench: Bench = new Bench({
    ...waited,
    relay: {
      script: (link, { id, operation }) => {
        if (operation !== "GetChallenge") return false;
        if (bench.relay.links.length === 1) link.error(id, "overloaded", { retryAfterMs: 100 });
        return true;
      },
    },
  });
  const beganMs = bench.clock.nowMs();
  assertEquals(await outcomeOf(bench), "connection_error");
  assert(
    bench.clock.nowMs() - beganMs <= patienceMs + 2_050,
    `${bench.clock.nowMs() - beganMs} ms`,
  );
  await bench.close();
});

Deno.test("a relay that cuts connections off in their opening is tried again; one that refuses them is told at once", async () => {
  for (
    const [reason, afterMs, outcome, tries] of [
      ["tls handshake eof", 2_500, "online", undefined],
      ["tls handshake eof", Infinity, "connection_error", 9],
      ["Connection refused (os error 111)", 2_500, "connection_error", 1],
    ] as const
  ) {
    const bench = new Bench(waited);
    const beganMs = bench.clock.nowMs();
    bench.relay.unreachable = new Error(reason);
    if (afterMs !== Infinity) bench.clock.after(afterMs, () => bench.relay.unreachable = undefined);
    assertEquals(await outcomeOf(bench), outcome, reason);
    if (tries !== undefined) assertEquals(bench.relay.refused, tries);
    assert(bench.clock.nowMs() - beganMs <= 27_500);
    await bench.close();
  }
});

Deno.test("a relay that wants to be asked after that time, and every other refusal, are told at once", async () => {
  const refusals = [["overloaded", patienceMs + 1], ["rate_limited", patienceMs + 1], [
    "quota_exceeded",
    100,
  ]] as const;
  for (const [code, retryAfterMs] of refusals) {
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
  const waiting = firstConnection(bench.session, stop.signal);
  await bench.clock.advance(3_000);
  stop.abort(new Error("enough"));
  await assertRejects(() => waiting, Error, "enough");
  await bench.close();
});

/** An API that answers so, one after the other, and asks how `connect` fares. */
async function askingApi(
  ...answers: readonly (StaticError | "token")[]
): Promise<{ outcome: string; tookMs: number }> {
  const clock = new SimulatedClock();
  const runtime = {
    ...clock,
    randomBytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)),
  };
  let [asked, outcome] = [0, "waits"];
  const beganMs = clock.nowMs();
  const ask = (): Promise<string> => {
    const answer = answers[Math.min(asked++, answers.length - 1)];
    return answer instanceof StaticError ? Promise.reject(answer) : Promise.resolve("token");
  };
  void whileBusy(ask, { untilMs: beganMs + patienceMs }, runtime).then(
    (token) => outcome = token,
    (error) => outcome = error instanceof StaticError ? error.message : String(error),
  );
  while (outcome === "waits") await clock.advance(50);
  assertEquals(clock.timers, 0);
  return { outcome, tookMs: clock.nowMs() - beganMs };
}

Deno.test("an API that is busy or restarts is asked again when it wants to be", async () => {
  const limited = createError("rate_limited", "Too many requests", { retryAfterMs: 2_000 });
  const away = createError("connection_error", "nobody listens");
  const { outcome, tookMs } = await askingApi(
    limited,
    createError("overloaded", "stopping"),
    away,
    limited,
    "token",
  );
  assertEquals(outcome, "token");
  assert(tookMs >= 4_000 && tookMs < 20_000, String(tookMs));
});

Deno.test("an API that stays busy is told with its own words, and one that refuses for good at once", async () => {
  const busy = createError("overloaded", "no place in the queue", { retryAfterMs: 1_000 });
  const late = await askingApi(busy);
  assertEquals(late.outcome, "no place in the queue");
  assert(late.tookMs > patienceMs / 2 && late.tookMs <= patienceMs + 50, String(late.tookMs));
  for (
    const code of ["auth_key_invalid", "quota_exceeded", "connection_error", "not_allowed"] as const
  ) {
    assertEquals(await askingApi(createError(code, code)), { outcome: code, tookMs: 50 });
  }
  assertEquals(
    await askingApi(createError("rate_limited", "in an hour", { retryAfterMs: 3_600_000 })),
    {
      outcome: "in an hour",
      tookMs: 50,
    },
  );
});

Deno.test("an API that cuts connections off in their opening is asked again, as often as a relay", async () => {
  const cause = new TypeError("fetch failed", { cause: new Error("tls handshake eof") });
  const cutOff = createError("connection_error", "Cannot reach the API", { cause });
  assertEquals((await askingApi(cutOff, cutOff, cutOff, "token")).outcome, "token");
  const { outcome, tookMs } = await askingApi(cutOff);
  assertEquals(outcome, "Cannot reach the API");
  assert(tookMs >= 13_500 && tookMs <= 27_500, String(tookMs));
});

Deno.test("an API that never answers is told when the time of connect is over", async () => {
  const clock = new SimulatedClock();
  const runtime = { ...clock, randomBytes: (length: number) => new Uint8Array(length) };
  const ask = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const waiting = assertRejects(
    () => whileBusy(ask, { untilMs: clock.nowMs() + patienceMs }, runtime),
    StaticError,
    "within the 60 s of connect",
  );
  await clock.advance(patienceMs);
  await waiting;
  assertEquals(clock.timers, 0);
});

Deno.test("a signal ends the wait for a busy API with its reason", async () => {
  const clock = new SimulatedClock();
  const stop = new AbortController();
  const runtime = { ...clock, randomBytes: (length: number) => new Uint8Array(length) };
  const ask = (): Promise<never> =>
    Promise.reject(createError("overloaded", "busy", { retryAfterMs: 5_000 }));
  const waiting = whileBusy(
    ask,
    { untilMs: clock.nowMs() + patienceMs, signal: stop.signal },
    runtime,
  );
  await clock.advance(1_000);
  stop.abort(new Error("enough"));
  await assertRejects(() => waiting, Error, "enough");
  assertEquals(clock.timers, 0);
});
