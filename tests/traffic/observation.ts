/** What is seen on the wire between clients and the relay, packet by packet, and what of it are bytes of cells. */
import { limits } from "../../proto/mod.ts";

export interface Observation {
  /** Milliseconds since 1970, with fractions. */
  readonly atMs: number;
  /** The client's port: one session each. */
  readonly session: number;
  readonly fromClient: boolean;
  /** Payload of UDP or TCP. */
  readonly wireBytes: number;
  /** What of it belongs to the stream that carries cells; the rest is the transport's own. */
  readonly streamBytes: number;
}

export interface Capture {
  /** Where clients connect to be seen. */
  readonly port: number;
  /** Everything seen, in order. */
  stop(): Promise<Observation[]>;
}

export type WireTransport = "quic" | "grpc";

/** A record of TLS that holds one cell: HTTP/2 frame head (9), gRPC's (5), protobuf's field head (3), record type and tag. */
const recordOverhead = 9 + 5 + 3 + 1 + 16;
/** Records of HTTP/2's own are far below this, those with cells above. */
const smallestCellRecord = 1024;

/** HTTP/2 may put these of its own into the same record. */
const windowUpdateBytes = 13;
const mostWindowUpdates = 3;

/** Bytes of the stream in a TLS record, judged by its length, which everybody can see. */
export function streamBytesOfRecord(recordBytes: number): number {
  if (recordBytes < smallestCellRecord) return 0;
  const bytes = recordBytes - recordOverhead;
  const updates = (bytes - limits.cellBytes) / windowUpdateBytes;
  return [1, 2, mostWindowUpdates].includes(updates) ? limits.cellBytes : bytes;
}
