import { assertEquals } from "@std/assert";
import { checkOwners } from "./owners.ts";
import { createSourceFile } from "./source.ts";

/** How many violations a text at a path has. */
function found(path: string, text: string): number {
  return checkOwners(createSourceFile(path, text)).filter(({ rule }) => rule === "owner").length;
}

const refused: readonly [path: string, text: string][] = [
  ["api/listeners/tls.ts", 'import { createServer } from "node:https";'],
  ["server/http2/socket_admission.ts", 'import { type Socket, isIP } from "node:net";'],
  ["sdk/host/server/socket_host.ts", 'import net from "node:net";'],
  ["sdk/host/server/socket_host.ts", 'const { connect } = await import("node:tls");'],
  ["relay/core/session/session.ts", 'export { createServer } from "node:http";'],
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
  ["relay/edge.ts", "server.on(event, async () => await look());"],
  ["relay/edge.ts", "socket.onmessage = async ({ data }) => await look(data);"],
  [
    "relay/edge.ts",
    "const turn = async (): Promise<void> => await look();\nconst timer = setInterval(turn, ms);",
  ],
  ["relay/edge.ts", 'async function gone(): Promise<void> {}\nserver.once("close", gone);'],
  ["relay/edge.ts", "const { listen } = Deno;"],
  ["relay/edge.ts", "const runtime = Deno;"],
  ["relay/edge.ts", 'Deno["listen"]({ port });'],
  ["relay/edge.ts", "const secure = await Deno.startTls(connection);"],
  ["relay/edge.ts", 'import { connect } from "node:http2";'],
  ["relay/edge.ts", 'import { createServer } from "net";'],
  ["relay/edge.ts", 'import { spawn } from "node:child_process";'],
  ["relay/edge.ts", "const child = new Deno.Command(program).spawn();"],
  ["relay/edge.ts", "const stream = new WebSocketStream(url);"],
  ["relay/edge.ts", "const worker = new globalThis.Worker(url);"],
];

for (const [path, text] of refused) {
  Deno.test(`owners reports ${path}: ${text}`, () => assertEquals(found(path, text), 1));
}

const accepted: readonly [path: string, text: string][] = [
  ["server/http2/incoming_sockets.ts", 'import { createServer } from "node:https";'],
  ["server/http2/socket_admission.ts", 'import type { Socket } from "node:net";'],
  ["server/http2/socket_admission.ts", 'import { type Server, type Socket } from "node:net";'],
  ["relay/listeners/quic.ts", "const endpoint = new Deno.QuicEndpoint({ port });"],
  ["relay/listeners/quic.ts", "function serve(conn: Deno.QuicConn): void {}"],
  ["api/admin/port.ts", "// Deno.serve is in another file"],
  [
    "tests/http2/server_test.ts",
    'import { connect } from "node:net";\nconst listener = Deno.listen({ port });',
  ],
  ["relay/listeners/quic_test.ts", "const conn = await Deno.connectQuic({ port });"],
  ["bench/relay.ts", "Deno.serve({ port }, answer);"],
  ["relay/edge.ts", "setTimeout(() => void look().catch(report), 5);"],
  [
    "relay/edge.ts",
    "const turn = async (): Promise<void> => {};\nsetInterval(() => void turn().catch(report), ms);",
  ],
  ["relay/edge.ts", "const turn = (): void => {};\nconst timer = setInterval(turn, ms);"],
  ["relay/edge.ts", 'async function open(): Promise<Handler> {}\nserver.on("close", open.name);'],
  ["relay/edge.ts", "const { NotFound } = Deno.errors;\nconst [first] = Deno.args;"],
];

for (const [path, text] of accepted) {
  Deno.test(`owners accepts ${path}: ${text}`, () => assertEquals(found(path, text), 0));
}
