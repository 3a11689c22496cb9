/**
 * The process of a `DoomedRelay`. Arguments: folder of its certificate and database, UDP port, TCP
 * port. Prints its ports.
 */
import { openTestRelay } from "../../relay/testing/open_relay.ts";

const [folder = "", quic = "0", grpc = "0"] = Deno.args;
const [cert, key] = await Promise.all(
  ["cert.pem", "key.pem"].map((name) => Deno.readTextFile(`${folder}/${name}`)),
);
const certificate = { cert: cert ?? "", key: key ?? "" };
const ports = { quicPort: Number(quic), grpcPort: Number(grpc) };
const { quicPort, grpcPort } = await openTestRelay({
  path: `${folder}/relay.db`,
  certificate,
  ports,
});
console.log(JSON.stringify({ quicPort, grpcPort }));
