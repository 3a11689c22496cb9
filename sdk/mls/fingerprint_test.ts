import { assertEquals } from "@std/assert";
import { fingerprintOf } from "./fingerprint.ts";

Deno.test("fingerprintOf() has the frozen digits: SHA-256 as a number, modulo 10^40, in groups of five", () => {
  const counting = Uint8Array.from({ length: 32 }, (_, i) => i);
  const short = new Uint8Array(32);
  short.set([0x28, 0x05], 30);
  assertEquals(
    fingerprintOf(new Uint8Array(32)),
    "22022 37096 31479 19918 10382 90276 65309 30981",
  );
  assertEquals(fingerprintOf(counting), "79895 77163 29441 73203 52847 08350 29652 97373");
  assertEquals(fingerprintOf(short), "00004 69152 27626 24667 37332 69222 20720 85124");
});
