/**
 * The failure of a command, in words for its user: what failed, and what to do next. No stack
 * traces, no secrets.
 */
import { diskCodeOf, reasonOf } from "./disk.ts";
import { type Exit, exitOf } from "./exit_codes.ts";

export interface FailureOptions {
  /** Advice for the user; shown on a line of its own. */
  readonly advice?: string | undefined;
  readonly exit?: Exit | undefined;
  readonly cause?: unknown;
}

export class Failure extends Error {
  override readonly name = "Failure";
  /** From the list of the wire contract, or `interrupted`. */
  readonly code: string;
  readonly advice: string | undefined;
  readonly exit: Exit;

  constructor(code: string, message: string, { advice, exit, cause }: FailureOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.advice = advice;
    this.exit = exit ?? exitOf(code);
  }
}

/** The command line, or a value in it, is not right. */
export function badInput(message: string, advice?: string): Failure {
  return new Failure("invalid_request", message, advice === undefined ? {} : { advice });
}

/** Ctrl-C: nothing to explain. */
export function interrupted(): Failure {
  return new Failure("interrupted", "Interrupted", { exit: "interrupted" });
}

/** Whatever was thrown. The SDK's errors carry a code and say in their text what to do. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (!(error instanceof Error)) {
    return new Failure("internal", `Something unexpected went wrong: ${String(error)}`);
  }
  const code: unknown = Reflect.get(error, "code");
  const disk = diskCodeOf(error);
  if (disk !== undefined) {
    return new Failure(
      disk,
      `Cannot use a file: ${disk === "store_full" ? reasonOf(error) : error.message}`,
      {
        cause: error,
      },
    );
  }
  if (typeof code === "string" && exitOf(code) !== "unexpected") {
    const advice = code === "quota_exceeded"
      ? "See what is used, and when it resets, with: {} usage"
      : undefined;
    return new Failure(code, error.message, { cause: error, advice });
  }
  return new Failure("internal", `Something unexpected went wrong: ${error.message}`, {
    advice: "Set STATIC_DEBUG=1 to see where, and please report it",
    cause: error,
  });
}
