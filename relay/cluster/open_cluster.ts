/**
 * A relay that shares its log with others: the parts of this folder put together. Two logs: one on
 * the nodes' disks, which every relay folds into a copy of its own, and one in the nodes' memory
 * for what no disk may have.
 */
import { dirname } from "node:path";
import { describeError, every, type Log, waits, within } from "../../server/mod.ts";
import type { Cluster } from "../core/cluster.ts";
import type { Engine, LeaseBook } from "../engine/engine.ts";
import { EngineError, openReplicaStore, type ReplicaStore } from "../engine/mod.ts";
import { writeBackup } from "./replica/backup_file.ts";
import { encodeCommand, type LogCommand } from "./log/command.ts";
import { type FoundCopies, replaceCopy, warnOfSetBack } from "./replica/former_copy.ts";
import { EphemeralCluster } from "./memory/ephemeral_cluster.ts";
import { LogCopies } from "./log/log_copies.ts";
import { LogSilences } from "./silence/log_silences.ts";
import { type LateResultHandler, LogWriter } from "./log/log_writer.ts";
import { type Nodes, type NodesOptions, openNodes } from "./nodes/nodes.ts";
import { retryDuringElection } from "./nodes/retry.ts";
import { Peers } from "./peers.ts";
import { Replica } from "./replica/replica.ts";
import {
  type CommandWriter,
  createLeaseBook,
  holderOf,
  ReplicatedEngine,
} from "./replica/replicated_engine.ts";
import { logNames, SharedLog } from "./log/shared_log.ts";
import { LogCompaction } from "./log/log_compaction.ts";
import type { SilenceLimits } from "./silence/silence.ts";
import type { ClusterStats } from "./stats.ts";
import { DivergenceCheck } from "./replica/divergence_check.ts";

export interface ClusterOptions extends Omit<NodesOptions, "name"> {
  /** All names at the nodes begin with this. */
  readonly prefix: string;
  /** The same in every life of this relay, and no other relay's. */
  readonly relay: string;
  readonly replicas: number;
  /** Where the copy is; whatever is there is taken away first. `:memory:` for none. */
  readonly path: string;
  readonly maxBytes?: number | undefined;
  /** Entries between two copies of the fold, behind which the log is shortened. */
  readonly copyEvery?: number;
  /** A relay that is silent for so long is given up. */
  readonly silentMs?: number;
  /** The most that the nodes keep in memory; each sets it aside. */
  readonly liveBytes?: number;
  /** For tests: how long the log may be silent. */
  readonly silenceLimits?: Partial<SilenceLimits>;
  /** For tests: how long a stop waits for nodes that do not answer. */
  readonly closeMs?: number;
  readonly nowMs: () => number;
  readonly log: Log;
  /** Only a new process can go on. */
  readonly onFailed: (error: EngineError) => void;
}

export interface OpenCluster {
  readonly engine: Engine;
  readonly cluster: Cluster;
  readonly peers: Peers;
  /** Leases of another relay, for one that settles what it left. */
  leasesOf(relay: string): LeaseBook;
  readonly silences: Pick<LogSilences, "problem" | "memoryProblem">;
  stats(): ClusterStats;
}

const watchMs = 1_000;
/** So often a relay that begins may be given up in that moment. */
const beginnings = 10;
const copyEvery = 50_000;
/**
 * A relay that has nothing to write says that it is there: `give_up` is void for one that has
 * written.
 */
const idleMs = 10_000;
/**
 * The log's end is compared so often with what was read: an entry that its leader did not repeat is
 * found.
 */
const compareEvery = 5;

export async function openCluster(options: ClusterOptions): Promise<OpenCluster> {
  const nodes = await openNodes({ ...options, name: `static relay ${options.relay}` });
  await using opened = new AsyncDisposableStack();
  opened.defer(() => nodes.close());
  const copies = new LogCopies({ nodes, ...options });
  await copies.create();
  const found = await replaceCopy(options.path, copies);
  const { promise: failed, resolve } = Promise.withResolvers<EngineError>();
  const store = await openReplicaStore({
    path: options.path,
    maxBytes: options.maxBytes,
    onListenerError: (error) =>
      options.log("error", "fault", { where: "watcher", error: describeError(error) }),
    onFailed: resolve,
  });
  opened.defer(() => store.engine.close());
  const relay = new ClusterRelay(options, { nodes, store, copies, found });
  void failed.then((error) => relay.fail(error));
  opened.defer(() => relay.release());
  await relay.begin();
  const running = opened.move();
  return relay.surface(() => running.disposeAsync());
}

interface RelayParts {
  readonly nodes: Nodes;
  readonly store: ReplicaStore;
  readonly copies: LogCopies;
  readonly found: FoundCopies;
}

/** The parts of one life of a relay. */
class ClusterRelay {
  readonly #options: ClusterOptions;
  readonly #found: FoundCopies;
  readonly #nodes: Nodes;
  readonly #store: ReplicaStore;
  #writerId = crypto.randomUUID();
  readonly #replica: Replica;
  readonly #shared: SharedLog;
  #writer: LogWriter;
  readonly #live: EphemeralCluster;
  readonly #tripwire: DivergenceCheck;
  readonly #shortening: LogCompaction;
  readonly #over = Promise.withResolvers<void>();
  readonly #failure = Promise.withResolvers<never>();
  #peers: Peers | undefined;
  #watches = 0;
  #isComparing = false;
  #stopWatching: () => void = () => {};
  readonly #silences: LogSilences;
  /** Where the copy was at the last look. */
  #lookedAt = 0;
  /** The log has this relay's writer. */
  #hasBegun = false;
  #isFenced = false;
  #isFailed = false;

  constructor(options: ClusterOptions, { nodes, store, copies, found }: RelayParts) {
    this.#options = options;
    this.#found = found;
    this.#nodes = nodes;
    this.#store = store;
    const { prefix, relay, log } = options;
    const onBehind = (): void =>
      this.fail(
        failure(
          "The nodes' memory has dropped what this relay has not read: it was too slow. Restart it",
        ),
      );
    this.#live = new EphemeralCluster({
      ...options,
      nodes,
      onBehind,
      stillBegun: () => this.#write({ op: "mark" }),
    });
    this.#replica = this.#createReplica();
    this.#tripwire = new DivergenceCheck({
      relay,
      digestAt: (position) => this.#replica.state.digestAt(position),
      onDiffers: (position, others) => {
        log("error", "fold_differs", { position, others });
        this.fail(
          failure(`This relay's copy of the log differs from others' at ${position}. Restart it`),
        );
      },
    });
    this.#shared = new SharedLog({
      nodes,
      ...logNames(prefix),
      storage: "file",
      replicas: options.replicas,
      onEntry: (position, bytes) => this.#replica.take(position, bytes),
      room: () => this.#replica.room(),
      onHole: (next, first) =>
        this.fail(failure(
          first > next
            ? `The shared log begins at ${first}, and this relay needs ${next}. Restart it`
            : `The nodes have lost entry ${next} of the shared log. Look at their disks`,
        )),
    });
    this.#writer = this.#createWriter();
    this.#silences = new LogSilences({
      ...options,
      nodes,
      nowMs: elapsedMs,
      oldest: () => this.#writer.oldest,
      sendAgentsAway: () => this.#live.listener?.stalled(),
      end: (why) => this.fail(failure(why)),
    });
    // Also when nobody waits for it yet.
    this.#failure.promise.catch(() => {});
    this.#shortening = new LogCompaction({
      copies,
      every: options.copyEvery ?? copyEvery,
      position: () => this.#replica.position,
      nowMs: elapsedMs,
      // A relay may write nowhere but in its own directory.
      folder: options.path === ":memory:" ? undefined : dirname(options.path),
      copyTo: (path) => this.#copyTo(path),
      purge: (through) => this.#shared.purge(through),
      log,
    }, found.newest);
  }

  #createWriter(): LogWriter {
    const { relay } = this.#options;
    return new LogWriter({
      writer: this.#writerId,
      relay,
      publish: (bytes) => this.#shared.publish(bytes),
      position: () => this.#replica.position,
      catchUp: () => this.#shared.catchUp(),
      nowMs: elapsedMs,
      onFenced: () => this.#fenced(),
      onSetBack: () => this.#lostLog(),
    });
  }

  #fenced(): void {
    if (this.#hasBegun) {
      return this.fail(
        failure("The other relays have given this one up: it was silent for too long. Restart it"),
      );
    }
    this.#isFenced = true;
    this.#writer.abort(
      failure("The other relays give this one up again and again while it begins"),
    );
  }

  /**
   * Others may give up an earlier life of this relay in the moment in which this one begins: then
   * it begins once more.
   */
  async #beginWriter(): Promise<void> {
    for (let count = 1; !this.#hasBegun; count++) {
      this.#isFenced = false;
      try {
        await this.#writer.begin();
        this.#hasBegun = true;
      } catch (error) {
        if (!this.#isFenced || count === beginnings) throw error;
        this.#writerId = crypto.randomUUID();
        this.#writer = this.#createWriter();
      }
    }
  }

  /** Everything that this copy has, in a file. */
  #copyTo(path: string): Promise<number> {
    return this.#replica.atRest(() => this.#store.database.copyNow(path));
  }

  /**
   * Reads the log, and says that this relay is there. Throws when that does not get on: a new life
   * may.
   */
  async begin(): Promise<void> {
    await Promise.race([this.#begin(), this.#failure.promise]);
  }

  async #begin(): Promise<void> {
    const { relay, log } = this.#options;
    const peers = this.#peers = this.#createPeers();
    await this.#shared.create();
    const startedMs = performance.now();
    await retryDuringElection(this.#readLog(), {
      what: "read the shared log",
      moved: () =>
        `${this.#replica.position} of ${this.#shared.position} read, ${this.#shared.lag} to come`,
    });
    const { position } = this.#replica;
    log("info", "log_read", { position, ms: Math.round(performance.now() - startedMs) });
    warnOfSetBack(log, this.#found, position);
    await this.#beginWriter();
    // This gives up the relay's own earlier lives, whatever of theirs may still be on its way.
    await this.#write({ op: "give_up", relay });
    await this.#live.open();
    peers.begun();
    this.#stopWatching = every(watchMs, () => Promise.resolve(this.#watch()));
  }

  async #readLog(): Promise<void> {
    await this.#shared.follow(this.#replica.position);
    await this.#replica.reached(this.#shared.position);
  }

  #createPeers(): Peers {
    const leaseHolders = async (): Promise<string[]> =>
      (await this.#store.engine.leases.list()).map(({ leaseId }) => holderOf(leaseId));
    return new Peers({
      ...this.#options,
      nodes: this.#nodes,
      state: this.#replica.state,
      write: this.#write,
      leaseHolders,
      load: () => this.#live.listener?.load(),
    });
  }

  #lostLog(): void {
    this.fail(failure("The nodes have lost a part of the shared log. Look at their disks"));
  }

  fail(error: EngineError): void {
    if (this.#isFailed) return;
    this.#isFailed = true;
    this.#replica.stop();
    this.#writer.abort(error);
    this.#over.resolve();
    this.#failure.reject(error);
    this.#options.onFailed(error);
  }

  async release(): Promise<void> {
    this.#stopWatching();
    this.#peers?.close();
    await this.#live.close();
    this.#shared.close();
  }

  surface(dispose: () => Promise<void>): OpenCluster {
    const peers = this.#peers;
    if (peers === undefined) {
      throw new TypeError("A relay of a cluster is used before it has begun");
    }
    const engine = new ReplicatedEngine({
      copy: this.#store.engine,
      relay: this.#options.relay,
      write: this.#write,
      keyPackages: this.#live.keyPackages,
      isCaretaker: () => peers.isCaretaker,
      backUp: (path, timeMs) => writeBackup(path, { copyTo: (to) => this.#copyTo(to), timeMs }),
      close: async () => {
        // Nodes without a majority must not hold up the end: what is not answered is asked for
        // again by its caller.
        const { closeMs = waits.logClose.ms } = this.#options;
        await within(closeMs, Promise.race([this.#writer.close(), this.#over.promise]));
        this.#writer.abort(new EngineError("closed", "The relay's engine is closed"));
        if (!await within(closeMs, this.#replica.idle())) this.#replica.stop();
        await dispose();
      },
    });
    const cluster = this.#live.cluster({
      sessions: this.#replica.state.sessions,
      write: this.#write,
      waitingMs: () => this.#writer.waitingMs,
      position: () => this.#replica.position,
      hasRoomElsewhere: () => peers.hasRoomElsewhere,
      others: () => peers.others,
    });
    const { leases } = this.#store.engine;
    // cast: verdicts of its commands
    const write = this.#write as CommandWriter;
    const leasesOf = (relay: string): LeaseBook => createLeaseBook(leases, relay, write);
    const silences = this.#silences;
    return { engine, peers, cluster, leasesOf, silences, stats: () => this.#stats(peers) };
  }

  readonly #write = (command: LogCommand, late?: LateResultHandler): Promise<unknown> =>
    this.#writer.write(encodeCommand(command), late);

  #createReplica(): Replica {
    const live = this.#live;
    return new Replica(this.#store, {
      seen: (batch, standing, results) => {
        if (standing === "counts") this.#peers?.wrote(batch.relay);
        if (batch.writer === this.#writerId) this.#writer.seen(batch.number, standing, results);
      },
      session: (agentId, place) => {
        if (place !== undefined && place.writer !== this.#writerId) {
          live.listener?.replaced(agentId, place.session);
        }
      },
      cursor: (channelId, agentId, cursor) =>
        live.listener?.cursorMoved(channelId, agentId, cursor),
      trimmed: (channelId, through) => live.listener?.trimmed(channelId, through),
      welcomed: (channelId, agentIds) => live.listener?.welcomed(channelId, agentIds),
      digest: (from, position, digest) => this.#tripwire.take(from, position, digest),
      failed: (error) => this.fail(error),
    });
  }

  /** A copy that moves towards an entry that the nodes have is late, and not cut off. */
  #lookForSilence(): void {
    const { position } = this.#replica;
    const isCatchingUp = this.#writer.isStored && position > this.#lookedAt;
    this.#lookedAt = position;
    this.#silences.look({
      disk: { waitingMs: isCatchingUp ? 0 : this.#writer.silentMs, refusal: this.#shared.refusal },
      memory: this.#live,
    });
  }

  /** With what the leader has. */
  async #compare(): Promise<void> {
    if (this.#isComparing) return;
    this.#isComparing = true;
    try {
      if (++this.#watches % compareEvery === 0 && await this.#shared.hasChanged()) this.#lostLog();
      else await this.#shared.catchUp();
    } catch {
      // No leader: asked again.
    } finally {
      this.#isComparing = false;
    }
  }

  /**
   * Tells what this copy came to, and looks whether the log answers. Waits for nothing, so that it
   * is always done again.
   */
  #watch(): void {
    const { newestDigest } = this.#replica.state;
    if (newestDigest !== undefined && this.#tripwire.shouldTell(newestDigest.position)) {
      void this.#write({ op: "digest", ...newestDigest }).catch(() => {});
    }
    if (this.#peers?.isCopier) void this.#shortening.tend();
    if (this.#writer.idleMs > idleMs) void this.#write({ op: "mark" }).catch(() => {});
    void this.#compare();
    this.#lookForSilence();
  }

  #stats(peers: Peers): ClusterStats {
    return {
      lag: this.#shared.lag,
      position: this.#shared.position,
      waitingMs: Math.max(this.#writer.waitingMs, this.#live.waitingMs),
      clients: this.#silences.clients,
      resends: this.#writer.resends,
      elections: peers.elections,
      relays: peers.count,
      digests: this.#tripwire.agreed,
      differences: this.#tripwire.differences,
    };
  }
}

/** For waits: a clock that is set back must not hide them. */
const elapsedMs = (): number => performance.now();

function failure(text: string): EngineError {
  return new EngineError("failed", text);
}
