/** Counts what a `deno test --junit-path` report says. */

export interface SuiteResult {
  readonly passed: number;
  readonly failed: number;
  /** Names of skipped tests; each name ends with its reason. */
  readonly skipped: readonly string[];
}

const testcase = /<testcase name="([^"]*)"[^>]*>([^]*?)<\/testcase>/g;

export function parseJunit(xml: string): SuiteResult {
  let passed = 0;
  let failed = 0;
  const skipped: string[] = [];
  for (const [, name = "", outcome = ""] of xml.matchAll(testcase)) {
    if (/<(failure|error)\b/.test(outcome)) failed++;
    else if (/<skipped\b/.test(outcome)) skipped.push(unescapeXml(name));
    else passed++;
  }
  return { passed, failed, skipped };
}

function unescapeXml(text: string): string {
  return text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"').replace(/&apos;/g, "'")
    .replace(/&amp;/g, "&");
}
