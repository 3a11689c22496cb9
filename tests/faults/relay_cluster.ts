/** A service with several relays on one log: API, relays and NATS nodes, each a process that can be killed and started again. */
import { runAdmin } from "../../api/mod.ts";
import { anyBackend, readTestConfig, relaySecret, type SignedUp, signUp } from "../support/api/harness.ts";
import { type ApiProcess, startProcess } from "../support/api/process.ts";
import { freePorts, startNats, type TestNats } from "../support/mod.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay/process.ts";

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

  static async start({ relays: count }: { readonly relays: number }): Promise<RelayCluster> {
    await using opened = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir({ prefix: "static-cluster-" });
    opened.defer(() => Deno.remove(folder, { recursive: true }));
    const nats = opened.use(await startNats());
    const backend = await anyBackend.open();
    opened.defer(() => backend.close());
    const [port = 0, internalPort = 0] = freePorts(2);
    const ports = { STATIC_API_PORT: String(port), STATIC_INTERNAL_PORT: String(internalPort) };
    const cluster = new RelayCluster(folder, nats, { ...backend.environment, ...ports });
    cluster.#opened.use(opened.move());
    try {
      await cluster.startApi();
      cluster.#opened.defer(() => cluster.api.stop());
      cluster.account = await signUp(cluster.api.call);
      await cluster.admin("set-plan", cluster.account.email, "enterprise");
      for (let number = 1; number <= count; number++) await cluster.#addRelay(number);
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }

  async #addRelay(number: number): Promise<void> {
    const [quicPort = 0, grpcPort = 0] = freePorts(2);
    const relay = new ClusterRelay(`quic://localhost:${quicPort},https://localhost:${grpcPort}`, {
      STATIC_DATA_DIR: `${this.folder}/relay-${number}`,
      STATIC_API_URL: this.api.url,
      STATIC_API_INTERNAL_URL: this.api.internalUrl,
      STATIC_RELAY_SECRET: relaySecret,
      STATIC_RELAY_QUIC_PORT: String(quicPort),
      STATIC_RELAY_GRPC_PORT: String(grpcPort),
      STATIC_RELAY_ENGINE: "jetstream",
      STATIC_RELAY_ID: `relay-${number}`,
      STATIC_NATS_URLS: this.nats.urls.join(","),
      STATIC_NATS_MONITOR_URLS: this.nats.monitorUrls.join(","),
    });
    await relay.start();
    this.#opened.defer(() => relay.process.stop());
    this.relays.push(relay);
  }
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

  /** Its last complaint, if it has ended; undefined while it runs. */
  get lastWords(): string | undefined {
    if (!this.#gone) return undefined;
    return this.process.output().split("\n").filter((line) => !/"level":"info"/.test(line)).slice(-4).join("\n");
  }

  /** Agents that have a session here. */
  async agents(): Promise<number> {
    const text = await this.process.metrics();
    return Number(/^static_relay_sessions_authenticated (\d+)$/m.exec(text)?.[1] ?? 0);
  }
}
