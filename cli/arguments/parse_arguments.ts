/**
 * From words on the command line to a command and what it was given. Whatever is not on the
 * command's list is refused.
 */
import { type Command, type FlagSpec, globalFlags, type ParsedArguments } from "../command.ts";
import { badInput } from "../failure.ts";
import { nearest } from "./suggest.ts";

export interface ParsedCommandLine {
  /** The command's words, as far as there were any: a group alone, or nothing, asks for help. */
  readonly words: readonly string[];
  readonly command: Command | undefined;
  readonly given: ParsedArguments;
  /** Names of arguments that carried a secret. */
  readonly exposed: readonly string[];
}

/**
 * An id of an agent, a message or an invite, or several joined by dots: one of 64 begins with a
 * dash. No flag is as long.
 */
const binaryId = /^-[\w-]{21}(\.[\w-]{22})*$/;

/** Throws a `Failure` that says what is wrong and what was probably meant. */
export function parseArguments(
  argv: readonly string[],
  commands: readonly Command[],
): ParsedCommandLine {
  const parser = new Parser(commands);
  let flagsEnded = false;
  for (const [index, token] of argv.entries()) {
    if (parser.takesNext) parser.value(token);
    else if (flagsEnded || token === "-" || !token.startsWith("-") || binaryId.test(token)) {
      parser.word(token);
    } else if (token === "--") flagsEnded = true;
    else parser.flag(token, argv[index + 1]);
  }
  return parser.finish();
}

class Parser {
  readonly #commands: readonly Command[];
  readonly #words: string[] = [];
  readonly #values = new Map<string, string>();
  readonly #switches = new Set<string>();
  readonly #exposed: string[] = [];
  readonly #rest: string[] = [];
  #command: Command | undefined;
  #arguments = 0;
  #waiting: FlagSpec | undefined;

  constructor(commands: readonly Command[]) {
    this.#commands = commands;
  }

  /** The next word is the value of a flag, whatever it looks like. */
  get takesNext(): boolean {
    return this.#waiting !== undefined;
  }

  value(text: string): void {
    const flag = this.#waiting;
    this.#waiting = undefined;
    if (flag !== undefined) this.#set(flag, text);
  }

  flag(token: string, next: string | undefined): void {
    const { name, inline } = splitFlag(token);
    const known = [...globalFlags, ...this.#command?.flags ?? []];
    const flag = known.find((each) => each.name === name);
    if (flag === undefined) throw this.#unknownFlag(token.split("=", 1)[0] ?? token, name, known);
    if (flag.value === undefined) {
      if (inline !== undefined) throw badInput(`--${name} takes no value`);
      this.#switches.add(name);
    } else if (inline !== undefined) this.#set(flag, inline);
    else if (next === undefined) throw badInput(`--${name} needs a value: --${name} ${flag.value}`);
    else this.#waiting = flag;
  }

  word(text: string): void {
    const path = [...this.#words, text].join(" ");
    // A command may be the first word of others, too.
    const isDeeper = this.#arguments === 0 &&
      this.#commands.some((each) => each.path === path || each.path.startsWith(`${path} `));
    if (this.#command !== undefined && !isDeeper) return this.#argument(this.#command, text);
    this.#words.push(text);
    this.#command = this.#commands.find((command) => command.path === path);
    if (
      this.#command === undefined &&
      !this.#commands.some((command) => command.path.startsWith(`${path} `))
    ) {
      throw this.#unknownCommand(path);
    }
  }

  finish(): ParsedCommandLine {
    const helps = this.#switches.has("help") || this.#switches.has("version");
    const command = this.#command;
    const missing = (command?.arguments ?? []).slice(this.#arguments).find((argument) =>
      argument.optional !== true
    );
    if (command !== undefined && missing !== undefined && !helps) {
      throw badInput(
        `${missing.name} is missing: ${missing.summary}`,
        `See: {} ${command.path} --help`,
      );
    }
    return {
      words: this.#words,
      command,
      given: {
        value: (name) => this.#values.get(name),
        has: (name) => this.#switches.has(name),
        rest: this.#rest,
      },
      exposed: this.#exposed,
    };
  }

  #argument(command: Command, text: string): void {
    const argument = command.arguments?.[this.#arguments];
    const last = command.arguments?.at(-1);
    if (argument === undefined && last?.rest === true) return void this.#rest.push(text);
    if (argument === undefined) {
      throw badInput(`"${command.path}" does not take "${text}"`, `See: {} ${command.path} --help`);
    }
    argument.check?.(text);
    this.#arguments++;
    this.#values.set(argument.name, text);
    if (argument.secret === true) this.#exposed.push(argument.name);
  }

  #set(flag: FlagSpec, text: string): void {
    if (this.#values.has(flag.name)) throw badInput(`--${flag.name} is given twice`);
    if (text === "") throw badInput(`--${flag.name} is empty`);
    this.#values.set(flag.name, text);
  }

  #unknownFlag(shown: string, name: string, known: readonly FlagSpec[]): Error {
    const meant = nearest(name, known.map((flag) => flag.name));
    const where = this.#command === undefined ? "" : ` of "${this.#command.path}"`;
    const advice = meant === undefined ? "See: {} --help" : `Did you mean --${meant}?`;
    return badInput(`${shown} is not a flag${where}`, advice);
  }

  #unknownCommand(path: string): Error {
    const groups = this.#commands.flatMap(({ path: each }) =>
      each.includes(" ") ? [each.split(" ", 1)[0] ?? ""] : []
    );
    const meant = nearest(path, [
      ...new Set([...this.#commands.map((command) => command.path), ...groups]),
    ]);
    return badInput(
      `"${path}" is not a command`,
      meant === undefined ? "See: {} --help" : `Did you mean "${meant}"?`,
    );
  }
}

function splitFlag(token: string): { name: string; inline: string | undefined } {
  if (token === "-h") return { name: "help", inline: undefined };
  const [, name = token, , inline] = /^--?([^=]*)(=([^]*))?$/.exec(token) ?? [];
  return { name, inline };
}
