/** Leaves as they were before there were versions of owners: without the extension among their capabilities. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { encodeKeyPackageTBS } from "ts-mls/keyPackage.js";
import { label } from "../codec.ts";
import { signContent } from "../crypto/labelled.ts";
import type { MlsIdentity } from "../identity.ts";
import { encodeKeyPackageMessage, keyPackageReference, type OwnKeyPackage } from "../key_package.ts";
import { channelNameExtension, lastResortExtension, leafToVerify, listedOwnersExtension } from "../leaf.ts";

/** The same KeyPackage, signed anew. */
export function withOlderLeaf(own: OwnKeyPackage, { signingSeed }: MlsIdentity): OwnKeyPackage {
  const { leafNode, ...rest } = own.keyPackage;
  const extensions = [channelNameExtension, listedOwnersExtension, lastResortExtension];
  const older = { ...leafNode, capabilities: { ...leafNode.capabilities, extensions } };
  const place = { groupId: new Uint8Array(0), leafIndex: 0 };
  const signed = { ...older, signature: ed25519.sign(leafToVerify(older, place), signingSeed) };
  const tbs = { ...rest, leafNode: signed };
  const signature = ed25519.sign(signContent(label("KeyPackageTBS"), encodeKeyPackageTBS(tbs)), signingSeed);
  const keyPackage = { ...tbs, signature };
  return {
    ...own,
    keyPackage,
    message: encodeKeyPackageMessage(keyPackage),
    reference: keyPackageReference(keyPackage),
  };
}
