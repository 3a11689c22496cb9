/**
 * Says what is being waited for, with seconds that count on a terminal, so that nobody wonders
 * whether it hangs.
 */

const tickMs = 200;
/** Where the terminal does not tell its width. */
const unknownColumns = 80;

/** Says no more once `stopped` resolves: what comes then begins on a line of its own. */
export async function showProgress<Result>(
  what: string,
  work: Promise<Result>,
  stopped: Promise<void>,
): Promise<Result> {
  const terminal = Deno.stdout.isTerminal();
  const startMs = performance.now();
  const seconds = (): string => ` … ${((performance.now() - startMs) / 1000).toFixed(1)} s`;
  const draw = (): void => {
    // A line that is wider than the terminal would begin another one each time.
    const room = Math.max(0, (Deno.consoleSize().columns || unknownColumns) - 1 - seconds().length);
    Deno.stdout.writeSync(new TextEncoder().encode(`\r${`  ${what}`.slice(0, room)}${seconds()}`));
  };
  const timer = terminal ? setInterval(draw, tickMs) : undefined;
  if (!terminal) console.log(`  ${what} …`);
  let over = false;
  const finish = (line: string): void => {
    clearInterval(timer);
    if (!over && (terminal || line !== "")) console.log(line);
    over = true;
  };
  void stopped.then(() => finish(""));
  try {
    const result = await work;
    finish(`${terminal ? "\r" : ""}  ${what}${seconds()}, done`);
    return result;
  } catch (error) {
    finish("");
    throw error;
  }
}
