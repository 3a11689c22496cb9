/** How a session begins where relays share a log: in the log, and behind everything that the relays' memory had before. */
import { EngineError } from "../engine/mod.ts";

export interface SessionBeginning {
  /**
   * Writes it to the log. Returns its number; undefined when the agent has another one, elsewhere, that this relay had not read
   * of. `late` takes the number when the log gives it after the call was given up.
   */
  readonly begin: (late: (session: number | undefined) => void) => Promise<number | undefined>;
  /** Everything before is known when it resolves. */
  readonly catchUp: () => Promise<unknown>;
  readonly end: (session: number) => Promise<void>;
  /** Whether the agent still waits for it. */
  readonly isWanted: () => boolean;
  readonly nowMs: () => number;
}

/** Agents give up a relay that does not let them in after 8 s, and go to another one. */
const movedMs = 3_000;

/** Returns the session's number. One that its agent is not told of ends again: nobody else would end it. */
export async function beginSession(parts: SessionBeginning): Promise<number> {
  const { catchUp, end } = parts;
  const endUnheard = (session: number | undefined): void => {
    if (session !== undefined) end(session).catch(() => {});
  };
  const beginning = beginNewest(parts, endUnheard);
  try {
    const [session] = await Promise.all([beginning, catchUp()]);
    return session;
  } catch (error) {
    beginning.then(endUnheard, () => {});
    throw error;
  }
}

/**
 * Once more when the agent has another session that this relay had not read of: it has just come from there. When the log took
 * long to say so, the agent may have gone there meanwhile, and its session there must stay. Then it is refused here.
 */
async function beginNewest(
  { begin, isWanted, nowMs }: SessionBeginning,
  late: (session: number | undefined) => void,
): Promise<number> {
  const askedMs = nowMs();
  for (;;) {
    const session = await begin(late);
    if (session !== undefined) return session;
    if (isWanted() && nowMs() - askedMs < movedMs) continue;
    throw new EngineError("unavailable", "The agent has begun a session at another relay meanwhile");
  }
}
