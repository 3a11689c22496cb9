/**
 * Frames as a client writes them, made without the code under test, so that a shared mistake cannot
 * hide.
 */

export const preface = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** Codes of RFC 9113 §7 by their names there. */
export const code = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  SETTINGS_TIMEOUT: 4,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  ENHANCE_YOUR_CALM: 11,
} as const;

export const type = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;

export const flag = { ACK: 1, END_STREAM: 1, END_HEADERS: 4, PADDED: 8, PRIORITY: 32 } as const;

export type Bytes = Uint8Array<ArrayBuffer>;

export interface WireFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Uint8Array;
}

export function concat(...parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function bytes(...values: number[]): Bytes {
  return new Uint8Array(values);
}

export function uint32(value: number): Bytes {
  return bytes(value >>> 24, value >>> 16, value >>> 8, value);
}

export function frame(
  frameType: number,
  flags: number,
  streamId: number,
  payload: Uint8Array = bytes(),
): Bytes {
  const { length } = payload;
  return concat(
    bytes(length >> 16, length >> 8, length, frameType, flags),
    uint32(streamId),
    payload,
  );
}

export const data = (id: number, payload: Uint8Array, flags = 0): Bytes =>
  frame(type.DATA, flags, id, payload);
export const headers = (
  id: number,
  block: Uint8Array,
  flags: number = flag.END_HEADERS | flag.END_STREAM,
): Bytes => frame(type.HEADERS, flags, id, block);
export const continuation = (id: number, block: Uint8Array, flags = 0): Bytes =>
  frame(type.CONTINUATION, flags, id, block);
export const rstStream = (id: number, error: number): Bytes =>
  frame(type.RST_STREAM, 0, id, uint32(error));
export const windowUpdate = (id: number, increment: number): Bytes =>
  frame(type.WINDOW_UPDATE, 0, id, uint32(increment));
export const priority = (id: number, dependsOn: number): Bytes =>
  frame(type.PRIORITY, 0, id, concat(uint32(dependsOn), bytes(15)));
export const ping = (payload: Uint8Array, flags = 0): Bytes => frame(type.PING, flags, 0, payload);
export const goaway = (last: number, error: number): Bytes =>
  frame(type.GOAWAY, 0, 0, concat(uint32(last), uint32(error)));
export const settingsAck: Bytes = frame(type.SETTINGS, flag.ACK, 0);

export function settings(...entries: readonly (readonly [id: number, value: number])[]): Bytes {
  return frame(
    type.SETTINGS,
    0,
    0,
    concat(...entries.map(([id, value]) => concat(bytes(id >> 8, id), uint32(value)))),
  );
}

/**
 * A header block of literals without indexing and without Huffman: readable, and it leaves no table
 * state.
 */
export function block(...fields: readonly (readonly [name: string, value: string])[]): Bytes {
  return concat(...fields.map(([name, value]) => concat(bytes(0), string(name), string(value))));
}

export const getFields: readonly (readonly [string, string])[] = [
  [":method", "GET"],
  [":scheme", "https"],
  [":path", "/"],
  [":authority", "localhost"],
];
export const getBlock: Bytes = block(...getFields);
export const postFields: readonly (readonly [string, string])[] = [
  [":method", "POST"],
  ...getFields.slice(1),
];
export const postBlock: Bytes = block(...postFields);

/** Every whole frame in `stream`, and what is left of a cut one. */
export function parseFrames(stream: Uint8Array): { frames: WireFrame[]; rest: Uint8Array } {
  const frames: WireFrame[] = [];
  let at = 0;
  while (stream.length - at >= 9) {
    const view = new DataView(stream.buffer, stream.byteOffset + at, 9);
    const end = at + 9 + (view.getUint16(0) << 8 | view.getUint8(2));
    if (end > stream.length) break;
    frames.push({
      type: view.getUint8(3),
      flags: view.getUint8(4),
      streamId: view.getUint32(5),
      payload: stream.slice(at + 9, end),
    });
    at = end;
  }
  return { frames, rest: stream.slice(at) };
}

/** A frame as a short line, for comparing whole conversations: `RST_STREAM 1 REFUSED_STREAM`. */
export function describe({ type: frameType, flags, streamId, payload }: WireFrame): string {
  const name = Object.entries(type).find(([, value]) => value === frameType)?.[0] ??
    `type ${frameType}`;
  const end = (flags & flag.END_STREAM) !== 0 ? " END_STREAM" : "";
  switch (frameType) {
    case type.DATA:
      return `${name} ${streamId} ${payload.length}${end}`;
    case type.HEADERS:
      return `${name} ${streamId}${end}`;
    case type.RST_STREAM:
      return `${name} ${streamId} ${codeName(readUint32(payload, 0))}`;
    case type.GOAWAY:
      return `${name} ${readUint32(payload, 0)} ${codeName(readUint32(payload, 4))}`;
    case type.WINDOW_UPDATE:
      return `${name} ${streamId} ${readUint32(payload, 0)}`;
    case type.SETTINGS:
    case type.PING:
      return (flags & flag.ACK) !== 0 ? `${name} ACK` : name;
    default:
      return `${name} ${streamId}`;
  }
}

export function readUint32(from: Uint8Array, at: number): number {
  return new DataView(from.buffer, from.byteOffset, from.byteLength).getUint32(at);
}

function codeName(value: number): string {
  return Object.entries(code).find(([, other]) => other === value)?.[0] ?? String(value);
}

function string(text: string): Bytes {
  const encoded = Uint8Array.from(text, (character) => character.charCodeAt(0));
  return concat(integer(encoded.length, 7), encoded);
}

function integer(value: number, prefixBits: number): Bytes {
  const mask = (1 << prefixBits) - 1;
  if (value < mask) return bytes(value);
  const out = [mask];
  let rest = value - mask;
  for (; rest >= 128; rest >>= 7) out.push(rest & 127 | 128);
  return bytes(...out, rest);
}
