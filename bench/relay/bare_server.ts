/**
 * A bare QUIC server that reads one stream of each connection and does nothing else: the measure of
 * an idle session.
 */
import { createCertificate } from "../../tests/support/mod.ts";
import { linesOf } from "./lines.ts";

const certificate = await createCertificate();
const endpoint = new Deno.QuicEndpoint({ hostname: "::", port: 0 });
const listener = endpoint.listen({
  ...certificate,
  alpnProtocols: ["static-relay/1"],
  maxIdleTimeout: 36_000,
  keepAliveInterval: 12_000,
});
const held: unknown[] = [];
async function hold(incoming: Deno.QuicIncoming): Promise<void> {
  const connection = await incoming.accept();
  connection.closed.catch(() => {});
  const { value: stream } = await connection.incomingBidirectionalStreams.getReader().read();
  if (stream === undefined) return;
  held.push(connection, stream.writable.getWriter());
  const reader = stream.readable.getReader();
  while (!(await reader.read()).done);
}
async function accept(): Promise<void> {
  for (;;) hold(await listener.incoming()).catch(() => {});
}
void accept();
console.log(JSON.stringify({ quicPort: endpoint.addr.port, cert: certificate.cert }));
for await (const _ of linesOf(Deno.stdin.readable)) {
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ cpuUs: user + system, rssBytes: Deno.memoryUsage().rss }));
}
Deno.exit(0);
