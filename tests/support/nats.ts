/**
 * Throw-away NATS nodes with JetStream on loopback, one or a cluster of three, which can be killed,
 * frozen and started again with what they have on disk. They speak TLS and want a key, as
 * everywhere outside of tests; all nodes of a run have the same keys. The program is
 * `STATIC_NATS_SERVER`, or one of at least 2.15 in `PATH`, or that of Debian's package, which is
 * unpacked once into `dist/`: it takes a second, and suites may leave nothing in temporary folders.
 */
import {
  createMonitorClient,
  findNatsServer,
  keysBeside,
  localNode,
  natsConfig,
  type NatsNode,
  natsVersion,
} from "../../deploy/local/nats_server.ts";
import { relayFiles, writeNatsKeys } from "../../deploy/nats/keys.ts";
import { natsPackage, unpackPackage } from "../../tools/fetch/debian_package.ts";
import { findFile, placesOf, remedy } from "../../tools/fetch/places.ts";
import { natsInPackage } from "../../tools/fetch/sources.ts";
import { eventually } from "./eventually.ts";
import { oncePerRun } from "./once_per_run.ts";
import { freePorts } from "./ports.ts";
import type { Requirement } from "./requirement.ts";

/** How a relay reaches the nodes, as `openNodes` takes it. */
export interface NatsAccess {
  /** For clients, a node each. */
  readonly urls: readonly string[];
  readonly monitorUrls: readonly string[];
  readonly isTls: boolean;
  /** PEM. */
  readonly ca?: string;
  /** Content of a credentials file. */
  readonly credentials?: string;
}

export interface TestNats extends AsyncDisposable {
  readonly access: NatsAccess;
  /** The same, as a relay's process is told it. */
  readonly variables: Readonly<Record<string, string>>;
  /**
   * The answer of a node at its monitoring port, for example at `/varz`. Rejects when there is
   * none.
   */
  ask(node: number, path: string): Promise<NatsAnswer>;
  /** Everything that the nodes write is below it. */
  readonly folder: string;
  /**
   * As `kill -9` does, when no other signal is named. Resolves when the process has ended. Nodes
   * count from 0.
   */
  kill(node: number, signal?: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** Stops the process without ending it: connections stay open and nothing answers. */
  freeze(node: number): void;
  thaw(node: number): void;
  /** Starts a node that has ended, with its own ports and files. Resolves when it is well. */
  restart(node: number): Promise<void>;
  /** Several at once: a node of a cluster is not well before another one is there. */
  restartAll(nodes: readonly number[]): Promise<void>;
}

/** JSON, of which each caller knows its part. */
// deno-lint-ignore no-explicit-any
export type NatsAnswer = any;

export interface NatsOptions {
  readonly nodes?: 1 | 3;
  /** Lines for the end of each node's configuration. */
  readonly settings?: string;
  /**
   * The port at which a node (`from`) or a relay (`from` is undefined) reaches a node, for a test
   * that cuts nodes off. Its own port unless told.
   */
  readonly wayTo?: (from: number | undefined, to: number, port: number) => number;
  /**
   * The folder of a node, for a test that gives it a disk of its own. Below the folder of all
   * unless told.
   */
  readonly folderOf?: (node: number) => string | undefined;
  /**
   * Nodes without TLS and keys: for tests inside of one process that do no harm to nodes, and for
   * measurements.
   */
  readonly plain?: boolean;
  /** Nodes tell clients of each other, as they do unless their configuration says otherwise. */
  readonly doAdvertise?: boolean;
}

const unpacked = `${import.meta.dirname}/../../dist/peers`;
/** For a machine that has much else to do. */
const startMs = 60_000;
/** A node that is frozen takes connections and says nothing. */
const answerMs = 5_000;
/** Shown of the log of a node that ended. */
const maxLogCharacters = 2_000;

/** Where the program is looked for. */
interface NatsPlaces {
  /** The value of `STATIC_NATS_SERVER`. Nothing else is looked at when it is set. */
  readonly named: string | undefined;
  /** The value of `PATH`. */
  readonly path: string;
  /** Folders that may hold Debian's package. */
  readonly packages: readonly string[];
}

export const natsInstalled: Requirement = {
  get met() {
    return requireNats(environment()).met;
  },
  get reason() {
    return requireNats(environment()).reason;
  },
};

/** The requirement that the program is in one of these places. */
export function requireNats(places: NatsPlaces): Requirement {
  const [search, nats] = [findNatsServer(places), natsPackage()];
  if (search.outcome === "found" || debianPackage(places) !== undefined) {
    return { met: true, reason: "" };
  }
  const help = places.named !== undefined
    ? "name another"
    : "obstacle" in nats
    ? nats.obstacle
    : `${remedy} brings one`;
  return { met: false, reason: `no nats-server of at least 2.15: ${search.why} (${help})` };
}

/** The program's path. Throws when there is none. */
export async function natsProgram(): Promise<string> {
  const places = environment();
  const search = findNatsServer(places);
  if (search.outcome === "found") return search.program;
  const file = debianPackage(places);
  if (file === undefined) throw new Error(natsInstalled.reason);
  const program = `${await unpackPackage(file, unpacked)}/${natsInPackage}`;
  if (natsVersion(program) === undefined) {
    throw new Error(`${program} cannot be run on this machine`);
  }
  return program;
}

export async function startNats(options: NatsOptions = {}): Promise<TestNats> {
  const { nodes: count = 3, settings = "", wayTo = (_from, _to, port) => port, plain = false } =
    options;
  const program = await natsProgram();
  const folder = await Deno.makeTempDir({ prefix: "static-nats-" });
  const nodes = createNodes(folder, count, options.folderOf);
  if (!plain) await placeKeys(folder, nodes);
  for (const node of nodes) {
    await Deno.mkdir(node.folder, { recursive: true });
    const whole = options.wayTo === undefined
      ? natsConfig(node, nodes)
      : configOnWays(node, nodes, wayTo);
    const text = options.doAdvertise ? whole.replace("no_advertise: true", "") : whole;
    await Deno.writeTextFile(
      `${node.folder}/nats.conf`,
      `${plain ? withoutKeys(text) : text}${settings}\n`,
    );
  }
  const processes = nodes.map((node) => new NodeProcess(program, node, plain));
  const each = (numbers: readonly number[]): NodeProcess[] =>
    numbers.map((number) => {
      const process = processes[number];
      if (process === undefined) throw new RangeError(`There is no node ${number}`);
      return process;
    });
  const restartAll = async (numbers: readonly number[]): Promise<void> => {
    for (const process of each(numbers)) process.start();
    await Promise.all(each(numbers).map((process) => process.untilWell()));
  };
  const close = async (): Promise<void> => {
    await Promise.all(processes.map((process) => process.close()));
    await Deno.remove(folder, { recursive: true });
  };
  try {
    await restartAll([...nodes.keys()]);
  } catch (error) {
    await close();
    throw error;
  }
  const ports = nodes.map(({ number, clientPort }) => wayTo(undefined, number - 1, clientPort));
  const access = {
    urls: ports.map((port) => `${plain ? "nats" : "tls"}://127.0.0.1:${port}`),
    monitorUrls: nodes.map(({ monitorPort }) =>
      `${plain ? "http" : "https"}://127.0.0.1:${monitorPort}`
    ),
    isTls: !plain,
  };
  // Where the keys really are: a relay's process may read these files and no other.
  const keys = plain ? "" : await Deno.realPath(`${folder}/keys/relay`);
  const keyFile = (name: string): string => `${keys}/${name}`;
  return {
    access: plain ? access : {
      ...access,
      ca: await Deno.readTextFile(keyFile(relayFiles.ca)),
      credentials: await Deno.readTextFile(keyFile(relayFiles.credentials)),
    },
    variables: {
      STATIC_RELAY_ENGINE: "jetstream",
      STATIC_NATS_URLS: access.urls.join(),
      STATIC_NATS_MONITOR_URLS: access.monitorUrls.join(),
      STATIC_RELAY_LOG_REPLICAS: String(count),
      ...(!plain && {
        STATIC_NATS_CA: keyFile(relayFiles.ca),
        STATIC_NATS_CREDENTIALS: keyFile(relayFiles.credentials),
      }),
    },
    ask: async (node, path) => {
      const [asked] = each([node]);
      return await (await asked?.ask(path))?.json();
    },
    folder,
    kill: async (node, signal = "SIGKILL") =>
      void await Promise.all(each([node]).map((one) => one.end(signal))),
    freeze: (node) => each([node]).forEach((one) => one.signal("SIGSTOP")),
    thaw: (node) => each([node]).forEach((one) => one.signal("SIGCONT")),
    restart: (node) => restartAll([node]),
    restartAll,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * In the folder of all, and beside the folder of each node, where its configuration looks for them.
 */
async function placeKeys(folder: string, nodes: readonly NatsNode[]): Promise<void> {
  const make = (path: string): Promise<void> => writeNatsKeys(path, [localNode], Date.now());
  const [shared, own] = [await oncePerRun("nats-keys", make), `${folder}/keys`];
  if (shared === undefined) await make(own);
  else await Deno.symlink(shared, own);
  for (const path of new Set(nodes.map(keysBeside))) {
    if (path !== own) await Deno.symlink(own, path);
  }
}

function withoutKeys(config: string): string {
  return config.replaceAll(/^ *(tls|include) .*\n/gm, "").replaceAll('"tls://', '"nats://').replace(
    "https:",
    "http:",
  );
}

/**
 * Nodes tell each other where others are: an address at which nobody listens, so that no way leads
 * around these.
 */
function configOnWays(
  node: NatsNode,
  nodes: readonly NatsNode[],
  wayTo: NonNullable<NatsOptions["wayTo"]>,
): string {
  const wayOf = (other: NatsNode): NatsNode => {
    const routePort = wayTo(node.number - 1, other.number - 1, other.routePort);
    return { ...other, routePort };
  };
  const config = natsConfig(node, nodes.map((other) => other === node ? node : wayOf(other)));
  return config.replace("cluster {", `cluster {\n  advertise: "127.0.0.1:1"`);
}

function createNodes(folder: string, count: number, folderOf: NatsOptions["folderOf"]): NatsNode[] {
  const ports = freePorts(2 * count);
  return Array.from({ length: count }, (_, index) => {
    const [clientPort = 0, routePort = 0] = ports.slice(2 * index);
    const own = folderOf?.(index) ?? `${folder}/${index + 1}`;
    return { number: index + 1, clientPort, monitorPort: clientPort + 1, routePort, folder: own };
  });
}

class NodeProcess {
  readonly #program: string;
  readonly #node: NatsNode;
  readonly #monitorUrl: string;
  readonly #client: Deno.HttpClient;
  #child: Deno.ChildProcess | undefined;
  #complaints = Promise.resolve("");

  constructor(program: string, node: NatsNode, plain: boolean) {
    this.#program = program;
    this.#node = node;
    this.#monitorUrl = `${plain ? "http" : "https"}://127.0.0.1:${node.monitorPort}`;
    this.#client = plain ? Deno.createHttpClient({}) : createMonitorClient(node);
  }

  /** At its monitoring port. */
  async ask(path: string): Promise<Response> {
    const signal = AbortSignal.timeout(answerMs);
    return await fetch(`${this.#monitorUrl}${path}`, { client: this.#client, signal });
  }

  start(): void {
    if (this.#child !== undefined) throw new Error(`Node ${this.#node.number} runs already`);
    const { folder } = this.#node;
    const child = new Deno.Command(this.#program, {
      args: ["--config", `${folder}/nats.conf`, "--log", `${folder}/log`],
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    this.#child = child;
    // A configuration that it refuses is told here and not in the log.
    this.#complaints = new Response(child.stderr).text();
    void child.status.then(() => {
      if (this.#child === child) this.#child = undefined;
    });
  }

  /** Its part of the cluster's metadata is there, and as far as the leader's. */
  async untilWell(): Promise<void> {
    const { number, folder } = this.#node;
    const ask = async (): Promise<string> => {
      if (this.#child === undefined) return "ended";
      try {
        const answer = await this.ask("/healthz");
        return `${answer.status} ${await answer.text()}`;
      } catch {
        return "no answer";
      }
    };
    const what = `nats-server ${number} is well`;
    const seen = await eventually(
      { withinMs: startMs, what },
      ask,
      (state) => /^200|^ended/.test(state),
    );
    if (seen !== "ended") return;
    const log = await Deno.readTextFile(`${folder}/log`).catch(() => "");
    throw new Error(
      `nats-server ${number} ended: ${await this.#complaints}${log.slice(-maxLogCharacters)}`,
    );
  }

  signal(name: Deno.Signal): void {
    this.#child?.kill(name);
  }

  async close(): Promise<void> {
    await this.end("SIGKILL");
    this.#client.close();
  }

  async end(signal: Deno.Signal): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    // One that is frozen hears of no other signal.
    child.kill("SIGCONT");
    child.kill(signal);
    await Promise.all([child.status, this.#complaints]);
    this.#child = undefined;
  }
}

function environment(): NatsPlaces {
  const variable = (name: string): string | undefined => Deno.env.get(name);
  return {
    named: variable("STATIC_NATS_SERVER"),
    path: variable("PATH") ?? "",
    packages: placesOf("peers"),
  };
}

/** The file's path. None where a program is named, or nothing can unpack it. */
function debianPackage({ named, packages }: NatsPlaces): string | undefined {
  const nats = natsPackage();
  return named !== undefined || "obstacle" in nats ? undefined : findFile(nats.name, packages);
}
