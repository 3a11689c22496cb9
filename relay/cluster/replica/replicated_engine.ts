/**
 * The engine of relays that share a log. Changes are written to the log and answered with the
 * verdict of this relay's own copy; reads ask the copy. A read may be behind a change that another
 * relay has answered already: callers to whom that matters use `Cluster.catchUp`.
 */
import type { AccountId, AgentId, ChannelId, GapReason } from "../../../proto/mod.ts";
import type {
  AppendedEntry,
  AppendOutcome,
  ChannelPage,
  ChannelRecord,
  Charge,
  CommitTrace,
  CreateOutcome,
  Cursor,
  CursorMove,
  Engine,
  Entry,
  ForgetBefore,
  HeldLease,
  JoiningQuery,
  KeyPackagePools,
  LeaseBook,
  LeaseState,
  ListQuery,
  LogItem,
  NewChannel,
  NewEntry,
  PutOutcome,
  QueueSize,
  Records,
  Snapshot,
  StorageSize,
  WaitingQuery,
  WelcomeBacklog,
} from "../../engine/engine.ts";
import {
  checkBytes,
  checkChannel,
  checkCount,
  checkCursors,
  checkEntry,
  checkSnapshot,
  checkText,
  engineLimits,
} from "../../engine/input.ts";
import type { LogCommand } from "../log/command.ts";

export interface ReplicatedEngineParts {
  /** This relay's copy. */
  readonly copy: Engine;
  readonly relay: string;
  /** Resolves with what the command came to. */
  readonly write: (command: LogCommand) => Promise<unknown>;
  readonly keyPackages: KeyPackagePools;
  /** Whether this relay does what only one has to do. */
  readonly isCaretaker: () => boolean;
  readonly backUp: (path: string, timeMs: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

export class ReplicatedEngine implements Engine {
  readonly records: Records;
  readonly leases: LeaseBook;
  readonly keyPackages: KeyPackagePools;
  readonly #parts: ReplicatedEngineParts;
  #latest: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(parts: ReplicatedEngineParts) {
    this.#parts = parts;
    this.keyPackages = parts.keyPackages;
    this.records = createRecords(parts, this.#write);
    this.leases = createLeaseBook(parts.copy.leases, parts.relay, this.#write);
  }

  /** Verdicts come in the order of the commands. */
  readonly #write = <Result>(command: LogCommand): Promise<Result> => {
    // cast: what the copy's own method of this command answers
    const writing = this.#parts.write(command) as Promise<Result>;
    this.#latest = writing;
    return writing;
  };

  async createChannel(channel: NewChannel): Promise<CreateOutcome> {
    checkChannel(channel);
    return await this.#write({ op: "create", channel });
  }

  findChannel(channelId: ChannelId): Promise<ChannelRecord | undefined> {
    return this.#parts.copy.findChannel(channelId);
  }

  listChannels(query: ListQuery): Promise<ChannelPage> {
    return this.#parts.copy.listChannels(query);
  }

  listJoining(query: JoiningQuery): Promise<ChannelPage> {
    return this.#parts.copy.listJoining(query);
  }

  joining(query: WaitingQuery): Promise<WelcomeBacklog> {
    return this.#parts.copy.joining(query);
  }

  isListed(agentId: AgentId): Promise<boolean> {
    return this.#parts.copy.isListed(agentId);
  }

  agedChannels(query: { beforeMs: number; limit: number }): Promise<readonly ChannelId[]> {
    return this.#parts.copy.agedChannels(query);
  }

  async append(channelId: ChannelId, entry: NewEntry): Promise<AppendOutcome> {
    checkEntry(entry);
    const { welcomeBytes, charge, ...rest } = entry;
    return await this.#write({
      op: "append",
      channelId,
      entry: {
        ...rest,
        ...(welcomeBytes && { welcomeBytes: [...welcomeBytes] }),
        ...(charge && { charge: this.#charge(charge) }),
      },
    });
  }

  read(
    channelId: ChannelId,
    from: { after: number; maxBytes: number },
  ): Promise<readonly LogItem[]> {
    return this.#parts.copy.read(channelId, from);
  }

  async findKey(channelId: ChannelId, key: string): Promise<AppendedEntry | undefined> {
    await this.#latest.catch(() => {});
    return await this.#parts.copy.findKey(channelId, key);
  }

  findCommit(channelId: ChannelId, epoch: number): Promise<CommitTrace | undefined> {
    return this.#parts.copy.findCommit(channelId, epoch);
  }

  watch(channelId: ChannelId, listener: (entry: Entry) => void): () => void {
    return this.#parts.copy.watch(channelId, listener);
  }

  async saveSnapshot(channelId: ChannelId, snapshot: Snapshot): Promise<void> {
    checkSnapshot(snapshot);
    await this.#write({ op: "snapshot", channelId, snapshot });
  }

  cursors(channelId: ChannelId): Promise<ReadonlyMap<AgentId, Cursor>> {
    return this.#parts.copy.cursors(channelId);
  }

  async moveCursors(channelId: ChannelId, moves: readonly CursorMove[]): Promise<void> {
    checkCursors(moves);
    await this.#write({ op: "cursors", channelId, moves });
  }

  dropCursor(channelId: ChannelId, agentId: AgentId): Promise<void> {
    return this.#write({ op: "drop_cursor", channelId, agentId });
  }

  queueSize(channelId: ChannelId): Promise<QueueSize> {
    return this.#parts.copy.queueSize(channelId);
  }

  async trim(channelId: ChannelId, through: number): Promise<void> {
    checkCount("position", through);
    await this.#inSlices({ op: "trim", channelId, through });
  }

  async dropMessages(channelId: ChannelId, through: number, reason: GapReason): Promise<void> {
    checkCount("position", through);
    await this.#inSlices({ op: "drop", channelId, through, reason });
  }

  async forget(before: ForgetBefore): Promise<void> {
    for (const timeMs of Object.values(before)) checkCount("time", timeMs);
    if (this.#parts.isCaretaker()) await this.#write({ op: "forget", before });
  }

  async purge(channelId: ChannelId): Promise<void> {
    await this.#inSlices({ op: "purge", channelId });
  }

  accountBytes(account: AccountId): Promise<number> {
    return this.#parts.copy.accountBytes(account);
  }

  closedChannels(query: { account: AccountId; limit: number }): Promise<readonly ChannelId[]> {
    return this.#parts.copy.closedChannels(query);
  }

  largestChannel(account: AccountId): Promise<ChannelId | undefined> {
    return this.#parts.copy.largestChannel(account);
  }

  async backUp(path: string, timeMs: number): Promise<void> {
    checkCount("time", timeMs);
    await this.#parts.backUp(path, timeMs);
  }

  /** Wipes this relay's copy only: the log is not in its hands. */
  wipe(timeMs: number): Promise<boolean> {
    return this.#parts.copy.wipe(timeMs);
  }

  storage(): StorageSize {
    return this.#parts.copy.storage();
  }

  diskMs(): number {
    return this.#parts.copy.diskMs();
  }

  close(): Promise<void> {
    return this.#closed ??= this.#parts.close();
  }

  /** Each command does a part that takes a few milliseconds, so that others come between. */
  async #inSlices(command: LogCommand): Promise<void> {
    while (await this.#write<string>(command) === "full");
  }

  #charge(charge: Charge): Charge {
    return { ...charge, leaseId: ownLease(this.#parts.relay, charge.leaseId) };
  }
}

export type CommandWriter = <Result>(command: LogCommand) => Promise<Result>;

function createRecords(
  { copy: { records: copy }, isCaretaker }: ReplicatedEngineParts,
  write: CommandWriter,
): Records {
  return {
    get: (key) => copy.get(key),
    put: async (key, record, revision): Promise<PutOutcome> => {
      checkText("record key", key);
      checkBytes("record", record.value, engineLimits.recordBytes);
      checkCount("expiry", record.expiresAtMs);
      checkCount("revision", revision);
      return await write({ op: "record", key, record, revision });
    },
    delete: (key) => write({ op: "delete_record", key }),
    ofChannel: (channelId) => copy.ofChannel(channelId),
    expire: async (nowMs) => {
      checkCount("time", nowMs);
      if (isCaretaker()) await write({ op: "expire_records", nowMs });
    },
  };
}

/** Leases of all relays are in one book; each relay sees its own. */
export function createLeaseBook(copy: LeaseBook, relay: string, write: CommandWriter): LeaseBook {
  const prefix = ownLease(relay, "");
  const strip = (lease: LeaseState): LeaseState => ({
    ...lease,
    leaseId: lease.leaseId.slice(prefix.length),
  });
  return {
    open: async (lease: HeldLease) => {
      checkText("lease id", lease.leaseId);
      checkCount("fence", lease.fence);
      checkCount("granted", lease.granted);
      checkCount("expiry", lease.expiresAtMs);
      await write({ op: "lease", lease: { ...lease, leaseId: ownLease(relay, lease.leaseId) } });
    },
    list: async () =>
      (await copy.list()).filter(({ leaseId }) => leaseId.startsWith(prefix)).map(strip),
    stop: async (leaseId) => {
      const final = await write<LeaseState | undefined>({
        op: "stop_lease",
        leaseId: ownLease(relay, leaseId),
      });
      return final && strip(final);
    },
    forget: (leaseId) => write({ op: "forget_lease", leaseId: ownLease(relay, leaseId) }),
  };
}

/** How a relay's lease is called in the book of all. */
export function ownLease(relay: string, leaseId: string): string {
  return `${relay}/${leaseId}`;
}

export function holderOf(lease: string): string {
  return lease.slice(0, lease.indexOf("/"));
}
