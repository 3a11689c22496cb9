/**
 * Messages on their way out: a machine without waits. They reach the log in the order in which they
 * were given; several are under way at once, and those that wait together go together. A message
 * keeps its id through every retry, so the relay takes it once: after a lost connection the same
 * bytes go again, after another member's commit it is sealed anew under the same id. An event that
 * no case names changes nothing. Counters and keys are on disk before the message: else one key
 * seals two contents. Nothing of an epoch goes beside another, and a hold ends when all is back:
 * else messages overtake each other.
 */
import { type Bundle, countersOf, isAbandoned, type OutgoingMessage, unsent } from "./bundles.ts";
import {
  acceptCounters,
  closeCounters,
  giveUpCounters,
  noteCounters,
  restartCounters,
} from "./counters.ts";
import { endHold, goOn, hasSealed } from "./next_bundle.ts";
import { isNoRoom, type Obstacle, obstacleOf, type SendRefusal } from "./obstacles.ts";
import {
  drop,
  forget,
  giveUp,
  giveUpAll,
  type OutboxRun,
  reject,
  scatter,
  setApart,
  takeGroup,
  tellQueued,
  wake,
} from "./outbox_run.ts";
import {
  allMessages,
  isEmpty,
  nobody,
  nothing,
  type OutboxEvent,
  type OutboxFacts,
  type OutboxState,
  type OutboxStep,
  unheld,
} from "./outbox_state.ts";
import {
  countQueued,
  enqueue,
  newSendQueue,
  putBack,
  removeBundle,
  removeMessage,
} from "./send_queue.ts";

/**
 * Until settled counters are on disk. After a crash, messages that the relay took within this time
 * may be told as gone if it hides them.
 */
const noteMs = 1_000;
const [maxWaiting, maxWaitingBytes] = [4096, 32 * 1024 * 1024];

export function stepOutbox<M>(
  state: OutboxState<M>,
  event: OutboxEvent<M>,
  facts: OutboxFacts,
): OutboxStep<M> {
  const run: OutboxRun<M> = {
    state,
    facts,
    mayWork: facts.work !== undefined,
    effects: [],
    write: undefined,
  };
  if (state.next.at === "over") settle(run, event);
  else {
    const isTurn = happen(run, event);
    rest(run);
    goOn(run, isTurn);
    note(run);
  }
  if (state.whenEmpty.length > 0 && isEmpty(state)) tellEmpty(run);
  return run;
}

/** Returns whether all that was given in this turn of the event loop is here. */
function happen<M>(run: OutboxRun<M>, event: OutboxEvent<M>): boolean {
  const { state } = run;
  switch (event.type) {
    case "send":
      enqueue(state.queue, event.message);
      if (state.isResting) tellQueued(run, event.message);
      return false;
    case "withdrawn":
      withdraw(run, event.order);
      return false;
    case "expired":
      expire(run, event.order);
      return false;
    case "gathered":
      if (state.next.at === "gathering") state.next = nothing;
      return true;
    case "sealed":
      hasSealed(run, event.job, event.sealed);
      return true;
    case "taken":
      taken(run, event.call, event.isDuplicate);
      return false;
    case "asked":
      asked(run, event.call, event.stands);
      return true;
    case "refused":
      return refused(run, event.call, event.why);
    case "time":
      return time(run, event.timer);
    case "look":
      return false;
    case "entered":
      run.write = restartCounters(state.counters);
      settle(run, event);
      return false;
    case "closing":
      run.write = closeCounters(state.counters);
      settle(run, event);
      return false;
    case "when_empty":
      state.whenEmpty = [...state.whenEmpty, event.operation];
      return false;
    case "over":
      over(run);
      return false;
  }
}

/** The end comes before what waits for its step. */
function settle<M>(run: OutboxRun<M>, event: OutboxEvent<M>): void {
  if ("operation" in event) run.effects.push({ type: "settle", operation: event.operation });
  if (event.type === "send") reject(run, event.message, { by: "over" });
}

function tellEmpty<M>({ state, effects }: OutboxRun<M>): void {
  for (const operation of state.whenEmpty) effects.push({ type: "settle", operation });
  state.whenEmpty = nobody;
}

/**
 * Callers of queued messages need not wait for a permit, and a wait that a relay has asked for is
 * not the next one's.
 */
function rest<M>(run: OutboxRun<M>): void {
  const { state, mayWork } = run;
  if (state.isResting === !mayWork) return;
  state.isResting = !mayWork;
  if (mayWork) return;
  state.noting = undefined;
  const { hold } = state;
  if (hold.at === "waiting") endHold(run);
  if (hold.at === "standing" && hold.by.kind === "wait") {
    state.hold = { ...hold, by: { kind: "run" } };
  }
  for (const message of allMessages(state)) tellQueued(run, message);
}

/** How far counters are settled goes to disk a moment later: nobody waits for it. */
function note<M>(run: OutboxRun<M>): void {
  const { state } = run;
  const { counters: { known, noted }, isResting, next } = state;
  if (known === noted || isResting || state.noting !== undefined || next.at === "over") return;
  state.noting = { timer: wake(run, noteMs) };
}

interface MessageInBundle<M> {
  readonly message: OutgoingMessage<M>;
  readonly bundle: Bundle<M> | undefined;
}

function find<M>(
  { queue, next, underWay }: OutboxState<M>,
  order: number,
): MessageInBundle<M> | undefined {
  const isIt = (each: OutgoingMessage<M>): boolean => each.order === order;
  const waiting = queue.messages.find(isIt);
  if (waiting !== undefined) return { message: waiting, bundle: undefined };
  const bundles = "bundle" in next
    ? [next.bundle, ...queue.bundles, ...underWay]
    : [...queue.bundles, ...underWay];
  for (const bundle of bundles) {
    const message = bundle.messages.find(isIt);
    if (message !== undefined) return { message, bundle };
  }
  return undefined;
}

/**
 * The caller of a message has given up. The message is not sent, unless the relay has been given it
 * already.
 */
function withdraw<M>(run: OutboxRun<M>, order: number): MessageInBundle<M> | undefined {
  const { state: { queue } } = run;
  const held = find(run.state, order);
  if (held === undefined || held.message.caller !== "waits") return undefined;
  const { message, bundle } = held;
  message.caller = "gone";
  if (bundle === undefined) removeMessage(queue, message);
  else if (bundle.fate.at === "unsent" || isAbandoned(bundle)) {
    if (removeBundle(queue, bundle)) scatter(run, bundle);
  }
  return held;
}

function expire<M>(run: OutboxRun<M>, order: number): void {
  const held = withdraw(run, order);
  if (held === undefined) return;
  const { message, bundle } = held;
  const fate = bundle?.fate ?? unsent;
  const why = fate.at === "unsent" && fate.noRoom !== undefined
    ? { by: "refused", why: fate.noRoom } as const
    : { by: "expired", isTried: fate.at !== "unsent" } as const;
  run.effects.push({ type: "rejected", message, why });
}

function time<M>(run: OutboxRun<M>, timer: number): boolean {
  const { state } = run;
  const { hold } = state;
  if (state.noting?.timer === timer) {
    state.noting = undefined;
    run.effects.push({ type: "note", record: noteCounters(state.counters) });
    return false;
  }
  if (!("timer" in hold) || hold.timer !== timer) return false;
  if (hold.at === "waiting_epoch") giveUpAll(run, { by: "not_arrived", epoch: hold.epoch });
  return endHold(run);
}

/** Returns the bundle that this call was for. */
function back<M>({ state }: OutboxRun<M>, call: number): Bundle<M> | undefined {
  const at = state.underWay.findIndex(({ fate }) => fate.at === "under_way" && fate.call === call);
  if (at < 0) return undefined;
  if (state.next.at === "full") state.next = nothing;
  return state.underWay.splice(at, 1)[0];
}

function taken<M>(run: OutboxRun<M>, call: number, isDuplicate: boolean): void {
  const { state: { counters }, effects } = run;
  const bundle = back(run, call);
  if (bundle === undefined) return;
  const { made, messages, fate } = bundle;
  const range = countersOf(bundle);
  if (range !== undefined && made?.life === counters.life) {
    const since = fate.at === "under_way" ? fate.since : undefined;
    const mayStand = since !== undefined || messages.some(({ mayBeKnown }) => mayBeKnown);
    // The counter of the bundle stays a used one: if the relay has dropped the message, those that
    // count miss it.
    if (isDuplicate && !mayStand) effects.push({ type: "false_duplicate" });
    // The bundle stands there under another counter, since an earlier life or membership: this
    // counter was not used.
    if (isDuplicate && mayStand && since !== counters.life) giveUpCounters(counters, range);
    else acceptCounters(counters, range, isDuplicate ? undefined : made.gone);
  }
  effects.push({ type: "accepted", messages });
}

/** Returns whether the next bundle goes at once. */
function refused<M>(run: OutboxRun<M>, call: number, why: SendRefusal): boolean {
  const { next } = run.state;
  if (next.at === "asking" && next.call === call) {
    run.state.next = nothing;
    scatter(run, next.bundle);
    const obstacle = obstacleOf(why, run.facts.epoch);
    if (obstacle !== undefined) hold(run, obstacle);
    else {for (const message of takeGroup(run, next.group)) {
        reject(run, message, { by: "refused", why });
      }}
    return true;
  }
  const bundle = back(run, call);
  if (bundle !== undefined) refusedBundle(run, bundle, why);
  return false;
}

function refusedBundle<M>(run: OutboxRun<M>, bundle: Bundle<M>, why: SendRefusal): void {
  const { state, facts } = run;
  const isDissolving = state.hold.at === "standing" && state.hold.isDissolving;
  if (why.code === "quota_exceeded" && (bundle.messages.length > 1 || isDissolving)) {
    return dissolve(run, bundle);
  }
  const obstacle = obstacleOf(why, bundle.made?.sealed?.epoch ?? 0);
  if (obstacle === undefined) return giveUp(run, bundle, { by: "refused", why });
  const noRoom = isNoRoom(why) ? why : undefined;
  if (noRoom !== undefined) {
    // No sooner than the relay says: callers with a shorter deadline need not wait at all.
    const waitMs = obstacle.kind === "wait" ? obstacle.ms : 0;
    if (facts.nowMs + waitMs >= Math.max(...bundle.messages.map(({ untilMs }) => untilMs))) {
      if (state.hold.at === "none") hold(run, { kind: "run" });
      return giveUp(run, bundle, { by: "refused", why });
    }
  }
  const since = bundle.fate.at === "under_way" ? bundle.fate.since : undefined;
  const isSurelyNot = noRoom !== undefined || obstacle.kind === "epoch";
  if (isSurelyNot) drop(run, bundle, false);
  bundle.fate = isSurelyNot
    ? { at: "unsent", noRoom }
    : { at: "may_stand", since: since ?? bundle.made?.life ?? state.counters.life };
  hold(run, obstacle.kind === "wait" && !run.mayWork ? { kind: "run" } : obstacle);
  if (isAbandoned(bundle)) return forget(run, bundle);
  putBack(state.queue, bundle);
}

/** Nothing leaves for this reason. The latest counts: it is of the present moment. */
function hold<M>({ state }: OutboxRun<M>, by: Obstacle): void {
  const isDissolving = state.hold.at === "standing" && state.hold.isDissolving;
  state.hold = { at: "standing", by, isDissolving };
}

/**
 * A bundle that the quota does not take whole goes in parts, when everything that was sent behind
 * it is back.
 */
function dissolve<M>(run: OutboxRun<M>, bundle: Bundle<M>): void {
  const { state } = run;
  const by: Obstacle = state.hold.at === "standing" ? state.hold.by : { kind: "run" };
  state.hold = { at: "standing", by, isDissolving: true };
  for (const message of bundle.messages) message.goes = "alone";
  scatter(run, bundle);
}

/** The relay has said whether an earlier process has sent this group. */
function asked<M>(run: OutboxRun<M>, call: number, stands: boolean): void {
  const { state, effects } = run;
  const { next } = state;
  if (next.at !== "asking" || next.call !== call) return;
  const { bundle, group } = next;
  setApart(run, group);
  state.next = nothing;
  scatter(run, bundle);
  if (stands) effects.push({ type: "accepted", messages: takeGroup(run, group) });
}

function over<M>(run: OutboxRun<M>): void {
  const { state } = run;
  for (const message of allMessages(state)) reject(run, message, { by: "over" });
  Object.assign(state.queue, newSendQueue<M>());
  state.underWay.length = 0;
  state.next = { at: "over" };
  state.hold = unheld;
  state.noting = undefined;
}

/** So many wait that there is no room for these. */
export function isFull<M>({ queue }: OutboxState<M>, messages: number, bytes: number): boolean {
  return countQueued(queue) + messages > maxWaiting || queue.bytes + bytes > maxWaitingBytes;
}
