/**
 * Faults of the layers below, as the errors that users see: the class and code of the interface,
 * and what to do next.
 */
import { WireError } from "../../proto/mod.ts";
import { createError, StaticError } from "../base/errors.ts";
import { MlsFault, MlsVersionFault } from "../mls/codec.ts";
import { StoreFault } from "../store/mod.ts";

/**
 * `action` is what failed, as in "Cannot join"; errors that are complete pass through unchanged.
 */
export function toStaticError(fault: unknown, action: string): StaticError {
  if (fault instanceof StaticError) return fault;
  const cause = fault;
  if (fault instanceof MlsVersionFault) {
    return createError("unsupported_version", `${action}: ${fault.message}`, { cause });
  }
  if (fault instanceof MlsFault) {
    const text =
      `${action}: ${fault.message}. If it stays so, leave the channel and rejoin with a new invite token`;
    return createError("mls_error", text, { cause });
  }
  if (fault instanceof WireError) {
    return createError(fault.code, `${action}: ${fault.message}`, { cause });
  }
  if (fault instanceof StoreFault) {
    return createError(fault.code, `${action}: ${fault.message}`, { cause });
  }
  return createError(
    "internal",
    `${action}: ${fault instanceof Error ? fault.message : String(fault)}`,
    { cause },
  );
}

/**
 * Runs it, and turns whatever it throws into a `StaticError`, but for the reason of a signal that
 * was aborted.
 */
export async function translating<T>(
  action: string,
  act: () => Promise<T> | T,
  signal?: AbortSignal,
): Promise<T> {
  try {
    return await act();
  } catch (fault) {
    signal?.throwIfAborted();
    throw toStaticError(fault, action);
  }
}
