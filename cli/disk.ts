/**
 * Errors of the user's own disk, by the system's word for them alone: a text may be another one's.
 */
import { findReason } from "../sdk/machine.ts";

/** In words that quote nothing. */
export function reasonOf(cause: unknown): string {
  const code = systemCodeOf(cause);
  if (code !== undefined) return findReason(code)?.why ?? code;
  return cause instanceof Error ? cause.message : String(cause);
}

/** Undefined when the disk is not to blame. */
export function diskCodeOf(cause: unknown): "store_full" | "store_failed" | undefined {
  const reason = findReason(systemCodeOf(cause) ?? "");
  return reason && (reason.code === "store_full" ? "store_full" : "store_failed");
}

function systemCodeOf(cause: unknown): string | undefined {
  const code: unknown = cause instanceof Error ? Reflect.get(cause, "code") : undefined;
  return typeof code === "string" ? code : undefined;
}
