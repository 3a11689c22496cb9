/** connect-node against the server under test. Arguments: port, certificate file, protocol (grpc, grpc-web, connect). */
import { createClient, decodeBinaryHeader, encodeBinaryHeader } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { readFileSync } from "node:fs";
import process from "node:process";
import { runChecks } from "./checks.mjs";
import { Echo } from "./echo.mjs";

const [port, certFile, protocol] = process.argv.slice(2);
const create =
  { "grpc": createGrpcTransport, "grpc-web": createGrpcWebTransport, "connect": createConnectTransport }[protocol];
const baseUrl = `https://localhost:${port}`;
const nodeOptions = { ca: readFileSync(certFile) };
const sessionManager = new Http2SessionManager(baseUrl, {}, nodeOptions);
const stub = createClient(Echo, create({ baseUrl, httpVersion: "2", sessionManager }));

function optionsOf({ metadata = {}, timeoutMs, signal } = {}) {
  const headers = Object.entries(metadata).map(([name, value]) => [
    name,
    typeof value === "string" ? value : encodeBinaryHeader(value),
  ]);
  return { headers, timeoutMs, signal };
}

function plain(headers) {
  return Object.fromEntries(
    [...headers].map(([name, value]) => [name, name.endsWith("-bin") ? decodeBinaryHeader(value) : value]),
  );
}

await runChecks({
  unary: async (request, options) => {
    const answer = {};
    answer.message = await stub.unary(request, {
      ...optionsOf(options),
      onHeader: (headers) => answer.headers = plain(headers),
      onTrailer: (trailers) => answer.trailers = plain(trailers),
    });
    return answer;
  },
  unknown: async () => {
    const { Unimplemented } = (await import("@connectrpc/connect")).Code;
    const response = await new Promise((resolve, reject) => {
      sessionManager.request("POST", "/test.Echo/Unknown", { "content-type": "application/grpc" }, {}).then(
        (stream) => {
          stream.on("response", resolve).on("error", reject);
          stream.end();
        },
        reject,
      );
    });
    // As gRPC maps it (http-grpc-status-mapping).
    throw Object.assign(new Error("refused"), {
      code: response[":status"] === 404 ? Unimplemented : response[":status"],
    });
  },
  serverStream: (request, options) => stub.serverStream(request, optionsOf(options)),
  clientStream: (requests) => stub.clientStream(requests),
  bidi: (requests) => stub.bidi(requests),
});
sessionManager.abort();
