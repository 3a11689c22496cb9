/**
 * The connection to the nodes of NATS, and what they must be before a relay trusts them with
 * anything.
 */
import {
  jetstream,
  type JetStreamClient,
  type JetStreamManager,
  jetstreamManager,
} from "@nats-io/jetstream";
import {
  credsAuthenticator,
  type Msg,
  type NatsConnection,
  type Subscription,
} from "@nats-io/nats-core";
import { waits, within } from "../../../server/mod.ts";
import { connectToNodes } from "./node_connection.ts";
import { isLeaderless, patiently } from "./retry.ts";

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

/** Before it, a sync for every message makes `sync_interval: always` too slow to be used. */
const leastVersion: readonly [number, number] = [2, 15];
/** Entries reach 5 MiB. */
export const leastPayloadBytes = 7.5 * 1024 * 1024;
/** Pings in a row without an answer after which the client leaves its node. */
const pingsUnanswered = 2;
const reconnectPauseMs = 250;

/** NATS' client with its two faces for streams. */
interface NatsClient {
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
}

interface ProbedStream {
  /** The stream's name. */
  readonly name: string;
  readonly subject: string;
}

interface HeldSubscription {
  readonly subject: string;
  readonly take: (message: Msg) => void;
  subscription: Subscription;
}

/**
 * The text of this error is for anybody who asks: it has no address, and no words of nodes. Those
 * are in the error's cause.
 */
export class ProbeError extends Error {
  override readonly name = "ProbeError";
}

const noLeader = "its nodes have no leader for it";

/**
 * Throws a `ProbeError` with this text when a step fails, unless the nodes say that they have no
 * leader.
 */
async function doing<Result>(problem: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw new ProbeError(isLeaderless(cause) ? noLeader : problem, { cause });
  }
}

/** Throws an `Error` that says what is wrong with the nodes. */
export async function openNodes(options: NodesOptions): Promise<Nodes> {
  const answers = await Promise.all(
    options.monitorUrls.map((url) => checkMonitor(url, options.ca)),
  );
  // A node that is down promises nothing; one that is up must promise enough.
  if (answers.length > 0 && !answers.includes(true)) {
    throw new Error(
      `None of the nodes answers at ${options.monitorUrls.join(", ")}; start them first`,
    );
  }
  const client = await connect(options);
  const { connection } = client;
  try {
    const { version = "unknown", max_payload = 0 } = connection.info ?? {};
    checkVersion(connection.getServer(), version);
    checkPayload(connection.getServer(), max_payload);
    await patiently(() => client.manager.getAccountInfo());
    return new Nodes(options, client);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/**
 * The nodes, by a client that may be replaced by a new one at any moment: ask for `connection`,
 * `jetstream` and `manager` each time, and subscribe here.
 */
export class Nodes {
  readonly #options: NodesOptions;
  #client: NatsClient;
  readonly #held = new Set<HeldSubscription>();
  /** Clients that are being opened. */
  readonly #opening = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(options: NodesOptions, client: NatsClient) {
    this.#options = options;
    this.#client = client;
  }

  get connection(): NatsConnection {
    return this.#client.connection;
  }

  get jetstream(): JetStreamClient {
    return this.#client.jetstream;
  }

  get manager(): JetStreamManager {
    return this.#client.manager;
  }

  /** On this client and on those after it. Returns a function to stop. */
  subscribe(subject: string, take: (message: Msg) => void): () => void {
    const held: HeldSubscription = {
      subject,
      take,
      subscription: subscribe(this.#client, subject, take),
    };
    this.#held.add(held);
    return () => {
      this.#held.delete(held);
      held.subscription.unsubscribe();
    };
  }

  /**
   * Puts a new client in the place of the one at hand, whose node is tried last. The old one goes
   * when the new one stands, and nobody waits for that: it may never come to its end. Throws when
   * no node takes a client.
   */
  async renew(): Promise<void> {
    const silent = this.connection.getServer();
    const client = await this.#open(this.#options, silent);
    if (this.#isClosed) return await client.connection.close();
    const old = this.#client;
    this.#client = client;
    for (const held of this.#held) held.subscription = subscribe(client, held.subject, held.take);
    old.connection.close().catch(() => {});
  }

  /**
   * Writes an entry to a log over a connection of its own, and reads it back. Throws a `ProbeError`
   * when that fails: then a new process could do no more than this one. The entry must be one that
   * may come twice.
   */
  async probe({ name, subject }: ProbedStream, entry: Uint8Array): Promise<void> {
    const client = await doing("its nodes cannot be reached", () => {
      return this.#open({ ...this.#options, name: `${this.#options.name} probe` });
    });
    try {
      const { manager, jetstream } = client;
      const { cluster } = await doing(
        "its nodes do not tell of it",
        () => manager.streams.info(name),
      );
      // A node that is alone has no cluster, and leads.
      if (cluster !== undefined && !cluster.leader) throw new ProbeError(noLeader);
      const { seq } = await doing("its nodes take nobody's entries", () => {
        return jetstream.publish(subject, entry, { timeout: waits.nodeAnswer.ms, retries: 1 });
      });
      const found = await doing(
        "its nodes do not read it",
        () => manager.streams.getMessage(name, { seq }),
      );
      if (found === null) throw new ProbeError("its nodes do not have what they take");
    } finally {
      client.connection.close().catch(() => {});
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await within(waits.nodeAnswer.ms, this.connection.close());
    const opened = Promise.allSettled(this.#opening);
    await within(waits.nodeConnection.ms, opened.then(() => {}));
  }

  async #open(options: NodesOptions, last?: string): Promise<NatsClient> {
    const opening = connect(options, last);
    this.#opening.add(opening);
    try {
      return await opening;
    } finally {
      this.#opening.delete(opening);
    }
  }
}

/** An exception of `take` costs the connection, which is then made anew. */
function subscribe(
  { connection }: NatsClient,
  subject: string,
  take: (message: Msg) => void,
): Subscription {
  return connection.subscribe(subject, {
    callback: (error, message) => {
      if (error === null) take(message);
    },
  });
}

/** `last`: of the node that is tried after all others. */
async function connect(options: NodesOptions, last?: string): Promise<NatsClient> {
  const { urls, credentials, ca, isTls, name } = options;
  const isLast = (url: string): boolean => last !== undefined && url.endsWith(`//${last}`);
  const connection = await connectToNodes({
    servers: shuffled(urls).sort((one, other) => Number(isLast(one)) - Number(isLast(other))),
    noRandomize: true,
    // Addresses that nodes tell of each other are other names for the same nodes: the silent one
    // could not be told by its name.
    ignoreClusterUpdates: true,
    name,
    timeout: waits.nodeConnection.ms,
    // The client tries for ever: how long is too long is decided in one place, `silence.ts`. A
    // login that came too late counts as refused here.
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: reconnectPauseMs,
    pingInterval: waits.nodePing.ms,
    maxPingOut: pingsUnanswered,
    ...(credentials !== undefined &&
      { authenticator: credsAuthenticator(new TextEncoder().encode(credentials)) }),
    ...(isTls && { tls: ca === undefined ? {} : { ca } }),
  });
  const manager = await jetstreamManager(connection, {
    timeout: waits.nodeAnswer.ms,
    checkAPI: false,
  });
  return {
    connection,
    jetstream: jetstream(connection, { timeout: waits.nodeAnswer.ms }),
    manager,
  };
}

function shuffled(urls: readonly string[]): string[] {
  const keys = new Map(
    urls.map((url) => [url, crypto.getRandomValues(new Uint32Array(1))[0] ?? 0]),
  );
  return [...urls].sort((one, other) => (keys.get(one) ?? 0) - (keys.get(other) ?? 0));
}

/** Returns whether it answers. Throws when its answer is not enough. */
async function checkMonitor(url: string, ca: string | undefined): Promise<boolean> {
  using client = Deno.createHttpClient(ca === undefined ? {} : { caCerts: [ca] });
  const answer = await fetch(`${url}/varz`, {
    client,
    signal: AbortSignal.timeout(waits.nodeConnection.ms),
  })
    .then((response) => response.json(), () => undefined);
  if (answer === undefined) return false;
  const { version, jetstream, max_payload = 0 } = answer;
  checkVersion(url, String(version));
  checkPayload(`The node at ${url}`, max_payload);
  if (jetstream?.config?.sync_always !== true) {
    throw new Error(
      `The node at ${url} answers before its disk has what it was given; set sync_interval to always`,
    );
  }
  return true;
}

function checkPayload(who: string, bytes: number): void {
  if (bytes < leastPayloadBytes) {
    throw new Error(`${who} takes ${bytes} bytes at once; set max_payload to 8MB`);
  }
}

function checkVersion(where: string, version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor, leastMinor] = leastVersion;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return;
  throw new Error(
    `The node at ${where} is nats-server ${version}; ${leastVersion.join(".")} or newer is needed`,
  );
}
