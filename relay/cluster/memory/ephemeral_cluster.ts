/**
 * The `Cluster` port over the log in the nodes' memory: KeyPackages, join requests, notices for
 * agents of other relays.
 */
import type { AgentId, NoticeBody, NoticeName } from "../../../proto/mod.ts";
import { after, describeError, every, type Log, waits } from "../../../server/mod.ts";
import type { Cluster, ClusterListener, LogMoment } from "../../core/cluster.ts";
import { unknownLoad } from "../../core/relay_load.ts";
import type { KeyPackagePools } from "../../engine/engine.ts";
import { checkCount, checkText } from "../../engine/input.ts";
import { EngineError } from "../../engine/mod.ts";
import type { LogCommand } from "../log/command.ts";
import { encodeLive, type EphemeralCommand, EphemeralState } from "./ephemeral_state.ts";
import { type LateResultHandler, LogWriter } from "../log/log_writer.ts";
import type { Nodes } from "../nodes/nodes.ts";
import { untilAnswered } from "../nodes/retry.ts";
import { beginSession } from "./session_beginning.ts";
import type { ReplicaSessions } from "../replica/sessions.ts";
import { SharedLog } from "../log/shared_log.ts";
import { askForState, serveState } from "./state_exchange.ts";

export interface EphemeralClusterOptions {
  readonly nodes: Nodes;
  readonly prefix: string;
  readonly relay: string;
  readonly replicas: number;
  readonly nowMs: () => number;
  readonly log: Log;
  /** The most that the nodes keep in memory. */
  readonly liveBytes?: number;
  /** Resolves when the log on disk shows that this relay was not given up. */
  readonly stillBegun: () => Promise<unknown>;
  /** The nodes have dropped what this relay has not read. */
  readonly onBehind: () => void;
}

/** A relay that begins has the rest from another one: long enough for it to be asked. */
const keptMs = 10 * 60_000;
/**
 * Uploads of ten minutes may be more than the memory of the nodes. Each node sets so much aside.
 */
const defaultKeptBytes = 256 * 1024 * 1024;
const markMs = 5_000;
const retryMs = 500;

export class EphemeralCluster {
  readonly keyPackages: KeyPackagePools;
  readonly #options: EphemeralClusterOptions;
  readonly #state: EphemeralState;
  readonly #shared: SharedLog;
  #writer: LogWriter;
  #stopServing: () => void = () => {};
  #stopMarking: () => void = () => {};
  #listener: ClusterListener | undefined;
  /** Since when this relay is about to begin in the log. */
  #enteringMs: number | undefined;
  #isClosed = false;
  #asking: Promise<void> | undefined;
  #queuedMark: Promise<void> | undefined;
  #runningMark: Promise<unknown> | undefined;

  constructor(options: EphemeralClusterOptions) {
    this.#options = options;
    const { nodes, prefix, replicas, log, liveBytes = defaultKeptBytes, onBehind } = options;
    const fault = (error: unknown): void =>
      log("error", "fault", { where: "cluster", error: describeError(error) });
    this.#state = new EphemeralState({
      seen: (batch, standing, results) => {
        if (batch.writer === this.#state.writer) this.#writer.seen(batch.number, standing, results);
      },
      reset: (isOwn) => {
        if (!isOwn) this.#replaceWriter("Another relay has begun anew; ask again");
        this.#listener?.keyPackagesLost();
      },
      join: (request, isOwn) => {
        if (!isOwn) this.#listener?.joinShared(request);
      },
      joinEnd: (requestId) => this.#listener?.joinEnded(requestId),
      tell: (agentId, notice, body) =>
        // cast: relays of this version wrote it
        this.#listener?.told(agentId, notice as NoticeName, body as NoticeBody<NoticeName>),
      confirm: (channelId, agentId, statement) =>
        this.#listener?.confirmed(
          channelId,
          agentId,
          statement as Parameters<ClusterListener["confirmed"]>[2],
        ), // cast: the same
      fault,
    });
    this.#shared = new SharedLog({
      nodes,
      name: `${prefix}_LIVE`,
      subject: `${prefix}.live`,
      tail: `${prefix}.live_tail`,
      storage: "memory",
      replicas,
      keptMs,
      keptBytes: liveBytes,
      onEntry: (position, bytes) => this.#take(position, bytes),
      onHole: onBehind,
    });
    this.#writer = this.#createWriter();
    this.keyPackages = this.#createPools();
  }

  /** A new one for each life of the nodes' memory. */
  #createWriter(): LogWriter {
    const { relay } = this.#options;
    return new LogWriter({
      writer: this.#state.writer,
      relay,
      publish: (bytes) => this.#shared.publish(bytes),
      position: () => this.#state.position,
      catchUp: () => this.#shared.catchUp(),
      nowMs: () => performance.now(),
      onFenced: () => this.#fenced(),
      onSetBack: () => this.#beginAnew(),
    });
  }

  /** The nodes have lost what they had in memory: every relay begins with nothing. */
  #beginAnew(): void {
    const { log } = this.#options;
    log("warn", "nodes_memory_lost", {
      effect: "agents are asked for KeyPackages, join requests are made again",
    });
    this.#state.clear();
    const wasEntering = this.#isEntering;
    this.#enteringMs ??= performance.now();
    this.#replaceWriter("The nodes' memory was lost; ask again");
    if (wasEntering) return; // it tries again
    this.#enter({ isAlone: true, forMs: Infinity }).catch((error: unknown) => {
      if (!this.#isClosed) log("error", "fault", { where: "cluster", error: describeError(error) });
    });
  }

  /**
   * This writer was fenced by a late first batch of the relay's own writer before it, whose
   * beginning was given up, or by another process with this relay's name. In the second case the
   * log on disk ends this process, so the log is asked first, or the two would fence each other
   * again and again.
   */
  #fenced(): void {
    this.#asking ??= this.#options.stillBegun()
      .then(() => this.#replaceWriter("This relay begins anew; ask again"), () => {})
      .finally(() => void (this.#asking = undefined));
  }

  /** Nothing that was sent so far counts, or nobody knows. */
  #replaceWriter(why: string): void {
    const before = this.#writer;
    this.#state.renewWriter();
    this.#writer = this.#createWriter();
    before.abort(new EngineError("unavailable", why));
    // Commands without an answer are sent again as long as the writer is there.
    if (!this.#isEntering && !this.#isClosed) this.#writer.begin().catch(() => {});
  }

  get #isEntering(): boolean {
    return this.#enteringMs !== undefined;
  }

  /**
   * How long the log in memory has left something unanswered. One that runs waits to enter it for
   * as long as it takes.
   */
  get waitingMs(): number {
    const enteringMs = this.#enteringMs === undefined ? 0 : performance.now() - this.#enteringMs;
    return Math.max(enteringMs, this.#writer.waitingMs);
  }

  /** The words with which the nodes refuse what is written to it. */
  get refusal(): string | undefined {
    return this.#shared.refusal;
  }

  /** The core, once it listens. Its exceptions must not end the relay. */
  get listener(): ClusterListener | undefined {
    return this.#listener;
  }

  async open(): Promise<void> {
    await this.#shared.create();
    await this.#enter({ isAlone: false, forMs: waits.liveStart.ms });
    const { nodes, prefix, relay } = this.#options;
    // So that a loss of the nodes' memory is noticed by relays that have nothing to say.
    this.#stopMarking = every(markMs, () => this.#mark());
    const report = (error: unknown): void =>
      this.#options.log("error", "fault", { where: "cluster", error: describeError(error) });
    this.#stopServing = serveState(nodes, {
      prefix,
      relay,
      dump: () => this.#state.dump(),
      report,
    });
  }

  async #mark(): Promise<void> {
    if (this.#isEntering) return;
    if (await this.#shared.hasChanged()) return this.#beginAnew();
    await this.#write({ op: "mark" }).catch(() => {});
  }

  /**
   * Begins with another relay's state. Without it this relay begins with nothing, and so do all
   * others.
   */
  async #enter(
    { isAlone, forMs }: { readonly isAlone: boolean; readonly forMs: number },
  ): Promise<void> {
    const { nodes, prefix, relay } = this.#options;
    const deadlineMs = performance.now() + forMs;
    this.#enteringMs ??= performance.now();
    try {
      for (;;) {
        try {
          const parts = isAlone
            ? undefined
            : await askForState(nodes.connection, { prefix, relay });
          if (parts !== undefined) this.#state.restore(parts);
          else this.#state.position = (await this.#shared.end()).last;
          await this.#shared.follow(this.#state.position);
          return await this.#writer.begin(
            parts === undefined ? encodeLive({ op: "reset" }) : undefined,
          );
        } catch (error) {
          if (this.#isClosed || performance.now() > deadlineMs) throw error;
        }
        this.#state.clear();
        this.#replaceWriter("The nodes' memory was lost; ask again");
        await new Promise<void>((resolve) => void after(retryMs, resolve));
      }
    } finally {
      this.#enteringMs = undefined;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopServing();
    this.#stopMarking();
    this.#writer.abort(new EngineError("closed", "The relay's engine is closed"));
    this.#shared.close();
    await undefined;
  }

  /** The port for the core. */
  cluster({ sessions, write, waitingMs, position, hasRoomElsewhere, others }: {
    readonly sessions: ReplicaSessions;
    readonly write: (command: LogCommand, late?: LateResultHandler) => Promise<unknown>;
    readonly waitingMs: () => number;
    /** The last entry of the log that this relay has read. */
    readonly position: () => number;
    readonly hasRoomElsewhere: () => boolean;
    readonly others: Cluster["others"];
  }): Cluster {
    const { nowMs, log } = this.#options;
    const report = (error: unknown): void =>
      log("warn", "cluster_not_told", { error: describeError(error) });
    const moment = (): LogMoment => ({ position: position(), timeMs: nowMs() });
    const send = (command: EphemeralCommand): void => void this.#write(command).catch(report);
    const catchUp = (): Promise<void> =>
      this.#queuedMark ??= (async () => {
        await this.#runningMark?.catch(() => {});
        this.#queuedMark = undefined;
        this.#runningMark = write({ op: "mark" });
        await this.#runningMark;
      })();
    // Again while nobody answers: else the agent would count as connected until this relay ends.
    const endSession = (agentId: AgentId, session: number): Promise<void> =>
      untilAnswered(() => write({ op: "session_end", agentId, session }), () => this.#isClosed);
    return {
      moment,
      beginSession: (agentId, wish = { since: moment(), isWanted: () => true }) =>
        beginSession({
          begin: (behind, late) => {
            const command: LogCommand = { op: "session", agentId, nowMs: nowMs(), behind };
            // cast: both are of its verdict
            return write(command, late as LateResultHandler) as Promise<number | undefined>;
          },
          catchUp: () => this.#write({ op: "mark" }),
          end: (session) => endSession(agentId, session),
          moment,
          ...wish,
        }),
      endSession: (agentId, session) => void endSession(agentId, session),
      catchUp,
      waitingMs: () => Math.max(waitingMs(), this.waitingMs),
      isNewest: (agentId, session) => !sessions.isReplaced(agentId, session),
      hasRoomElsewhere,
      others,
      moved: (agentId, timeMs) => void write({ op: "moved", agentId, timeMs }).catch(report),
      movedMs: (agentId) => sessions.movedMs(agentId),
      isOnline: (agentId) => sessions.placeOf(agentId) !== undefined,
      tell: (agentId, notice, body) => send({ op: "tell", agentId, notice, body }),
      shareJoin: (request) => send({ op: "join", request }),
      endJoin: (requestId) => {
        if (this.#state.joins.has(requestId)) send({ op: "join_end", requestId });
      },
      confirm: (channelId, agentId, statement) =>
        send({ op: "confirm", channelId, agentId, statement }),
      listen: (listener) => {
        this.#listener = guard(
          listener,
          (error) => log("error", "fault", { where: "cluster", error: describeError(error) }),
        );
        for (const request of this.#state.joins.values()) this.#listener.joinShared(request);
      },
    };
  }

  #take(position: number, bytes: Uint8Array): void {
    try {
      this.#state.take(position, bytes);
    } catch (error) {
      this.#options.log("error", "fault", { where: "cluster", error: describeError(error) });
    }
  }

  #write(command: EphemeralCommand): Promise<unknown> {
    return this.#writer.write(encodeLive(command));
  }

  #createPools(): KeyPackagePools {
    const pools = (): EphemeralState["pools"] => this.#state.pools;
    return {
      count: (agentId, nowMs) => Promise.resolve(pools().count(agentId, nowMs)),
      ownerOf: (agentId) => Promise.resolve(pools().ownerOf(agentId)),
      put: async (agentId, upload) => {
        checkCount("capacity", upload.capacity);
        return await this.#write({ op: "upload", agentId, upload }) as Awaited<
          ReturnType<KeyPackagePools["put"]>
        >; // cast: its verdict
      },
      claim: async (agentId, claim) => {
        checkText("claim key", claim.key);
        return await this.#write({ op: "claim", agentId, claim }) as Awaited<
          ReturnType<KeyPackagePools["claim"]>
        >; // cast: its verdict
      },
      expire: async (nowMs) => void await this.#write({ op: "expire", nowMs }),
    };
  }
}

/**
 * Each call in a turn of its own, reported when it fails: the logs go on whatever the core makes of
 * an event.
 */
function guard(listener: ClusterListener, report: (error: unknown) => void): ClusterListener {
  const call = (run: () => void): void => {
    try {
      run();
    } catch (error) {
      void after(0, () => report(error));
    }
  };
  return {
    replaced: (...event) => call(() => listener.replaced(...event)),
    told: (...event) => call(() => listener.told(...event)),
    joinShared: (...event) => call(() => listener.joinShared(...event)),
    joinEnded: (...event) => call(() => listener.joinEnded(...event)),
    confirmed: (...event) => call(() => listener.confirmed(...event)),
    welcomed: (...event) => call(() => listener.welcomed(...event)),
    cursorMoved: (...event) => call(() => listener.cursorMoved(...event)),
    trimmed: (...event) => call(() => listener.trimmed(...event)),
    load: () => {
      let answer = unknownLoad;
      call(() => void (answer = listener.load()));
      return answer;
    },
    stalled: () => call(() => listener.stalled()),
    keyPackagesLost: () => call(() => listener.keyPackagesLost()),
  };
}
