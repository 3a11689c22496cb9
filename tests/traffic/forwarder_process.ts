/**
 * Forwarders in a process of their own, which comes first like clients and relay: what a forwarder
 * is late, it shows as traffic. It is told as its argument what to forward, by its first line to
 * which ports, and by its second where to write what it saw.
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { forwardDatagrams, type Forwarder, forwardRecords } from "./forwarder.ts";
import { LineProcess } from "./line_process.ts";
import type { Seen, WireTransport } from "./observation.ts";

export interface Forwarders {
  /** Where each client connects to be seen. */
  readonly ports: readonly number[];
  connectTo(relayPorts: readonly number[]): Promise<void>;
  /** The observations of each, in order. */
  stop(): Promise<Seen[][]>;
}

export async function startForwarders(
  transports: readonly WireTransport[],
  folder: string,
  opened: AsyncDisposableStack,
): Promise<Forwarders> {
  const process = LineProcess.deno("forwarder_process.ts", [JSON.stringify(transports)]);
  opened.defer(() => process.end());
  const ports = await process.next<number[]>();
  return {
    ports,
    connectTo: async (relayPorts) => void await process.ask(relayPorts),
    stop: async () => {
      const file = `${folder}/forwarded.json`;
      await process.ask(file);
      return JSON.parse(await Deno.readTextFile(file), (key, value) => {
        return key === "datagram" ? Uint8Array.fromHex(value) : value;
      });
    },
  };
}

async function serve(): Promise<void> {
  const transports: WireTransport[] = JSON.parse(process.argv[2] ?? "[]");
  const forwarders = transports.map((transport): Forwarder => {
    return transport === "quic" ? forwardDatagrams() : forwardRecords();
  });
  console.log(JSON.stringify(forwarders.map(({ port }) => port)));
  for await (const line of createInterface({ input: process.stdin })) {
    const told: number[] | string = JSON.parse(line);
    if (typeof told === "string") {
      const seen = forwarders.map((forwarder) => forwarder.stop());
      const text = JSON.stringify(
        seen,
        (_, value) => value instanceof Uint8Array ? value.toHex() : value,
      );
      await Deno.writeTextFile(told, text);
    } else {
      for (const [i, forwarder] of forwarders.entries()) forwarder.connectTo(told[i] ?? 0);
    }
    console.log("{}");
  }
  Deno.exit(0);
}

if (import.meta.main) await serve();
