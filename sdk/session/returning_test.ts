// After a loss without a word agents come back spread over the time that the relay named.
import { assert, assertEquals } from "@std/assert";
import { Bench } from "./testing/bench.ts";

const withinMs = 60_000;

function createBench(returnWithinMs: () => number = () => withinMs): Bench {
  return new Bench({ relay: { returnWithinMs } });
}

/** When it connects again, as it says itself. */
async function waitOf(bench: Bench, end: () => void): Promise<number> {
  end();
  await bench.clock.settle();
  const { state } = bench.session;
  assert(state.kind === "offline", state.kind);
  return state.retryAtMs - bench.clock.nowMs();
}

async function lossOf(returnWithinMs?: () => number): Promise<number> {
  const bench = createBench(returnWithinMs);
  await bench.online();
  const ms = await waitOf(bench, () => bench.relay.last.hangUp());
  await bench.close();
  return ms;
}

Deno.test("agents that lose a relay without a word come back spread over the time that it named", async () => {
  const waits = [];
  for (let agent = 0; agent < 60; agent++) waits.push(await lossOf());
  assert(waits.every((ms) => ms >= 0 && ms < withinMs));
  // A quarter of the time without any of 60 agents: once in 10^7 runs, for each.
  for (let quarter = 0; quarter < 4; quarter++) {
    assert(waits.some((ms) => Math.floor(ms * 4 / withinMs) === quarter), waits.join());
  }
});

Deno.test("a time that is too long is cut, and a relay without one costs the usual wait", async () => {
  for (let agent = 0; agent < 20; agent++) {
    assert(await lossOf(() => 4_000_000_000) < 120_000);
  }
  const bench = new Bench();
  await bench.online();
  assert(await waitOf(bench, () => bench.relay.last.hangUp()) <= 250);
  await bench.close();
});

Deno.test("the newest word counts, and the next failure waits as usual", async () => {
  let withinNowMs = 500;
  const bench = createBench(() => withinNowMs);
  await bench.online();
  withinNowMs = 100_000;
  // A Ping asks for it.
  await bench.clock.advance(61_000);
  bench.relay.unreachable = new Error("gone");
  const first = await waitOf(bench, () => bench.relay.last.hangUp());
  assert(first < 100_000);
  await bench.clock.advance(first + 1);
  const { state } = bench.session;
  assert(state.kind === "offline" && state.retryAtMs - bench.clock.nowMs() <= 1_000);
  await bench.close();
});

Deno.test("an agent that waits for an answer, or asks while it is away, comes back in a quarter of its time", async () => {
  for (const asksFirst of [true, false]) {
    const bench = createBench();
    await bench.online();
    const call = (): Promise<unknown> => bench.session.call("Ping", {}).catch(() => {});
    const ms = await waitOf(bench, () => bench.relay.last.hangUp());
    if (asksFirst) void call();
    await bench.clock.advance(ms / 8);
    assertEquals(bench.session.state.kind, "offline");
    void call();
    await bench.clock.advance(ms / 8 + 1);
    assertEquals(bench.session.state.kind, "online");
    await bench.close();
  }
});

Deno.test("a relay that says that it ends the session sends nobody away for its own loss", async () => {
  const bench = createBench();
  await bench.online();
  const ms = await waitOf(bench, () => {
    const body = { code: "relay_draining", message: "going away", retryAfterMs: 1_000 };
    bench.relay.last.notice("SessionEnding", body);
    bench.relay.last.hangUp();
  });
  assert(ms <= 1_000, String(ms));
  await bench.close();
});
