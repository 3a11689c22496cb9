/** Durable readers of a channel, in the agent's encrypted store. */
import type { ChannelId } from "../../../proto/mod.ts";
import { createError, invalidArgument } from "../../base/errors.ts";
import { readersKind } from "../../channel/channel_kinds.ts";
import {
  decodeFields,
  encodeFields,
  type RecordChange,
  type RecordStore,
  type StoredFields,
} from "../../store/mod.ts";
import { type ReaderPlace, ReaderPosition, type StoredPosition } from "./reader_position.ts";

const namePattern = /^[a-z0-9][a-z0-9._-]{0,31}$/;

const maxReaders = 16;

/** Throws when a channel with so many readers cannot have one of this name besides. */
export function checkNew(name: string, count: number): void {
  if (!namePattern.test(name)) {
    throw invalidArgument(
      `"${name}" cannot be a reader's name: use up to 32 of a-z, 0-9, dot, dash and underscore`,
    );
  }
  if (count < maxReaders) return;
  throw createError(
    "overloaded",
    `A channel has at most ${maxReaders} durable readers; delete one, or read with tail`,
  );
}

export interface ReaderRecord {
  readonly name: string;
  readonly position: StoredPosition;
  /**
   * The reader was deleted, and begins anew when somebody reads by its name. Only `default` is
   * noted so: it would exist otherwise.
   */
  readonly deleted: boolean;
  /** Messages that it was set past, and has not been told of. */
  readonly missed: number;
}

export interface ReaderRecords {
  list(): Promise<ReaderRecord[]>;
  /** Resolves when they are on disk, in one write with the changes. */
  write(records: readonly ReaderRecord[], changes?: readonly RecordChange[]): Promise<void>;
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
          // A broken record holds up no other reader. As a new one, its reader is shown some
          // messages again, and loses none.
          return { name: id, position: new ReaderPosition().state([]), deleted: false, missed: 0 };
        }
      }),
    write: (records, changes = []) =>
      store.batch([
        ...records.map((record): RecordChange => ({
          type: "put",
          kind,
          id: record.name,
          value: encodeRecord(record),
        })),
        ...changes,
      ]),
    delete: (name) => store.delete(kind, name),
  };
}

function encodeRecord(
  { position: { reach, open, beyond }, deleted, missed }: ReaderRecord,
): Uint8Array {
  return encodeFields([
    reach.sequence,
    reach.timeMs,
    open.map(rowOf),
    beyond.map(rowOf),
    deleted,
    missed,
  ]);
}

function decodeRecord(fields: StoredFields): Omit<ReaderRecord, "name"> {
  const reach = { sequence: fields.number(0), timeMs: fields.number(1) };
  const position = { reach, open: placesOf(fields, 2), beyond: placesOf(fields, 3) };
  return { position, deleted: fields.flag(4), missed: fields.number(5) };
}

function rowOf({ sequence, timeMs, id }: ReaderPlace): [number, number, string | null] {
  return [sequence, timeMs, id ?? null];
}

function placesOf(fields: StoredFields, index: number): ReaderPlace[] {
  return fields.rows(index).map((row) => ({
    sequence: row.number(0),
    timeMs: row.number(1),
    id: row.optionalText(2),
  }));
}
