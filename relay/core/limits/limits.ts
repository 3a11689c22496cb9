/**
 * Everything of which there is only so much, in one place: requests take it from here, and give it
 * back here.
 */
import type { ClientEnvelope } from "../../../proto/mod.ts";
import type { Engine } from "../../engine/engine.ts";
import type { CoreConfig } from "../config.ts";
import type { Meter } from "../meter.ts";
import { Refusal } from "../refusal.ts";
import { Allowances } from "./allowances.ts";
import { AppendGate } from "./append_gate.ts";
import { FairTurns } from "./fair_turns.ts";
import { type SheddingLevel, sheddingLevel, shedRequest } from "./load_shedding.ts";
import { Logins } from "./logins.ts";
import { type PlaceDeps, placeDepsOf } from "./place_deps.ts";
import { AccountPlans } from "./plans.ts";
import { CoreRates } from "./rates.ts";
import { budgetCostOf } from "./request_cost.ts";
import type { SharingAgent } from "./shares.ts";
import { StorageWatch } from "./storage_watch.ts";
import { UnsolicitedAdditions } from "./unsolicited_additions.ts";

/**
 * Between two parts of slow work, each about as long: so it has half of the process at most, and
 * others the rest.
 */
export const slowPauseMs = 2;

/** The core's dependencies that limits need. */
export interface LimitsDeps {
  readonly engine: Pick<Engine, "records" | "storage">;
  readonly cluster?: { waitingMs(): number } | undefined;
  readonly nowMs: () => number;
  readonly elapsedMs: () => number;
  readonly cpuMs?: (() => number) | undefined;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly after: (ms: number, run: () => void) => () => void;
  readonly soon: (run: () => void) => void;
  readonly loopLagMs: () => number;
  readonly meter: Meter;
}

export class CoreLimits {
  readonly plans: AccountPlans;
  readonly rates: CoreRates;
  readonly allowances: Allowances;
  /** Amounts that removals took which nobody may refuse, of accounts and in channels. */
  readonly reserves = new Allowances();
  readonly unasked = new UnsolicitedAdditions();
  readonly storage: StorageWatch;
  /** Turns for parts of requests that take less than a millisecond. */
  readonly turns: FairTurns;
  /**
   * Turns for parts of requests that take milliseconds: one at a time, of whichever account, with
   * pauses between.
   */
  readonly slowTurns: FairTurns;
  /** Turns for what appends to a channel, by the account that made the channel. */
  readonly appends = new AppendGate();
  readonly logins: Logins;
  /** The dependencies that places of all kinds need. */
  readonly places: PlaceDeps;
  readonly #deps: LimitsDeps;

  constructor(config: CoreConfig, deps: LimitsDeps) {
    const { engine, nowMs, after, soon } = deps;
    this.plans = new AccountPlans(engine.records);
    this.rates = new CoreRates(config);
    this.allowances = new Allowances(engine.records);
    this.storage = new StorageWatch(() => engine.storage(), nowMs);
    this.turns = new FairTurns({ soon });
    this.slowTurns = new FairTurns({
      soon: (run) => void after(slowPauseMs, run),
      turnCost: 1,
      shareCost: 1,
    });
    this.logins = new Logins(deps);
    this.places = placeDepsOf(deps);
    this.#deps = deps;
  }

  get level(): SheddingLevel {
    const { cluster, loopLagMs } = this.#deps;
    const appendsWaiting = this.appends.underWay;
    return sheddingLevel({
      loopLagMs: loopLagMs(),
      appendsWaiting,
      verdictMs: cluster?.waitingMs() ?? 0,
    });
  }

  /**
   * Why a request is not even looked at: because of load, or because its account has had its share
   * of the work.
   */
  refuse(agent: SharingAgent | undefined, envelope: ClientEnvelope): Refusal | undefined {
    const { meter, nowMs } = this.#deps;
    const refusal = shedRequest(this.level, envelope.operation);
    if (refusal !== undefined) meter.shed++;
    if (refusal !== undefined || agent === undefined) return refusal;
    const retryAfterMs = this.rates.work.take(agent, nowMs(), budgetCostOf(envelope));
    if (retryAfterMs === undefined) return undefined;
    meter.requestsOverBudget++;
    const message =
      "This account, or this key or visitor of it, asks for more work than its share; try later";
    return new Refusal("rate_limited", message, { retryAfterMs });
  }
}
