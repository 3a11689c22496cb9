// Three relays write to one log over TLS while relays and nodes are killed, frozen and stopped:
// nothing that was accepted is lost, moved or there twice, all copies agree, and every charge
// matches its message. By default a relay is killed, and the log's leader.
import { assert, assertEquals } from "@std/assert";
import {
  freshPrefix,
  type OpenCluster,
  openTestCluster,
} from "../../relay/cluster/testing/open_test_cluster.ts";
import { createChannel, readAll, sampleChannelId } from "../../relay/engine/testing/sample.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { eventually } from "../support/eventually.ts";
import { TextLineStream } from "../support/lines.ts";
import { leaderOf } from "../support/log_leader.ts";
import { testWhen } from "../support/mod.ts";
import { type NatsAccess, natsInstalled, startNats, type TestNats } from "../support/nats.ts";
import { createRandom, type Random, seedFromEnvironment } from "../support/random.ts";
import { campaignCopyEvery, writerChannels } from "./engine_writer_channels.ts";
import { auditEvery, faultNamed, FaultRun } from "../support/fault_run.ts";

/**
 * Between two entries of a caller: a campaign of an hour must fit the machine, and so must the
 * tests beside the default run.
 */
const pauseMs = inCampaign ? 200 : 100;
const writer = new URL("cluster_writer.ts", import.meta.url).pathname;
/**
 * For everybody to be served again after a fault: an election, a new process, on a machine that has
 * much else to do.
 */
const patienceMs = 300_000;
const keptWords = 30;
/** Entries of each relay after a fault, which show that it is served. */
const enough = inCampaign ? 20 : 5;

interface Accepted {
  readonly channel: number;
  readonly sequence: number;
  readonly key: string;
}

interface Place {
  readonly access: NatsAccess;
  readonly prefix: string;
  readonly folder: string;
}

/** One relay and its lives. */
class WriterProcess {
  readonly accepted: Accepted[] = [];
  readonly faults: string[] = [];
  /** Its last words, of all its lives. */
  words: string[] = [];
  readonly #place: Place;
  readonly #relay: string;
  #child: Deno.ChildProcess | undefined;
  #reading: Promise<void> = Promise.resolve();
  #lives = 0;
  #ended = false;

  constructor(relay: string, place: Place) {
    this.#relay = relay;
    this.#place = place;
  }

  start(): void {
    const { access, prefix, folder } = this.#place;
    // A campaign outlives the log's beginning, so its relays begin with copies, and those need a
    // file.
    const path = inCampaign ? `${folder}/${this.#relay}.sqlite` : ":memory:";
    const life = `${this.#relay}-${++this.#lives}`;
    this.#ended = false;
    const place = [JSON.stringify(access), prefix, this.#relay, life, "3", path, String(pauseMs)];
    const args = ["run", "-A", "--no-check", writer, ...place];
    const child = new Deno.Command(Deno.execPath(), {
      args,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
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
    const words = this.#listen(child);
    const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TextLineStream(),
    );
    for await (const line of lines) {
      const [channel = "", sequence = "", ...key] = line.split(" ");
      if (channel === "fault") this.faults.push(line);
      if (/^\d+$/.test(channel)) {
        this.accepted.push({
          channel: Number(channel),
          sequence: Number(sequence),
          key: key.join(" "),
        });
      }
    }
    await words;
    await child.status;
    if (!this.#ended) this.start();
  }

  async #listen(child: Deno.ChildProcess): Promise<void> {
    const lines = child.stderr.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TextLineStream(),
    );
    for await (const line of lines) this.words = [...this.words.slice(-keptWords), line];
  }
}

interface Stage {
  readonly nats: TestNats;
  /** Of the cluster's names at the nodes. */
  readonly prefix: string;
  readonly writers: readonly WriterProcess[];
  readonly random: Random;
}

type Fault = (stage: Stage) => Promise<void>;

function pause(ms: number): Promise<void> {
  // wait: the fault lasts so long
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const damaged = "a block on a node's disk is damaged";

const faults: Readonly<Record<string, Fault>> = {
  "a relay is killed": async ({ writers, random }) => await random.pick(writers).kill(),
  "two relays are killed": async ({ writers }) =>
    void await Promise.all(writers.slice(0, 2).map((one) => one.kill())),
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
  // To the others a frozen process is one that is cut off. Longer than an election takes, so that
  // it wakes up deposed.
  "the log's leader is cut off": async ({ nats, prefix }) => {
    const node = await leaderOf(nats, prefix);
    nats.freeze(node);
    await pause(12_000);
    nats.thaw(node);
  },
  "the log's leader is killed": async ({ nats, prefix }) => {
    const node = await leaderOf(nats, prefix);
    await nats.kill(node);
    await pause(1_000);
    await nats.restart(node);
  },
  // Always the same node: what a majority has lost is lost.
  [damaged]: async ({ nats, prefix, random }) => {
    await nats.kill(2);
    await damage(`${nats.folder}/3`, `${prefix}_LOG`, random);
    await nats.restart(2);
  },
  "all nodes are killed": async ({ nats }) => {
    await Promise.all([0, 1, 2].map((node) => nats.kill(node)));
    await nats.restartAll([0, 1, 2]);
  },
};

/** Turns bits in the middle of a block of a stream's messages, as a bad disk does. */
async function damage(folder: string, stream: string, random: Random): Promise<void> {
  const blocks: string[] = [];
  const walk = async (path: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(path)) {
      if (isDirectory) await walk(`${path}/${name}`);
      else if (path.endsWith(`${stream}/msgs`) && name.endsWith(".blk")) {
        blocks.push(`${path}/${name}`);
      }
    }
  };
  await walk(folder);
  const block = random.pick(blocks.sort());
  const bytes = await Deno.readFile(block);
  const at = random.below(Math.max(1, bytes.length - 64));
  for (let i = at; i < Math.min(at + 64, bytes.length); i++) bytes[i] = (bytes[i] ?? 0) ^ 0xff;
  await Deno.writeFile(block, bytes);
}

async function untilServed({ writers }: Stage, what: string): Promise<void> {
  const before = writers.map(({ accepted }) => accepted.length);
  const served = (): Promise<number[]> =>
    Promise.resolve(writers.map(({ accepted }, index) => accepted.length - (before[index] ?? 0)));
  await eventually(
    { withinMs: patienceMs, what: `every relay is served after: ${what}` },
    served,
    (counts) => counts.every((count) => count > enough),
  );
}

async function untilCompared({ stats }: OpenCluster): Promise<void> {
  const compared = (): Promise<number> => Promise.resolve(stats().digests);
  await eventually(
    { withinMs: patienceMs, what: "relays have told their chains" },
    compared,
    (count) => count > 0,
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

type Plan = (random: Random) => readonly string[];

/** Carries out the plan, which may be random, and audits. */
async function runFaults(run: FaultRun, makePlan: Plan): Promise<void> {
  const seed = seedFromEnvironment();
  const random = createRandom(seed);
  await using nats = await startNats();
  // Without the question at the monitoring ports: one that begins while all nodes are down waits
  // for them.
  const access = { ...nats.access, monitorUrls: [] };
  const prefix = freshPrefix();
  const failures: unknown[] = [];
  const auditor = await openTestCluster({
    ...access,
    prefix,
    relay: "relay-0",
    replicas: 3,
    ...(inCampaign && { copyEvery: campaignCopyEvery }),
    log: (level, event, fields) => void (level !== "info" && console.log("auditor", event, fields)),
    onFailed: (error) => failures.push(error),
  });
  const place = { access, prefix, folder: nats.folder };
  const writers = [1, 2, 3].map((number) => new WriterProcess(`relay-${number}`, place));
  const stage = { nats, prefix, writers, random };
  const done: string[] = [];
  try {
    for (const number of writerChannels) await createChannel(auditor.engine, number);
    for (const one of writers) one.start();
    await untilServed(stage, "the start");
    let audited = 0;
    const endWithAudit = async (): Promise<void> => {
      await untilCompared(auditor);
      for (const one of writers) await one.end();
      const answers = await audit(auditor, writers);
      assertEquals(failures, []);
      await run.tell({
        seed,
        audited: done.length - audited,
        faults: done.length,
        answers,
        ...auditor.stats(),
      });
      audited = done.length;
    };
    for (const name of makePlan(random)) {
      if (done.length - audited === auditEvery) {
        await endWithAudit();
        for (const one of writers) one.start();
        await untilServed(stage, "an audit");
      }
      done.push(name);
      await faultNamed(faults, name)(stage);
      const startMs = performance.now();
      await untilServed(stage, name);
      const servedMs = Math.round(performance.now() - startMs);
      if (inCampaign) await run.tell({ fault: done.length, name, servedMs, ...auditor.stats() });
    }
    await endWithAudit();
    tried(`${done.length} faults`);
  } catch (error) {
    const words = writers.flatMap((one) => one.words).join("\n");
    throw new Error(`Seed ${seed}, faults so far: ${done.join(", ")}\n${words}`, { cause: error });
  } finally {
    for (const one of writers) await one.end();
    await auditor.engine.close();
  }
}

testWhen(
  natsInstalled,
  "what relays of a cluster have accepted survives the death of relays and nodes",
  async () => {
    if (!inCampaign) {
      return await runFaults(
        new FaultRun({ wanted: 2 }),
        () => ["a relay is killed", "the log's leader is killed"],
      );
    }
    const names = Object.keys(faults).filter((name) => name !== damaged);
    const run = FaultRun.fromEnvironment(200);
    const missing = await run.missing();
    await run.attempt(() =>
      runFaults(run, (random) => Array.from({ length: missing }, () => random.pick(names)))
    );
    await run.assertComplete();
  },
);

if (inCampaign) {
  testWhen(
    natsInstalled,
    "what relays of a cluster have accepted survives damaged blocks on one node's disk",
    async () => {
      const plan = [damaged, "a relay is killed", damaged, "the log's leader is killed", damaged];
      await runFaults(new FaultRun({ wanted: plan.length }), () => plan);
    },
  );
}
