import { assertEquals, assertStringIncludes } from "@std/assert";
import { findRefusal, refusalOf } from "./disk_refusal.ts";

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** As `classic-level` throws what LevelDB has said. */
function levelError(message: string): Error {
  return new Error("Database failed to open", {
    cause: systemError("LEVEL_IO_ERROR", `IO error: 000003.log: ${message}`),
  });
}

const cases: readonly [Error, string, string][] = [
  [
    systemError("ENOSPC", "ENOSPC: no space left on device, write"),
    "store_full",
    "the disk is full",
  ],
  [new Error("No space left on device (os error 28)"), "store_full", "the disk is full"],
  [levelError("No space left on device"), "store_full", "the disk is full"],
  [levelError("Disk quota exceeded"), "store_full", "the disk is full"],
  [new DOMException("", "QuotaExceededError"), "store_full", "no more room for this site"],
  [levelError("Read-only file system"), "store_failed", "mounted read-only"],
  [
    systemError("EROFS", "EROFS: read-only file system, mkdir"),
    "store_failed",
    "mounted read-only",
  ],
  [systemError("EACCES", "EACCES: permission denied, open"), "store_failed", "has no right to it"],
  [levelError("Too many open files"), "store_failed", "too many files are open"],
  [levelError("Input/output error"), "store_failed", "the disk fails"],
];

for (const [cause, code, words] of cases) {
  Deno.test(`${cause.cause ?? cause} is ${code}, in words`, () => {
    const found = findRefusal("Cannot open the store", cause);
    assertEquals([found?.code, found?.cause], [code, cause]);
    assertStringIncludes(found?.message ?? "", words);
  });
}

Deno.test("an unknown reason is no known refusal, and is told as it was said", () => {
  const cause = levelError("000005.ldb: Invalid argument");
  assertEquals(findRefusal("Cannot open the store", cause), undefined);
  assertStringIncludes(refusalOf("Cannot write", cause).message, "Invalid argument");
});
