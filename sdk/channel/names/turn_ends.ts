/** The ends of turns: the second table of names in docs/channel_machine.md. What was asked about is looked at again. */
import type { ChannelId } from "../../../proto/mod.ts";
import { erase } from "./erasure.ts";
import { call, isElsewhere, type Named, numberOf, refuse, type Run, settle, work } from "./names_run.ts";
import type { Answer, JobResult, Refusal, Turn } from "./names_state.ts";
import { create, goOn, openWelcome } from "./turns.ts";

type At<K extends Turn["at"]> = Extract<Turn, { readonly at: K }>;

/** Of those whose fate is known: the next attempt is another one. */
const final: ReadonlySet<string> = new Set(["name_taken", "rate_limited", "not_allowed"]);

export function turnAnswered(run: Run, named: Named, turn: Turn, answer: Answer): void {
  switch (turn.at) {
    case "asking":
      return asked(run, named, turn, true);
    case "creating":
      return answer.of === "CreateChannel" ? created(run, named, turn, answer) : undefined;
    case "confirming":
      return make(run, named, turn, turn.channelId);
    case "leaving":
      return left(run, named, turn);
    default:
  }
}

export function turnRefused(run: Run, named: Named, turn: Turn, code: string): void {
  const { name, at } = named;
  switch (turn.at) {
    case "asking":
      return code === "not_found" ? asked(run, named, turn, false) : fail(run, named, turn, turn.call);
    case "creating":
      if (final.has(code)) noNonce(run, named);
      return fail(run, named, turn, turn.call);
    case "confirming":
      if (code !== "not_found") return fail(run, named, turn, turn.call);
      // It was closed since. A fresh nonce leads into no other one.
      at.nonce = undefined;
      return create(run, named, turn.by, true);
    case "leaving": {
      const { slot } = at;
      const isHere = slot.at === "resting" && !run.facts.isHidden({ name, channelId: slot.channelId });
      return code === "not_found" && isHere ? left(run, named, turn) : fail(run, named, turn, turn.call);
    }
    default:
  }
}

export function turnDone(run: Run, named: Named, turn: Turn, result: JobResult): void {
  switch (turn.at) {
    case "making":
      return write(run, named, turn, turn.job);
    case "opening_welcome":
      return result.of === "open_welcome" ? welcomed(run, named, turn, result) : undefined;
    case "retiring":
      return enterHere(run, named, turn);
    case "loading":
      return result.of === "load" ? loaded(run, named, turn, result.hasKeys) : undefined;
    default:
  }
}

export function turnFailed(run: Run, named: Named, turn: Turn, job: number): void {
  if (turn.at !== "opening_welcome" || turn.refusal === undefined) return fail(run, named, turn, job);
  end(named);
  refuse(run, turn.by.operation, turn.refusal);
}

function end({ at }: Named): void {
  at.turn = undefined;
}

function fail(run: Run, named: Named, turn: Turn, number: number): void {
  end(named);
  const also = turn.at === "leaving" ? turn.also : [];
  for (const operation of [turn.by.operation, ...also]) settle(run, operation, { type: "failed", number });
}

function fromTheTop(named: Named, { by }: Turn): void {
  end(named);
  named.at.waiting.unshift(by);
}

function asked(run: Run, named: Named, turn: At<"asking">, isMember: boolean): void {
  const { name, at: { slot } } = named;
  const { by, membership } = turn;
  const isSame = (slot.at === "open" || slot.at === "resting") && slot.membership === membership;
  if (!isSame) return fromTheTop(named, turn);
  const isStuck = slot.at === "open" && run.facts.isStuck(membership);
  const refusal = refusalOf(
    { isMember, isStuck, isOpen: slot.at === "open" },
    by.type,
    () => run.facts.isHidden({ name, channelId: slot.channelId }),
  );
  if (refusal !== undefined) {
    end(named);
    return refuse(run, by.operation, refusal);
  }
  if (!isMember || by.type !== "check") return goOn(run, named, by, membership);
  end(named);
  settle(run, by.operation, { type: "may_ask", before: membership, isStuck });
}

interface Asked {
  readonly isMember: boolean;
  readonly isStuck: boolean;
  readonly isOpen: boolean;
}

/** That a channel is over is the relay's word, by which no keys are erased, and nothing is written over what works. */
function refusalOf(
  { isMember, isStuck, isOpen }: Asked,
  by: Turn["by"]["type"],
  isHidden: () => boolean,
): Refusal | undefined {
  if (isMember) return isStuck && by !== "create" ? undefined : "in_already";
  if (isHidden()) return "hidden";
  return by === "create" || (by === "join" && isOpen && !isStuck) ? "forgotten" : undefined;
}

function created(
  run: Run,
  named: Named,
  turn: At<"creating">,
  { channelId, isRepeated }: Extract<Answer, { of: "CreateChannel" }>,
): void {
  const { by } = turn;
  if (isElsewhere(run, named.name, channelId)) {
    end(named);
    return refuse(run, by.operation, "other_name");
  }
  if (!isRepeated || turn.isAgain) return make(run, named, turn, channelId);
  named.at.turn = { at: "confirming", by, call: call(run, { of: "ListMembers", channelId }), channelId };
}

function make(run: Run, { at }: Named, { by }: Turn, channelId: ChannelId): void {
  at.turn = { at: "making", by, job: work(run, { of: "make", channelId }), channelId };
}

function noNonce(run: Run, { name, at }: Named): void {
  at.nonce = undefined;
  run.write.push({ type: "nonce", name, nonce: undefined });
}

/** All of the new membership is on disk, or nothing of it. */
function write(run: Run, named: Named, turn: Turn & { readonly channelId: ChannelId }, made: number): void {
  const { name, at } = named;
  const { channelId } = turn;
  const [membership, isCreated] = [numberOf(run), turn.at === "making"];
  const keyless = at.slot.at === "keyless" && at.slot.channelId !== channelId ? at.slot.channelId : undefined;
  run.write.push({ type: "membership", name, channelId, membership, made, isCreated, keyless });
  if (isCreated) at.nonce = undefined;
  run.state.leftovers = run.state.leftovers.filter((leftover) => leftover.channelId !== channelId);
  begin(run, named, { channelId, membership, from: made });
  settle(run, turn.by.operation, { type: "done" });
}

function begin(
  run: Run,
  named: Named,
  { channelId, membership, from }: {
    readonly channelId: ChannelId;
    readonly membership: number;
    readonly from: number;
  },
): void {
  const { name, at } = named;
  end(named);
  at.slot = { at: "open", channelId, membership };
  run.effects.push({ type: "begin", membership, name, from });
}

/** A Welcome opens: it may lead elsewhere, or into the place of what the name holds now. */
function welcomed(
  run: Run,
  named: Named,
  turn: At<"opening_welcome">,
  { channelId, at }: Extract<JobResult, { of: "open_welcome" }>,
): void {
  const { by, former, job: made } = turn;
  const next = (why: Refusal): void =>
    openWelcome(run, named, by, { former, from: at + 1, refusal: turn.refusal ?? why });
  if (isElsewhere(run, named.name, channelId)) return next("other_name");
  const { slot } = named.at;
  const isHeld = slot.at === "open" || slot.at === "resting";
  if (isHeld && slot.membership !== former) return fromTheTop(named, turn);
  const enterNow = { by, made, channelId };
  if (!isHeld) return enterHere(run, named, enterNow);
  const [isSame, isInvited] = [slot.channelId === channelId, by.type === "invited"];
  const isStuck = slot.at === "open" && run.facts.isStuck(slot.membership);
  if (slot.at === "open" && !isStuck && !isInvited) {
    end(named);
    return refuse(run, by.operation, "in_already");
  }
  if (slot.at === "open" && !isStuck && !isSame) return next("forgotten");
  if (!isSame && !isInvited) return next(isStuck ? "in_already" : "forgotten");
  if (isStuck && !isInvited) return retire(run, named, enterNow);
  erase(run, named, slot, { why: "replaced" });
  enterHere(run, named, enterNow);
}

type Entered = Pick<At<"replacing">, "by" | "made" | "channelId">;

/** Nothing is left to ask; an erasure in this place is waited for. */
function enterHere(run: Run, named: Named, { by, made, channelId }: Entered): void {
  const turn: Turn = { at: "replacing", by, made, channelId };
  named.at.turn = turn;
  if (named.at.slot.at !== "erasing") write(run, named, turn, made);
}

/** The erasure in this place is over. */
export function replaced(run: Run, named: Named): void {
  const { turn } = named.at;
  if (turn?.at === "replacing") enterHere(run, named, turn);
}

/** The Welcome's commit has put the new membership in the place of this one: there is nothing to leave or to erase. */
function retire(run: Run, { at }: Named, entered: Entered): void {
  const { slot } = at;
  if (slot.at !== "open") return;
  const { channelId, membership } = slot;
  run.effects.push({ type: "end", membership });
  at.slot = { at: "resting", channelId, membership };
  at.turn = { at: "retiring", ...entered, job: work(run, { of: "retire", membership }) };
}

function loaded(run: Run, named: Named, turn: At<"loading">, hasKeys: boolean): void {
  const { slot } = named.at;
  if (slot.at !== "resting") return fromTheTop(named, turn);
  const { channelId, membership } = slot;
  if (hasKeys) {
    begin(run, named, { channelId, membership, from: turn.job });
    return settle(run, turn.by.operation, { type: "done" });
  }
  end(named);
  named.at.slot = { at: "keyless", channelId };
  refuse(run, turn.by.operation, "keys_lost");
}

function left(run: Run, named: Named, turn: At<"leaving">): void {
  const { slot } = named.at;
  if (slot.at !== "resting") return;
  end(named);
  erase(run, named, slot, { why: "gone", waiting: [turn.by.operation, ...turn.also] });
}
