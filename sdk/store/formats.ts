/**
 * Every change of an agent's records, in order: a change of any record, MLS state included, is one more item at the end
 * of this list. Its format number is its place, plus 2. Items are never edited after a release: directories of that
 * format exist.
 *
 * The modules that own the records read and write the newest format alone; older ones exist only here.
 */
import { type CborValue, decodeCbor, encodeCbor } from "../../proto/mod.ts";
import { StoreError } from "./errors.ts";
import type { StoreMigration, UpgradeValue } from "./migrations.ts";
import { maxValueBytes } from "./record.ts";

type Fields = readonly CborValue[];

export const storeMigrations: readonly StoreMigration[] = [
  {
    name: "records without a version of their own: the store has one for all",
    values: {
      channels: fields(withoutVersion),
      trust: fields(withoutVersion),
      positions: fields(withoutVersion),
      counters: fields(withoutVersion),
      from: fields(withoutVersion),
      inv: fields(withoutVersion),
      joining: fields(withoutVersion),
      creating: fields(withoutVersion),
      identity: fields(withoutVersion),
      keypackages: fields(withoutVersion),
      mls: fields((list, id) => {
        const [epoch, message, hash, welcome, summary, next, frontier] = withoutVersion(list);
        if (id !== "candidate") return withoutVersion(list);
        return [epoch, message, hash, welcome, summary, nested(next), nested(frontier)].map((field) => field ?? null);
      }),
    },
  },
  {
    name: "positions with the log's epoch, unknown in those from before; trust with agents that are not shown",
    values: { positions: fields((list) => [...list, null]), trust: fields((list) => [...list, []]) },
  },
  {
    name:
      "leave statements about a leaf: earlier ones are void; how a membership began, and whether commits are signed",
    values: {
      channels: fields(([name, joinedEpoch, since, _leavers, ...rest]) =>
        [name, joinedEpoch, since, [], ...rest, false, true, new Uint8Array(0)].map((field) => field ?? null)
      ),
    },
  },
  { name: "the changes of a channel's owners, in a record of their own; channels from before have none" },
  // A library from before would come back into a channel without writing where its new membership begins.
  { name: "where a membership began, and commits that were given up" },
  {
    name: "commits whose signatures say which state they lead to: earlier ones count as unsigned",
    values: {
      channels: fields((list) => list.map((field, at) => at === 8 ? true : field)),
    },
  },
  { name: "the epoch before the present one, channels that are stopped at a commit, and foundings under way" },
  {
    name: "the latest epoch of earlier memberships, which was not kept before",
    values: { anchors: fields((list) => [...list, 0]) },
  },
  {
    name: "who came in by an invite and its guest pass, unknown in those from before; who was removed against its will",
    values: {
      channels: fields((list) => [...list, []]),
      inv: fields(([name, secret, expiresAtMs, expiresHereAtMs, uses, rows]) => {
        const admitted = Array.isArray(rows) ? rows.map((row) => [...(Array.isArray(row) ? row : []), ""]) : [];
        return [name, secret, expiresAtMs, expiresHereAtMs, uses, admitted, null, false].map((field) => field ?? null);
      }),
    },
  },
  // A library from before would join again without a new name for its membership.
  {
    name: "how a member came in, in a record of its own, with the name of its membership; those from before have none",
  },
];

/** A change of a record's fields. `id` is the record's name within its kind. */
export function fields(change: (fields: Fields, id: string) => Fields): UpgradeValue {
  return (value, id) => {
    const list = decodeCbor(value, maxValueBytes);
    if (!Array.isArray(list)) {
      throw new StoreError("store_corrupt", "A record of an older format is not a list of fields");
    }
    return encodeCbor([...change(list, id)]);
  };
}

function withoutVersion([, ...rest]: Fields): Fields {
  return rest;
}

/** Records inside a record. */
function nested(field: CborValue | undefined): CborValue {
  return field instanceof Uint8Array ? fields(withoutVersion)(field, "") : field ?? null;
}
