/**
 * The rooms around reading: the parts that its runner is given, and the facts that a step learns
 * from them.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  type AgentId,
  equalBytes,
  foundingEpoch,
  foundingHash,
  readPrivateMessageHeader,
  WireError,
} from "../../../proto/mod.ts";
import type { DeliveredFounding, FoundingVerdict } from "../recovery/following.ts";
import type { HealthLog } from "../health.ts";
import type { Membership } from "../group/membership.ts";
import type { LogEntry, MessageHeader, ReadingFacts } from "../reading/reading_state.ts";
import type { Senders } from "../reading/senders.ts";
import type { ChannelStore } from "../records.ts";
import type { ChannelQueue } from "./channel_queue.ts";
import type { CommitRunner } from "./commit_runner.ts";
import type { RootDoor } from "./root_door.ts";
import type { findCommit } from "./find_commit.ts";
import type { InboxRunner } from "./inbox_runner.ts";
import { aadOf, type IntakeParts } from "./intake.ts";
import type { OrderRunner } from "./order_runner.ts";
import type { ReceiptRunner } from "./receipt_runner.ts";
import type { NotedChange } from "./position_runner.ts";

export type GenuineVerdict = Exclude<FoundingVerdict, { kind: "forged" }>;

export interface ReadingRunnerParts {
  readonly membership: Membership;
  readonly commits: Pick<CommitRunner, "explain" | "adds">;
  readonly senders: Senders;
  readonly inbox: InboxRunner;
  readonly health: HealthLog;
  readonly store: Pick<ChannelStore, "batch">;
  readonly agentId: AgentId;
  readonly nowMs: () => number;
  readonly relayNowMs: () => number;
  readonly recogniser: IntakeParts["recogniser"];
  readonly maxAgeMs: () => number;
  readonly discard: boolean;
  readonly confirmations: IntakeParts["confirmations"];
  readonly order: OrderRunner;
  readonly receipts: Pick<ReceiptRunner, "expired" | "heard">;
  /** The place of the commit at which we are stopped. */
  readonly stop: () => number | undefined;
  readonly foreign: () => number | undefined;
  /** The position that is on disk. */
  readonly durable: () => number;
  readonly findCommit: (epoch: number) => ReturnType<typeof findCommit>;
  readonly onDone: (changes: readonly NotedChange[]) => void;
  readonly judgeFounding: (founding: DeliveredFounding) => FoundingVerdict;
  /** Resolves when this agent is in it, or is not going to be. */
  readonly enter: (founding: DeliveredFounding, verdict: GenuineVerdict) => Promise<void>;
  /** A notice that the link has given is still to be read. */
  readonly isDue: (reading: number) => boolean;
  /** Nothing of the entry is left to do. Undefined when it was not read. */
  readonly onRead: (reading: number, entry: LogEntry | undefined) => void;
  readonly found: RootDoor;
  readonly queue: ChannelQueue;
  readonly onFault: (fault: unknown) => void;
}

/** Each is of the moment in which it is read. */
export function factsOf(parts: ReadingRunnerParts): ReadingFacts {
  const { membership, senders, inbox, discard } = parts;
  return {
    agentId: parts.agentId,
    get nowMs() {
      return parts.nowMs();
    },
    get epoch() {
      return membership.epoch;
    },
    get began() {
      return membership.began;
    },
    get stop() {
      return parts.stop();
    },
    get foreign() {
      return parts.foreign();
    },
    get durable() {
      return parts.durable();
    },
    get oldest() {
      return inbox.oldest;
    },
    get isFull() {
      return !discard && inbox.isFull;
    },
    get isRead() {
      return inbox.isRead;
    },
    get unread() {
      return inbox.unread;
    },
    headerOf: (body) => headerOf("commit" in body ? body.commit : body.ciphertext),
    aadOf,
    judge: (sender, counted) => senders.judge(sender, counted),
    highest: (sender, epoch) => senders.highest(sender, epoch),
    adds: (agentId) => parts.commits.adds(agentId),
    hasLeaf: (agentId) => membership.leafOf(agentId) !== undefined,
    judgeFounding: parts.judgeFounding,
    isEntered: (founding) => isEntered(founding, membership),
    hashOf: sha256,
  };
}

/** We are in it, or in a later one: of that its place says nothing. */
function isEntered(
  { epoch, founding }: DeliveredFounding,
  { channelId, group }: Membership,
): boolean {
  const present = group.binding.generation;
  const hash = foundingHash({ channelId, ...founding });
  const isOurs = founding.generation !== present?.generation || equalBytes(hash, present.founding);
  return isOurs && epoch === foundingEpoch(founding.generation);
}

export function headerOf(message: Uint8Array): MessageHeader | undefined {
  try {
    return readPrivateMessageHeader(message);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}
