/** The end of every run of the operations suite, whichever way it took to the relay. */
import { assert, assertEquals } from "@std/assert";
import type { RuntimeResult } from "../support/runtime/suite.ts";
import type { TestRelay } from "../support/relay/test_relay.ts";
import { operationCount } from "./operations_suite.ts";

/** Every test of the suite as a step, wherever it ran. */
export async function report(
  t: Deno.TestContext,
  results: readonly RuntimeResult[],
): Promise<void> {
  assertEquals(results.length, operationCount);
  for (const { name, outcome, text } of results) {
    await t.step(name, () => assertEquals(outcome, "passed", text));
  }
}

/** Asks until the relay holds nothing of clients that are gone. */
export async function untilEmpty({ edge }: TestRelay): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const { cellStreams, cellLinks, quic, grpc } = edge.stats();
    if (cellStreams + cellLinks + quic.connections + grpc.streams === 0) return;
    assert(performance.now() < deadline, `left behind: ${JSON.stringify(edge.stats())}`);
    // wait: for the ends of connections to be noticed, with a deadline
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
