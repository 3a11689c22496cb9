/**
 * Reads a capture file of the classic format: Ethernet, as Linux shows its loopback interface, with
 * UDP or TCP over IPv4.
 */

export interface Packet {
  readonly atMs: number;
  /** Dotted address and port. */
  readonly from: Endpoint;
  readonly to: Endpoint;
  /** TCP's number of the first byte of the payload; 0 for UDP. */
  readonly sequence: number;
  readonly payload: Uint8Array;
}

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

const headBytes = 24;
const packetHeadBytes = 16;
const ethernetBytes = 14;
const ipv4 = 0x0800;
const [tcp, udp] = [6, 17];
/** Times in microseconds, or in nanoseconds. */
const fractions: Readonly<Record<number, number>> = { 0xa1b2c3d4: 1e3, 0xa1b23c4d: 1e6 };

export function* readPcap(file: Uint8Array<ArrayBuffer>): Generator<Packet> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const perMs = fractions[view.getUint32(0, true)];
  if (perMs === undefined || view.getUint32(20, true) !== 1) {
    throw new Error("Not a capture of Ethernet in pcap format");
  }
  for (let at = headBytes; at + packetHeadBytes <= file.length;) {
    const atMs = view.getUint32(at, true) * 1_000 + view.getUint32(at + 4, true) / perMs;
    const [captured, sent] = [view.getUint32(at + 8, true), view.getUint32(at + 12, true)];
    if (captured < sent) throw new Error("A packet was captured in part");
    at += packetHeadBytes;
    const packet = readPacket(file.subarray(at, at + captured), atMs);
    if (packet !== undefined) yield packet;
    at += captured;
  }
}

function readPacket(frame: Uint8Array<ArrayBuffer>, atMs: number): Packet | undefined {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (frame.length < ethernetBytes + 20 || view.getUint16(12) !== ipv4) return undefined;
  const ipBytes = (view.getUint8(ethernetBytes) & 15) * 4;
  const protocol = view.getUint8(ethernetBytes + 9);
  if (protocol !== tcp && protocol !== udp) return undefined;
  const at = ethernetBytes + ipBytes;
  const end = (start: number, port: number): Endpoint => ({
    address: frame.subarray(start, start + 4).join("."),
    port: view.getUint16(port),
  });
  const payloadAt = at + (protocol === udp ? 8 : (view.getUint8(at + 12) >> 4) * 4);
  // A length of 0 is that of a packet larger than its field can say (segments that the kernel keeps
  // together).
  const ipLength = view.getUint16(ethernetBytes + 2);
  return {
    atMs,
    from: end(ethernetBytes + 12, at),
    to: end(ethernetBytes + 16, at + 2),
    sequence: protocol === udp ? 0 : view.getUint32(at + 4),
    payload: frame.subarray(payloadAt, ipLength === 0 ? frame.length : ethernetBytes + ipLength),
  };
}
