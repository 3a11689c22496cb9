/** Counts what a `deno test --junit-path` report says. */

export interface SuiteResult {
  readonly passed: number;
  readonly failed: number;
  /** Names of skipped tests; each name ends with its reason. */
  readonly skipped: readonly string[];
  readonly times: readonly TestTime[];
  /** It was started and ended from outside: what it would have said is not known. */
  readonly isUnjudged?: boolean;
}

export interface TestTime {
  readonly name: string;
  readonly seconds: number;
}

const testcase = /<testcase name="([^"]*)"([^>]*)>([^]*?)<\/testcase>/g;

export function parseJunit(xml: string): SuiteResult {
  let passed = 0;
  let failed = 0;
  const skipped: string[] = [];
  const times: TestTime[] = [];
  for (const [, escaped = "", attributes = "", outcome = ""] of xml.matchAll(testcase)) {
    const name = unescapeXml(escaped);
    times.push({ name, seconds: Number(/\btime="([\d.]+)"/.exec(attributes)?.[1] ?? 0) });
    if (/<(failure|error)\b/.test(outcome)) failed++;
    else if (/<skipped\b/.test(outcome)) skipped.push(name);
    else passed++;
  }
  return { passed, failed, skipped, times };
}

/**
 * The longest first. A test that is made of steps is as long as they are, so only its steps count.
 */
export function slowestOf<T extends TestTime>(times: readonly T[], count: number): readonly T[] {
  const whole = new Set(times.flatMap(({ name }) => {
    const words = name.split(" > ");
    return words.slice(1).map((_, i) => words.slice(0, i + 1).join(" > "));
  }));
  return times.filter(({ name }) => !whole.has(name)).toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, count);
}

function unescapeXml(text: string): string {
  return text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"').replace(
    /&apos;/g,
    "'",
  )
    .replace(/&amp;/g, "&");
}
