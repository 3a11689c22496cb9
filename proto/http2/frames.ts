/** Names of what is on the wire (RFC 9113 §§ 4, 6): frame types, flags, sizes, and the settings. */

export const FrameType = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  rstStream: 0x3,
  settings: 0x4,
  pushPromise: 0x5,
  ping: 0x6,
  goaway: 0x7,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const;

export const Flag = {
  /** SETTINGS and PING. */
  ack: 0x1,
  /** DATA and HEADERS. */
  endStream: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const;

export const Setting = {
  headerTableSize: 0x1,
  enablePush: 0x2,
  maxConcurrentStreams: 0x3,
  initialWindowSize: 0x4,
  maxFrameSize: 0x5,
  maxHeaderListSize: 0x6,
  /** RFC 9218 §2.1. */
  noRfc7540Priorities: 0x9,
} as const;

export const clientPreface: Uint8Array = new TextEncoder().encode(
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
);

export const frameHeaderBytes = 9;
/** The value of SETTINGS_MAX_FRAME_SIZE that neither side may go below; we never announce more. */
export const defaultMaxFrameBytes = 16_384;
export const largestMaxFrameBytes = 16_777_215;
export const defaultWindowBytes = 65_535;
export const largestWindowBytes = 2 ** 31 - 1;
export const largestStreamId = 2 ** 31 - 1;

export function readUint32(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 24 | (bytes[at + 1] ?? 0) << 16 | (bytes[at + 2] ?? 0) << 8 |
    (bytes[at + 3] ?? 0)) >>> 0;
}

export function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

export interface FrameHead {
  /** Of the payload. */
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
}

/** Returns where the payload goes. */
export function writeFrameHead(
  bytes: Uint8Array,
  at: number,
  { length, type, flags, streamId }: FrameHead,
): number {
  bytes[at] = length >> 16;
  bytes[at + 1] = length >> 8;
  bytes[at + 2] = length;
  bytes[at + 3] = type;
  bytes[at + 4] = flags;
  writeUint32(bytes, at + 5, streamId);
  return at + frameHeaderBytes;
}

/** A 31-bit number; the reserved first bit is ignored on receipt (§4.1). */
export function readUint31(bytes: Uint8Array, at: number): number {
  return readUint32(bytes, at) & 0x7fffffff;
}
