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
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(rest));
    } catch {
      // Nobody takes the log any more, which is no reason to stop serving.
    }
  };
  return {
    write: (line) => {
      lines.push(line);
      timer ??= setTimeout(flush, intervalMs);
    },
    flush,
  };
}
