/**
 * The test service, without generated code, so that Node and Deno load the same file: a schema built by hand and its
 * implementation. `count` is how many messages to stream, `fail` an error to raise, `hang` to wait until cancelled.
 */
import { create, createFileRegistry } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";

const optional = 1;
const [typeInt32, typeBool, typeString, typeBytes] = [5, 8, 9, 12];

const file = create(FileDescriptorProtoSchema, {
  name: "echo.proto",
  package: "test",
  syntax: "proto3",
  messageType: [{
    name: "Payload",
    field: [
      { name: "data", number: 1, type: typeBytes, label: optional, jsonName: "data" },
      { name: "count", number: 2, type: typeInt32, label: optional, jsonName: "count" },
      { name: "fail", number: 3, type: typeString, label: optional, jsonName: "fail" },
      { name: "hang", number: 4, type: typeBool, label: optional, jsonName: "hang" },
    ],
  }],
  service: [{
    name: "Echo",
    method: [
      method("Unary", false, false),
      method("ServerStream", false, true),
      method("ClientStream", true, false),
      method("Bidi", true, true),
    ],
  }],
});

function method(name, clientStreaming, serverStreaming) {
  return { name, inputType: ".test.Payload", outputType: ".test.Payload", clientStreaming, serverStreaming };
}

const registry = createFileRegistry(file, () => undefined);

/** @type {import("@bufbuild/protobuf").DescMessage} */
export const Payload = registry.getMessage("test.Payload");
/** @type {import("@bufbuild/protobuf").DescService} */
export const Echo = registry.getService("test.Echo");

/** Calls that hang or stream, now; and those that learnt of their cancellation. Tests ask for it with `fail: "stats"`. */
export const calls = { open: 0, cancelled: 0 };

/** @type {any} Implements Echo, whose types are known only when it runs. */
export const echo = {
  async unary(request, context) {
    answerMetadata(context);
    if (request.fail === "stats") return { count: calls.open * 1_000_000 + calls.cancelled };
    if (request.fail !== "") throw new ConnectError(request.fail, Code.FailedPrecondition, { "error-detail": "here" });
    if (request.hang) await cancelled(context.signal);
    return { data: request.data };
  },

  async *serverStream(request, context) {
    answerMetadata(context);
    calls.open++;
    try {
      const reply = create(Payload, { data: request.data });
      for (let i = 0; i < request.count; i++) yield reply;
      if (request.fail !== "") throw new ConnectError(request.fail, Code.FailedPrecondition);
      if (request.hang) await cancelled(context.signal);
    } finally {
      calls.open--;
    }
  },

  async clientStream(requests, context) {
    answerMetadata(context);
    let [count, bytes] = [0, 0];
    for await (const { data } of requests) {
      count++;
      bytes += data.length;
    }
    return { count, fail: String(bytes) };
  },

  async *bidi(requests, context) {
    answerMetadata(context);
    for await (const request of requests) yield { data: request.data };
  },
};

/** Metadata comes back as a header and as a trailer, text and binary. */
function answerMetadata({ requestHeader, responseHeader, responseTrailer }) {
  for (const name of ["x-echo", "x-echo-bin"]) {
    const value = requestHeader.get(name);
    if (value === null) continue;
    responseHeader.set(name, value);
    responseTrailer.set(name.replace("echo", "trailer"), value);
  }
}

function cancelled(signal) {
  calls.open++;
  return new Promise((_, reject) => {
    const stop = () => {
      calls.open--;
      calls.cancelled++;
      reject(signal.reason);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
  });
}
