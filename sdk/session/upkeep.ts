/** The background work of an open session: heartbeats and renewal of its token. */
import type { RelayLimits, ReplyBody } from "../../proto/mod.ts";
import { createError } from "../base/errors.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { type OnlineConnection, toError } from "./dialer.ts";
import type { SessionDeps } from "./options.ts";
import { startRenewal } from "./renewal.ts";

/**
 * A clock that was read over a longer round trip says nothing: our own was set meanwhile, or the
 * machine slept. The next Ping tells.
 */
const longestReadingMs = 10_000;

export interface UpkeepOptions {
  readonly online: OnlineConnection;
  readonly limits: RelayLimits;
  readonly deps: Pick<SessionDeps, "tokens" | "nowMs" | "after">;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly onRenewed: (token: string) => void;
  /** To a Ping. */
  readonly onAnswer: (reply: ReplyBody<"Ping">) => void;
  /** The relay has read its clock when ours showed `localTimeMs`. */
  readonly onClock: (relayTimeMs: number, localTimeMs: number) => void;
}

/** Returns a function to stop it. */
export function startUpkeep(options: UpkeepOptions): () => void {
  const {
    online: { connection, token, reply },
    limits,
    random,
    onRenewed,
    onAnswer,
    onClock,
  } = options;
  const { tokens, nowMs, after } = options.deps;
  const ping = async (): Promise<ReplyBody<"Ping">> => {
    const sentMs = nowMs();
    const reply = await connection.request("Ping", {});
    const tookMs = nowMs() - sentMs;
    onAnswer(reply);
    if (tookMs >= 0 && tookMs <= longestReadingMs) onClock(reply.relayTimeMs, sentMs + tookMs / 2);
    return reply;
  };
  const heartbeat = startHeartbeat({
    idleTimeoutMs: limits.idleTimeoutMs,
    received: () => connection.received,
    isWaiting: () => connection.isWaiting,
    ping: () => void ping().catch(() => {}),
    onDead: () =>
      connection.abandon(createError("transport_error", "The relay has stopped answering")),
    after,
    random,
  });
  connection.onRequest = heartbeat.asked;
  const stopRenewal = startRenewal({
    tokens,
    token,
    leftMs: reply.expiresAtMs - reply.relayTimeMs,
    renew: async (fresh) => {
      const { expiresAtMs } = await connection.request("RenewToken", { token: fresh });
      onRenewed(fresh);
      // The machine's clock may have been set since the session was opened.
      const { relayTimeMs } = await ping();
      return expiresAtMs - relayTimeMs;
    },
    toError,
    after,
    random,
  });
  return () => {
    heartbeat.stop();
    stopRenewal();
  };
}
