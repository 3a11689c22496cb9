/**
 * The directive in the comment before a block. Without one, commands and code are run. `not run:`
 * gives the reason why a block cannot be; `until:` marks a command that serves until it is stopped,
 * by the words that it prints when it is ready; `answers:` has the lines that a user types, with
 * commas between.
 */
import type { Block } from "./markdown.ts";

export type Directive =
  | { readonly kind: "run"; readonly answers: readonly string[] }
  | { readonly kind: "serve"; readonly until: string }
  | { readonly kind: "skip"; readonly reason: string };

export function directiveOf(
  { page, line, comment }: Pick<Block, "page" | "line" | "comment">,
): Directive {
  const [, word, rest = ""] = /^(not run|until|answers): *(.*)$/.exec(comment ?? "") ?? [];
  if (word !== undefined && rest.length < 3) {
    throw new Error(`${page}:${line}: "${word}:" says nothing`);
  }
  switch (word) {
    case "not run":
      return { kind: "skip", reason: rest };
    case "until":
      return { kind: "serve", until: rest };
    case "answers":
      return { kind: "run", answers: rest.split(/, */) };
    default:
      return { kind: "run", answers: [] };
  }
}
