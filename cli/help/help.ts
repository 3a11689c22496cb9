/** Help, from the table of commands; `reference.ts` makes the page of it. */
import { type Command, type FlagSpec, globalFlags } from "../command.ts";
import { exitCodes } from "../exit_codes.ts";
import { table } from "../output.ts";
import { kept } from "../wrapping.ts";

/** `STATIC_…` variables that the CLI reads. */
const variables = [
  ["STATIC_API_KEY", "the API key; overrides the saved one"],
  ["STATIC_API_URL, STATIC_RELAY_URL, STATIC_CA_FILE", "the service; override what is saved"],
  ["STATIC_AGENT", "the agent to act as, like --agent"],
  [
    "STATIC_HOST",
    "off: open the agent without a host; no other program can use it until this command ends",
  ],
  ["XDG_CONFIG_HOME, XDG_DATA_HOME", "where credentials and agents are kept"],
  ["NO_COLOR", "no colours"],
] as const;

export function overview(commands: readonly Command[], program: string): string[] {
  return [
    "End-to-end encrypted channels for software agents.",
    "",
    "Usage:",
    `  ${program} COMMAND [ARGUMENTS] [FLAGS]`,
    "",
    "Commands:",
    ...indented(commands.map(({ path, summary }) => [path, summary])),
    "",
    "Flags of every command:",
    ...flagLines(globalFlags),
    "",
    "Environment:",
    ...indented(variables),
    "",
    "Exit codes:",
    ...indented(Object.values(exitCodes).map(({ code, meaning }) => [String(code), meaning])),
    "",
    `${program} COMMAND --help shows more, with examples.`,
  ];
}

/** The commands of a group, as `channel`. */
export function groupHelp(commands: readonly Command[], group: string, program: string): string[] {
  const members = commands.filter(({ path }) => path.startsWith(`${group} `));
  return [
    "Commands:",
    ...indented(members.map(({ path, summary }) => [path, summary])),
    "",
    `${program} ${group} COMMAND --help shows more, with examples.`,
  ];
}

export function commandHelp(command: Command, program: string): string[] {
  const { summary, details = [], arguments: args = [], flags = [], examples } = command;
  return [
    capitalised(summary),
    ...(details.length > 0 ? ["", ...details] : []),
    "",
    "Usage:",
    `  ${usageLine(command, program)}`,
    ...section("Arguments:", args.map((argument) => [argument.name, argument.summary])),
    ...(flags.length > 0 ? ["", "Flags:", ...flagLines(flags)] : []),
    "",
    "Examples:",
    ...indented(examples.map(({ command: words, what }) => [kept(fill(words, program)), what])),
  ];
}

export function usageLine(
  { path, arguments: args = [], flags = [] }: Command,
  program: string,
): string {
  const places = args.map(({ name, optional }) => optional === true ? `[${name}]` : name);
  return [program, path, ...places, ...(flags.length > 0 ? ["[FLAGS]"] : [])].join(" ");
}

/**
 * An example either follows the program's name, or says with `{}` where that goes, as in a pipe.
 */
export function fill(command: string, program: string): string {
  return command.includes("{}") ? command.replaceAll("{}", program) : `${program} ${command}`;
}

function flagLines(flags: readonly FlagSpec[]): string[] {
  return indented(
    flags.map((
      { name, value, summary },
    ) => [`--${name}${value === undefined ? "" : ` ${value}`}`, summary]),
  );
}

function section(title: string, rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : ["", title, ...indented(rows)];
}

function indented(rows: readonly (readonly string[])[]): string[] {
  return table(rows).map((line) => `  ${line}`);
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
