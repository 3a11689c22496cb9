/**
 * The load over the gRPC `Session` stream, for Node (bundled): the same arguments and lines as
 * `quic_load.ts`.
 */
import { readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import process from "node:process";
import { createInterface } from "node:readline";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { Relay } from "../../proto/wire/grpc.ts";
import { limits } from "../../proto/mod.ts";
import { answerLines, type LoadStream } from "./load.ts";

const [port = "", certFile = "", token = ""] = process.argv.slice(2);
const ca = readFileSync(certFile);
const origin = `https://localhost:${port}`;
const path = "/static.relay.v1.Relay/Session";
const { input, output } = Relay.method.session;
/** Compression flag and length before each message. */
const prefixBytes = 5;

function connect(): Promise<LoadStream> {
  const session = connectHttp2(origin, { ca });
  session.on("error", () => {});
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.on("error", () => {});
  const framed = (cell: Uint8Array<ArrayBuffer>): Uint8Array => {
    const message = toBinary(input, create(input, { cell }));
    const frame = new Uint8Array(prefixBytes + message.length);
    new DataView(frame.buffer).setUint32(1, message.length);
    frame.set(message, prefixBytes);
    return frame;
  };
  return Promise.resolve({
    read: (onChunk) => {
      let rest = new Uint8Array(0);
      stream.on("data", (chunk: Uint8Array) => {
        let bytes = rest.length === 0 ? chunk : new Uint8Array([...rest, ...chunk]);
        while (bytes.length >= prefixBytes) {
          const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
          if (bytes.length < prefixBytes + length) break;
          onChunk(fromBinary(output, bytes.subarray(prefixBytes, prefixBytes + length)).cell);
          bytes = bytes.subarray(prefixBytes + length);
        }
        rest = bytes.slice();
      });
      return new Promise((resolve) => stream.on("close", () => resolve()));
    },
    write: (cells) => {
      const written: Promise<void>[] = [];
      for (let at = 0; at < cells.length; at += limits.cellBytes) {
        const frame = framed(cells.subarray(at, at + limits.cellBytes));
        written.push(new Promise((resolve) => stream.write(frame, () => resolve())));
      }
      return Promise.all(written);
    },
    close: () => session.destroy(),
  });
}

await answerLines(createInterface({ input: process.stdin }), { origin, connect }, token);
process.exit(0);
