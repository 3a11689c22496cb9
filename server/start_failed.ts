/**
 * A reason, in words, that keeps a process from starting and that its operator can mend. Any other
 * error at a start is a fault of ours.
 */
export class StartFailed extends Error {
  override readonly name: string = "StartFailed";
}

/**
 * Waits for something without which nothing starts; `what` says what is not there, and which
 * variable leads to it.
 */
export async function needed<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof StartFailed || cause instanceof TypeError) throw cause;
    throw new StartFailed(`Cannot start: ${what}: ${reasonOf(cause)}`, { cause });
  }
}

/**
 * A fault for clients says less than its cause; what was tried at several addresses says nothing
 * but its code.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return error.message || String(Reflect.get(error, "code"));
}
