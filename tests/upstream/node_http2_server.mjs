// A server on node:http2 that answers with trailers, as gRPC does. Arguments: certificate file, key file. Prints its port;
// the end of its input ends it.
import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
import process from "node:process";

const [cert, key] = process.argv.slice(2).map((path) => readFileSync(path, "utf8"));
const server = createSecureServer({ cert, key, minVersion: "TLSv1.3" });
server.on("sessionError", () => {});
server.on("stream", (stream) => {
  stream.on("error", () => {});
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.respond({ ":status": 200 }, { waitForTrailers: true });
  stream.end("hello");
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit(0)).resume();
