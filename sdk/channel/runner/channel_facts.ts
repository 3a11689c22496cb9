/**
 * The facts that the rooms of a channel read of each other. Each is of the moment in which it is
 * read.
 */
import { generationOf, limits } from "../../../proto/mod.ts";
import { createError, type StaticError } from "../../base/errors.ts";
import { jitter } from "../../base/runtime.ts";
import { StoreFault } from "../../store/mod.ts";
import type { LinkFacts, LinkPlace, StoreFacts } from "../connection/link_state.ts";
import type { ChannelDeps } from "../deps.ts";
import { endError, hiddenError, leftError, removedError } from "../departure/end_errors.ts";
import { toStaticError } from "../faults.ts";
import type { HealthState } from "../health.ts";
import type { PlanFacts } from "../commits/plan.ts";
import type { LeaveProof } from "../records.ts";
import type { Root, RootErrors, RootFacts } from "../root/root_state.ts";
import type { Rooms } from "./rooms.ts";
import type { RecoverySight } from "./recovery_runner.ts";

function placeOf({ recovery }: Rooms): LinkPlace {
  const { stopped, reason, isByWord } = recovery;
  if (stopped !== undefined) return { at: "stopped", sequence: stopped.sequence };
  return reason === undefined ? { at: "in_step" } : { at: "outside", isByWord };
}

/** Returns whether the log was read, as far as the relay has said where it ends. */
export function isAllRead({ link, membership }: Rooms): boolean {
  return link.isUp && membership.epoch >= link.relayEpoch;
}

/** How long the relay keeps messages; as long as any may, while it cannot be asked. */
export function maxAgeMs({ state }: ChannelDeps["session"]): number {
  return state.kind === "online" ? state.connection.limits.queueAgeMs : limits.queueAgeMs;
}

/** Stays so until an owner acts: nobody waits for that. */
export function stoppedError({ recovery }: Rooms): StaticError | undefined {
  const stopped = recovery.stopped && recovery.condition;
  return stopped && createError("mls_error", `${stopped.problem}. ${stopped.action}`);
}

export function planFactsOf(
  { membership, ages, duties, confirmations }: Rooms,
  leavers: readonly LeaveProof[],
): PlanFacts {
  return {
    membership,
    leavers,
    ownLeaf: ages.ownLeaf,
    returning: duties.returning,
    isHeard: (agentId) => confirmations.isHeardLately(agentId),
  };
}

/** Returns the state for callers that show a channel. */
export function stateOf(rooms: Rooms, root: Root): HealthState {
  const { membership, inbox, position, recovery, link } = rooms;
  return {
    ended: root.at === "over" ? { error: root.error } : undefined,
    stopped: recovery.condition,
    rejoining: recovery.reason,
    unwelcome: recovery.isUnwelcome,
    pausesUntilMs: recovery.pausesUntilMs,
    caughtUp: isAllRead(rooms),
    relayEpoch: Math.max(link.relayEpoch, membership.epoch),
    unacknowledged: inbox.unread + position.ahead,
  };
}

/** The connection is judged by these. */
export function linkFactsOf(rooms: Rooms, { runtime }: ChannelDeps): LinkFacts {
  const { membership, reading, position, recovery } = rooms;
  return {
    get place() {
      return placeOf(rooms);
    },
    get epoch() {
      return membership.epoch;
    },
    get began() {
      return membership.began;
    },
    get received() {
      return reading.received;
    },
    get durable() {
      return position.durable;
    },
    get own() {
      return reading.ownCommit;
    },
    get foreign() {
      return recovery.foreignGeneration;
    },
    get store() {
      return storeFactsOf(rooms);
    },
    jitter: (ms) => jitter(runtime, ms),
  };
}

function storeFactsOf({ outbox, storeAge, recovery, position, commits }: Rooms): StoreFacts {
  return {
    ...outbox.sent,
    anchor: storeAge.anchor,
    isProven: recovery.isProven,
    reached: position.reached,
    commits: commits.ours.map(({ hash }) => hash),
  };
}

/** Returns the view for recovery, which is made before the last rooms are. */
export function sightOf(rooms: Rooms): RecoverySight {
  const { reading, inbox, commits } = rooms;
  return {
    get permit() {
      return rooms.link.permit;
    },
    get relayEpoch() {
      return rooms.link.relayEpoch;
    },
    get isAllHere() {
      return rooms.link.isAllHere;
    },
    get received() {
      return reading.received;
    },
    get isAllShown() {
      return !reading.isPassingOver && inbox.unread === 0;
    },
    get isLeaving() {
      return rooms.departure.stage() !== "staying";
    },
    get hasOpenCommit() {
      return commits.ours.length > 0;
    },
  };
}

export function rootFactsOf(rooms: Rooms, deps: ChannelDeps): RootFacts {
  const { membership, inbox, reading, duties, recovery, link, departure } = rooms;
  const { session } = deps;
  return {
    get session() {
      const { kind } = session.state;
      return kind === "online" || kind === "ended" ? kind : "offline";
    },
    get sessionError() {
      return session.state.kind === "ended" ? session.state.error : undefined;
    },
    get permit() {
      return link.permit;
    },
    get isAllRead() {
      return isAllRead(rooms);
    },
    get place() {
      return placeOf(rooms).at;
    },
    get isOnWayBack() {
      return recovery.reason !== undefined;
    },
    get isByWord() {
      return recovery.isByWord;
    },
    get hasFoundings() {
      return recovery.hasFoundings;
    },
    get stage() {
      return departure.stage();
    },
    get generation() {
      return generationOf(membership.epoch);
    },
    get hasRoom() {
      return reading.isPassingOver && inbox.hasRoom;
    },
    isAskedFor: (end) => departure.isAskedFor(end),
    hasLeftFor: (asker, generation) => duties.hasLeftFor(asker, generation),
    isStuckHere: (asker) => duties.isStuckHere(asker),
    errors: errorsOf(rooms, deps),
  };
}

function errorsOf({ membership }: Rooms, { session }: ChannelDeps): RootErrors {
  const { name } = membership;
  return {
    removed: (by) => removedError(name, by),
    ended: (said) => {
      if (said === "removed") return removedError(name);
      const isHidden = said === "unknown" && session.covers?.(membership) === false;
      return isHidden ? hiddenError(name) : endError(said, name);
    },
    left: () => leftError(name),
    closed: () => createError("transport_error", "The client was closed; connect again"),
    failed: (fault) => {
      if (fault instanceof StoreFault) {
        return createError(fault.code, `Channel "${name}" stopped: ${fault.message}`, {
          cause: fault,
        });
      }
      const { message } = toStaticError(fault, "background work");
      const text = `Channel "${name}" stopped: ${message}. Close the client and connect again`;
      return createError("listener_died", text, { cause: fault });
    },
  };
}
