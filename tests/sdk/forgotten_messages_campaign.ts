/**
 * Copies of the directories of two agents that run under load, in Deno and in Node, on a real
 * relay: bursts, quiet minutes, changes of keys, and a kill -9 now and then. At random times a
 * thief takes a copy with everything in it, and opens no message that was read and acknowledged
 * more than a minute before.
 */
import { assert, assertEquals, assertGreater } from "@std/assert";
import type { ChannelId } from "../../proto/mod.ts";
import { type Channel, ChannelManager, type ConnectOptions } from "../../sdk/mod.ts";
import { platform } from "../../sdk/platform/deno.ts";
import { connectAgent } from "../../sdk/testing/agents.ts";
import { createProject } from "../../tools/bundle.ts";
import { tried } from "../support/campaign.ts";
import { eventually } from "../support/eventually.ts";
import { TextLineStream } from "../support/lines.ts";
import { testWhen } from "../support/mod.ts";
import { createRandom, type Random, seedFromEnvironment } from "../support/random.ts";
import { node } from "../support/runtime/node.ts";
import { openWith } from "../support/scenario/reading_thief.ts";
import { startStack } from "../support/stack.ts";
import { copyRunning } from "../support/stolen_store.ts";
import type { ReaderLine, ReaderOrders } from "./loaded_reader.ts";

const name = "acme/forgetting/load";
const promiseMs = 60_000;
const copiesEach = 100;
const betweenCopiesMs = 3_000;
const betweenKillsMs = 90_000;
/**
 * Messages that are tried of those that must not open, beside the newest one, and of those that
 * may.
 */
const samples = 20;

interface Copy {
  readonly folder: string;
  readonly beganMs: number;
}

interface Theft {
  /** Messages that were read more than a minute before, of those that were tried. */
  readonly late: number;
  readonly opensNewer: boolean;
  /** Of the oldest one that opens, of those that were tried; and how many were read behind it. */
  readonly oldestMs: number;
  readonly depth: number;
}

/** A process that reads, is killed and started again. */
class Reader {
  readonly copies: Copy[] = [];
  readonly identity: string;
  readonly #orders: ReaderOrders;
  readonly #command: readonly [string, ...string[]];
  readonly #delivered = new Map<number, Uint8Array<ArrayBuffer>>();
  /** In the order of the log. */
  readonly #readAtMs = new Map<number, number>();
  #child: Deno.ChildProcess | undefined;
  #told: Promise<void> = Promise.resolve();
  #isOpen = false;

  constructor(identity: string, command: readonly [string, ...string[]], orders: ReaderOrders) {
    [this.identity, this.#command, this.#orders] = [identity, command, orders];
  }

  get count(): number {
    return this.#delivered.size;
  }

  async start(): Promise<void> {
    const [program, ...args] = this.#command;
    this.#child = new Deno.Command(program, {
      args: [...args, JSON.stringify(this.#orders)],
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#told = this.#hear(this.#child.stdout);
    await eventually(
      { what: `${this.identity} has opened` },
      () => Promise.resolve(this.#isOpen),
      (isOpen) => isOpen,
    );
  }

  async kill(): Promise<void> {
    this.#isOpen = false;
    this.#child?.kill("SIGKILL");
    await this.#child?.status;
    await this.#told;
    this.#child = undefined;
  }

  async copyTo(folder: string): Promise<void> {
    const beganMs = Date.now();
    await copyRunning(this.#orders.options.dataDir ?? "", folder);
    this.copies.push({ folder, beganMs });
  }

  async rob({ folder, beganMs }: Copy, channelId: ChannelId, random: Random): Promise<Theft> {
    const readAt = (sequence: number): number => this.#readAtMs.get(sequence) ?? Infinity;
    const read = [...this.#readAtMs.keys()].filter((sequence) => readAt(sequence) < beganMs);
    const [old, newer] = [
      read.filter((sequence) => readAt(sequence) < beganMs - promiseMs),
      read.filter((sequence) => readAt(sequence) >= beganMs - promiseMs),
    ];
    const some = (of: readonly number[]): number[] =>
      Array.from({ length: of.length && samples }, () => random.pick(of));
    const forbidden = [...new Set([...old.slice(-1), ...some(old), ...some(old.slice(-1_000))])];
    const allowed = [...new Set([...some(newer), ...newer.slice(-3)])].sort((a, b) => a - b);
    const wanted = [...forbidden, ...allowed];
    const messages = wanted.map((sequence) => this.#delivered.get(sequence) ?? new Uint8Array(0));
    const found = [...await openWith(folder, { channelId, identity: this.identity, messages })];
    const oldest = Math.min(...found.map((at) => wanted[at] ?? Infinity));
    return {
      late: found.filter((at) => at < forbidden.length).length,
      opensNewer: found.length > 0,
      oldestMs: found.length === 0 ? 0 : beganMs - readAt(oldest),
      depth: read.filter((sequence) => sequence >= oldest).length,
    };
  }

  async #hear(output: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (
      const text of output.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream())
    ) {
      const line: ReaderLine = JSON.parse(text);
      if (line.what === "opened") this.#isOpen = true;
      if (line.what === "delivered") {
        this.#delivered.set(line.sequence, Uint8Array.fromBase64(line.ciphertext));
      }
      if (line.what === "acknowledged") this.#note(line.sequence);
    }
  }

  #note(acknowledged: number): void {
    const unread = this.#delivered.keys().filter((sequence) =>
      sequence <= acknowledged && !this.#readAtMs.has(sequence)
    );
    for (const sequence of [...unread].sort((a, b) => a - b)) {
      this.#readAtMs.set(sequence, Date.now());
    }
  }
}

async function talk(channel: Channel, random: Random, ended: AbortSignal): Promise<number> {
  let count = 0;
  const send = (): Promise<unknown> => channel.send(`message ${++count}`);
  // When little is said, periods end by time; else by their changes.
  for (let isBusy = true; !ended.aborted; isBusy = random.chance(0.02) ? !isBusy : isBusy) {
    const burst = isBusy ? random.pick([1, 5, 30, 150]) : 1;
    // At once they travel together, as few messages of MLS.
    if (random.chance(0.5)) await Promise.all(Array.from({ length: burst }, send));
    else for (let i = 0; i < burst; i++) await send();
    if (random.chance(0.1)) await channel.rotate();
    await pass(random.below(1_000));
  }
  return count;
}

function pass(ms: number): Promise<void> {
  // wait: the moment was drawn, there is no condition
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function stealFrom(reader: Reader, folder: string, random: Random): Promise<void> {
  await pass(promiseMs);
  for (
    let killAtMs = Date.now() + random.below(betweenKillsMs);
    reader.copies.length < copiesEach;
  ) {
    await pass(random.below(2 * betweenCopiesMs));
    await reader.copyTo(`${folder}/${reader.identity}-copy-${reader.copies.length}`);
    if (Date.now() < killAtMs) continue;
    await reader.kill();
    await reader.start();
    killAtMs = Date.now() + betweenKillsMs;
  }
}

testWhen(
  node,
  "no copy of a directory under load opens a message that was read more than a minute before",
  async () => {
    const random = createRandom(seedFromEnvironment());
    await using opened = new AsyncDisposableStack();
    const stack = opened.use(await startStack());
    const project = opened.use(await createProject());
    const folder = await Deno.makeTempDir({ prefix: "static-copies-" });
    opened.defer(() => Deno.remove(folder, { recursive: true }));
    const { id, apiKey } = stack.account;
    const sql = stack.backend.sql();
    await sql`UPDATE accounts SET plan = 'enterprise' WHERE id = ${id}`;
    await sql.end();
    const reach = {
      apiUrl: stack.api.url,
      apiKey,
      tls: { caFile: stack.caFile },
      cover: { mode: "off" },
    } as const;
    const optionsOf = (
      identity: string,
      endpoint: string,
    ): ConnectOptions & { readonly dataDir: string } => {
      return { ...reach, endpoint, identity, dataDir: `${folder}/${identity}` };
    };
    const alice = await ChannelManager.over(
      await connectAgent(optionsOf("alice", stack.quicUrl), platform),
    );
    opened.defer(() => alice.close());
    const channel = await alice.create(name);
    const invite = await alice.invite(name, { uses: 2 });
    const program = new URL("loaded_reader.ts", import.meta.url);
    const readers = [
      new Reader("deno", [Deno.execPath(), "run", "-A", "--no-check", program.pathname], {
        options: optionsOf("deno", stack.quicUrl),
        name,
        invite,
      }),
      new Reader("node", ["node", await project.bundle(program, "node")], {
        options: optionsOf("node", stack.grpcUrl),
        name,
        invite,
      }),
    ];
    for (const reader of readers) {
      opened.defer(() => reader.kill());
      await reader.start();
    }
    const end = new AbortController();
    const answers = (async () => {
      let count = 0;
      for await (const _ of channel.messages({ signal: end.signal })) count++;
      return count;
    })();
    const talking = talk(channel, random, end.signal);
    await Promise.all(readers.map((reader) => stealFrom(reader, folder, random)));
    end.abort();
    const [sent, answered] = [await talking, await answers];
    assertGreater(answered, 0, "the readers answer");
    for (const reader of readers) {
      await reader.kill();
      const thefts: Theft[] = [];
      for (const copy of reader.copies) thefts.push(await reader.rob(copy, channel.id, random));
      const late = thefts.filter((theft) => theft.late > 0).length;
      const opening = thefts.filter(({ opensNewer }) => opensNewer).length;
      const oldestMs = Math.max(...thefts.map((theft) => theft.oldestMs));
      const depth = Math.max(...thefts.map((theft) => theft.depth));
      const what =
        `${reader.identity}: ${thefts.length} copies, of ${
          sent + answered
        } messages in ${reader.count}, ` +
        `${late} open one that was read a minute before; ${opening} open later ones, the oldest of them read ` +
        `${(oldestMs / 1000).toFixed(1)} s and ${depth} before`;
      tried(what);
      assertEquals(late, 0, `seed ${random.seed}: ${what}`);
      assert(opening >= copiesEach / 2, `a control, the thief can read: ${what}`);
    }
  },
);
