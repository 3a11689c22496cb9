/**
 * Observations on the wire between watched sessions and the relay, packet by packet, and which
 * bytes belong to cells. Captures differ in how they see packets; their meaning is decided here,
 * for all of them.
 */
import { limits } from "../../proto/mod.ts";
import { QuicOpener, readKeyLog } from "./quic_packets.ts";

export interface Observation {
  /** Milliseconds since 1970, with fractions. */
  readonly atMs: number;
  readonly fromClient: boolean;
  /** Payload of UDP or TCP. */
  readonly wireBytes: number;
  /** The bytes that belong to the stream of cells; the rest is the transport's own. */
  readonly streamBytes: number;
}

/** A datagram, as it was sent, or the length of a record of TLS. */
export interface Seen {
  readonly atMs: number;
  readonly fromClient: boolean;
  readonly datagram?: Uint8Array;
  readonly recordBytes?: number;
}

export interface Capture {
  /** The observations of each session, in order, by the address that it dialled. */
  stop(): Promise<ReadonlyMap<string, readonly Seen[]>>;
}

/** `grpc` is the stream `Session`. */
export type WireTransport = "quic" | "grpc";

/** Opens datagrams with the client's key log; handshakes are left out. */
export function observe(seen: readonly Seen[], keyLog: string): Observation[] {
  const keys = readKeyLog(keyLog);
  const [up, down] = [new QuicOpener(keys.client), new QuicOpener(keys.relay)];
  const observations: Observation[] = [];
  for (const { atMs, fromClient, datagram, recordBytes } of seen) {
    if (recordBytes !== undefined) {
      observations.push({
        atMs,
        fromClient,
        wireBytes: recordBytes,
        streamBytes: streamBytesOfRecord(recordBytes),
      });
    }
    if (datagram === undefined) continue;
    const opened = (fromClient ? up : down).open(datagram);
    if (opened === undefined) continue;
    observations.push({
      atMs,
      fromClient,
      wireBytes: datagram.length,
      streamBytes: opened.streamBytes,
    });
  }
  return observations;
}

/**
 * A record of TLS that holds one cell: HTTP/2 frame head (9), gRPC's (5), protobuf's field head
 * (3), record type and tag.
 */
const recordOverhead = 9 + 5 + 3 + 1 + 16;
/** Records of HTTP/2's own are far below this, those with cells, or parts of one, above. */
const smallestCellRecord = 1_000;

/** Bytes of the stream in a TLS record, judged by its length, which everybody can see. */
function streamBytesOfRecord(recordBytes: number): number {
  return recordBytes < smallestCellRecord ? 0 : recordBytes - recordOverhead;
}

/**
 * Bytes that HTTP may add to the records of one cell: a window update, the head of a request, of a
 * second record.
 */
const mostOwnBytes = 96;

/**
 * Bytes that were sent at once, without HTTP's additions: whole cells, if it is no more than that.
 */
export function withoutHttp(streamBytes: number, transport: WireTransport): number {
  const cells = Math.floor(streamBytes / limits.cellBytes);
  const isHttp = transport !== "quic" && streamBytes % limits.cellBytes <= cells * mostOwnBytes;
  return isHttp ? cells * limits.cellBytes : streamBytes;
}
