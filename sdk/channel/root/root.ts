/**
 * The root of a channel: a machine without waits. It says which rooms hear of a finding, and
 * whether the channel works. An event that no case names changes nothing. A permit is looked at
 * again when it is used: else work goes on with a permit of an earlier connection. Duties begin
 * with a permit in step alone: else a channel that was opened stopped commits, and fails, every 5
 * s. Behind the end nothing is told but to the names: else rooms go on, or a call to leave is never
 * answered. An end while it closes goes on to the disk: else `close()` never ends. The end that
 * leaving asks for is its answer, and no loss. Our leaf stays as it is behind a goodbye.
 */
import type { Permit } from "../connection/permit.ts";
import { close, end, endCalls, ended, write } from "./ending.ts";
import { type RootRun, tell, then } from "./root_run.ts";
import type {
  DeliveredRejoinRequest,
  DepartureFinding,
  LinkFinding,
  RootEvent,
  RootFacts,
  RootReading,
  RootRecovery,
  RootState,
  RootStep,
} from "./root_state.ts";

export function stepRoot(state: RootState, event: RootEvent, facts: RootFacts): RootStep {
  const run: RootRun = { state, facts, effects: [] };
  const { root } = state;
  if (root.at === "over") afterEnd(run, event);
  else if (root.at !== "made" || isOfMade(event)) happen(run, event);
  return run;
}

/** Nothing else is heard before it begins. */
function isOfMade({ from }: RootEvent): boolean {
  return from === "names" || from === "program" || from === "any";
}

/** The rest is written all the same, once. */
function afterEnd(run: RootRun, event: RootEvent): void {
  if (event.from === "program") tell(run, { to: "self", tell: "write" });
  // Calls to leave what is over.
  if (event.from === "departure" && event.finding.is === "ended") left(run, event.finding);
}

function happen(run: RootRun, event: RootEvent): void {
  switch (event.from) {
    case "names":
      return event.type === "begin" ? begin(run) : end(run);
    case "session":
      return connection(run);
    case "program":
      return close(run);
    case "self":
      return goneOn(run, event);
    case "any":
      return end(run, { error: run.facts.errors.failed(event.fault) });
    case "relay":
      return event.type === "ends" ? ended(run, event.reason) : askedBack(run, event.asker);
    case "link":
      return linked(run, event.finding);
    case "reading":
      return read(run, event.finding);
    case "recovery":
      return recovered(run, event.finding);
    case "departure":
      return departed(run, event.finding);
    case "commits":
      return tell(run, { to: "recovery", tell: event.finding });
    case "group":
      return look(run);
    case "inbox":
      return taken(run);
    case "position":
      return tell(run, { to: "link", tell: { type: "durable" } });
  }
}

// The channel as a whole

function begin(run: RootRun): void {
  const { state, facts } = run;
  state.root = { at: "behind" };
  tell(run, { to: "members", tell: "begun" });
  if (facts.session !== "offline") connection(run);
}

/** The session is online (again), or was lost. */
function connection(run: RootRun): void {
  const { session, sessionError } = run.facts;
  const isOnline = session === "online";
  if (session === "ended" && sessionError !== undefined) return end(run, { error: sessionError });
  fallBehind(run);
  tell(run, { to: "confirmations", tell: { type: "connection", isOnline } });
  tell(run, { to: "link", tell: { type: "connection", isOnline } });
  suspend(run);
  if (isOnline) tell(run, { to: "recovery", tell: { type: "connected" } });
}

/** No permit, or another place: what waits for them rests. */
function suspend(run: RootRun): void {
  tell(run, { to: "outbox", tell: "look" });
  tell(run, { to: "commits", tell: "look" });
}

function fallBehind({ state }: RootRun): void {
  if (state.root.at === "ready") state.root = { at: "behind" };
}

/** The program is told once for each time that it becomes so. Not while it closes the channel. */
function look(run: RootRun): void {
  const { state, facts: { isAllRead, isOnWayBack } } = run;
  const { at } = state.root;
  if (at !== "behind" && at !== "ready") return;
  if (!isAllRead || isOnWayBack) return fallBehind(run);
  state.root = { at: "ready" };
  if (at === "behind") tell(run, { to: "program", tell: "ready" });
  tell(run, { to: "confirmations", tell: { type: "confirm" } });
}

/**
 * From here on the channel works as before. With a permit of a connection that is over it does not:
 * the next connection's does.
 */
function goOn(run: RootRun, permit: Permit | undefined): void {
  const { facts } = run;
  if (permit === undefined || facts.permit?.number !== permit.number || facts.place !== "in_step") {
    return;
  }
  tell(run, { to: "commits", tell: "look" });
  tell(run, { to: "outbox", tell: "look" });
  follow(run);
  then(run, { from: "self", type: "look" });
}

/**
 * Upkeep for the others rests while this agent cannot commit, or leaves. It is begun with a permit.
 */
function follow(run: RootRun): void {
  const { place, stage, permit } = run.facts;
  if (place !== "in_step" || stage !== "staying") {
    tell(run, { to: "duties", tell: { type: "rest" } });
  } else if (permit !== undefined) tell(run, { to: "duties", tell: { type: "start" } });
}

function goneOn(run: RootRun, event: Extract<RootEvent, { from: "self" }>): void {
  const { root } = run.state;
  switch (event.type) {
    case "permitted":
      // One that is over meanwhile says nothing any more.
      if (run.facts.permit?.number !== event.permit.number) return;
      // Unread messages before a stop come first. If nothing is left there, a founding of ours that
      // is in the log does.
      tell(run, { to: "recovery", tell: { type: "permit" } });
      return then(run, { from: "self", type: "go_on", permit: event.permit });
    case "go_on":
      return goOn(run, event.permit);
    case "look":
      return look(run);
    case "generation_entered":
      follow(run);
      return event.isOwn
        ? tell(run, { to: "link", tell: { type: "fetch", afterMs: 0 } })
        : goOn(run, run.facts.permit);
    case "membership_entered":
      follow(run);
      return connection(run);
    case "handlers_ended":
      return root.at === "ending_handlers" ? endCalls(run) : undefined;
    case "calls_ended":
      return root.at === "ending_calls" ? write(run) : undefined;
    case "written":
      return end(run, { toOthers: run.facts.errors.closed() });
    case "time":
      if (!("timer" in root) || root.timer !== event.timer) return;
      return root.at === "ending_handlers" ? endCalls(run) : write(run);
  }
}

// Findings of the rooms

function linked(run: RootRun, finding: LinkFinding): void {
  switch (finding.is) {
    case "subscribed":
      return tell(run, {
        to: "recovery",
        tell: { type: "log_at", generation: finding.generation },
      });
    case "cleared": {
      const { permit, begins: { after, head, isLost, log } } = finding;
      if (isLost) tell(run, { to: "position", tell: { type: "lost", after } });
      tell(run, { to: "reading", tell: { type: "begins", after, head } });
      tell(run, { to: "content", tell: { type: "connected", head } });
      tell(run, { to: "position", tell: { type: "log", log } });
      return then(run, { from: "self", type: "permitted", permit });
    }
    case "resumed":
      return goOn(run, finding.permit);
    case "rests":
      fallBehind(run);
      suspend(run);
      return tell(run, {
        to: "confirmations",
        tell: { type: "connection", isOnline: run.facts.session === "online" },
      });
    case "log_lost":
      tell(run, { to: "reading", tell: { type: "lost" } });
      return tell(run, { to: "position", tell: { type: "forgotten" } });
    case "doubted": {
      const { by, reason, sent } = finding.doubt;
      const doubt = {
        type: "doubt",
        by,
        reason,
        ...(sent !== undefined && { sent: sent.sequence }),
      } as const;
      return tell(run, { to: "recovery", tell: doubt });
    }
  }
}

function read(run: RootRun, finding: RootReading): void {
  switch (finding.is) {
    case "fetch":
      return tell(run, { to: "link", tell: { type: "fetch", afterMs: finding.afterMs } });
    case "hold":
      return tell(run, { to: "link", tell: { type: "hold" } });
    case "leaves":
      if (finding.isPresent) tell(run, { to: "commits", tell: "left" });
      return tell(run, { to: "duties", tell: { type: "left", agentId: finding.agentId } });
    case "removed": {
      run.state.removal = finding.body;
      const reason = "it was removed and added again";
      return tell(run, {
        to: "recovery",
        tell: { type: "removed", isAgain: finding.isAgain, reason },
      });
    }
    case "stop_read":
      return tell(run, { to: "recovery", tell: { type: "stop_read", isStop: finding.isStop } });
    case "out_of_step": {
      const { reason, isNamed } = finding;
      const outside = {
        type: "out_of_step",
        reason,
        ...(isNamed !== undefined && { isNamed }),
      } as const;
      return tell(run, { to: "recovery", tell: outside });
    }
    case "stopped":
    case "behind_stop":
      return tell(run, { to: "recovery", tell: finding });
  }
}

function recovered(run: RootRun, finding: RootRecovery): void {
  const { state, facts } = run;
  switch (finding.type) {
    case "in_step":
      return follow(run);
    case "stopped":
      suspend(run);
      return follow(run);
    case "outside":
      // Nothing is read before we are in again.
      if (!finding.hears) tell(run, { to: "link", tell: { type: "out_of_step" } });
      suspend(run);
      return follow(run);
    case "all_arrived":
    case "hold":
      return tell(run, { to: "link", tell: { type: finding.type } });
    case "founding_settled":
      return tell(run, { to: "departure", tell: { type: "founding", why: undefined } });
    case "retry":
      if (finding.why !== undefined) {
        tell(run, { to: "departure", tell: { type: "founding", why: finding.why } });
      }
      return tell(run, { to: "link", tell: { type: "retry" } });
    case "generation":
      return generation(run, finding);
    case "replaced":
      return replaced(run, finding);
    case "membership":
      tell(run, { to: "outbox", tell: "replaced" });
      return then(run, { from: "self", type: "membership_entered" });
    case "stepped":
      return tell(run, { to: "departure", tell: { type: "look" } });
    case "gone":
      return end(run, { error: facts.errors.removed(state.removal), how: "gone" });
    case "over":
      return end(run, { error: facts.errors.ended(state.said) });
  }
}

/** Entries from before our own may still be under way: they are none of the new one. */
function generation(
  run: RootRun,
  { begun, isOwn }: Extract<RootRecovery, { type: "generation" }>,
): void {
  tell(run, { to: "link", tell: { type: "all_arrived" } });
  tell(run, { to: "reading", tell: { type: "founded", begun } });
  tell(run, { to: "departure", tell: { type: "entered" } });
  tell(run, { to: "position", tell: { type: "flush" } });
  then(run, { from: "self", type: "generation_entered", isOwn });
}

/**
 * No room ever sees another's old state: between the write and the last of these nothing else runs.
 */
function replaced(
  run: RootRun,
  { joinedSequence, formerEpoch }: Extract<RootRecovery, { type: "replaced" }>,
): void {
  tell(run, { to: "names", tell: { type: "rejoined" } });
  tell(run, { to: "members", tell: "replaced" });
  tell(run, { to: "commits", tell: "replaced" });
  tell(run, { to: "reading", tell: { type: "replaced", joinedSequence } });
  tell(run, { to: "confirmations", tell: { type: "replaced", formerEpoch } });
  tell(run, { to: "position", tell: { type: "replaced", joinedSequence } });
  tell(run, { to: "departure", tell: { type: "entered" } });
}

function departed(run: RootRun, finding: DepartureFinding): void {
  const { facts: { stage } } = run;
  switch (finding.is) {
    case "asks_founding":
      return tell(run, { to: "recovery", tell: { type: "leaves" } });
    case "stage":
      // A `recover()` that has sent nothing rejects.
      if (finding.before === "staying") tell(run, { to: "recovery", tell: { type: "leaves" } });
      if (stage === "goodbye") tell(run, { to: "recovery", tell: { type: "halt" } });
      else if (finding.before === "goodbye") {
        tell(run, { to: "recovery", tell: { type: "resume" } });
      }
      tell(run, { to: "commits", tell: "look" });
      return follow(run);
    case "ended":
      end(run);
      return left(run, finding);
  }
}

function left(run: RootRun, { how, operations }: Extract<DepartureFinding, { is: "ended" }>): void {
  tell(run, { to: "names", tell: { type: "ended", how, operations } });
}

/** The program has taken messages. */
function taken(run: RootRun): void {
  const { place, hasRoom } = run.facts;
  if (place === "stopped") tell(run, { to: "recovery", tell: { type: "all_shown" } });
  if (hasRoom) tell(run, { to: "reading", tell: { type: "room" } });
}

function askedBack(run: RootRun, asker: DeliveredRejoinRequest): void {
  const { hasFoundings, hasLeftFor, isStuckHere, isByWord, place, generation } = run.facts;
  const { agentId } = asker;
  const ask = (into: number): void =>
    tell(run, { to: "recovery", tell: { type: "asker", agentId, generation: into } });
  // Nobody else can tell us that the relay took a generation of ours: it is not delivered to us.
  if (hasFoundings && hasLeftFor(asker, generation + 1)) return ask(generation + 1);
  if (place === "stopped") return isStuckHere(asker) ? ask(generation) : undefined;
  // The relay takes back what we came back by only while its agent asks for it: now it may.
  if (isByWord) return tell(run, { to: "link", tell: { type: "asked_back" } });
  tell(run, { to: "duties", tell: { type: "asked", asker } });
}
