/** The beginning of a turn. A call goes by what its name holds at that moment. */
import type { ChannelId } from "../../../proto/mod.ts";
import { erase, eraseAgain, isErasingLeftovers, waitForErasure } from "./erasure.ts";
import {
  call,
  isUnwritten,
  type NameInStep,
  type NamesRun,
  refuse,
  settle,
  work,
} from "./names_run.ts";
import type { NameCall, NameRefusal, NameSlot } from "./names_state.ts";

/** Gives the waiting calls their turns, as long as nothing has to be waited for. */
export function serve(run: NamesRun, named: NameInStep): void {
  const { at } = named;
  if (isErasingLeftovers(run)) return;
  for (;;) {
    const { slot, turn } = at;
    if (slot.at === "erasing") {
      const isWanted = slot.waiting.length > 0 || at.waiting.length > 0 || turn?.at === "replacing";
      if (slot.job === undefined && isWanted) eraseAgain(run, named, slot);
      return;
    }
    if (turn !== undefined) return;
    const next = at.waiting.shift();
    if (next === undefined) return;
    begin(run, named, next, slot);
  }
}

/** A call without a turn: it needs nothing but what is there. Returns whether it was one. */
export function beginAtOnce(run: NamesRun, named: NameInStep, by: NameCall): boolean {
  const { slot } = named.at;
  if (by.type === "open" && slot.at === "open") {
    settle(run, by.operation, { type: "opened", membership: slot.membership });
    return true;
  }
  return by.type === "leave" && leaveAtOnce(run, named, by);
}

function leaveAtOnce(
  run: NamesRun,
  named: NameInStep,
  { membership, operation }: Extract<NameCall, { type: "leave" }>,
): boolean {
  const { slot, turn } = named.at;
  if (!("membership" in slot) || slot.membership !== membership) return false;
  if (slot.at === "open") {
    run.effects.push({ type: "depart", membership, operation });
    return true;
  }
  if (slot.at === "erasing") {
    waitForErasure(named, slot, operation);
    return true;
  }
  if (turn?.at !== "leaving" && turn?.at !== "recalling") return false;
  named.at.turn = { ...turn, also: [...turn.also, operation] };
  return true;
}

function begin(
  run: NamesRun,
  named: NameInStep,
  by: NameCall,
  slot: Exclude<NameSlot, { at: "erasing" }>,
): void {
  switch (by.type) {
    case "create":
    case "join":
    case "invited":
    case "check":
      return enter(run, named, by, slot);
    case "open":
      return open(run, named, by, slot);
    case "leave":
      return leave(run, named, by, slot);
    case "close":
      return close(run, named, by, slot);
  }
}

type EnteringCall = Extract<NameCall, { type: "create" | "join" | "invited" | "check" }>;

function enter(
  run: NamesRun,
  named: NameInStep,
  by: EnteringCall,
  slot: Exclude<NameSlot, { at: "erasing" }>,
): void {
  if (slot.at === "free" || slot.at === "keyless") return goOn(run, named, by, undefined);
  const { channelId, leaf } = slot;
  if (by.type === "invited" && by.before === leaf) return goOn(run, named, by, leaf);
  named.at.turn = { at: "asking", by, call: call(run, { of: "ListMembers", channelId }), leaf };
}

/** Nothing stands in the way any more. `former`: in whose place a new membership may come. */
export function goOn(
  run: NamesRun,
  named: NameInStep,
  by: NameCall,
  former: number | undefined,
): void {
  switch (by.type) {
    case "join":
    case "invited":
      return openWelcome(run, named, by, { former, from: 0, refusal: undefined });
    case "check":
      named.at.turn = undefined;
      return settle(run, by.operation, { type: "may_ask", before: former, isStuck: false });
    default:
      return create(run, named, by, false);
  }
}

/**
 * The nonce is on disk first: after a crash the same call finds the channel that the relay has
 * made.
 */
export function create(run: NamesRun, named: NameInStep, by: NameCall, isAgain: boolean): void {
  const { name, at } = named;
  const { operation } = by;
  if (at.nonce === undefined && isUnwritten(run, named, operation)) return;
  const nonce = at.nonce ?? run.facts.nonce;
  if (at.nonce === undefined) run.write.push({ type: "nonce", operation, name, nonce });
  at.nonce = nonce;
  at.turn = { at: "creating", by, call: call(run, { of: "CreateChannel", name, nonce }), isAgain };
}

interface WelcomeOpening {
  readonly former: number | undefined;
  readonly from: number;
  readonly refusal: NameRefusal | undefined;
}

export function openWelcome(
  run: NamesRun,
  { at }: NameInStep,
  by: NameCall,
  { former, from, refusal }: WelcomeOpening,
): void {
  const job = work(run, { of: "open_welcome", operation: by.operation, from });
  at.turn = { at: "opening_welcome", by, job, former, refusal };
}

function open(
  run: NamesRun,
  named: NameInStep,
  by: Extract<NameCall, { type: "open" }>,
  slot: Exclude<NameSlot, { at: "erasing" }>,
): void {
  const { at } = named;
  switch (slot.at) {
    case "free":
      return by.orCreates ? create(run, named, by, false) : refuse(run, by.operation, "not_here");
    case "keyless":
      return refuse(run, by.operation, "keys_lost");
    case "open":
      return settle(run, by.operation, { type: "opened", membership: slot.membership });
    case "resting": {
      const { membership, channelId } = slot;
      at.turn = { at: "loading", by, job: work(run, { of: "load", membership, channelId }) };
    }
  }
}

/**
 * Leaves by the channel's own machine when the channel is open: `beginAtOnce` has looked, but it
 * may be open since.
 */
function leave(
  run: NamesRun,
  named: NameInStep,
  by: Extract<NameCall, { type: "leave" }>,
  slot: NameSlot,
): void {
  const { membership, operation } = by;
  // Nothing is left of one that was erased; one that was written over was not left.
  if (run.state.overwritten.includes(membership)) return refuse(run, operation, "replaced");
  if (!("membership" in slot) || slot.membership !== membership) {
    return settle(run, operation, { type: "done" });
  }
  if (slot.at === "open") return void run.effects.push({ type: "depart", membership, operation });
  const job = work(run, { of: "recall", channelId: slot.channelId, operation });
  named.at.turn = { at: "recalling", by, job, also: [] };
}

/** The relay has closed it. Another channel may have taken its name since. */
function close(
  run: NamesRun,
  named: NameInStep,
  { channelId, operation }: { readonly channelId: ChannelId; readonly operation: number },
  slot: Exclude<NameSlot, { at: "erasing" }>,
): void {
  if (slot.at === "free" || slot.channelId !== channelId) {
    return settle(run, operation, { type: "done" });
  }
  if (slot.at !== "keyless") {
    return erase(run, named, slot, { why: "closed", waiting: [operation] });
  }
  if (isUnwritten(run, named, operation)) return;
  named.at.slot = { at: "free" };
  run.write.push({ type: "no_record", operation, name: named.name, channelId });
  settle(run, operation, { type: "done" });
}
