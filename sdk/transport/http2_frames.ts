/** Frames of HTTP/2, each as bytes of its own (RFC 9113 §6). */
import {
  frameHeaderBytes,
  FrameType,
  settingBytes,
  writeFrameHead,
  writeUint32,
} from "../../proto/http2/mod.ts";

const nothing = new Uint8Array(0);

export function encodeFrame(
  type: number,
  flags: number,
  id: number,
  payload: Uint8Array = nothing,
): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(frameHeaderBytes + payload.length);
  frame.set(
    payload,
    writeFrameHead(frame, 0, { length: payload.length, type, flags, streamId: id }),
  );
  return frame;
}

/** In as few frames as the other side takes. */
export function encodeData(
  id: number,
  bytes: Uint8Array,
  maxFrameBytes: number,
): Uint8Array<ArrayBuffer> {
  const frames = new Uint8Array(
    bytes.length + Math.ceil(bytes.length / maxFrameBytes) * frameHeaderBytes,
  );
  for (let [from, at] = [0, 0]; from < bytes.length;) {
    const part = bytes.subarray(from, from + maxFrameBytes);
    const start = writeFrameHead(frames, at, {
      length: part.length,
      type: FrameType.data,
      flags: 0,
      streamId: id,
    });
    frames.set(part, start);
    [from, at] = [from + part.length, start + part.length];
  }
  return frames;
}

/** Encodes settings with numbers below 256, as all are that exist. */
export function encodeSettings(
  entries: readonly (readonly [id: number, value: number])[],
): Uint8Array {
  const payload = new Uint8Array(entries.length * settingBytes);
  for (const [i, [id, value]] of entries.entries()) {
    payload[i * settingBytes + 1] = id;
    writeUint32(payload, i * settingBytes + 2, value);
  }
  return encodeFrame(FrameType.settings, 0, 0, payload);
}

export function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  writeUint32(bytes, 0, value);
  return bytes;
}
