/** Questions to nodes that may be electing a leader, or may have much else to do. */
import { after } from "../../server/mod.ts";

/** An election takes up to nine seconds, and a busy machine longer. */
const patienceMs = 30_000;
const pauseMs = 250;
/** Errors that only say that there was no answer. */
const unanswered: ReadonlySet<string> = new Set(["TimeoutError", "NoRespondersError"]);
/** Of an answer by nodes that have no leader. */
const unavailable = 503;

/** Asks again while there is no answer. A node's refusal is thrown at once. */
export async function patiently<Answer>(
  ask: () => Promise<Answer>,
  { nowMs = () => performance.now(), forMs = patienceMs }: {
    readonly nowMs?: () => number;
    readonly forMs?: number;
  } = {},
): Promise<Answer> {
  const deadlineMs = nowMs() + forMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isUnanswered(error) || nowMs() >= deadlineMs) throw error;
    }
    await new Promise<void>((resolve) => void after(pauseMs, resolve));
  }
}

function isUnanswered(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const status = "status" in error ? error.status : undefined;
  return unanswered.has(error.name) || status === unavailable || isUnanswered(error.cause);
}
