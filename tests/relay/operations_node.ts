/**
 * The operations suite in Node, where native gRPC clients live. Bundled, and run in a folder where
 * connect-node is installed. Arguments: port, certificate file, origin, and how to call: `typed` or
 * `session` by gRPC, `cells` by Connect.
 */
import type { Transport } from "@connectrpc/connect";
import { readFileSync } from "node:fs";
import process from "node:process";
import { runTests } from "../support/runtime/suite.ts";
import { CellClient } from "../support/relay/cell_client.ts";
import { sessionCarrier, upDownCarrier } from "./grpc_carriers.ts";
import { createOperations } from "./operations_suite.ts";
import type { RelayClient } from "../support/relay/relay_client.ts";
import { TypedClient } from "../support/relay/typed_client.ts";

interface SessionManager {
  abort(): void;
}

type CreateTransport = (
  options: {
    baseUrl: string;
    httpVersion: "2";
    sessionManager: SessionManager;
    useBinaryFormat: boolean;
  },
) => Transport;

/**
 * The part of connect-node that is used: not a dependency of this project, because it must not run
 * in Deno.
 */
interface ConnectNode {
  readonly Http2SessionManager: new (
    baseUrl: string,
    options: Record<string, never>,
    tls: { readonly ca: Uint8Array },
  ) => SessionManager;
  readonly createGrpcTransport: CreateTransport;
  readonly createConnectTransport: CreateTransport;
}

const packageName = "@connectrpc/connect-node";
const { Http2SessionManager, createGrpcTransport, createConnectTransport }: ConnectNode =
  await import(packageName);

const [port = "", certFile = "", origin = "", kind = ""] = process.argv.slice(2);
const baseUrl = `https://localhost:${port}`;
const managers: SessionManager[] = [];

/**
 * A connection of its own for each client, so that closing it is what a client's end looks like.
 */
function open(): Promise<RelayClient> {
  const sessionManager = new Http2SessionManager(baseUrl, {}, { ca: readFileSync(certFile) });
  managers.push(sessionManager);
  const create = kind === "cells" ? createConnectTransport : createGrpcTransport;
  const transport = create({ baseUrl, httpVersion: "2", sessionManager, useBinaryFormat: true });
  if (kind === "typed") return Promise.resolve(new TypedClient(transport));
  return Promise.resolve(
    new CellClient(kind === "cells" ? upDownCarrier(transport) : sessionCarrier(transport)),
  );
}

const results = await runTests(createOperations({ open, origin }));
for (const manager of managers) manager.abort();
console.log(JSON.stringify(results));
