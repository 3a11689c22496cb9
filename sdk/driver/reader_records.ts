/** Durable readers of a channel, in the agent's encrypted store. */
import type { ChannelId } from "../../proto/mod.ts";
import { createError, invalidArgument } from "../base/errors.ts";
import { readersKind } from "../channel/records.ts";
import { decodeFields, encodeFields, type RecordStore, type StoredFields } from "../store/mod.ts";
import { type Place, type PositionState, ReaderPosition } from "./reader_position.ts";

const namePattern = /^[a-z0-9][a-z0-9._-]{0,31}$/;

const maxReaders = 16;

/** Throws when a channel with so many readers cannot have one of this name besides. */
export function checkNew(name: string, count: number): void {
  if (!namePattern.test(name)) {
    throw invalidArgument(`"${name}" cannot be a reader's name: use up to 32 of a-z, 0-9, dot, dash and underscore`);
  }
  if (count < maxReaders) return;
  throw createError("overloaded", `A channel has at most ${maxReaders} durable readers; delete one, or read with tail`);
}

export interface ReaderRecord {
  readonly name: string;
  readonly position: PositionState;
  /** It was deleted, and begins anew when somebody reads by its name. Only `default` is noted so: it would exist otherwise. */
  readonly deleted: boolean;
  /** Messages that it was set past, and has not been told of. */
  readonly missed: number;
}

export interface ReaderRecords {
  list(): Promise<ReaderRecord[]>;
  /** Resolves when they are on disk. */
  write(records: readonly ReaderRecord[]): Promise<void>;
  delete(name: string): Promise<void>;
}

export function createReaderRecords(
  channelId: ChannelId,
  store: Pick<RecordStore, "list" | "batch" | "delete">,
): ReaderRecords {
  const kind = readersKind(channelId);
  return {
    list: async () =>
      (await store.list(kind)).map(({ id, value }) => {
        try {
          return { name: id, ...decodeRecord(decodeFields(value, kind)) };
        } catch {
          // It holds up no other reader. As a new one it is shown some messages again, and loses none.
          return { name: id, position: new ReaderPosition().state([]), deleted: false, missed: 0 };
        }
      }),
    write: (records) =>
      store.batch(records.map((record) => ({ type: "put", kind, id: record.name, value: encodeRecord(record) }))),
    delete: (name) => store.delete(kind, name),
  };
}

/**
 * First stands the place before everything that is open. A library of before knows no more: it shows messages again, and loses none. Its own
 * records have no reach besides.
 */
function encodeRecord({ position: { reach, open, beyond }, deleted, missed }: ReaderRecord): Uint8Array {
  const before = open.reduce((lowest, { sequence }) => Math.min(lowest, sequence - 1), reach.sequence);
  const fields = [before, reach.timeMs, beyond.map(rowOf), deleted, missed];
  return encodeFields(open.length === 0 ? fields : [...fields, reach.sequence, open.map(rowOf)]);
}

function decodeRecord(fields: StoredFields): Omit<ReaderRecord, "name"> {
  return { position: positionOf(fields), deleted: fields.flag(3), missed: fields.optionalNumber(4) ?? 0 };
}

function positionOf(fields: StoredFields): PositionState {
  const reached = fields.optionalNumber(5);
  return {
    reach: { sequence: reached ?? fields.number(0), timeMs: fields.number(1) },
    open: reached === undefined ? [] : placesOf(fields, 6),
    beyond: placesOf(fields, 2),
  };
}

function rowOf({ sequence, timeMs, id }: Place): [number, number, string | null] {
  return [sequence, timeMs, id ?? null];
}

function placesOf(fields: StoredFields, index: number): Place[] {
  return fields.rows(index).map((row) => ({
    sequence: row.number(0),
    timeMs: row.number(1),
    id: row.optionalText(2),
  }));
}
