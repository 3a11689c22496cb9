/**
 * One message of a shared log: commands of one writer, which take effect one after the other. The
 * writer's own count makes a message that was sent again harmless, and one whose predecessor was
 * lost void: see `writers.ts`.
 */
import { type CborValue, decodeCbor, encodeCbor } from "../../../proto/mod.ts";

export interface Batch {
  /** One life of a relay. */
  readonly writer: string;
  readonly relay: string;
  /** Counts the writer's batches from 1. The first one says only that the writer is there. */
  readonly number: number;
  /** How far its relay had read the log. Only the first batch says it. */
  readonly began?: number | undefined;
  readonly commands: readonly Uint8Array[];
}

/** A relay that meets another version stops: it must not guess what a command means. */
const version = 1;
const lengthBytes = 4;
/** Size limit of one message: the nodes take 8 MiB, and headers have to fit too. */
export const maxBatchBytes = 7 * 1024 * 1024;

export function encodeBatch({ writer, relay, number, began, commands }: Batch): Uint8Array {
  const head = encodeCbor([
    version,
    writer,
    relay,
    number,
    ...(began === undefined ? [] : [began]),
  ]);
  const parts = [head, ...commands];
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + lengthBytes + part.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const part of parts) {
    view.setUint32(at, part.length);
    bytes.set(part, at + lengthBytes);
    at += lengthBytes + part.length;
  }
  return bytes;
}

/** Throws for anything that `encodeBatch` of this version did not make. */
export function decodeBatch(bytes: Uint8Array): Batch {
  const parts: Uint8Array[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length;) {
    if (at + lengthBytes > bytes.length) {
      throw new TypeError("A batch of the shared log is damaged: it ends too early");
    }
    const length = view.getUint32(at);
    if (length > bytes.length - at - lengthBytes) {
      throw new TypeError("A batch of the shared log is damaged: a length goes beyond its end");
    }
    parts.push(bytes.subarray(at + lengthBytes, at + lengthBytes + length));
    at += lengthBytes + length;
  }
  const [head = new Uint8Array(0), ...commands] = parts;
  const fields: CborValue = decodeCbor(head);
  const [found, writer, relay, number, began] = Array.isArray(fields) ? fields : [];
  if (found !== version) {
    throw new TypeError(
      `A batch of the shared log has version ${String(found)}, this relay knows ${version}`,
    );
  }
  if (typeof writer !== "string" || typeof relay !== "string" || typeof number !== "number") {
    throw new TypeError("The head of a batch of the shared log is damaged");
  }
  return { writer, relay, number, commands, ...(typeof began === "number" && { began }) };
}
