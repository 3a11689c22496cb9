/**
 * Keeps an idle session alive and notices a dead one. A Ping goes out well within the relay's idle timeout, at times that
 * show no rhythm, and whatever arrives counts as a sign of life.
 */
export interface HeartbeatOptions {
  /** Without a byte for this long the relay ends the session. */
  readonly idleTimeoutMs: number;
  readonly lastReceivedMs: () => number;
  readonly ping: () => void;
  readonly onDead: () => void;
  readonly nowMs: () => number;
  readonly after: (ms: number, run: () => void) => () => void;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

const minIntervalMs = 250;
const maxIntervalMs = 60_000;
/** How long a relay may take to answer a Ping, if the idle timeout leaves that much. */
const answerMs = 10_000;

/** Returns a function to stop it. */
export function startHeartbeat(options: HeartbeatOptions): () => void {
  const { idleTimeoutMs, lastReceivedMs, ping, onDead, nowMs, after, random } = options;
  const intervalMs = Math.min(maxIntervalMs, Math.max(minIntervalMs, idleTimeoutMs / 3));
  let cancel = (): void => {};
  const beat = (): void => {
    const sentMs = nowMs();
    ping();
    cancel = after(Math.min(answerMs, intervalMs), () => {
      if (lastReceivedMs() < sentMs) return onDead();
      rest();
    });
  };
  const rest = (): void => {
    cancel = after(intervalMs * (0.5 + random() / 2), beat);
  };
  rest();
  return () => cancel();
}
