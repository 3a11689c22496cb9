/** The relay under watch, in a process of its own. Its arguments are more origins under which it may be dialled. */
import { openTestRelay } from "../../relay/testing/open_relay.ts";
import { createCertificate } from "../support/mod.ts";

const certificate = await createCertificate();
// The relay reads this list at each authentication, so its own ports may be added once they are known.
const origins: string[] = [...Deno.args];
const relay = await openTestRelay({ certificate, config: { origins } });
const { quicPort, grpcPort } = relay;
origins.push(`quic://localhost:${quicPort}`, `https://localhost:${grpcPort}`, `grpc://localhost:${grpcPort}`);
console.log(JSON.stringify({ quicPort, grpcPort, cert: certificate.cert }));
// Until whoever started it goes.
for await (const _ of Deno.stdin.readable);
await relay.close();
Deno.exit(0);
