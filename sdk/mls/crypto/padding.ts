/**
 * MLS padding in steps of cells: a message is filled up so that its envelope takes a whole number
 * of cells, and the relay learns only that number. The zeros are inside the encryption.
 */
import { envelopeCapacity, maxMessageEnvelopeOverhead } from "../../../proto/mod.ts";

/**
 * PrivateMessage around its plaintext: version and wire format (4), group id (17), epoch (8),
 * content type (1), authenticated data of a message (83), sender data (29), length of the
 * ciphertext (4), tag (16).
 */
const framingBytes = 4 + 17 + 8 + 1 + 83 + 29 + 4 + 16;

/** For `MemberDeps.padding`. */
export function createCellPadding(cellBytes: number): (contentBytes: number) => number {
  const around = framingBytes + maxMessageEnvelopeOverhead;
  return (contentBytes) => {
    let cells = 1;
    while (envelopeCapacity(cells, cellBytes) < contentBytes + around) cells++;
    return envelopeCapacity(cells, cellBytes) - around - contentBytes;
  };
}
