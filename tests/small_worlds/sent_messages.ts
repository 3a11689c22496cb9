/**
 * A member that sends messages, alone, in bundles and in groups. Answers are lost, connections
 * break, requests are taken late, the relay has no room or is busy, other members commit, callers
 * give up, processes are killed and start. The outbox is the real machine, and so is the reader's
 * count of what has arrived. The relay is honest, and takes what comes in its order.
 */
import { type MessageId, parseAgentId } from "../../proto/mod.ts";
import {
  forgetOutbox,
  outboxTimersOf,
  restoreOutbox,
  Senders,
} from "../../sdk/channel/testing/messages.ts";
import type { Kind, Move, World } from "./explore.ts";
import { textOf } from "./plain_state.ts";
import {
  type Call,
  comesAgain,
  lettersHeld,
  newSender,
  noneLate,
  type Relay,
  Sending,
  type SendingRules,
  sendingRules,
  type SendingState,
  type Sent,
  takeSent,
} from "./sender_of_letters.ts";

/** How often each may still happen. */
export interface SendingBudgets {
  messages: number;
  queued: number;
  /** One with an id of the program's, for a host. */
  known: number;
  /** Two of those that the program gives as one. */
  groups: number;
  /** A program gives what a killed process may have sent to the next one. */
  again: number;
  /** A caller gives up. */
  withdrawn: number;
  /** The answer to one that the relay has taken. */
  lost: number;
  broken: number;
  kill: number;
  late: number;
  /** Another member commits. */
  commit: number;
  busy: number;
  noRoom: number;
  /** The quota does not cover a bundle. */
  quota: number;
  /** A message is refused for good. */
  refused: number;
  /** A member lets this one in anew. */
  anew: number;
}

const nothing: SendingBudgets = {
  messages: 0,
  queued: 0,
  known: 0,
  groups: 0,
  again: 0,
  withdrawn: 0,
  lost: 0,
  broken: 0,
  kill: 0,
  late: 0,
  commit: 0,
  busy: 0,
  noRoom: 0,
  quota: 0,
  refused: 0,
  anew: 0,
};

export interface SentState extends SendingState {
  readonly left: SendingBudgets;
}

const sender = parseAgentId("a".repeat(22));

export function sentMessages(
  left: Partial<SendingBudgets>,
  rules: Partial<SendingRules> = {},
): World<SentState> {
  const all = { ...sendingRules, ...rules };
  const start: SentState = {
    left: { ...nothing, ...left },
    relay: Object.freeze({ log: Object.freeze([]), epoch: 1, refused: undefined }),
    sender: newSender(),
    calls: [],
    late: noneLate,
    told: {},
    again: [],
    keys: {},
    counters: {},
    bundles: 0,
    fault: undefined,
  };
  return {
    start,
    view: ({ left: _, ...state }) => state,
    left: (state) => Object.values(state.left),
    moves: (state) => new Moves(state, all).all(),
    broken: (state) => state.fault ?? brokenPromise(state, all),
    isGood: isCalm,
  };
}

/** Everything that the program gave has ended, and the relay is here. */
function isCalm(state: SentState): boolean {
  const { sender: { isUp, outbox }, calls } = state;
  return isUp && calls.length === 0 && lettersHeld(state).length === 0 &&
    outbox.hold.at === "none" &&
    outbox.noting === undefined;
}

function brokenPromise(state: SentState, { diskBeforeDeed }: SendingRules): string | undefined {
  const { sender: { outbox, disk }, relay, told } = state;
  const isSame = textOf(restoreOutbox(disk.counters)) === textOf(forgetOutbox(outbox));
  if (diskBeforeDeed && !isSame) {
    return "S7: a process that starts is not as one that has forgotten";
  }
  if (
    outbox.isResting &&
    lettersHeld(state).some(({ untilMs, caller }) => untilMs === Infinity && caller === "waits")
  ) {
    return "L2: the caller of a queued message waits for a connection";
  }
  const { shown, missing } = readBy(relay);
  const all = relay.log.flatMap(({ letters }) => letters);
  const sentLetters = new Set(all);
  if (sentLetters.size < all.length) return "S6: a message stands in the log twice";
  for (const [letter, what] of Object.entries(told)) {
    if (what === "accepted" && shown.filter((each) => each === letter).length !== 1) {
      return "S6: a message that was accepted is not shown once";
    }
    if (what.endsWith("not sent") && sentLetters.has(letter)) {
      return "S6: a message is in the log that was not sent";
    }
  }
  const isUntold = outbox.counters.gone.length > 0 || lettersHeld(state).length > 0 ||
    state.calls.length > 0;
  if (missing > 0 && !isUntold) return "S6: a message is counted as missing that nobody sent";
  return orderOf(state);
}

/** Of what each process was told that it is accepted. */
function orderOf({ relay: { log }, told, again }: SentState): string | undefined {
  let before = 0;
  for (const letter of log.flatMap(({ letters }) => letters)) {
    if (told[letter] !== "accepted" || again.includes(letter)) continue;
    const at = Number(letter.slice(1));
    if (at < before) return "S6: a message overtakes another one";
    before = at;
  }
  return undefined;
}

const read = new WeakMap<
  Relay["log"],
  { readonly shown: readonly string[]; readonly missing: number }
>();

/** As a member that reads the log from its beginning. */
function readBy({ log }: Relay): { readonly shown: readonly string[]; readonly missing: number } {
  const known = read.get(log);
  if (known !== undefined) return known;
  const [senders, shown] = [new Senders(), new Array<string>()];
  let membership = 0;
  for (const entry of log) {
    if (entry.membership !== membership) senders.begin(sender, entry.epoch);
    membership = entry.membership;
    shown.push(...shownOf(senders, entry));
  }
  const missing = [...senders.missing()].reduce((sum, { messages }) => sum + messages, 0);
  const result = { shown, missing };
  read.set(log, result);
  return result;
}

function shownOf(senders: Senders, { id, letters, counter, gone, epoch }: Sent): string[] {
  const counted = { counter, epoch, gone };
  const verdict = senders.judge(sender, counted);
  const unit = id as MessageId; // cast: a letter of this world
  if (verdict === "duplicate") return [];
  senders.close(sender, counted);
  if (letters.length > 1) {
    senders.rememberBundle(sender, { ...counted, count: letters.length }, unit);
  }
  return letters.filter((letter, at) => {
    const each = letter as MessageId; // cast: the same
    senders.take(
      sender,
      { ...counted, counter: counter + at },
      letters.length > 1 ? undefined : each,
    );
    if (senders.wasShown(sender, each)) return false;
    if (letters.length > 1) senders.shownInBundle(sender, each);
    return true;
  });
}

class Moves {
  readonly #state: SentState;
  readonly #rules: SendingRules;
  readonly #moves: Move<SentState>[] = [];

  constructor(state: SentState, rules: SendingRules) {
    this.#state = state;
    this.#rules = rules;
  }

  all(): readonly Move<SentState>[] {
    this.#program();
    this.#process();
    this.#relay();
    this.#network();
    return this.#moves;
  }

  #add(
    name: string,
    kind: Kind,
    act: (acting: Sending, state: SentState) => void,
    budget?: keyof SendingBudgets,
  ): void {
    if (budget !== undefined && this.#state.left[budget] === 0) return;
    const rules = this.#rules;
    this.#moves.push({
      name,
      kind,
      isBudgeted: budget !== undefined,
      act: (state) => {
        if (budget !== undefined) state.left[budget]--;
        act(new Sending(state, rules), state);
      },
    });
  }

  #program(): void {
    const { told } = this.#state;
    const count = Object.keys(told).length;
    const letter = `m${count + 1}`;
    this.#add(
      `the program sends ${letter}`,
      "program",
      (acting) => acting.send({ letter }),
      "messages",
    );
    this.#add(`the program sends ${letter}, or queues it`, "program", (acting) => {
      acting.send({ letter, isQueued: true });
    }, "queued");
    const known = `k${count + 1}`;
    this.#add(
      `the program sends ${known}`,
      "program",
      (acting) => acting.send({ letter: known, isKnown: true }),
      "known",
    );
    this.#add(`the program gives two messages as one`, "program", (acting) => {
      const group = groupOf(`group ${count}`, false);
      for (const at of [1, 2]) acting.send({ letter: `g${count + at}`, group });
    }, "groups");
    const isKilled = (each: string): boolean => told[each] === "killed";
    const [first] = Object.keys(told).filter((each) => isKilled(each) && each.startsWith("k"));
    if (first !== undefined) {
      this.#add(`the program gives ${first} again`, "program", (acting) => {
        acting.send({ letter: first, isKnown: true });
      }, "again");
    }
    const grouped = Object.keys(told).filter((each) => each.startsWith("g"));
    if (grouped.length === 2 && grouped.every(isKilled)) {
      const group = `group ${Number(grouped[0]?.slice(1)) - 1}`;
      this.#add(`the program gives ${grouped.join(" and ")} again`, "program", (acting) => {
        const again = groupOf(group, true);
        for (const each of grouped) acting.send({ letter: each, group: again });
      }, "again");
    }
    for (const { order, given, caller, untilMs } of lettersHeld(this.#state)) {
      if (caller !== "waits" || untilMs === Infinity) continue;
      this.#add(
        `the time of ${given} is over`,
        "fault",
        (acting) => acting.push({ type: "expired", order }),
        "withdrawn",
      );
    }
  }

  #process(): void {
    const { sender: { outbox } } = this.#state;
    const { next, hold, noting } = outbox;
    const held = outboxTimersOf(outbox);
    if (next.at === "gathering") {
      this.#add("the turn ends", "answer", (acting) => acting.push({ type: "gathered" }));
    }
    if (next.at === "sealing") this.#add("it is sealed", "answer", (acting) => acting.sealed());
    const wake = (what: string, timer: number): void => {
      if (held.includes(timer)) {
        this.#add(what, "time", (acting) => acting.push({ type: "time", timer }));
      }
    };
    if ("timer" in hold) wake(`it has waited (${hold.at})`, hold.timer);
    if (noting !== undefined) wake("counters are noted", noting.timer);
    this.#add("the process is killed, and starts", "fault", (acting, state) => {
      passAway(state, state.calls);
      acting.starts();
    }, "kill");
  }

  #relay(): void {
    const { calls, relay, sender } = this.#state;
    const at = calls.findIndex(({ reply }) => reply === undefined);
    const [first] = calls.slice(at, at < 0 ? 0 : at + 1);
    if (first !== undefined) {
      this.#add(`the relay takes ${first.id}`, "answer", (_, state) => {
        const mine = state.calls[at];
        if (mine !== undefined) mine.reply = Object.freeze(takeSent(state, mine));
      });
      if (first.sent !== undefined) this.#refusals(first, at);
    }
    calls.forEach((call, index) => this.#answers(call, index));
    this.#add("another member commits", "fault", (_, state) => {
      state.relay = Object.freeze({ ...state.relay, epoch: state.relay.epoch + 1 });
    }, "commit");
    if (sender.isUp && sender.epoch < relay.epoch) {
      this.#add("the commit is read", "notice", (acting) => acting.moves());
    }
  }

  #refusals({ id, sent, run }: Call, at: number): void {
    const { relay } = this.#state;
    const isHeld = relay.refused !== undefined && run <= relay.refused.run;
    const isThere = relay.log.some((each) => each.id === id);
    if (isHeld || isThere || sent?.epoch !== relay.epoch) return;
    const refuse = (code: string, budget: keyof SendingBudgets): void =>
      this.#add(`the relay refuses ${id}: ${code}`, "fault", (_, state) => {
        const mine = state.calls[at];
        if (mine === undefined) return;
        mine.reply = Object.freeze({ refused: code });
        state.late = noneLate;
        if (
          !comesAgain.has(code) || (code === "quota_exceeded" && mine.sent?.letters.length === 1)
        ) return;
        state.relay = Object.freeze({ ...state.relay, refused: Object.freeze({ run, code }) });
      }, budget);
    refuse("overloaded", "busy");
    refuse("storage_full", "noRoom");
    refuse("not_allowed", "refused");
    if (sent.letters.length > 1) refuse("quota_exceeded", "quota");
  }

  #answers(call: Call, at: number): void {
    const { reply, id } = call;
    if (reply === undefined) return;
    const answered = (acting: Sending, state: SentState, said: typeof reply): void => {
      const [mine] = state.calls.splice(at, 1);
      if (mine !== undefined) acting.answer(mine, said);
    };
    this.#add(
      `the answer to ${id}: ${textOf(reply)}`,
      "answer",
      (acting, state) => answered(acting, state, reply),
    );
    this.#add(`lost: the answer to ${id}`, "fault", (acting, state) => {
      answered(acting, state, { refused: "transport_error" });
    }, "lost");
  }

  #network(): void {
    const { sender, late } = this.#state;
    if (sender.isUp) {
      this.#add("the connection breaks", "fault", (acting, state) => {
        passAway(state, state.calls);
        acting.breaks();
      }, "broken");
    } else {
      this.#add("a connection is made", "time", (acting, state) => {
        state.relay = Object.freeze({ ...state.relay, refused: undefined });
        state.sender.isUp = true;
        while (state.sender.epoch < state.relay.epoch) acting.moves();
        acting.push({ type: "look" });
      });
      this.#add("a member lets it in anew", "fault", (acting, state) => {
        const epoch = state.relay.epoch + 1;
        state.relay = Object.freeze({ ...state.relay, epoch });
        acting.enters(epoch);
      }, "anew");
    }
    const [first] = late;
    if (first !== undefined) {
      this.#add(`the relay takes ${first.id} late`, "fault", (_, state) => {
        state.late = Object.freeze(state.late.slice(1));
        // Of another session, whose runs are none of this one's.
        const { refused } = state.relay;
        state.relay = Object.freeze({ ...state.relay, refused: undefined });
        takeSent(state, { sent: first, id: first.id, run: 0 });
        state.relay = Object.freeze({ ...state.relay, refused });
      }, "late");
    }
  }
}

function groupOf(id: string, isAgain: boolean): Parameters<Sending["send"]>[0]["group"] {
  return Object.freeze({ id: id as MessageId, size: 2, isAgain }); // cast: a letter of this world
}

/**
 * Requests that the relay has not taken may come to it yet, but for those of a run of which it has
 * refused something.
 */
function passAway(state: SentState, calls: readonly Call[]): void {
  if (state.left.late === 0) return;
  const { refused } = state.relay;
  const sent = calls.flatMap(({ sent, reply, run }) => {
    return sent === undefined || reply !== undefined || run <= (refused?.run ?? 0) ? [] : [sent];
  });
  state.late = Object.freeze([...state.late, ...sent]);
}
