/**
 * The one error of engines. Outcomes that callers expect are returned; what is thrown is a fault,
 * with a closed list of codes.
 */

export type EngineFault =
  /** The caller's input is not allowed; nothing was changed. */
  | "invalid"
  /** Another process has the file open. */
  | "locked"
  /** The file is damaged, or no file of an engine. */
  | "corrupt"
  /** Written by a newer relay, or by a checkout before 0.1.0. */
  | "unsupported_version"
  /** The disk refused (it is full, for instance); nothing was changed and it may be tried again. */
  | "io"
  /**
   * The disk did not confirm what was written: the engine takes no more work until it is opened
   * again.
   */
  | "failed"
  /** The log that relays share has not answered: it is not known what became of what was asked. */
  | "unavailable"
  /** `close` was called. */
  | "closed";

export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: EngineFault;

  constructor(code: EngineFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** SQLite's own sentences (`sqlite3_errstr`), because the runtime does not tell result codes. */
const corruptText = /not a database|malformed|disk image/;
const lockedText = /is locked/;

/** Translates a failure of SQLite for the caller. */
export function faultOf(action: string, cause: unknown): EngineError {
  if (cause instanceof EngineError) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  if (corruptText.test(text)) {
    return new EngineError(
      "corrupt",
      `Cannot ${action}: the file is damaged (${text}). Restore it from a backup`,
      {
        cause,
      },
    );
  }
  if (lockedText.test(text)) {
    return new EngineError(
      "locked",
      `Cannot ${action}: another process has the file open. Stop it, or use another data directory`,
      { cause },
    );
  }
  return new EngineError(
    "io",
    `Cannot ${action}: ${text}. Nothing was changed; check the disk (is it full?) and try again`,
    {
      cause,
    },
  );
}
