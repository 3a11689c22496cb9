/**
 * Strict Ed25519 by the runtime's own code: an order of magnitude faster than JavaScript, which
 * counts when a thousand agents come back at once. The runtime takes keys that noble's strict mode
 * refuses, of small order or not in canonical form: under the identity point everybody can sign
 * anything. So the key is judged first, by its bytes. A signature that passes here passes there
 * too; the SDK still verifies everything that members must agree on.
 */
import { createPublicKey, verify } from "node:crypto";
import { encodeBase64url } from "../proto/mod.ts";

/**
 * The eight points of small order, and the two of them with x = 0 whose sign is set, which is
 * another form.
 */
const refusedKeys: ReadonlySet<string> = new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0000000000000000000000000000000000000000000000000000000000000080",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000080",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
].map((hex) => encodeBase64url(Uint8Array.fromHex(hex))));

export function verifyEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  const x = encodeBase64url(publicKey);
  if (!isReduced(publicKey) || refusedKeys.has(x)) return false;
  try {
    return verify(
      null,
      message,
      createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" }),
      signature,
    );
  } catch {
    return false; // not a key or signature at all
  }
}

/** Whether y is below 2^255 - 19 (RFC 8032 section 5.1.3). */
function isReduced(publicKey: Uint8Array): boolean {
  const [lowest = 0, highest = 0] = [publicKey[0], publicKey[31]];
  return lowest < 0xed || (highest & 0x7f) < 0x7f ||
    publicKey.subarray(1, 31).some((byte) => byte < 0xff);
}
