/**
 * Structured logs: one JSON object per line. Callers pass ids and codes, never payloads or secrets; as a last line of defence
 * anything that looks like an API key, a token or an invite is struck out before it is written.
 */
import { apiKeyPattern } from "../../proto/mod.ts";

export type LogLevel = "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, unknown>>;
export type Log = (level: LogLevel, event: string, fields?: LogFields) => void;

const secretText = new RegExp(`${apiKeyPattern}|eyJ[\\w-]+\\.[\\w-]+\\.[\\w-]*|inv_[\\w-]{20,}`, "g");

export function createLog({ write, nowMs }: { write: (line: string) => void; nowMs: () => number }): Log {
  return (level, event, fields = {}) => {
    const line = JSON.stringify({ time: new Date(nowMs()).toISOString(), level, event, ...fields });
    write(line.replace(secretText, "[secret]"));
  };
}

/** What a log says about an error: its words, never other fields of it, because libraries keep what they worked on there. */
export function describeError(error: unknown): LogFields {
  if (!(error instanceof Error)) return { name: typeof error };
  const { name, message, stack, cause } = error;
  return { name, message, stack, ...(cause === undefined ? {} : { cause: describeError(cause) }) };
}
