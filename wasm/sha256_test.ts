import { expand } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js";
import { concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createRandom,
  readVectors,
  seedFromEnvironment,
  testWhen,
  vectors,
} from "../tests/support/mod.ts";
import { CipherError, hkdfExpandSha256, hmacSha256, sha256 } from "./mod.ts";
import { Sha256, sharedSha256 } from "./sha256.ts";

const random = createRandom(seedFromEnvironment());

/** Text cut at random places. */
function partsOf(bytes: Uint8Array): Uint8Array[] {
  const cuts = [random.below(bytes.length + 1), random.below(bytes.length + 1)].sort((a, b) =>
    a - b
  );
  return [bytes.subarray(0, cuts[0]), bytes.subarray(cuts[0], cuts[1]), bytes.subarray(cuts[1])];
}

Deno.test("sha256() returns the known hashes of FIPS 180-4", () => {
  const known = {
    "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    abc: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq:
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  };
  for (const [text, hash] of Object.entries(known)) {
    assertEquals(sha256(utf8ToBytes(text)), hexToBytes(hash));
  }
});

Deno.test("hashes, MACs and expansions of all lengths are noble's, in whatever parts they come", () => {
  const { windowBytes } = sharedSha256();
  const around = [0, 9, 55, 56, 64, 119, 120, 128, windowBytes, 2 * windowBytes].flatMap((
    n,
  ) => [n - 1, n, n + 1]);
  const lengths = [
    ...around.filter((n) => n >= 0),
    ...Array.from({ length: 1500 }, () => random.below(700)),
  ];
  for (const length of lengths) {
    const [bytes, key] = [random.bytes(length), random.bytes(random.below(200))];
    const where = `seed ${random.seed}, ${length} bytes, key of ${key.length}`;
    assertEquals(sha256(...partsOf(bytes)), nobleSha256(bytes), where);
    assertEquals(hmacSha256(key, ...partsOf(bytes)), hmac(nobleSha256, key, bytes), where);
    const wanted = random.chance(0.5) ? random.below(33) : random.below(300);
    const secret = concatBytes(random.bytes(32), key);
    assertEquals(
      hkdfExpandSha256(secret, bytes, wanted),
      expand(nobleSha256, secret, bytes, wanted),
      where,
    );
  }
});

Deno.test("hkdfExpandSha256() goes to 255 hashes and not further", () => {
  const [key, info] = [random.bytes(32), random.bytes(10)];
  assertEquals(hkdfExpandSha256(key, info, 255 * 32), expand(nobleSha256, key, info, 255 * 32));
  for (const length of [255 * 32 + 1, -1, -5, 1.5, NaN, Infinity]) {
    assertThrows(() => hkdfExpandSha256(key, info, length), RangeError);
  }
});

Deno.test("more than 2^31 bytes are refused before one is hashed, in one part or in several", () => {
  const key = random.bytes(32);
  const gibibyte = new Uint8Array(2 ** 30); // never touched, so it takes no memory
  const parts = [gibibyte, gibibyte, Uint8Array.of(1)];
  for (
    const act of [
      () => sha256(...parts),
      () => hmacSha256(key, ...parts),
      () => hmacSha256(new Uint8Array(2 ** 31 + 1)),
      () => hkdfExpandSha256(key, new Uint8Array(2 ** 31), 32),
    ]
  ) assertEquals(assertThrows(act, CipherError).code, "invalid_input");
});

Deno.test("nothing of a secret stays in WebAssembly memory, also when a call throws", () => {
  const core = new Sha256();
  const untouched = core.memory.slice();
  for (const length of [0, 1, 55, 64, 1000, core.windowBytes, 3 * core.windowBytes]) {
    core.hash([random.bytes(length)]);
    assertEquals(core.memory, untouched, `a hash of ${length} bytes left something behind`);
    core.mac(random.bytes(100), [random.bytes(length)]);
    assertEquals(core.memory, untouched, `a MAC of ${length} bytes left something behind`);
    core.expand(random.bytes(32), random.bytes(length), 77);
    assertEquals(core.memory, untouched, `an expansion of ${length} bytes left something behind`);
  }
  const text = "text" as unknown as Uint8Array; // cast: what a caller without types may pass
  const secret = random.bytes(1000);
  const error = assertThrows(() => core.mac(random.bytes(32), [secret, text]), CipherError);
  assertEquals(error.code, "invalid_input");
  assertEquals(core.memory, untouched, "a refused MAC left something behind");
  let seen = false;
  let passes = 0;
  const failing = {
    *[Symbol.iterator](): Iterator<Uint8Array> {
      yield secret;
      if (++passes === 1) return;
      seen = core.memory.some((byte, i) => byte !== untouched[i]);
      throw new Error("a fault between the steps");
    },
  };
  // cast: the first pass adds lengths, the second copies
  const parts = failing as unknown as readonly Uint8Array[];
  assertThrows(() => core.mac(random.bytes(32), parts), Error, "a fault between");
  assert(seen, "the comparison sees what a MAC leaves before it is wiped");
  assertEquals(core.memory, untouched, "a fault left something behind");
  assertEquals(core.hash([secret]), nobleSha256(secret));
});

testWhen(
  vectors("wycheproof/hkdf_sha256_test.json"),
  "HKDF agrees with Wycheproof",
  () => {
    const { testGroups } = readVectors("wycheproof/hkdf_sha256_test.json") as {
      testGroups: { tests: Record<string, string & number>[] }[];
    };
    const tests = testGroups.flatMap(({ tests }) => tests);
    for (const test of tests) {
      const bytes = (name: string): Uint8Array => hexToBytes(String(test[name]));
      const act = (): Uint8Array =>
        hkdfExpandSha256(
          hmacSha256(bytes("salt"), bytes("ikm")),
          bytes("info"),
          Number(test["size"]),
        );
      if (test["result"] === "valid") assertEquals(act(), bytes("okm"), `case ${test["tcId"]}`);
      else assertThrows(act, RangeError);
    }
    assert(tests.length > 50);
  },
);

Deno.test("parts are one message", () => {
  const parts = [random.bytes(3), random.bytes(0), random.bytes(70)];
  assertEquals(sha256(...parts), sha256(concatBytes(...parts)));
});
