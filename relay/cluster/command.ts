/**
 * What relays write to the shared log: the calls that change an engine, and which sessions there are. Every relay carries out
 * every command, in the order of the log, on a copy of its own. So a command must name all that its effect depends on.
 */
import {
  type AgentId,
  type CborMap,
  type CborValue,
  type ChannelId,
  decodeCbor,
  encodeCbor,
  type GapReason,
} from "../../proto/mod.ts";
import type { Cursor, ForgetBefore, HeldLease, NewChannel, NewEntry, NewRecord, Snapshot } from "../engine/engine.ts";
import { maxBatchBytes } from "./batch.ts";

/** A map would not keep its order in CBOR. */
export type LoggedEntry = Omit<NewEntry, "welcomeBytes"> & {
  readonly welcomeBytes?: readonly (readonly [AgentId, number])[];
};

export type Command =
  | { readonly op: "create"; readonly channel: NewChannel }
  | { readonly op: "append"; readonly channelId: ChannelId; readonly entry: LoggedEntry }
  | { readonly op: "snapshot"; readonly channelId: ChannelId; readonly snapshot: Snapshot }
  | { readonly op: "cursor"; readonly channelId: ChannelId; readonly agentId: AgentId; readonly cursor: Cursor }
  | { readonly op: "drop_cursor"; readonly channelId: ChannelId; readonly agentId: AgentId }
  | { readonly op: "trim"; readonly channelId: ChannelId; readonly through: number }
  | { readonly op: "drop"; readonly channelId: ChannelId; readonly through: number; readonly reason: GapReason }
  | { readonly op: "forget"; readonly before: ForgetBefore }
  | { readonly op: "purge"; readonly channelId: ChannelId }
  | { readonly op: "record"; readonly key: string; readonly record: NewRecord; readonly revision: number }
  | { readonly op: "delete_record"; readonly key: string }
  | { readonly op: "expire_records"; readonly nowMs: number }
  | { readonly op: "lease"; readonly lease: HeldLease }
  | { readonly op: "stop_lease"; readonly leaseId: string }
  | { readonly op: "forget_lease"; readonly leaseId: string }
  /** An agent has a session at the writer's relay from here on, and at no other. */
  | { readonly op: "session"; readonly agentId: AgentId; readonly nowMs: number }
  | { readonly op: "session_end"; readonly agentId: AgentId; readonly session: number }
  /** Everything before it is known to a relay that has seen it. */
  | { readonly op: "mark" }
  /** The relay's earlier lives write no more, and their sessions are over. */
  | { readonly op: "give_up"; readonly relay: string }
  /** What a relay's copy came to at a position: `tripwire.ts`. */
  | { readonly op: "digest"; readonly position: number; readonly digest: Uint8Array };

export function encodeCommand(command: Command): Uint8Array {
  return encodeCbor(toCbor(command));
}

export function decodeCommand(bytes: Uint8Array): Command {
  const command = fromCbor(decodeCbor(bytes, maxBatchBytes));
  if (typeof command !== "object" || command === null || !("op" in command)) {
    throw new TypeError("A command of the shared log is damaged");
  }
  return command as Command; // cast: relays of this version wrote it; an operation that is unknown is refused when it is carried out
}

/** Objects become maps; fields that are undefined are left out. */
export function toCbor(value: unknown): CborValue {
  if (value === null || value instanceof Uint8Array) return value;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} cannot be written to the shared log`);
    return value;
  }
  if (Array.isArray(value)) return value.map(toCbor);
  if (typeof value !== "object") throw new TypeError(`A ${typeof value} cannot be written to the shared log`);
  const map: CborMap = new Map();
  for (const [key, field] of Object.entries(value)) if (field !== undefined) map.set(key, toCbor(field));
  return map;
}

export function fromCbor(value: CborValue): unknown {
  if (Array.isArray(value)) return value.map(fromCbor);
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...value].map(([key, field]) => [String(key), fromCbor(field)]));
}
