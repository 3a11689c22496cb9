/**
 * The whole service as an operator runs it, each part a process that can be killed, frozen and
 * started again where it was.
 */
import { runAdmin } from "../../api/mod.ts";
import {
  anyBackend,
  readTestConfig,
  relaySecret,
  type SignedUp,
  signUp,
} from "../support/api/harness.ts";
import { type ApiProcess, startProcess } from "../support/api/process.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay/process.ts";
import {
  freePort,
  freePorts,
  postgresInstalled,
  type Random,
  startPostgres,
  type TestPostgres,
} from "../support/mod.ts";
import { Actor } from "./actor.ts";
import { Link } from "./network.ts";

export interface StackOptions {
  readonly random: Random;
  /**
   * One for each agent, or for several together; the relay must know every address that is dialled.
   */
  readonly ways: readonly string[];
  readonly relay?: Readonly<Record<string, string>>;
  readonly api?: Readonly<Record<string, string>>;
  /** For tests that kill or freeze the database: one of its own, where PostgreSQL is installed. */
  readonly ownDatabase?: boolean;
}

export class Stack implements AsyncDisposable {
  readonly #opened = new AsyncDisposableStack();
  readonly folder: string;
  readonly relayPort = freePort();
  /** Undefined when others use its server too, or the API runs on its embedded database. */
  database: TestPostgres | undefined;
  account!: SignedUp;
  api!: ApiProcess;
  relay!: RelayProcess;
  readonly #links = new Map<string, Link>();
  #apiEnvironment: Record<string, string> = {};
  #relayEnvironment: Record<string, string> = {};

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async start(
    { random, ways, relay = {}, api = {}, ownDatabase = false }: StackOptions,
  ): Promise<Stack> {
    const stack = new Stack(await Deno.makeTempDir({ prefix: "static-faults-" }));
    try {
      stack.#opened.defer(() => Deno.remove(stack.folder, { recursive: true }));
      for (const way of ways) {
        stack.#links.set(way, stack.#opened.use(new Link(stack.relayPort, random)));
      }
      const [port, internalPort] = freePorts(2).map(String);
      const ports = { STATIC_API_PORT: port ?? "", STATIC_INTERNAL_PORT: internalPort ?? "" };
      stack.#apiEnvironment = { ...await stack.#openDatabase(ownDatabase), ...ports, ...api };
      await stack.startApi();
      stack.#opened.defer(() => stack.api.stop());
      stack.#relayEnvironment = {
        STATIC_DATA_DIR: `${stack.folder}/relay`,
        STATIC_API_URL: stack.api.url,
        STATIC_API_INTERNAL_URL: stack.api.internalUrl,
        STATIC_RELAY_SECRET: relaySecret,
        STATIC_RELAY_QUIC_PORT: String(stack.relayPort),
        STATIC_RELAY_ORIGINS: ways.map((way) => stack.endpointOf(way)).join(","),
        ...relay,
      };
      await stack.startRelay();
      stack.#opened.defer(() => stack.relay.stop());
      stack.account = await signUp(stack.api.call);
      return stack;
    } catch (error) {
      await stack[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The address to dial over this transport through the bad network. */
  endpointOf(way: string): string {
    return `quic://127.0.0.1:${this.#linkOf(way).port}`;
  }

  /** Not started yet. It goes the way of its name unless told another. */
  actor(
    name: string,
    { way = name, clockAheadMs = 0 }: { way?: string; clockAheadMs?: number } = {},
  ): Actor {
    const options = {
      endpoint: this.endpointOf(way),
      apiUrl: this.api.url,
      apiKey: this.account.apiKey,
      dataDir: `${this.folder}/${name}`,
      tls: { caFile: this.relay.caFile },
    };
    const actor = new Actor({ name, options, clockAheadMs }, this.#linkOf(way));
    this.#opened.defer(() => actor.kill());
    return actor;
  }

  async startApi(): Promise<void> {
    this.api = await startProcess(this.#apiEnvironment);
  }

  async startRelay(): Promise<void> {
    this.relay = await startRelayProcess(this.#relayEnvironment);
  }

  async killRelay(): Promise<void> {
    await this.relay.stop();
  }

  /** `deno task admin`, on the API's database. */
  async admin(...args: string[]): Promise<string> {
    return await runAdmin(args, readTestConfig(this.#apiEnvironment), Date.now);
  }

  /** The account's usage, once the relay has stopped and returned its leases. */
  async settledUsage(): Promise<number> {
    this.relay.signal("SIGTERM");
    await this.relay.finished();
    const { json } = await this.api.call("GET", "/v1/usage", { key: this.account.apiKey });
    return json.messages.used;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }

  async #openDatabase(isOwn: boolean): Promise<Record<string, string>> {
    if (!isOwn || !postgresInstalled.met) {
      const backend = await anyBackend.open();
      this.#opened.defer(() => backend.close());
      return backend.environment;
    }
    const database = await startPostgres();
    this.#opened.defer(() => database.close());
    this.database = database;
    return { STATIC_DATA_DIR: `${this.folder}/api`, DATABASE_URL: await database.createDatabase() };
  }

  #linkOf(way: string): Link {
    const link = this.#links.get(way);
    if (link === undefined) throw new Error(`There is no way called ${way}`);
    return link;
  }
}
