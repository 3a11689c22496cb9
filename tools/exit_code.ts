/**
 * The verdict of the test command. 2 is for a suite that does not exist. A failure counts whatever the machine was like. A run in
 * which something could not be judged has not passed, and has not failed either.
 */
export type Verdict = typeof exitCodes[keyof typeof exitCodes];

export const exitCodes = { passed: 0, failed: 1, noSuchSuite: 2, notJudged: 3 } as const;

/** `notJudged`: suites that did not run or ended without a verdict because of the machine, and tests that said so themselves. */
export function exitCodeOf({ failed, notJudged }: { readonly failed: number; readonly notJudged: number }): Verdict {
  if (failed > 0) return exitCodes.failed;
  return notJudged > 0 ? exitCodes.notJudged : exitCodes.passed;
}
