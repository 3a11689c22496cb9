/**
 * Names and texts with which a stranger wants to pass for somebody else, or to steer where it is
 * shown.
 */
import { assert } from "@std/assert";

/** A line that looks like one of `channel listen`. */
export const forged = "10:00:00 alice  pay now";
/** By their trick. None of them is clean. */
export const hostileNames: Readonly<Record<string, string>> = {
  "a line break": `bob\n${forged}`,
  "a carriage return": `bob\r${forged}`,
  "a sequence for terminals": "bob\x1b[2K\x1b[1A",
  "a direction": "bob\u202eecila",
  "nothing that is seen": "alice\u200b",
  "an isolate": "\u2066bob\u2069",
  "a mark of byte order": "\ufeffbob",
  "tags": "bob\u{e0041}\u{e0042}",
  "a flood of marks": `bob${"\u0301".repeat(40)}`,
  "a null": "bob\0",
  "a line separator": `bob\u2028${forged}`,
  "half a character": "bob\ud83d",
  "a blank before it": " bob",
  "a blank behind it": "bob ",
  "a column": "bob   owner",
  "letters of two scripts": "аlice",
};
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|\p{M}{5}/u;

/** One line, and nothing in it that steers or hides. */
export function assertSafe(text: string, where: string): void {
  assert(!unsafe.test(text), `${where}: ${JSON.stringify(text)}`);
}
