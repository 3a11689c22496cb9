/**
 * The cost of requests for the core, in microseconds by estimate, and for their account's budget.
 * Messages, commits and Welcomes cost nothing of the budget but for agents that are added: the plan
 * counts them, and acknowledgements follow them.
 */
import { type CallName, type ClientEnvelope, limits } from "../../../proto/mod.ts";
import type { WorkCost } from "./fair_turns.ts";

/** The usual one: a lookup in memory, an answer. */
export const defaultCost: WorkCost = 50;
const costs: Partial<Readonly<Record<CallName, WorkCost>>> = {
  Ping: 10,
  Acknowledge: 15,
  Confirm: 15,
  Authenticate: 1_000,
  SendMessage: 50,
  SendCommit: 300,
  SendWelcome: 200,
  CreateChannel: 500,
  CloseChannel: 500,
  UploadKeyPackage: 1_000,
  RequestJoin: 600,
  RequestRejoin: 600,
  Subscribe: 200,
};

/** A KeyPackage's two signatures. */
export const keyPackageCost: WorkCost = 500;

/**
 * Adding up what waits for an agent that is added. A commit that is refused has caused this work
 * all the same.
 */
export const unaskedCost: WorkCost = 300;

/** Counted elsewhere, or too small to count. */
const unmetered: ReadonlySet<CallName> = new Set([
  "Ping",
  "Acknowledge",
  "SendMessage",
  "SendCommit",
  "SendWelcome",
  "RenewToken",
  "ConfigureCover",
  "EndSession",
  "Unsubscribe",
]);

/** The cost of beginning a request; large ones take further turns for the rest. */
export function costOf(operation: CallName): WorkCost {
  return costs[operation] ?? defaultCost;
}

/** The cost of a request for its account's budget. */
export function budgetCostOf({ operation, body }: ClientEnvelope): WorkCost {
  if ("added" in body) return body.added.length * unaskedCost;
  if (unmetered.has(operation)) return 0;
  const own = costOf(operation);
  if ("keyPackages" in body) return own + body.keyPackages.length * keyPackageCost;
  if ("limit" in body) return own + Math.min(body.limit, limits.channelsPerPage) * defaultCost;
  return own;
}
