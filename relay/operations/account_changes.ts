/**
 * Follows what becomes of accounts at the API: sessions of suspended and deleted ones end, channels of deleted ones close. How
 * far it has come is durable, and moves on only when what it says is done, so that a deletion is carried out after any crash.
 */
import { type AccountId, parseAccountId } from "../../proto/mod.ts";
import type { AccountChanges } from "../../proto/changes.ts";
import { after as afterMs, describeFailure, type Log } from "../../server/mod.ts";
import type { RelayCore } from "../core/relay_core.ts";
import type { Records } from "../engine/engine.ts";

export interface AccountChangesDeps {
  readonly follow: (after: number | undefined, signal: AbortSignal) => Promise<AccountChanges>;
  readonly core: Pick<RelayCore, "suspend" | "resume" | "closeChannelsOf">;
  readonly onLimits: () => void;
  readonly records: Records;
  readonly nowMs: () => number;
  readonly log: Log;
}

const key = "account-changes";
const keptMs = 10 * 365 * 24 * 60 * 60 * 1000;
const pauseMs = 1_000;

export class FollowedAccounts {
  readonly #deps: AccountChangesDeps;
  readonly #stop = new AbortController();
  readonly #standing = Promise.withResolvers<void>();
  readonly #running: Promise<void>;

  constructor(deps: AccountChangesDeps) {
    this.#deps = deps;
    this.#running = this.#run();
  }

  /** Resolves when it is known which accounts are suspended, or that nobody tells. */
  get standing(): Promise<void> {
    return this.#standing.promise;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#standing.resolve();
    await this.#running;
  }

  async #run(): Promise<void> {
    let cursor: number | undefined;
    let [isKnown, isAway] = [false, false];
    while (!this.#stop.signal.aborted) {
      try {
        if (!isKnown) {
          cursor = await this.#begin();
          isKnown = true;
          this.#standing.resolve();
        }
        cursor = await this.#next(cursor);
        if (isAway) this.#deps.log("info", "accounts_followed");
        isAway = false;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        // Once: what else asks the API says so too.
        if (!isAway) this.#deps.log("warn", "accounts_not_followed", { error: describeFailure(error) });
        isAway = true;
        this.#standing.resolve();
        await this.#pause();
      }
    }
  }

  /** What stands now, and where to go on: where an earlier life of this relay was, or from now on. */
  async #begin(): Promise<number> {
    const { core, records } = this.#deps;
    const { after, suspended = [], deleted = [] } = await this.#deps.follow(undefined, this.#stop.signal);
    for (const account of [...suspended, ...deleted]) core.suspend(idOf(account));
    const stored = await records.get(key);
    if (stored !== undefined) return Number(new TextDecoder().decode(stored.value));
    // At once: a life that ends before the first change must not make the next one forget what happened between them.
    await this.#keep(after);
    return after;
  }

  async #next(cursor: number | undefined): Promise<number | undefined> {
    const { core, onLimits, log } = this.#deps;
    const { after, changes } = await this.#deps.follow(cursor, this.#stop.signal);
    for (const { account_id, change } of changes) {
      const account = account_id === null ? undefined : idOf(account_id);
      if (change === "limits") onLimits();
      if (account === undefined || change === "limits") continue;
      if (change === "resumed") core.resume(account);
      else core.suspend(account);
      if (change === "deleted") await core.closeChannelsOf(account);
      log("info", "account_changed", { account_id, change });
    }
    if (after !== cursor) await this.#keep(after);
    return after;
  }

  async #keep(after: number): Promise<void> {
    const { records, nowMs } = this.#deps;
    const value = new TextEncoder().encode(String(after));
    const revision = (await records.get(key))?.revision ?? 0;
    await records.put(key, { value, expiresAtMs: nowMs() + keptMs }, revision);
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = afterMs(pauseMs, resolve);
      this.#stop.signal.addEventListener("abort", () => {
        cancel();
        resolve();
      }, { once: true });
    });
  }
}

function idOf(text: string): AccountId {
  return parseAccountId(text.toLowerCase());
}
