/** Says what is being waited for, with seconds that count on a terminal, so that nobody wonders whether it hangs. */

const tickMs = 200;

export async function showProgress<Result>(what: string, work: Promise<Result>): Promise<Result> {
  const terminal = Deno.stdout.isTerminal();
  const startMs = performance.now();
  const line = (): string => `  ${what} … ${((performance.now() - startMs) / 1000).toFixed(1)} s`;
  const draw = (): void => void Deno.stdout.writeSync(new TextEncoder().encode(`\r${line()}`));
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
