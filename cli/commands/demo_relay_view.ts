/**
 * The relay's view of an agent: the requests in the cells that reach it, read with nothing but the
 * wire contract. That is all it gets; the keys to what is inside stay with the members.
 */
import { CellReader, type ClientEnvelope, decodeClientEnvelope, limits } from "../../proto/mod.ts";
import { encodeHex } from "../texts/channel_texts.ts";

export interface ObservedRequest {
  readonly text: string;
  /** The end of the ciphertext, in hexadecimal. */
  readonly bytes?: string;
}

const shownBytes = 10;

export class RelayView {
  readonly #reader = new CellReader({
    cellBytes: limits.cellBytes,
    maxEnvelopeBytes: limits.envelopeBytes,
  });
  #sights: ObservedRequest[] = [];

  readonly tap = (cells: Uint8Array, cellBytes: number, direction: "sent" | "received"): void => {
    if (direction === "received") return;
    this.#reader.configure({ cellBytes, maxEnvelopeBytes: limits.envelopeBytes });
    this.#reader.read(cells, (bytes) => {
      const sight = describe(decodeClientEnvelope(bytes));
      if (sight !== undefined) this.#sights.push(sight);
    });
  };

  get cells(): number {
    return this.#reader.counts.cells;
  }

  get coverCells(): number {
    return this.#reader.counts.coverCells;
  }

  /** Returns what was seen since the last call. */
  take(): ObservedRequest[] {
    const sights = this.#sights;
    this.#sights = [];
    return sights;
  }
}

/** Requests about channels; requests about the session itself are left out. */
function describe({ operation, body }: ClientEnvelope): ObservedRequest | undefined {
  switch (operation) {
    case "CreateChannel":
      return { text: `CreateChannel ${body.name}` };
    case "SendCommit":
      return {
        text:
          `SendCommit: ${body.added.length} in, ${body.removed.length} out, ${body.commit.length} bytes`,
        bytes: endOf(body.commit),
      };
    case "SendMessage":
      return {
        text: `SendMessage: epoch ${body.epoch}, ${body.ciphertext.length} bytes`,
        bytes: endOf(body.ciphertext),
      };
    case "CloseChannel":
      return { text: "CloseChannel" };
    default:
      return undefined;
  }
}

/** The beginning of an MLS message is its header, which is the same for all. */
function endOf(bytes: Uint8Array): string {
  return encodeHex(bytes.subarray(-shownBytes), " ");
}
