/** Calls that can be given up. Giving up only ends the waiting: the operation may still succeed. */

/** How a call is given up. */
export interface Abortable {
  /**
   * Gives up waiting; the call then rejects with the signal's reason. The operation may still
   * succeed.
   */
  readonly signal?: AbortSignal | undefined;
}

/** The work, or the reason of the signal, whichever is first. */
export async function abortable<T>(
  signal: AbortSignal | undefined,
  act: () => Promise<T>,
): Promise<T> {
  if (signal === undefined) return await act();
  signal.throwIfAborted();
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  const work = act();
  // A failure of the work after it was given up is nobody's surprise.
  work.catch(() => {});
  return await Promise.race([work, aborted]).finally(() =>
    signal.removeEventListener("abort", stop)
  );
}

/**
 * Resolves when the signal is aborted: nobody has to wait for a reply that is of no use any more.
 */
export function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(undefined), { once: true })
  );
}
