import { assert, assertEquals } from "@std/assert";
import { createError } from "../base/errors.ts";
import {
  afterConnection,
  afterFailure,
  attemptMs,
  type ConnectAttempts,
  type ConnectRefusal,
  refusalOf,
  startAttempts,
} from "./retry_rule.ts";

const times = { minMs: 250, maxMs: 15_000 };
const limitMs = 60_000;
/** The ends and the middle of [0, 1). */
const chances = [0, 0.5, 1 - 2 ** -32];
const busyAnswers: readonly ConnectRefusal[] = [
  { code: "overloaded", retryAfterMs: 5_000 },
  { code: "overloaded" },
  { code: "rate_limited", retryAfterMs: 20_000 },
  { code: "rate_limited", retryAfterMs: 90_000 },
  { code: "relay_draining", retryAfterMs: 5_000 },
];
const finalAnswers: readonly ConnectRefusal[] = [{ code: "auth_failed" }, {
  code: "auth_key_invalid",
}];
const otherAnswers: readonly ConnectRefusal[] = [{ code: "quota_exceeded" }, {
  code: "unsupported_version",
}];
const away: ConnectRefusal = { code: "connection_error" };
const cutOff: ConnectRefusal = { code: "connection_error", isCutOff: true };
const answers = [...busyAnswers, ...finalAnswers, ...otherAnswers, away, cutOff];

/** Every way in which a service may answer so many attempts in a row. */
function* orders(length: number): Generator<readonly ConnectRefusal[]> {
  if (length === 0) return yield [];
  for (const rest of orders(length - 1)) for (const answer of answers) yield [...rest, answer];
}

Deno.test("connect, whatever a service answers in whatever order: a busy one is waited for within the time, all else is told", () => {
  let told = 0;
  for (const order of orders(4)) {
    for (const random of chances) {
      let [attempts, nowMs, wasBusy] = [startAttempts(limitMs), 0, false];
      for (const answer of order) {
        const { code, retryAfterMs = 0 } = answer;
        const isBusy = busyAnswers.includes(answer);
        const verdict = afterFailure(attempts, answer, times, { nowMs, random });
        const fits = code === "relay_draining" || retryAfterMs <= limitMs - nowMs;
        const mayRestart = wasBusy && code === "connection_error";
        const ownMs = Math.min(
          4_000,
          (isBusy || mayRestart ? 250 : 1_000) * 2 ** attempts.failures,
        );
        const isLate = (retryAfterMs === 0 || code === "relay_draining") &&
          ownMs / 2 > limitMs - nowMs;
        const waits = (isBusy || mayRestart || answer === cutOff) && fits && !isLate;
        assertEquals(verdict.kind, waits ? "wait" : "tell", `${JSON.stringify(order)} at ${nowMs}`);
        if (verdict.kind === "tell") {
          told++;
          break;
        }
        if (code !== "relay_draining") {
          assert(verdict.ms >= retryAfterMs, "before the time that was named");
        }
        assert(
          verdict.ms <= retryAfterMs + Math.max(retryAfterMs, ownMs),
          "more than as much again",
        );
        assert(
          verdict.ms > 0 && nowMs + verdict.ms <= limitMs,
          "an attempt after the caller's time",
        );
        [attempts, nowMs, wasBusy] = [verdict.attempts, nowMs + verdict.ms, wasBusy || isBusy];
      }
    }
  }
  assert(told > 1_000);
});

Deno.test("a service that cuts every connection off is told to connect after nine attempts, in about twenty seconds", () => {
  const tookMs = chances.map((random) => {
    let [attempts, nowMs] = [startAttempts(limitMs), 0];
    for (let tries = 1;; tries++) {
      const verdict = afterFailure(attempts, cutOff, times, { nowMs, random });
      if (verdict.kind === "tell") {
        assertEquals(tries, 9);
        return Math.round(nowMs);
      }
      [attempts, nowMs] = [verdict.attempts, nowMs + verdict.ms];
    }
  });
  assertEquals(tookMs, [13_500, 20_250, 27_000]);
});

Deno.test("an error says whether the connection was cut off in its opening, in its own words or in those of its causes", () => {
  const opening = "client error (Connect): ";
  const texts: readonly (readonly [string, boolean])[] = [
    [`${opening}tls handshake eof`, true],
    [`${opening}tcp connect error: Connection reset by peer (os error 104)`, true],
    ["An existing connection was forcibly closed by the remote host. (os error 10054)", true],
    ["Client network socket disconnected before secure TLS connection was established", true],
    ["connect ECONNRESET 127.0.0.1:5000", true],
    [`${opening}tcp connect error: Connection refused (os error 111)`, false],
    [`${opening}dns error: failed to lookup address information: Name or service not known`, false],
    [`${opening}invalid peer certificate: UnknownIssuer`, false],
    ["connect ECONNREFUSED 127.0.0.1:5000", false],
    ["no answer within 8000 ms", false],
  ];
  for (const [text, isCutOff] of texts) {
    const cause = new TypeError("fetch failed", { cause: new Error(text) });
    assertEquals(refusalOf(createError("connection_error", text)).isCutOff, isCutOff, text);
    assertEquals(
      refusalOf(createError("connection_error", "Cannot reach it", { cause })).isCutOff,
      isCutOff,
      text,
    );
    assertEquals(refusalOf(createError("auth_failed", text)).isCutOff, false);
  }
});

Deno.test("an attempt has no more than the time of connect, and never less than two seconds", () => {
  const first = startAttempts(limitMs);
  assertEquals([0, 50_000, 59_000, 70_000].map((nowMs) => attemptMs(first, nowMs)), [
    60_000,
    10_000,
    2_000,
    2_000,
  ]);
  assertEquals(attemptMs(startAttempts(undefined), 0), Infinity);
});

Deno.test("a service that stays busy is told to connect once its time is over, whatever time it names", () => {
  for (const answer of busyAnswers) {
    for (const random of chances) {
      let [attempts, nowMs, tries] = [startAttempts(limitMs), 0, 0];
      for (;; tries++) {
        const verdict = afterFailure(attempts, answer, times, { nowMs, random });
        if (verdict.kind === "tell") break;
        [attempts, nowMs] = [verdict.attempts, nowMs + verdict.ms];
        assert(tries < 100, "it is tried for ever");
      }
      assert(
        nowMs <= limitMs && (tries > 1 || (answer.retryAfterMs ?? 0) > 10_000),
        `${tries} tries in ${nowMs} ms`,
      );
    }
  }
});

Deno.test("a session that was connected is tried for ever, whatever is answered in whatever order, unless that is final", () => {
  for (const order of orders(3)) {
    let attempts: ConnectAttempts = afterConnection(startAttempts(0), true);
    for (const answer of order) {
      const verdict = afterFailure(attempts, answer, times, { nowMs: 1e12, random: 0.5 });
      assertEquals(
        verdict.kind,
        finalAnswers.includes(answer) ? "tell" : "wait",
        JSON.stringify(order),
      );
      if (verdict.kind === "tell") break;
      attempts = verdict.attempts;
    }
  }
});

Deno.test("a fleet that was refused together comes back spread over as much time as was named", () => {
  const fleet = Array.from({ length: 1_000 }, (_, agent) => {
    const moment = { nowMs: 0, random: agent / 1_000 };
    const verdict = afterFailure(
      startAttempts(limitMs),
      { code: "overloaded", retryAfterMs: 5_000 },
      times,
      moment,
    );
    return verdict.kind === "wait" ? verdict.ms : 0;
  });
  for (let second = 5; second < 10; second++) {
    const count = fleet.filter((ms) => Math.floor(ms / 1_000) === second).length;
    assert(count >= 199 && count <= 201, `${count} in second ${second}`);
  }
});

Deno.test("waits without a named time double, and begin anew after a connection that lasted", () => {
  let attempts = startAttempts(undefined);
  const waits: number[] = [];
  for (let failure = 0; failure < 1_100; failure++) {
    const verdict = afterFailure(attempts, away, times, { nowMs: 0, random: 0 });
    assert(verdict.kind === "wait");
    waits.push(verdict.ms);
    attempts = verdict.attempts;
  }
  assertEquals(waits.slice(0, 8), [125, 250, 500, 1_000, 2_000, 4_000, 7_500, 7_500]);
  assertEquals(waits.at(-1), 7_500);
  assertEquals(afterConnection(attempts, false), { kind: "again", failures: 1_100 });
  assertEquals(afterConnection(attempts, true), { kind: "again", failures: 0 });
});

Deno.test("nobody is sent away for more than ten minutes", () => {
  const verdict = afterFailure(
    startAttempts(undefined),
    { code: "overloaded", retryAfterMs: 1e15 },
    times,
    {
      nowMs: 0,
      random: 1 - 2 ** -32,
    },
  );
  assert(verdict.kind === "wait" && verdict.ms <= 600_000 && verdict.ms > 300_000);
});
