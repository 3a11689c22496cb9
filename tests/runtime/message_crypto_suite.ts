/** What seals messages: ChaCha20-Poly1305, SHA-256, HMAC and HKDF give the same bytes everywhere. */
import { hkdfExpandSha256, hmacSha256, openChaCha20Poly1305, sealChaCha20Poly1305, sha256 } from "../../wasm/mod.ts";
import { createRandom } from "../support/random.ts";
import { Digest, failsWith, type RuntimeTest, sameBytes } from "../support/runtime/suite.ts";

const seed = 5;

export const tests: readonly RuntimeTest[] = [
  {
    name: "300 messages seal to the same bytes in every runtime, and open",
    run: () => {
      const random = createRandom(seed);
      const digest = new Digest();
      for (let i = 0; i < 300; i++) {
        const text = random.bytes(random.below(i % 50 === 0 ? 200_000 : 600));
        const input = { key: random.bytes(32), nonce: random.bytes(12), aad: random.bytes(random.below(60)) };
        const ciphertext = sealChaCha20Poly1305({ ...input, parts: [text], paddingBytes: i });
        sameBytes(openChaCha20Poly1305({ ...input, ciphertext }).subarray(0, text.length), text, `message ${i}`);
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
      await failsWith("authentication_failed", () => openChaCha20Poly1305({ ...input, ciphertext }));
      await failsWith("invalid_nonce", () => openChaCha20Poly1305({ ...input, nonce: random.bytes(16), ciphertext }));
    },
  },
  {
    name: "hashes, MACs and derived keys are those of the runtime's own WebCrypto",
    run: async () => {
      const random = createRandom(seed);
      const { subtle } = crypto;
      for (let i = 1; i < 100; i++) {
        const [secret, info, bytes] = [random.bytes(i), random.bytes(i), random.bytes(i * 61)];
        sameBytes(sha256(bytes), new Uint8Array(await subtle.digest("SHA-256", bytes)), `hash ${i}`);
        const hmac = await subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
        sameBytes(hmacSha256(secret, bytes), new Uint8Array(await subtle.sign("HMAC", hmac, bytes)), `MAC ${i}`);
        const hkdf = await subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
        const parameters = { name: "HKDF", hash: "SHA-256", salt: bytes, info };
        const derived = hkdfExpandSha256(hmacSha256(bytes, secret), info, i);
        sameBytes(derived, new Uint8Array(await subtle.deriveBits(parameters, hkdf, i * 8)), `key ${i}`);
      }
    },
  },
];
