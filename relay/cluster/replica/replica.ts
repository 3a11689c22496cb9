/**
 * One relay's copy of what all relays keep together: an engine that carries out the commands of the
 * shared log, all of them, in their order, and nothing else. The log decides, so copies that have
 * read the same entries are equal, and each relay answers its own callers with the verdicts of its
 * own copy. Nothing of it has to be on disk: the log has it.
 */
import { createHash } from "node:crypto";
import type { AgentId, ChannelId } from "../../../proto/mod.ts";
import type { Cursor, Engine, NewEntry } from "../../engine/engine.ts";
import { EngineError, type ReplicaStore } from "../../engine/mod.ts";
import { type Batch, decodeBatch } from "../log/batch.ts";
import { decodeCommand, type LogCommand, type LoggedEntry, opOf } from "../log/command.ts";
import { ReplicaState } from "./replica_state.ts";
import type { BatchVerdict } from "../log/writers.ts";

export interface ReplicaListener {
  /** The log has a batch, and the copy will have carried it out when the results resolve. */
  seen(batch: Batch, standing: BatchVerdict, results: readonly Promise<unknown>[]): void;
  /**
   * An agent's session is the one that began at this position, at this relay; none when it ended.
   */
  session(agentId: AgentId, session: SessionPlace | undefined): void;
  cursor(channelId: ChannelId, agentId: AgentId, cursor: Cursor | undefined): void;
  trimmed(channelId: ChannelId, through: number): void;
  /** Agents have a Welcome waiting, or are added. */
  welcomed(channelId: ChannelId, agentIds: readonly AgentId[]): void;
  digest(relay: string, position: number, digest: Uint8Array): void;
  /** The copy cannot go on. */
  failed(error: EngineError): void;
}

export interface SessionPlace {
  readonly session: number;
  readonly relay: string;
  readonly writer: string;
}

interface PositionedBytes {
  readonly position: number;
  readonly bytes: Uint8Array;
}

/**
 * Calls of the engine that may be under way at once: enough to fill its groups, few enough to wait
 * for.
 */
const mostUnderWay = 512;
/** Entries that wait to be carried out; more are read when there is room. */
const roomyEntries = 2_048;

export class Replica {
  readonly engine: Engine;
  readonly state: ReplicaState;
  readonly #listener: ReplicaListener;
  readonly #store: ReplicaStore;
  #queue: PositionedBytes[] = [];
  /** How many entries of the queue were carried out: a long array is slow to shift. */
  #taken = 0;
  #waiting: { readonly position: number; readonly resolve: () => void }[] = [];
  readonly #rests: (() => Promise<void>)[] = [];
  #running: Promise<void> | undefined;
  #underWay: Promise<unknown>[] = [];
  #digesting: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(store: ReplicaStore, listener: ReplicaListener) {
    this.#store = store;
    this.engine = store.engine;
    this.state = new ReplicaState(store.database, store.commits);
    this.#listener = listener;
  }

  /** The last entry of the log that it has begun with. */
  get position(): number {
    return this.state.position;
  }

  /** The next entry of the log. */
  take(position: number, bytes: Uint8Array): void {
    this.#queue.push({ position, bytes });
    this.#running ??= this.#run();
  }

  /** Resolves when there is room for more, or nothing will be taken any more. */
  async room(): Promise<void> {
    const { position } = this.#queue.at(-roomyEntries) ?? {};
    if (position !== undefined) await this.reached(position);
  }

  /**
   * Resolves when the entry at a position has been begun with, or nothing will be taken any more.
   */
  async reached(position: number): Promise<void> {
    if (this.#isOver || this.position >= position) return;
    await new Promise<void>((resolve) => this.#waiting.push({ position, resolve }));
  }

  /** Resolves when everything that was taken is carried out. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    await this.#settle();
    await this.#digesting;
  }

  /**
   * Runs something between two entries, when everything before is carried out and written; resolves
   * with the position.
   */
  atRest(run: () => void): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#rests.push(async () => {
      try {
        await this.#settle();
        await this.#digesting;
        // With the digest that belongs to the position.
        await this.state.save();
        run();
        resolve(this.state.position);
      } catch (error) {
        reject(error);
      }
    });
    this.#running ??= this.#run();
    return promise;
  }

  /** Takes no more. */
  stop(): void {
    this.#isOver = true;
    this.#queue = [];
    this.#taken = 0;
    this.#wake();
  }

  #next(): PositionedBytes | undefined {
    const next = this.#queue[this.#taken];
    if (next === undefined) {
      this.#queue = [];
      this.#taken = 0;
    } else if (++this.#taken === roomyEntries) {
      this.#queue = this.#queue.slice(this.#taken);
      this.#taken = 0;
    }
    return next;
  }

  #wake(): void {
    const isDue = ({ position }: { readonly position: number }): boolean =>
      this.#isOver || position <= this.position;
    const due = this.#waiting.filter(isDue);
    if (due.length === 0) return;
    this.#waiting = this.#waiting.filter((one) => !isDue(one));
    for (const { resolve } of due) resolve();
  }

  async #run(): Promise<void> {
    await undefined;
    while (!this.#isOver) {
      await this.#rests.shift()?.();
      const next = this.#next();
      if (next !== undefined) await this.#carryOutOrFail(next);
      else if (this.#rests.length === 0) break;
    }
    // In the moment that saw nothing waiting, so that what comes next begins anew.
    this.#running = undefined;
  }

  async #carryOutOrFail(next: PositionedBytes): Promise<void> {
    try {
      await this.#carryOut(next);
    } catch (cause) {
      this.stop();
      const text = `The shared log cannot be carried out at ${next.position}: ${String(cause)}`;
      this.#listener.failed(new EngineError("failed", text, { cause }));
    }
  }

  async #carryOut({ position, bytes }: PositionedBytes): Promise<void> {
    const batch = decodeBatch(bytes);
    const standing = this.state.writers.take(batch, position);
    const results: Promise<unknown>[] = [];
    if (standing === "counts" && batch.number > 1) {
      for (const encoded of batch.commands) {
        const command = decodeCommand(encoded);
        // Commands that work in slices let others in between, at another moment in each relay: so
        // they are alone.
        const isAlone = takesSlices(command);
        if (isAlone) await this.#settle();
        const result = this.#execute(command, { batch, position });
        this.#own(result);
        results.push(result);
        if (isAlone || this.#underWay.length >= mostUnderWay) await this.#settle();
      }
    }
    this.#chain(position, batch, results);
    this.#own(this.state.reached(position));
    this.#listener.seen(batch, standing, results);
    this.#wake();
  }

  #execute(
    command: LogCommand,
    { batch, position }: { readonly batch: Batch; readonly position: number },
  ): Promise<unknown> {
    const { engine, commits, trimming } = this.#store;
    switch (command.op) {
      case "create":
        return engine.createChannel(command.channel);
      case "append":
        return this.#append(command.channelId, command.entry);
      case "snapshot":
        return engine.saveSnapshot(command.channelId, command.snapshot);
      case "cursors":
        return this.#moveCursors(command);
      case "drop_cursor":
        return this.#dropCursor(command);
      case "trim":
        return this.#trim(command);
      case "drop":
        return commits.write(() =>
          trimming.dropSlice(command.channelId, command.through, command.reason)
        );
      case "forget":
        this.state.sessions.forget(command.before.keysMs);
        return engine.forget(command.before);
      case "purge":
        return commits.write(() => trimming.purgeSlice(command.channelId));
      case "record":
        return engine.records.put(command.key, command.record, command.revision);
      case "delete_record":
        return engine.records.delete(command.key);
      case "expire_records":
        return engine.records.expire(command.nowMs);
      case "lease":
        return engine.leases.open(command.lease);
      case "stop_lease":
        return engine.leases.stop(command.leaseId);
      case "forget_lease":
        return engine.leases.forget(command.leaseId);
      case "session":
      case "session_end":
      case "give_up":
        return this.#changeSessions(command, batch, position);
      case "moved":
        this.state.sessions.moved(command.agentId, command.timeMs);
        return this.state.passed();
      case "mark":
        // Behind everything before it, as every call of the engine is.
        return this.state.passed();
      case "digest":
        this.#listener.digest(batch.relay, command.position, command.digest);
        return Promise.resolve();
      default:
        throw new TypeError(
          `A command of the shared log is unknown: ${opOf(command satisfies never)}`,
        );
    }
  }

  #append(channelId: ChannelId, { welcomeBytes, ...logged }: LoggedEntry): Promise<unknown> {
    const { by, added, removed: _ } = logged;
    if (by !== undefined && this.state.sessions.isReplaced(by.agentId, by.session)) {
      return this.state.passed().then(() => ({ kind: "replaced" }));
    }
    const entry: NewEntry = {
      ...logged,
      ...(welcomeBytes && { welcomeBytes: new Map(welcomeBytes) }),
    };
    const recipients = [...new Set([...added, ...entry.welcomeBytes?.keys() ?? []])];
    return this.engine.append(channelId, entry).then((outcome) => {
      if (outcome.kind === "appended" && recipients.length > 0) {
        this.#listener.welcomed(channelId, recipients);
      }
      return outcome;
    });
  }

  #moveCursors({ channelId, moves }: Extract<LogCommand, { op: "cursors" }>): Promise<void> {
    return this.engine.moveCursors(channelId, moves).then(() => {
      for (const [agentId, cursor] of moves) this.#listener.cursor(channelId, agentId, cursor);
    });
  }

  async #trim({ channelId, through }: Extract<LogCommand, { op: "trim" }>): Promise<string> {
    const { commits, trimming } = this.#store;
    const slice = await commits.write(() => trimming.trimSlice(channelId, through));
    if (slice === "done") this.#listener.trimmed(channelId, through);
    return slice;
  }

  #dropCursor({ channelId, agentId }: Extract<LogCommand, { op: "drop_cursor" }>): Promise<void> {
    return this.engine.dropCursor(channelId, agentId).then(() =>
      this.#listener.cursor(channelId, agentId, undefined)
    );
  }

  #changeSessions(
    command: Extract<LogCommand, { op: "session" | "session_end" | "give_up" }>,
    { writer, relay }: Batch,
    position: number,
  ): Promise<unknown> {
    const { sessions, writers } = this.state;
    const told: (() => void)[] = [];
    let result: number | undefined = position;
    if (command.op === "session") {
      const { agentId, nowMs: timeMs, behind } = command;
      const session = result = sessions.begin(agentId, { writer, relay, position, timeMs, behind });
      if (session !== undefined) {
        told.push(() => this.#listener.session(agentId, { session, relay, writer }));
      }
    } else if (command.op === "session_end") {
      if (sessions.end(command.agentId, command.session)) {
        told.push(() => this.#listener.session(command.agentId, undefined));
      }
    } else if (command.behind === undefined || !writers.hasWritten(command.relay, command.behind)) {
      const except = command.relay === relay ? writer : undefined;
      writers.giveUp(command.relay, position, except);
      for (const agentId of sessions.endAll(command.relay, except)) {
        told.push(() => this.#listener.session(agentId, undefined));
      }
    }
    // Told when all before it is carried out, so that nobody hears of a session whose past it has
    // not read.
    return this.state.passed().then(() => {
      for (const tell of told) tell();
      return result;
    });
  }

  /** Work of the copy, which `#settle` waits for. Its failure is the copy's. */
  #own(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#refused(error));
    this.#underWay.push(work);
  }

  #refused(error: unknown): void {
    if (this.#isOver) return;
    if (error instanceof EngineError && (error.code === "invalid" || error.code === "closed")) {
      return;
    }
    this.stop();
    this.#listener.failed(
      error instanceof EngineError
        ? error
        : new EngineError("failed", "The relay's copy of the log failed", { cause: error }),
    );
  }

  async #settle(): Promise<void> {
    const underWay = this.#underWay;
    this.#underWay = [];
    await Promise.allSettled(underWay);
  }

  /** The result of the copy, as a chain: two relays that differ anywhere differ from there on. */
  #chain(position: number, { writer, number }: Batch, results: readonly Promise<unknown>[]): void {
    this.#digesting = this.#digesting.then(async () => {
      const hash = createHash("sha256").update(this.state.digest).update(
        `${position} ${writer} ${number}`,
      );
      for (const result of results) hash.update(await result.then(summaryOf, () => "refused"));
      this.state.chained(position, new Uint8Array(hash.digest()));
    });
  }
}

/** Returns the parts of a verdict that say where an entry came to stand. */
function summaryOf(result: unknown): string {
  if (typeof result !== "object" || result === null) return String(result);
  // cast: only read
  const { kind, sequence, epoch, revision, consumed } = result as Record<string, unknown>;
  return [kind, sequence, epoch, revision, consumed].join();
}

function takesSlices({ op }: LogCommand): boolean {
  return op === "forget" || op === "expire_records";
}
