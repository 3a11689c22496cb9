import { assertEquals } from "@std/assert";
import { checkOwners } from "./owners.ts";
import { createSourceFile } from "./source.ts";

/** How many violations a text at a path has. */
function found(path: string, text: string): number {
  return checkOwners(createSourceFile(path, text)).filter(({ rule }) => rule === "owner").length;
}

const refused: readonly [path: string, text: string][] = [
  ["api/listeners/tls.ts", 'import { createServer } from "node:https";'],
  ["server/http2/door.ts", 'import { type Socket, isIP } from "node:net";'],
  ["sdk/driver/socket_host.ts", 'import net from "node:net";'],
  ["sdk/driver/socket_host.ts", 'const { connect } = await import("node:tls");'],
  ["relay/core/session.ts", 'export { createServer } from "node:http";'],
  ["relay/operations/udp_drops.ts", 'import dgram from "node:dgram";'],
  ["relay/edge.ts", "const listener = Deno.listen({ port });"],
  ["relay/edge.ts", "const listener = Deno.listenTls({ port });"],
  ["relay/operations/api_client.ts", "using connection = await Deno.connect({ port });"],
  ["relay/operations/api_client.ts", "using connection = await Deno.connectTls({ port });"],
  ["relay/grpc/listener.ts", "const conn = await Deno.connectQuic({ port });"],
  ["relay/grpc/listener.ts", "const endpoint = new Deno.QuicEndpoint({ port });"],
  ["api/admin/port.ts", "Deno.serve({ port }, answer);"],
  ["start.ts", "Deno.serve({ port }, answer);"],
  ["api/start_api.ts", "const worker = new Worker(url);"],
  ["relay/edge.ts", "setTimeout(async () => await look(), 5);"],
  ["relay/edge.ts", 'server.on("close", async () => await look());'],
];

for (const [path, text] of refused) {
  Deno.test(`owners reports ${path}: ${text}`, () => assertEquals(found(path, text), 1));
}

const accepted: readonly [path: string, text: string][] = [
  ["server/http2/incoming_sockets.ts", 'import { createServer } from "node:https";'],
  ["server/http2/door.ts", 'import type { Socket } from "node:net";'],
  ["server/http2/door.ts", 'import { type Server, type Socket } from "node:net";'],
  ["relay/listeners/quic.ts", "const endpoint = new Deno.QuicEndpoint({ port });"],
  ["relay/listeners/quic.ts", "function serve(conn: Deno.QuicConn): void {}"],
  ["api/admin/port.ts", "// Deno.serve is in another file"],
  ["tests/http2/server_test.ts", 'import { connect } from "node:net";\nconst listener = Deno.listen({ port });'],
  ["relay/listeners/quic_test.ts", "const conn = await Deno.connectQuic({ port });"],
  ["bench/relay.ts", "Deno.serve({ port }, answer);"],
  ["relay/edge.ts", "setTimeout(() => void look().catch(report), 5);"],
];

for (const [path, text] of accepted) {
  Deno.test(`owners accepts ${path}: ${text}`, () => assertEquals(found(path, text), 0));
}
