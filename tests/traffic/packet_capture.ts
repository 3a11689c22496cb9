/** Real packets on the loopback interface, by Wireshark's dumpcap. */
import { installed, type Requirement } from "../support/mod.ts";
import type { Capture, Seen } from "./observation.ts";
import { readPcap } from "./pcap.ts";
import { TlsRecords } from "./tls_records.ts";

export const packetCapture: Requirement = await mayCapture();

export interface PacketCaptureOptions {
  readonly protocol: "udp" | "tcp";
  /** Of the relay. */
  readonly port: number;
  /** Only packets from and to these addresses: nobody else dials them. */
  readonly network: string;
  readonly folder: string;
}

export async function startPacketCapture(options: PacketCaptureOptions): Promise<Capture> {
  const { protocol, port, network, folder } = options;
  const file = `${folder}/${protocol}.pcap`;
  const filter = `net ${network} and ${protocol} port ${port}`;
  const args = ["-q", "-P", "-i", "lo", "-B", "64", "-f", filter, "-w", file];
  const dumpcap = new Deno.Command("dumpcap", {
    args,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const [first, rest] = dumpcap.stderr.tee();
  await untilText(first, "File:");
  void rest.pipeTo(new WritableStream()).catch(() => {});
  return {
    stop: async () => {
      dumpcap.kill("SIGINT");
      await dumpcap.status;
      return readCapture(file, options);
    },
  };
}

async function mayCapture(): Promise<Requirement> {
  const { met, reason } = installed("dumpcap");
  if (!met) return { met, reason };
  const { success } = await new Deno.Command("dumpcap", {
    args: ["-q", "-i", "lo", "-a", "duration:0", "-w", "/dev/null"],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
  return { met: success, reason: "this user may not capture packets" };
}

async function untilText(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  text: string,
): Promise<void> {
  let seen = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    seen += chunk;
    if (seen.includes(text)) return;
  }
  throw new Error(`dumpcap ended: ${seen}`);
}

function readCapture(file: string, { protocol, port }: PacketCaptureOptions): Map<string, Seen[]> {
  const sessions = new Map<string, Seen[]>();
  const streams = new Map<string, TcpStream>();
  for (const { atMs, from, to, sequence, payload } of readPcap(Deno.readFileSync(file))) {
    const fromClient = to.port === port;
    const { address } = fromClient ? to : from;
    const seen = sessions.get(address) ?? [];
    sessions.set(address, seen);
    if (protocol === "udp") {
      seen.push({ atMs, fromClient, datagram: payload });
      continue;
    }
    const name = `${address} ${from.port} ${to.port}`;
    const stream = streams.get(name) ?? new TcpStream();
    streams.set(name, stream);
    for (const recordBytes of stream.read(sequence, payload)) {
      seen.push({ atMs, fromClient, recordBytes });
    }
  }
  return sessions;
}

/**
 * One direction of a connection. On loopback nothing is lost; what is sent again is not read again.
 */
class TcpStream {
  #next: number | undefined;
  #found: number[] = [];
  readonly #records = new TlsRecords((bytes) => this.#found.push(bytes));

  read(sequence: number, payload: Uint8Array): readonly number[] {
    this.#found = [];
    if (payload.length === 0) return [];
    this.#next ??= sequence;
    // Numbers wrap at 2^32.
    const known = (this.#next - sequence) | 0;
    if (known < 0) throw new Error("The capture has lost a packet of TCP");
    this.#records.read(payload.subarray(known));
    this.#next = (this.#next + Math.max(0, payload.length - known)) >>> 0;
    return this.#found;
  }
}
