/**
 * Lines that are wider than the terminal, broken between words. Continuation lines are indented a
 * little. A command that is to be copied is never broken here: the terminal breaks it where it
 * must, and leaves its own breaks out of the copy.
 */
const continuation = 2;
/** Between the words of a command, until it is shown. */
const noBreak = "\u00a0";

/** A command that is to be copied, as one word. */
export function kept(command: string): string {
  return command.replaceAll(" ", noBreak);
}

/** With its blanks again. */
export function withBlanks(line: string): string {
  return line.replaceAll(noBreak, " ");
}

/**
 * A word that is wider than the terminal stays whole: it may be a command or an address that is to
 * be copied.
 */
export function wrap(line: string, columns: number): string[] {
  if (width(line) <= columns) return [withBlanks(line)];
  const [indent = ""] = /^ */.exec(line) ?? [];
  const further = " ".repeat(Math.min(indent.length + continuation, Math.floor(columns / 2)));
  const lines: string[] = [];
  let current = indent;
  let isEmpty = true;
  // Two blanks or more stand between columns: they go with the word that follows.
  for (const [, gap = "", word = ""] of line.slice(indent.length).matchAll(/( *)([^ ]+)/g)) {
    const longer = isEmpty ? `${current}${word}` : `${current}${gap}${word}`;
    if (isEmpty || width(longer) <= columns) {
      current = longer;
    } else {
      lines.push(current);
      current = `${further}${word}`;
    }
    isEmpty = false;
  }
  return [...lines, current].map(withBlanks);
}

/** In columns, without what only colours it. */
export function width(text: string): number {
  // deno-lint-ignore no-control-regex
  return [...text.replace(/\x1b\[\d+m/g, "")].length;
}
