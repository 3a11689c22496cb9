/** Durable readers of a channel, in the agent's encrypted store. */
import type { ChannelId } from "../../proto/mod.ts";
import { readersKind } from "../channel/records.ts";
import { decodeFields, encodeFields, type RecordStore } from "../store/mod.ts";
import { ReaderPosition } from "./reader_position.ts";

export interface ReaderRecord {
  readonly name: string;
  readonly position: ReaderPosition;
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
        const fields = decodeFields(value, kind);
        const beyond = fields.rows(2).map((row) => ({
          sequence: row.number(0),
          timeMs: row.number(1),
          id: row.optionalText(2),
        }));
        const floor = { sequence: fields.number(0), timeMs: fields.number(1) };
        return {
          name: id,
          position: new ReaderPosition(floor, beyond),
          deleted: fields.flag(3),
          missed: fields.optionalNumber(4) ?? 0,
        };
      }),
    write: (records) =>
      store.batch(records.map(({ name, position: { floor, beyond }, deleted, missed }) => ({
        type: "put",
        kind,
        id: name,
        value: encodeFields([
          floor.sequence,
          floor.timeMs,
          beyond.map(({ sequence, timeMs, id = null }) => [sequence, timeMs, id]),
          deleted,
          missed,
        ]),
      }))),
    delete: (name) => store.delete(kind, name),
  };
}
