/**
 * Strict Ed25519 by the runtime's own code: an order of magnitude faster than JavaScript, which counts when a thousand agents
 * come back at once. The runtime takes keys that noble's strict mode refuses, of small order or not in canonical form: under
 * the identity point everybody can sign anything. So the key is judged first. What passes here passes there too; what members
 * must agree on is still verified in `proto/` and the SDK.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { createPublicKey, verify } from "node:crypto";
import { encodeBase64url } from "../proto/mod.ts";

export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    // Throws for what is no point, or not its canonical form (RFC 8032 §5.1.3).
    if (ed25519.Point.fromBytes(publicKey, false).isSmallOrder()) return false;
    const jwk = { kty: "OKP", crv: "Ed25519", x: encodeBase64url(publicKey) };
    return verify(null, message, createPublicKey({ key: jwk, format: "jwk" }), signature);
  } catch {
    return false;
  }
}
