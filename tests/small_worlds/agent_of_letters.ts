/**
 * An agent in one channel, as plain data: the real state of its connection, and around it letters
 * for the parts that are not machines yet (group, stop, founding, rejoin, commits, outbox). Fields
 * are grouped as they live: on disk, or in memory alone.
 */
import { foundingEpoch, generationOf } from "../../proto/mod.ts";
import {
  type Anchor,
  type ConnectionQuestion,
  type LinkFacts,
  type LinkPlace,
  type LinkState,
  newAnchor,
  newLink,
  type OwnCommit,
  type Permit,
  permitOf,
  type RestoredCommits,
} from "../../sdk/channel/testing/connection.ts";
import { bytesOf, type Group } from "./group_of_letters.ts";
import type { Note, Refused, Reply, Request } from "./relay_of_letters.ts";

/** The commit at which the agent is stopped. */
export interface Stop {
  readonly sequence: number;
  readonly epoch: number;
  readonly hash: string;
  readonly sender: string;
}

export interface Candidate {
  readonly epoch: number;
  readonly hash: string;
}

/** As its author signed it. */
export interface KeptCommit {
  readonly author: string;
  readonly hash: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Everything that a process finds when it starts. */
export interface Disk {
  group: Group;
  stop: Stop | undefined;
  /** A founding of its own that was made, and perhaps sent. */
  founding: string | undefined;
  candidate: Candidate | undefined;
  counter: number;
  usedKeys: number;
  /** The program is done with everything up to here. */
  position: number;
  own: OwnCommit | undefined;
  anchor: Anchor;
  log: string | undefined;
  /**
   * Commits that were followed or made, by their epoch; undefined in a world whose log is not set
   * back.
   */
  kept: Readonly<Record<number, KeptCommit>> | undefined;
  /** The latest Welcome whose keys were used, and are gone. */
  welcomed: number;
}

/** One after the other; the first one runs. */
export type Task =
  | { readonly kind: "stop"; readonly call: number; isWaiting: boolean }
  /** From a `Subscribe` to its judgement. */
  | { readonly kind: "turn"; readonly call: number; readonly tag: number; isWaiting: boolean }
  | {
    readonly kind: "read";
    readonly reading: number;
    readonly note: Note;
    readonly permit: Permit | undefined;
    at: "new" | "own_founding" | "own_commit" | "waits_for_commit";
    isWaiting: boolean;
  }
  | { readonly kind: "settle"; readonly permit: Permit; isWaiting: boolean }
  | {
    readonly kind: "found";
    readonly operation: number;
    readonly mayWait: boolean;
    at: "new" | "is_founded" | "sent" | "check";
    isWaiting: boolean;
  }
  | {
    readonly kind: "rejoined";
    readonly welcome: Extract<Note, { type: "welcome" }>;
    isWaiting: boolean;
  };

/** The part that waits for an answer. */
export type Asker =
  | { readonly by: "task" }
  | { readonly by: "subscribe"; readonly call: number; readonly tag: number }
  | { readonly by: "question"; readonly call: number; readonly question: ConnectionQuestion }
  | {
    readonly by: "put_back";
    readonly call: number;
    readonly epoch: number;
    readonly so: RestoredCommits;
  }
  | { readonly by: "commit"; readonly isFate: boolean }
  | { readonly by: "message"; readonly group: Group }
  | { readonly by: "proof" }
  | { readonly by: "rejoin" }
  | { readonly by: "recover"; readonly operation: number };

export interface Call {
  readonly asker: Asker;
  readonly request: Request;
  /** The relay has acted on it, and its answer is on its way. */
  reply?: Reply | Refused;
}

export interface Rejoin {
  at: "proof" | "proof_later" | "asking" | "waiting" | "pausing";
  generation: number;
  readonly sent: number | undefined;
  /** As a member told it. */
  leaf: string | undefined;
}

/** A call of the program that has not returned. */
export interface Operation {
  readonly operation: number;
  readonly what: "recover" | "commit";
  at: "find" | "arrival" | "queued" | "following" | "sent";
  waits: number;
  readonly until: number;
}

export interface Agent {
  readonly name: string;
  readonly disk: Disk;
  link: LinkState<Note>;
  /** 0 without one. */
  connection: number;
  received: number | undefined;
  /** Its place was in a log that is another one now. */
  isVoid: boolean;
  /** Messages that the program has not read. */
  unread: number[];
  reason: string | undefined;
  isByWord: boolean;
  isProven: boolean;
  rejoin: Rejoin | undefined;
  welcome: Extract<Note, { type: "welcome" }> | undefined;
  /** The outbox sends. */
  isSending: boolean;
  isUnderWay: boolean;
  /** The entry for which the log was fetched again. */
  fetchedFor: number;
  tasks: Task[];
  calls: Call[];
  operations: Operation[];
  /** The log that is to be written with the next place. */
  notedLog: string | undefined;
  ended: string | undefined;
}

type Memory = Omit<Agent, "name" | "disk" | "link">;

/** Of a process that has just started. */
function memoryOf({ position }: Disk): Memory {
  return {
    connection: 0,
    received: position,
    isVoid: false,
    unread: [],
    reason: undefined,
    isByWord: false,
    isProven: false,
    rejoin: undefined,
    welcome: undefined,
    isSending: false,
    isUnderWay: false,
    fetchedFor: 0,
    tasks: [],
    calls: [],
    operations: [],
    notedLog: undefined,
    ended: undefined,
  };
}

/** As a process that starts. */
export function restore(name: string, disk: Disk): Agent {
  return { name, disk, link: newLink(logOf(disk)), ...memoryOf(disk) };
}

/**
 * As the agent is without everything that is in memory alone: `restore` must make the same of its
 * disk.
 */
export function forget(agent: Agent): Agent {
  const { name, disk } = agent;
  const { log, ...memory } = agent.link;
  const empty = newLink<Note>(undefined);
  return {
    ...agent,
    // Its log is on disk, or is written with the next place.
    link: { ...memory, ...empty, log: agent.notedLog === undefined ? log : logOf(disk) },
    ...memoryOf(disk),
    name,
    disk,
  };
}

export function newDisk(group: Group, disk: Partial<Disk> = {}): Disk {
  return {
    group,
    stop: undefined,
    founding: undefined,
    candidate: undefined,
    counter: 0,
    usedKeys: 0,
    position: 0,
    own: undefined,
    anchor: newAnchor(undefined),
    log: "log",
    kept: undefined,
    welcomed: 0,
    ...disk,
  };
}

export function placeOf({ disk: { stop }, reason, isByWord }: Agent): LinkPlace {
  if (stop !== undefined) return { at: "stopped", sequence: stop.sequence };
  return reason === undefined ? { at: "in_step" } : { at: "outside", isByWord };
}

export function factsOf(agent: Agent): LinkFacts {
  const { disk, received, isVoid, isProven } = agent;
  const { group, candidate, own, anchor, counter, usedKeys, position } = disk;
  const isByCommit = group.led.startsWith("commit");
  return {
    place: placeOf(agent),
    epoch: group.epoch,
    began: isByCommit ? bytesOf(group.led) : undefined,
    received,
    durable: position,
    own,
    foreign: undefined,
    store: {
      anchor,
      isProven,
      counter,
      usedKeys,
      reached: isVoid ? Infinity : position,
      commits: candidate === undefined ? [] : [bytesOf(candidate.hash)],
    },
    jitter: (ms) => ms,
  };
}

/** The program is done with everything up to here. */
export function reachedBy({ unread: [oldest], received, disk: { position } }: Agent): number {
  return Math.max(position, oldest === undefined ? received ?? 0 : oldest - 1);
}

/** There is something to write of it. */
export function isPlaceNew(agent: Agent): boolean {
  const { notedLog, disk } = agent;
  return reachedBy(agent) > disk.position || (notedLog !== undefined && notedLog !== disk.log);
}

export function nextFounding({ disk: { group } }: Agent): number {
  return foundingEpoch(generationOf(group.epoch) + 1);
}

export const permit = ({ link }: Agent): Permit | undefined => permitOf(link);
export const isAllHere = ({ link }: Agent): boolean => link.arrival.isOver;

/** A membership, as the world counts them. */
export function memberOf({ disk: { group } }: Agent): string {
  return `${group.leaf} ${generationOf(group.epoch)}`;
}

function logOf({ log }: Disk): Uint8Array | undefined {
  return log === undefined ? undefined : bytesOf(log);
}
