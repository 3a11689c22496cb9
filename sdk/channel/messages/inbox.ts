/**
 * Messages on their way to the application: a machine without waits. Every reader sees everything
 * from where it began; a message is done with when every reader is. Requests and replies are for
 * others than readers, who say when they are done with them. Without a reader messages wait, up to
 * a limit: beyond it they are passed over unread and fetched again later.
 */
import type {
  InboxEffect,
  InboxEntry,
  InboxEvent,
  InboxFacts,
  InboxReaderState,
  InboxState,
} from "./inbox_state.ts";

const maxItems = 4096;
const maxBytes = 8 * 1024 * 1024;
/**
 * Up to both, there is room for messages that were passed over: fetching them is worth a good part
 * of the inbox. A reader that stands still may hold as much for a day (`lagLimits` of hosts), and
 * those that are past it must get what comes.
 */
export const leavesRoom: { readonly items: number; readonly bytes: number } = {
  items: maxItems * 3 / 4,
  bytes: maxBytes * 3 / 4,
};

interface InboxRun<I> {
  readonly state: InboxState<I>;
  readonly facts: InboxFacts<I>;
  readonly effects: InboxEffect<I>[];
}

export function stepInbox<I>(
  state: InboxState<I>,
  event: InboxEvent<I>,
  facts: InboxFacts<I>,
): readonly InboxEffect<I>[] {
  const run: InboxRun<I> = { state, facts, effects: [] };
  happen(run, event);
  return run.effects;
}

export function isFullInbox({ held, bytes }: InboxState<unknown>): boolean {
  return held >= maxItems || bytes >= maxBytes;
}

export function hasInboxRoom({ held, bytes }: InboxState<unknown>): boolean {
  return held <= leavesRoom.items && bytes <= leavesRoom.bytes;
}

/** Somebody is not done with it. */
export function holds(state: InboxState<unknown>, number: number): boolean {
  return entryOf(state, number) !== undefined;
}

/** Returns whether the reader has begun, and not ended. */
export function isReading({ readers }: InboxState<unknown>, reader: number): boolean {
  return readerOf(readers, reader) !== undefined;
}

/** A request or a reply whose handler is not done. */
export function isUnhandled(state: InboxState<unknown>, number: number): boolean {
  return entryOf(state, number)?.isHandled === false;
}

function happen<I>(run: InboxRun<I>, event: InboxEvent<I>): void {
  const { state } = run;
  switch (event.type) {
    case "arrived":
      return arrived(run, event);
    case "handled": {
      const entry = entryOf(state, event.number);
      if (entry === undefined || entry.isHandled) return;
      entry.isHandled = true;
      hold(state, entry, 1);
      return settle(run, [entry]);
    }
    case "begins": {
      const { reader, all, isManual } = event;
      const next = state.entries[0]?.number ?? state.count;
      const isShared = event.isShared === true;
      state.readers.push({
        ...{ reader, all, isManual, isShared, next, open: [], back: [], waiting: [] },
        at: isShared ? "parked" : "reading",
      });
      return;
    }
    case "asks": {
      const reader = readerOf(state.readers, event.reader);
      return reader && asks(run, reader);
    }
    case "waits":
      return waits(run, event.reader, event.operation);
    case "withdraws":
      return withdraws(run, event.reader, event.operation);
    case "takes":
      return takes(run, event.reader);
    case "passes":
      return passes(run, event.reader, event.number);
    case "gives_back":
      return givesBack(run, event.reader, event.number);
    case "ends":
      return ends(run, event.reader);
    case "near":
      return serveAll(run);
    case "over":
      state.isOver = true;
      return serveAll(run);
  }
}

function arrived<I>(
  run: InboxRun<I>,
  { item, lane, bytes }: Extract<InboxEvent<I>, { type: "arrived" }>,
): void {
  const { state } = run;
  const entry: InboxEntry<I> = {
    item,
    number: state.count++,
    lane,
    bytes,
    isHandled: lane === "aside",
    isExpired: false,
  };
  state.entries.push(entry);
  hold(state, entry, 1);
  settle(run, [entry]);
  serveAll(run);
}

/** Calls that wait, in their order: each is given another one, and asks past the one before. */
function serve<I>(run: InboxRun<I>, reader: InboxReaderState): void {
  const { state, facts, effects } = run;
  for (let operation = reader.waiting[0]; operation !== undefined; operation = reader.waiting[0]) {
    if (facts.isFarAhead && !state.isOver) return;
    const entry = take(run, reader);
    if (entry === undefined) return state.isOver ? over(run, reader) : undefined;
    reader.waiting.shift();
    effects.push({ type: "given", reader: reader.reader, operation, entry });
    if (reader.waiting.length > 0) asks(run, reader);
  }
  if (reader.isShared) park(run, reader);
}

function serveAll<I>(run: InboxRun<I>): void {
  for (const reader of run.state.readers.filter(({ waiting }) => waiting.length > 0)) {
    serve(run, reader);
  }
}

/** A loop ends with the word; callers that share a reader all hear it, also later. */
function over<I>(run: InboxRun<I>, reader: InboxReaderState): void {
  const { waiting, isShared } = reader;
  for (const operation of waiting.splice(0, isShared ? waiting.length : 1)) {
    run.effects.push({ type: "over", operation });
  }
  if (isShared) park(run, reader);
  else ends(run, reader.reader);
}

/** Parks a reader. A parked reader holds up nothing. */
function park<I>(run: InboxRun<I>, reader: InboxReaderState): void {
  reader.at = "parked";
  if (run.state.readers.length > 1) settle(run, [...run.state.entries]);
}

function waits<I>(run: InboxRun<I>, number: number, operation: number): void {
  const reader = readerOf(run.state.readers, number);
  if (reader === undefined) return void run.effects.push({ type: "ended", operation });
  reader.at = "reading";
  asks(run, reader);
  reader.waiting.push(operation);
  serve(run, reader);
}

function withdraws<I>(run: InboxRun<I>, number: number, operation: number): void {
  const reader = readerOf(run.state.readers, number);
  const at = reader?.waiting.indexOf(operation) ?? -1;
  if (reader === undefined || at < 0) return;
  reader.waiting.splice(at, 1);
  if (reader.isShared && reader.waiting.length === 0) park(run, reader);
}

function asks<I>(run: InboxRun<I>, reader: InboxReaderState): void {
  if (reader.isManual || reader.open.length === 0) return;
  const done: InboxEntry<I>[] = [];
  for (const each of reader.open) {
    const entry = entryOf(run.state, each);
    if (entry !== undefined) done.push(entry);
  }
  reader.open.length = 0;
  settle(run, done, reader.at !== "reading");
}

function takes<I>(run: InboxRun<I>, number: number): void {
  const reader = readerOf(run.state.readers, number);
  const entry = reader && take(run, reader);
  if (entry !== undefined) {
    run.effects.push({ type: "given", reader: number, operation: undefined, entry });
  }
}

/** The next one for it, which is open from here on. */
function take<I>(run: InboxRun<I>, reader: InboxReaderState): InboxEntry<I> | undefined {
  const { state } = run;
  const over: InboxEntry<I>[] = [];
  let given: InboxEntry<I> | undefined;
  for (let entry = nextOf(state, reader); entry !== undefined && given === undefined;) {
    if (isOver(run, entry)) {
      over.push(entry);
      entry = nextOf(state, reader);
    } else given = entry;
  }
  settle(run, over);
  if (given !== undefined) enter(reader.open, given.number);
  return given;
}

/** The next one that it wants: from here on it has been given that, or it is over. */
function nextOf<I>(state: InboxState<I>, reader: InboxReaderState): InboxEntry<I> | undefined {
  if (reader.at === "parked") return undefined;
  for (let number = reader.back.shift(); number !== undefined; number = reader.back.shift()) {
    const entry = entryOf(state, number);
    if (entry !== undefined) return entry;
  }
  for (let at = placeOf(state, reader.next); at < state.entries.length; at++) {
    const entry = state.entries[at];
    if (entry === undefined || !wants(reader, entry)) continue;
    reader.next = entry.number + 1;
    return entry;
  }
  reader.next = state.count;
  return undefined;
}

/** Told once, however many readers pass it. */
function isOver<I>({ facts }: InboxRun<I>, entry: InboxEntry<I>): boolean {
  if (entry.lane !== "message") return false;
  return entry.isExpired ||= facts.isExpired(entry.item);
}

function passes<I>(run: InboxRun<I>, number: number, entryNumber: number): void {
  const { state } = run;
  const reader = readerOf(state.readers, number);
  if (!leave(reader?.open ?? state.ended, entryNumber)) return;
  const entry = entryOf(state, entryNumber);
  // One that has ended, or whom nobody asks any more, may still be worked with; then nobody else
  // has to want it.
  if (entry !== undefined) settle(run, [entry], reader?.at !== "reading");
}

function givesBack<I>(run: InboxRun<I>, number: number, entryNumber: number): void {
  const reader = readerOf(run.state.readers, number);
  if (reader === undefined || !leave(reader.open, entryNumber)) return;
  enter(reader.back, entryNumber);
  serve(run, reader);
}

function ends<I>(run: InboxRun<I>, number: number): void {
  const { state, effects } = run;
  const at = state.readers.findIndex(({ reader }) => reader === number);
  const [reader] = at < 0 ? [] : state.readers.splice(at, 1);
  if (reader === undefined) return;
  if (reader.isManual) {
    for (const open of reader.open) if (!has(state.ended, open)) enter(state.ended, open);
  }
  // Entries that the other readers have passed were waiting for this reader only.
  settle(run, [...state.entries]);
  for (const operation of reader.waiting) effects.push({ type: "ended", operation });
}

/**
 * Lets go of those that everybody is done with. `isAcknowledged`: by a reader that has ended or was
 * parked since.
 */
function settle<I>(
  run: InboxRun<I>,
  entries: readonly InboxEntry<I>[],
  isAcknowledged = false,
): void {
  const { state } = run;
  let items: I[] | undefined;
  for (const entry of entries) {
    if (!isDone(run, entry, isAcknowledged) || !remove(state, entry)) continue;
    hold(state, entry, -1);
    (items ??= []).push(entry.item);
  }
  if (items !== undefined) run.effects.push({ type: "done", items });
}

function isDone<I>(
  { state, facts }: InboxRun<I>,
  entry: InboxEntry<I>,
  isAcknowledged: boolean,
): boolean {
  const { lane, number } = entry;
  if (facts.isDiscarding && (lane === "message" || lane === "aside")) return true;
  let isWanted = false;
  for (const reader of state.readers) {
    if (!wants(reader, entry)) continue;
    isWanted = true;
    if (number >= reader.next || has(reader.open, number) || has(reader.back, number)) return false;
  }
  return lane === "message" ? isWanted || isAcknowledged : entry.isHandled;
}

/** Counts those that wait for readers. */
function hold<I>(
  state: InboxState<I>,
  { lane, isHandled, bytes }: InboxEntry<I>,
  change: 1 | -1,
): void {
  if ((lane === "request" || lane === "reply") && !isHandled) return;
  state.held += change;
  state.bytes += change * bytes;
}

function remove<I>(state: InboxState<I>, { number }: InboxEntry<I>): boolean {
  const at = placeOf(state, number);
  if (state.entries[at]?.number !== number) return false;
  state.entries.splice(at, 1);
  leave(state.ended, number);
  return true;
}

function wants({ all, at }: InboxReaderState, { lane }: InboxEntry<unknown>): boolean {
  return at === "reading" && (all || lane === "message");
}

function readerOf(
  readers: readonly InboxReaderState[],
  number: number,
): InboxReaderState | undefined {
  for (const each of readers) if (each.reader === number) return each;
  return undefined;
}

function entryOf<I>(state: InboxState<I>, number: number): InboxEntry<I> | undefined {
  const entry = state.entries[placeOf(state, number)];
  return entry?.number === number ? entry : undefined;
}

/** Where the first entry of this number, or of a later one, is. */
function placeOf({ entries }: InboxState<unknown>, number: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.number ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

function has(numbers: readonly number[], number: number): boolean {
  return numbers.length > 0 && numbers[placeIn(numbers, number)] === number;
}

function enter(numbers: number[], number: number): void {
  numbers.splice(placeIn(numbers, number), 0, number);
}

/** Returns whether it was there. */
function leave(numbers: number[], number: number): boolean {
  const at = placeIn(numbers, number);
  if (numbers[at] !== number) return false;
  numbers.splice(at, 1);
  return true;
}

/** Where this number is, or would be. */
function placeIn(numbers: readonly number[], number: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
