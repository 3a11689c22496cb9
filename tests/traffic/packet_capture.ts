/** Real packets on the loopback interface, by Wireshark's dumpcap and tshark. */
import { installed, type Requirement } from "../support/mod.ts";
import { type Capture, type Observation, streamBytesOfRecord, type WireTransport } from "./observation.ts";
import { QuicOpener, readKeyLog } from "./quic_packets.ts";

export const packetCapture: Requirement = await mayCapture();

export interface PacketCaptureOptions {
  readonly transport: WireTransport;
  /** Of the relay. */
  readonly port: number;
  /** Where clients over QUIC write their keys. */
  readonly keyLogFile: string;
  readonly folder: string;
}

export async function startPacketCapture(options: PacketCaptureOptions): Promise<Capture> {
  const { transport, port, folder } = options;
  const file = `${folder}/${transport}.pcapng`;
  const protocol = transport === "quic" ? "udp" : "tcp";
  const args = ["-q", "-i", "lo", "-B", "64", "-f", `${protocol} port ${port}`, "-w", file];
  const dumpcap = new Deno.Command("dumpcap", { args, stdin: "null", stdout: "null", stderr: "piped" }).spawn();
  const [first, rest] = dumpcap.stderr.tee();
  await untilText(first, "File:");
  void rest.pipeTo(new WritableStream()).catch(() => {});
  return {
    port,
    stop: async () => {
      dumpcap.kill("SIGINT");
      await dumpcap.status;
      return transport === "quic" ? await readQuic(file, options) : await readTls(file, port);
    },
  };
}

async function mayCapture(): Promise<Requirement> {
  const { met, reason } = installed("dumpcap", "tshark");
  if (!met) return { met, reason };
  const { success } = await new Deno.Command("dumpcap", {
    args: ["-q", "-i", "lo", "-a", "duration:0", "-w", "/dev/null"],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
  return { met: success, reason: "this user may not capture packets" };
}

async function untilText(stream: ReadableStream<Uint8Array>, text: string): Promise<void> {
  let seen = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    seen += chunk;
    if (seen.includes(text)) return;
  }
  throw new Error(`dumpcap ended: ${seen}`);
}

async function readQuic(file: string, { port, keyLogFile }: PacketCaptureOptions): Promise<Observation[]> {
  const keys = readKeyLog(await Deno.readTextFile(keyLogFile));
  const openers = new Map<string, QuicOpener>();
  const observations: Observation[] = [];
  for await (const fields of readFields(file, ["udp.srcport", "udp.dstport", "udp.payload"])) {
    const [atMs, source, target] = fields.numbers;
    const fromClient = target === port;
    const session = fromClient ? source : target;
    const name = `${session} ${fromClient}`;
    const opener = openers.get(name) ?? new QuicOpener(fromClient ? keys.client : keys.relay);
    openers.set(name, opener);
    const datagram = Uint8Array.fromHex(fields.text);
    const opened = opener.open(datagram);
    if (opened === undefined) continue;
    observations.push({ atMs, session, fromClient, wireBytes: datagram.length, streamBytes: opened.streamBytes });
  }
  return observations;
}

async function readTls(file: string, port: number): Promise<Observation[]> {
  const observations: Observation[] = [];
  const options = ["-d", `tcp.port==${port},tls`];
  for await (const fields of readFields(file, ["tcp.srcport", "tcp.dstport", "tls.record.length"], options)) {
    const [atMs, source, target] = fields.numbers;
    if (fields.text === "") continue;
    const fromClient = target === port;
    const session = fromClient ? source : target;
    for (const record of fields.text.split(",").map(Number)) {
      observations.push({ atMs, session, fromClient, wireBytes: record, streamBytes: streamBytesOfRecord(record) });
    }
  }
  return observations;
}

interface Fields {
  /** Time, source port, target port. */
  readonly numbers: readonly [number, number, number];
  readonly text: string;
}

async function* readFields(
  file: string,
  names: readonly string[],
  options: readonly string[] = [],
): AsyncGenerator<Fields> {
  const args = ["-n", "-r", file, ...options, "-T", "fields", "-e", "frame.time_epoch"];
  for (const name of names) args.push("-e", name);
  const tshark = new Deno.Command("tshark", { args, stdin: "null", stdout: "piped", stderr: "null" }).spawn();
  let rest = "";
  for await (const chunk of tshark.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [time = "", source = "", target = "", text = ""] = line.split("\t");
      yield { numbers: [Number(time) * 1000, Number(source), Number(target)], text };
    }
  }
  const { success } = await tshark.status;
  if (!success) throw new Error(`tshark could not read ${file}`);
}
