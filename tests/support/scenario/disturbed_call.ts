/**
 * Disturbances of single calls by an honest relay and network: a refusal because the relay is busy,
 * an answer that takes long, a connection that breaks before the call arrives or before its answer
 * does.
 */
import { createError, errorFromRelay, pause, type Runtime } from "../../../sdk/testing/agents.ts";
import type { MemorySession } from "./memory_session.ts";

export const disturbances = ["busy", "late", "lost call", "lost answer"] as const;
export type Disturbance = (typeof disturbances)[number];

/** Longer than an agent waits for entries to begin after it has subscribed. */
const lateMs = 10_400;
/** Until a session has a new connection. */
const reconnectMs = 250;

export async function disturb(
  kind: Disturbance,
  { session, runtime }: { readonly session: MemorySession; readonly runtime: Runtime },
  forward: () => Promise<unknown>,
): Promise<unknown> {
  if (kind === "busy") throw errorFromRelay({ code: "overloaded", message: "The relay is busy" });
  const reply = kind === "lost call" ? undefined : await forward();
  if (kind === "late") {
    await pause(runtime, lateMs);
    return reply;
  }
  session.disconnect();
  runtime.after(reconnectMs, () => void session.connect());
  throw createError("transport_error", "The connection was lost");
}
