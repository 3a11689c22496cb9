import { assertEquals } from "@std/assert";
import { ed25519 } from "@noble/curves/ed25519.js";
import { verifyEd25519 } from "./ed25519.ts";

Deno.test("verifyEd25519() accepts what an independent implementation signed, and nothing that was changed", () => {
  const secretKey = ed25519.utils.randomSecretKey();
  const [publicKey, message] = [
    ed25519.getPublicKey(secretKey),
    crypto.getRandomValues(new Uint8Array(200)),
  ];
  const signature = ed25519.sign(message, secretKey);
  assertEquals(verifyEd25519(publicKey, message, signature), true);
  const flipped = (bytes: Uint8Array, at: number): Uint8Array =>
    bytes.with(at, (bytes[at] ?? 0) ^ 1);
  for (const at of [0, 31]) {
    assertEquals(verifyEd25519(flipped(publicKey, at), message, signature), false);
  }
  for (const at of [0, 31, 32, 63]) {
    assertEquals(verifyEd25519(publicKey, message, flipped(signature, at)), false);
  }
  assertEquals(verifyEd25519(publicKey, flipped(message, 199), signature), false);
});

Deno.test("verifyEd25519() answers no to what is neither key nor signature", () => {
  const [key, message, signature] = [new Uint8Array(32), new Uint8Array(8), new Uint8Array(64)];
  for (const bad of [new Uint8Array(0), new Uint8Array(31), new Uint8Array(33).fill(255)]) {
    assertEquals(verifyEd25519(bad, message, signature), false);
    assertEquals(verifyEd25519(key, message, bad), false);
  }
});

Deno.test("verifyEd25519() refuses keys of small order, under which everybody can sign, and keys in another form", () => {
  const { Point } = ed25519;
  const message = new Uint8Array(8);
  // R = B and S = 1 verify whenever h·A vanishes, which under the identity point is always.
  const signature = new Uint8Array(64);
  signature.set(Point.BASE.toBytes());
  signature[32] = 1;
  const identity = new Uint8Array(32).with(0, 1);
  assertEquals(
    ed25519.verify(signature, message, identity),
    true,
    "a lenient implementation accepts it",
  );
  const order2 = new Uint8Array(32).fill(0xff).with(0, 0xec).with(31, 0x7f);
  // The same points with y + p: other bytes for the same key.
  const identityAgain = new Uint8Array(32).fill(0xff).with(0, 0xee).with(31, 0x7f);
  for (
    const key of [identity, identity.with(31, 0x80), order2, new Uint8Array(32), identityAgain]
  ) {
    for (let i = 0; i < 16; i++) {
      assertEquals(
        verifyEd25519(key, message.with(0, i), signature),
        false,
        key.toHex(),
      );
    }
  }
});

Deno.test("verifyEd25519() judges every odd key as noble's strict mode does", () => {
  const { Point } = ed25519;
  const generator = Point.fromHex(
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  );
  const small = Array.from(
    { length: 8 },
    (_, i) => i === 0 ? Point.ZERO : generator.multiplyUnsafe(BigInt(i)),
  );
  const above = Array.from(
    { length: 19 },
    (_, i) => new Uint8Array(32).fill(0xff).with(0, 0xed + i).with(31, 0x7f),
  );
  const keys = [...small.map((point) => point.toBytes()), ...above].flatMap((
    key,
  ) => [key, key.with(31, (key[31] ?? 0) | 0x80)]);
  assertEquals(new Set(keys.map((key) => key.toHex())).size, 10 + 2 * above.length);
  const message = new Uint8Array(8);
  for (const key of keys) {
    for (const commitment of [Point.BASE, ...small]) {
      const signature = new Uint8Array(64);
      signature.set(commitment.toBytes());
      signature[32] = commitment === Point.BASE ? 1 : 0;
      assertEquals(
        verifyEd25519(key, message, signature),
        verdictOfNoble(key, message, signature),
        key.toHex(),
      );
    }
  }
});

function verdictOfNoble(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false; // noble throws for bytes that are no point
  }
}
