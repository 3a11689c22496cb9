/**
 * Frames, stream types and settings of HTTP/3 (RFC 9114) and WebTransport over it, as far as one
 * session needs them.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { encodeVarint } from "./byte_source.ts";
import { encodeStatus, type StatusCode } from "./qpack.ts";

export const frameType = {
  data: 0x00,
  headers: 0x01,
  settings: 0x04,
  webTransportStream: 0x41,
} as const;
export const streamType = {
  control: 0x00,
  push: 0x01,
  qpackEncoder: 0x02,
  qpackDecoder: 0x03,
} as const;

/** Application error codes with which an HTTP/3 connection or stream ends. */
export const http3Code = { noError: 0x100, protocolError: 0x101 } as const;

/** Settings that browsers of several drafts want to see before they open a WebTransport session. */
const settings: readonly (readonly [setting: number, value: number])[] = [
  [0x08, 1], // SETTINGS_ENABLE_CONNECT_PROTOCOL, RFC 9220
  [0x33, 1], // SETTINGS_H3_DATAGRAM, RFC 9297
  [0xffd277, 1], // SETTINGS_H3_DATAGRAM, draft 4
  [0x2b603742, 1], // SETTINGS_ENABLE_WEBTRANSPORT, draft 2
  [0xc671706a, 1], // SETTINGS_WEBTRANSPORT_MAX_SESSIONS, draft 7
];

const closeSessionCapsule = 0x2843;
/** The longest text that a close capsule may carry. */
const maxCloseTextBytes = 1_024;

/** The first bytes of our control stream. */
export function encodeControlStream(): Uint8Array<ArrayBuffer> {
  const body = concatBytes(...settings.flatMap((pair) => pair.map(encodeVarint)));
  return concatBytes(encodeVarint(streamType.control), encodeFrame(frameType.settings, body));
}

export function encodeResponse(status: StatusCode): Uint8Array<ArrayBuffer> {
  return encodeFrame(frameType.headers, encodeStatus(status));
}

/** The last bytes of a session's CONNECT stream: what the browser's `closed` resolves with. */
export function encodeCloseSession(code: number, text: string): Uint8Array<ArrayBuffer> {
  const reason = new TextEncoder().encode(text).subarray(0, maxCloseTextBytes);
  const value = new Uint8Array(4 + reason.length);
  new DataView(value.buffer).setUint32(0, code);
  value.set(reason, 4);
  const capsule = concatBytes(encodeVarint(closeSessionCapsule), encodeVarint(value.length), value);
  return encodeFrame(frameType.data, capsule);
}

function encodeFrame(type: number, body: Uint8Array): Uint8Array<ArrayBuffer> {
  return concatBytes(encodeVarint(type), encodeVarint(body.length), body);
}
