/**
 * The arguments of tools. One that a tool does not have is refused by name: a model that writes
 * `timeout` for `seconds` would else believe that it was heard.
 */
import { z } from "zod";
import { quoted } from "../../proto/mod.ts";
import { nearest } from "../arguments/suggest.ts";

/** A schema of these arguments and no others. */
export function argumentsOf<Shape extends z.ZodRawShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  const names = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys" ? unknownWords(issue.keys, names) : undefined,
  });
}

/** Exported for tests. */
export function unknownWords(given: readonly string[], names: readonly string[]): string {
  const refused = given.map((each) => {
    const meant = meantBy(each, names);
    return `there is no argument ${quoted(each)}${
      meant === undefined ? "" : `, did you mean ${meant}?`
    }`;
  });
  const all = names.length === 0
    ? "This tool has no arguments"
    : `The arguments are ${names.join(", ")}`;
  return `${refused.join("; ")}${refused.at(-1)?.endsWith("?") ? "" : "."} ${all}`;
}

/** `replyTo` and `in-reply-to` are near to `reply_to`, though many letters differ. */
function meantBy(given: string, names: readonly string[]): string | undefined {
  const letters = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, "");
  const wanted = letters(given);
  const held = names.filter((name) =>
    minHeld <= letters(name).length && wanted.includes(letters(name))
  );
  const longest = held.toSorted((one, other) => other.length - one.length)[0];
  return longest ?? nearest(given, names);
}

/** Shorter names are in too many words: `to` is in `token`. */
const minHeld = 3;
