/** The background work of an open session: heartbeats and renewal of its token. */
import type { RelayLimits } from "../../proto/mod.ts";
import { createError } from "../base/errors.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { type OnlineConnection, toError } from "./dialer.ts";
import type { SessionDeps } from "./options.ts";
import { startRenewal } from "./renewal.ts";

export interface UpkeepOptions {
  readonly online: OnlineConnection;
  readonly limits: RelayLimits;
  readonly deps: Pick<SessionDeps, "tokens" | "nowMs" | "after">;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly onRenewed: (token: string) => void;
  /** The relay says within which time its agents come back after a loss. */
  readonly onReturnTime: (withinMs: number | undefined) => void;
}

/** Returns a function to stop it. */
export function startUpkeep(options: UpkeepOptions): () => void {
  const {
    online: { connection, token, reply },
    limits,
    random,
    onRenewed,
    onReturnTime,
  } = options;
  const { tokens, nowMs, after } = options.deps;
  const heartbeat = startHeartbeat({
    idleTimeoutMs: limits.idleTimeoutMs,
    lastReceivedMs: () => connection.lastReceivedMs,
    isWaiting: () => connection.isWaiting,
    ping: () => {
      const asked = connection.request("Ping", {});
      asked.then(({ returnWithinMs }) => onReturnTime(returnWithinMs), () => {});
    },
    onDead: () =>
      connection.abandon(createError("transport_error", "The relay has stopped answering")),
    nowMs,
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
      const { relayTimeMs } = await connection.request("Ping", {});
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
