/** Questions to nodes that may be electing a leader, or may have much else to do. */
import { after, every, waits } from "../../../server/mod.ts";
import { EngineError } from "../../engine/mod.ts";

const pauseMs = 250;
/** Errors that only say that there was no answer, or that the connection was lost meanwhile. */
const unanswered: ReadonlySet<string> = new Set([
  "TimeoutError",
  "NoRespondersError",
  "RequestError",
  "ClosedConnectionError",
  "DrainingConnectionError",
]);
/** In the client's `RequestError`: a node has answered that it may not be asked. */
const denied = "PermissionViolationError";
/** The status that nodes without a leader answer with. */
const unavailable = 503;
/**
 * The code of NATS for a stream that has no place now: its leader does not know yet that the other
 * nodes are there.
 */
const noPeers = 10005;
const noStream = 10059;

/**
 * Asks again while there is no answer. An election takes up to nine seconds, and a busy machine
 * longer. A node's refusal is thrown at once.
 */
export async function patiently<Answer>(
  ask: () => Promise<Answer>,
  { nowMs = () => performance.now(), forMs = waits.nodeElection.ms, isPassing = isUnanswered }: {
    readonly nowMs?: () => number;
    readonly forMs?: number;
    readonly isPassing?: (error: unknown) => boolean;
  } = {},
): Promise<Answer> {
  const deadlineMs = nowMs() + forMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error) || nowMs() >= deadlineMs) throw error;
    }
    await new Promise<void>((resolve) => void after(pauseMs, resolve));
  }
}

/** Whether an error only says that there was no answer. Every other one is a refusal. */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.cause instanceof Error && error.cause.name === denied) return false;
  const code: unknown = Reflect.get(error, "code");
  return unanswered.has(error.name) || isLeaderless(error) || code === noPeers ||
    isUnanswered(error.cause);
}

/**
 * Whether nodes have answered that there is no such stream. Of one that was just made, they may not
 * have heard yet.
 */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, "code") === noStream;
}

/**
 * Whether the client has not sent something because it is more than its node takes at once. Another
 * node may take it.
 */
export function isTooLargeForNode(error: unknown): boolean {
  return error instanceof Error && error.name === "InvalidArgumentError";
}

/** Whether nodes have answered that they have no leader. */
export function isLeaderless(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, "status") === unavailable;
}

/**
 * Writes again while the log does not answer. Never rejects: whatever else comes of it is final.
 */
export async function untilAnswered(
  write: () => Promise<unknown>,
  isOver: () => boolean,
): Promise<void> {
  const isFinal = (error: unknown): boolean =>
    !(error instanceof EngineError && error.code === "unavailable");
  for (let isAnswered = false; !isAnswered && !isOver();) {
    isAnswered = await write().then(() => true, isFinal);
  }
}

const lookMs = 500;

/**
 * Waits for work that has no end of its own, as long as it moves. Throws when `moved` has told the
 * same for too long: a process that hangs helps nobody, and one that ends is started again.
 */
export async function retryDuringElection<Result>(
  work: Promise<Result>,
  { what, moved, forMs = waits.logStart.ms }: {
    readonly what: string;
    readonly moved: () => number | string;
    readonly forMs?: number;
  },
): Promise<Result> {
  const { promise: still, reject } = Promise.withResolvers<never>();
  let [seen, sinceMs] = [moved(), performance.now()];
  const stop = every(lookMs, () => {
    if (moved() !== seen) [seen, sinceMs] = [moved(), performance.now()];
    const stoodMs = performance.now() - sinceMs;
    if (stoodMs > forMs) {
      reject(
        new Error(
          `Cannot ${what}: nothing has moved for ${
            Math.round(stoodMs / 1000)
          } s (${seen}). Look at the nodes`,
        ),
      );
    }
    return Promise.resolve();
  });
  try {
    return await Promise.race([work, still]);
  } finally {
    stop();
  }
}
