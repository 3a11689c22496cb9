/**
 * The signals by which people and supervisors end a program: Ctrl-C, and the one that `kill` sends.
 */
import process from "node:process";

const signals = ["SIGINT", "SIGTERM"] as const;

/**
 * Runs at the first of them. The next one ends the program as usual. Returns a function to stop
 * listening.
 */
export function onSignal(run: () => void): () => void {
  const forget = (): void => {
    for (const signal of signals) process.off(signal, heard);
  };
  const heard = (): void => {
    forget();
    run();
  };
  for (const signal of signals) process.on(signal, heard);
  return forget;
}
