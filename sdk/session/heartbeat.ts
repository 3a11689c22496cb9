/**
 * Keeps an idle session alive and notices a dead one. A Ping goes out well within the relay's idle
 * timeout, at times that show no rhythm, and whatever arrives counts as a sign of life. A relay
 * that says nothing after a request is asked at once: somebody waits for it.
 */
export interface HeartbeatOptions {
  /** Without a byte for this long the relay ends the session. */
  readonly idleTimeoutMs: number;
  /**
   * How often something came. Counted and not dated: a clock that is set back makes no relay
   * silent.
   */
  readonly received: () => number;
  /** A request has no reply yet. */
  readonly isWaiting: () => boolean;
  readonly ping: () => void;
  readonly onDead: () => void;
  readonly after: (ms: number, run: () => void) => () => void;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

const minIntervalMs = 250;
const maxIntervalMs = 60_000;
/** How long a relay may take to answer a Ping, if the idle timeout leaves that much. */
const answerMs = 10_000;
/** Nothing has come for this long while a request waits. */
const silentMs = 1_000;
/** So late an agent with a call under way notices that its relay has vanished. */
export const noticedMs = silentMs + answerMs;

export interface Heartbeat {
  /** A request has left. */
  asked(): void;
  stop(): void;
}

export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { idleTimeoutMs, received, isWaiting, ping, onDead, after, random } = options;
  const intervalMs = Math.min(maxIntervalMs, Math.max(minIntervalMs, idleTimeoutMs / 3));
  /** As often as that when the last Ping left. */
  let atPing = -1;
  let cancel = (): void => {};
  let cancelLook: (() => void) | undefined;
  const beat = (): void => {
    cancel();
    atPing = received();
    ping();
    cancel = after(Math.min(answerMs, intervalMs), () => {
      if (received() === atPing) return onDead();
      rest();
    });
  };
  const rest = (): void => {
    cancel = after(intervalMs * (0.5 + random() / 2), beat);
  };
  const listen = (): void => {
    const before = received();
    cancelLook = after(Math.min(silentMs, intervalMs), () => {
      cancelLook = undefined;
      const now = received();
      // Everything is answered, or a Ping is on its way and its time is running.
      if (!isWaiting() || now === atPing) return;
      if (now === before) beat();
      else listen();
    });
  };
  const asked = (): void => {
    if (cancelLook === undefined) listen();
  };
  rest();
  return {
    asked,
    stop: () => {
      cancel();
      cancelLook?.();
    },
  };
}
