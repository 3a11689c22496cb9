/** Says what is being waited for, with seconds that count on a terminal, so that nobody wonders whether it hangs. */

const tickMs = 200;

export async function showProgress<Result>(what: string, work: Promise<Result>): Promise<Result> {
  const terminal = Deno.stdout.isTerminal();
  const startMs = performance.now();
  const line = (): string => `  ${what} … ${((performance.now() - startMs) / 1000).toFixed(1)} s`;
  // A line that is wider than the terminal would begin another one each time.
  const fitting = (): string => line().slice(0, Math.max(1, Deno.consoleSize().columns - 1));
  const draw = (): void => void Deno.stdout.writeSync(new TextEncoder().encode(`\r${fitting()}`));
  const timer = terminal ? setInterval(draw, tickMs) : undefined;
  if (!terminal) console.log(`  ${what} …`);
  try {
    const result = await work;
    console.log(`${terminal ? "\r" : ""}${line()}, done`);
    return result;
  } catch (error) {
    if (terminal) console.log();
    throw error;
  } finally {
    clearInterval(timer);
  }
}
