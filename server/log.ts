/**
 * Structured logs: one JSON object per line. Callers pass ids and codes, never payloads or secrets;
 * as a last line of defence anything that looks like an API key, a token or an invite is struck out
 * before it is written.
 */
import { apiKeyPattern, shownJson } from "../proto/mod.ts";

export type LogLevel = "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, unknown>>;
export type Log = (level: LogLevel, event: string, fields?: LogFields) => void;

const secretText = new RegExp(
  `${apiKeyPattern}|eyJ[\\w-]+\\.[\\w-]+\\.[\\w-]*|inv_[\\w-]{20,}`,
  "g",
);

/** The beginning of every text that is struck out. */
const signs = ["sk_", "eyJ", "inv_"];

export function createLog(
  { write, nowMs }: { write: (line: string) => void; nowMs: () => number },
): Log {
  return (level, event, fields = {}) => {
    const line = shownJson({ time: new Date(nowMs()).toISOString(), level, event, ...fields });
    // Three searches for a few letters take a tenth of the time, and nearly no line has any of
    // them.
    try {
      write(
        signs.some((sign) => line.includes(sign)) ? line.replace(secretText, "[secret]") : line,
      );
    } catch {
      // Nobody takes the log any more, which is no reason to fail in what was logged.
    }
  };
}

/** A fault of our own: with the place in the code. */
export function describeError(error: unknown): LogFields {
  return describe(error, ({ stack }) => ({ stack }));
}

/** Something outside that did not work: its words and its causes'. */
export function describeFailure(error: unknown): LogFields {
  return describe(error, () => ({}));
}

/**
 * Never other fields of an error than these: libraries keep there the parameters that they worked
 * on.
 */
function describe(error: unknown, more: (error: Error) => LogFields): LogFields {
  if (!(error instanceof Error)) return { name: typeof error };
  const { name, message, cause } = error;
  const code: unknown = Reflect.get(error, "code");
  return {
    name,
    message,
    ...(typeof code === "string" && { code }),
    ...more(error),
    ...(cause !== undefined && { cause: describe(cause, more) }),
  };
}
