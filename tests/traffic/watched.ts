/**
 * The sessions that are watched, and how: each is an agent in a process of its own, so that only
 * its own work can move its own ticks, and dials a loopback address of its own, by which a capture
 * knows whose packets it sees.
 */
import type { CoverOptions } from "../../sdk/mod.ts";
import { createProject } from "../../tools/bundle.ts";
import type { AgentOptions } from "./agent.ts";
import type { Forwarders } from "./forwarder_process.ts";
import { LineProcess } from "./line_process.ts";
import {
  type Capture,
  type Observation,
  observe,
  type Seen,
  type WireTransport,
} from "./observation.ts";
import { startPacketCapture } from "./packet_capture.ts";
import type { RelayPorts } from "./relay_process.ts";

export interface WatchedOptions {
  readonly transport: WireTransport;
  readonly cover: CoverOptions;
  /** Packets of the machine, or a forwarder at the socket layer. */
  readonly capture: "packets" | "sockets";
}

export interface Watched extends WatchedOptions {
  readonly identity: string;
  readonly address: string;
}

export interface WatchedAgent {
  readonly process: LineProcess;
  readonly watched: Watched;
}

const network = "127.1.0.0/16";

export function createWatched(options: WatchedOptions, number: number): Watched {
  return { ...options, identity: `watched-${number}`, address: `127.1.0.${number + 1}` };
}

export function isForwarded({ capture }: Watched): boolean {
  return capture === "sockets";
}

/** Origins that the relay does not know by itself. */
export function originsOf(watched: readonly Watched[], { ports }: Forwarders): string[] {
  return watched.filter(isForwarded).map(({ transport }, i) =>
    `${schemeOf(transport)}://localhost:${ports[i]}`
  );
}

function schemeOf(transport: WireTransport): string {
  return transport === "quic" ? "quic" : "https";
}

export interface Surroundings {
  readonly relay: RelayPorts;
  /** For those that are seen at the socket layer, in their order. */
  readonly forwarders: Forwarders;
  readonly folder: string;
}

function portOf({ transport }: Watched, { quicPort, grpcPort }: RelayPorts): number {
  return transport === "quic" ? quicPort : grpcPort;
}

/** All at once: starting them takes longer than anything else here. */
export async function startAgents(
  all: readonly Watched[],
  { relay, forwarders, folder, token }: Surroundings & { readonly token: string },
  opened: AsyncDisposableStack,
): Promise<WatchedAgent[]> {
  const forwarded = all.filter(isForwarded);
  await forwarders.connectTo(forwarded.map((watched) => portOf(watched, relay)));
  const bundle = all.some(({ transport }) => transport === "grpc")
    ? bundleForNode(opened)
    : undefined;
  return await Promise.all(all.map(async (watched) => {
    const { transport, cover, address, identity } = watched;
    const host = isForwarded(watched)
      ? `localhost:${forwarders.ports[forwarded.indexOf(watched)]}`
      : `${address}:${portOf(watched, relay)}`;
    const endpoint = `${schemeOf(transport)}://${host}`;
    const options: AgentOptions = {
      folder,
      token,
      endpoint,
      transport,
      cover,
      identity,
      cert: relay.cert,
    };
    const argument = JSON.stringify(options);
    // Both runtimes are watched.
    const process = transport === "grpc" && bundle !== undefined
      ? new LineProcess("node", [await bundle, argument])
      : LineProcess.deno("agent.ts", [argument], { SSLKEYLOGFILE: keyLogOf(watched, folder) });
    opened.defer(() => process.end());
    await process.next();
    return { process, watched };
  }));
}

async function bundleForNode(opened: AsyncDisposableStack): Promise<string> {
  const project = opened.use(await createProject());
  return await project.bundle(new URL("agent.ts", import.meta.url), "node");
}

function keyLogOf({ identity }: Watched, folder: string): string {
  return `${folder}/${identity}.keys`;
}

export interface Watch {
  /** The observations of each. */
  stop(): Promise<ReadonlyMap<Watched, readonly Observation[]>>;
}

/** Sees everything from the first packet of the first agent. */
export async function startWatch(
  all: readonly Watched[],
  { relay, forwarders, folder }: Surroundings,
): Promise<Watch> {
  const captures: Capture[] = [];
  if (!all.every(isForwarded)) {
    captures.push(
      await startPacketCapture({ protocol: "udp", port: relay.quicPort, network, folder }),
    );
    captures.push(
      await startPacketCapture({ protocol: "tcp", port: relay.grpcPort, network, folder }),
    );
  }
  return {
    stop: async () => {
      const packets = new Map<string, readonly Seen[]>();
      for (const seen of await Promise.all(captures.map((capture) => capture.stop()))) {
        for (const [address, of] of seen) packets.set(address, of);
      }
      const forwarded = await forwarders.stop();
      return new Map(all.map((watched) => {
        const seen = isForwarded(watched) ? forwarded.shift() : packets.get(watched.address);
        const keyLog = watched.transport === "quic"
          ? Deno.readTextFileSync(keyLogOf(watched, folder))
          : "";
        return [watched, observe(seen ?? [], keyLog)];
      }));
    },
  };
}
