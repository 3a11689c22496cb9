/**
 * KeyPackages (RFC 9420 section 10) without an MLS library: read, then verified, so that a relay
 * stores only what an agent really signed. The two steps have two types; only `verifyKeyPackage`
 * makes the second.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { equalBytes } from "../base/equal_bytes.ts";
import { WireError } from "../base/errors.ts";
import { type AgentId, agentIdOf } from "../base/ids.ts";
import { limits } from "../base/limits.ts";
import { openKeyPackageMessage } from "./message.ts";
import { isUsablePublicKey } from "./public_key.ts";
import { encodeVectorLength, type MlsReader } from "./reader.ts";

/** 1: X25519, AES-128-GCM, SHA-256, Ed25519. 3: the same with ChaCha20-Poly1305. */
export const supportedCipherSuites: readonly number[] = [1, 3];

/**
 * Extensions that the relay requires of a leaf: a channel's name, its owners, its generation. A
 * list that grew would keep agents out that have not updated and want to come back.
 */
const requiredExtensions: readonly number[] = [0xf5c0, 0xf5c2, 0xf5c3];

/**
 * Extensions that a channel may have in its GroupContext: those, its policy, its issuers, its
 * sealing, and its guests. Every leaf that this version makes lists them all, so that no member
 * stands in the way when a channel takes one on.
 */
export const channelExtensions: readonly number[] = [
  ...requiredExtensions,
  0xf5c4,
  0xf5c5,
  0xf5cb,
  0xf5d1,
];

/**
 * Listed by the leaf of a member that reads bundles; see `bundle.ts`. No group has it as an
 * extension.
 */
export const bundlesCapability = 0xf5c8;

/** Of a leaf alone: its badges; see `badge.ts`. */
export const badgesExtension = 0xf5c6;

/** Listed by the leaf of a member that reads receipts; see `content/receipt.ts`. */
export const receiptsCapability = 0xf5c7;

/** Of a KeyPackage: the key for the layer of Welcomes; see `sdk/mls/crypto/seal_layer.ts`. */
export const sealKeyExtension = 0xf5ca;

/** Extensions that every leaf lists. */
export const leafExtensions: readonly number[] = [
  ...channelExtensions,
  badgesExtension,
  bundlesCapability,
  receiptsCapability,
  sealKeyExtension,
].sort((a, b) => a - b);

const mls10 = 1;
const basicCredential = 1;
const leafNodeSourceKeyPackage = 1;
const lastResortExtension = 10;

/** Read, not verified: nothing in it may be relied on. */
export interface UnverifiedKeyPackage {
  readonly cipherSuite: number;
  readonly initKey: Uint8Array;
  readonly encryptionKey: Uint8Array;
  readonly signatureKey: Uint8Array;
  readonly identity: Uint8Array;
  readonly capabilities: Capabilities;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly lastResort: boolean;
  readonly reference: Uint8Array;
  readonly signed: readonly SignedPart[];
}

interface SignedPart {
  readonly label: string;
  readonly content: Uint8Array;
  readonly signature: Uint8Array;
}

interface Capabilities {
  readonly versions: readonly number[];
  readonly cipherSuites: readonly number[];
  readonly extensions: readonly number[];
  readonly credentials: readonly number[];
}

declare const verified: unique symbol;

/** Signed by the key it names, of a supported suite, within its lifetime. */
export interface KeyPackage {
  readonly [verified]: true;
  readonly agentId: AgentId;
  readonly cipherSuite: number;
  readonly signatureKey: Uint8Array;
  readonly identity: Uint8Array;
  readonly notAfterMs: number;
  readonly lastResort: boolean;
  /** KeyPackageRef (section 5.2): how a Welcome names its recipient. */
  readonly reference: Uint8Array;
}

/** Reads an MLSMessage with a KeyPackage; throws `WireError` when it is not exactly that. */
export function readKeyPackage(message: Uint8Array): UnverifiedKeyPackage {
  if (message.length > limits.keyPackageBytes) {
    throw new WireError(
      "payload_too_large",
      `A KeyPackage of ${message.length} bytes; at most ${limits.keyPackageBytes} are allowed`,
    );
  }
  const reader = openKeyPackageMessage(message);
  const start = reader.position;
  if (reader.uint16() !== mls10) reader.refuse("its version is not MLS 1.0");
  const cipherSuite = reader.uint16();
  const initKey = reader.vector();
  const leaf = readLeafNode(reader);
  const lastResort = readExtensions(reader).includes(lastResortExtension);
  const content = reader.since(start);
  const signature = reader.vector();
  reader.end();
  return {
    cipherSuite,
    initKey,
    encryptionKey: leaf.encryptionKey,
    signatureKey: leaf.signatureKey,
    identity: leaf.identity,
    capabilities: leaf.capabilities,
    notBeforeMs: leaf.notBeforeMs,
    notAfterMs: leaf.notAfterMs,
    lastResort,
    reference: referenceOf(reader.since(start)),
    signed: [leaf.signed, { label: "KeyPackageTBS", content, signature }],
  };
}

/** Whether an Ed25519 signature is valid. Never throws. */
export type VerifySignature = (
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
) => boolean;

/**
 * Section 10.1, as far as it can be checked without a group. Signatures are verified by noble in
 * strict mode, or by something faster that the caller has: members bring one that judges alike, the
 * relay may refuse more.
 */
export function verifyKeyPackage(
  unverified: UnverifiedKeyPackage,
  nowMs: number,
  verify: VerifySignature = verifyWithNoble,
): KeyPackage {
  const { cipherSuite, signatureKey, identity, notBeforeMs, notAfterMs, lastResort, reference } =
    unverified;
  if (!supportedCipherSuites.includes(cipherSuite)) {
    refuse(`cipher suite ${cipherSuite} is not supported`);
  }
  if (!isUsablePublicKey(unverified.initKey) || !isUsablePublicKey(unverified.encryptionKey)) {
    refuse("nobody can encrypt to one of its keys");
  }
  if (equalBytes(unverified.initKey, unverified.encryptionKey)) {
    refuse("init key and encryption key are the same");
  }
  if (signatureKey.length !== 32) refuse("the signature key has the wrong length");
  if (identity.length === 0 || identity.length > limits.identityBytes) {
    refuse(`the identity has ${identity.length} bytes; 1 to ${limits.identityBytes} are allowed`);
  }
  const { versions, cipherSuites, credentials } = unverified.capabilities;
  if (
    !versions.includes(mls10) || !cipherSuites.includes(cipherSuite) ||
    !credentials.includes(basicCredential)
  ) {
    refuse("its capabilities do not cover its own version, suite and credential");
  }
  if (nowMs < notBeforeMs - limits.clockSkewMs) refuse("it is not valid yet; check the clock");
  if (nowMs > notAfterMs + limits.clockSkewMs) refuse("it has expired; make a new one");
  if (notAfterMs - notBeforeMs > limits.keyPackageLifetimeMs) refuse("its lifetime is too long");
  for (const { label, content, signature } of unverified.signed) {
    if (!verify(signatureKey, labelled(`MLS 1.0 ${label}`, content), signature)) {
      refuse("a signature is wrong");
    }
  }
  const agentId = agentIdOf(signatureKey, identity);
  const fields = {
    agentId,
    cipherSuite,
    signatureKey,
    identity,
    notAfterMs,
    lastResort,
    reference,
  };
  return fields as KeyPackage; // cast: the brand is given here and nowhere else
}

/** Whether its leaf can be in a channel. Throws `WireError`. */
export function checkChannelExtensions(
  { capabilities: { extensions } }: UnverifiedKeyPackage,
): void {
  if (requiredExtensions.every((type) => extensions.includes(type))) return;
  refuse("its capabilities do not list the extensions of channels; update the client that made it");
}

interface LeafNode {
  readonly encryptionKey: Uint8Array;
  readonly signatureKey: Uint8Array;
  readonly identity: Uint8Array;
  readonly capabilities: Capabilities;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly signed: SignedPart;
}

/** Section 7.2; in a KeyPackage the leaf's source is always `key_package`. */
function readLeafNode(reader: MlsReader): LeafNode {
  const start = reader.position;
  const encryptionKey = reader.vector();
  const signatureKey = reader.vector();
  if (reader.uint16() !== basicCredential) reader.refuse("its credential is not basic");
  const identity = reader.vector();
  const versions = reader.uint16Vector();
  const cipherSuites = reader.uint16Vector();
  const extensions = reader.uint16Vector();
  reader.uint16Vector(); // proposals
  const credentials = reader.uint16Vector();
  if (reader.uint8() !== leafNodeSourceKeyPackage) {
    reader.refuse("its leaf was not made for a KeyPackage");
  }
  const notBeforeMs = reader.uint64Clamped() * 1000;
  const notAfterMs = reader.uint64Clamped() * 1000;
  readExtensions(reader);
  const content = reader.since(start);
  const signature = reader.vector();
  return {
    encryptionKey,
    signatureKey,
    identity,
    capabilities: { versions, cipherSuites, extensions, credentials },
    notBeforeMs,
    notAfterMs,
    signed: { label: "LeafNodeTBS", content, signature },
  };
}

/** The types of the extensions; their contents do not concern us. */
function readExtensions(reader: MlsReader): number[] {
  const types: number[] = [];
  const extensions = reader.nested();
  while (!extensions.done) {
    types.push(extensions.uint16());
    extensions.vector();
  }
  return types;
}

/** RefHash of section 5.2 with SHA-256, the hash of both supported suites. */
function referenceOf(keyPackage: Uint8Array): Uint8Array {
  return sha256(labelled("MLS 1.0 KeyPackage Reference", keyPackage));
}

/** Strict: no key of small order, no encoding that is not canonical. */
export function verifyWithNoble(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (signature.length !== 64) return false;
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false; // noble throws for a key or signature that is not a point
  }
}

/** A label and a value, each as a vector: what SignWithLabel of section 5.1.2 signs. */
function labelled(label: string, value: Uint8Array): Uint8Array {
  const bytes = utf8ToBytes(label);
  return concatBytes(
    encodeVectorLength(bytes.length),
    bytes,
    encodeVectorLength(value.length),
    value,
  );
}

function refuse(why: string): never {
  throw new WireError("key_package_invalid", `KeyPackage refused: ${why}`);
}
