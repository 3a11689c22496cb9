/** The settings that a peer's frame changes (RFC 9113 §6.5). */
import { ConnectionError, ErrorCode } from "./errors.ts";
import {
  defaultMaxFrameBytes,
  largestMaxFrameBytes,
  largestWindowBytes,
  readUint32,
  Setting,
} from "./frames.ts";

export const settingBytes = 6;

/**
 * Calls back for each setting in order (§6.5.3), after its value was found allowed (§6.5.2);
 * unknown ones are ignored.
 */
export function readSettings(
  frame: { bytes: Uint8Array; start: number; end: number },
  apply: (id: number, value: number) => void,
): void {
  for (let at = frame.start; at < frame.end; at += settingBytes) {
    const id = (frame.bytes[at] ?? 0) << 8 | (frame.bytes[at + 1] ?? 0);
    const value = readUint32(frame.bytes, at + 2);
    checkSetting(id, value);
    apply(id, value);
  }
}

function checkSetting(id: number, value: number): void {
  switch (id) {
    case Setting.enablePush:
    case Setting.noRfc7540Priorities:
      if (value > 1) {
        throw new ConnectionError(
          ErrorCode.protocolError,
          `Setting ${id} must be 0 or 1, not ${value}`,
        );
      }
      return;
    case Setting.initialWindowSize:
      if (value > largestWindowBytes) {
        throw new ConnectionError(
          ErrorCode.flowControlError,
          `An initial window of ${value} bytes is above 2^31-1`,
        );
      }
      return;
    case Setting.maxFrameSize:
      if (value < defaultMaxFrameBytes || value > largestMaxFrameBytes) {
        throw new ConnectionError(
          ErrorCode.protocolError,
          `A maximum frame size of ${value} is not allowed`,
        );
      }
      return;
  }
}
