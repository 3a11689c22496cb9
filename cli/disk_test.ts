import { assertEquals } from "@std/assert";
import { diskCodeOf, reasonOf } from "./disk.ts";
import { toFailure } from "./failure.ts";

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: as the system says it`), { code });
}

Deno.test("errors of the disk are told in the words of the SDK", () => {
  const cases: readonly [string, string, string][] = [
    ["ENOSPC", "store_full", "the disk is full"],
    ["EDQUOT", "store_full", "the disk is full"],
    ["EROFS", "store_failed", "the file system is mounted read-only"],
    ["EACCES", "store_failed", "this user has no right to it"],
    [
      "ENOTDIR",
      "store_failed",
      "a file is in the place of a directory, or a directory in that of a file",
    ],
  ];
  for (const [system, code, words] of cases) {
    const error = systemError(system);
    assertEquals([diskCodeOf(error), reasonOf(error)], [code, words]);
    assertEquals(toFailure(error).code, code);
  }
});

Deno.test("an error of a connection, and one without a system's word, is not the disk's", () => {
  for (const error of [systemError("ECONNREFUSED"), new SyntaxError("no JSON"), "text"]) {
    assertEquals(diskCodeOf(error), undefined);
  }
});
