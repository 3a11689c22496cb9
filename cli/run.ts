/**
 * One run of the CLI: words in, exit code out. Whatever goes wrong is told in words; a stack trace
 * only when asked for.
 */
import { version } from "../proto/mod.ts";
import { faultsOfNames } from "../proto/base/variables.ts";
import { parseArguments, type ParsedCommandLine } from "./arguments/parse_arguments.ts";
import { commands } from "./command_table.ts";
import { exitCodes } from "./exit_codes.ts";
import { badInput, interrupted, toFailure } from "./failure.ts";
import { commandHelp, groupHelp, overview } from "./help/help.ts";
import { framed, Output } from "./output.ts";
import type { CommandPlatform } from "./platform/platform.ts";

const graceMs = 2_000;

export async function run(argv: readonly string[], platform: CommandPlatform): Promise<number> {
  const output = new Output(platform, { json: argv.includes("--json") });
  try {
    const exit = await perform(parseArguments(argv, commands), platform, output);
    return exitCodes[exit].code;
  } catch (error) {
    return await report(error, platform, output);
  }
}

/** For what fails where no command waits for it. */
export async function reportUnexpected(error: unknown, platform: CommandPlatform): Promise<number> {
  return await report(error, platform, new Output(platform, { json: false }));
}

async function report(error: unknown, platform: CommandPlatform, output: Output): Promise<number> {
  const failure = platform.interrupted.aborted ? interrupted() : toFailure(error);
  if (failure.exit !== "interrupted") await output.failure(failure);
  if (platform.variable("STATIC_DEBUG") !== undefined && error instanceof Error) {
    await platform.stderr.write(`${chain(error).map(framed).join("\ncaused by ")}\n`);
  }
  return exitCodes[failure.exit].code;
}

async function perform(
  { words, command, given, exposed }: ParsedCommandLine,
  platform: CommandPlatform,
  output: Output,
): Promise<
  "done" | "usage"
> {
  const { program } = platform;
  if (given.has("version")) {
    await output.result({ version }, [version]);
    return "done";
  }
  if (command === undefined) {
    const lines = words.length === 0
      ? overview(commands, program)
      : groupHelp(commands, words.join(" "), program);
    await output.text({ commands: describeCommands() }, lines);
    return words.length === 0 || given.has("help") ? "done" : "usage";
  }
  if (given.has("help")) {
    await output.text({ ...describe(command) }, commandHelp(command, program));
    return "done";
  }
  const faults = faultsOfNames(platform.variableNames);
  if (faults.length > 0) throw badInput(faults.join("; "));
  for (const name of exposed) {
    await output.warn(
      `${name} is on the command line, where other users of this machine and your shell history can see it`,
    );
  }
  await untilInterrupted(platform, command.run({ given, platform, output }));
  return "done";
}

/**
 * Time that an interrupted command has to tidy up; short, because state on disk is safe at any
 * time.
 */
async function untilInterrupted(
  { interrupted: signal, every }: CommandPlatform,
  work: Promise<void>,
): Promise<void> {
  let stop = (): void => {};
  const tooLate = new Promise<never>((_, reject) => {
    const wait = (): void => void (stop = every(graceMs, () => reject(interrupted())));
    if (signal.aborted) return wait();
    signal.addEventListener("abort", wait, { once: true });
    stop = () => signal.removeEventListener("abort", wait);
  });
  try {
    await Promise.race([work, tooLate]);
  } finally {
    stop();
  }
}

function describeCommands(): object[] {
  return commands.map(describe);
}

function describe({ run: _, ...spec }: typeof commands[number]): object {
  return spec;
}

function chain(error: Error): string[] {
  return [
    error.stack ?? error.message,
    ...(error.cause instanceof Error ? chain(error.cause) : []),
  ];
}
