/**
 * How a session begins where relays share a log: in the log, and behind everything that the relays'
 * memory had before.
 */
import type { LogMoment, SessionWish } from "../../core/cluster.ts";
import { EngineError } from "../../engine/mod.ts";

export interface SessionBeginning extends SessionWish {
  /**
   * Writes it to the log. Returns its number; undefined when the agent has another one, elsewhere,
   * that began behind this position. `late` takes the number when the log gives it after the call
   * was given up.
   */
  readonly begin: (
    behind: number,
    late: (session: number | undefined) => void,
  ) => Promise<number | undefined>;
  /** Everything before is known when it resolves. */
  readonly catchUp: () => Promise<unknown>;
  readonly end: (session: number) => Promise<void>;
  readonly moment: () => LogMoment;
}

/** Agents give up a relay that does not let them in after 8 s, and go to another one. */
const movedMs = 3_000;

/**
 * Returns the session's number. One that its agent is not told of ends again: nobody else would end
 * it.
 */
export async function beginSession(parts: SessionBeginning): Promise<number> {
  const { catchUp, end } = parts;
  const endUnheard = (session: number | undefined): void => {
    if (session !== undefined) end(session).catch(() => {});
  };
  let isRefused = false;
  const isWanted = (): boolean => !isRefused && parts.isWanted();
  const beginning = beginNewest({ ...parts, isWanted }, endUnheard);
  try {
    const [session] = await Promise.all([beginning, catchUp()]);
    return session;
  } catch (error) {
    isRefused = true;
    beginning.then(endUnheard, () => {});
    throw error;
  }
}

/**
 * Once more when the agent has another session that this relay had not read of when it came: it has
 * just come from there. When this took long, the agent may have gone there meanwhile, and its
 * session there must stay. Then it is refused here.
 */
async function beginNewest(
  { begin, since, isWanted, moment }: SessionBeginning,
  late: (session: number | undefined) => void,
): Promise<number> {
  for (let behind = since.position; isWanted(); behind = moment().position) {
    const session = await begin(behind, late);
    if (session !== undefined) return session;
    if (moment().timeMs - since.timeMs >= movedMs) break;
  }
  throw new EngineError(
    "unavailable",
    "The agent has gone, or has begun a session at another relay meanwhile",
  );
}
