/**
 * A small closed-loop HTTP/1.1 load generator over plain sockets: a number of connections, one
 * request in flight on each. It looks only at status and length, so that it costs less than what it
 * measures.
 */

export interface Load {
  readonly url: string;
  readonly method: string;
  readonly path: string;
  /** Each request takes the next set; one set is for all. */
  readonly headers: readonly Readonly<Record<string, string>>[];
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export async function measureLoad(load: Load): Promise<LoadResult> {
  const { hostname, port } = new URL(load.url);
  const requests = load.headers.map((headers) =>
    requestBytes(load, { host: `${hostname}:${port}`, ...headers })
  );
  let next = 0;
  const started = performance.now();
  const deadline = started + load.seconds * 1000;
  const durations: number[] = [];
  await Promise.all(Array.from({ length: load.connections }, async () => {
    using connection = await Deno.connect({ hostname, port: Number(port) });
    connection.setNoDelay(true);
    const buffer = new Uint8Array(64 * 1024);
    let length = 0;
    while (performance.now() < deadline) {
      const sent = performance.now();
      await connection.write(requests[next++ % requests.length] ?? new Uint8Array());
      length = await readResponse(connection, buffer, length);
      durations.push(performance.now() - sent);
    }
  }));
  const seconds = (performance.now() - started) / 1000;
  durations.sort((a, b) => a - b);
  const quantile = (q: number): number => durations[Math.floor(q * (durations.length - 1))] ?? NaN;
  return { perSecond: durations.length / seconds, p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
}

function requestBytes(
  { method, path }: Load,
  headers: Readonly<Record<string, string>>,
): Uint8Array {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return new TextEncoder().encode(`${method} ${path} HTTP/1.1\r\n${head}content-length: 0\r\n\r\n`);
}

const decoder = new TextDecoder("latin1");
const okStatus = new TextEncoder().encode("HTTP/1.1 200 ");

/**
 * Reads one response that fits the buffer, returns its length, and fails on any status but 200.
 * Most responses of a load have the length of the one before, so that the head of few is parsed.
 */
async function readResponse(
  connection: Deno.Conn,
  buffer: Uint8Array,
  expectedLength: number,
): Promise<number> {
  let filled = 0;
  while (true) {
    const read = await connection.read(buffer.subarray(filled));
    if (read === null) throw new Error("The server closed the connection");
    filled += read;
    if (filled < okStatus.length) continue;
    if (!okStatus.every((byte, i) => buffer[i] === byte)) {
      throw new Error(decoder.decode(buffer.subarray(0, filled)));
    }
    const length = filled === expectedLength ? filled : responseLength(buffer.subarray(0, filled));
    if (length !== undefined && filled >= length) return length;
  }
}

/** Undefined as long as the head is not complete. */
function responseLength(bytes: Uint8Array): number | undefined {
  const text = decoder.decode(bytes);
  const headEnd = text.indexOf("\r\n\r\n");
  return headEnd < 0
    ? undefined
    : headEnd + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
}
