// Three relays write to one log while relays and nodes are killed, frozen and stopped: nothing that was accepted is lost, moved
// or there twice, all copies agree, and every charge matches its message.
import { assert, assertEquals } from "@std/assert";
import { freshPrefix, type OpenCluster, openTestCluster } from "../../relay/cluster/testing/open_test_cluster.ts";
import { createChannel, readAll, sampleChannelId } from "../../relay/engine/testing/sample.ts";
import { eventually } from "../support/eventually.ts";
import { TextLineStream } from "../support/lines.ts";
import { testWhen } from "../support/mod.ts";
import { natsInstalled, startNats, type TestNats } from "../support/nats.ts";
import { createRandom, type Random, seedFromEnvironment } from "../support/random.ts";
import { writerChannels } from "./engine_writer_channels.ts";

const asked = Deno.env.get("STATIC_STRESS");
const stress = asked === "1";
const writer = new URL("cluster_writer.ts", import.meta.url).pathname;
/** For everybody to be served again after a fault: an election, a new process, on a machine that has much else to do. */
const patienceMs = 90_000;

interface Accepted {
  readonly channel: number;
  readonly sequence: number;
  readonly key: string;
}

/** One relay and its lives. */
class WriterProcess {
  readonly accepted: Accepted[] = [];
  readonly faults: string[] = [];
  readonly #args: readonly string[];
  readonly #relay: string;
  #child: Deno.ChildProcess | undefined;
  #reading: Promise<void> = Promise.resolve();
  #lives = 0;
  #ended = false;

  constructor(relay: string, args: readonly [urls: string, prefix: string]) {
    this.#relay = relay;
    this.#args = args;
  }

  start(): void {
    const [urls = "", prefix = ""] = this.#args;
    const life = `${this.#relay}-${++this.#lives}`;
    const args = ["run", "-A", "--no-check", writer, urls, prefix, this.#relay, life];
    const child = new Deno.Command(Deno.execPath(), { args, stdin: "null", stdout: "piped", stderr: "null" }).spawn();
    this.#child = child;
    this.#reading = this.#read(child);
  }

  signal(name: Deno.Signal): void {
    try {
      this.#child?.kill(name);
    } catch (error) {
      // It has ended by itself a moment ago.
      if (!(error instanceof TypeError)) throw error;
    }
  }

  /** As a crash does; the next life begins at once. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.#reading;
  }

  async end(): Promise<void> {
    this.#ended = true;
    this.signal("SIGCONT");
    this.signal("SIGKILL");
    await this.#reading;
  }

  async #read(child: Deno.ChildProcess): Promise<void> {
    const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
    for await (const line of lines) {
      const [channel = "", sequence = "", ...key] = line.split(" ");
      if (channel === "fault") this.faults.push(line);
      if (/^\d+$/.test(channel)) {
        this.accepted.push({ channel: Number(channel), sequence: Number(sequence), key: key.join(" ") });
      }
    }
    await child.status;
    if (!this.#ended) this.start();
  }
}

interface Stage {
  readonly nats: TestNats;
  readonly writers: readonly WriterProcess[];
  readonly random: Random;
}

type Fault = (stage: Stage) => Promise<void>;

function pause(ms: number): Promise<void> {
  // wait: the fault lasts so long
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const faults: Readonly<Record<string, Fault>> = {
  "a relay is killed": async ({ writers, random }) => await random.pick(writers).kill(),
  "two relays are killed": async ({ writers }) => void await Promise.all(writers.slice(0, 2).map((one) => one.kill())),
  "a relay is frozen": async ({ writers, random }) => {
    const frozen = random.pick(writers);
    frozen.signal("SIGSTOP");
    await pause(2_000);
    frozen.signal("SIGCONT");
  },
  "a node is killed": async ({ nats, random }) => {
    const node = random.below(3);
    await nats.kill(node);
    await pause(random.below(2_000));
    await nats.restart(node);
  },
  "a node is stopped in order": async ({ nats, random }) => {
    const node = random.below(3);
    await nats.kill(node, "SIGTERM");
    await nats.restart(node);
  },
  "a node is frozen": async ({ nats, random }) => {
    const node = random.below(3);
    nats.freeze(node);
    await pause(3_000);
    nats.thaw(node);
  },
  "all nodes are killed": async ({ nats }) => {
    await Promise.all([0, 1, 2].map((node) => nats.kill(node)));
    await nats.restartAll([0, 1, 2]);
  },
};

async function untilServed({ writers }: Stage, what: string): Promise<void> {
  const before = writers.map(({ accepted }) => accepted.length);
  const served = (): Promise<number[]> =>
    Promise.resolve(writers.map(({ accepted }, index) => accepted.length - (before[index] ?? 0)));
  await eventually(
    { withinMs: patienceMs, what: `every relay is served after: ${what}` },
    served,
    (counts) => counts.every((count) => count > 20),
  );
}

async function audit(auditor: OpenCluster, writers: readonly WriterProcess[]): Promise<number> {
  await auditor.cluster.catchUp();
  const charged = new Map<string, number>();
  const places = new Map<string, number>();
  for (const number of writerChannels) {
    for (const item of await readAll(auditor.engine, sampleChannelId(number), 10_000_000)) {
      assert(item.kind !== "gap");
      const [lease = "", key = ""] = new TextDecoder().decode(item.body).split(" ");
      assert(!places.has(`${number} ${key}`), `${key} is there twice`);
      places.set(`${number} ${key}`, item.sequence);
      if (item.kind === "message") charged.set(lease, (charged.get(lease) ?? 0) + 1);
    }
  }
  let answers = 0;
  for (const { accepted, faults } of writers) {
    assertEquals(faults, []);
    for (const { channel, sequence, key } of accepted) {
      answers++;
      assertEquals(places.get(`${channel} ${key}`), sequence, `${key} was accepted at ${sequence}`);
    }
  }
  for (const relay of ["relay-1", "relay-2", "relay-3"]) {
    for (const { leaseId, consumed } of await auditor.leasesOf(relay).list()) {
      assertEquals(consumed, charged.get(leaseId) ?? 0, `what ${leaseId} has paid for`);
    }
  }
  assertEquals(auditor.stats().differences, 0);
  return answers;
}

/** STATIC_STRESS=short runs four faults, once each. */
const requirement = asked === undefined ? { met: false, reason: "a campaign: deno task stress" } : natsInstalled;

testWhen(requirement, "what relays of a cluster have accepted survives the death of relays and nodes", async () => {
  const seed = seedFromEnvironment();
  const random = createRandom(seed);
  await using nats = await startNats({ nodes: 3 });
  const prefix = freshPrefix();
  const failures: unknown[] = [];
  const auditor = await openTestCluster({
    urls: nats.urls,
    prefix,
    relay: "relay-0",
    replicas: 3,
    onFailed: (error) => failures.push(error),
  });
  const writers = [1, 2, 3].map((number) => new WriterProcess(`relay-${number}`, [nats.urls.join(), prefix]));
  const stage = { nats, writers, random };
  const done: string[] = [];
  try {
    for (const number of writerChannels) await createChannel(auditor.engine, number);
    for (const one of writers) one.start();
    await untilServed(stage, "the start");
    const names = Object.keys(faults);
    const plan = stress
      ? Array.from({ length: 200 }, () => random.pick(names))
      : ["a relay is killed", "a node is killed", "a node is frozen", "all nodes are killed"];
    for (const name of plan) {
      done.push(name);
      await faults[name]?.(stage);
      await untilServed(stage, name);
      if (stress) console.log(`${done.length} ${name}`, auditor.stats());
    }
    for (const one of writers) await one.end();
    const answers = await audit(auditor, writers);
    assertEquals(failures, []);
    console.log(`seed ${seed}: ${done.length} faults, ${answers} answers`, auditor.stats());
  } catch (error) {
    throw new Error(`Seed ${seed}, faults so far: ${done.join(", ")}`, { cause: error });
  } finally {
    for (const one of writers) await one.end();
    await auditor.engine.close();
  }
});
