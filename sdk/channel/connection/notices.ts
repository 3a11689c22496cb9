/**
 * Notices of the relay, in their order: entries of the stream from when it begins, and words, which
 * belong to no stream. They wait here and are given to the reader one at a time.
 */
import { type LinkRun, numberOf, permitOf, windowBytes } from "./link_run.ts";
import type { LinkEvent, LinkState } from "./link_state.ts";
import { arriving } from "./waiters.ts";

/** A window of the smallest entries, and words. A relay may send without end. */
const maxArrived = 65_536;

export function dropEntries<N>(state: LinkState<N>): void {
  state.arrived = state.arrived.filter(({ kind }) => kind === "word");
  state.voided = state.reading;
  state.arrivedBytes = 0;
  state.isOverrun = false;
}

/** Returns whether another stream begins in ours: what follows is none of it. */
export function started<N>(run: LinkRun<N>, tag: number): boolean {
  const { link } = run.state;
  if (!("stream" in link) || link.stream === undefined) return false;
  if (link.stream.tag !== tag) return link.stream.begun;
  link.stream.begun = true;
  if ("timer" in link) link.timer = undefined;
  arriving(run);
  return false;
}

export function delivered<N>(
  { state }: LinkRun<N>,
  { notice }: Extract<LinkEvent<N>, { type: "delivered" }>,
): void {
  const { link } = state;
  if (notice.kind === "entry") {
    if (!("stream" in link) || link.stream?.begun !== true || state.isOverrun) return;
    state.arrivedBytes += notice.bytes;
  }
  if (state.arrived.length >= maxArrived) return;
  state.arrived.push(notice);
  // A relay that sends more than it may: what is left out would be missing in the middle.
  if (state.arrivedBytes > windowBytes) {
    dropEntries(state);
    state.isOverrun = true;
  }
}

/**
 * Whether a notice that was given to the reader, and has waited for its turn, is still to be read.
 * Entries may come again since.
 */
export function isOfStream<N>({ voided }: LinkState<N>, reading: number): boolean {
  return voided !== reading;
}

/**
 * One at a time, and not while the relay is asked: it may show that what has come is not to be
 * read.
 */
export function readNext<N>(run: LinkRun<N>): void {
  const { state, effects } = run;
  const { link } = state;
  if (state.reading !== undefined || link.at === "settling" || link.at === "fetching") return;
  const notice = state.arrived.shift();
  if (notice === undefined) return;
  if (notice.kind === "entry") state.arrivedBytes -= notice.bytes;
  const reading = state.reading = numberOf(run);
  effects.push({ type: "read", reading, notice, permit: permitOf(state) });
}
