/**
 * The feed of changes that relays follow. Any number of them wait in this process, and the database
 * is asked for all of them together, once a second, whether there is something new.
 */
import type { AccountId } from "../../proto/mod.ts";
import type { AccountChange, AuditStore, ChangesStore } from "./admin_store.ts";
import type { Clock } from "./deps.ts";

export interface ChangesPage {
  readonly after: number;
  readonly changes: readonly {
    readonly accountId: AccountId | null;
    readonly change: AccountChange;
  }[];
}

export interface Changes {
  /** Returns the present state at once. */
  standing(): ReturnType<ChangesStore["readStanding"]>;
  /**
   * Resolves as soon as there is a change after this number, or when time is up. `ahead`: there is
   * no such number yet.
   */
  read(after: number): Promise<ChangesPage | "ahead">;
  /** Ends every wait, because the process is about to end. */
  stop(): void;
}

export interface ChangesDeps {
  readonly store: ChangesStore & Pick<AuditStore, "readAuditHead">;
  readonly clock: Clock;
  readonly after: (ms: number, run: () => void) => () => void;
}

const pageChanges = 500;
/**
 * Relays give up soon after: an API that dies silently must not keep them from a suspension for ten
 * seconds.
 */
const waitMs = 4_000;
const lookMs = 1_000;
/** Longer than any token lives. */
const deletedShownMs = 2 * 3_600_000;

export function createChanges({ store, clock, after: later }: ChangesDeps): Changes {
  const look: { next?: Promise<number>; release?: () => void; stopped: boolean } = {
    stopped: false,
  };
  /** The newest change's number, in a second. */
  const nextLook = (): Promise<number> =>
    look.next ??= new Promise<void>((resolve) => {
      const cancel = later(lookMs, resolve);
      look.release = () => {
        cancel();
        resolve();
      };
    }).then(() => {
      delete look.next;
      return store.lastChange();
    });
  const page = async (after: number): Promise<ChangesPage> => {
    const changes = await store.readChanges(after, pageChanges);
    return { after: changes.at(-1)?.seq ?? after, changes };
  };
  return {
    standing: () => store.readStanding(clock() - deletedShownMs),
    read: async (after) => {
      const untilMs = clock() + waitMs;
      const found = await page(after);
      if (found.changes.length > 0) return found;
      if (after > (await store.readAuditHead()).seq) return "ahead";
      while (!look.stopped && clock() < untilMs) {
        if (await nextLook() > after) return await page(after);
      }
      return found;
    },
    stop: () => {
      look.stopped = true;
      look.release?.();
    },
  };
}
