/** The error codes of RFC 9113 §7, and the mistake of a peer that ends its connection. */

export const ErrorCode = {
  noError: 0x0,
  protocolError: 0x1,
  internalError: 0x2,
  flowControlError: 0x3,
  settingsTimeout: 0x4,
  streamClosed: 0x5,
  frameSizeError: 0x6,
  refusedStream: 0x7,
  cancel: 0x8,
  compressionError: 0x9,
  connectError: 0xa,
  enhanceYourCalm: 0xb,
  inadequateSecurity: 0xc,
  http11Required: 0xd,
} as const;

const names = new Map<number, string>(
  Object.entries(ErrorCode).map(([name, code]) => [code, name]),
);

/** A code as text; unknown codes are allowed on the wire and carry no special meaning. */
export function errorCodeName(code: number): string {
  return names.get(code) ?? `code ${code}`;
}

/**
 * The peer broke the connection's state: a GOAWAY with this code and text is the last frame it
 * gets.
 */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
