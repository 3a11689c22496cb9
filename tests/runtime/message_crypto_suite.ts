/**
 * The cryptography of messages: ChaCha20-Poly1305, SHA-256, HMAC and HKDF give the same bytes
 * everywhere, and odd signatures the same verdict.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes, numberToBytesLE } from "@noble/curves/utils.js";
import {
  hkdfExpandSha256,
  hmacSha256,
  openChaCha20Poly1305,
  sealChaCha20Poly1305,
  sha256,
  verifyEd25519Batch,
} from "../../wasm/mod.ts";
import { createRandom } from "../support/random.ts";
import { check, Digest, failsWith, type RuntimeTest, sameBytes } from "../support/runtime/suite.ts";

const seed = 5;
const { Point } = ed25519;
const order = Point.Fn.ORDER;
/** One that generates the eight points of small order. */
const smallOrder = Point.fromHex(
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
);

/**
 * A signature with key and commitment that have components of small order, valid by the cofactored
 * equation alone.
 */
function signatureWith(keyPart: bigint, commitmentPart: bigint, message: Uint8Array): {
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
} {
  const [scalar, nonce] = [123456789n, 987654321n];
  const publicKey = Point.BASE.multiply(scalar).add(smallOrder.multiplyUnsafe(keyPart)).toBytes();
  const commitment = Point.BASE.multiply(nonce).add(smallOrder.multiplyUnsafe(commitmentPart))
    .toBytes();
  const challenge = BigInt(`0x${
    [...sha512(concatBytes(commitment, publicKey, message))].reverse()
      .map((byte) => byte.toString(16).padStart(2, "0")).join("")
  }`);
  const response = (nonce + challenge * scalar) % order;
  return { publicKey, signature: concatBytes(commitment, numberToBytesLE(response, 32)) };
}

export const tests: readonly RuntimeTest[] = [
  {
    name: "300 messages seal to the same bytes in every runtime, and open",
    run: () => {
      const random = createRandom(seed);
      const digest = new Digest();
      for (let i = 0; i < 300; i++) {
        const text = random.bytes(random.below(i % 50 === 0 ? 200_000 : 600));
        const input = {
          key: random.bytes(32),
          nonce: random.bytes(12),
          aad: random.bytes(random.below(60)),
        };
        const ciphertext = sealChaCha20Poly1305({ ...input, parts: [text], paddingBytes: i });
        sameBytes(
          openChaCha20Poly1305({ ...input, ciphertext }).subarray(0, text.length),
          text,
          `message ${i}`,
        );
        digest.add(ciphertext);
      }
      return digest.toString();
    },
  },
  {
    name: "a changed message and a wrong nonce are refused",
    run: async () => {
      const random = createRandom(seed);
      const input = { key: random.bytes(32), nonce: random.bytes(12), aad: random.bytes(5) };
      const ciphertext = sealChaCha20Poly1305({ ...input, parts: [random.bytes(100)] });
      ciphertext[50] = (ciphertext[50] ?? 0) ^ 1;
      await failsWith(
        "authentication_failed",
        () => openChaCha20Poly1305({ ...input, ciphertext }),
      );
      await failsWith(
        "invalid_nonce",
        () => openChaCha20Poly1305({ ...input, nonce: random.bytes(16), ciphertext }),
      );
    },
  },
  {
    name: "hashes, MACs and derived keys are those of the runtime's own WebCrypto",
    run: async () => {
      const random = createRandom(seed);
      const { subtle } = crypto;
      for (let i = 1; i < 100; i++) {
        const [secret, info, bytes] = [random.bytes(i), random.bytes(i), random.bytes(i * 61)];
        sameBytes(
          sha256(bytes),
          new Uint8Array(await subtle.digest("SHA-256", bytes)),
          `hash ${i}`,
        );
        const hmac = await subtle.importKey(
          "raw",
          secret,
          { name: "HMAC", hash: "SHA-256" },
          false,
          ["sign"],
        );
        sameBytes(
          hmacSha256(secret, bytes),
          new Uint8Array(await subtle.sign("HMAC", hmac, bytes)),
          `MAC ${i}`,
        );
        const hkdf = await subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
        const parameters = { name: "HKDF", hash: "SHA-256", salt: bytes, info };
        const derived = hkdfExpandSha256(hmacSha256(bytes, secret), info, i);
        sameBytes(
          derived,
          new Uint8Array(await subtle.deriveBits(parameters, hkdf, i * 8)),
          `key ${i}`,
        );
      }
    },
  },
  {
    name:
      "signatures with components of small order are valid, keys of small order and changed signatures are not",
    run: () => {
      const message = createRandom(seed).bytes(50);
      for (let i = 0n; i < 8n; i++) {
        for (let j = 0n; j < 8n; j++) {
          const { publicKey, signature } = signatureWith(i, j, message);
          const item = { publicKey, message, signature };
          check(
            verifyEd25519Batch([item]) && verifyEd25519Batch([item, item]),
            `key ${i}, commitment ${j}`,
          );
          const changed = { ...item, message: message.subarray(1) };
          check(
            !verifyEd25519Batch([changed]) && !verifyEd25519Batch([item, changed]),
            `changed, ${i} and ${j}`,
          );
          const [key, commitment] = [smallOrder.multiplyUnsafe(i), smallOrder.multiplyUnsafe(j)];
          const small = concatBytes(commitment.toBytes(), new Uint8Array(32));
          check(
            !verifyEd25519Batch([{ publicKey: key.toBytes(), message, signature: small }]),
            `small, ${i} and ${j}`,
          );
        }
      }
    },
  },
];
