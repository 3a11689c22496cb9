/**
 * Notices that the relay shows others another log: every message says what its sender had seen of
 * it, and this compares. Nothing else follows from a finding, because nobody can tell whether the
 * relay or the sender is to blame. A machine without waits: an event that no case names changes
 * nothing. The record goes with each write of the position. A start that finds it open says and
 * compares nothing in the epoch of its group and earlier ones.
 */
import {
  type AgentId,
  countModulus,
  equalBytes,
  generationOf,
  type LogWord,
  nothingSaid,
} from "../../../proto/mod.ts";
import {
  type EntryAhead,
  firstHash,
  type HeardWord,
  type LogPoint,
  maxAhead,
  newOrder,
  nextHash,
  type OrderEvent,
  type OrderFinding,
  type OrderState,
  type OwnEntry,
  type UnplacedMessage,
} from "./order_state.ts";

/**
 * Hashes that are remembered, and twice as many before the older half goes: words about a place
 * before them are not compared.
 */
const maxPoints = 1024;
const none: readonly OrderFinding[] = Object.freeze([]);

interface OrderRun {
  readonly state: OrderState;
  findings: readonly OrderFinding[];
}

export function stepOrder(state: OrderState, event: OrderEvent): readonly OrderFinding[] {
  const run: OrderRun = { state, findings: none };
  switch (event.type) {
    case "passed":
      passed(run, event);
      break;
    case "opened":
      opened(run, event);
      break;
    case "departs":
      departs(run, event);
      break;
    case "stands":
      stands(run, event);
      break;
    case "dropped":
      dropped(run, event);
      break;
    case "moved":
      addAhead(run, { ...event, digest: undefined, isOwn: true });
      settle(run);
      break;
    case "lost":
      lost(run, event.epoch);
      break;
    case "entered":
      enter(run, event);
      break;
    case "opening":
      state.isOpen = true;
      break;
    case "closing":
      state.isOpen = state.out.length > 0;
  }
  return run.findings;
}

/** Said with a message that is sealed in this epoch. */
export function wordOf(state: OrderState, epoch: number): LogWord {
  const known = latest(state);
  if (known.epoch !== epoch) return nothingSaid;
  const { count, hash, before } = known;
  const seen = epoch > state.unsureThrough ? { place: state.through, count, hash } : undefined;
  return { seen, before };
}

function latest({ points }: OrderState): LogPoint {
  const point = points.at(-1);
  if (point === undefined) throw new Error("nothing is known of the order");
  return point;
}

// Knowing

function passed(
  run: OrderRun,
  { sequence, epoch, digest, isGap }: Extract<OrderEvent, { type: "passed" }>,
): void {
  const { state } = run;
  if (sequence <= state.read) return;
  const generation = generationOf(epoch);
  if (generation > generationOf(latest(state).epoch)) beginGeneration(state, generation);
  if (isGap === true) doubt(run, epoch);
  state.read = sequence;
  const known = latest(state);
  const entry = { sequence, epoch, digest, isOwn: false };
  if (state.ahead.length === 0 && state.out.length === 0) {
    if (sequence <= state.through) return;
    apply(run, entry);
    state.through = sequence;
    compareKnown(run);
  } else {
    // Nothing is learned from one that is no message and begins no epoch.
    if (digest !== undefined || epoch > (state.ahead.at(-1)?.epoch ?? known.epoch)) {
      addAhead(run, entry);
    }
    settle(run);
  }
}

/** Nothing of an earlier one is awaited any more, and others know another end of it. */
function beginGeneration(state: OrderState, generation: number): void {
  const isOfIt = ({ epoch }: { readonly epoch: number }): boolean =>
    generationOf(epoch) === generation;
  state.out = state.out.filter(isOfIt);
  state.ahead = state.ahead.filter(isOfIt);
  state.words = state.words.filter(isOfIt);
}

function departs(
  { state }: OrderRun,
  { counter, epoch, digest }: Extract<OrderEvent, { type: "departs" }>,
): void {
  if (epoch <= state.unsureThrough || find(state, { counter, epoch }) !== undefined) return;
  const after = Math.max(state.read, state.ahead.findLast(({ isOwn }) => isOwn)?.sequence ?? 0);
  state.out = [...state.out, { counter, epoch, digest, after }];
}

function find(
  { out }: OrderState,
  { counter, epoch }: Pick<UnplacedMessage, "counter" | "epoch">,
): UnplacedMessage | undefined {
  return out.find((each) => each.counter === counter && each.epoch === epoch);
}

function stands(
  run: OrderRun,
  { counter, epoch, sequence }: Extract<OrderEvent, { type: "stands" }>,
): void {
  const { state } = run;
  const out = find(state, { counter, epoch });
  if (out === undefined) return;
  state.out = state.out.filter((each) => each !== out);
  // A relay that says otherwise lies: others, who see it elsewhere, will say so.
  addAhead(run, {
    sequence: Math.max(sequence, out.after + 1),
    epoch,
    digest: out.digest,
    isOwn: true,
  });
  settle(run);
}

function dropped(
  run: OrderRun,
  { counter, epoch, mayStand }: Extract<OrderEvent, { type: "dropped" }>,
): void {
  const { state } = run;
  const out = find(state, { counter, epoch });
  if (out === undefined) return;
  state.out = state.out.filter((each) => each !== out);
  if (mayStand) doubt(run, epoch);
  settle(run);
}

/** Something may stand in the log in this epoch, and nobody here will know where. */
function doubt({ state }: OrderRun, epoch: number): void {
  state.unsureThrough = Math.max(state.unsureThrough, epoch);
  state.out = state.out.filter((each) => each.epoch > epoch);
  state.ahead = state.ahead.filter((each) => each.epoch > epoch || each.digest === undefined);
}

function lost(run: OrderRun, epoch: number): void {
  enter(run, { sequence: 0, epoch });
  run.state.unsureThrough = epoch;
}

function enter(
  { state }: OrderRun,
  { sequence, epoch }: { readonly sequence: number; readonly epoch: number },
): void {
  const { points, ...rest } = newOrder(state.channelId, sequence, epoch);
  state.points.splice(0, state.points.length, ...points);
  Object.assign(state, rest);
}

function addAhead(run: OrderRun, { sequence, epoch, digest, isOwn }: EntryAhead): void {
  const { state } = run;
  if (sequence <= state.through) return;
  const at = state.ahead.findLastIndex((each) => each.sequence <= sequence);
  if (state.ahead[at]?.sequence === sequence) return;
  const entry = { sequence, epoch, digest, isOwn };
  state.ahead = [...state.ahead.slice(0, at + 1), entry, ...state.ahead.slice(at + 1)];
  if (state.ahead.length > maxAhead) {
    doubt(
      run,
      Math.max(...[...state.ahead, ...state.out].map(({ epoch }) => epoch)),
    );
  }
}

/**
 * Entries become known up to the first that one of ours, or one that was not read yet, may stand
 * before.
 */
function settle(run: OrderRun): void {
  const { state } = run;
  let reach = Math.max(state.read, state.through);
  for (const { sequence, isOwn } of state.ahead) {
    if (isOwn && sequence === reach + 1) reach = sequence;
  }
  for (const { after } of state.out) reach = Math.min(reach, after);
  if (reach <= state.through) return;
  const end = state.ahead.findIndex(({ sequence }) => sequence > reach);
  const known = end < 0 ? state.ahead : state.ahead.slice(0, end);
  state.ahead = end < 0 ? [] : state.ahead.slice(end);
  for (const entry of known) apply(run, entry);
  state.through = reach;
  compareKnown(run);
}

function apply(run: OrderRun, { sequence, epoch, digest, isOwn }: EntryAhead): void {
  const { state } = run;
  const own = isOwn ? { sequence, epoch, digest } : undefined;
  if (epoch > latest(state).epoch) {
    begin(run, { sequence, epoch }, digest === undefined ? own : undefined);
  }
  const { count, hash, before, ...known } = latest(state);
  if (digest === undefined || epoch < known.epoch || epoch <= state.unsureThrough) return;
  push(state, { sequence, epoch, count: count + 1, hash: nextHash(hash, digest), before, own });
}

/** Words about the epoch that is over are compared: of that, everything is known. */
function begin(
  run: OrderRun,
  { sequence, epoch }: Pick<LogPoint, "sequence" | "epoch">,
  own: OwnEntry | undefined,
): void {
  const { state } = run;
  const over = latest(state);
  compare(run, ({ epoch }) => epoch <= over.epoch);
  const isNext = epoch === over.epoch + 1 && over.epoch > state.unsureThrough;
  const before = over.count > 0 ? over.hash : over.before;
  const differs = over.count > 0 ? state.differs.here : state.differs.before;
  state.differs = { here: [], before: differs };
  const hash = firstHash(state.channelId, epoch);
  push(state, { sequence, epoch, count: 0, hash, before: isNext ? before : undefined, own });
}

function push(state: OrderState, point: LogPoint): void {
  const { points } = state;
  points.push(point);
  if (points.length <= 2 * maxPoints) return;
  points.splice(0, points.length - maxPoints);
  state.from = points[0]?.sequence ?? 0;
}

// Comparing

function opened(
  run: OrderRun,
  { sender, sequence, epoch, word }: Extract<OrderEvent, { type: "opened" }>,
): void {
  const { state } = run;
  const { seen, before } = word;
  if (seen === undefined && before === undefined) return;
  if (seen !== undefined && seen.place >= sequence && epoch > state.unsureThrough) {
    return differsHere(run, { kind: "reordered", sender, from: sequence, to: seen.place });
  }
  const others = state.words.filter((each) => each.sender !== sender || each.epoch !== epoch);
  state.words = [...others, { sender, epoch, word }];
  compareKnown(run);
}

function compareKnown(run: OrderRun): void {
  const { state } = run;
  if (state.words.length === 0) return;
  const { epoch, sequence } = latest(state);
  // One of a later epoch waits for the commit that begins it.
  compare(
    run,
    (heard) =>
      heard.epoch < epoch ||
      (heard.epoch === epoch && (heard.word.seen?.place ?? sequence) <= state.through),
  );
}

function compare(run: OrderRun, isDue: (heard: HeardWord) => boolean): void {
  const { state } = run;
  const due = state.words.filter(isDue);
  if (due.length === 0) return;
  state.words = state.words.filter((heard) => !due.includes(heard));
  for (const heard of due) {
    compareBefore(run, heard);
    compareSeen(run, heard);
  }
}

function compareSeen(run: OrderRun, { sender, epoch, word: { seen } }: HeardWord): void {
  const { state } = run;
  if (seen === undefined || epoch <= state.unsureThrough || state.differs.here.includes(sender)) {
    return;
  }
  const { place } = seen;
  const known = state.points.findLast(({ sequence }) => sequence <= place);
  if (known === undefined || known.epoch > epoch) return;
  const { count, hash } = known.epoch === epoch
    ? known
    : { count: 0, hash: firstHash(state.channelId, epoch) };
  const isAsMany = count % countModulus === seen.count;
  if (isAsMany && equalBytes(hash, seen.hash)) {
    state.agreed = Math.max(state.agreed, place);
    return;
  }
  const from = firstOpen(state, place);
  differsHere(run, { kind: isAsMany ? "reordered" : "missing_tail", sender, from, to: place });
}

/** Behind the last word that agreed, if that was about less. */
function firstOpen({ agreed, points }: OrderState, to: number): number {
  return agreed < to ? agreed + 1 : Math.min((points[0]?.sequence ?? 0) + 1, to);
}

function differsHere(run: OrderRun, finding: OrderFinding): void {
  const { state } = run;
  const { here, before } = state.differs;
  if (here.includes(finding.sender)) return;
  state.differs = { here: [...here, finding.sender], before };
  run.findings = [...run.findings, finding];
}

function compareBefore(run: OrderRun, { sender, epoch, word }: HeardWord): void {
  const { state } = run;
  const known = state.points.find((point) => point.epoch === epoch);
  if (
    word.before === undefined || known?.before === undefined ||
    equalBytes(known.before, word.before)
  ) return;
  const { here, before }: { here: readonly AgentId[]; before: readonly AgentId[] } = state.differs;
  if (before.includes(sender)) return;
  state.differs = { here, before: [...before, sender] };
  const to = known.sequence;
  run.findings = [...run.findings, {
    kind: "missing_tail",
    sender,
    from: firstOpen(state, to),
    to,
  }];
}
