/** How a session begins where relays share a log: in the log, and behind everything that the relays' memory had before. */

export interface SessionBeginning {
  /** Writes it to the log. Returns its number; `late` takes the number when the log gives it after the call was given up. */
  readonly begin: (late: (session: number) => void) => Promise<number>;
  /** Everything before is known when it resolves. */
  readonly catchUp: () => Promise<unknown>;
  readonly end: (session: number) => Promise<void>;
}

/** Returns the session's number. One that its agent is not told of ends again: nobody else would end it. */
export async function beginSession({ begin, catchUp, end }: SessionBeginning): Promise<number> {
  const endUnheard = (session: number): void => void end(session).catch(() => {});
  const beginning = begin(endUnheard);
  try {
    const [session] = await Promise.all([beginning, catchUp()]);
    return session;
  } catch (error) {
    beginning.then(endUnheard, () => {});
    throw error;
  }
}
