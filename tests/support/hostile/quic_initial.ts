/**
 * The first packet of a QUIC connection (RFC 9000 section 17.2.2), opened and sealed. Its keys
 * follow from the connection id that the client chose (RFC 9001 section 5.2), so anybody can do
 * both.
 */
import { concatBytes as concat } from "@noble/hashes/utils.js";
import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";

export interface Initial {
  /** The destination's, as the client chose it. */
  readonly connectionId: Uint8Array;
  /** The first byte without its protection. */
  readonly first: number;
  readonly version: Uint8Array;
  /** The source's connection id and the token, with their lengths. */
  readonly rest: Uint8Array;
  readonly packetNumber: Uint8Array;
  readonly frames: Uint8Array;
}

const salt = Uint8Array.fromHex("38762cf7f55934b34d179ae6a4c80cadccbb7f0a");
const tagBytes = 16;
const sampleBytes = 16;

export function openInitial(packet: Uint8Array): Initial {
  const version = packet.slice(1, 5);
  const connectionId = packet.slice(6, 6 + (packet[5] ?? 0));
  const restAt = 6 + connectionId.length;
  const tokenAt = restAt + 1 + (packet[restAt] ?? 0);
  const [tokenBytes, afterTokenLength] = readVarint(packet, tokenAt);
  const lengthAt = afterTokenLength + tokenBytes;
  const [length, numberAt] = readVarint(packet, lengthAt);
  const { key, iv, hp } = keysOf(connectionId);
  const mask = maskOf(hp, packet.subarray(numberAt + 4, numberAt + 4 + sampleBytes));
  const first = (packet[0] ?? 0) ^ (mask[0] ?? 0) & 0x0f;
  const packetNumber = packet.slice(numberAt, numberAt + (first & 3) + 1).map((byte, i) =>
    byte ^ (mask[i + 1] ?? 0)
  );
  const header = concat(Uint8Array.of(first), packet.subarray(1, numberAt), packetNumber);
  const sealed = packet.subarray(numberAt + packetNumber.length, numberAt + length);
  const decipher = createDecipheriv("aes-128-gcm", key, nonceOf(iv, packetNumber));
  decipher.setAAD(header).setAuthTag(sealed.subarray(-tagBytes));
  const frames = concat(decipher.update(sealed.subarray(0, -tagBytes)), decipher.final());
  return {
    connectionId,
    first,
    version,
    rest: packet.slice(restAt, lengthAt),
    packetNumber,
    frames,
  };
}

export function sealInitial(
  { connectionId, first, version, rest, packetNumber, frames }: Initial,
): Uint8Array {
  const { key, iv, hp } = keysOf(connectionId);
  const length = packetNumber.length + frames.length + tagBytes;
  const lengthBytes = Uint8Array.of(0x40 | length >> 8, length & 0xff);
  const idLength = Uint8Array.of(connectionId.length);
  const header = concat(
    Uint8Array.of(first),
    version,
    idLength,
    connectionId,
    rest,
    lengthBytes,
    packetNumber,
  );
  const cipher = createCipheriv("aes-128-gcm", key, nonceOf(iv, packetNumber));
  cipher.setAAD(header);
  const packet = concat(header, cipher.update(frames), cipher.final(), cipher.getAuthTag());
  const numberAt = header.length - packetNumber.length;
  const mask = maskOf(hp, packet.subarray(numberAt + 4, numberAt + 4 + sampleBytes));
  packet[0] = first ^ (mask[0] ?? 0) & 0x0f;
  packetNumber.forEach((byte, i) => packet[numberAt + i] = byte ^ (mask[i + 1] ?? 0));
  return packet;
}

function keysOf(
  connectionId: Uint8Array,
): { readonly key: Uint8Array; readonly iv: Uint8Array; readonly hp: Uint8Array } {
  const secret = expand(hmac(salt, connectionId), "client in", 32);
  return {
    key: expand(secret, "quic key", 16),
    iv: expand(secret, "quic iv", 12),
    hp: expand(secret, "quic hp", 16),
  };
}

/** HKDF-Expand-Label without context, for up to 32 bytes. */
function expand(secret: Uint8Array, label: string, length: number): Uint8Array {
  const full = new TextEncoder().encode(`tls13 ${label}`);
  return hmac(secret, concat(Uint8Array.of(0, length, full.length), full, Uint8Array.of(0, 1)))
    .subarray(0, length);
}

function hmac(key: Uint8Array, content: Uint8Array): Uint8Array {
  return new Uint8Array(createHmac("sha256", key).update(content).digest());
}

function maskOf(key: Uint8Array, sample: Uint8Array): Uint8Array {
  return new Uint8Array(createCipheriv("aes-128-ecb", key, null).update(sample));
}

function nonceOf(iv: Uint8Array, packetNumber: Uint8Array): Uint8Array {
  const offset = iv.length - packetNumber.length;
  return iv.map((byte, i) => byte ^ (packetNumber[i - offset] ?? 0));
}

/** The number, and where it ends. */
function readVarint(bytes: Uint8Array, at: number): [number, number] {
  const size = 1 << ((bytes[at] ?? 0) >> 6);
  let value = (bytes[at] ?? 0) & 0x3f;
  for (let i = 1; i < size; i++) value = value * 256 + (bytes[at + i] ?? 0);
  return [value, at + size];
}
