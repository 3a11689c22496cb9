/**
 * Leaf nodes (RFC 9420 sections 7.2 and 7.3): how ours are made, and when another's is believed.
 */
import {
  type AgentId,
  agentIdOf,
  isUsablePublicKey,
  leafExtensions,
  limits,
} from "../../proto/mod.ts";
import type { SignedBytes } from "../../wasm/mod.ts";
import { shownBadges, withBadges } from "./badges.ts";
import { decodeExactly, equalBytes, label, MlsFault, MlsVersionFault } from "./codec.ts";
import { signContent } from "./crypto/labelled.ts";
import type { Signatures } from "./crypto/signatures.ts";
import { type SuiteId, suiteNames } from "./crypto/suite.ts";
import type { MlsIdentity } from "./identity.ts";
import {
  type Capabilities,
  decodeLeafNode,
  encodeLeafNode,
  encodeLeafNodeTBS,
  type Extension,
  extensionTypeToNumber,
  type LeafNode,
  type LeafNodeCommit,
  type LeafNodeKeyPackage,
  type LeafNodeTBS,
  type Lifetime,
} from "./ts_mls.ts";

/** A member's identity and signature key. */
export interface MemberCredential {
  readonly identity: Uint8Array;
  readonly signatureKey: Uint8Array;
}

/** The same, and the badges that the leaf shows. */
export interface BadgedCredential extends MemberCredential {
  /** The badges as the leaf has them: perhaps malformed, and by nobody verified. */
  readonly badges?: Uint8Array;
}

/**
 * Decides whether a credential may stand for its identity. Returns the reason against it, or
 * undefined.
 */
export type CredentialPolicy = (credential: MemberCredential) => string | undefined;

/**
 * GroupContext extensions of ours, in the range for private use (section 17.3). An extension that
 * says something else is another number: `docs/protocol.md` has the steps.
 */
export const channelNameExtension = 0xf5c0;
export const ownersExtension = 0xf5c2;
/** Generations after the first. */
export const generationExtension = 0xf5c3;
/** Once a channel has changed its policy. */
export const policyExtension = 0xf5c4;
/** Once a channel has said whose badges it requires. */
export const issuersExtension = 0xf5c5;
/** While all that came in came by sealed Welcomes; see `sealing_rules.ts`. */
export const sealingExtension = 0xf5cb;
/** While a channel has guests. */
export const guestsExtension = 0xf5d1;
/**
 * The extension that says how the maker of a Welcome came in. Only a GroupInfo has it, so no leaf
 * lists it.
 */
export const admissionsExtension = 0xf5c9;
/** The extensions that this version can read. A leaf lists more: what channels may have one day. */
const readableExtensions: readonly number[] = [
  channelNameExtension,
  ownersExtension,
  generationExtension,
  policyExtension,
  issuersExtension,
  sealingExtension,
  guestsExtension,
];
/** RFC 9420 has it as a KeyPackage extension (section 16.8). */
export const lastResortExtension = 10;

const leafLabel = label("LeafNodeTBS");

function capabilitiesOf(suiteId: SuiteId): Capabilities {
  return {
    versions: ["mls10"],
    ciphersuites: [suiteNames[suiteId]],
    extensions: [...leafExtensions, lastResortExtension],
    proposals: [],
    credentials: ["basic"],
  };
}

export interface KeyPackageLeafInput {
  readonly suiteId: SuiteId;
  readonly publicKey: Uint8Array;
  readonly lifetime: Lifetime;
  /** To show; see `BadgeChoice`. */
  readonly badges?: Uint8Array | undefined;
}

/** A leaf that is in no group yet, as a KeyPackage carries it. */
export function createKeyPackageLeaf(
  { suiteId, publicKey, lifetime, badges }: KeyPackageLeafInput,
  identity: MlsIdentity,
  signatures: Signatures,
): LeafNodeKeyPackage {
  const leaf = {
    leafNodeSource: "key_package",
    hpkePublicKey: publicKey,
    signaturePublicKey: identity.signatureKey,
    credential: { credentialType: "basic", identity: identity.identity },
    capabilities: capabilitiesOf(suiteId),
    lifetime,
    extensions: withBadges({ extensions: [] }, badges),
  } as const satisfies LeafNodeTBS;
  return { ...leaf, signature: sign(leaf, identity, signatures) };
}

export interface CommitLeafInput {
  readonly current: LeafNode;
  readonly suiteId: SuiteId;
  readonly groupId: Uint8Array;
  readonly leafIndex: number;
  readonly publicKey: Uint8Array;
  readonly parentHash: Uint8Array;
  /** To show; see `BadgeChoice`. */
  readonly badges?: Uint8Array | undefined;
}

/**
 * Our leaf with a fresh key, as a commit carries it, with what this version of the program is
 * capable of, and with the badges to show.
 */
export function createCommitLeaf(
  input: CommitLeafInput,
  identity: MlsIdentity,
  signatures: Signatures,
): LeafNodeCommit {
  const { signaturePublicKey, credential } = input.current;
  const { groupId, leafIndex, parentHash, badges = shownBadges(input.current) } = input;
  const leaf = {
    leafNodeSource: "commit",
    hpkePublicKey: input.publicKey,
    signaturePublicKey,
    credential,
    capabilities: capabilitiesOf(input.suiteId),
    extensions: withBadges(input.current, badges),
    parentHash,
  } as const;
  return { ...leaf, signature: sign({ ...leaf, groupId, leafIndex }, identity, signatures) };
}

/** Encodes a leaf as the ratchet tree has it. */
export function encodeLeaf(leaf: LeafNode): Uint8Array {
  return encodeLeafNode(leaf);
}

export interface OwnLeafPlace extends LeafPlace {
  /** A leaf of a KeyPackage counts too. It names no group. */
  readonly ofKeyPackage: boolean;
}

/**
 * Whether these bytes are a leaf that this agent made itself, with a commit for this place of a
 * group or in a KeyPackage.
 */
export function isOwnLeaf(
  bytes: Uint8Array,
  { ofKeyPackage, ...place }: OwnLeafPlace,
  { identity, signatureKey }: MlsIdentity,
  signatures: Signatures,
): boolean {
  try {
    const leaf = decodeExactly(decodeLeafNode, bytes, "leaf");
    const credential = credentialOf(leaf);
    const isOfSource = leaf.leafNodeSource === "commit" ||
      (ofKeyPackage && leaf.leafNodeSource === "key_package");
    return isOfSource && equalBytes(credential.signatureKey, signatureKey) &&
      equalBytes(credential.identity, identity) &&
      signatures.verifyHandshakes([signedLeaf(leaf, place)]);
  } catch (error) {
    if (error instanceof MlsFault) return false;
    throw error;
  }
}

export function credentialOf(leaf: LeafNode): MemberCredential {
  if (leaf.credential.credentialType !== "basic") {
    throw new MlsFault("A leaf's credential is not basic");
  }
  return { identity: leaf.credential.identity, signatureKey: leaf.signaturePublicKey };
}

export function badgedOf(leaf: LeafNode): BadgedCredential {
  const badges = shownBadges(leaf);
  return { ...credentialOf(leaf), ...(badges !== undefined && { badges }) };
}

export function agentOf(leaf: LeafNode): AgentId {
  const { identity, signatureKey } = credentialOf(leaf);
  return agentIdOf(signatureKey, identity);
}

/** Whether its agent can be in a group with this extension. */
export function listsExtension({ capabilities }: LeafNode, type: number): boolean {
  // Types 1 to 5 are part of every implementation.
  return type <= 5 || capabilities.extensions.includes(type);
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

/** The bytes that a leaf's signature covers, for the place it claims. */
export function leafToVerify(leaf: LeafNode, place: LeafPlace): Uint8Array {
  const tbs = leaf.leafNodeSource === "key_package" ? leaf : { ...leaf, ...place };
  return signContent(leafLabel, encodeLeafNodeTBS(tbs));
}

/** To be verified, alone or with others. */
export function signedLeaf(leaf: LeafNode, place: LeafPlace): SignedBytes {
  return {
    publicKey: leaf.signaturePublicKey,
    message: leafToVerify(leaf, place),
    signature: leaf.signature,
  };
}

export interface LeafRules {
  readonly suiteId: SuiteId;
  /** The extensions of the group. */
  readonly extensions: readonly Extension[];
  readonly policy: CredentialPolicy;
}

/** Throws `MlsVersionFault` for an extension of a channel that only newer versions know. */
export function checkChannelExtensions(extensions: readonly Extension[]): void {
  for (const { extensionType } of extensions) {
    const type = extensionTypeToNumber(extensionType);
    if (isOfChannels(type) && !readableExtensions.includes(type)) {
      throw new MlsVersionFault(
        `A channel has extension ${hexOf(type)}, which is newer than this library; update it`,
      );
    }
  }
}

/** 0xf5c0 to 0xf5df, whether they are in use or not yet. */
function isOfChannels(type: number): boolean {
  return (type & 0xffe0) === channelNameExtension;
}

function hexOf(type: number): string {
  return `0x${type.toString(16).padStart(4, "0")}`;
}

/** Everything of section 7.3 but the signature. Throws `MlsFault`. */
export function checkLeaf(
  leaf: LeafNode,
  rules: LeafRules,
  encodedBytes: number = encodeLeafNode(leaf).length,
): void {
  const { capabilities } = leaf;
  const { suiteId, extensions, policy } = rules;
  if (encodedBytes > limits.leafNodeBytes) {
    throw new MlsFault(`A leaf is longer than ${limits.leafNodeBytes} bytes`);
  }
  if (!isUsablePublicKey(leaf.hpkePublicKey)) {
    throw new MlsFault("A leaf's encryption key is not usable");
  }
  if (!capabilities.versions.includes("mls10") || !capabilities.credentials.includes("basic")) {
    throw new MlsFault("A leaf does not support MLS 1.0 with basic credentials");
  }
  if (!capabilities.ciphersuites.includes(suiteNames[suiteId])) {
    throw new MlsFault("A leaf does not support the cipher suite of its group or KeyPackage");
  }
  for (const { extensionType } of [...extensions, ...leaf.extensions]) {
    const type = extensionTypeToNumber(extensionType);
    if (!listsExtension(leaf, type)) {
      const text =
        `A leaf does not support extension ${
          hexOf(type)
        }, which it or its group has; update the library of ` +
        "the agent that it belongs to";
      throw new MlsVersionFault(text);
    }
  }
  const credential = credentialOf(leaf);
  const { length } = credential.identity;
  if (length === 0 || length > limits.identityBytes) {
    throw new MlsFault(
      `A leaf's identity has ${length} bytes; 1 to ${limits.identityBytes} are allowed`,
    );
  }
  const why = policy(credential);
  if (why !== undefined) throw new MlsFault(`A credential was refused: ${why}`);
}

function sign(leaf: LeafNodeTBS, identity: MlsIdentity, signatures: Signatures): Uint8Array {
  return signatures.sign(identity.signingSeed, signContent(leafLabel, encodeLeafNodeTBS(leaf)));
}
