/**
 * PrivateMessages (RFC 9420 section 6.3): sealing and opening what travels. The bytes of the group
 * context, which every signature covers, are encoded once per epoch and handed in.
 */
import { MlsReader } from "../../proto/mod.ts";
import { ByteWriter, vectorBytes, vectorLengthBytes } from "./byte_writer.ts";
import { label, MlsFault } from "./codec.ts";
import { expandWithLabel } from "./crypto/labelled.ts";
import type { Aead } from "./crypto/suite.ts";
import type { MessageKey, RatchetKind } from "./secret_tree.ts";

export type FramedContentType = "application" | "proposal" | "commit";

const contentTypes: readonly FramedContentType[] = ["application", "proposal", "commit"];
const mls10 = 1;
const privateMessageFormat = 2;
const memberSender = 1;
const versionAndFormat = Uint8Array.of(0, mls10, 0, privateMessageFormat);
const framedContentLabel = label("FramedContentTBS");
const [keyLabel, nonceLabel] = [label("key"), label("nonce")];
const [reuseGuardBytes, senderDataBytes, sampleBytes] = [4, 12, 32];
/** Encoded lengths; a sender is its type and the index of its leaf. */
const [epochBytes, contentTypeBytes, senderBytes] = [8, 1, 5];
const wordBytes = Uint32Array.BYTES_PER_ELEMENT;

/** A PrivateMessage, taken apart but not opened. */
export interface SealedMessage {
  readonly groupId: Uint8Array;
  readonly epoch: bigint;
  readonly contentType: FramedContentType;
  readonly authenticatedData: Uint8Array;
  readonly encryptedSenderData: Uint8Array;
  readonly ciphertext: Uint8Array;
}

/** The part of a message that is signed and hashed: group, epoch, sender and content. */
export interface FramedContent {
  readonly groupId: Uint8Array;
  readonly epoch: bigint;
  readonly sender: number;
  readonly authenticatedData: Uint8Array;
  readonly contentType: FramedContentType;
  /** The encoded application data (as a vector), proposal or commit. */
  readonly content: Uint8Array;
}

export function kindOf(contentType: FramedContentType): RatchetKind {
  return contentType === "application" ? "application" : "handshake";
}

/** An MLSMessage with a PrivateMessage, as bytes. */
export function encodeSealedMessage(message: SealedMessage): Uint8Array {
  const { encryptedSenderData, ciphertext } = message;
  const front = versionAndFormat.length + contentAadBytes(message);
  const writer = new ByteWriter(
    new Uint8Array(front + vectorBytes(encryptedSenderData) + vectorBytes(ciphertext)),
  );
  return writeContentAad(writer.raw(versionAndFormat), message).vector(encryptedSenderData).vector(
    ciphertext,
  ).bytes;
}

/** Throws `WireError` for anything that is not exactly an MLSMessage with a PrivateMessage. */
export function decodeSealedMessage(bytes: Uint8Array): SealedMessage {
  const reader = new MlsReader(bytes, "PrivateMessage");
  if (reader.uint16() !== mls10) reader.refuse("it is not MLS 1.0");
  if (reader.uint16() !== privateMessageFormat) {
    reader.refuse("handshakes and messages are PrivateMessages only");
  }
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

/** FramedContent of section 6. */
function writeFramedContent(writer: ByteWriter, framed: FramedContent): ByteWriter {
  return writer.vector(framed.groupId).uint64(framed.epoch)
    .uint8(memberSender).uint32(framed.sender)
    .vector(framed.authenticatedData)
    .uint8(contentTypes.indexOf(framed.contentType) + 1).raw(framed.content);
}

function framedContentBytes({ groupId, authenticatedData, content }: FramedContent): number {
  return vectorBytes(groupId) + epochBytes + senderBytes + vectorBytes(authenticatedData) +
    contentTypeBytes +
    content.length;
}

/** The bytes that the sender of a PrivateMessage signs: FramedContentTBS, with its label. */
export function contentToSign(framed: FramedContent, groupContext: Uint8Array): Uint8Array {
  const length = versionAndFormat.length + framedContentBytes(framed) + groupContext.length;
  const writer = new ByteWriter(
    new Uint8Array(framedContentLabel.length + vectorLengthBytes(length) + length),
  );
  writer.raw(framedContentLabel).vectorLength(length).raw(versionAndFormat);
  return writeFramedContent(writer, framed).raw(groupContext).bytes;
}

/** The part of a commit that the confirmed transcript hash takes in. */
export function transcriptContent(framed: FramedContent, signature: Uint8Array): Uint8Array {
  const writer = new ByteWriter(
    new Uint8Array(2 + framedContentBytes(framed) + vectorBytes(signature)),
  );
  return writeFramedContent(writer.uint16(privateMessageFormat), framed).vector(signature).bytes;
}

export interface SealingInput {
  readonly aead: Aead;
  readonly senderDataSecret: Uint8Array;
  readonly messageKey: MessageKey;
  /** Four random bytes: even a reused key does not meet the same nonce twice. */
  readonly reuseGuard: Uint8Array;
  /** Signature and, of a commit, the confirmation tag, encoded. */
  readonly auth: Uint8Array;
  readonly paddingBytes: number;
}

/**
 * Seals a message and returns it as `encodeSealedMessage` does. The content is sealed with room
 * before it for everything that precedes it, and the sender data, which take a sample of the
 * ciphertext, are written there.
 */
export function sealMessage(framed: FramedContent, sealing: SealingInput): Uint8Array {
  const { aead, messageKey, reuseGuard, auth, paddingBytes } = sealing;
  const aad = contentAad(framed);
  const sealedSenderBytes = senderDataBytes + aead.tagBytes;
  const ciphertextBytes = framed.content.length + auth.length + paddingBytes + aead.tagBytes;
  const roomBytes = versionAndFormat.length + aad.length + vectorLengthBytes(sealedSenderBytes) +
    sealedSenderBytes +
    vectorLengthBytes(ciphertextBytes);
  const message = aead.sealParts({
    key: messageKey.key,
    nonce: guarded(messageKey.nonce, reuseGuard),
    aad,
    parts: [framed.content, auth],
    paddingBytes,
    roomBytes,
  });
  const { key, nonce } = senderDataKey(aead, sealing.senderDataSecret, message.subarray(roomBytes));
  const senderData = new ByteWriter(new Uint8Array(senderDataBytes)).uint32(framed.sender)
    .uint32(messageKey.generation).raw(reuseGuard).bytes;
  new ByteWriter(message).raw(versionAndFormat).raw(aad)
    .vector(aead.seal(key, nonce, senderDataAad(aad, framed), senderData)).vectorLength(
      ciphertextBytes,
    );
  return message;
}

/** The sender of a message and the key that it used. */
export interface SenderData {
  readonly sender: number;
  readonly generation: number;
  readonly reuseGuard: Uint8Array;
}

/** Throws when the message was not sealed in this epoch. */
export function openSenderData(
  message: SealedMessage,
  aead: Aead,
  senderDataSecret: Uint8Array,
): SenderData {
  const { key, nonce } = senderDataKey(aead, senderDataSecret, message.ciphertext);
  const aad = senderDataAad(contentAad(message), message);
  const bytes = aead.open(key, nonce, aad, message.encryptedSenderData);
  if (bytes.length !== senderDataBytes) throw new MlsFault("Sender data has the wrong length");
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return {
    sender: view.getUint32(0),
    generation: view.getUint32(4),
    reuseGuard: bytes.subarray(8),
  };
}

/**
 * Content, signature, confirmation tag and padding, still encoded. Throws when the message was
 * changed.
 */
export function openContent(
  message: SealedMessage,
  aead: Aead,
  key: MessageKey,
  reuseGuard: Uint8Array,
): Uint8Array {
  return aead.open(
    key.key,
    guarded(key.nonce, reuseGuard),
    contentAad(message),
    message.ciphertext,
  );
}

type FramedHeader = Pick<FramedContent, "groupId" | "epoch" | "contentType" | "authenticatedData">;

/**
 * PrivateContentAAD: what stands before the sender data in a PrivateMessage, as it stands there.
 */
function contentAad(header: FramedHeader): Uint8Array {
  return writeContentAad(new ByteWriter(new Uint8Array(contentAadBytes(header))), header).bytes;
}

function writeContentAad(
  writer: ByteWriter,
  { groupId, epoch, contentType, authenticatedData }: FramedHeader,
): ByteWriter {
  return writer.vector(groupId).uint64(epoch).uint8(contentTypes.indexOf(contentType) + 1).vector(
    authenticatedData,
  );
}

function contentAadBytes({ groupId, authenticatedData }: FramedHeader): number {
  return vectorBytes(groupId) + epochBytes + contentTypeBytes + vectorBytes(authenticatedData);
}

/** SenderDataAAD: the same without the authenticated data. */
function senderDataAad(contentAad: Uint8Array, { authenticatedData }: FramedHeader): Uint8Array {
  return contentAad.subarray(0, contentAad.length - vectorBytes(authenticatedData));
}

/** Application data and signature; what follows must be zeros (section 6.3.1). */
export function readApplicationContent(
  plaintext: Uint8Array,
): { data: Uint8Array; signature: Uint8Array } {
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
  /** The confirmation tag of a commit; empty for a proposal. */
  readonly confirmationTag: Uint8Array;
}

/** `contentBytes` is the length of the proposal or commit at the front, as its decoder found it. */
export function readHandshakeContent(
  plaintext: Uint8Array,
  contentType: FramedContentType,
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
  if (!isZeroFrom(plaintext, reader.position)) reader.refuse("its padding is not zero");
}

/**
 * Most of a message is padding, so it is looked at in words, and byte by byte only before the first
 * and behind the last.
 */
function isZeroFrom(bytes: Uint8Array, from: number): boolean {
  const { buffer, byteOffset, length } = bytes;
  if (length - from < 2 * wordBytes) return bytes.subarray(from).every((byte) => byte === 0);
  const wordsFrom = Math.ceil((byteOffset + from) / wordBytes) * wordBytes - byteOffset;
  const words = new Uint32Array(
    buffer,
    byteOffset + wordsFrom,
    Math.floor((length - wordsFrom) / wordBytes),
  );
  let any = 0;
  for (let at = from; at < wordsFrom; at++) any |= bytes[at] ?? 0;
  for (let i = 0; i < words.length; i++) any |= words[i] ?? 0;
  for (let at = wordsFrom + words.byteLength; at < length; at++) any |= bytes[at] ?? 0;
  return any === 0;
}

function guarded(nonce: Uint8Array, reuseGuard: Uint8Array): Uint8Array {
  const result = nonce.slice();
  for (let i = 0; i < reuseGuardBytes; i++) result[i] = (result[i] ?? 0) ^ (reuseGuard[i] ?? 0);
  return result;
}

/** Section 6.3.2: bound to the ciphertext by a sample of it. */
function senderDataKey(
  aead: Aead,
  secret: Uint8Array,
  ciphertext: Uint8Array,
): { key: Uint8Array; nonce: Uint8Array } {
  const sample = ciphertext.subarray(0, sampleBytes);
  return {
    key: expandWithLabel(secret, keyLabel, sample, aead.keyBytes),
    nonce: expandWithLabel(secret, nonceLabel, sample, aead.nonceBytes),
  };
}
