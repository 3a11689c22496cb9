/**
 * A member of a channel as plain data: the real state of its recovery, and letters for the rest.
 * Its connection is one event: everything that `judgeConnection` asks is answered at once, because
 * `restored_owner.ts` tries every order inside of it. Fields are grouped as they live: on disk, or
 * in memory alone.
 */
import { type AgentId, generationOf } from "../../proto/mod.ts";
import {
  type Anchor,
  type LinkFacts,
  type LinkPlace,
  newAnchor,
  type OwnCommit,
  type Permit,
} from "../../sdk/channel/testing/connection.ts";
import {
  badOf,
  noRecords,
  type ReceivedWelcome,
  type RecoveryRecords,
  type RecoveryState,
  restore,
} from "../../sdk/channel/testing/recovery.ts";
import { bytesOf } from "./group_of_letters.ts";
import type { Reply, Request } from "./relay_of_letters.ts";

/**
 * Two members that took the same way have the same one. Leaves by name; an empty one is of a member
 * that is absent.
 */
export interface LetterGroup {
  readonly epoch: number;
  readonly led: string;
  readonly leaves: Readonly<Record<string, string>>;
  readonly owners: readonly string[];
  /** The epoch before, by what led to it: a founding may be on it. */
  readonly parent: string | undefined;
}

export interface MemberDisk {
  readonly group: LetterGroup;
  readonly records: RecoveryRecords;
  readonly position: number;
  /** The log that the position is of. */
  readonly log: string;
  readonly anchor: Anchor;
  /** Commits of other members and of itself that it keeps, to put them back. */
  readonly kept: readonly KeptCommit[];
  readonly own: OwnCommit | undefined;
  /** The latest KeyPackage that was made, and those that were used up. */
  readonly keyPackages: number;
  readonly used: readonly string[];
}

export interface KeptCommit {
  readonly epoch: number;
  readonly hash: string;
  readonly sender: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export interface LetterCall {
  readonly call: number;
  readonly request: Request;
  /** The relay has acted on it. */
  readonly reply?: Reply | { readonly refused: string };
  /** A reply that the relay gives from nothing: KeyPackages for a founding. */
  readonly isClaim?: true;
}

export interface RecoveringMember {
  readonly name: string;
  disk: MemberDisk;
  recovery: RecoveryState;
  connection: number;
  /** As far as this connection has shown. */
  link: "offline" | "connected" | "listening" | "silent" | "permit";
  logGeneration: number;
  received: number | undefined;
  /** The place in a log that the relay has no more. */
  lostAt: number | undefined;
  isAllHere: boolean;
  /** Calls of `recover()` that wait for what stands in front of the stop. */
  arrivals: number[];
  calls: LetterCall[];
  /** Welcomes that came when nobody wanted one. */
  welcomes: ReceivedWelcome[];
  /** That its program waits for. */
  operations: number[];
  /** Of them, those that named whom to leave out. */
  named: Readonly<Record<number, readonly string[]>>;
  ended: string | undefined;
}

export function newMember(
  name: string,
  disk: Partial<MemberDisk> & Pick<MemberDisk, "group">,
): RecoveringMember {
  return startMember(name, {
    records: noRecords,
    position: 0,
    log: "log",
    anchor: newAnchor(0),
    kept: [],
    own: undefined,
    keyPackages: 0,
    used: [],
    ...disk,
  });
}

/** As a process that starts. */
export function startMember(name: string, disk: MemberDisk): RecoveringMember {
  return {
    name,
    disk,
    recovery: restore(disk.records),
    connection: 0,
    link: "offline",
    logGeneration: generationOf(disk.group.epoch),
    received: disk.position,
    lostAt: undefined,
    isAllHere: false,
    arrivals: [],
    calls: [],
    welcomes: [],
    operations: [],
    named: {},
    ended: undefined,
  };
}

export function linkPlace({ recovery: { place } }: RecoveringMember): LinkPlace {
  const bad = badOf(place);
  if (bad !== undefined) return { at: "stopped", sequence: bad.sequence };
  return place.at === "outside"
    ? { at: "outside", isByWord: place.back.by === "word" }
    : { at: "in_step" };
}

export function linkFacts(member: RecoveringMember): LinkFacts {
  const { disk, received, recovery: { place, isProven } } = member;
  const { group } = disk;
  return {
    place: linkPlace(member),
    epoch: group.epoch,
    began: group.parent === undefined ? undefined : bytesOf(group.led),
    received,
    durable: disk.position,
    own: disk.own,
    foreign: place.at === "apart" ? place.foreign.generation : undefined,
    store: {
      anchor: disk.anchor,
      isProven,
      counter: 0,
      usedKeys: 0,
      reached: disk.position,
      commits: [],
    },
    jitter: (ms) => ms,
  };
}

/**
 * A permit of letters: the real ones are made by `judgeConnection`, which has judged this
 * connection.
 */
export function permitOf({ link, connection }: RecoveringMember): Permit | undefined {
  return link === "permit" ? JSON.parse(`{"number":${connection}}`) : undefined;
}

export function agent(name: string): AgentId {
  // cast: a letter for an agent
  return name as AgentId;
}

export function isInStep({ recovery: { place }, link, operations }: RecoveringMember): boolean {
  return place.at === "in_step" && link === "permit" && operations.length === 0;
}
