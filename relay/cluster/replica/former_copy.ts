/**
 * The copy of the log that an earlier life of a relay has left in its folder. It gives way to the
 * newest one of the log. Nothing of it is used but how far it had read.
 */
import type { Log } from "../../../server/mod.ts";
import { openReplicaStore } from "../../engine/mod.ts";
import { type LogCopies, removeCopy } from "../log/log_copies.ts";
import { ReplicaState } from "./replica_state.ts";

/** Where copies end, as positions of the log; 0 where there is none. */
export interface FoundCopies {
  /** The newest beside the log. */
  readonly newest: number;
  /** The one of the relay's earlier life. */
  readonly former: number;
}

/** Whatever is at the path is taken away. `:memory:` has nothing. */
export async function replaceCopy(path: string, copies: LogCopies): Promise<FoundCopies> {
  const newest = await copies.newest();
  const isKept = path !== ":memory:";
  const former = isKept ? await positionOfCopy(path) : 0;
  if (isKept) await removeCopy(path);
  if (isKept && newest !== undefined) await copies.load(newest, path);
  return { newest: newest?.position ?? 0, former };
}

/** When the whole log is read, up to a position. */
export function warnOfSetBack(log: Log, { former }: FoundCopies, position: number): void {
  if (position >= former) return;
  const reason =
    "this relay had read further: the nodes have lost entries, or this is the log of another account";
  log("warn", "log_set_back", { position, former, reason });
}

async function positionOfCopy(path: string): Promise<number> {
  try {
    await Deno.stat(path);
    const store = await openReplicaStore({ path });
    try {
      return new ReplicaState(store.database, store.commits).position;
    } finally {
      await store.engine.close();
    }
  } catch {
    return 0; // None, or cut off in the middle of a write, or of another version: nobody needs it.
  }
}
