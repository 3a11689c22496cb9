/**
 * Follows changes of accounts at the API: sessions of suspended and deleted ones end, channels of
 * deleted ones close, and are deleted when their members had time to hear of it. The suspended
 * accounts, the channels still to close and the position are durable, and written in this order. So
 * a deletion is carried out after any crash, and a relay that starts while the API is down still
 * knows which accounts not to serve.
 */
import { type AccountId, parseAccountId } from "../../proto/mod.ts";
import type { AccountChanges } from "../../proto/api/changes.ts";
import { after as afterMs, describeFailure, type Log } from "../../server/mod.ts";
import type { RelayCore } from "../core/relay_core.ts";
import type { Records } from "../engine/engine.ts";
import { AccountStatus } from "./account_status.ts";

export interface AccountChangesDeps {
  readonly follow: (after: number | undefined, signal: AbortSignal) => Promise<AccountChanges>;
  readonly core: Pick<RelayCore, "suspend" | "resume" | "closeChannelsOf" | "eraseChannelsOf">;
  readonly onLimits: () => void;
  readonly records: Records;
  readonly nowMs: () => number;
  readonly log: Log;
}

const pauseMs = 1_000;
/** A request that was under way when its account was deleted has made its channel by then. */
const closedAgainMs = 60_000;
/**
 * Accounts that wait to be closed; a relay that learns of more at once goes on when some are done.
 */
const maxClosing = 5_000;
/** Members that are away hear why their channel is gone if they come back within this time. */
const erasedMs = 20 * 60_000;
/**
 * When more accounts wait to be erased, the oldest are erased sooner: accounts that come and go
 * must not hold up the others.
 */
const maxErasing = 5_000;

export class FollowedAccounts {
  readonly #deps: AccountChangesDeps;
  readonly #known: AccountStatus;
  readonly #stop = new AbortController();
  readonly #standing = Promise.withResolvers<void>();
  readonly #running: Promise<unknown>;
  /**
   * The number up to which the list of accounts was complete: changes up to here matter for
   * deletions only.
   */
  #standsAt = 0;
  #cursor: number | undefined;
  #wake = Promise.withResolvers<void>();
  readonly #failing = new Set<string>();

  constructor(deps: AccountChangesDeps) {
    this.#deps = deps;
    this.#known = new AccountStatus(deps);
    this.#running = this.#run();
  }

  /** Resolves when it is known which accounts are suspended, or that nobody tells. */
  get standing(): Promise<void> {
    return this.#standing.promise;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#standing.resolve();
    this.#wake.resolve();
    await this.#running;
  }

  async #run(): Promise<void> {
    await this.#persist("accounts_not_read", async () => {
      await this.#known.load();
      for (const account of this.#known.suspended) this.#deps.core.suspend(account);
    });
    await Promise.all([
      this.#persist("accounts_not_followed", () => this.#follow()),
      this.#persist("channels_not_closed", () => this.#closeChannels()),
    ]);
  }

  /**
   * Until it is done or this ends; a failure is logged once, because what else asks the API says so
   * too.
   */
  async #persist(failure: string, work: () => Promise<void>): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        return await work();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        if (!this.#failing.has(failure)) {
          this.#deps.log("warn", failure, { error: describeFailure(error) });
        }
        this.#failing.add(failure);
        this.#standing.resolve();
        await this.#pause(pauseMs);
      }
    }
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const answer = await this.#deps.follow(this.#cursor, signal);
      // Also without having asked for it: the API was set back to an earlier state, and what came
      // after has other numbers now.
      if (answer.suspended !== undefined) await this.#begin(answer);
      else await this.#apply(answer);
      if (this.#failing.delete("accounts_not_followed")) {
        this.#deps.log("info", "accounts_followed");
      }
      this.#standing.resolve();
    }
  }

  /**
   * Takes the present list and goes on: from the position before the relay's last stop, else from
   * the beginning.
   */
  async #begin({ after, suspended = [], deleted = [] }: AccountChanges): Promise<void> {
    const { core, log } = this.#deps;
    const now = new Set([...suspended, ...deleted].map(idOf));
    for (const account of now) core.suspend(account);
    for (const account of this.#known.suspended) if (!now.has(account)) core.resume(account);
    await this.#known.update({ suspended: now });
    const stored = await this.#known.cursor();
    const isAhead = stored !== undefined && stored > after;
    if (isAhead) log("warn", "accounts_set_back", { stored, after });
    this.#standsAt = after;
    this.#cursor = isAhead ? 0 : stored ?? 0;
  }

  /** Suspensions first: they must not wait until channels are closed. */
  async #apply({ after, changes }: AccountChanges): Promise<void> {
    const { core, onLimits, log, nowMs } = this.#deps;
    while (this.#known.closing.size >= maxClosing && !this.#stop.signal.aborted) {
      await this.#pause(pauseMs);
    }
    const suspended = new Set(this.#known.suspended);
    const closing = new Map(this.#known.closing);
    // The standing is newer than a page that ends before it.
    const isPast = after <= this.#standsAt;
    for (const [account, change] of lastOfEach(changes)) {
      // Nothing can be under way for an account that the standing does not name any more.
      if (change === "deleted") {
        closing.set(account, isPast && !suspended.has(account) ? 0 : nowMs());
      }
      if (isPast) continue;
      if (change === "resumed") suspended.delete(account);
      else suspended.add(account);
      if (change === "resumed") core.resume(account);
      else core.suspend(account);
      log("info", "account_changed", { account_id: account, change });
    }
    if (changes.some(({ change }) => change === "limits")) onLimits();
    await this.#known.update({ suspended, closing });
    if (after !== this.#cursor) await this.#known.moveTo(after);
    this.#cursor = after;
    this.#wake.resolve();
  }

  /**
   * Beside the following. Each account twice: at once, and when nothing of it can be under way any
   * more. Then its channels are deleted.
   */
  async #closeChannels(): Promise<void> {
    const known = this.#known;
    const isClosedOnce = new Set<AccountId>();
    while (!this.#stop.signal.aborted) {
      this.#wake = Promise.withResolvers();
      for (const [account, sinceMs] of [...known.closing]) {
        await this.#close(account, sinceMs, isClosedOnce);
        if (this.#stop.signal.aborted) return;
      }
      await this.#erase();
      const pause = known.closing.size + known.erasing.size === 0
        ? undefined
        : this.#pause(pauseMs);
      await (pause === undefined ? this.#wake.promise : Promise.race([this.#wake.promise, pause]));
    }
  }

  async #close(account: AccountId, sinceMs: number, isClosedOnce: Set<AccountId>): Promise<void> {
    const { core, nowMs } = this.#deps;
    const isLast = nowMs() - sinceMs >= closedAgainMs;
    if (!isLast && isClosedOnce.has(account)) return;
    const isStored = await core.closeChannelsOf(account);
    if (this.#stop.signal.aborted) return;
    isClosedOnce.add(account);
    if (!isLast) return;
    isClosedOnce.delete(account);
    // Before it is off the other list: one that is on both is closed and erased again.
    if (isStored) await this.#known.toErase(account);
    await this.#known.closed(account);
    this.#failing.delete("channels_not_closed");
  }

  async #erase(): Promise<void> {
    const { core, nowMs, log } = this.#deps;
    for (const [account, sinceMs] of [...this.#known.erasing]) {
      // A clock that was set back must not keep it from being done.
      const isDue = Math.abs(nowMs() - sinceMs) >= erasedMs;
      if (!isDue && this.#known.erasing.size <= maxErasing) continue;
      await core.eraseChannelsOf(account);
      if (this.#stop.signal.aborted) return;
      await this.#known.erased(account);
      log("info", "account_erased", { account_id: account });
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        this.#stop.signal.removeEventListener("abort", done);
        resolve();
      };
      const cancel = afterMs(ms, done);
      this.#stop.signal.addEventListener("abort", done);
    });
  }
}

/**
 * The last change of each account in a page: an account that was suspended and resumed in it keeps
 * its sessions.
 */
function lastOfEach(
  changes: AccountChanges["changes"],
): Map<AccountId, "suspended" | "resumed" | "deleted"> {
  const last = new Map<AccountId, "suspended" | "resumed" | "deleted">();
  for (const { account_id, change } of changes) {
    if (account_id !== null && change !== "limits") last.set(idOf(account_id), change);
  }
  return last;
}

function idOf(text: string): AccountId {
  return parseAccountId(text.toLowerCase());
}
