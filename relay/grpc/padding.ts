/**
 * Fills typed replies and deliveries up to whole cells, so that their sizes tell no more than those
 * of cell sessions do.
 */
import { type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";

/** Field 15 has a tag of one byte in front of its length. */
const tagBytes = 1;

/** The message with its `padding` field set so that its encoding is a multiple of `cellBytes`. */
export function padMessage<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  cellBytes: number,
): MessageShape<Desc> {
  const fill = fillFor(toBinary(schema, message).length, cellBytes);
  return fill === 0 ? message : Object.assign(message, { padding: new Uint8Array(fill) });
}

function fillFor(bytes: number, cellBytes: number): number {
  if (bytes > 0 && bytes % cellBytes === 0) return 0;
  for (let target = Math.ceil(Math.max(bytes, 1) / cellBytes) * cellBytes;; target += cellBytes) {
    for (const lengthBytes of [1, 2, 3]) {
      const fill = target - bytes - tagBytes - lengthBytes;
      if (fill > 0 && varintBytes(fill) === lengthBytes) return fill;
    }
  }
}

function varintBytes(value: number): number {
  return value < 2 ** 7 ? 1 : value < 2 ** 14 ? 2 : 3;
}
