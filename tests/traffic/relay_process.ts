/**
 * The relay under watch, in a process of its own. Its arguments: addresses and whole origins under
 * which it may be dialled.
 */
import { openTestRelay } from "../../relay/testing/open_relay.ts";
import { createCertificate } from "../support/mod.ts";

export interface RelayPorts {
  readonly quicPort: number;
  readonly grpcPort: number;
  readonly cert: string;
}

const { addresses, origins: given }: { addresses: string[]; origins: string[] } = JSON.parse(
  Deno.args[0] ?? "{}",
);
const certificate = await createCertificate({
  dns: ["localhost"],
  addresses: addresses.map((address) => address.split(".").map(Number)),
});
// The relay reads this list at each authentication, so its own ports may be added once they are
// known.
const origins = [...given];
// One peer invites everybody to everything.
const many = 1_000_000;
const config = {
  origins,
  invitesPerAgentAndHour: many,
  channelsPerAccount: many,
  subscriptionsPerSession: many,
};
const relay = await openTestRelay({ certificate, config });
const { quicPort, grpcPort } = relay;
for (const host of ["localhost", ...addresses]) {
  origins.push(`quic://${host}:${quicPort}`, `https://${host}:${grpcPort}`);
}
const ports: RelayPorts = { quicPort, grpcPort, cert: certificate.cert };
console.log(JSON.stringify(ports));
// Until the starting process ends.
for await (const _ of Deno.stdin.readable);
await relay.close();
Deno.exit(0);
