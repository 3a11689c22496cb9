/** Leaf nodes and KeyPackages (RFC 9420 sections 7.2, 7.3 and 10): how ours are made, and when another's is believed. */
import type { Capabilities } from "ts-mls/capabilities.js";
import { type Extension, extensionTypeToNumber } from "ts-mls/extension.js";
import { encodeKeyPackage, encodeKeyPackageTBS, type KeyPackage } from "ts-mls/keyPackage.js";
import {
  encodeLeafNode,
  encodeLeafNodeTBS,
  type LeafNode,
  type LeafNodeCommit,
  type LeafNodeTBS,
} from "ts-mls/leafNode.js";
import { encodeMlsMessage } from "ts-mls/message.js";
import { type AgentId, agentIdOf, limits } from "../../proto/mod.ts";
import { equalBytes, label, MlsFault } from "./codec.ts";
import { deriveKeyPair, isUsablePublicKey } from "./crypto/hpke.ts";
import { keyPackageRefLabel, refHash, signContent } from "./crypto/labelled.ts";
import type { SignedBytes } from "./crypto/batch_verify.ts";
import type { Signatures } from "./crypto/signatures.ts";
import type { SuiteId } from "./crypto/suite.ts";
import { suiteIdOf, suiteNames } from "./epoch.ts";

/** Who we are in every channel: an identity and the Ed25519 key that goes with it. */
export interface MlsIdentity {
  readonly identity: Uint8Array;
  /** 32 bytes. */
  readonly signingSeed: Uint8Array;
  readonly signatureKey: Uint8Array;
}

/** What a member is known by. */
export interface MemberCredential {
  readonly identity: Uint8Array;
  readonly signatureKey: Uint8Array;
}

/** Decides whether a credential may stand for its identity. Answers why not, or undefined. */
export type CredentialPolicy = (credential: MemberCredential) => string | undefined;

/** GroupContext extensions of ours, in the range for private use (section 17.3). */
export const channelNameExtension = 0xf5c0;
export const ownersExtension = 0xf5c1;
/** RFC 9420 has it as a KeyPackage extension (section 16.8). */
const lastResortExtension = 10;

/** A thousand leaves, with the parents above them, stay far below what a stored record may hold. */
const maxLeafBytes = 4096;

const leafLabel = label("LeafNodeTBS");
const keyPackageLabel = label("KeyPackageTBS");

function capabilitiesOf(suiteId: SuiteId): Capabilities {
  return {
    versions: ["mls10"],
    ciphersuites: [suiteNames[suiteId]],
    extensions: [channelNameExtension, ownersExtension, lastResortExtension],
    proposals: [],
    credentials: ["basic"],
  };
}

export interface OwnKeyPackage {
  readonly keyPackage: KeyPackage;
  /** As an MLSMessage: what is uploaded. */
  readonly message: Uint8Array;
  readonly reference: Uint8Array;
  readonly initPrivateKey: Uint8Array;
  readonly leafPrivateKey: Uint8Array;
}

export interface KeyPackageInput {
  readonly suiteId: SuiteId;
  readonly identity: MlsIdentity;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly lastResort: boolean;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly signatures: Signatures;
}

export async function createKeyPackage(input: KeyPackageInput): Promise<OwnKeyPackage> {
  const { suiteId, identity, signatures, randomBytes } = input;
  const init = deriveKeyPair(randomBytes(32));
  const leafKey = deriveKeyPair(randomBytes(32));
  const tbs = {
    leafNodeSource: "key_package",
    hpkePublicKey: leafKey.publicKey,
    signaturePublicKey: identity.signatureKey,
    credential: { credentialType: "basic", identity: identity.identity },
    capabilities: capabilitiesOf(suiteId),
    lifetime: { notBefore: seconds(input.notBeforeMs), notAfter: seconds(input.notAfterMs) },
    extensions: [],
  } as const satisfies LeafNodeTBS;
  const leafNode = { ...tbs, signature: await sign(signatures, identity, leafLabel, encodeLeafNodeTBS(tbs)) };
  const extensions: Extension[] = input.lastResort
    ? [{ extensionType: lastResortExtension, extensionData: new Uint8Array(0) }]
    : [];
  const packageTbs = {
    version: "mls10",
    cipherSuite: suiteNames[suiteId],
    initKey: init.publicKey,
    leafNode,
    extensions,
  } as const;
  const signature = await sign(signatures, identity, keyPackageLabel, encodeKeyPackageTBS(packageTbs));
  const keyPackage = { ...packageTbs, signature };
  return {
    keyPackage,
    message: encodeKeyPackageMessage(keyPackage),
    reference: keyPackageReference(keyPackage),
    initPrivateKey: init.privateKey,
    leafPrivateKey: leafKey.privateKey,
  };
}

/** As it is uploaded, and as statements about it hash it. */
export function encodeKeyPackageMessage(keyPackage: KeyPackage): Uint8Array {
  return encodeMlsMessage({ version: "mls10", wireformat: "mls_key_package", keyPackage });
}

export function keyPackageReference(keyPackage: KeyPackage): Uint8Array {
  return refHash(keyPackageRefLabel, encodeKeyPackage(keyPackage));
}

export interface CommitLeafInput {
  readonly current: LeafNode;
  readonly groupId: Uint8Array;
  readonly leafIndex: number;
  readonly publicKey: Uint8Array;
  readonly parentHash: Uint8Array;
}

/** Our leaf with a fresh key, as a commit carries it. */
export async function createCommitLeaf(
  input: CommitLeafInput,
  identity: MlsIdentity,
  signatures: Signatures,
): Promise<LeafNodeCommit> {
  const { signaturePublicKey, credential, capabilities, extensions } = input.current;
  const { groupId, leafIndex, parentHash } = input;
  const leaf = {
    leafNodeSource: "commit",
    hpkePublicKey: input.publicKey,
    signaturePublicKey,
    credential,
    capabilities,
    extensions,
    parentHash,
  } as const;
  const tbs = encodeLeafNodeTBS({ ...leaf, groupId, leafIndex });
  return { ...leaf, signature: await sign(signatures, identity, leafLabel, tbs) };
}

export function credentialOf(leaf: LeafNode): MemberCredential {
  if (leaf.credential.credentialType !== "basic") throw new MlsFault("A leaf's credential is not basic");
  return { identity: leaf.credential.identity, signatureKey: leaf.signaturePublicKey };
}

export function agentOf(leaf: LeafNode): AgentId {
  const { identity, signatureKey } = credentialOf(leaf);
  return agentIdOf(signatureKey, identity);
}

/** A leaf may change its keys for encryption, never who it is: an agent's id depends on both. */
export function sameCredential(before: LeafNode, after: LeafNode): boolean {
  const [a, b] = [credentialOf(before), credentialOf(after)];
  return equalBytes(a.signatureKey, b.signatureKey) && equalBytes(a.identity, b.identity);
}

export interface LeafPlace {
  readonly groupId: Uint8Array;
  readonly leafIndex: number;
}

/** What a leaf's signature covers, for the place it claims. */
export function leafToVerify(leaf: LeafNode, place: LeafPlace): Uint8Array {
  const tbs = leaf.leafNodeSource === "key_package" ? leaf : { ...leaf, ...place };
  return signContent(leafLabel, encodeLeafNodeTBS(tbs));
}

/** To be verified, alone or with others. */
export function signedLeaf(leaf: LeafNode, place: LeafPlace): SignedBytes {
  return { publicKey: leaf.signaturePublicKey, message: leafToVerify(leaf, place), signature: leaf.signature };
}

/** Both signatures of a KeyPackage: its own and its leaf's. */
export function signedKeyPackage(keyPackage: KeyPackage): SignedBytes[] {
  const { leafNode, signature } = keyPackage;
  const message = signContent(keyPackageLabel, encodeKeyPackageTBS(keyPackage));
  const leaf = signedLeaf(leafNode, { groupId: new Uint8Array(0), leafIndex: 0 });
  return [{ publicKey: leafNode.signaturePublicKey, message, signature }, leaf];
}

export interface LeafRules {
  readonly suiteId: SuiteId;
  /** Of the group. */
  readonly extensions: readonly Extension[];
  readonly policy: CredentialPolicy;
}

/** Everything of section 7.3 but the signature. Throws `MlsFault`. */
export function checkLeaf(leaf: LeafNode, rules: LeafRules, encodedBytes: number = encodeLeafNode(leaf).length): void {
  const { capabilities } = leaf;
  const { suiteId, extensions, policy } = rules;
  if (encodedBytes > maxLeafBytes) throw new MlsFault(`A leaf is longer than ${maxLeafBytes} bytes`);
  if (!isUsablePublicKey(leaf.hpkePublicKey)) throw new MlsFault("A leaf's encryption key is not usable");
  if (!capabilities.versions.includes("mls10") || !capabilities.credentials.includes("basic")) {
    throw new MlsFault("A leaf does not support MLS 1.0 with basic credentials");
  }
  if (!capabilities.ciphersuites.includes(suiteNames[suiteId])) {
    throw new MlsFault("A leaf does not support the cipher suite of its group or KeyPackage");
  }
  for (const { extensionType } of [...extensions, ...leaf.extensions]) {
    const type = extensionTypeToNumber(extensionType);
    // Types 1 to 5 are part of every implementation.
    if (type > 5 && !capabilities.extensions.includes(type)) {
      throw new MlsFault(`A leaf does not support extension ${type}, which it or its group has`);
    }
  }
  const why = policy(credentialOf(leaf));
  if (why !== undefined) throw new MlsFault(`A credential was refused: ${why}`);
}

/** Section 10.1, without credential and signatures: suite and keys. Throws `MlsFault`. */
export function checkKeyPackage(keyPackage: KeyPackage, suiteId: SuiteId): void {
  const { leafNode, initKey } = keyPackage;
  if (keyPackage.version !== "mls10" || suiteIdOf(keyPackage.cipherSuite) !== suiteId) {
    throw new MlsFault("A KeyPackage is for another version or cipher suite");
  }
  if (!isUsablePublicKey(initKey) || initKey.every((byte, i) => byte === leafNode.hpkePublicKey[i])) {
    throw new MlsFault("A KeyPackage uses one key twice");
  }
}

/** Only when we add somebody ourselves: for a member that is in already, its lifetime has served its purpose. */
export function checkLifetime(keyPackage: KeyPackage, nowMs: number): void {
  const { notBefore, notAfter } = keyPackage.leafNode.lifetime;
  const now = seconds(nowMs);
  const skew = seconds(limits.clockSkewMs);
  if (now + skew < notBefore) throw new MlsFault("A KeyPackage is not valid yet; check the clock");
  if (now > notAfter + skew) throw new MlsFault("A KeyPackage has expired");
}

function sign(
  signatures: Signatures,
  identity: MlsIdentity,
  name: Uint8Array,
  content: Uint8Array,
): Promise<Uint8Array> {
  return signatures.sign(identity.signingSeed, signContent(name, content));
}

function seconds(ms: number): bigint {
  return BigInt(Math.floor(ms / 1000));
}
