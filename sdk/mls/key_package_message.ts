/** KeyPackages as bytes: those of others when we add them, and our own with their private keys when they come from disk. */
import { decodeMlsMessage } from "ts-mls/message.js";
import type { KeyPackage } from "ts-mls/keyPackage.js";
import { decodeExactly, MlsFault } from "./codec.ts";
import { keyPackageReference, type OwnKeyPackage } from "./leaf.ts";

export type { KeyPackage };

/** An MLSMessage with a KeyPackage. Nothing of it is verified here: a commit that adds it does that. Throws `MlsFault`. */
export function decodeKeyPackageMessage(message: Uint8Array): KeyPackage {
  const decoded = decodeExactly(decodeMlsMessage, message, "KeyPackage");
  if (decoded.wireformat !== "mls_key_package") throw new MlsFault("Cannot read KeyPackage: it is another MLS message");
  return decoded.keyPackage;
}

/** What `createKeyPackage` made, from what was stored of it. */
export function restoreKeyPackage(
  stored: Pick<OwnKeyPackage, "message" | "initPrivateKey" | "leafPrivateKey">,
): OwnKeyPackage {
  const keyPackage = decodeKeyPackageMessage(stored.message);
  return { ...stored, keyPackage, reference: keyPackageReference(keyPackage) };
}
