/** The nearest of some words to one that was mistyped. */
import { byNearness } from "../../proto/base/nearest.ts";

/** Undefined when none is near enough to be meant. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const [best] = byNearness(word, words);
  return best !== undefined && best.distance <= Math.max(1, Math.floor(word.length / 3))
    ? best.word
    : undefined;
}
