/** The connection to the nodes of NATS, and what they must be before a relay trusts them with anything. */
import { jetstream, type JetStreamClient, type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { credsAuthenticator, type NatsConnection } from "@nats-io/nats-core";
import { connectToNodes } from "./node_connection.ts";
import { patiently } from "./patience.ts";

export interface NodesOptions {
  readonly urls: readonly string[];
  /** Content of a credentials file. */
  readonly credentials?: string | undefined;
  /** The authority that the nodes' certificates are of, as PEM. */
  readonly ca?: string | undefined;
  readonly isTls: boolean;
  /** Where nodes tell of themselves (`/varz`). */
  readonly monitorUrls: readonly string[];
  readonly name: string;
}

export interface Nodes {
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
}

/** Before it, a sync for every message makes `sync_interval: always` too slow to be used. */
const leastVersion: readonly [number, number] = [2, 15];
const connectMs = 5_000;
const answerMs = 2_000;
/** Entries reach 5 MiB. */
export const leastPayloadBytes = 7.5 * 1024 * 1024;

/** Throws an `Error` that says what is wrong with the nodes. */
export async function openNodes(options: NodesOptions): Promise<Nodes> {
  const answers = await Promise.all(options.monitorUrls.map(checkMonitor));
  // A node that is down promises nothing; one that is up must promise enough.
  if (answers.length > 0 && !answers.includes(true)) {
    throw new Error(`None of the nodes answers at ${options.monitorUrls.join(", ")}; start them first`);
  }
  const { urls, credentials, ca, isTls, name } = options;
  const connection = await connectToNodes({
    servers: [...urls],
    name,
    timeout: connectMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    pingInterval: 5_000,
    maxPingOut: 2,
    ...(credentials !== undefined && { authenticator: credsAuthenticator(new TextEncoder().encode(credentials)) }),
    ...(isTls && { tls: ca === undefined ? {} : { ca } }),
  });
  try {
    const { version = "unknown", max_payload = 0 } = connection.info ?? {};
    checkVersion(connection.getServer(), version);
    if (max_payload < leastPayloadBytes) {
      throw new Error(`${connection.getServer()} takes ${max_payload} bytes at once; set max_payload to 8MB`);
    }
    const manager = await patiently(() => jetstreamManager(connection, { timeout: answerMs }));
    return { connection, jetstream: jetstream(connection, { timeout: answerMs }), manager };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Returns whether it answers. Throws when its answer is not enough. */
async function checkMonitor(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/varz`, { signal: AbortSignal.timeout(connectMs) })
    .then((response) => response.json(), () => undefined);
  if (answer === undefined) return false;
  const { version, jetstream } = answer;
  checkVersion(url, String(version));
  if (jetstream?.config?.sync_always !== true) {
    throw new Error(`The node at ${url} answers before its disk has what it was given; set sync_interval to always`);
  }
  return true;
}

function checkVersion(where: string, version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor, leastMinor] = leastVersion;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return;
  throw new Error(`The node at ${where} is nats-server ${version}; ${leastVersion.join(".")} or newer is needed`);
}
