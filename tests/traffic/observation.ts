/** What is seen on the wire between clients and the relay, packet by packet, and what of it are bytes of cells. */

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

/** Bytes of the stream in a TLS record, judged by its length, which everybody can see. */
export function streamBytesOfRecord(recordBytes: number): number {
  return recordBytes < smallestCellRecord ? 0 : recordBytes - recordOverhead;
}
