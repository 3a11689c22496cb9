/**
 * The operations suite in Node, where native gRPC clients live. Bundled; `@connectrpc/connect-node` comes from the folder that
 * it is run in. Arguments: port, certificate file, origin, and how to call: `typed`, `typed-web` or `session`.
 */
import { createGrpcTransport, createGrpcWebTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { readFileSync } from "node:fs";
import process from "node:process";
import { runTests } from "../runtime/suite.ts";
import { CellClient } from "./cell_client.ts";
import { sessionCarrier } from "./grpc_carriers.ts";
import { createOperations } from "./operations_suite.ts";
import type { RelayClient } from "./relay_client.ts";
import { TypedClient } from "./typed_client.ts";

const [port = "", certFile = "", origin = "", kind = ""] = process.argv.slice(2);
const baseUrl = `https://localhost:${port}`;
const managers: Http2SessionManager[] = [];

/** A connection of its own for each client, so that closing it is what a client's end looks like. */
function open(): Promise<RelayClient> {
  const manager = new Http2SessionManager(baseUrl, {}, { ca: readFileSync(certFile) });
  managers.push(manager);
  const create = kind === "typed-web" ? createGrpcWebTransport : createGrpcTransport;
  const transport = create({ baseUrl, httpVersion: "2", sessionManager: manager });
  return Promise.resolve(kind === "session" ? new CellClient(sessionCarrier(transport)) : new TypedClient(transport));
}

const results = await runTests(createOperations({ open, origin }));
for (const manager of managers) manager.abort();
console.log(JSON.stringify(results));
