import { sha3_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { ml_kem768 } from "@noble/post-quantum/ml-kem.js";
import { assert, assertEquals, assertNotEquals, assertRejects, assertThrows } from "@std/assert";
import { isUsableSealKey } from "../../../proto/mod.ts";
import { readVectors, testWhen, vectors } from "../../../tests/support/mod.ts";
import { createNodeMlKem, createNodeX25519 } from "../../platform/node_key_agreement.ts";
import { MlsFault } from "../codec.ts";
import { keyOfMessage, xWingKem } from "./hpke.ts";
import { chooseMlKem, encapsulateMlKem, type OpeningMlKem, portableMlKem } from "./ml_kem.ts";
import { aeadOf } from "./suite.ts";
import { createWebCryptoMlKem } from "./web_crypto_ml_kem.ts";
import { createXWing, type XWing, xWingBytes } from "./x_wing.ts";

const randomBytes = (length: number): Uint8Array<ArrayBuffer> =>
  crypto.getRandomValues(new Uint8Array(length));

/** The three of the draft; public keys and encapsulations by their SHA3-256. */
const draftVectors = [
  {
    seed: "7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26",
    randomness: "3cb1eea988004b93103cfb0aeefd2a686e01fa4a58e8a3639ca8a1e3f9ae57e2" +
      "35b8cc873c23dc62b8d260169afa2f75ab916a58d974918835d25e6a435085b2",
    secret: "d2df0522128f09dd8e2c92b1e905c793d8f57a54c3da25861f10bf4ca613e384",
    publicKey: "5121745904643ad9dfacca7869292c19a8a69533b53e60666b7db910b4ad6367",
    kemOutput: "c0abd149f83f45324ac3a7ddc7606c71f257e5ea86113522834a0ee1bcb34e3e",
  },
  {
    seed: "badfd6dfaac359a5efbb7bcc4b59d538df9a04302e10c8bc1cbf1a0b3a5120ea",
    randomness: "17cda7cfad765f5623474d368ccca8af0007cd9f5e4c849f167a580b14aabdef" +
      "aee7eef47cb0fca9767be1fda69419dfb927e9df07348b196691abaeb580b32d",
    secret: "f2e86241c64d60f6649fbc6c5b7d17180b780a3f34355e64a85749949c45f150",
    publicKey: "799b6016e5daa56ffa1b5e79f7caf73413ceecd6df428642404cac41ddee4853",
    kemOutput: "7680b7ba47ae09bac4b43001edcef9d98e50df20026e70ba6a424447e1f2b961",
  },
  {
    seed: "ef58538b8d23f87732ea63b02b4fa0f4873360e2841928cd60dd4cee8cc0d4c9",
    randomness: "22a96188d032675c8ac850933c7aff1533b94c834adbb69c6115bad4692d8619" +
      "f90b0cdf8a7b9c264029ac185b70b83f2801f2f4b3f70c593ea3aeeb613a7f1b",
    secret: "953f7f4e8c5b5049bdc771d1dffada0dd961477d1a2ae0988baa7ea6898d893f",
    publicKey: "1ef0c99a06026450564957a5402a788feffbbefdcce55d25de254d0a49eb095a",
    kemOutput: "3088688d63201d5d844170b79f148b2791c15f346ff6f8bd559807fbd442f91f",
  },
] as const;

const hashOf = (bytes: Uint8Array): string => bytesToHex(sha3_256(bytes));

const portable = createXWing();
const runtimes = createXWing(
  createNodeMlKem() ?? createWebCryptoMlKem(crypto.subtle),
  createNodeX25519(),
);

Deno.test("the ML-KEM of this runtime is used", async () => {
  assertEquals([await portable.mlKem(), await runtimes.mlKem()], ["portable", "runtime"]);
});

for (const [whose, xWing] of Object.entries({ portable, "runtime's": runtimes })) {
  Deno.test(`X-Wing with the ${whose} ML-KEM gives the vectors of the draft`, async () => {
    for (const vector of draftVectors) {
      const seed = hexToBytes(vector.seed);
      const publicKey = await xWing.publicKeyOf(seed);
      assertEquals(hashOf(publicKey), vector.publicKey);
      const { kemOutput, sharedSecret } = xWing.encapsulate(
        publicKey,
        hexToBytes(vector.randomness),
      );
      assertEquals(hashOf(kemOutput), vector.kemOutput);
      assertEquals(bytesToHex(sharedSecret), vector.secret);
      assertEquals(bytesToHex(await xWing.decapsulate(kemOutput, seed)), vector.secret);
    }
  });
}

Deno.test("HPKE with X-Wing seals the bytes that @hpke/hybridkem-x-wing 0.7.0 seals", () => {
  const [vector] = draftVectors;
  const key = keyOfMessage(aeadOf[3], xWingKem.id, {
    sharedSecret: hexToBytes(vector.secret),
    info: utf8ToBytes("static welcome v1"),
  });
  const sealed = aeadOf[3].seal(
    key.key,
    key.nonce,
    new Uint8Array(0),
    utf8ToBytes("a secret of a group"),
  );
  assertEquals(
    bytesToHex(sealed),
    "f11218fe56b640bd0197da53ee5d07cfdd6987f40078f8336a206a308ff183726e93f0",
  );
});

Deno.test("both sides agree, whichever ML-KEM each has", async () => {
  for (let i = 0; i < 10; i++) {
    const [seed, randomness] = [randomBytes(xWingBytes.seed), randomBytes(xWingBytes.randomness)];
    const publicKey = await portable.publicKeyOf(seed);
    assertEquals(await runtimes.publicKeyOf(seed), publicKey);
    assertEquals(publicKey.length, xWingBytes.publicKey);
    assert(isUsableSealKey(publicKey));
    const sealed = portable.encapsulate(publicKey, randomness);
    assertEquals(runtimes.encapsulate(publicKey, randomness), sealed);
    assertEquals(sealed.kemOutput.length, xWingBytes.kemOutput);
    for (const xWing of [portable, runtimes]) {
      assertEquals(await xWing.decapsulate(sealed.kemOutput, seed), sealed.sharedSecret);
    }
  }
});

Deno.test("an encapsulation that was changed, or for another key, gives another secret, the same for all", async () => {
  const [seed, other] = [randomBytes(32), randomBytes(32)];
  const { kemOutput, sharedSecret } = portable.encapsulate(
    await portable.publicKeyOf(seed),
    randomBytes(xWingBytes.randomness),
  );
  for (const at of [0, 500, 1087, 1088, 1118]) {
    const changed = kemOutput.slice();
    changed[at] = (changed[at] ?? 0) ^ 1;
    const found = await portable.decapsulate(changed, seed);
    assertNotEquals(found, sharedSecret);
    assertEquals(await runtimes.decapsulate(changed, seed), found);
  }
  assertNotEquals(await portable.decapsulate(kemOutput, other), sharedSecret);
});

const bad = async (xWing: XWing, kemOutput: Uint8Array): Promise<void> => {
  await assertRejects(() => xWing.decapsulate(kemOutput, new Uint8Array(32)), MlsFault);
};

Deno.test("bytes that cannot be an encapsulation are refused", async () => {
  for (const xWing of [portable, runtimes]) {
    for (const length of [0, 1088, 1119, 1121]) await bad(xWing, new Uint8Array(length).fill(9));
    // Small order of X25519.
    for (const first of [0, 1]) {
      const kemOutput = new Uint8Array(xWingBytes.kemOutput);
      kemOutput[1088] = first;
      await bad(xWing, kemOutput);
    }
  }
});

/** With this number at this place of the 768. */
function withNumber(publicKey: Uint8Array, place: number, number: number): Uint8Array {
  const changed = publicKey.slice();
  const at = Math.floor(place / 2) * 3;
  const [low = 0, middle = 0, high = 0] = changed.subarray(at, at + 3);
  changed.set(
    place % 2 === 0
      ? [number & 255, middle & 0xf0 | number >> 8, high]
      : [low, middle & 15 | (number & 15) << 4, number >> 4],
    at,
  );
  return changed;
}

Deno.test("a public key is judged by its encoding", async () => {
  const publicKey = await portable.publicKeyOf(randomBytes(32));
  for (const place of [0, 1, 383, 384, 766, 767]) {
    assert(isUsableSealKey(withNumber(publicKey, place, 3328)), `3328 at ${place}`);
    for (const number of [3329, 4095]) {
      const wrong = withNumber(publicKey, place, number);
      assert(!isUsableSealKey(wrong), `${number} at ${place}`);
      assertThrows(() => portable.encapsulate(wrong, randomBytes(64)), MlsFault);
    }
  }
  const smallOrder = publicKey.slice();
  smallOrder.fill(0, 1184);
  for (
    const wrong of [
      new Uint8Array(0),
      publicKey.subarray(1),
      new Uint8Array([...publicKey, 0]),
      new Uint8Array(xWingBytes.publicKey).fill(255),
      smallOrder,
    ]
  ) {
    assert(!isUsableSealKey(wrong));
    assertThrows(() => runtimes.encapsulate(wrong, randomBytes(64)), MlsFault);
  }
});

Deno.test("seeds and randomness of another length are mistakes of ours", async () => {
  const publicKey = await portable.publicKeyOf(randomBytes(32));
  await assertRejects(() => portable.publicKeyOf(randomBytes(31)), TypeError);
  assertThrows(() => portable.encapsulate(publicKey, randomBytes(32)), TypeError);
});

Deno.test("a runtime without ML-KEM, or with a wrong one, is not used", async () => {
  const native = createWebCryptoMlKem(crypto.subtle);
  assertEquals(await chooseMlKem(native), native);
  const missing = (): never => {
    throw new Error("not supported");
  };
  const wrong: readonly (OpeningMlKem | undefined)[] = [
    undefined,
    { publicKeyOf: missing, decapsulate: missing },
    { ...native, publicKeyOf: () => new Uint8Array(1184) },
    { ...native, decapsulate: () => new Uint8Array(32) },
    { ...native, decapsulate: () => Promise.reject(new Error("no")) },
    // One that throws where FIPS 203 asks for another secret.
    {
      ...native,
      decapsulate: async (ciphertext, seed) => {
        const secret = await native.decapsulate(ciphertext, seed);
        const { ciphertext: whole } = encapsulateMlKem(
          await native.publicKeyOf(seed),
          new Uint8Array(32).fill(2),
        );
        return bytesToHex(whole) === bytesToHex(ciphertext) ? secret : missing();
      },
    },
  ];
  for (const each of wrong) assertEquals(await chooseMlKem(each), portableMlKem);
});

interface WycheproofCase {
  readonly tcId: number;
  readonly result: "valid" | "invalid";
  readonly seed: string;
  readonly ek: string;
  readonly m: string;
  readonly c: string;
  readonly K: string;
}

function casesOf(file: string): readonly WycheproofCase[] {
  const { testGroups } = readVectors(`wycheproof/${file}`) as {
    readonly testGroups: readonly { readonly tests: readonly WycheproofCase[] }[];
  };
  return testGroups.flatMap(({ tests }) => tests);
}

const mlKems = { noble: portableMlKem, "the runtime": createWebCryptoMlKem(crypto.subtle) };

testWhen(
  vectors("wycheproof/mlkem_768_keygen_seed_test.json"),
  "ML-KEM-768 makes the keys of wycheproof/mlkem_768_keygen_seed_test.json",
  async () => {
    for (const { tcId, seed, ek } of casesOf("mlkem_768_keygen_seed_test.json")) {
      for (const [name, mlKem] of Object.entries(mlKems)) {
        const publicKey = await mlKem.publicKeyOf(hexToBytes(seed));
        assertEquals(bytesToHex(publicKey), ek, `tc ${tcId} of ${name}`);
      }
    }
  },
);

testWhen(
  vectors("wycheproof/mlkem_768_test.json"),
  "ML-KEM-768 opens what wycheproof/mlkem_768_test.json has sealed or changed",
  async () => {
    for (const { tcId, result, seed, c, K } of casesOf("mlkem_768_test.json")) {
      if (result === "invalid") continue; // another length, which X-Wing refuses before
      for (const [name, mlKem] of Object.entries(mlKems)) {
        const secret = await mlKem.decapsulate(hexToBytes(c), hexToBytes(seed));
        assertEquals(bytesToHex(secret), K, `tc ${tcId} of ${name}`);
      }
    }
  },
);

testWhen(
  vectors("wycheproof/mlkem_768_encaps_test.json"),
  "ML-KEM-768 seals as wycheproof/mlkem_768_encaps_test.json does, and to no other keys",
  () => {
    // Any key of X25519.
    const x25519 = createNodeX25519().publicKeyOf(new Uint8Array(32).fill(3));
    for (const { tcId, result, m, ek, c, K } of casesOf("mlkem_768_encaps_test.json")) {
      const publicKey = hexToBytes(ek);
      const isUsable = isUsableSealKey(new Uint8Array([...publicKey, ...x25519]));
      assertEquals(isUsable, result === "valid", `tc ${tcId}`);
      if (!isUsable) continue;
      const { ciphertext, secret } = encapsulateMlKem(publicKey, hexToBytes(m));
      assertEquals([bytesToHex(ciphertext), bytesToHex(secret)], [c, K], `tc ${tcId}`);
    }
  },
);

interface AcvpCase {
  readonly tcId: number;
  readonly d: string;
  readonly z: string;
  readonly m: string;
  readonly ek: string;
  readonly dk: string;
  readonly c: string;
  readonly k: string;
  readonly testPassed: boolean;
}

const acvpKeys = "acvp/ML-KEM-keyGen-FIPS203/internalProjection.json";
const acvpSecrets = "acvp/ML-KEM-encapDecap-FIPS203/internalProjection.json";

/** NIST's, for ML-KEM-768; of a file that holds several functions, those of one. */
function acvpCases(file: string, ofFunction?: string): readonly AcvpCase[] {
  const { testGroups } = readVectors(file) as {
    readonly testGroups: readonly {
      readonly parameterSet: string;
      readonly function?: string;
      readonly tests: readonly AcvpCase[];
    }[];
  };
  const tests = testGroups.flatMap((group) =>
    group.parameterSet === "ML-KEM-768" && group.function === ofFunction ? group.tests : []
  );
  assert(tests.length > 0, `${file} has nothing for ML-KEM-768`);
  return tests;
}

testWhen(vectors(acvpKeys), `ML-KEM-768 makes the keys of ${acvpKeys}`, async () => {
  for (const { tcId, d, z, ek, dk } of acvpCases(acvpKeys)) {
    const seed = hexToBytes(d + z);
    for (const [name, mlKem] of Object.entries(mlKems)) {
      const publicKey = bytesToHex(await mlKem.publicKeyOf(seed));
      assertEquals(publicKey, ek.toLowerCase(), `tc ${tcId} of ${name}`);
    }
    assertEquals(bytesToHex(ml_kem768.keygen(seed).secretKey), dk.toLowerCase(), `tc ${tcId}`);
  }
});

testWhen(vectors(acvpSecrets), `ML-KEM-768 seals and opens as ${acvpSecrets} does`, () => {
  for (const { tcId, m, ek, c, k } of acvpCases(acvpSecrets, "encapsulation")) {
    const { ciphertext, secret } = encapsulateMlKem(hexToBytes(ek), hexToBytes(m));
    const [expected, found] = [[c.toLowerCase(), k.toLowerCase()], [ciphertext, secret]];
    assertEquals(found.map(bytesToHex), expected, `tc ${tcId}`);
  }
  // These give expanded keys without their seeds, which is a way into noble's alone.
  for (const { tcId, dk, c, k } of acvpCases(acvpSecrets, "decapsulation")) {
    const secret = ml_kem768.decapsulate(hexToBytes(c), hexToBytes(dk));
    assertEquals(bytesToHex(secret), k.toLowerCase(), `tc ${tcId}`);
  }
});

testWhen(vectors(acvpSecrets), `keys are judged as ${acvpSecrets} judges them`, () => {
  const x25519 = createNodeX25519().publicKeyOf(new Uint8Array(32).fill(3));
  for (const { tcId, ek, testPassed } of acvpCases(acvpSecrets, "encapsulationKeyCheck")) {
    const key = new Uint8Array([...hexToBytes(ek), ...x25519]);
    assertEquals(isUsableSealKey(key), testPassed, `tc ${tcId}`);
  }
});
