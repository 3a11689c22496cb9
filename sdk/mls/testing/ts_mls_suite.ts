/**
 * Our cipher suites in the shape that ts-mls expects, to run its own functions against ours.
 * Signatures are always strict.
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { ed25519 } from "@noble/curves/ed25519.js";
import { deriveKeyPair, open, receiveExport, seal, sendExport } from "../crypto/hpke.ts";
import type { Signatures } from "../crypto/signatures.ts";
import { aeadOf, expand, extract, hashBytes, type SuiteId, suiteNames } from "../crypto/suite.ts";
import type { CiphersuiteImpl, PrivateKey, PublicKey } from "./ts_mls.ts";

export interface SuiteDeps {
  readonly randomBytes: (length: number) => Uint8Array<ArrayBuffer>;
  readonly signatures: Signatures;
}

export function createTsMlsSuite(
  id: SuiteId,
  { randomBytes, signatures }: SuiteDeps,
): CiphersuiteImpl {
  return {
    name: suiteNames[id],
    rng: { randomBytes },
    hash: hashOf(),
    kdf: {
      size: hashBytes,
      extract: (salt, keyMaterial) => Promise.resolve(extract(salt, keyMaterial)),
      expand: (key, info, length) => Promise.resolve(expand(key, info, length)),
    },
    signature: {
      sign: (seed, message) => Promise.resolve(signatures.sign(seed, message)),
      verify: (publicKey, message, signature) =>
        Promise.resolve(signatures.verifyHandshake(publicKey, message, signature)),
      keygen: () => {
        const signKey = randomBytes(32);
        return Promise.resolve({ signKey, publicKey: ed25519.getPublicKey(signKey) });
      },
    },
    hpke: hpkeOf(id, randomBytes),
  };
}

function hashOf(): CiphersuiteImpl["hash"] {
  return {
    digest: (bytes) => Promise.resolve(sha256(bytes)),
    mac: (key, bytes) => Promise.resolve(hmac(sha256, key, bytes)),
    verifyMac: (key, mac, bytes) => {
      const expected = hmac(sha256, key, bytes);
      let difference = expected.length ^ mac.length;
      expected.forEach((byte, i) => difference |= byte ^ (mac[i] ?? 0));
      return Promise.resolve(difference === 0);
    },
  };
}

const empty = new Uint8Array(0);

function hpkeOf(id: SuiteId, randomBytes: SuiteDeps["randomBytes"]): CiphersuiteImpl["hpke"] {
  const aead = aeadOf[id];
  const pairOf = (
    keyMaterial: Uint8Array,
  ): Promise<{ privateKey: PrivateKey; publicKey: PublicKey }> => {
    const pair = deriveKeyPair(keyMaterial);
    return Promise.resolve({
      privateKey: wrapPrivate(pair.privateKey),
      publicKey: wrapPublic(pair.publicKey),
    });
  };
  return {
    keyLength: aead.keyBytes,
    nonceLength: aead.nonceBytes,
    seal: (publicKey, plaintext, info, aad = empty) => {
      const sealed = seal(aead, {
        publicKey: unwrap(publicKey),
        info,
        aad,
        plaintext,
        randomness: randomBytes(32),
      });
      return Promise.resolve({ enc: sealed.kemOutput, ct: sealed.ciphertext });
    },
    open: (privateKey, kemOutput, ciphertext, info, aad = empty) =>
      settle(() =>
        open(aead, { privateKey: unwrap(privateKey), kemOutput, info, aad, ciphertext })
      ),
    importPrivateKey: (key) => Promise.resolve(wrapPrivate(key)),
    importPublicKey: (key) => Promise.resolve(wrapPublic(key)),
    exportPublicKey: (key) => Promise.resolve(unwrap(key)),
    exportPrivateKey: (key) => Promise.resolve(unwrap(key)),
    encryptAead: (key, nonce, aad, plaintext) =>
      Promise.resolve(aead.seal(key, nonce, aad ?? empty, plaintext)),
    decryptAead: (key, nonce, aad, ciphertext) =>
      settle(() => aead.open(key, nonce, aad ?? empty, ciphertext)),
    exportSecret: (publicKey, exporterContext, length, info) => {
      const receiver = { publicKey: unwrap(publicKey), randomness: randomBytes(32) };
      const { kemOutput, secret } = sendExport(aead, receiver, { info, exporterContext, length });
      return Promise.resolve({ enc: kemOutput, secret });
    },
    importSecret: (privateKey, exporterContext, kemOutput, length, info) =>
      settle(() =>
        receiveExport(aead, { privateKey: unwrap(privateKey), kemOutput }, {
          info,
          exporterContext,
          length,
        })
      ),
    deriveKeyPair: pairOf,
    generateKeyPair: () => pairOf(randomBytes(32)),
  };
}

/** A thrown failure as a rejected promise, as an asynchronous interface promises. */
function settle<T>(act: () => T): Promise<T> {
  return new Promise((resolve) => resolve(act()));
}

// ts-mls types HPKE keys as CryptoKey but never looks inside them: ours are the 32 raw bytes.
function wrapPrivate(bytes: Uint8Array): PrivateKey {
  return bytes as unknown as PrivateKey; // cast: see above
}

function wrapPublic(bytes: Uint8Array): PublicKey {
  return bytes as unknown as PublicKey; // cast: see above
}

function unwrap(key: PrivateKey | PublicKey): Uint8Array {
  return key as unknown as Uint8Array; // cast: see above
}
