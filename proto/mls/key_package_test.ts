import { ed25519 } from "@noble/curves/ed25519.js";
import { concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createKeyPackage,
  type KeyPackageOptions,
  mlsUint,
  mlsVector,
  readVectors,
  testWhen,
  vectors,
} from "../../tests/support/mod.ts";
import { WireError } from "../base/errors.ts";
import { agentIdOf } from "../base/ids.ts";
import { limits } from "../base/limits.ts";
import { readKeyPackage, supportedCipherSuites, verifyKeyPackage } from "./key_package.ts";
import { readWelcomeHeader } from "./message.ts";

const nowMs = 1_790_000_000_000;
const hour = 3_600_000;
const secretKey = new Uint8Array(32).fill(11);

function keyPackage(options: Partial<KeyPackageOptions> = {}): Uint8Array {
  return createKeyPackage({
    secretKey,
    notBeforeMs: nowMs - hour,
    notAfterMs: nowMs + hour,
    ...options,
  });
}

Deno.test("a KeyPackage gives agent id, suite, identity and expiry once it is verified", () => {
  const verified = verifyKeyPackage(readKeyPackage(keyPackage()), nowMs);
  assertEquals(verified.agentId, agentIdOf(ed25519.getPublicKey(secretKey), utf8ToBytes("agent")));
  assertEquals([verified.cipherSuite, verified.notAfterMs, verified.lastResort], [
    3,
    nowMs + hour,
    false,
  ]);
});

Deno.test("a last-resort KeyPackage is recognised by its extension", () => {
  const extensions = concatBytes(mlsUint(10, 2), mlsVector());
  assert(verifyKeyPackage(readKeyPackage(keyPackage({ extensions })), nowMs).lastResort);
});

Deno.test("a clock that is off by less than the tolerance does no harm", () => {
  const skew = limits.clockSkewMs - 1000;
  verifyKeyPackage(readKeyPackage(keyPackage()), nowMs - hour - skew);
  verifyKeyPackage(readKeyPackage(keyPackage()), nowMs + hour + skew);
});

const small = ed25519.Point.ZERO.toBytes();
const refusedByVerification: readonly [
  why: string,
  options: Partial<KeyPackageOptions>,
  part: string,
][] = [
  ["of another suite", { suite: 2 }, "cipher suite 2"],
  ["that has expired", { notAfterMs: nowMs - limits.clockSkewMs - 2000 }, "expired"],
  ["of the future", {
    notBeforeMs: nowMs + limits.clockSkewMs + 2000,
    notAfterMs: nowMs + 2 * hour,
  }, "not valid yet"],
  ["that lives too long", { notAfterMs: nowMs + limits.keyPackageLifetimeMs + hour }, "lifetime"],
  [
    "signed by another key",
    { signatureKey: ed25519.getPublicKey(new Uint8Array(32).fill(12)) },
    "signature is wrong",
  ],
  ["with a key of small order", { signatureKey: small }, "signature is wrong"],
  [
    "with a key that is no point",
    { signatureKey: new Uint8Array(32).fill(0xff) },
    "signature is wrong",
  ],
  ["without an identity", { identity: new Uint8Array(0) }, "identity"],
  ["with a long identity", { identity: new Uint8Array(limits.identityBytes + 1) }, "identity"],
  ["with one key for two purposes", { initKey: new Uint8Array(32).fill(2) }, "the same"],
  ["with a short init key", { initKey: new Uint8Array(31) }, "nobody can encrypt"],
  ["with an init key of small order", { initKey: new Uint8Array(32) }, "nobody can encrypt"],
  [
    "that does not support its own suite",
    {
      capabilities: concatBytes(
        mlsVector(mlsUint(1, 2)),
        mlsVector(mlsUint(1, 2)),
        mlsVector(),
        mlsVector(),
        mlsVector(mlsUint(1, 2)),
      ),
    },
    "capabilities",
  ],
];

for (const [why, options, part] of refusedByVerification) {
  Deno.test(`verifyKeyPackage() refuses one ${why}`, () => {
    const unverified = readKeyPackage(keyPackage(options));
    assertEquals(
      assertThrows(() => verifyKeyPackage(unverified, nowMs), WireError, part).code,
      "key_package_invalid",
    );
  });
}

Deno.test("every changed byte is refused by reader or verifier", () => {
  const original = keyPackage();
  for (let i = 0; i < original.length; i++) {
    const changed = original.slice();
    changed[i] = (changed[i] ?? 0) ^ 1;
    assertThrows(() => verifyKeyPackage(readKeyPackage(changed), nowMs), WireError);
  }
});

Deno.test("every truncation, a trailing byte and oversize are refused by the reader", () => {
  const original = keyPackage();
  for (let length = 0; length < original.length; length++) {
    assertThrows(() => readKeyPackage(original.subarray(0, length)), WireError);
  }
  assertThrows(
    () => readKeyPackage(concatBytes(original, Uint8Array.of(0))),
    WireError,
    "trailing",
  );
  const oversize = assertThrows(
    () => readKeyPackage(new Uint8Array(limits.keyPackageBytes + 1)),
    WireError,
  );
  assertEquals(oversize.code, "payload_too_large");
});

const refusedByReader: readonly [why: string, options: Partial<KeyPackageOptions>, part: string][] =
  [
    ["a leaf that was not made for a KeyPackage", { source: 2 }, "leaf"],
    ["a credential that is not basic", { credentialType: 2 }, "credential"],
    [
      "a list of numbers of odd length",
      { capabilities: mlsVector(Uint8Array.of(1)) },
      "odd length",
    ],
  ];

for (const [why, options, part] of refusedByReader) {
  Deno.test(`readKeyPackage() refuses ${why}`, () => {
    assertThrows(() => readKeyPackage(keyPackage(options)), WireError, part);
  });
}

interface JoinVector {
  readonly cipher_suite: number;
  readonly key_package: string;
  readonly welcome: string;
}

for (const file of ["welcome", "passive-client-welcome", "passive-client-handling-commit"]) {
  const path = `mls/${file}.json`;
  testWhen(
    vectors(path),
    `${path}: KeyPackages read, their signatures hold, and the Welcome names their reference`,
    () => {
      const cases = (readVectors(path) as JoinVector[]).filter((v) =>
        supportedCipherSuites.includes(v.cipher_suite)
      );
      assert(cases.length > 0);
      for (const { cipher_suite, key_package, welcome } of cases) {
        const unverified = readKeyPackage(hexToBytes(key_package));
        const header = readWelcomeHeader(hexToBytes(welcome));
        assertEquals([unverified.cipherSuite, header.cipherSuite], [cipher_suite, cipher_suite]);
        assert(header.recipients.some((reference) => `${reference}` === `${unverified.reference}`));
        // Their lifetimes are not ours: some have none, so only what comes before and after that
        // check is compared.
        const bounded = { ...unverified, notBeforeMs: nowMs - hour, notAfterMs: nowMs + hour };
        assertEquals(verifyKeyPackage(bounded, nowMs).reference, unverified.reference);
      }
    },
  );
}
