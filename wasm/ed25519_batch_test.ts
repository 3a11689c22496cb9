/**
 * The verdicts of batches against noble's, one by one in strict mode: keys and commitments of every
 * odd kind (small order, a component of small order, not canonical, no point, x = 0 with a sign),
 * responses in and out of range.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertGreater, assertThrows } from "@std/assert";
import { inCampaign, tried } from "../tests/support/campaign.ts";
import {
  createRandom,
  readVectors,
  seedFromEnvironment,
  testWhen,
  vectors,
} from "../tests/support/mod.ts";
import { Edwards25519, type Term } from "./ed25519_batch.ts";
import { CipherError, type SignedBytes, verifyEd25519Batch } from "./mod.ts";

const cases = inCampaign ? 20_000 : 250;
const random = createRandom(seedFromEnvironment());
const { Point } = ed25519;
type Point = InstanceType<typeof Point>;
const order = Point.Fn.ORDER;
const fieldOrder = 2n ** 255n - 19n;

/** One that generates the eight points of small order. */
const smallOrderGenerator = Point.fromHex(
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
);
const smallOrderPoints: readonly Point[] = Array.from(
  { length: 8 },
  (_, i) => multiple(smallOrderGenerator, i),
);

function multiple(point: Point, times: number): Point {
  let sum = Point.ZERO;
  for (let i = 0; i < times; i++) sum = sum.add(point);
  return sum;
}

function encodeNumber(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
}

function decodeNumber(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

function withSign(encoded: Uint8Array): Uint8Array {
  const signed = encoded.slice();
  signed[31] = (signed[31] ?? 0) | 0x80;
  return signed;
}

/** Every y that has a second encoding, with and without sign, and x = 0 with a sign. */
const oddEncodings: readonly Uint8Array[] = [
  ...Array.from({ length: 19 }, (_, i) => encodeNumber(fieldOrder + BigInt(i))).flatMap((
    y,
  ) => [y, withSign(y)]),
  withSign(encodeNumber(1n)),
  withSign(encodeNumber(fieldOrder - 1n)),
  ...smallOrderPoints.flatMap((point) => [point.toBytes(), withSign(point.toBytes())]),
];

function oneOf<T>(list: readonly T[]): T {
  const value = list[random.below(list.length)];
  assert(value !== undefined);
  return value;
}

/** Bytes that are given as a point, and its logarithm as far as it has one. */
interface Given {
  readonly bytes: Uint8Array;
  readonly logarithm: bigint;
}

function honest(): Given & { readonly point: Point } {
  const logarithm = decodeNumber(random.bytes(32)) % order || 1n;
  const point = Point.BASE.multiply(logarithm);
  return { bytes: point.toBytes(), logarithm, point };
}

/** With a component of small order. */
function mixed(): Given {
  const { point, logarithm } = honest();
  return { bytes: point.add(oneOf(smallOrderPoints)).toBytes(), logarithm };
}

const kinds: readonly (() => Given)[] = [
  honest,
  honest,
  mixed,
  mixed,
  () => ({ bytes: oneOf(smallOrderPoints).toBytes(), logarithm: 0n }),
  () => ({ bytes: oneOf(oddEncodings), logarithm: 0n }),
  () => ({ bytes: random.bytes(32), logarithm: 0n }),
];

/** Changes of the right response. */
const responses: readonly ((right: bigint) => bigint)[] = [
  ...Array.from({ length: 9 }, () => (right: bigint) => right),
  (right) => (right + 1n) % order,
  (right) => right + order,
  () => 0n,
  () => order - 1n,
  () => order,
  () => 2n ** 256n - 1n,
  () => decodeNumber(random.bytes(32)),
];

/** Random, mostly valid but for what its parts are. */
function createCase(): SignedBytes {
  const [key, commitment] = [oneOf(kinds)(), oneOf(kinds)()];
  const message = random.bytes(random.below(300));
  const challenge = decodeNumber(sha512(concatBytes(commitment.bytes, key.bytes, message))) % order;
  const right = (commitment.logarithm + challenge * key.logarithm) % order;
  const signature = concatBytes(commitment.bytes, encodeNumber(oneOf(responses)(right)));
  return {
    publicKey: key.bytes,
    message: random.chance(0.05) ? random.bytes(5) : message,
    signature,
  };
}

function createValid(bytes = random.below(300)): SignedBytes {
  const [seed, message] = [random.bytes(32), random.bytes(bytes)];
  return { publicKey: ed25519.getPublicKey(seed), message, signature: ed25519.sign(message, seed) };
}

function verdictOfNoble({ publicKey, message, signature }: SignedBytes): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false; // noble throws for bytes that are no point
  }
}

function shown({ publicKey, message, signature }: SignedBytes): string {
  return `seed ${random.seed}: ${
    [publicKey, message, signature].map((bytes) => bytes.toHex()).join(" ")
  }`;
}

Deno.test(`${cases} signatures of every odd kind are judged as noble does, alone and among others`, () => {
  const valid = [createValid(), createValid()];
  const counts = { valid: 0, invalid: 0 };
  let together: SignedBytes[] = [];
  for (let i = 0; i < cases; i++) {
    const each = createCase();
    const expected = verdictOfNoble(each);
    counts[expected ? "valid" : "invalid"]++;
    assertEquals(verifyEd25519Batch([each]), expected, shown(each));
    assertEquals(
      verifyEd25519Batch([valid[0] ?? each, each, valid[1] ?? each]),
      expected,
      shown(each),
    );
    if (expected) together.push(each);
    else assertEquals(verifyEd25519Batch([...together.slice(-3), each]), false, shown(each));
    if (together.length === 40) {
      assert(verifyEd25519Batch(together), together.map(shown).join("\n"));
      together = [];
    }
  }
  // About a fifth is valid. By chance it may be less, and a case in which all are of one kind would
  // prove nothing.
  assertGreater(counts.valid, cases / 20);
  assertGreater(counts.invalid, cases / 20);
  tried(`${cases} odd signatures`);
});

Deno.test("every pair of a key and a commitment of small order or odd encoding is judged as noble does", () => {
  const usual = honest();
  const message = random.bytes(20);
  const encodings = [...oddEncodings, usual.bytes, usual.point.add(smallOrderGenerator).toBytes()];
  for (const publicKey of encodings) {
    for (const commitment of encodings) {
      const challenge = decodeNumber(sha512(concatBytes(commitment, publicKey, message))) % order;
      const logarithm = (bytes: Uint8Array): bigint =>
        encodings.indexOf(bytes) < oddEncodings.length ? 0n : usual.logarithm;
      const response = (logarithm(commitment) + challenge * logarithm(publicKey)) % order;
      const each = {
        publicKey,
        message,
        signature: concatBytes(commitment, encodeNumber(response)),
      };
      assertEquals(verifyEd25519Batch([each]), verdictOfNoble(each), shown(each));
    }
  }
});

/** Where carries go furthest: next to 0, to p, and to every power of two. */
function createEdgeY(): bigint {
  const near = BigInt(random.below(40)) - 20n;
  const centre = oneOf([
    0n,
    fieldOrder,
    2n ** BigInt(random.below(255)),
    fieldOrder - 2n ** BigInt(random.below(255)),
  ]);
  return ((centre + near) % fieldOrder + fieldOrder) % fieldOrder;
}

function createEdgePoint(): Point {
  while (true) {
    const encoded = encodeNumber(createEdgeY());
    try {
      return Point.fromBytes(random.chance(0.5) ? encoded : withSign(encoded), false);
    } catch {
      continue; // no point has this y
    }
  }
}

Deno.test("sums of multiples of points with extreme coordinates are noble's", () => {
  const curve = new Edwards25519();
  const scalars = (): bigint =>
    oneOf([0n, 1n, order - 1n, 2n ** 252n, decodeNumber(random.bytes(32)) % order]);
  for (let i = 0; i < cases / 10; i++) {
    const terms = Array.from(
      { length: 1 + random.below(4) },
      () => ({ point: createEdgePoint(), scalar: scalars() }),
    );
    const sum = terms.reduce(
      (total, { point, scalar }) => total.add(point.multiplyUnsafe(scalar)),
      Point.ZERO,
    );
    const given = [...terms, { point: sum.negate(), scalar: 1n }]
      .map(({ point, scalar }): Term => ({ encoded: point.toBytes(), isKey: false, scalar }));
    const where = `seed ${random.seed}: ${
      given.map(({ encoded, scalar }) => `${scalar}·${encoded.toHex()}`).join(" + ")
    }`;
    assert(curve.sumIsZero(given), where);
    const base = { encoded: Point.BASE.toBytes(), isKey: false, scalar: 1n };
    assert(!curve.sumIsZero([...given, base]), where);
  }
});

Deno.test("a batch is valid only if each signature is, whatever its size and however many keys it has", () => {
  // A turn has 256 terms: those of 128 signatures of 127 keys, with the base point, fill one.
  for (
    const [count, keys] of [[1, 1], [2, 1], [2, 2], [9, 3], [127, 127], [128, 127], [128, 128], [
      129,
      129,
    ], [
      400,
      7,
    ]] as const
  ) {
    const seeds = Array.from({ length: keys }, () => random.bytes(32));
    const items = Array.from({ length: count }, (_, i): SignedBytes => {
      const [seed, message] = [seeds[i % keys] ?? random.bytes(32), random.bytes(40)];
      return {
        publicKey: ed25519.getPublicKey(seed),
        message,
        signature: ed25519.sign(message, seed),
      };
    });
    assert(verifyEd25519Batch(items), `${count} signatures of ${keys} keys`);
    for (const at of [0, Math.floor(count / 2), count - 1]) {
      const changed = items.map((item, i) =>
        i === at ? { ...item, message: random.bytes(40) } : item
      );
      assert(!verifyEd25519Batch(changed), `${count} signatures, the one at ${at} is wrong`);
    }
  }
  assert(verifyEd25519Batch([]));
});

/** With another response: valid only together with what makes up for it. */
function shifted({ signature, ...item }: SignedBytes, by: bigint): SignedBytes {
  const response = ((decodeNumber(signature.subarray(32)) + by) % order + order) % order;
  return { ...item, signature: concatBytes(signature.subarray(0, 32), encodeNumber(response)) };
}

Deno.test("two signatures that are wrong in opposite ways do not cancel out", () => {
  const [first, second, third] = [createValid(), createValid(), createValid()];
  assert(verifyEd25519Batch([first, second, third]));
  assert(!verifyEd25519Batch([shifted(first, 1n), shifted(second, -1n), third]));
  assert(!verifyEd25519Batch([first, shifted(second, 1n), shifted(third, -1n)]));
});

/** As the module is to compute them: an odd number of 128 bits for each but the first. */
function weightsOf(items: readonly SignedBytes[], fresh: Uint8Array): bigint[] {
  const given = items.flatMap(({ publicKey, message, signature }) => [
    sha512(concatBytes(signature.subarray(0, 32), publicKey, message)),
    signature.subarray(32),
  ]);
  const transcript = sha512(concatBytes(fresh, ...given));
  return items.map((_, i) =>
    i === 0
      ? 1n
      : decodeNumber(sha512(concatBytes(transcript, Uint8Array.of(0, 0, 0, i))).subarray(0, 16)) |
        1n
  );
}

Deno.test("weights are 128 bits of the hash of fresh randomness and of all that is verified", () => {
  const curve = new Edwards25519();
  const items = Array.from({ length: 40 }, () => createValid());
  const fresh = random.bytes(32);
  const weights = curve.weights(items, fresh);
  assertEquals(weights, weightsOf(items, fresh), `seed ${random.seed}`);
  assert(weights.some((weight) => weight >= 2n ** 127n), `seed ${random.seed}`);
  const [first, ...others] = items;
  assert(first);
  for (
    const changed of [
      curve.weights(items, random.bytes(32)),
      curve.weights([shifted(first, 1n), ...others], fresh),
      curve.weights([{ ...first, message: random.bytes(9) }, ...others], fresh),
      curve.weights([{ ...first, publicKey: random.bytes(32) }, ...others], fresh),
    ]
  ) assert(changed.every((weight, i) => i === 0 || weight !== weights[i]));
});

Deno.test("responses that are shifted to fit the weights of a batch do not cancel out, even if randomness is known", () => {
  const curve = new Edwards25519();
  const fresh = random.bytes(32);
  const items = [createValid(), createValid(), createValid()] as const;
  assert(curve.verify(items, fresh));
  // Of the batch before the shift: what an attacker can know if weights do not depend on responses.
  const [first = 0n, second = 0n, third = 0n] = curve.weights(items, fresh);
  const by = 12345n;
  const fitted = [items[0], shifted(items[1], by * third), shifted(items[2], -by * second)];
  assert(!curve.verify(fitted, fresh), `seed ${random.seed}`);
  const fittedToFirst = [shifted(items[0], by * second), shifted(items[1], -by * first), items[2]];
  assert(!curve.verify(fittedToFirst, fresh), `seed ${random.seed}`);
  assert(!verifyEd25519Batch(fitted) && !verifyEd25519Batch(fittedToFirst));
  // The same shifts are exactly what the sum of the batch's own weights does not see.
  const sum = (batch: readonly SignedBytes[]): bigint =>
    batch.reduce((total, { signature }, i) => {
      const weight = [first, second, third][i] ?? 0n;
      return (total + weight * decodeNumber(signature.subarray(32))) % order;
    }, 0n);
  assertEquals([sum(fitted), sum(fittedToFirst)], [sum(items), sum(items)]);
});

Deno.test("nothing of a message stays in WebAssembly memory, whether a batch is valid, refused or given wrongly", () => {
  const curve = new Edwards25519();
  const untouched = curve.memory.slice();
  const [one, long] = [createValid(100), createValid(20_000)];
  const many = Array.from({ length: 130 }, () => createValid());
  const wrong = { ...one, message: random.bytes(500) };
  const noPoint = { ...one, publicKey: new Uint8Array(32).fill(0xff) };
  for (
    const items of [[one], [one, long], many, [wrong], [one, wrong], [...many, wrong], [
      one,
      noPoint,
    ]]
  ) {
    const isValid = items.every(verdictOfNoble);
    assertEquals(curve.verify(items), isValid);
    assertEquals(curve.memory, untouched, `${items.length} signatures left something behind`);
  }
  let seen = false;
  const failing = {
    ...one,
    get message(): Uint8Array {
      seen = curve.memory.some((byte, i) => byte !== untouched[i]);
      throw new Error("a fault between the steps");
    },
  };
  assertThrows(() => curve.verify([long, failing]), Error, "a fault between");
  assert(seen, "the comparison sees what a batch leaves before it is wiped");
  assertEquals(curve.memory, untouched, "a fault left something behind");
});

Deno.test("verifyEd25519Batch() refuses shared memory, which could change while it is judged, and what is too long", () => {
  const item = createValid();
  const inShared = (bytes: Uint8Array): Uint8Array => {
    const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
    copy.set(bytes);
    return copy;
  };
  for (const name of ["publicKey", "message", "signature"] as const) {
    const error = assertThrows(
      () => verifyEd25519Batch([{ ...item, [name]: inShared(item[name]) }]),
      CipherError,
    );
    assertEquals(error.code, "invalid_input");
  }
  const tooLong = new Uint8Array(2 ** 31);
  assertEquals(
    assertThrows(() => verifyEd25519Batch([{ ...item, message: tooLong }]), CipherError).code,
    "invalid_input",
  );
});

Deno.test("keys and signatures of a wrong length are invalid, messages of all lengths are hashed", () => {
  const item = createValid();
  for (const length of [0, 31, 33]) {
    assert(!verifyEd25519Batch([{ ...item, publicKey: random.bytes(length) }]));
  }
  for (const length of [0, 63, 65]) {
    assert(!verifyEd25519Batch([{ ...item, signature: random.bytes(length) }]));
  }
  for (const length of [0, 47, 48, 63, 64, 8127, 8128, 8129, 16_320, 100_000]) {
    assert(verifyEd25519Batch([createValid(length)]), `a message of ${length} bytes`);
  }
});

testWhen(
  vectors("wycheproof/ed25519_test.json"),
  "every case of Wycheproof gives the expected result",
  () => {
    const { testGroups } = readVectors("wycheproof/ed25519_test.json") as {
      testGroups: {
        publicKey: { pk: string };
        tests: { tcId: number; msg: string; sig: string; result: string }[];
      }[];
    };
    const valid: SignedBytes[] = [];
    for (const { publicKey, tests } of testGroups) {
      for (const { tcId, msg, sig, result } of tests) {
        const item = {
          publicKey: hexToBytes(publicKey.pk),
          message: hexToBytes(msg),
          signature: hexToBytes(sig),
        };
        assertEquals(verifyEd25519Batch([item]), result === "valid", `case ${tcId}`);
        if (result === "valid") valid.push(item);
        else assert(!verifyEd25519Batch([...valid.slice(0, 3), item]), `case ${tcId}`);
      }
    }
    assertGreater(valid.length, 50);
    assert(verifyEd25519Batch(valid));
  },
);
