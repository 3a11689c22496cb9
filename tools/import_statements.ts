/** The imports of a file, and which of them bring values. */
import type { SourceFile } from "./source.ts";

export interface ImportStatement {
  readonly index: number;
  readonly specifier: string;
  /** Whether only types come from there. */
  readonly isType: boolean;
}

const importStatement = /\b(?:from|import)\s*\(?\s*"/g;

/**
 * Specifiers are blanked in `code`, so the statement is found there and the specifier read from
 * `text`.
 */
export function importsOf(file: SourceFile): ImportStatement[] {
  return Array.from(file.code.matchAll(importStatement), (match) => {
    const start = match.index + match[0].length;
    const specifier = file.text.slice(start, file.text.indexOf('"', start));
    return { index: match.index, specifier, isType: isType(file.code.slice(0, match.index)) };
  });
}

/** `before` ends with the names of the statement. */
function isType(before: string): boolean {
  const [, kind, names] = /\b(?:import|export)\s+(type\b)?\s*(?:\{([^{}]*)\}\s*)?$/.exec(before) ??
    [];
  if (kind !== undefined) return true;
  return names !== undefined && names.split(",").every((name) => /^\s*(?:type\s|$)/.test(name));
}
