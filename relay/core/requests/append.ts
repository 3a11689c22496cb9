/** Adding to a log, with the engine's verdict turned into an answer. */
import type { AccountId } from "../../../proto/mod.ts";
import type { AppendedEntry, AppendOutcome, NewEntry, StorageLimits } from "../../engine/engine.ts";
import { EngineError } from "../../engine/mod.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import { type PlanName, storageBytesOf } from "../limits/plans.ts";
import { channelNotFound, epochConflict, Refusal } from "../refusal.ts";
import type { CoreParts } from "./request_handler.ts";

export interface AppendAnswer extends AppendedEntry {
  /** The entry had been appended before; this is the original answer. */
  readonly duplicate: boolean;
}

const channelFull =
  "Members that are absent keep too many commits and Welcomes in this channel's log; remove them, or wait for them";
const accountFull =
  "The channels of the account that made this one take all the storage of its plan; have members read, remove those that are absent, or close channels";

/** Whether the entry may stand in the log although nobody could tell. */
export function mayStand(error: unknown): boolean {
  return error instanceof EngineError && error.code === "unavailable";
}

/** Whether the disk refused: nothing was changed, and clients send it again. */
export function isUndone(error: unknown): boolean {
  return error instanceof EngineError && error.code === "io";
}

export interface AppendTurn {
  /** The account of the agent that sends it. */
  readonly sender?: AccountId;
  /** Called when its turn has come. It is not appended if this throws. */
  readonly checkWanted?: () => void;
  /** Told why it was not appended, before anything else of the account has a turn. */
  readonly failed?: (error: unknown) => void;
}

/**
 * Appends when it is the account's turn. An entry that depends on the channel's state is made only
 * then. Throws `Refusal` when it lost a race or the channel is gone.
 */
export async function appendSettled(
  core: CoreParts,
  channel: LoadedChannel,
  entry: NewEntry | (() => NewEntry),
  { sender = channel.account, checkWanted, failed }: AppendTurn = {},
): Promise<AppendAnswer> {
  return await core.limits.appends.pass(channel.account, async () => {
    try {
      checkWanted?.();
      const made = typeof entry === "function" ? entry() : entry;
      const outcome = await core.deps.engine.append(channel.channelId, made);
      return settledOf(outcome, { core, channel, entry: made, sender });
    } catch (error) {
      failed?.(error);
      throw error;
    }
  });
}

interface AppendRequest {
  readonly core: CoreParts;
  readonly channel: LoadedChannel;
  readonly entry: NewEntry;
  readonly sender: AccountId;
}

function settledOf(
  outcome: AppendOutcome,
  { core, channel, entry, sender }: AppendRequest,
): AppendAnswer {
  switch (outcome.kind) {
    case "appended":
    case "duplicate": {
      const { sequence, epoch, timeMs } = outcome;
      return { sequence, epoch, timeMs, duplicate: outcome.kind === "duplicate" };
    }
    case "conflict":
      core.deps.meter.epochConflicts++;
      throw epochConflict(outcome.epoch);
    case "no_channel":
      throw channelNotFound();
    case "replaced":
      throw new Refusal(
        "session_replaced",
        "A newer session of this agent has taken the place of this one",
      );
    case "full":
      channel.full = true;
      core.upkeep.touch(channel);
      if (outcome.of === "account") {
        const accountBytes = entry.room?.accountBytes ?? 0;
        // Others' messages make room for the account's own, and not the other way round.
        const within = sender === channel.account ? undefined : channel.channelId;
        core.relief.begin(channel.account, { accountBytes, dropsMessages: true, within });
        throw accountIsFull();
      }
      throw channelIsFull();
    case "lease_spent":
      throw new Refusal("overloaded", "The message could not be charged; try again", {
        retryAfterMs: 100,
      });
  }
}

const maxAttempts = 5;

/**
 * Appends what belongs to no epoch: the entry is made again when a commit came in between. Throws
 * `Refusal`.
 */
export async function appendInAnyEpoch(
  core: CoreParts,
  channel: LoadedChannel,
  makeEntry: (epoch: number) => NewEntry,
): Promise<AppendAnswer> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    try {
      return await appendSettled(core, channel, makeEntry(channel.state.epoch));
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== "epoch_conflict") throw error;
    }
  }
  throw new Refusal("overloaded", "The channel changes too fast for this now; try again", {
    retryAfterMs: 100,
  });
}

/** The channel's records beside its messages take too much room. */
export function channelIsFull(): Refusal {
  return new Refusal("queue_full", channelFull, { retryAfterMs: 60_000 });
}

/** The storage of an account's plan is used up. */
export function accountIsFull(): Refusal {
  // Room is being made meanwhile.
  return new Refusal("storage_full", accountFull, { retryAfterMs: 2_000 });
}

/**
 * The part of an account's storage that commits and Welcomes of others may use in one of its
 * channels.
 */
export const shareOfOthers = 1 / 8;

/** Returns the room for an entry of this channel that an agent of an account sends. */
export function roomIn(
  { config, limits: { plans } }: CoreParts,
  { account }: LoadedChannel,
  sender: AccountId,
): StorageLimits | Promise<StorageLimits> {
  const { logBytesPerChannel } = config;
  const plan = plans.of(account);
  const room = (plan: PlanName): StorageLimits => {
    const accountBytes = storageBytesOf(config, plan);
    const othersBytes = Math.min(logBytesPerChannel, Math.floor(accountBytes * shareOfOthers));
    return { channelBytes: sender === account ? logBytesPerChannel : othersBytes, accountBytes };
  };
  return plan instanceof Promise ? plan.then(room) : room(plan);
}
