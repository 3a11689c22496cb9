/**
 * The process of many agents as a test holds it: what each of them wrote down, and orders for all.
 */
import { eventually } from "../eventually.ts";
import { TextLineStream } from "../lines.ts";
import { type Audit, audit } from "./auditor.ts";
import type { CrowdSettings } from "./crowd_process.ts";
import type { Event, Journal } from "./journal.ts";
import type { RelayCluster } from "./relay_cluster.ts";

const script = new URL("crowd_process.ts", import.meta.url).pathname;
const assembleMs = 900_000;

export interface CrowdSize {
  /** Channels, each with members of its own. */
  readonly groups: number;
  readonly members: number;
  readonly everyMs: number;
  /** Where a cluster has several crowds: a letter, with which the names of its agents begin. */
  readonly name?: string;
  /** In place of those that reach the cluster directly. */
  readonly options?: Partial<CrowdSettings["options"]>;
  /** Variables of its process. */
  readonly environment?: Readonly<Record<string, string>>;
}

export class Crowd implements AsyncDisposable {
  readonly #settings: CrowdSettings;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #events = new Map<string, Event[]>();
  readonly #reading: Promise<unknown>;
  /** Lines outside of a journal. */
  readonly remarks: string[] = [];
  /** Messages that an agent says are missing. */
  readonly #missing = new Map<string, number>();
  #ready = false;
  #hushed = false;
  #ended = false;

  private constructor(settings: CrowdSettings, environment: Readonly<Record<string, string>>) {
    this.#settings = settings;
    for (const name of settings.groups.flat()) this.#events.set(name, []);
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--quiet", script, JSON.stringify(settings)],
      env: { ...environment },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#reading = Promise.all([this.#read(), this.#complaints()]);
    void this.#child.status.then(() => void (this.#ended = true));
  }

  /** Agents of a cluster's account. */
  static async of(
    cluster: RelayCluster,
    { groups, members, everyMs, name = "a", options = {}, environment = {} }: CrowdSize,
  ): Promise<Crowd> {
    const namesOf = (group: number): string[] =>
      Array.from({ length: members }, (_, member) => `${name}${group}.${member}`);
    return await Crowd.start({
      name,
      groups: Array.from({ length: groups }, (_, group) => namesOf(group)),
      folder: cluster.folder,
      everyMs,
      options: {
        endpoint: cluster.endpoint,
        apiUrl: cluster.api.url,
        apiKey: cluster.account.apiKey,
        tls: { caCerts: await cluster.authorities() },
        cover: "off",
        ...options,
      },
    }, environment);
  }

  /** Resolves when all are in their channels and talk. */
  static async start(
    settings: CrowdSettings,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Crowd> {
    const crowd = new Crowd(settings, environment);
    await until("the crowd to assemble", assembleMs, () => crowd.#ready || crowd.#ended).catch(
      async (error) => {
        await crowd[Symbol.asyncDispose]();
        throw error;
      },
    );
    if (!crowd.#ready) {
      throw new Error(`The crowd has ended: ${crowd.remarks.join("\n").slice(0, 2_000)}`);
    }
    return crowd;
  }

  get missing(): number {
    return this.#missing.values().reduce((sum, count) => sum + count, 0);
  }

  /** Messages that were not sent, and what agents were told that had to wait because of load. */
  get refusals(): string[] {
    const failed = [...this.#events].flatMap(([name, events]) =>
      events.flatMap((event) => event.event === "failed" ? [`${name}: ${event.words}`] : [])
    );
    return [...failed, ...this.remarks.filter((line) => /overloaded|rate_limited/.test(line))];
  }

  /** Resolves when each agent was told that something it began to say from now on is accepted. */
  async progress(withinMs: number): Promise<void> {
    const sinceMs = Date.now();
    const before = new Map(Array.from(this.#events, ([name, events]) => [name, events.length]));
    const waits = (): string[] =>
      [...this.#events].flatMap(([name, events]) => {
        const begun = new Set<string>();
        const hasSpoken = events.slice(before.get(name)).some((event) => {
          if (event.event === "sending" && event.atMs >= sinceMs) begun.add(event.text);
          return event.event === "accepted" && begun.has(event.text);
        });
        return hasSpoken ? [] : [name];
      });
    await until("everybody to be heard", withinMs, () => waits().length === 0).catch(
      (error: Error) => {
        throw new Error(
          `${error.message}; waiting: ${waits().join(", ")}; ${this.remarks.slice(-5).join(" | ")}`,
        );
      },
    );
  }

  /**
   * Everybody falls silent. Returns what the auditor says of each channel when all have had the
   * time to hear all.
   */
  async hush(withinMs: number): Promise<Audit[]> {
    this.#hushed = false;
    await this.#order("hush");
    await until("the crowd to be quiet", withinMs, () => this.#hushed || this.#ended);
    let judged = this.#judge();
    const isClean = (): boolean => {
      judged = this.#judge();
      return judged.every(({ violations }) => violations.length === 0);
    };
    await until("everybody to hear everything", withinMs, isClean).catch(() => {});
    return judged;
  }

  /** Everybody goes on after `hush`. */
  async talk(): Promise<void> {
    await this.#order("talk");
  }

  /** Everybody stops for good; returns as `hush` does. */
  async finish(withinMs: number): Promise<Audit[]> {
    await this.hush(withinMs);
    await this.#order("close");
    await this.#child.status;
    await this.#reading;
    return this.#judge();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#ended) this.#child.kill("SIGKILL");
    await this.#child.status;
    await this.#reading;
    await this.#input.close().catch(() => {});
  }

  #judge(): Audit[] {
    return this.#settings.groups.map((names) =>
      audit(names.map((name) => this.#journal(name)), names)
    );
  }

  async #order(text: "hush" | "talk" | "close"): Promise<void> {
    await this.#input.write(new TextEncoder().encode(`${text}\n`));
  }

  #journal(agent: string): Journal {
    return { agent, lives: [this.#events.get(agent) ?? []] };
  }

  async #read(): Promise<void> {
    const lines = this.#child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TextLineStream(),
    );
    for await (const line of lines) {
      const told = JSON.parse(line);
      if ("event" in told) this.#events.get(told.agent)?.push(told.event);
      else if ("ready" in told) this.#ready = true;
      else if ("hushed" in told) this.#hushed = true;
      else this.remarks.push(line);
      if ("missing" in told) this.#missing.set(told.agent, told.missing);
    }
  }

  async #complaints(): Promise<void> {
    for await (const text of this.#child.stderr.pipeThrough(new TextDecoderStream())) {
      this.remarks.push(text);
    }
  }
}

async function until(what: string, withinMs: number, holds: () => boolean): Promise<void> {
  await eventually({ what, withinMs }, () => Promise.resolve(holds()), (isSo) => isSo);
}
