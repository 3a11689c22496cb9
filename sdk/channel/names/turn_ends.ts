/** The ends of turns. The slot is looked at again at each of them. */
import type { ChannelId } from "../../../proto/mod.ts";
import { erase } from "./erasure.ts";
import {
  call,
  isElsewhere,
  isKeyHeld,
  isUnwritten,
  type NameInStep,
  type NamesRun,
  numberOf,
  refuse,
  settle,
  work,
} from "./names_run.ts";
import type {
  EnteredWelcome,
  NameAnswer,
  NamedMembership,
  NameJobResult,
  NameRefusal,
  NameTurn,
} from "./names_state.ts";
import { create, goOn, openWelcome } from "./call_turns.ts";

type TurnAt<K extends NameTurn["at"]> = Extract<NameTurn, { readonly at: K }>;

/** Codes after which the fate of the creation is known: the next attempt is another creation. */
const final: ReadonlySet<string> = new Set(["name_taken", "rate_limited", "not_allowed"]);

export function turnAnswered(
  run: NamesRun,
  named: NameInStep,
  turn: NameTurn,
  answer: NameAnswer,
): void {
  switch (turn.at) {
    case "asking":
      return asked(run, named, turn, true);
    case "creating":
      return answer.of === "CreateChannel" ? created(run, named, turn, answer) : undefined;
    case "confirming":
      return answer.of === "ListMembers" && answer.isNew
        ? make(run, named, turn, turn.channelId)
        : madeBefore(run, named, turn);
    case "leaving":
      return left(run, named, turn);
    default:
  }
}

export function turnRefused(run: NamesRun, named: NameInStep, turn: NameTurn, code: string): void {
  const { name, at } = named;
  switch (turn.at) {
    case "asking":
      return code === "not_found"
        ? asked(run, named, turn, false)
        : fail(run, named, turn, turn.call);
    case "creating":
      if (final.has(code)) noNonce(run, named, turn.by.operation);
      return fail(run, named, turn, turn.call);
    case "confirming":
      if (code !== "not_found" || run.facts.isHidden({ name, channelId: turn.channelId })) {
        return fail(run, named, turn, turn.call);
      }
      return madeBefore(run, named, turn);
    case "leaving": {
      const { slot } = at;
      if (code === "not_allowed" && turn.isClosing) return sayLeave(run, named, turn, false);
      const isHere = slot.at === "resting" &&
        !run.facts.isHidden({ name, channelId: slot.channelId });
      return code === "not_found" && isHere
        ? left(run, named, turn)
        : fail(run, named, turn, turn.call);
    }
    default:
  }
}

/**
 * It was closed since; or others are in it, and a group of one would not be theirs. A fresh nonce
 * leads into no such channel.
 */
function madeBefore(run: NamesRun, named: NameInStep, { by }: NameTurn): void {
  if (isUnwritten(run, named, by.operation)) return;
  named.at.nonce = undefined;
  create(run, named, by, true);
}

export function turnDone(
  run: NamesRun,
  named: NameInStep,
  turn: NameTurn,
  result: NameJobResult,
): void {
  switch (turn.at) {
    case "making":
      return write(run, named, {
        by: turn.by,
        channelId: turn.channelId,
        made: turn.job,
        isCreated: true,
      });
    case "opening_welcome":
      return result.of === "open_welcome" ? welcomed(run, named, turn, result) : undefined;
    case "retiring":
      return retired(run, named, turn);
    case "recalling":
      return result.of === "recall" ? recalled(run, named, turn, result.way) : undefined;
    case "loading":
      return result.of === "load" ? loaded(run, named, turn, result.hasKeys) : undefined;
    default:
  }
}

export function turnFailed(run: NamesRun, named: NameInStep, turn: NameTurn, job: number): void {
  if (turn.at !== "opening_welcome" || turn.refusal === undefined) {
    return fail(run, named, turn, job);
  }
  end(named);
  refuse(run, turn.by.operation, turn.refusal);
}

function end({ at }: NameInStep): void {
  at.turn = undefined;
}

function fail(run: NamesRun, named: NameInStep, turn: NameTurn, number: number): void {
  end(named);
  for (const operation of allOf(turn)) settle(run, operation, { type: "failed", number });
}

function allOf(turn: NameTurn): number[] {
  return [turn.by.operation, ...("also" in turn ? turn.also : [])];
}

function fromTheTop(named: NameInStep, { by }: NameTurn): void {
  end(named);
  named.at.waiting.unshift(by);
}

function asked(run: NamesRun, named: NameInStep, turn: TurnAt<"asking">, isMember: boolean): void {
  const { name, at: { slot } } = named;
  const { by, leaf } = turn;
  const isSame = (slot.at === "open" || slot.at === "resting") && slot.leaf === leaf;
  if (!isSame) return fromTheTop(named, turn);
  const isStuck = slot.at === "open" && run.facts.isStuck(slot.membership);
  const refusal = refusalOf(
    { isMember, isStuck, isOpen: slot.at === "open" },
    by.type,
    () => run.facts.isHidden({ name, channelId: slot.channelId }),
  );
  if (refusal !== undefined) {
    end(named);
    return refuse(run, by.operation, refusal);
  }
  if (!isMember || by.type !== "check") return goOn(run, named, by, leaf);
  end(named);
  settle(run, by.operation, { type: "may_ask", before: leaf, isStuck });
}

interface MembershipAnswer {
  readonly isMember: boolean;
  readonly isStuck: boolean;
  readonly isOpen: boolean;
}

/**
 * Returns why a call is refused, or undefined. Only the relay says that a channel is over: by its
 * word no keys are erased, and nothing is written over what works.
 */
function refusalOf(
  { isMember, isStuck, isOpen }: MembershipAnswer,
  by: NameTurn["by"]["type"],
  isHidden: () => boolean,
): NameRefusal | undefined {
  if (isMember) return isStuck && by !== "create" ? undefined : "in_already";
  if (isHidden()) return "hidden";
  return by === "create" || (by === "join" && isOpen && !isStuck) ? "forgotten" : undefined;
}

function created(
  run: NamesRun,
  named: NameInStep,
  turn: TurnAt<"creating">,
  { channelId, isRepeated }: Extract<NameAnswer, { of: "CreateChannel" }>,
): void {
  const { by } = turn;
  if (isElsewhere(run, named.name, channelId)) {
    end(named);
    return refuse(run, by.operation, "other_name");
  }
  if (!isRepeated || turn.isAgain) return make(run, named, turn, channelId);
  named.at.turn = {
    at: "confirming",
    by,
    call: call(run, { of: "ListMembers", channelId }),
    channelId,
  };
}

function make(
  run: NamesRun,
  { name, at }: NameInStep,
  { by }: NameTurn,
  channelId: ChannelId,
): void {
  const job = work(run, { of: "make", operation: by.operation, name, channelId });
  at.turn = { at: "making", by, job, channelId };
}

/** Where it cannot be written, the nonce stays: the next attempt is the same one. */
function noNonce(run: NamesRun, { name, at }: NameInStep, operation: number): void {
  if (run.facts.isUnwritten(operation)) return;
  at.nonce = undefined;
  run.write.push({ type: "nonce", operation, name, nonce: undefined });
}

interface MadeChannel {
  readonly by: NameTurn["by"];
  readonly channelId: ChannelId;
  readonly made: number;
  readonly isCreated: boolean;
}

/** All of the new membership is on disk, or nothing of it. */
function write(
  run: NamesRun,
  named: NameInStep,
  { by, channelId, made, isCreated }: MadeChannel,
): void {
  const { name, at } = named;
  const { slot } = at;
  const { operation } = by;
  if (isUnwritten(run, named, operation)) return;
  const [membership, leaf] = [numberOf(run), numberOf(run)];
  const keyless = slot.at === "keyless" && slot.channelId !== channelId
    ? slot.channelId
    : undefined;
  run.write.push({
    type: "membership",
    operation,
    name,
    channelId,
    membership,
    made,
    isCreated,
    keyless,
  });
  if (isCreated) at.nonce = undefined;
  if (slot.at === "resting") run.state.overwritten = [...run.state.overwritten, slot.membership];
  run.state.leftovers = run.state.leftovers.filter((leftover) => leftover.channelId !== channelId);
  begin(run, named, operation, { channelId, membership, leaf }, made);
}

/** Not with a client that is being closed: then it is there for the next start. */
function begin(
  run: NamesRun,
  { name, at }: NameInStep,
  operation: number,
  membership: NamedMembership,
  from: number,
): void {
  at.turn = undefined;
  const isFinishing = run.state.stage !== "working";
  at.slot = { at: isFinishing ? "resting" : "open", ...membership };
  if (isFinishing) return refuse(run, operation, "closing");
  const { channelId, membership: number } = membership;
  run.effects.push({ type: "begin", membership: number, name, channelId, from, operation });
  settle(run, operation, { type: "opened", membership: number });
}

/** A Welcome opens: it may lead elsewhere, or into the place of what the name holds now. */
function welcomed(
  run: NamesRun,
  named: NameInStep,
  turn: TurnAt<"opening_welcome">,
  { channelId, key, at }: Extract<NameJobResult, { of: "open_welcome" }>,
): void {
  const { by, former, refusal, job: made } = turn;
  const next = (why: NameRefusal): void =>
    openWelcome(run, named, by, { former, from: at + 1, refusal: refusal ?? why });
  if (isElsewhere(run, named.name, channelId)) return next("other_name");
  if (key !== undefined && isKeyHeld(run, named.name, key)) return next("key_in_use");
  const { slot } = named.at;
  // The machine of the channel may have come back by the same Welcome meanwhile, and be gone again.
  if (former !== ("leaf" in slot ? slot.leaf : undefined)) return fromTheTop(named, turn);
  const entered: EnteredWelcome = { by, made, channelId, key, former, refusal };
  if (slot.at !== "open" && slot.at !== "resting") return enterHere(run, named, entered);
  const [isSame, isInvited] = [slot.channelId === channelId, by.type === "invited"];
  const isInStep = slot.at === "open" && !run.facts.isStuck(slot.membership);
  if (isInStep && !isInvited) {
    end(named);
    return refuse(run, by.operation, "in_already");
  }
  if (slot.at === "open" && isSame) return retire(run, named, entered);
  if (isInStep) return next("forgotten");
  if (!isSame && !isInvited) return next(slot.at === "open" ? "in_already" : "forgotten");
  erase(run, named, slot, { why: "replaced" });
  enterHere(run, named, entered);
}

/** Nothing is left to ask; an erasure in this place is waited for. */
function enterHere(run: NamesRun, named: NameInStep, entered: EnteredWelcome): void {
  const { by, made, channelId } = entered;
  named.at.turn = { ...entered, at: "replacing" };
  if (named.at.slot.at !== "erasing") write(run, named, { by, made, channelId, isCreated: false });
}

/** The erasure in this place is over. */
export function replaced(run: NamesRun, named: NameInStep): void {
  const { turn } = named.at;
  if (turn?.at === "replacing") enterHere(run, named, turn);
}

/**
 * The Welcome's commit has put the new membership in the place of this one: there is nothing to
 * leave or to erase.
 */
function retire(run: NamesRun, { at }: NameInStep, entered: EnteredWelcome): void {
  const { slot } = at;
  if (slot.at !== "open") return;
  at.slot = { ...slot, at: "resting" };
  at.turn = {
    ...entered,
    at: "retiring",
    job: work(run, { of: "retire", membership: slot.membership }),
  };
}

/** The machine of the channel may have come back by itself while it ended. */
function retired(run: NamesRun, named: NameInStep, turn: TurnAt<"retiring">): void {
  const { slot } = named.at;
  if (slot.at === "resting" && slot.leaf !== turn.former) return fromTheTop(named, turn);
  const { by, made, channelId, key, former, refusal } = turn;
  enterHere(run, named, { by, made, channelId, key, former, refusal });
}

/** The machine that is being replaced has come back by itself, before anything was erased. */
export function cameBack(named: NameInStep): boolean {
  const { slot, turn } = named.at;
  if (slot.at !== "erasing" || slot.why !== "replaced" || slot.step !== "end") return false;
  if (turn?.at !== "replacing" || slot.leaf === turn.former) return false;
  const { channelId, membership, leaf, waiting } = slot;
  named.at.slot = { at: "resting", channelId, membership, leaf };
  fromTheTop(named, turn);
  named.at.waiting.unshift(
    ...waiting.map((operation) => ({ type: "leave" as const, operation, membership })),
  );
  return true;
}

function loaded(run: NamesRun, named: NameInStep, turn: TurnAt<"loading">, hasKeys: boolean): void {
  const { slot } = named.at;
  if (slot.at !== "resting") return fromTheTop(named, turn);
  const { channelId, membership, leaf } = slot;
  if (hasKeys) {
    return begin(run, named, turn.by.operation, { channelId, membership, leaf }, turn.job);
  }
  end(named);
  named.at.slot = { at: "keyless", channelId };
  refuse(run, turn.by.operation, "keys_lost");
}

function recalled(
  run: NamesRun,
  named: NameInStep,
  turn: TurnAt<"recalling">,
  way: Extract<NameJobResult, { of: "recall" }>["way"],
): void {
  if (way !== "kept_out") return sayLeave(run, named, turn, way === "close");
  end(named);
  for (const operation of allOf(turn)) refuse(run, operation, "kept_out");
}

/** One that is alone closes the channel, if it may: no member would be left to remove it. */
function sayLeave(
  run: NamesRun,
  named: NameInStep,
  { by, also }: TurnAt<"recalling" | "leaving">,
  isClosing: boolean,
): void {
  const { slot } = named.at;
  if (slot.at !== "resting") return;
  const number = call(run, {
    of: isClosing ? "CloseChannel" : "LeaveChannel",
    channelId: slot.channelId,
  });
  named.at.turn = { at: "leaving", by, call: number, isClosing, also };
}

function left(run: NamesRun, named: NameInStep, turn: TurnAt<"leaving">): void {
  const { slot } = named.at;
  if (slot.at !== "resting") return;
  end(named);
  erase(run, named, slot, { why: "gone", waiting: allOf(turn) });
}
