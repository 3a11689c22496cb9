/** The arguments of the test command. */

export interface TestArguments {
  /** Suites; none stands for all. */
  readonly names: readonly string[];
  /** The commit to compare with, when only what has changed since then is tested. */
  readonly changedSince: string | undefined;
  /** A skipped test is not judged. */
  readonly isComplete: boolean;
}

export function parseTestArguments(
  args: readonly string[],
  suites: readonly string[],
): TestArguments | { readonly problem: string } {
  const isComplete = args.includes("--complete");
  const rest = args.filter((argument) => argument !== "--complete");
  const unknownFlag = rest.find((argument) => argument.startsWith("-") && argument !== "--changed");
  if (unknownFlag !== undefined) {
    return { problem: `No flag ${unknownFlag}. Flags: --changed [BASE], --complete` };
  }
  const changed = rest.indexOf("--changed");
  if (changed !== -1) {
    const [base = "HEAD", ...more] = rest.filter((_, index) => index !== changed);
    if (more.length > 0) {
      return { problem: "--changed takes one commit to compare with, and no suites" };
    }
    return { names: [], changedSince: base, isComplete };
  }
  const unknown = rest.filter((name) => !suites.includes(name));
  if (unknown.length > 0) {
    return { problem: `No suite named ${unknown.join(", ")}. Suites: ${suites.join(", ")}` };
  }
  return { names: rest, changedSince: undefined, isComplete };
}
