/**
 * One part of the stack as a process that is kept running: when it dies it is started again, at
 * first soon, then ever later, and each of these is said. A part that cannot even start the first
 * time is not tried again, because what is wrong then is for the user to mend.
 */
import { StartFailed } from "../../server/mod.ts";

/** The report of a part that is up: the fields of the `listening` line of its log. */
export type ListeningReport = Readonly<Record<string, string | undefined>>;

/** A process of the part. */
export interface PartProcess {
  /** Everything that it prints, line by line. */
  readonly lines: AsyncIterable<string>;
  /** How it ended, in words; resolves when nothing more is printed. */
  readonly ended: Promise<string>;
  /** Its error output; complete when it has ended. */
  complaints(): string;
  /** Asks it to finish; it may take its time. */
  letGo(): void;
  kill(): void;
}

export interface PartDeps {
  readonly name: string;
  /**
   * Starts a process; `last` is what the one before told, so that this one can take the same ports.
   */
  spawn(last: ListeningReport | undefined): PartProcess;
  onLine(line: string): void;
  say(text: string): void;
  /** Runs once after the time; returns a function to cancel it. */
  after(ms: number, run: () => void): () => void;
  nowMs(): number;
}

export class PartFailed extends StartFailed {
  override readonly name = "PartFailed";
}

const firstDelayMs = 500;
const maxDelayMs = 30_000;
/** A part that ran for this long is well again: its next death is a first one. */
const wellAfterMs = 60_000;

export class SupervisedProcess {
  readonly #deps: PartDeps;
  #process: PartProcess | undefined;
  #listening: ListeningReport | undefined;
  #delayMs = firstDelayMs;
  #stopping = false;
  #restarting = false;
  #cancelRetry = (): void => {};

  constructor(deps: PartDeps) {
    this.#deps = deps;
  }

  /** Resolves when it listens; rejects with what it complained of when it ends before. */
  async start(): Promise<ListeningReport> {
    if (this.#stopping) {
      throw new PartFailed(`${this.#deps.name} was stopped before it was started`);
    }
    const listening = await this.#run();
    if (listening !== undefined) return listening;
    const complaints = this.#process?.complaints().trim() ?? "";
    throw new PartFailed(
      complaints === "" ? `${this.#deps.name} ${await this.#process?.ended}` : complaints,
    );
  }

  /** With the code as it is now. */
  async restart(): Promise<void> {
    this.#restarting = true;
    this.#cancelRetry();
    this.#process?.letGo();
    await this.#process?.ended;
    this.#restarting = false;
    if (!this.#stopping) await this.#again();
  }

  /** Lets it finish, and ends it when that takes longer. Returns whether it finished by itself. */
  async stop(deadlineMs: number): Promise<boolean> {
    this.#stopping = true;
    this.#cancelRetry();
    const process = this.#process;
    if (process === undefined) return true;
    let late = false;
    const cancel = this.#deps.after(deadlineMs, () => {
      late = true;
      process.kill();
    });
    process.letGo();
    await process.ended;
    cancel();
    return !late;
  }

  kill(): void {
    this.#stopping = true;
    this.#process?.kill();
  }

  /** Undefined when it ended before it listened. */
  async #run(): Promise<ListeningReport | undefined> {
    const { promise, resolve } = Promise.withResolvers<ListeningReport | undefined>();
    const process = this.#deps.spawn(this.#listening);
    this.#process = process;
    const startedMs = this.#deps.nowMs();
    void this.#read(process, resolve);
    void process.ended.then((how) => {
      resolve(undefined);
      this.#died(process, { how, ranMs: this.#deps.nowMs() - startedMs });
    });
    return await promise;
  }

  async #read(
    process: PartProcess,
    onListening: (listening: ListeningReport) => void,
  ): Promise<void> {
    for await (const line of process.lines) {
      const listening = listeningOf(line);
      if (listening !== undefined) {
        this.#listening = listening;
        onListening(listening);
      }
      this.#deps.onLine(line);
    }
  }

  #died(process: PartProcess, { how, ranMs }: { how: string; ranMs: number }): void {
    // Before its first success the failure is told by `start`.
    if (
      this.#stopping || this.#restarting || process !== this.#process ||
      this.#listening === undefined
    ) return;
    if (ranMs >= wellAfterMs) this.#delayMs = firstDelayMs;
    const { name, say, after } = this.#deps;
    const complaints = process.complaints().trim();
    say(
      `${name} ${how}; starting it again in ${this.#delayMs / 1000} s${
        complaints === "" ? "" : `\n${complaints}`
      }`,
    );
    this.#cancelRetry = after(this.#delayMs, () => void this.#again());
    this.#delayMs = Math.min(this.#delayMs * 2, maxDelayMs);
  }

  async #again(): Promise<void> {
    const startMs = this.#deps.nowMs();
    if (await this.#run() === undefined) return;
    this.#deps.say(
      `${this.#deps.name} runs again after ${((this.#deps.nowMs() - startMs) / 1000).toFixed(1)} s`,
    );
  }
}

function listeningOf(line: string): ListeningReport | undefined {
  if (!line.includes('"event":"listening"')) return undefined;
  const { url, internal_url, admin_url, quic_url, ca_file } = JSON.parse(line);
  return { url, internal_url, admin_url, quic_url, ca_file };
}
