/** Calls that need no session, as many as it can, from one address or many. */
import { createClient, type Transport } from "@connectrpc/connect";
import { Relay } from "../../../proto/wire/grpc.ts";
import { attack } from "../../support/hostile/attack.ts";
import { connectTransport } from "../../support/relay/deno_clients.ts";

export interface StrangerCallsOrder {
  readonly port: number;
  readonly ca: string;
  readonly addresses: readonly string[];
  /** Calls under way at once, from each address. */
  readonly parallel: number;
}

export interface StrangerCallsReport {
  answered: number;
  refused: number;
}

await attack<StrangerCallsOrder, StrangerCallsReport>(
  async ({ port, ca, addresses, parallel }, stop) => {
    const report: StrangerCallsReport = { answered: 0, refused: 0 };
    const keepCalling = async (transport: Transport): Promise<void> => {
      const relay = createClient(Relay, transport);
      while (!stop.aborted) {
        const isAnswered = await relay.ping({}, { signal: stop }).then(() => true, () => false);
        report[isAnswered ? "answered" : "refused"]++;
        // An attacker that is cut off would otherwise spend this machine on its own errors.
        if (!isAnswered) await new Promise((resolve) => setTimeout(resolve, 20)); // wait: a pace
      }
    };
    await Promise.race([
      Promise.all(addresses.map(async (localAddress) => {
        using calls = connectTransport(port, ca, localAddress);
        await Promise.all(Array.from({ length: parallel }, () => keepCalling(calls.transport)));
      })),
      new Promise((resolve) => stop.addEventListener("abort", () => setTimeout(resolve, 500))),
    ]);
    return report;
  },
);
