/** The background work of an open session: heartbeats and renewal of its token. */
import type { RelayLimits, ReplyBody } from "../../proto/mod.ts";
import { createError } from "../base/errors.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { type OnlineConnection, toError } from "./dialer.ts";
import type { SessionDeps } from "./options.ts";
import type { RelayClock } from "./relay_clock.ts";
import { startRenewal } from "./renewal.ts";

/** A clock that was read over a longer round trip tells less than is known. */
const longestReadingMs = 10_000;

export interface UpkeepOptions {
  readonly online: OnlineConnection;
  readonly limits: RelayLimits;
  readonly deps: Pick<SessionDeps, "tokens" | "steadyMs" | "after">;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly onRenewed: (token: string) => void;
  /** To a Ping. */
  readonly onAnswer: (reply: ReplyBody<"Ping">) => void;
  readonly clock: RelayClock;
}

/** Returns a function to stop it. */
export function startUpkeep(options: UpkeepOptions): () => void {
  const {
    online: { connection, token, reply },
    limits,
    random,
    onRenewed,
    onAnswer,
    clock,
  } = options;
  const { tokens, steadyMs, after } = options.deps;
  const ping = async (): Promise<ReplyBody<"Ping">> => {
    const sentMs = steadyMs();
    const reply = await connection.request("Ping", {});
    const tookMs = steadyMs() - sentMs;
    onAnswer(reply);
    if (tookMs <= longestReadingMs) clock.told(reply.relayTimeMs, sentMs + tookMs / 2);
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
