/**
 * Everything that reaches the user. Results go to standard output, as text or with `--json` as
 * JSON; notes, warnings, progress and errors go to standard error, so that pipes carry results
 * only. Colours and progress are for terminals.
 */
import { exitCodes } from "./exit_codes.ts";
import type { Failure } from "./failure.ts";
import type { CommandPlatform, Sink } from "./platform/platform.ts";
import { shownJson, shownLines } from "../proto/mod.ts";
import { kept, width, withBlanks, wrap } from "./wrapping.ts";

export type Colour = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

const sequences: Readonly<Record<Colour, number>> = {
  bold: 1,
  dim: 2,
  red: 31,
  green: 32,
  yellow: 33,
  cyan: 36,
};
const frames = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
const frameMs = 100;
const clearLine = "\r\x1b[2K";
/**
 * API keys and invites, as tokens and as links: errors quote a word that no command takes, and it
 * may be one of these.
 */
const pasted = /\b(?:sk_(?:live|test)|inv)_[\w-]{20,}|#[\w-]{40,}/g;
/** Work that is quicker than this shows no progress. */
const patienceFrames = 4;

export interface OutputOptions {
  readonly json: boolean;
}

export class Output {
  readonly json: boolean;
  readonly #platform: CommandPlatform;
  readonly #colour: boolean;

  constructor(platform: CommandPlatform, { json }: OutputOptions) {
    this.#platform = platform;
    this.json = json;
    this.#colour = platform.variable("NO_COLOR") === undefined &&
      platform.variable("TERM") !== "dumb";
  }

  /** The command's result: an object for `--json`, lines for people. */
  async result(value: Readonly<Record<string, unknown>>, lines: readonly string[]): Promise<void> {
    if (this.json) return await this.#platform.stdout.write(`${shownJson(value)}\n`);
    if (lines.length > 0) await this.#platform.stdout.write(`${lines.map(guarded).join("\n")}\n`);
  }

  /** For people only; not part of the result. */
  async note(...lines: readonly string[]): Promise<void> {
    if (!this.json) await this.#platform.stderr.write(fitted(lines, this.#platform.stderr));
  }

  async warn(text: string): Promise<void> {
    const { stderr } = this.#platform;
    await stderr.write(fitted([`${this.onStderr("yellow", "warning:")} ${framed(text)}`], stderr));
  }

  /** Lines of help and explanation, which may be wider than the terminal. */
  async text(value: Readonly<Record<string, unknown>>, lines: readonly string[]): Promise<void> {
    await this.result(value, fitted(lines, this.#platform.stdout).split("\n").slice(0, -1));
  }

  async failure({ code, message: text, exit, ...more }: Failure): Promise<void> {
    const { code: exit_code } = exitCodes[exit];
    const message = text.replace(pasted, "[secret removed]");
    const advice = more.advice === undefined
      ? undefined
      : withCommands(more.advice, this.#platform.program);
    if (this.json) {
      const error = {
        code,
        message,
        ...(advice !== undefined && { advice: withBlanks(advice) }),
        exit_code,
      };
      return await this.#platform.stderr.write(`${shownJson({ error })}\n`);
    }
    const lines = [`${this.onStderr("red", "error:")} ${framed(message)}`];
    if (advice !== undefined) lines.push(framed(advice));
    await this.#platform.stderr.write(fitted(lines, this.#platform.stderr));
  }

  /**
   * Shows what is being waited for once it takes long enough to wonder, and no longer once the user
   * has interrupted.
   */
  async progress<T>(what: string, work: Promise<T>): Promise<T> {
    const { stderr, every, interrupted } = this.#platform;
    if (!stderr.isTerminal || this.json) return await work;
    let frame = 0;
    const stopFrames = every(frameMs, () => {
      if (++frame < patienceFrames) return;
      const line = `${frames[frame % frames.length]} ${what} …`;
      // A line that is wider than the terminal would begin another one each time.
      void stderr.write(`${clearLine}${line.slice(0, Math.max(1, stderr.columns - 1))}`);
    });
    const stop = async (): Promise<void> => {
      stopFrames();
      if (frame >= patienceFrames) await stderr.write(clearLine);
      frame = 0;
    };
    const onInterrupt = (): void => void stop();
    interrupted.addEventListener("abort", onInterrupt, { once: true });
    try {
      return await work;
    } finally {
      interrupted.removeEventListener("abort", onInterrupt);
      await stop();
    }
  }

  /** A command that the user may copy, for notes: never broken, however narrow the terminal is. */
  command(words: string): string {
    return this.onStderr("cyan", kept(words));
  }

  /** Painted where standard output shows colours. */
  paint(colour: Colour, text: string): string {
    return this.#paint(colour, text, this.#platform.stdout.isTerminal);
  }

  onStderr(colour: Colour, text: string): string {
    return this.#paint(colour, text, this.#platform.stderr.isTerminal);
  }

  #paint(colour: Colour, text: string, isTerminal: boolean): string {
    return this.#colour && isTerminal ? `\x1b[${sequences[colour]}m${text}\x1b[0m` : text;
  }
}

/** At a terminal, no wider than it is; what goes into a file or a pipe stays as it is. */
function fitted(lines: readonly string[], { isTerminal, columns }: Sink): string {
  const safe = lines.map(guarded);
  const all = isTerminal
    ? safe.join("\n").split("\n").flatMap((line) => wrap(line, columns))
    : safe.map(withBlanks);
  return `${all.join("\n")}\n`;
}

/** Colours of ours. */
// deno-lint-ignore no-control-regex
const painted = /(\x1b\[\d+m)/;

/**
 * Names are `shown` where a line is made. Here is the last look, for what was forgotten: it could
 * steer the terminal.
 */
function guarded(line: string): string {
  return line.split(painted).map((part) => painted.test(part) ? part : shownLines(part)).join("");
}

/**
 * Text from elsewhere, fit for a terminal. Further lines are indented, so that none can pass for a
 * line of ours.
 */
export function framed(text: string): string {
  return shownLines(text).replaceAll("\n", "\n  ");
}

/** A command in advice, up to the sign that ends it. */
const commandInAdvice = /\{(?:start)?\}(?: [^ ;,()]*[^ ;,().?])*/g;

/**
 * In advice `{}` stands for how this program was started, and `{start}` for how a local stack is,
 * so that both can be copied. The commands are `kept`: `withBlanks` gives the text for programs.
 */
export function withCommands(advice: string, program: string): string {
  const start = program.endsWith("task static")
    ? program.replace(/static$/, "start")
    : "deno task start";
  return advice.replace(
    commandInAdvice,
    (words) => kept(words.replace("{start}", start).replace("{}", program)),
  );
}

/** Columns as wide as their widest cell. The last one is not filled up. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => width(row[column] ?? "")))
  );
  return rows.map((row) =>
    row.map((cell, column) =>
      column === row.length - 1 ? cell : cell + " ".repeat((widths[column] ?? 0) - width(cell))
    )
      .join("  ").trimEnd()
  );
}
