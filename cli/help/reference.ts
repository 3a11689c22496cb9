/**
 * The reference in `docs/cli.md`: what `--help` says, command by command, without its examples.
 * Words that several commands share stand there once.
 */
import { type Command, globalFlags } from "../command.ts";
import { exitCodes } from "../exit_codes.ts";
import { usageLine } from "./help.ts";

/** From so many commands on, an argument or a flag is explained once for all of them. */
const commonFrom = 3;

/** Returns Markdown, not yet formatted. */
export function renderReference(commands: readonly Command[]): string {
  const common = commonItems(commands);
  return [
    "## Exit codes\n",
    ...Object.values(exitCodes).map(({ code, meaning }) => `- \`${code}\`: ${meaning}`),
    "\n## Flags of every command\n",
    ...globalFlags.map(({ name, value, summary }) => item(flag(name, value), summary)),
    "\n## Arguments and flags of many commands\n",
    ...common,
    "\n## Commands\n",
    ...commands.map((command) => section(command, common)),
  ].join("\n");
}

function section(command: Command, common: ReadonlySet<string>): string {
  const { path, summary, details = [], flags = [] } = command;
  const own = itemsOf(command).filter((each) => !common.has(each));
  const shared = flags.filter(({ name, value, summary }) =>
    common.has(item(flag(name, value), summary)) && name !== "agent"
  ).map(({ name, value }) => `[${flag(name, value)}]`);
  const words = usageLine(command, "").replace(" [FLAGS]", "").trim().slice(path.length).trim();
  const usage = [words, ...shared].join(" ").trim();
  const text = [`${summary}.`, ...details].join(" ");
  return [
    `### ${path}\n`,
    `${usage === "" ? "" : `\`${usage}\`: `}${text}\n`,
    ...(own.length > 0 ? [...own, ""] : []),
  ].join("\n");
}

function commonItems(commands: readonly Command[]): Set<string> {
  const counts = new Map<string, number>();
  for (const each of commands.flatMap(itemsOf)) counts.set(each, (counts.get(each) ?? 0) + 1);
  return new Set([...counts].filter(([, count]) => count >= commonFrom).map(([each]) => each));
}

function itemsOf({ arguments: args = [], flags = [] }: Command): string[] {
  return [
    ...args.map(({ name, summary }) => item(name, summary)),
    ...flags.map(({ name, value, summary }) => item(flag(name, value), summary)),
  ];
}

function flag(name: string, value: string | undefined): string {
  return `--${name}${value === undefined ? "" : ` ${value}`}`;
}

function item(words: string, summary: string): string {
  return `- \`${words}\`: ${summary}`;
}
