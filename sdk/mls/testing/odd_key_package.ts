/** KeyPackages as an honest agent of this version would not make them, properly signed. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { label } from "../codec.ts";
import { signContent } from "../crypto/labelled.ts";
import type { MlsIdentity } from "../identity.ts";
import {
  encodeKeyPackageMessage,
  type KeyPackage,
  keyPackageReference,
  type OwnKeyPackage,
} from "../key_package.ts";
import {
  channelNameExtension,
  generationExtension,
  lastResortExtension,
  leafToVerify,
  ownersExtension,
} from "../leaf.ts";
import { encodeKeyPackageTBS, type LeafNodeKeyPackage } from "../ts_mls.ts";

export interface KeyPackageChange {
  readonly leafNode?: Partial<LeafNodeKeyPackage>;
  readonly keyPackage?: Partial<Pick<KeyPackage, "initKey" | "cipherSuite" | "extensions">>;
}

/** The same KeyPackage with something else in it, signed anew. */
export function signedAnew(
  own: OwnKeyPackage,
  change: KeyPackageChange,
  { signingSeed }: Pick<MlsIdentity, "signingSeed">,
): OwnKeyPackage {
  const leaf = { ...own.keyPackage.leafNode, ...change.leafNode };
  const place = { groupId: new Uint8Array(0), leafIndex: 0 };
  const leafNode = { ...leaf, signature: ed25519.sign(leafToVerify(leaf, place), signingSeed) };
  const tbs = { ...own.keyPackage, ...change.keyPackage, leafNode };
  const signature = ed25519.sign(
    signContent(label("KeyPackageTBS"), encodeKeyPackageTBS(tbs)),
    signingSeed,
  );
  const keyPackage = { ...tbs, signature };
  return {
    ...own,
    keyPackage,
    message: encodeKeyPackageMessage(keyPackage),
    reference: keyPackageReference(keyPackage),
  };
}

/**
 * Its leaf as an earlier version made it: without what came later among its capabilities; by
 * default without policies.
 */
export function withOlderLeaf(
  own: OwnKeyPackage,
  identity: MlsIdentity,
  types: readonly number[] = [channelNameExtension, ownersExtension, generationExtension],
): OwnKeyPackage {
  const extensions = [...types, lastResortExtension];
  const { capabilities } = own.keyPackage.leafNode;
  return signedAnew(own, { leafNode: { capabilities: { ...capabilities, extensions } } }, identity);
}
