/**
 * The verdict of the test command. 2 is for wrong arguments. A failure counts whatever the machine
 * was like. A run in which something could not be judged has not passed, and has not failed either.
 */
export type TestVerdict = typeof exitCodes[keyof typeof exitCodes];

export const exitCodes = { passed: 0, failed: 1, wrongArguments: 2, notJudged: 3 } as const;

/** `notJudged`: suites that were ended from outside, and skipped tests where those count. */
export function exitCodeOf(
  { failed, notJudged }: { readonly failed: number; readonly notJudged: number },
): TestVerdict {
  if (failed > 0) return exitCodes.failed;
  return notJudged > 0 ? exitCodes.notJudged : exitCodes.passed;
}
