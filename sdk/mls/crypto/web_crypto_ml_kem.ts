/** ML-KEM-768 of WebCrypto, where it is there: Deno and Chromium have it. */
import type { OpeningMlKem } from "./ml_kem.ts";

const name = "ML-KEM-768";

/** The part of `crypto.subtle` that we use. TypeScript does not know it yet. */
interface SubtleMlKem {
  importKey(
    format: "raw-seed",
    seed: Uint8Array,
    algorithm: typeof name,
    extractable: boolean,
    usages: readonly string[],
  ): Promise<CryptoKey>;
  getPublicKey(privateKey: CryptoKey, usages: readonly string[]): Promise<CryptoKey>;
  exportKey(format: "raw-public", key: CryptoKey): Promise<ArrayBuffer>;
  decapsulateBits(
    algorithm: typeof name,
    privateKey: CryptoKey,
    ciphertext: Uint8Array,
  ): Promise<ArrayBuffer>;
}

/** In a runtime without it everything rejects, and `chooseMlKem` takes another. */
export function createWebCryptoMlKem(webCrypto: SubtleCrypto): OpeningMlKem {
  const subtle = webCrypto as unknown as SubtleMlKem; // cast: see above
  const importSeed = (seed: Uint8Array): Promise<CryptoKey> =>
    subtle.importKey("raw-seed", seed, name, false, ["decapsulateBits"]);
  return {
    publicKeyOf: async (seed) => {
      const publicKey = await subtle.getPublicKey(await importSeed(seed), ["encapsulateBits"]);
      return new Uint8Array(await subtle.exportKey("raw-public", publicKey));
    },
    decapsulate: async (ciphertext, seed) =>
      new Uint8Array(await subtle.decapsulateBits(name, await importSeed(seed), ciphertext)),
  };
}
