/**
 * The guest passes that this agent has made, apart from the invites that they were made with: those
 * are deleted when the agent leaves their channel, and a pass must be revoked all the same.
 */
import { type ChannelId, type InviteId, parseBinaryId, parseChannelId } from "../../proto/mod.ts";
import type { Runtime } from "../base/runtime.ts";
import { decodeFields, encodeFields, type LoadedRecord, type RecordStore } from "../store/mod.ts";

/** A guest pass: an API key that is good for one channel. */
export interface GuestPass {
  readonly id: string;
  readonly expiresAtMs: number;
}

/** `in use`: a guest came in by it. Without its invite it is then good until it expires. */
type PassState = "open" | "in use";

export interface PassNote {
  readonly channelId: ChannelId;
  readonly inviteId: InviteId;
  readonly state: PassState;
}

interface PassNotesDeps {
  readonly store: Pick<RecordStore, "get" | "put" | "delete" | "list">;
  readonly runtime: Pick<Runtime, "nowMs">;
  /** Rejects when the API cannot be asked now. */
  readonly revokePass: (id: string) => Promise<void>;
}

const kind = "passes";

/**
 * The values of those records that can be read: another one holds up nothing that is done for
 * these.
 */
export function readable<Record, Value>(
  records: readonly Record[],
  read: (record: Record) => Value,
): Value[] {
  return records.flatMap((record) => {
    try {
      return [read(record)];
    } catch {
      return [];
    }
  });
}

export class PassNotes {
  readonly #deps: PassNotesDeps;

  constructor(deps: PassNotesDeps) {
    this.#deps = deps;
  }

  async note(
    { id, expiresAtMs }: GuestPass,
    { channelId, inviteId, state }: PassNote,
  ): Promise<void> {
    await this.#deps.store.put(
      kind,
      id,
      encodeFields([channelId, inviteId, expiresAtMs, state === "in use"]),
    );
  }

  /** A note that cannot be read is left as it is: its pass may be in use, and expires. */
  async list(): Promise<(GuestPass & PassNote)[]> {
    return readable(await this.#deps.store.list(kind), decode);
  }

  /** Undefined also when it cannot be read. */
  async get(id: string): Promise<GuestPass & PassNote | undefined> {
    const value = await this.#deps.store.get(kind, id);
    return value === undefined ? undefined : readable([{ id, value }], decode)[0];
  }

  /**
   * Revokes it, unless it is in use. Returns false when it is kept: in use, or the API cannot be
   * asked now.
   */
  async end({ id, expiresAtMs, state }: GuestPass & Pick<PassNote, "state">): Promise<boolean> {
    if (expiresAtMs > this.#deps.runtime.nowMs()) {
      if (state === "in use") return false;
      try {
        await this.#deps.revokePass(id);
      } catch {
        return false;
      }
    }
    await this.#deps.store.delete(kind, id);
    return true;
  }
}

function decode({ id, value }: LoadedRecord): GuestPass & PassNote {
  const fields = decodeFields(value, kind);
  return {
    id,
    channelId: parseChannelId(fields.text(0)),
    inviteId: parseBinaryId<InviteId>(fields.text(1)),
    expiresAtMs: fields.number(2),
    state: fields.flag(3) ? "in use" : "open",
  };
}
