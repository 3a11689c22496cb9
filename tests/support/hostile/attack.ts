/**
 * An attacker's side of `launchAttacker`: reads its order, says that it has begun, stops when it is
 * told to, and reports.
 */

/** How long a report may take after the stop; calls that hang are not waited for. */
const reportMs = 10_000;

/**
 * Runs until `stop` is aborted. `work` returns what `report` may be told at the end; it should look
 * at `stop` often. Faults of single calls are for `work` to count, not to throw.
 */
export async function attack<Order, Report>(
  work: (order: Order, stop: AbortSignal) => Promise<Report>,
): Promise<void> {
  await attackPrepared<Order, void, Report>(() => Promise.resolve(), work);
}

/** The same, begun when `prepare` is done: what that costs the service is no part of the attack. */
export async function attackPrepared<Order, Prepared, Report>(
  prepare: (order: Order) => Promise<Prepared>,
  work: (order: Order, stop: AbortSignal, prepared: Prepared) => Promise<Report>,
): Promise<void> {
  const order: Order = JSON.parse(Deno.args[0] ?? "null");
  const stop = new AbortController();
  const told = untilTold();
  const prepared = await prepare(order);
  console.log("attacking");
  const working = work(order, stop.signal, prepared);
  await told;
  stop.abort();
  setTimeout(() => Deno.exit(1), reportMs);
  console.log(JSON.stringify(await working));
  Deno.exit(0);
}

/** Standard input ends when the test says so, and when it dies. */
async function untilTold(): Promise<void> {
  for await (const _ of Deno.stdin.readable);
}
