/** When the process shall stop. */

/** A terminal and a task runner may each deliver the same Ctrl-C. */
const sameSignalMs = 1_000;

/** Resolves at the first SIGTERM or SIGINT, so that everything can end in order; another one means "at once". */
export function untilAskedToStop(endAtOnce: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let firstMs: number | undefined;
  const asked = (): void => {
    firstMs ??= performance.now();
    if (performance.now() - firstMs > sameSignalMs) endAtOnce();
    resolve();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.addSignalListener(signal, asked);
  return promise;
}
