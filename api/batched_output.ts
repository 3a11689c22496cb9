/**
 * Structured logs: one JSON object per line. Callers never pass secrets; as a last line of defence anything that looks like an
 * API key or a token is struck out before it is written.
 */
import { apiKeyPattern } from "../proto/mod.ts";

export type LogLevel = "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  log(level: LogLevel, event: string, fields?: LogFields): void;
}

const secretText = new RegExp(`${apiKeyPattern}|eyJ[\\w-]+\\.[\\w-]+\\.[\\w-]*|inv_[\\w-]{20,}`, "g");

export function createLogger({ write, now }: { write: (line: string) => void; now: () => number }): Logger {
  return {
    log: (level, event, fields = {}) => {
      const line = JSON.stringify({ time: new Date(now()).toISOString(), level, event, ...fields });
      write(line.replace(secretText, "[secret]"));
    },
  };
}

/** What a log says about an error: never its own fields, because a driver puts query parameters there. */
export function describeError(error: unknown): LogFields {
  if (!(error instanceof Error)) return { name: typeof error };
  const code: unknown = Reflect.get(error, "code");
  return {
    name: error.name,
    message: error.message,
    ...(typeof code === "string" ? { code } : {}),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

/** Lines to standard output in batches: one system call per batch instead of one per request. */
export function createBatchedOutput(
  { writeSync, intervalMs }: { writeSync: (bytes: Uint8Array) => number; intervalMs: number },
): { write(line: string): void; flush(): void } {
  const encoder = new TextEncoder();
  let lines: string[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (lines.length === 0) return;
    let rest = encoder.encode(lines.join("\n") + "\n");
    lines = [];
    while (rest.length > 0) rest = rest.subarray(writeSync(rest));
  };
  return {
    write: (line) => {
      lines.push(line);
      timer ??= setTimeout(flush, intervalMs);
    },
    flush,
  };
}
