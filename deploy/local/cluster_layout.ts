/**
 * Where the parts of a stack with several relays are: three NATS nodes and the relays, on ports
 * that follow from the first relay's in steps of ten. Each relay has a folder of its own, so that
 * the file of a stack with one relay stays as it is, with copies of what all of them must have
 * alike: authority, certificate, the secret for the API, and the key for the nodes.
 */
import type { WantedPort } from "./free_ports.ts";
import { relayFiles } from "../nats/keys.ts";
import type { NatsNode } from "./nats_server.ts";
import type { RelayConfig } from "../../relay/mod.ts";

export interface RelayLayout {
  readonly name: string;
  readonly folder: string;
  /** For its process, beside what every relay is told. */
  readonly environment: Readonly<Record<string, string>>;
  readonly grpcPort: number;
  readonly quicPort: number;
  readonly adminPort: number | undefined;
}

type FirstRelay = Pick<RelayConfig, "dataDir" | "grpcPort" | "quicPort" | "admin">;

/** They hold keys, and copies have the same permissions. */
const sharedFiles = ["ca_key.pem", "relay_certificate.pem", "relay_secret"];
/** From the data directory. */
const relayKeys = "nats/keys/relay";

const nodeCount = 3;
const step = 10;

/** From what a relay alone would have. Port 0 lets the system choose, for each. */
export function placeRelays(
  count: number,
  { dataDir, grpcPort, quicPort, admin }: FirstRelay,
  nodes: readonly NatsNode[],
): readonly RelayLayout[] {
  return Array.from({ length: count }, (_, index) => {
    const next = (port: number): number => port === 0 ? 0 : port + step * index;
    const ports = {
      grpcPort: next(grpcPort),
      quicPort: next(quicPort),
      adminPort: admin === undefined ? undefined : next(admin.port),
    };
    const folder = `${dataDir}/relays/${index + 1}`;
    return {
      name: `Relay ${index + 1}`,
      folder,
      ...ports,
      environment: {
        ...clusterVariables(nodes),
        STATIC_NATS_CA: `${folder}/${relayFiles.ca}`,
        STATIC_NATS_CREDENTIALS: `${folder}/${relayFiles.credentials}`,
        STATIC_RELAY_ID: `relay-${index + 1}`,
        STATIC_DATA_DIR: folder,
        STATIC_RELAY_GRPC_PORT: String(ports.grpcPort),
        STATIC_RELAY_QUIC_PORT: String(ports.quicPort),
        STATIC_ADMIN_PORT: ports.adminPort === undefined ? "off" : String(ports.adminPort),
      },
    };
  });
}

/** Gives a relay what it must have in common with the others. `dataDir` is the stack's. */
export function prepareFolder({ folder }: RelayLayout, dataDir: string): void {
  Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const keys = Object.values(relayFiles).map((name) => `${relayKeys}/${name}`);
  for (const path of [...sharedFiles, ...keys]) {
    try {
      Deno.copyFileSync(`${dataDir}/${path}`, `${folder}/${path.slice(path.lastIndexOf("/") + 1)}`);
    } catch (error) {
      // A configured certificate or secret has no file here.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/**
 * Variables of every relay on these nodes, without the files of its key, which are in its own
 * folder.
 */
export function clusterVariables(nodes: readonly NatsNode[]): Readonly<Record<string, string>> {
  return {
    STATIC_RELAY_ENGINE: "jetstream",
    STATIC_NATS_URLS: nodes.map(({ clientPort }) => `tls://127.0.0.1:${clientPort}`).join(","),
    STATIC_NATS_MONITOR_URLS: nodes.map(({ monitorPort }) => `https://127.0.0.1:${monitorPort}`)
      .join(","),
  };
}

/**
 * Three on loopback: for clients at `port`, `port` + 10 and `port` + 20, with two more ports behind
 * each.
 */
export function placeNodes(port: number, dataDir: string): readonly NatsNode[] {
  return Array.from({ length: nodeCount }, (_, index) => {
    const clientPort = port + step * index;
    const folder = `${dataDir}/nats/${index + 1}`;
    return {
      number: index + 1,
      clientPort,
      monitorPort: clientPort + 1,
      routePort: clientPort + 2,
      folder,
    };
  });
}

/** Addresses of every relay for clients, as far as ports are known. */
export function relayUrlsOf(places: readonly RelayLayout[]): readonly string[] {
  return places.flatMap(({ quicPort, grpcPort }) =>
    quicPort === 0 || grpcPort === 0
      ? []
      : [`quic://localhost:${quicPort}`, `https://localhost:${grpcPort}`]
  );
}

export function wantedPorts(
  places: readonly RelayLayout[],
  nodes: readonly NatsNode[],
  { host, adminHost }: { readonly host: string; readonly adminHost: string | undefined },
): readonly WantedPort[] {
  const relays = places.flatMap(({ grpcPort, quicPort, adminPort }): WantedPort[] => [
    { hostname: host, port: grpcPort, transport: "tcp", variable: "STATIC_RELAY_GRPC_PORT" },
    { hostname: host, port: quicPort, transport: "udp", variable: "STATIC_RELAY_QUIC_PORT" },
    ...(adminPort === undefined || adminHost === undefined ? [] : [
      {
        hostname: adminHost,
        port: adminPort,
        transport: "tcp",
        variable: "STATIC_ADMIN_PORT",
      } as const,
    ]),
  ]);
  const ofNodes = nodes.flatMap(({ clientPort, monitorPort, routePort }) =>
    [clientPort, monitorPort, routePort].map((port): WantedPort => {
      return { hostname: "127.0.0.1", port, transport: "tcp", variable: "STATIC_NATS_PORT" };
    })
  );
  return [...relays, ...ofNodes];
}
