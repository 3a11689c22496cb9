/** AES-256-GCM: the same bytes everywhere, and the runtime's own WebCrypto as a judge. */
import { Aes256Gcm } from "../../wasm/mod.ts";
import { createRandom } from "../support/random.ts";
import { check, Digest, failsWith, type RuntimeTest, sameBytes } from "../support/runtime/suite.ts";

const seed = 4;

export const tests: readonly RuntimeTest[] = [
  {
    name: "300 messages seal to the same bytes in every runtime, and open",
    run: () => {
      const random = createRandom(seed);
      const digest = new Digest();
      for (let i = 0; i < 300; i++) {
        const gcm = new Aes256Gcm(random.bytes(32));
        const [nonce, plaintext, aad] = [
          random.bytes(12),
          random.bytes(random.below(i % 50 === 0 ? 200_000 : 600)),
          random.bytes(random.below(60)),
        ];
        const ciphertext = gcm.seal({ nonce, plaintext, aad });
        sameBytes(gcm.open({ nonce, ciphertext, aad }), plaintext, `message ${i}`);
        digest.add(ciphertext);
        gcm.destroy();
      }
      return digest.toString();
    },
  },
  {
    name: "messages seal as the runtime's own WebCrypto does",
    run: async () => {
      const random = createRandom(seed);
      for (let i = 0; i < 100; i++) {
        const [key, iv, plaintext, aad] = [
          random.bytes(32),
          random.bytes(12),
          random.bytes(i * 37),
          random.bytes(i),
        ];
        const webKey = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]);
        const expected = await crypto.subtle.encrypt(
          { name: "AES-GCM", iv, additionalData: aad },
          webKey,
          plaintext,
        );
        sameBytes(
          new Aes256Gcm(key).seal({ nonce: iv, plaintext, aad }),
          new Uint8Array(expected),
          `message ${i}`,
        );
      }
    },
  },
  {
    name: "a changed message, a wrong nonce and a destroyed key are refused",
    run: async () => {
      const random = createRandom(seed);
      const gcm = new Aes256Gcm(random.bytes(32));
      const nonce = random.bytes(12);
      const ciphertext = gcm.seal({ nonce, plaintext: random.bytes(100) });
      ciphertext[50] = (ciphertext[50] ?? 0) ^ 1;
      await failsWith("authentication_failed", () => gcm.open({ nonce, ciphertext }));
      await failsWith("invalid_nonce", () => gcm.open({ nonce: random.bytes(16), ciphertext }));
      gcm.destroy();
      await failsWith("key_destroyed", () => gcm.open({ nonce, ciphertext }));
    },
  },
  {
    name: "five hundred keys live side by side while the memory grows",
    run: () => {
      const random = createRandom(seed);
      const nonce = random.bytes(12);
      const keys = Array.from({ length: 500 }, () => new Aes256Gcm(random.bytes(32)));
      const sealed = keys.map((key) => key.seal({ nonce, plaintext: nonce }));
      keys.forEach((key, i) => {
        sameBytes(key.open({ nonce, ciphertext: sealed[i] ?? nonce }), nonce, `key ${i}`);
        key.destroy();
      });
      check(new Set(sealed.map(String)).size === keys.length, "two keys sealed alike");
    },
  },
];
