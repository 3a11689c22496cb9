/**
 * HTTP/2 on the wire (RFC 9113), for both of its ends: frames, header compression (RFC 7541), and
 * the mistakes of a peer.
 */
export { ConnectionError, ErrorCode, errorCodeName } from "./errors.ts";
export {
  connectionSpecificNames,
  createField,
  type Field,
  FieldKind,
  type HeaderPairs,
  isWellFormed,
} from "./field.ts";
export { type Frame, FrameReader, unpad } from "./frame_reader.ts";
export {
  clientPreface,
  defaultMaxFrameBytes,
  defaultWindowBytes,
  Flag,
  frameHeaderBytes,
  FrameType,
  largestStreamId,
  largestWindowBytes,
  readUint31,
  readUint32,
  Setting,
  writeFrameHead,
  writeUint32,
} from "./frames.ts";
export { checkBlockBytes, HeaderBlock } from "./header_block.ts";
export { type FieldList, HpackDecoder } from "./hpack/decoder.ts";
export { HpackEncoder } from "./hpack/encoder.ts";
export { huffmanDecode } from "./hpack/huffman.ts";
export { readSettings, settingBytes } from "./settings.ts";
