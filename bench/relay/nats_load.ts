/**
 * The same fan-out through a NATS server, the floor: plain publish and subscribe, nothing
 * encrypted, stored, acknowledged or padded. Spoken by hand, because the protocol is a few lines of
 * text. Arguments: port; lines as `quic_load.ts`.
 */
import { linesOf } from "./lines.ts";

const [port = ""] = Deno.args;
const messageBytes = 4_096;
const subject = "bench";
const encoder = new TextEncoder();
/** `MSG bench 1 4096\r\n`, the message, `\r\n`. */
const frameBytes = encoder.encode(`MSG ${subject} 1 ${messageBytes}\r\n`).length + messageBytes + 2;

async function connect(): Promise<Deno.TcpConn> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  connection.setNoDelay(true);
  await connection.read(new Uint8Array(4_096));
  await send(connection, encoder.encode('CONNECT {"verbose":false,"pedantic":false}\r\nPING\r\n'));
  await connection.read(new Uint8Array(64));
  return connection;
}

async function send(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

async function run(
  receivers: number,
  messages: number,
): Promise<{ deliveries: number; seconds: number }> {
  const publisher = await connect();
  const subscribers = await Promise.all(Array.from({ length: receivers }, connect));
  for (const subscriber of subscribers) {
    await send(subscriber, encoder.encode(`SUB ${subject} 1\r\nPING\r\n`));
    await subscriber.read(new Uint8Array(64));
  }
  const start = performance.now();
  const received = subscribers.map(async (subscriber) => {
    const buffer = new Uint8Array(64 * 1024);
    for (let left = messages * frameBytes; left > 0;) left -= await subscriber.read(buffer) ?? left;
  });
  const frame = new Uint8Array([
    ...encoder.encode(`PUB ${subject} ${messageBytes}\r\n`),
    ...new Uint8Array(messageBytes),
    ...encoder.encode("\r\n"),
  ]);
  for (let sent = 0; sent < messages; sent++) await send(publisher, frame);
  await Promise.all(received);
  const seconds = (performance.now() - start) / 1_000;
  for (const connection of [publisher, ...subscribers]) connection.close();
  return { deliveries: messages * receivers, seconds };
}

console.log("ready");
for await (const line of linesOf(Deno.stdin.readable)) {
  const [receivers = 1, messages = 1] = line.split(" ").map(Number);
  await run(receivers, Math.ceil(messages / 5));
  console.log("warm");
  console.log(JSON.stringify(await run(receivers, messages)));
}
Deno.exit(0);
