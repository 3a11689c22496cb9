/** X25519 of `node:crypto`, in Node and Deno. Keys are imported as JWK: from DER, Node takes ten times as long. */
import { createPrivateKey, createPublicKey, diffieHellman } from "node:crypto";
import { encodeBase64url } from "../../proto/mod.ts";
import type { KeyAgreement } from "../mls/crypto/key_agreement.ts";

const basePoint = Uint8Array.from({ length: 32 }, (_, i) => i === 0 ? 9 : 0);
/** A private JWK must have its public half, which nobody looks at. */
const anyPublicKey = encodeBase64url(basePoint);
const shape = { kty: "OKP", crv: "X25519" } as const;

export function createNodeX25519(): KeyAgreement {
  const sharedSecret = (privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array =>
    new Uint8Array(diffieHellman({
      privateKey: createPrivateKey({
        key: { ...shape, d: encodeBase64url(privateKey), x: anyPublicKey },
        format: "jwk",
      }),
      publicKey: createPublicKey({ key: { ...shape, x: encodeBase64url(publicKey) }, format: "jwk" }),
    }));
  return { sharedSecret, publicKeyOf: (privateKey) => sharedSecret(privateKey, basePoint) };
}
