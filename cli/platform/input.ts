/** Standard input: bytes from a pipe, lines, and lines typed without being shown. */
import process from "node:process";
import { Failure } from "../failure.ts";
import type { Input } from "./platform.ts";

/** A line that is longer is no line; what is meant to be long is read in pieces. */
const maxLineBytes = 1024 * 1024;
const [endOfText, endOfFile, backspace, lineFeed, carriageReturn, killLine, escape, del] = [
  0x03,
  0x04,
  0x08,
  0x0a,
  0x0d,
  0x15,
  0x1b,
  0x7f,
];

/**
 * `interrupt` is told of a Ctrl-C that is typed while the terminal hands keys over unread. A caller
 * that waits for input when `interrupted` is aborted is told that there is none.
 */
export function openInput(interrupt: () => void, interrupted: AbortSignal): Input {
  const { stdin } = process;
  const isTerminal = stdin.isTTY === true;
  const source = new StandardInput(interrupted);
  return {
    isTerminal,
    read: () => source.read(),
    readLine: async ({ hidden = false, prompt } = {}) => {
      if (!hidden || !isTerminal) {
        await prompt?.();
        return await readLine(source);
      }
      // Before anything is asked: an answer that is typed at once must not be shown either.
      stdin.setRawMode(true);
      try {
        await prompt?.();
        return await readHidden(source, interrupt);
      } finally {
        stdin.setRawMode(false);
      }
    },
  };
}

/** Opened at the first read: a program that never reads leaves the input to the next one. */
class StandardInput {
  readonly #interrupted: AbortSignal;
  #chunks: AsyncIterator<Uint8Array> | undefined;
  #rest: Uint8Array | undefined;
  /** Tells the one who waits that there is nothing more. One listener serves all reads. */
  #stopWaiting: (() => void) | undefined;

  constructor(interrupted: AbortSignal) {
    this.#interrupted = interrupted;
    interrupted.addEventListener("abort", () => this.#stopWaiting?.(), { once: true });
  }

  async read(): Promise<Uint8Array | undefined> {
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest !== undefined && rest.length > 0) return rest;
    if (this.#interrupted.aborted) return undefined;
    const chunks = this.#chunks ??= process.stdin[Symbol.asyncIterator]();
    return await new Promise((resolve, reject) => {
      this.#stopWaiting = () => resolve(undefined);
      chunks.next().then(({ done, value }) => resolve(done === true ? undefined : value), reject);
    });
  }

  /** Gives back what was read too far. */
  unread(bytes: Uint8Array): void {
    this.#rest = bytes;
  }
}

async function readLine(source: StandardInput): Promise<string | undefined> {
  const line: number[] = [];
  for (;;) {
    const chunk = await source.read();
    if (chunk === undefined) return line.length === 0 ? undefined : decode(line);
    const end = chunk.indexOf(lineFeed);
    for (const byte of end < 0 ? chunk : chunk.subarray(0, end)) line.push(byte);
    if (line.length > maxLineBytes) throw tooLong();
    if (end < 0) continue;
    source.unread(chunk.subarray(end + 1));
    return decode(line.at(-1) === carriageReturn ? line.slice(0, -1) : line);
  }
}

function tooLong(): Failure {
  return new Failure(
    "payload_too_large",
    `A line of the input has more than ${maxLineBytes} bytes`,
  );
}

/** Key by key, because the terminal does no editing in this mode. */
async function readHidden(
  source: StandardInput,
  interrupt: () => void,
): Promise<string | undefined> {
  let line: number[] = [];
  for (;;) {
    const chunk = await source.read();
    if (chunk === undefined) return undefined;
    for (const [index, key] of chunk.entries()) {
      switch (key) {
        case lineFeed:
        case carriageReturn:
          source.unread(chunk.subarray(index + 1));
          return decode(line);
        case endOfText:
          interrupt();
          return undefined;
        case endOfFile:
          if (line.length === 0) return undefined;
          break;
        case backspace:
        case del:
          line = withoutLastCharacter(line);
          break;
        case killLine:
          line = [];
          break;
        default:
          if (key > escape || key === 0x09) line.push(key);
      }
    }
    if (line.length > maxLineBytes) throw tooLong();
  }
}

/** A character of UTF-8 is one leading byte and those that continue it. */
function withoutLastCharacter(line: readonly number[]): number[] {
  let end = line.length - 1;
  while (end > 0 && ((line[end] ?? 0) & 0xc0) === 0x80) end--;
  return line.slice(0, Math.max(0, end));
}

function decode(bytes: readonly number[]): string {
  return new TextDecoder().decode(Uint8Array.from(bytes));
}
