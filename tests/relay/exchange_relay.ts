/** A relay in a process of its own, to be killed. Arguments: database file, certificate, key, UDP port. Prints its port. */
import { openTestRelay } from "../../relay/testing/open_relay.ts";

const [path = "", certFile = "", keyFile = "", quicPort = "0"] = Deno.args;
const certificate = { cert: await Deno.readTextFile(certFile), key: await Deno.readTextFile(keyFile) };
const relay = await openTestRelay({ path, certificate, ports: { quicPort: Number(quicPort), grpcPort: 0 } });
console.log(relay.quicPort);
