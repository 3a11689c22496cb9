/**
 * A service with several relays on one log: API, relays and NATS nodes, each a process that can be
 * killed and started again. Relays reach nodes over TLS with their key, as nodes reach each other.
 */
import { runAdmin } from "../../../api/mod.ts";
import { anyBackend, readTestConfig, relaySecret, type SignedUp, signUp } from "../api/harness.ts";
import { type ApiProcess, startProcess } from "../api/process.ts";
import { freePorts, type NatsOptions, startNats, type TestNats } from "../mod.ts";
import { type RelayProcess, startRelayProcess } from "../relay/process.ts";

export interface RelayClusterOptions {
  readonly relays: number;
  /** For tests that cut nodes off, or give them disks of their own. */
  readonly nodes?: Pick<NatsOptions, "wayTo" | "folderOf">;
  /** The data directory of a relay, from 0, for a test that gives it a disk of its own. */
  readonly relayFolder?: (relay: number) => string | undefined;
  /** TCP ports that agents dial, one for each relay, where something stands before the relays. */
  readonly frontPorts?: readonly number[];
  /** More variables of the API. */
  readonly apiVariables?: Readonly<Record<string, string>>;
  /** More variables of each relay. */
  readonly relayVariables?: Readonly<Record<string, string>>;
}

/**
 * So often a relay is started that ends because nodes or API are not there yet, as any supervisor
 * does.
 */
const starts = 20;

export class RelayCluster implements AsyncDisposable {
  readonly #opened = new AsyncDisposableStack();
  readonly #apiEnvironment: Record<string, string>;
  readonly folder: string;
  readonly nats: TestNats;
  api!: ApiProcess;
  account!: SignedUp;
  readonly relays: ClusterRelay[] = [];

  private constructor(folder: string, nats: TestNats, apiEnvironment: Record<string, string>) {
    this.folder = folder;
    this.nats = nats;
    this.#apiEnvironment = apiEnvironment;
  }

  static async start(
    {
      relays: count,
      nodes = {},
      relayFolder,
      frontPorts = [],
      apiVariables = {},
      relayVariables = {},
    }: RelayClusterOptions,
  ): Promise<RelayCluster> {
    await using opened = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir({ prefix: "static-cluster-" });
    opened.defer(() => Deno.remove(folder, { recursive: true }));
    const nats = opened.use(await startNats(nodes));
    const backend = await anyBackend.open();
    opened.defer(() => backend.close());
    const [port = 0, internalPort = 0] = freePorts(2);
    const ports = { STATIC_API_PORT: String(port), STATIC_INTERNAL_PORT: String(internalPort) };
    const cluster = new RelayCluster(folder, nats, {
      ...backend.environment,
      ...ports,
      ...apiVariables,
    });
    cluster.#opened.use(opened.move());
    try {
      await cluster.startApi();
      cluster.#opened.defer(() => cluster.api.stop());
      cluster.account = await signUp(cluster.api.call);
      await cluster.admin("set-plan", cluster.account.email, "enterprise");
      for (let number = 1; number <= count; number++) {
        await cluster.#addRelay(number, {
          folder: relayFolder?.(number - 1) ?? `${folder}/relay-${number}`,
          frontPort: frontPorts[number - 1],
          variables: relayVariables,
        });
      }
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** For every agent. */
  get endpoint(): string {
    return this.relays.map(({ urls }) => urls).join(",");
  }

  async authorities(): Promise<string[]> {
    return await Promise.all(this.relays.map(({ process }) => Deno.readTextFile(process.caFile)));
  }

  async startApi(): Promise<void> {
    this.api = await startProcess(this.#apiEnvironment);
  }

  async admin(...args: string[]): Promise<string> {
    return await runAdmin(args, readTestConfig(this.#apiEnvironment), Date.now);
  }

  /** The account's usage, once every relay has stopped and returned its leases. */
  async settledUsage(): Promise<number> {
    for (const { process } of this.relays) {
      process.signal("SIGTERM");
      await process.finished();
    }
    const { json } = await this.api.call("GET", "/v1/usage", { key: this.account.apiKey });
    return json.messages.used;
  }

  /** As for an upgrade: one after the other, and the next one when this one is in again. */
  async restartOneByOne(restMs: number): Promise<void> {
    for (const relay of this.relays) {
      relay.process.signal("SIGTERM");
      await relay.process.finished();
      await relay.startAgain();
      // wait: an operator looks whether it is well
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }

  /** How many agents have a session at each relay. */
  agents(): Promise<number[]> {
    return Promise.all(this.relays.map((relay) => relay.agents()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }

  async #addRelay(number: number, { folder, frontPort, variables }: RelayPlace): Promise<void> {
    const [quicPort = 0, grpcPort = 0, adminPort = 0] = freePorts(3);
    const urls = `quic://localhost:${quicPort},https://localhost:${frontPort ?? grpcPort}`;
    const relay = new ClusterRelay(urls, {
      ...frontPort === undefined ? {} : { STATIC_RELAY_ORIGINS: urls },
      STATIC_ADMIN_PORT: String(adminPort),
      STATIC_DATA_DIR: folder,
      STATIC_API_URL: this.api.url,
      STATIC_API_INTERNAL_URL: this.api.internalUrl,
      STATIC_RELAY_SECRET: relaySecret,
      STATIC_RELAY_QUIC_PORT: String(quicPort),
      STATIC_RELAY_GRPC_PORT: String(grpcPort),
      ...this.nats.variables,
      STATIC_RELAY_ID: `relay-${number}`,
      ...variables,
    });
    await relay.start();
    this.#opened.defer(() => relay.process.stop());
    this.relays.push(relay);
  }
}

interface RelayPlace {
  readonly folder: string;
  readonly frontPort: number | undefined;
  readonly variables: Readonly<Record<string, string>>;
}

export class ClusterRelay {
  readonly urls: string;
  readonly #environment: Readonly<Record<string, string>>;
  process!: RelayProcess;
  /** The process has ended, and nobody asked it to. */
  #gone = false;

  constructor(urls: string, environment: Readonly<Record<string, string>>) {
    this.urls = urls;
    this.#environment = environment;
  }

  async start(): Promise<void> {
    this.#gone = false;
    const process = await startRelayProcess(this.#environment);
    this.process = process;
    void process.finished().then(() => void (this.#gone = this.process === process));
  }

  /** Starts it until it serves. */
  async startAgain(): Promise<void> {
    for (let attempt = 1;; attempt++) {
      try {
        return await this.start();
      } catch (error) {
        if (attempt === starts) throw error;
      }
    }
  }

  /**
   * It was frozen for so long that the others gave it up, and has noticed: it ends, and a
   * supervisor starts it again.
   */
  get isGivenUp(): boolean {
    return this.lastWords?.includes("have given this one up") ?? false;
  }

  /** Its last complaint, if it has ended; undefined while it runs. */
  get lastWords(): string | undefined {
    if (!this.#gone) return undefined;
    return this.process.output().split("\n").filter((line) => !/"level":"info"/.test(line)).slice(
      -4,
    ).join("\n");
  }

  /** Agents that have a session here. */
  agents(): Promise<number> {
    return this.metric("sessions_authenticated");
  }

  /** 0 while there is no such metric. */
  async metric(name: string): Promise<number> {
    const text = await this.process.metrics();
    return Number(new RegExp(`^static_relay_${name} (\\S+)$`, "m").exec(text)?.[1] ?? 0);
  }
}
