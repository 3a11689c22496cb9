/**
 * The cost of padding under load: `deno run -A bench/traffic.ts`. The same messages leave through the same scheduler
 * over a real QUIC connection to another process, once in whole cells and once with every cell cut behind its content;
 * cover is off. Small messages share cells, so padding only adds the fill of the last ones.
 */
import { CellSender, limits } from "../proto/mod.ts";
import { createCertificate } from "../tests/support/mod.ts";
import { reportRatio } from "./ratio.ts";

/** At most this much slower than unpadded. */
const target = 0.15;
const rounds = 9;
/** SendMessage of a small payload without MLS padding, of one with it (a whole cell), and of one that spans cells. */
const cases = [
  { bytes: 300, messages: 10_000 },
  { bytes: 1_300, messages: 4_000 },
  { bytes: 4_089, messages: 1_500 },
  { bytes: 20_000, messages: 400 },
];
const highWaterBytes = 1024 * 1024;

if (Deno.args[0] === "sink") await serveSink();
else await run();

async function serveSink(): Promise<void> {
  const certificate = await createCertificate();
  const endpoint = new Deno.QuicEndpoint({ hostname: "127.0.0.1", port: 0 });
  const listener = endpoint.listen({ ...certificate, alpnProtocols: ["bench"] });
  console.log(JSON.stringify({ port: endpoint.addr.port, cert: certificate.cert }));
  const connection = await listener.accept();
  for await (const stream of connection.incomingBidirectionalStreams) void answer(stream);
}

/** Reads to the end, then says so. */
async function answer({ readable, writable }: Deno.QuicBidirectionalStream): Promise<void> {
  for await (const _ of readable);
  const writer = writable.getWriter();
  await writer.write(Uint8Array.of(1));
  await writer.close();
}

async function run(): Promise<void> {
  const args = ["run", "-A", "--no-check", "--quiet", import.meta.filename ?? "", "sink"];
  const sink = new Deno.Command(Deno.execPath(), { args, stdout: "piped" }).spawn();
  try {
    const { value } = await sink.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
    const { port, cert } = JSON.parse(value ?? "");
    const options = { hostname: "127.0.0.1", serverName: "localhost", port, caCerts: [cert], alpnProtocols: ["bench"] };
    const connection = await Deno.connectQuic<false>(options);
    for (const { bytes, messages } of cases) {
      // In turns, so that whatever else this machine does falls on both.
      const [padded, cut]: [number[], number[]] = [[], []];
      for (let round = 0; round <= rounds; round++) {
        const rates = [
          await send(connection, { bytes, messages, whole: true }),
          await send(connection, { bytes, messages, whole: false }),
        ];
        if (round === 0) continue; // warm
        padded.push(rates[0] ?? 0);
        cut.push(rates[1] ?? 0);
      }
      const slower = 1 - median(padded.map((rate, i) => rate / (cut[i] ?? rate)));
      reportRatio({
        bench: "traffic",
        what: `padded messages of ${bytes} bytes`,
        unit: "/s",
        ours: median(padded),
        peer: "the same cells without fill",
        theirs: median(cut),
        ratio: 1 - slower,
        target: 1 - target,
      });
      console.log(
        `${String(bytes).padStart(6)} B  padded ${Math.round(median(padded))}/s  unpadded ${
          Math.round(median(cut))
        }/s  ` +
          `${(100 * slower).toFixed(1)} % slower (target ${100 * target} %: ${slower <= target ? "met" : "missed"})`,
      );
    }
    connection.close();
  } finally {
    sink.kill();
    await sink.status;
  }
}

interface Load {
  readonly bytes: number;
  readonly messages: number;
  readonly whole: boolean;
}

/** Messages per second, until the other side has read all of them. */
async function send(connection: Deno.QuicConn, { bytes, messages, whole }: Load): Promise<number> {
  const stream = await connection.createBidirectionalStream({ waitUntilAvailable: true });
  const writer = stream.writable.getWriter();
  const envelope = new Uint8Array(bytes).fill(1);
  let room = Promise.withResolvers<void>();
  const sender = new CellSender({
    cellBytes: limits.cellBytes,
    write: (cells, cellBytes) => writer.write(whole ? cells : withoutFill(cells, cellBytes)),
    after: () => () => {},
    nowMs: () => performance.now(),
    random: Math.random,
    onWritten: () => room.resolve(),
  });
  const started = performance.now();
  for (let sent = 0; sent < messages;) {
    for (; sent < messages && sender.pendingBytes < highWaterBytes; sent++) sender.push("data", envelope);
    if (sender.pendingBytes < highWaterBytes) continue;
    room = Promise.withResolvers();
    await room.promise;
  }
  while (sender.pendingBytes > 0) {
    room = Promise.withResolvers();
    await room.promise;
  }
  await writer.close();
  for await (const _ of stream.readable);
  return messages / ((performance.now() - started) / 1000);
}

/** Every cell up to the end of its content, in the same buffer. */
function withoutFill(cells: Uint8Array<ArrayBuffer>, cellBytes: number): Uint8Array<ArrayBuffer> {
  let end = 0;
  for (let at = 0; at < cells.length; at += cellBytes) {
    const used = 3 + (cells[at + 1] ?? 0) * 256 + (cells[at + 2] ?? 0);
    cells.copyWithin(end, at, at + used);
    end += used;
  }
  return cells.subarray(0, end);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}
