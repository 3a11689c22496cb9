/**
 * Follows `docs/cluster.md` as an operator does: its commands, its configuration and its variables
 * as they stand there, and then its instructions for operation. A machine is an address of
 * loopback, and a folder in place of `/etc` and `/var/lib`.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { anyBackend, relaySecret } from "../support/api/harness.ts";
import { startProcess } from "../support/api/process.ts";
import { tried } from "../support/campaign.ts";
import {
  createCertificate,
  eventually,
  natsInstalled,
  natsProgram,
  runCommand,
  testWhen,
} from "../support/mod.ts";
import { type RelayProcess, runRelayProcess, startRelayProcess } from "../support/relay/process.ts";
import { type Block, parsePage } from "../../tools/pages/markdown.ts";

const repository = new URL("../../", import.meta.url).pathname;
const page = parsePage("docs/cluster.md", Deno.readTextFileSync(`${repository}docs/cluster.md`));
const numbers = [1, 2, 3] as const;
/** For elections and new processes, on a machine that has much else to do. */
const patienceMs = 120_000;

/** The one block that has this line. */
function blockWith(line: RegExp): Block {
  const found = page.blocks.filter(({ text }) => line.test(text));
  assertEquals(found.length, 1, `blocks of the page with ${line}`);
  return found[0] ?? failedTo(`find ${line}`);
}

function failedTo(what: string): never {
  throw new Error(`Cannot ${what}`);
}

function nodeAddress(number: number | string): string {
  return `127.0.43.${number}`;
}

function relayAddress(number: number | string): string {
  return `127.0.44.${number}`;
}

/**
 * The page's text on a machine of the test. The page shows the first node's and the first relay's.
 */
function translate(text: string, folder: string, number: number): string {
  return text
    .replace("server_name: nats-1", `server_name: nats-${number}`)
    .replace("https: nats-1:", `https: nats-${number}:`)
    .replaceAll("0.0.0.0", nodeAddress(number))
    .replaceAll(/nats-(\d)(?=:\d)/g, (_, each) => nodeAddress(each))
    .replaceAll("/etc/nats", `${folder}/nats-${number}`)
    .replaceAll("/var/lib/nats", `${folder}/store-${number}`)
    .replaceAll("/etc/static/tls", `${folder}/tls-${number}`);
}

function variablesIn(text: string): Record<string, string> {
  return Object.fromEntries(
    Array.from(text.matchAll(/^(\w+)=(.*)$/gm), ([, name = "", value = ""]) => [name, value]),
  );
}

async function run(command: string, env: Record<string, string> = {}): Promise<string> {
  return await runCommand("bash", ["-euo", "pipefail", "-c", command], { cwd: repository, env });
}

/** A node, as the page's command starts it. */
class Node {
  readonly #command: string;
  readonly #number: number;
  readonly #client: Deno.HttpClient;
  #child: Deno.ChildProcess | undefined;

  constructor(number: number, command: string, ca: string) {
    this.#number = number;
    this.#command = command;
    this.#client = Deno.createHttpClient({ caCerts: [ca] });
  }

  start(): void {
    const args = ["-c", `exec ${this.#command.trim()}`];
    this.#child = new Deno.Command("bash", { args, stdin: "null", stdout: "null", stderr: "null" })
      .spawn();
  }

  /** Until `/healthz` at the monitoring port returns 200, as the page says. */
  async untilWell(): Promise<void> {
    const ask = (): Promise<number> =>
      fetch(`https://${nodeAddress(this.#number)}:8222/healthz`, { client: this.#client })
        .then(async (answer) => {
          await answer.body?.cancel();
          return answer.status;
        }, () => 0);
    await eventually(
      { withinMs: patienceMs, what: `node ${this.#number} is well` },
      ask,
      (status) => status === 200,
    );
  }

  async stop(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    this.#child?.kill(signal);
    await this.#child?.status;
    this.#child = undefined;
  }

  async close(): Promise<void> {
    if (this.#child !== undefined) await this.stop("SIGKILL");
    this.#client.close();
  }
}

testWhen(natsInstalled, "docs/cluster.md, step by step", async (t) => {
  await using opened = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "static-page-" });
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  const nodes: Node[] = [];
  const relays: RelayProcess[] = [];
  const environments: Record<string, string>[] = [];
  let talk: () => Promise<void> = () => Promise.reject(new Error("Nobody can talk yet"));
  const step = async (name: string, follow: () => Promise<void>): Promise<void> => {
    if (!await t.step(name, follow)) throw new Error(`The page cannot be followed beyond: ${name}`);
  };

  const makeKeys = (line: RegExp): Promise<string> =>
    run(
      blockWith(line).text
        .replaceAll(/ (keys|authority|new|newest)(?= )/g, ` ${folder}/$1`)
        .replaceAll(/nats-(\d)/g, (name, each) => `${name},${nodeAddress(each)}`)
        .replace(/^deno /, `${Deno.execPath()} `),
    );
  const configure = (number: number): Promise<void> =>
    Deno.writeTextFile(
      `${folder}/nats-${number}/nats.conf`,
      translate(blockWith(/^server_name:/m).text, folder, number),
    );

  await step("make keys, and copy them to nodes and relays", async () => {
    await makeKeys(/^deno task nats:keys keys /m);
    for (const number of numbers) {
      await run(
        `cp -r ${folder}/keys/nats-${number} ${folder}; cp -r ${folder}/keys/relay ${folder}/tls-${number}`,
      );
    }
    await Deno.rename(`${folder}/keys/authority`, `${folder}/authority`);
    await Deno.remove(`${folder}/keys`, { recursive: true });
  });

  await step("configure and start three nodes", async () => {
    const program = await natsProgram();
    for (const number of numbers) {
      await configure(number);
      const command = translate(blockWith(/^nats-server /m).text, folder, number).replace(
        /^nats-server/,
        program,
      );
      const node = new Node(
        number,
        command,
        await Deno.readTextFile(`${folder}/nats-${number}/ca.pem`),
      );
      opened.defer(() => node.close());
      nodes.push(node);
      node.start();
    }
    for (const node of nodes) await node.untilWell();
  });

  const backend = await anyBackend.open();
  opened.defer(() => backend.close());
  const onRelays = (text: string): string =>
    text.replaceAll(/relay-(\d)\.example\.com/g, (_, each) => relayAddress(each));
  const urls = onRelays(
    variablesIn(blockWith(/^STATIC_RELAY_URL=/m).text)["STATIC_RELAY_URL"] ?? "",
  );
  await using api = await startProcess({ ...backend.environment, STATIC_RELAY_URL: urls });

  await step("start three relays, and two agents talk", async () => {
    const addresses = numbers.map((number) => relayAddress(number).split(".").map(Number));
    const { cert, key } = await createCertificate({ addresses });
    await Deno.writeTextFile(`${folder}/relays.pem`, cert);
    await Deno.writeTextFile(`${folder}/relays.key`, key, { mode: 0o600 });
    const text = blockWith(/^STATIC_RELAY_ENGINE=jetstream/m).text;
    for (const number of numbers) {
      const own = text.replaceAll("relay-1", `relay-${number}`);
      environments.push({
        ...variablesIn(onRelays(translate(own, folder, number))),
        // Of every relay, and of this machine.
        STATIC_DATA_DIR: `${folder}/relay-${number}`,
        STATIC_RELAY_SECRET: relaySecret,
        STATIC_TLS_CERT: `${folder}/relays.pem`,
        STATIC_TLS_KEY: `${folder}/relays.key`,
        STATIC_API_URL: api.url,
        STATIC_API_INTERNAL_URL: api.internalUrl,
        STATIC_RELAY_HOST: relayAddress(number),
        STATIC_RELAY_GRPC_PORT: "5000",
        STATIC_RELAY_QUIC_PORT: "4433",
        STATIC_RELAY_DRAIN_SECONDS: "1",
      });
    }
    for (const environment of environments) {
      relays.push(await startRelayProcess(environment, "as task"));
    }
    opened.defer(async () => {
      // Asked, and not killed: each runs below its task, which would leave it behind.
      for (const relay of relays) relay.signal("SIGTERM");
      await Promise.all(relays.map((relay) => relay.finished()));
    });
    talk = async () => {
      const home = await Deno.makeTempDir({ dir: folder });
      const output = await run(`exec ${Deno.execPath()} task --quiet static demo`, {
        HOME: home,
        XDG_CONFIG_HOME: `${home}/config`,
        NO_COLOR: "1",
        STATIC_HOST: "off",
        STATIC_API_URL: api.url,
        STATIC_RELAY_URL: urls,
        STATIC_CA_FILE: `${folder}/relays.pem`,
      });
      assertMatch(output, /\S/);
    };
    await talk();
  });

  const restartRelays = async (): Promise<void> => {
    for (const [index, relay] of relays.entries()) {
      relay.signal("SIGTERM");
      assertEquals(await relay.finished(), 0, relay.output());
      const next = await startRelayProcess(environments[index] ?? {}, "as task");
      relays[index] = next;
      const health = await next.get("/health", await Deno.readTextFile(`${folder}/relays.pem`));
      assertEquals(JSON.parse(health).status, "ok");
    }
  };
  const restartNodes = async (): Promise<void> => {
    for (const node of nodes) {
      await node.stop("SIGTERM");
      node.start();
      await node.untilWell();
    }
  };

  await step("upgrade the relays, one after the other", async () => {
    await restartRelays();
    await talk();
  });

  await step("upgrade the nodes, one after the other", async () => {
    await restartNodes();
    await talk();
  });

  await step("replace a node that was lost with everything on it", async () => {
    const [, lost] = nodes;
    assert(lost !== undefined);
    await lost.stop("SIGKILL");
    for (const gone of ["store-2", "nats-2"]) {
      await Deno.remove(`${folder}/${gone}`, { recursive: true });
    }
    await makeKeys(/^deno task nats:keys --authority authority new /m);
    await run(`cp -r ${folder}/new/nats-2 ${folder}`);
    await configure(2);
    lost.start();
    await lost.untilWell();
    await talk();
  });

  await step("revoke the relays' keys", async () => {
    const old = `${folder}/old.creds`;
    await Deno.rename(`${folder}/tls-1/relay.creds`, old);
    await makeKeys(/^deno task nats:keys --authority authority --revoke /m);
    for (const number of numbers) await run(`cp ${folder}/newest/relay/* ${folder}/tls-${number}`);
    await restartRelays();
    for (const number of numbers) {
      await run(`cp ${folder}/newest/nats-${number}/accounts.conf ${folder}/nats-${number}`);
    }
    await restartNodes();
    await talk();
    const thief = {
      ...environments[0],
      STATIC_NATS_CREDENTIALS: old,
      STATIC_DATA_DIR: `${folder}/thief`,
    };
    const { code, output } = await runRelayProcess(thief);
    assertEquals(code, 1, output);
    assertMatch(output, /^Cannot start: the shared log cannot be used/m);
  });

  await step("back up, and import the backup into an empty cluster", async () => {
    const [relay] = relays;
    assert(relay !== undefined);
    relay.signal("SIGUSR1");
    const written = (): Promise<boolean> =>
      Promise.resolve(relay.output().includes('"event":"backup_written"'));
    await eventually({ withinMs: patienceMs, what: "the backup" }, written, (is) => is);
    const old = `${folder}/old`;
    await Deno.mkdir(old);
    await Deno.copyFile(`${folder}/relay-1/relay.sqlite.backup`, `${old}/relay.sqlite`);
    const { STATIC_RELAY_SECRET = "" } = environments[0] ?? {};
    const alone = await startRelayProcess({
      STATIC_DATA_DIR: old,
      STATIC_RELAY_SECRET,
      STATIC_API_URL: api.url,
      STATIC_API_INTERNAL_URL: api.internalUrl,
    });
    alone.signal("SIGTERM");
    assertEquals(await alone.finished(), 0, alone.output());
    const command = blockWith(/^deno task relay:import/m).text.replace(
      /^deno /,
      `${Deno.execPath()} `,
    );
    const environment = {
      ...environments[0],
      STATIC_DATA_DIR: old,
      STATIC_RELAY_CLUSTER: "second",
    };
    assertStringIncludes(await run(command, environment), 'the beginning of the cluster "second"');
  });
  tried("docs/cluster.md, 8 steps");
});
