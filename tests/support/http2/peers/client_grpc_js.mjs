/** grpc-js against the server under test. Arguments: port, certificate file. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import grpc from "@grpc/grpc-js";
import { readFileSync } from "node:fs";
import process from "node:process";
import { Readable } from "node:stream";
import { runChecks } from "./checks.mjs";
import { Payload } from "./echo.mjs";

const [port, certFile] = process.argv.slice(2);

function method(name, requestStream, responseStream) {
  const serialize = (value) => Buffer.from(toBinary(Payload, create(Payload, value)));
  const deserialize = (data) => fromBinary(Payload, data);
  return {
    path: `/test.Echo/${name}`,
    requestStream,
    responseStream,
    requestSerialize: serialize,
    requestDeserialize: deserialize,
    responseSerialize: serialize,
    responseDeserialize: deserialize,
  };
}

const EchoClient = grpc.makeGenericClientConstructor({
  unary: method("Unary", false, false),
  unknown: method("Unknown", false, false),
  serverStream: method("ServerStream", false, true),
  clientStream: method("ClientStream", true, false),
  bidi: method("Bidi", true, true),
}, "Echo");
const stub = new EchoClient(`localhost:${port}`, grpc.credentials.createSsl(readFileSync(certFile)));

function metadataOf(entries = {}) {
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(entries)) {
    metadata.set(name, typeof value === "string" ? value : Buffer.from(value));
  }
  return metadata;
}

const optionsOf = ({ timeoutMs }) => timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };

function unary(name, request, { metadata, signal, ...rest } = {}) {
  return new Promise((resolve, reject) => {
    const answer = { headers: {}, trailers: {} };
    const call = stub[name](request, metadataOf(metadata), optionsOf(rest), (error, message) => {
      if (error) reject(error);
      else answer.message = message;
    });
    call.on("metadata", (headers) => answer.headers = headers.getMap());
    call.on("status", ({ code, metadata: trailers }) => {
      answer.trailers = trailers.getMap();
      if (code === grpc.status.OK) setImmediate(() => resolve(answer));
    });
    signal?.addEventListener("abort", () => call.cancel());
  });
}

await runChecks({
  unary: (request, options) => unary("unary", request, options),
  unknown: () => unary("unknown", {}),
  serverStream: (request, { metadata, signal, ...rest } = {}) => {
    const call = stub.serverStream(request, metadataOf(metadata), optionsOf(rest));
    signal?.addEventListener("abort", () => call.cancel());
    return call;
  },
  clientStream: (requests) =>
    new Promise((resolve, reject) => {
      const call = stub.clientStream((error, message) => error ? reject(error) : resolve(message));
      Readable.from(requests).pipe(call);
    }),
  bidi: (requests) => {
    const call = stub.bidi();
    Readable.from(requests).pipe(call);
    return call;
  },
});
stub.close();
