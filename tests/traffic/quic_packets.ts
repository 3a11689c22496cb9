/**
 * Opens captured QUIC packets with the client's own key log, to see what an observer cannot: which
 * bytes are of the stream and which are QUIC's own (RFC 9000, 9001). Only 1-RTT packets; what does
 * not open is not ours or is of the handshake.
 */
import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";

/** The content of one captured datagram. */
export interface OpenedDatagram {
  /** Bytes of the stream that were not sent before. */
  readonly streamBytes: number;
  /** Names of the other frames. */
  readonly control: readonly string[];
}

export interface Keys {
  readonly aead: "aes-128-gcm" | "aes-256-gcm";
  readonly key: Uint8Array;
  readonly iv: Uint8Array;
  readonly headerKey: Uint8Array;
  /** The key phase bit of packets that these keys protect. */
  readonly phase: number;
  /** The keys after an update, whose header key stays (RFC 9001, section 6). */
  readonly next: () => Keys;
}

const connectionIdBytes = 8;
const tagBytes = 16;
const keyPhaseBit = 4;
/**
 * Sizes that path discovery may settle on; a capture on loopback shows several packets of one size
 * as one.
 */
const mostPacketBytes = 1_500;
const leastPacketBytes = 1_200;

/** One direction of one connection. */
export class QuicOpener {
  readonly #candidates: readonly Keys[];
  #keys: Keys | undefined;
  /**
   * Those before an update: packets from before it may come after the first that is from after it.
   */
  #earlier: Keys | undefined;
  #packetBytes: number[] = [];
  #largest = -1;
  #streamEnd = 0;
  /** Bytes before the stream's end that have not come yet. */
  #gaps: Span[] = [];

  constructor(candidates: readonly Keys[]) {
    this.#candidates = candidates;
  }

  /** Undefined for handshake packets. Throws for a 1-RTT packet that no key opens. */
  open(datagram: Uint8Array): OpenedDatagram | undefined {
    let [streamBytes, at] = [0, 0];
    const control: string[] = [];
    while (at < datagram.length) {
      // Long header: handshake. The fixed bit says nothing, it is greased (RFC 9287).
      if (((datagram[at] ?? 0) & 0x80) !== 0) return undefined;
      const { payload, bytes } = this.#openPacket(datagram.subarray(at));
      for (const frame of readFrames(payload)) {
        if (frame.name !== "STREAM") control.push(frame.name);
        streamBytes += this.#newBytes(frame);
      }
      at += bytes;
    }
    return { streamBytes, control };
  }

  #newBytes({ start, end }: Span): number {
    let bytes = 0;
    this.#gaps = this.#gaps.flatMap((gap) => {
      const [from, to] = [Math.max(gap.start, start), Math.min(gap.end, end)];
      if (from >= to) return [gap];
      bytes += to - from;
      const left = [{ start: gap.start, end: from }, { start: to, end: gap.end }];
      return left.filter((each) => each.start < each.end);
    });
    if (start > this.#streamEnd) this.#gaps.push({ start: this.#streamEnd, end: start });
    bytes += Math.max(0, end - Math.max(start, this.#streamEnd));
    this.#streamEnd = Math.max(this.#streamEnd, end);
    return bytes;
  }

  #openPacket(rest: Uint8Array): { payload: Uint8Array; bytes: number } {
    for (const keys of this.#keys === undefined ? this.#candidates : [this.#keys]) {
      for (const bytes of this.#lengths(rest.length)) {
        const payload = this.#tryPacket(rest.subarray(0, bytes), keys);
        if (payload === undefined) continue;
        this.#keys ??= keys;
        if (bytes < rest.length) {
          this.#packetBytes = [
            bytes,
            ...this.#packetBytes.filter((known) => known !== bytes),
          ];
        }
        return { payload, bytes };
      }
    }
    throw new Error(`A QUIC packet in ${rest.length} bytes does not open with any key`);
  }

  *#lengths(rest: number): Generator<number> {
    if (rest <= mostPacketBytes) yield rest;
    for (const known of this.#packetBytes) if (known < rest) yield known;
    for (let bytes = Math.min(rest - 1, mostPacketBytes); bytes >= leastPacketBytes; bytes--) {
      yield bytes;
    }
  }

  #tryPacket(packet: Uint8Array, known: Keys): Uint8Array | undefined {
    const { headerKey, aead } = known;
    const numberAt = 1 + connectionIdBytes;
    if (packet.length < numberAt + 4 + tagBytes) return undefined;
    const ecb = createCipheriv(
      aead === "aes-128-gcm" ? "aes-128-ecb" : "aes-256-ecb",
      headerKey,
      null,
    );
    const mask = ecb.update(packet.subarray(numberAt + 4, numberAt + 20));
    const first = (packet[0] ?? 0) ^ ((mask[0] ?? 0) & 0x1f);
    const numberBytes = (first & 3) + 1;
    const header = packet.slice(0, numberAt + numberBytes);
    header[0] = first;
    let truncated = 0;
    for (let i = 0; i < numberBytes; i++) {
      const byte = (packet[numberAt + i] ?? 0) ^ (mask[1 + i] ?? 0);
      header[numberAt + i] = byte;
      truncated = truncated * 256 + byte;
    }
    const number = this.#fullNumber(truncated, 2 ** (8 * numberBytes));
    const sealed = { header, number, body: packet.subarray(header.length) };
    const others = (): (Keys | undefined)[] => [known.next(), this.#earlier];
    for (const keys of (first & keyPhaseBit) === known.phase ? [known] : others()) {
      const payload = keys && openWith(keys, sealed);
      if (payload === undefined) continue;
      if (keys !== known && keys !== this.#earlier) [this.#keys, this.#earlier] = [keys, known];
      this.#largest = Math.max(this.#largest, number);
      return payload;
    }
    return undefined;
  }

  /** RFC 9000, appendix A.3. */
  #fullNumber(truncated: number, window: number): number {
    const expected = this.#largest + 1;
    let number = expected - (expected % window) + truncated;
    if (number <= expected - window / 2) number += window;
    else if (number > expected + window / 2 && number >= window) number -= window;
    return number;
  }
}

interface Sealed {
  readonly header: Uint8Array;
  readonly number: number;
  /** With its tag. */
  readonly body: Uint8Array;
}

function openWith(
  { aead, key, iv }: Keys,
  { header, number, body }: Sealed,
): Uint8Array | undefined {
  const nonce = iv.slice();
  new DataView(nonce.buffer).setUint32(8, new DataView(nonce.buffer).getUint32(8) ^ number);
  const open = createDecipheriv(aead, key, nonce);
  open.setAAD(header);
  open.setAuthTag(body.subarray(body.length - tagBytes));
  try {
    // All of it comes from `update`: these are stream ciphers. `final` checks the tag.
    const payload = open.update(body.subarray(0, body.length - tagBytes));
    open.final();
    return payload;
  } catch {
    return undefined;
  }
}

/** Keys of all connections in a key log, by direction. */
export function readKeyLog(text: string): { client: Keys[]; relay: Keys[] } {
  const secrets = (label: string): Keys[] =>
    Array.from(
      text.matchAll(new RegExp(`^${label}_TRAFFIC_SECRET_0 \\w+ (\\w+)$`, "gm")),
      ([, hex = ""]) => {
        return deriveKeys(Uint8Array.fromHex(hex));
      },
    );
  return { client: secrets("CLIENT"), relay: secrets("SERVER") };
}

function deriveKeys(secret: Uint8Array, earlier?: Keys): Keys {
  const wide = secret.length === 48;
  const expand = (label: string, bytes: number): Uint8Array => {
    const name = new TextEncoder().encode(`tls13 ${label}`);
    const info = Uint8Array.of(0, bytes, name.length, ...name, 0);
    return expandHkdf(wide ? "sha384" : "sha256", secret, info).slice(0, bytes);
  };
  const keyBytes = wide ? 32 : 16;
  const keys: Keys = {
    aead: wide ? "aes-256-gcm" : "aes-128-gcm",
    key: expand("quic key", keyBytes),
    iv: expand("quic iv", 12),
    headerKey: earlier?.headerKey ?? expand("quic hp", keyBytes),
    phase: earlier?.phase === 0 ? keyPhaseBit : 0,
    next: () => deriveKeys(expand("quic ku", secret.length), keys),
  };
  return keys;
}

/** HKDF-Expand of at most one block: HMAC(secret, info ‖ 1). */
function expandHkdf(hash: string, secret: Uint8Array, info: Uint8Array): Uint8Array {
  return new Uint8Array(createHmac(hash, secret).update(info).update(Uint8Array.of(1)).digest());
}

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Frame extends Span {
  readonly name: string;
}

const names: Readonly<Record<number, string>> = {
  1: "PING",
  2: "ACK",
  3: "ACK",
  0x10: "MAX_DATA",
  0x11: "MAX_STREAM_DATA",
  0x18: "NEW_CONNECTION_ID",
  0x19: "RETIRE_CONNECTION_ID",
  0x1e: "HANDSHAKE_DONE",
  0x1f: "IMMEDIATE_ACK",
};

function* readFrames(payload: Uint8Array): Generator<Frame> {
  const reader = new FrameReader(payload);
  while (!reader.done) {
    const type = reader.integer();
    if (type >= 8 && type <= 15) {
      yield { name: "STREAM", ...reader.stream(type) };
      continue;
    }
    if (type !== 0) yield { name: names[type] ?? `0x${type.toString(16)}`, start: 0, end: 0 };
    reader.skip(type);
  }
}

class FrameReader {
  #at = 0;
  constructor(readonly bytes: Uint8Array) {}

  get done(): boolean {
    return this.#at >= this.bytes.length;
  }

  integer(): number {
    const first = this.bytes[this.#at] ?? 0;
    const length = 1 << (first >> 6);
    let value = first & 0x3f;
    for (let i = 1; i < length; i++) value = value * 256 + (this.bytes[this.#at + i] ?? 0);
    this.#at += length;
    return value;
  }

  stream(type: number): { start: number; end: number } {
    this.integer();
    const start = (type & 4) === 0 ? 0 : this.integer();
    const length = (type & 2) === 0 ? this.bytes.length - this.#at : this.integer();
    this.#at += length;
    return { start, end: start + length };
  }

  skip(type: number): void {
    switch (type) {
      case 2:
      case 3:
        return this.#skipAck(type);
      case 0x06:
        this.integer();
        return this.#skipBytes();
      case 0x07:
        return this.#skipBytes();
      case 0x11:
      case 0x15:
        this.integer();
        this.integer();
        return;
      case 0x10:
      case 0x12:
      case 0x13:
      case 0x14:
      case 0x16:
      case 0x17:
      case 0x19:
        this.integer();
        return;
      case 0x18:
        this.integer();
        this.integer();
        this.#skipBytes(1);
        this.#at += 16;
        return;
      case 0:
      case 1:
      case 0x1e:
      case 0x1f:
        return;
      default:
        this.#at = this.bytes.length;
    }
  }

  #skipAck(type: number): void {
    this.integer();
    this.integer();
    const ranges = this.integer();
    for (let i = 0; i < 1 + 2 * ranges + (type === 3 ? 3 : 0); i++) this.integer();
  }

  #skipBytes(lengthBytes?: number): void {
    const length = lengthBytes === undefined ? this.integer() : this.bytes[this.#at++] ?? 0;
    this.#at += length;
  }
}
