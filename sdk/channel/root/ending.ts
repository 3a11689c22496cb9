/** The end of a channel: closed by the program, by a fault, or told by the relay. */
import type { ChannelEndReason } from "../../../proto/mod.ts";
import type { StaticError } from "../../base/errors.ts";
import type { DepartureEnd } from "../departure/departure_state.ts";
import { type RootRun, tell, wake } from "./root_run.ts";
import type { EndedChannel } from "./root_state.ts";

/** How long handlers of requests may run on when the program closes the channel. */
const handlersMs = 5000;
/** How long messages that are under way then are waited for. */
const callsMs = 2000;

/** Messages under way are nearly there; without a relay there is nothing to wait for. */
export function close(run: RootRun): void {
  const { state, facts } = run;
  if (isClosing(run)) return;
  if (facts.session === "ended") return write(run);
  state.root = { at: "ending_handlers", timer: wake(run, handlersMs) };
  tell(run, { to: "self", tell: "end_handlers" });
}

export function endCalls(run: RootRun): void {
  const { state, facts } = run;
  if (facts.session !== "online") return write(run);
  state.root = { at: "ending_calls", timer: wake(run, callsMs) };
  tell(run, { to: "self", tell: "end_calls" });
}

export function write(run: RootRun): void {
  run.state.root = { at: "writing" };
  tell(run, { to: "self", tell: "write" });
}

function isClosing({ state: { root: { at } } }: RootRun): boolean {
  return at === "ending_handlers" || at === "ending_calls" || at === "writing";
}

interface ChannelEnding {
  /** Loops end with it, or quietly without one. */
  readonly error?: StaticError;
  /** Other calls that wait reject with it: the same, or that the channel was left. */
  readonly toOthers?: StaticError;
  readonly how?: DepartureEnd;
}

export function end(
  run: RootRun,
  { error, toOthers = error ?? run.facts.errors.left(), how = "over" }: ChannelEnding = {},
): void {
  const { state } = run;
  const { at } = state.root;
  const over: EndedChannel = { at: "over", error, toOthers };
  state.root = over;
  tell(run, { to: "all", tell: { type: "end", over, how } });
  // The program closes it, and waits for that.
  if (at === "ending_handlers" || at === "ending_calls") tell(run, { to: "self", tell: "write" });
}

/**
 * Nothing more will come. That is the relay's word, so the keys stay: only a commit that we
 * verified, or leaving, erases them. An owner that lapsed reads on, and may begin the channel anew:
 * the relay lets it.
 */
export function ended(run: RootRun, reason: ChannelEndReason | "unknown"): void {
  const { state, facts } = run;
  if (facts.isAskedFor(reason)) return tell(run, { to: "departure", tell: { type: "told" } });
  if (reason === "lapsed") {
    return tell(run, {
      to: "recovery",
      tell: { type: "doubt", by: "lapse", reason: "it was absent for too long" },
    });
  }
  state.said = reason;
  tell(run, { to: "recovery", tell: { type: "ended", isRecovered: reason === "recovered" } });
}
