import { assertEquals } from "@std/assert";
import { atOnce, type InterruptibleWork } from "../../base/interruptible_work.ts";
import {
  createKeyPackage,
  encodeKeyPackageMessage,
  type KeyPackage,
} from "../../mls/key_package.ts";
import { portableSignatures } from "../../mls/testing/portable_signatures.ts";
import { someone } from "../../mls/testing/people.ts";
import { withoutLargest } from "./founding.ts";

/** Its size grows with its identity. */
function keyPackageOf(identityBytes: number): KeyPackage {
  const randomBytes = (length: number): Uint8Array =>
    crypto.getRandomValues(new Uint8Array(length));
  const identity = someone("a".repeat(identityBytes));
  const times = { notBeforeMs: 0, notAfterMs: 60_000 };
  const made = {
    suiteId: 3 as const,
    identity,
    ...times,
    lastResort: false,
    randomBytes,
    signatures: portableSignatures,
  };
  return createKeyPackage(made).keyPackage;
}

Deno.test("a founding whose Welcome is too long is made without the largest KeyPackages, and with none in the end", () => {
  const keyPackages: KeyPackage[] = [];
  for (const bytes of [200, 10, 150, 20, 100]) keyPackages.push(keyPackageOf(bytes));
  const sizeOf = (some: readonly KeyPackage[]): number =>
    some.reduce((bytes, each) => bytes + encodeKeyPackageMessage(each).length, 0);
  const within = (maxBytes: number): number[] => {
    const fits = (some: readonly KeyPackage[]): boolean => sizeOf(some) <= maxBytes;
    const kept = atOnce(
      withoutLargest(keyPackages, function* (some): InterruptibleWork<typeof some | undefined> {
        yield;
        return fits(some) ? some : undefined;
      }),
    );
    return kept.map((each) => keyPackages.indexOf(each));
  };
  assertEquals(within(sizeOf(keyPackages)), [0, 1, 2, 3, 4], "in their order, when all fit");
  assertEquals(within(sizeOf(keyPackages) - 1), [1, 3, 4, 2]);
  assertEquals(within(sizeOf(keyPackages.slice(1, 2))), [1]);
  assertEquals(within(0), []);
});
