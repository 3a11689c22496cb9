/**
 * The commands that relays write to the shared log: the calls that change an engine, and the
 * sessions that exist. Every relay carries out every command, in the order of the log, on a copy of
 * its own. So a command must name everything that its effect depends on.
 */
import {
  type AgentId,
  type CborMap,
  type CborValue,
  type ChannelId,
  decodeCbor,
  encodeCbor,
  type GapReason,
} from "../../../proto/mod.ts";
import type {
  CursorMove,
  ForgetBefore,
  HeldLease,
  NewChannel,
  NewEntry,
  NewRecord,
  Snapshot,
} from "../../engine/engine.ts";
import { maxBatchBytes } from "./batch.ts";

/** A map would not keep its order in CBOR. */
export type LoggedEntry = Omit<NewEntry, "welcomeBytes"> & {
  readonly welcomeBytes?: readonly (readonly [AgentId, number])[];
};

export type LogCommand =
  | { readonly op: "create"; readonly channel: NewChannel }
  | { readonly op: "append"; readonly channelId: ChannelId; readonly entry: LoggedEntry }
  | { readonly op: "snapshot"; readonly channelId: ChannelId; readonly snapshot: Snapshot }
  /** All moves in one channel since its relay last wrote them. */
  | {
    readonly op: "cursors";
    readonly channelId: ChannelId;
    readonly moves: readonly CursorMove[];
  }
  | { readonly op: "drop_cursor"; readonly channelId: ChannelId; readonly agentId: AgentId }
  | { readonly op: "trim"; readonly channelId: ChannelId; readonly through: number }
  | {
    readonly op: "drop";
    readonly channelId: ChannelId;
    readonly through: number;
    readonly reason: GapReason;
  }
  | { readonly op: "forget"; readonly before: ForgetBefore }
  | { readonly op: "purge"; readonly channelId: ChannelId }
  | {
    readonly op: "record";
    readonly key: string;
    readonly record: NewRecord;
    readonly revision: number;
  }
  | { readonly op: "delete_record"; readonly key: string }
  | { readonly op: "expire_records"; readonly nowMs: number }
  | { readonly op: "lease"; readonly lease: HeldLease }
  | { readonly op: "stop_lease"; readonly leaseId: string }
  | { readonly op: "forget_lease"; readonly leaseId: string }
  /**
   * An agent has a session at the writer's relay from here on, and at no other. `behind`: void if
   * the agent has an open session at another relay that began behind this position: the writer's
   * relay did not know of it when the agent asked.
   */
  | {
    readonly op: "session";
    readonly agentId: AgentId;
    readonly nowMs: number;
    readonly behind: number;
  }
  | { readonly op: "session_end"; readonly agentId: AgentId; readonly session: number }
  /** A relay sends the agent to another one. */
  | { readonly op: "moved"; readonly agentId: AgentId; readonly timeMs: number }
  /** Everything before it is known to a relay that has seen it. */
  | { readonly op: "mark" }
  /**
   * The relay's earlier lives write no more, and their sessions are over. `behind`: void if the
   * relay has written behind this position: the relay that thought it silent was cut off from it.
   */
  | { readonly op: "give_up"; readonly relay: string; readonly behind?: number }
  /** The digest of a relay's copy at a position: `divergence_check.ts`. */
  | { readonly op: "digest"; readonly position: number; readonly digest: Uint8Array };

const fieldsOfMove = 3;

export function encodeCommand(command: LogCommand): Uint8Array {
  switch (command.op) {
    case "append":
      return encodeCbor(appendToCbor(command));
    case "cursors":
      return encodeCbor(cursorsToCbor(command));
    default:
      return encodeCbor(toCbor(command));
  }
}

type AppendCommand = Extract<LogCommand, { readonly op: "append" }>;
type Cursors = Extract<LogCommand, { readonly op: "cursors" }>;

/**
 * Nearly all commands are entries and cursors, and a list is read in a third of the time of a map.
 * That of cursors begins with a list, that of an entry with its channel.
 */
function cursorsToCbor({ channelId, moves }: Cursors): CborValue[] {
  const flat = moves.flatMap((
    [agentId, { consumed, acknowledged }],
  ): CborValue[] => [agentId, consumed, acknowledged]);
  return [flat, channelId];
}

function cursorsFromCbor(flat: readonly CborValue[], channelId: CborValue | undefined): Cursors {
  const moves: unknown[] = [];
  for (let at = 0; at < flat.length; at += fieldsOfMove) {
    moves.push([flat[at], { consumed: flat[at + 1], acknowledged: flat[at + 2] }]);
  }
  // cast: `cursorsToCbor` of this version made it
  return { op: "cursors", channelId, moves } as unknown as Cursors;
}

/** Fields that messages do not have are in one map. */
function appendToCbor({ channelId, entry }: AppendCommand): CborValue[] {
  const { kind, epoch, sender, timeMs, bodyVersion, key, body, charge, room, by, ...rest } = entry;
  const isPlain = Object.entries(rest).every(([, field]) =>
    Array.isArray(field) && field.length === 0
  );
  return [
    channelId,
    kind,
    epoch,
    sender,
    timeMs,
    bodyVersion,
    key,
    body,
    charge === undefined
      ? null
      : [charge.leaseId, charge.fence, charge.messages, charge.payloadBytes],
    room === undefined ? null : [room.channelBytes, room.accountBytes],
    by === undefined ? null : [by.agentId, by.session],
    isPlain ? null : toCbor(rest),
  ];
}

function appendFromCbor(fields: readonly CborValue[]): AppendCommand {
  const [channelId, kind, epoch, sender, timeMs, bodyVersion, key, body, charge, room, by, rest] =
    fields;
  const [leaseId, fence, messages, payloadBytes] = listOf(charge);
  const [channelBytes, accountBytes] = listOf(room);
  const [agentId, session] = listOf(by);
  const entry = {
    kind,
    epoch,
    sender,
    timeMs,
    bodyVersion,
    key,
    body,
    added: [],
    removed: [],
    ...(charge && { charge: { leaseId, fence, messages, payloadBytes } }),
    ...(room && { room: { channelBytes, accountBytes } }),
    ...(by && { by: { agentId, session } }),
    ...(rest instanceof Map && (fromCbor(rest) as object)), // cast: a map becomes an object
  };
  // cast: `appendToCbor` of this version made it
  return { op: "append", channelId, entry } as unknown as AppendCommand;
}

function listOf(value: CborValue | undefined): readonly CborValue[] {
  return Array.isArray(value) ? value : [];
}

export function decodeCommand(bytes: Uint8Array): LogCommand {
  const value = decodeCbor(bytes, maxBatchBytes);
  if (Array.isArray(value)) {
    const [first, second] = value;
    return Array.isArray(first) ? cursorsFromCbor(first, second) : appendFromCbor(value);
  }
  const command = fromCbor(value);
  if (typeof command !== "object" || command === null || !("op" in command)) {
    throw new TypeError("A command of the shared log is damaged");
  }
  // cast: relays of this version wrote it; an operation that is unknown is refused when it is
  // carried out
  return command as LogCommand;
}

/**
 * The operation of a command that may be of a newer version, for an error text. Its content belongs
 * into no log.
 */
export function opOf(command: unknown): string {
  const op = typeof command === "object" && command !== null && "op" in command
    ? command.op
    : undefined;
  return String(op).slice(0, 64);
}

/** Objects become maps; fields that are undefined are left out. */
export function toCbor(value: unknown): CborValue {
  if (value === null || value instanceof Uint8Array) return value;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) {
      throw new TypeError(`${value} cannot be written to the shared log`);
    }
    return value;
  }
  if (Array.isArray(value)) return value.map(toCbor);
  if (typeof value !== "object") {
    throw new TypeError(`A ${typeof value} cannot be written to the shared log`);
  }
  const map: CborMap = new Map();
  for (const [key, field] of Object.entries(value)) {
    if (field !== undefined) map.set(key, toCbor(field));
  }
  return map;
}

export function fromCbor(value: CborValue): unknown {
  if (Array.isArray(value)) return value.map(fromCbor);
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...value].map(([key, field]) => [String(key), fromCbor(field)]));
}
