/**
 * KeyPackages (RFC 9420 section 10): ours made, and restored with their private keys from disk;
 * those of others read, and checked when we add them.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import {
  isUsablePublicKey,
  isUsableSealKey,
  limits,
  sealKeyBytes,
  sealKeyExtension,
} from "../../proto/mod.ts";
import type { SignedBytes } from "../../wasm/mod.ts";
import { decodeExactly, label, MlsFault } from "./codec.ts";
import { deriveKeyPair } from "./crypto/hpke.ts";
import { keyPackageRefLabel, refHash, signContent } from "./crypto/labelled.ts";
import type { SealKeyPair } from "./crypto/seal_layer.ts";
import type { Signatures } from "./crypto/signatures.ts";
import { type SuiteId, suiteIdOf, suiteNames } from "./crypto/suite.ts";
import type { MlsIdentity } from "./identity.ts";
import { createKeyPackageLeaf, lastResortExtension, signedLeaf } from "./leaf.ts";
import {
  decodeMlsMessage,
  encodeKeyPackage,
  encodeKeyPackageTBS,
  encodeMlsMessage,
  type Extension,
  extensionTypeToNumber,
  type KeyPackage,
} from "./ts_mls.ts";

export type { KeyPackage };

/** The format of the extension that holds the key for the layer around Welcomes. */
const sealKeyFormat = 1;
const keyPackageLabel = label("KeyPackageTBS");

export interface OwnKeyPackage {
  readonly keyPackage: KeyPackage;
  /** The KeyPackage as an MLSMessage: what is uploaded. */
  readonly message: Uint8Array;
  readonly reference: Uint8Array;
  readonly initPrivateKey: Uint8Array;
  readonly leafPrivateKey: Uint8Array;
  /** Undefined when Welcomes for it have no layer; see `seal_layer.ts`. */
  readonly sealSeed: Uint8Array | undefined;
}

export interface KeyPackageInput {
  readonly suiteId: SuiteId;
  readonly identity: MlsIdentity;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly lastResort: boolean;
  /** To show; see `BadgeChoice`. */
  readonly badges?: Uint8Array | undefined;
  /** Without it nobody can seal to it: a KeyPackage that only begins a group. */
  readonly sealKey?: SealKeyPair;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly signatures: Signatures;
}

export function createKeyPackage(input: KeyPackageInput): OwnKeyPackage {
  const { suiteId, identity, signatures, randomBytes } = input;
  const init = deriveKeyPair(randomBytes(32), signatures.agreement);
  const leafKey = deriveKeyPair(randomBytes(32), signatures.agreement);
  const { badges } = input;
  const lifetime = { notBefore: seconds(input.notBeforeMs), notAfter: seconds(input.notAfterMs) };
  const leafNode = createKeyPackageLeaf(
    { suiteId, publicKey: leafKey.publicKey, lifetime, badges },
    identity,
    signatures,
  );
  const { sealKey } = input;
  const extensions: Extension[] = [
    ...(input.lastResort
      ? [{ extensionType: lastResortExtension, extensionData: new Uint8Array(0) }]
      : []),
    ...(sealKey === undefined ? [] : [encodeSealKey(sealKey.publicKey)]),
  ];
  const tbs = {
    version: "mls10",
    cipherSuite: suiteNames[suiteId],
    initKey: init.publicKey,
    leafNode,
    extensions,
  } as const;
  const signature = signatures.sign(
    identity.signingSeed,
    signContent(keyPackageLabel, encodeKeyPackageTBS(tbs)),
  );
  const keyPackage = { ...tbs, signature };
  return {
    keyPackage,
    message: encodeKeyPackageMessage(keyPackage),
    reference: keyPackageReference(keyPackage),
    initPrivateKey: init.privateKey,
    leafPrivateKey: leafKey.privateKey,
    sealSeed: sealKey?.seed,
  };
}

/** Encodes a KeyPackage as it is uploaded, and as statements about it hash it. */
export function encodeKeyPackageMessage(keyPackage: KeyPackage): Uint8Array {
  return encodeMlsMessage({ version: "mls10", wireformat: "mls_key_package", keyPackage });
}

export function keyPackageReference(keyPackage: KeyPackage): Uint8Array {
  return refHash(keyPackageRefLabel, encodeKeyPackage(keyPackage));
}

/**
 * An MLSMessage with a KeyPackage. Nothing of it is verified here: a commit that adds it does that.
 * Throws `MlsFault`.
 */
export function decodeKeyPackageMessage(message: Uint8Array): KeyPackage {
  const decoded = decodeExactly(decodeMlsMessage, message, "KeyPackage");
  if (decoded.wireformat !== "mls_key_package") {
    throw new MlsFault("Cannot read KeyPackage: it is another MLS message");
  }
  return decoded.keyPackage;
}

/** Restores the result of `createKeyPackage` from its record. */
export function restoreKeyPackage(
  stored: Pick<OwnKeyPackage, "message" | "initPrivateKey" | "leafPrivateKey" | "sealSeed">,
): OwnKeyPackage {
  const keyPackage = decodeKeyPackageMessage(stored.message);
  return { ...stored, keyPackage, reference: keyPackageReference(keyPackage) };
}

/** Both signatures of a KeyPackage: its own and its leaf's. */
export function signedKeyPackage(keyPackage: KeyPackage): SignedBytes[] {
  const { leafNode, signature } = keyPackage;
  const message = signContent(keyPackageLabel, encodeKeyPackageTBS(keyPackage));
  const leaf = signedLeaf(leafNode, { groupId: new Uint8Array(0), leafIndex: 0 });
  return [{ publicKey: leafNode.signaturePublicKey, message, signature }, leaf];
}

function encodeSealKey(publicKey: Uint8Array): Extension {
  return {
    extensionType: sealKeyExtension,
    extensionData: concatBytes(Uint8Array.of(sealKeyFormat), publicKey),
  };
}

/** Undefined when it has none. Throws `MlsFault` for one to which nobody can seal. */
export function sealKeyOf({ extensions }: Pick<KeyPackage, "extensions">): Uint8Array | undefined {
  const [found, ...others] = extensions.filter(({ extensionType }) =>
    extensionTypeToNumber(extensionType) === sealKeyExtension
  );
  if (found === undefined) return undefined;
  if (others.length > 0) throw new MlsFault("A KeyPackage has two keys for Welcomes");
  const { extensionData } = found;
  const publicKey = extensionData.subarray(1);
  if (
    extensionData.length !== 1 + sealKeyBytes || extensionData[0] !== sealKeyFormat ||
    !isUsableSealKey(publicKey)
  ) {
    throw new MlsFault("A KeyPackage's key for Welcomes is malformed");
  }
  return publicKey;
}

/** Section 10.1, without credential and signatures: suite and keys. Throws `MlsFault`. */
export function checkKeyPackage(keyPackage: KeyPackage, suiteId: SuiteId): void {
  const { leafNode, initKey } = keyPackage;
  if (keyPackage.version !== "mls10" || suiteIdOf(keyPackage.cipherSuite) !== suiteId) {
    throw new MlsFault("A KeyPackage is for another version or cipher suite");
  }
  if (
    !isUsablePublicKey(initKey) || initKey.every((byte, i) => byte === leafNode.hpkePublicKey[i])
  ) {
    throw new MlsFault("A KeyPackage uses one key twice");
  }
  sealKeyOf(keyPackage);
}

/**
 * Only when we add somebody ourselves: members that follow a commit judge no lifetime, because
 * their clocks would divide the group. By our clock as well as the relay's: a relay that turns its
 * clock back keeps no KeyPackage alive.
 */
export function checkLifetime(keyPackage: KeyPackage, clocksMs: readonly number[]): void {
  const { notBefore, notAfter } = keyPackage.leafNode.lifetime;
  const skewSeconds = seconds(limits.clockSkewMs);
  for (const nowSeconds of clocksMs.map(seconds)) {
    if (nowSeconds + skewSeconds < notBefore) {
      throw new MlsFault("A KeyPackage is not valid yet; check the clock of this machine");
    }
    if (nowSeconds > notAfter + skewSeconds) {
      throw new MlsFault("A KeyPackage has expired, or the clock of this machine is wrong");
    }
  }
}

function seconds(ms: number): bigint {
  return BigInt(Math.floor(ms / 1000));
}
