/**
 * PrivateMessages (RFC 9420 section 6.3): sealing and opening what travels. The bytes of the group context, which every
 * signature covers, are encoded once per epoch and handed in.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { encodeVectorLength, MlsReader } from "../../proto/mod.ts";
import { label, MlsFault, uint16, uint32, uint64, uint8, vector } from "./codec.ts";
import { expandWithLabel } from "./crypto/labelled.ts";
import type { Aead } from "./crypto/suite.ts";
import type { MessageKey, RatchetKind } from "./secret_tree.ts";

export type ContentType = "application" | "proposal" | "commit";

const contentTypes: readonly ContentType[] = ["application", "proposal", "commit"];
const mls10 = 1;
const privateMessageFormat = 2;
const memberSender = 1;
const versionAndFormat = Uint8Array.of(0, mls10, 0, privateMessageFormat);
const framedContentLabel = label("FramedContentTBS");
const [keyLabel, nonceLabel] = [label("key"), label("nonce")];
const [reuseGuardBytes, senderDataBytes, sampleBytes] = [4, 12, 32];

/** A PrivateMessage, taken apart but not opened. */
export interface SealedMessage {
  readonly groupId: Uint8Array;
  readonly epoch: bigint;
  readonly contentType: ContentType;
  readonly authenticatedData: Uint8Array;
  readonly encryptedSenderData: Uint8Array;
  readonly ciphertext: Uint8Array;
}

/** What everybody signs and hashes of a message: who said what, where. */
export interface FramedContent {
  readonly groupId: Uint8Array;
  readonly epoch: bigint;
  readonly sender: number;
  readonly authenticatedData: Uint8Array;
  readonly contentType: ContentType;
  /** The encoded application data (as a vector), proposal or commit. */
  readonly content: Uint8Array;
}

export function kindOf(contentType: ContentType): RatchetKind {
  return contentType === "application" ? "application" : "handshake";
}

/** An MLSMessage with a PrivateMessage, as bytes. */
export function encodeSealedMessage(message: SealedMessage): Uint8Array {
  return concatBytes(
    versionAndFormat,
    vector(message.groupId),
    uint64(message.epoch),
    uint8(contentTypes.indexOf(message.contentType) + 1),
    vector(message.authenticatedData),
    vector(message.encryptedSenderData),
    vector(message.ciphertext),
  );
}

/** Throws `WireError` for anything that is not exactly an MLSMessage with a PrivateMessage. */
export function decodeSealedMessage(bytes: Uint8Array): SealedMessage {
  const reader = new MlsReader(bytes, "PrivateMessage");
  if (reader.uint16() !== mls10) reader.refuse("it is not MLS 1.0");
  if (reader.uint16() !== privateMessageFormat) reader.refuse("handshakes and messages are PrivateMessages only");
  const message = {
    groupId: reader.vector(),
    epoch: BigInt(reader.uint64()),
    contentType: contentTypes[reader.uint8() - 1] ?? reader.refuse("unknown content type"),
    authenticatedData: reader.vector(),
    encryptedSenderData: reader.vector(),
    ciphertext: reader.vector(),
  };
  reader.end();
  return message;
}

/** FramedContent of section 6, in parts: the content may be long, and it is copied only once. */
function framedContentParts(framed: FramedContent): Uint8Array[] {
  return [
    vector(framed.groupId),
    uint64(framed.epoch),
    senderOf(framed.sender),
    vector(framed.authenticatedData),
    uint8(contentTypes.indexOf(framed.contentType) + 1),
    framed.content,
  ];
}

function senderOf(leafIndex: number): Uint8Array {
  return Uint8Array.of(memberSender, leafIndex >>> 24, leafIndex >>> 16, leafIndex >>> 8, leafIndex);
}

/** What the sender of a PrivateMessage signs: FramedContentTBS, with its label. */
export function contentToSign(framed: FramedContent, groupContext: Uint8Array): Uint8Array {
  const parts = [versionAndFormat, ...framedContentParts(framed), groupContext];
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return concatBytes(framedContentLabel, encodeVectorLength(length), ...parts);
}

/** The part of a commit that the confirmed transcript hash takes in. */
export function transcriptContent(framed: FramedContent, signature: Uint8Array): Uint8Array {
  return concatBytes(uint16(privateMessageFormat), ...framedContentParts(framed), vector(signature));
}

export interface Sealing {
  readonly aead: Aead;
  readonly senderDataSecret: Uint8Array;
  readonly messageKey: MessageKey;
  /** Four random bytes: even a reused key does not meet the same nonce twice. */
  readonly reuseGuard: Uint8Array;
  /** Signature and, of a commit, the confirmation tag, encoded. */
  readonly auth: Uint8Array;
  readonly paddingBytes: number;
}

export function sealMessage(framed: FramedContent, sealing: Sealing): SealedMessage {
  const { aead, messageKey, reuseGuard } = sealing;
  const header = headerOf(framed);
  const plaintext = concatBytes(framed.content, sealing.auth, new Uint8Array(sealing.paddingBytes));
  const ciphertext = aead.seal(
    messageKey.key,
    guarded(messageKey.nonce, reuseGuard),
    concatBytes(header, vector(framed.authenticatedData)),
    plaintext,
  );
  const senderData = concatBytes(uint32(framed.sender), uint32(messageKey.generation), reuseGuard);
  const { key, nonce } = senderDataKey(aead, sealing.senderDataSecret, ciphertext);
  return {
    groupId: framed.groupId,
    epoch: framed.epoch,
    contentType: framed.contentType,
    authenticatedData: framed.authenticatedData,
    encryptedSenderData: aead.seal(key, nonce, header, senderData),
    ciphertext,
  };
}

/** Who sent a message and with which key. */
export interface SenderData {
  readonly sender: number;
  readonly generation: number;
  readonly reuseGuard: Uint8Array;
}

/** Throws when the message was not sealed in this epoch. */
export function openSenderData(message: SealedMessage, aead: Aead, senderDataSecret: Uint8Array): SenderData {
  const { key, nonce } = senderDataKey(aead, senderDataSecret, message.ciphertext);
  const bytes = aead.open(key, nonce, headerOf(message), message.encryptedSenderData);
  if (bytes.length !== senderDataBytes) throw new MlsFault("Sender data has the wrong length");
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return { sender: view.getUint32(0), generation: view.getUint32(4), reuseGuard: bytes.subarray(8) };
}

/** Content, signature, confirmation tag and padding, still encoded. Throws when the message was changed. */
export function openContent(message: SealedMessage, aead: Aead, key: MessageKey, reuseGuard: Uint8Array): Uint8Array {
  const aad = concatBytes(headerOf(message), vector(message.authenticatedData));
  return aead.open(key.key, guarded(key.nonce, reuseGuard), aad, message.ciphertext);
}

function headerOf(
  { groupId, epoch, contentType }: Pick<FramedContent, "groupId" | "epoch" | "contentType">,
): Uint8Array {
  return concatBytes(vector(groupId), uint64(epoch), uint8(contentTypes.indexOf(contentType) + 1));
}

/** Application data and signature; what follows must be zeros (section 6.3.1). */
export function readApplicationContent(plaintext: Uint8Array): { data: Uint8Array; signature: Uint8Array } {
  const reader = new MlsReader(plaintext, "application message");
  const data = reader.vector();
  const signature = reader.vector();
  checkPadding(reader, plaintext);
  return { data, signature };
}

export interface HandshakeContent {
  /** The encoded proposal or commit. */
  readonly content: Uint8Array;
  readonly signature: Uint8Array;
  /** Of a commit. */
  readonly confirmationTag: Uint8Array;
}

/** `contentBytes` is the length of the proposal or commit at the front, as its decoder found it. */
export function readHandshakeContent(
  plaintext: Uint8Array,
  contentType: ContentType,
  contentBytes: number,
): HandshakeContent {
  const reader = new MlsReader(plaintext, contentType);
  const content = reader.take(contentBytes);
  const signature = reader.vector();
  const confirmationTag = contentType === "commit" ? reader.vector() : new Uint8Array(0);
  checkPadding(reader, plaintext);
  return { content, signature, confirmationTag };
}

function checkPadding(reader: MlsReader, plaintext: Uint8Array): void {
  for (let at = reader.position; at < plaintext.length; at++) {
    if (plaintext[at] !== 0) reader.refuse("its padding is not zero");
  }
}

function guarded(nonce: Uint8Array, reuseGuard: Uint8Array): Uint8Array {
  const result = nonce.slice();
  for (let i = 0; i < reuseGuardBytes; i++) result[i] = (result[i] ?? 0) ^ (reuseGuard[i] ?? 0);
  return result;
}

/** Section 6.3.2: bound to the ciphertext by a sample of it. */
function senderDataKey(aead: Aead, secret: Uint8Array, ciphertext: Uint8Array): { key: Uint8Array; nonce: Uint8Array } {
  const sample = ciphertext.subarray(0, sampleBytes);
  return {
    key: expandWithLabel(secret, keyLabel, sample, aead.keyBytes),
    nonce: expandWithLabel(secret, nonceLabel, sample, aead.nonceBytes),
  };
}
