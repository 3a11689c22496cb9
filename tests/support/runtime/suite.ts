/**
 * The parts of a runtime suite. A suite is a list of tests without any runtime's own test API; it
 * runs in Deno, Node and a browser, and a test may return a text (a digest of its outputs) that
 * must be the same everywhere.
 */

export interface RuntimeTest {
  readonly name: string;
  readonly run: () => Promise<string | void> | string | void;
}

export interface RuntimeResult {
  readonly name: string;
  readonly outcome: "passed" | "failed";
  /** The test's result, or the reason of its failure. */
  readonly text: string;
}

export async function runTests(tests: readonly RuntimeTest[]): Promise<RuntimeResult[]> {
  const results: RuntimeResult[] = [];
  for (const { name, run } of tests) {
    try {
      results.push({ name, outcome: "passed", text: await run() ?? "" });
    } catch (error) {
      results.push({
        name,
        outcome: "failed",
        text: error instanceof Error ? error.stack ?? error.message : String(error),
      });
    }
  }
  return results;
}

export function check(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

export function sameBytes(
  actual: Uint8Array | undefined,
  expected: Uint8Array,
  what: string,
): void {
  const same = actual?.length === expected.length &&
    actual.every((byte, i) => byte === expected[i]);
  check(
    same,
    `${what}: ${
      actual?.length ?? "no"
    } bytes, expected ${expected.length}, or their content differs`,
  );
}

/** Runs `act`, which must fail with this `code`. */
export async function failsWith(code: string, act: () => unknown): Promise<void> {
  try {
    await act();
  } catch (error) {
    const actual = error instanceof Error && "code" in error ? error.code : undefined;
    check(actual === code, `expected ${code}, got ${String(actual)}: ${String(error)}`);
    return;
  }
  throw new Error(`expected ${code}, nothing failed`);
}

/**
 * 64 bits that depend on every byte given, for comparing what runtimes produced. Not for security.
 */
export class Digest {
  #high = 0x811c9dc5;
  #low = 0x01000193;

  add(bytes: Uint8Array): void {
    for (const byte of bytes) {
      this.#low = Math.imul(this.#low ^ byte, 0x01000193);
      this.#high = Math.imul(this.#high ^ this.#low, 0x85ebca6b) ^ (this.#high >>> 13);
    }
  }

  toString(): string {
    return [this.#high, this.#low].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join(
      "",
    );
  }
}
