/**
 * The program `nats-server` of this machine, and the configuration of nodes on loopback. Versions
 * before 2.15 sync once for each message instead of once for a group of them, so they are not used.
 */
import { dirname } from "node:path";
import { nodeFiles, type NodeNames } from "../nats/keys.ts";

export interface NatsNode {
  /** From 1. */
  readonly number: number;
  readonly clientPort: number;
  readonly monitorPort: number;
  /** The port for the other nodes. */
  readonly routePort: number;
  /** Everything of this node is below it. */
  readonly folder: string;
}

export type NatsSearch =
  | { readonly outcome: "found"; readonly program: string; readonly version: string }
  /** `why` is a sentence without its full stop. */
  | { readonly outcome: "missing"; readonly why: string };

export const oldestNats = "2.15";

/** Entries of the log reach 4.75 MiB. */
const maxPayload = "8MB";
/**
 * A machine that has much else to do takes longer than the two seconds that a node gives by itself.
 */
const handshakeSeconds = 30;

/**
 * `named` is the value of `STATIC_NATS_SERVER`, and it alone is looked at when it is given; `path`
 * is that of `PATH`.
 */
export function findNatsServer(
  { named, path }: { readonly named: string | undefined; readonly path: string },
): NatsSearch {
  const programs = named !== undefined
    ? [named]
    : path.split(":").map((folder) => `${folder}/nats-server`);
  const old: string[] = [];
  for (const program of programs) {
    const version = natsVersion(program);
    if (version === undefined) continue;
    if (isNewEnough(version)) return { outcome: "found", program, version };
    old.push(`${program} is ${version}`);
  }
  const what = named !== undefined
    ? `STATIC_NATS_SERVER names ${named}`
    : "PATH has no nats-server";
  const why = old.length > 0
    ? `${old.join(", ")}, and at least ${oldestNats} is needed`
    : named !== undefined
    ? `${what}, which is no nats-server`
    : what;
  return { outcome: "missing", why };
}

/** Undefined when the program cannot be run, or is another one. */
export function natsVersion(program: string): string | undefined {
  try {
    const { success, stdout } = new Deno.Command(program, {
      args: ["--version"],
      stdin: "null",
      stderr: "null",
    })
      .outputSync();
    const [, version] = /^nats-server: v(\d+\.\d+\.\d+)/.exec(new TextDecoder().decode(stdout)) ??
      [];
    return success ? version : undefined;
  } catch {
    return undefined;
  }
}

export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestNats.split(".").map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

/** Where the keys of nodes on this machine are: beside the folders of the nodes. */
export function keysBeside({ folder }: NatsNode): string {
  return `${dirname(folder)}/keys`;
}

/** As the nodes' one folder of keys is called. */
export const localNode: NodeNames = ["node", "localhost", "127.0.0.1"];

/** The configuration file of one of `nodes`. One node alone has no cluster. */
export function natsConfig(node: NatsNode, nodes: readonly NatsNode[]): string {
  const quoted = (name: string): string =>
    JSON.stringify(`${keysBeside(node)}/${localNode[0]}/${name}`);
  const keys = `cert_file: ${quoted(nodeFiles.cert)}, key_file: ${
    quoted(nodeFiles.key)
  }, timeout: ${handshakeSeconds}`;
  const routes = nodes.filter((each) => each !== node).map(({ routePort }) =>
    `"tls://127.0.0.1:${routePort}"`
  );
  const cluster = nodes.length === 1 ? "" : `
cluster {
  name: static
  listen: "127.0.0.1:${node.routePort}"
  no_advertise: true
  routes: [${routes.join(", ")}]
  tls { ${keys}, ca_file: ${quoted(nodeFiles.ca)}, verify: true }
}`;
  return `server_name: static-${node.number}
listen: "127.0.0.1:${node.clientPort}"
https: "127.0.0.1:${node.monitorPort}"
max_payload: ${maxPayload}
tls { ${keys} }
include "../keys/${localNode[0]}/${nodeFiles.accounts}"
jetstream {
  store_dir: ${JSON.stringify(`${node.folder}/store`)}
  sync_interval: always
}${cluster}
`;
}

/** For questions at the monitoring port of one of these nodes. */
export function createMonitorClient(node: NatsNode): Deno.HttpClient {
  const ca = Deno.readTextFileSync(`${keysBeside(node)}/${localNode[0]}/${nodeFiles.ca}`);
  return Deno.createHttpClient({ caCerts: [ca] });
}
