/** Every transition, one by one. Orders of events are tried in tests/small_worlds. */
import { assertEquals } from "@std/assert";
import type { StaticError } from "../../base/errors.ts";
import { calmPermit } from "../testing/calm_agent.ts";
import { stepRoot } from "./root.ts";
import {
  type DeliveredRejoinRequest,
  newRoot,
  type RootEffect,
  type RootEvent,
  type RootFacts,
  type RootState,
} from "./root_state.ts";

const permit = calmPermit();
const begins = { after: 7, head: 9, isLost: false, log: undefined };
// cast: nobody throws it here
const errorOf = (message: string): StaticError => ({ message }) as StaticError;

const calm: RootFacts = {
  session: "online",
  sessionError: undefined,
  permit,
  isAllRead: true,
  place: "in_step",
  isOnWayBack: false,
  isByWord: false,
  hasFoundings: false,
  stage: "staying",
  generation: 2,
  hasRoom: false,
  isAskedFor: () => false,
  hasLeftFor: () => false,
  isStuckHere: () => false,
  errors: {
    removed: (by) => errorOf(by === undefined ? "removed" : `removed by ${by.sender}`),
    ended: errorOf,
    left: () => errorOf("left"),
    closed: () => errorOf("closed"),
    failed: () => errorOf("failed"),
  },
};

class Channel {
  readonly state: RootState;
  facts: RootFacts;
  effects: readonly RootEffect[] = [];

  constructor(
    facts: Partial<RootFacts> = {},
    state: RootState = { ...newRoot(), root: { at: "behind" } },
  ) {
    this.facts = { ...calm, ...facts };
    this.state = state;
  }

  know(facts: Partial<RootFacts>): this {
    this.facts = { ...this.facts, ...facts };
    return this;
  }

  /** The effects that are kept are those of the last step. */
  step(event: RootEvent): this {
    this.effects = stepRoot(this.state, event, this.facts).effects;
    return this;
  }

  time(): this {
    const { root } = this.state;
    return this.step({ from: "self", type: "time", timer: "timer" in root ? root.timer : 0 });
  }

  get at(): string {
    return this.state.root.at;
  }

  /** Each as "room: what it is told". */
  get told(): string[] {
    return this.effects.map(({ to, tell }) => {
      if (typeof tell === "string") return `${to}: ${tell}`;
      if ("is" in tell) return `${to}: ${tell.is}`;
      return tell.type === "then"
        ? `then: ${"type" in tell.event ? tell.event.type : ""}`
        : `${to}: ${tell.type}`;
    });
  }
}

function read(finding: Extract<RootEvent, { from: "reading" }>["finding"]): RootEvent {
  return { from: "reading", finding };
}

function recovered(finding: Extract<RootEvent, { from: "recovery" }>["finding"]): RootEvent {
  return { from: "recovery", finding };
}

function linked(finding: Extract<RootEvent, { from: "link" }>["finding"]): RootEvent {
  return { from: "link", finding };
}

const look: RootEvent = { from: "self", type: "look" };
const close: RootEvent = { from: "program", type: "close" };
const connection: RootEvent = { from: "session", type: "connection" };

Deno.test("nothing works before it begins, and then it connects", () => {
  const channel = new Channel({}, newRoot());
  assertEquals(channel.step(connection).told, []);
  channel.step({ from: "names", type: "begin" });
  assertEquals(channel.at, "behind");
  assertEquals(channel.told, [
    "members: begun",
    "confirmations: connection",
    "link: connection",
    "outbox: look",
    "commits: look",
    "recovery: connected",
  ]);
  const offline = new Channel({ session: "offline" }, newRoot());
  assertEquals(offline.step({ from: "names", type: "begin" }).told, ["members: begun"]);
});

Deno.test("a session that has ended with an error ends the channel; without one it is as without a connection", () => {
  const ended = new Channel({ session: "ended", sessionError: errorOf("key deleted") }).step(
    connection,
  );
  assertEquals([ended.at, ...ended.told], ["over", "all: end"]);
  assertEquals(
    new Channel({ session: "ended" }).step(connection).told.includes("recovery: connected"),
    false,
  );
});

Deno.test("the program is told once for each time that all is read", () => {
  const channel = new Channel().step(look);
  assertEquals([channel.at, ...channel.told], [
    "ready",
    "program: ready",
    "confirmations: confirm",
  ]);
  assertEquals(channel.step({ from: "group", type: "moved" }).told, ["confirmations: confirm"]);
  assertEquals([channel.know({ isAllRead: false }).step(look).at, channel.told.length], [
    "behind",
    0,
  ]);
  assertEquals(channel.know({ isAllRead: true, isOnWayBack: true }).step(look).at, "behind");
  assertEquals(channel.know({ isOnWayBack: false }).step(look).told[0], "program: ready");
  assertEquals(channel.step(linked({ is: "rests" })).at, "behind");
});

Deno.test("without a permit messages and commits rest", () => {
  const { told } = new Channel({ permit: undefined }).step(linked({ is: "rests" }));
  assertEquals(told, ["outbox: look", "commits: look", "confirmations: connection"]);
});

Deno.test("a connection that was compared: the places first, then what its permit allows", () => {
  if (permit === undefined) throw new TypeError("a calm agent has a permit");
  const cleared = linked({ is: "cleared", permit, begins });
  const channel = new Channel().step(cleared);
  assertEquals(channel.told, [
    "reading: begins",
    "content: connected",
    "position: log",
    "then: permitted",
  ]);
  const lost = linked({ is: "cleared", permit, begins: { ...begins, isLost: true } });
  assertEquals(new Channel().step(lost).told[0], "position: lost");
  assertEquals(channel.step({ from: "self", type: "permitted", permit }).told, [
    "recovery: permit",
    "then: go_on",
  ]);
  const goOn: RootEvent = { from: "self", type: "go_on", permit };
  const works = ["commits: look", "outbox: look", "duties: start", "then: look"];
  assertEquals(channel.step(goOn).told, works);
  assertEquals(channel.step(linked({ is: "resumed", permit })).told, works);
  assertEquals(channel.know({ stage: "leaving" }).step(goOn).told.at(-2), "duties: rest");
  assertEquals(channel.know({ place: "stopped" }).step(goOn).told, []);
  const other = new Channel({ permit: undefined });
  assertEquals(other.step(goOn).told, []);
  assertEquals(other.step({ from: "self", type: "permitted", permit }).told, []);
});

Deno.test("findings of the link go to those that judge them", () => {
  assertEquals(new Channel().step(linked({ is: "subscribed", generation: 3 })).effects, [
    { to: "recovery", tell: { type: "log_at", generation: 3 } },
  ]);
  assertEquals(new Channel().step(linked({ is: "log_lost" })).told, [
    "reading: lost",
    "position: forgotten",
  ]);
  const sent = { sequence: 5, counter: 0, epoch: 0 } as never; // cast: only its place is read
  const doubted = new Channel().step(
    linked({ is: "doubted", doubt: { by: "store", reason: "older", sent } }),
  );
  assertEquals(doubted.effects, [{
    to: "recovery",
    tell: { type: "doubt", by: "store", reason: "older", sent: 5 },
  }]);
});

Deno.test("findings of the reader", () => {
  const channel = new Channel();
  const agentId = "carl" as never; // cast: nobody parses it here
  assertEquals(channel.step(read({ is: "fetch", afterMs: 9 })).effects, [
    { to: "link", tell: { type: "fetch", afterMs: 9 } },
  ]);
  assertEquals(channel.step(read({ is: "hold" })).told, ["link: hold"]);
  assertEquals(channel.step(read({ is: "leaves", agentId, isPresent: true })).told, [
    "commits: left",
    "duties: left",
  ]);
  assertEquals(channel.step(read({ is: "leaves", agentId, isPresent: false })).told, [
    "duties: left",
  ]);
  assertEquals(channel.step(read({ is: "stop_read", isStop: true })).told, ["recovery: stop_read"]);
  assertEquals(channel.step(read({ is: "behind_stop", sequence: 4 })).told, [
    "recovery: behind_stop",
  ]);
  assertEquals(channel.step(read({ is: "out_of_step", reason: "fork", isNamed: true })).effects, [
    { to: "recovery", tell: { type: "out_of_step", reason: "fork", isNamed: true } },
  ]);
});

Deno.test("a place without commits: what works rests, and with a way in of its own nothing is read", () => {
  const stopped = new Channel({ place: "stopped" }).step(recovered({ type: "stopped" }));
  assertEquals(stopped.told, ["outbox: look", "commits: look", "duties: rest"]);
  const outside = new Channel({ place: "outside" });
  assertEquals(outside.step(recovered({ type: "outside", hears: true })).told, stopped.told);
  const deaf = outside.step(recovered({ type: "outside", hears: false }));
  assertEquals(deaf.told, ["link: out_of_step", ...stopped.told]);
});

Deno.test("back in step, duties begin with a permit", () => {
  assertEquals(new Channel().step(recovered({ type: "in_step" })).told, ["duties: start"]);
  assertEquals(new Channel({ permit: undefined }).step(recovered({ type: "in_step" })).told, []);
});

Deno.test("a generation: our own is read again, that of others goes on with its permit", () => {
  const begun = { sequence: 8, epoch: 4 };
  const channel = new Channel().step(recovered({ type: "generation", begun, isOwn: true }));
  const entered = [
    "link: all_arrived",
    "reading: founded",
    "departure: entered",
    "position: flush",
  ];
  assertEquals(channel.told, [...entered, "then: generation_entered"]);
  channel.step({ from: "self", type: "generation_entered", isOwn: true });
  assertEquals(channel.told, ["duties: start", "link: fetch"]);
  channel.step({ from: "self", type: "generation_entered", isOwn: false });
  assertEquals(channel.told[1], "commits: look");
});

Deno.test("another membership: all rooms at once, then the connection from its first question on", () => {
  const replaced = new Channel().step(
    recovered({ type: "replaced", joinedSequence: 8, formerEpoch: 3 }),
  );
  assertEquals(replaced.told, [
    "names: rejoined",
    "members: replaced",
    "commits: replaced",
    "reading: replaced",
    "confirmations: replaced",
    "position: replaced",
    "departure: entered",
  ]);
  const entered = new Channel().step(recovered({ type: "membership" }));
  assertEquals(entered.told, ["outbox: replaced", "then: membership_entered"]);
  entered.step({ from: "self", type: "membership_entered" });
  assertEquals(entered.told.includes("link: connection"), true);
});

Deno.test("a founding is settled, or the log could not be asked", () => {
  const channel = new Channel();
  assertEquals(channel.step(recovered({ type: "founding_settled" })).told, ["departure: founding"]);
  const why = { code: "overloaded" };
  assertEquals(channel.step(recovered({ type: "retry", why })).effects, [
    { to: "departure", tell: { type: "founding", why } },
    { to: "link", tell: { type: "retry" } },
  ]);
  assertEquals(channel.step(recovered({ type: "retry", why: undefined })).told, ["link: retry"]);
  assertEquals(channel.step(recovered({ type: "stepped" })).told, ["departure: look"]);
  assertEquals(channel.step(recovered({ type: "all_arrived" })).told, ["link: all_arrived"]);
});

Deno.test("the stages of leaving: a recover() rejects, our leaf stays at a goodbye, and goes on when it fails", () => {
  const leaves = new Channel({ stage: "leaving" });
  const stage = (before: RootFacts["stage"]): RootEvent => ({
    from: "departure",
    finding: { is: "stage", before },
  });
  assertEquals(leaves.step(stage("staying")).told, [
    "recovery: leaves",
    "commits: look",
    "duties: rest",
  ]);
  leaves.know({ stage: "goodbye" }).step(stage("leaving"));
  assertEquals(leaves.told, ["recovery: halt", "commits: look", "duties: rest"]);
  leaves.know({ stage: "staying" }).step(stage("goodbye"));
  assertEquals(leaves.told, ["recovery: resume", "commits: look", "duties: start"]);
  assertEquals(leaves.step({ from: "departure", finding: { is: "asks_founding" } }).told, [
    "recovery: leaves",
  ]);
});

Deno.test("left: the channel ends quietly, and the names hear whom they answer", () => {
  const gone: RootEvent = {
    from: "departure",
    finding: { is: "ended", how: "gone", operations: [3] },
  };
  const channel = new Channel().step(gone);
  assertEquals([channel.at, ...channel.told], ["over", "all: end", "names: ended"]);
  // A call behind the end.
  assertEquals(channel.step(gone).told, ["names: ended"]);
});

Deno.test("an end by the relay's word: what leaving asks for, a lapse, or the end unless a way back runs", () => {
  const ends = (
    reason: Extract<RootEvent, { from: "relay"; type: "ends" }>["reason"],
  ): RootEvent => {
    return { from: "relay", type: "ends", reason };
  };
  const asked = new Channel({ isAskedFor: (end) => end === "left" });
  assertEquals(asked.step(ends("left")).told, ["departure: told"]);
  assertEquals(new Channel().step(ends("lapsed")).told, ["recovery: doubt"]);
  const channel = new Channel().step(ends("recovered"));
  assertEquals(channel.effects, [{ to: "recovery", tell: { type: "ended", isRecovered: true } }]);
  channel.step(recovered({ type: "over" }));
  const over = { at: "over", error: errorOf("recovered"), toOthers: errorOf("recovered") } as const;
  assertEquals(channel.effects, [{ to: "all", tell: { type: "end", over, how: "over" } }]);
});

Deno.test("a commit that removes us erases everything when recovery says that it counts", () => {
  // cast: of the commit its words need no more
  const body = { sender: "dora", timeMs: 5 } as Extract<
    Parameters<typeof read>[0],
    { is: "removed" }
  >["body"];
  const channel = new Channel().step(read({ is: "removed", body, isAgain: false }));
  assertEquals(channel.told, ["recovery: removed"]);
  channel.step(recovered({ type: "gone" }));
  const error = errorOf("removed by dora");
  assertEquals(channel.effects, [
    { to: "all", tell: { type: "end", over: { at: "over", error, toOthers: error }, how: "gone" } },
  ]);
});

Deno.test("a member asks to be let in: whom it tells something", () => {
  // cast: who it is is all that counts here
  const asker = { agentId: "erin" } as DeliveredRejoinRequest;
  const asks: RootEvent = { from: "relay", type: "asks_back", asker };
  assertEquals(new Channel().step(asks).effects, [{
    to: "duties",
    tell: { type: "asked", asker },
  }]);
  assertEquals(new Channel({ isByWord: true, place: "outside" }).step(asks).told, [
    "link: asked_back",
  ]);
  const stopped = new Channel({ place: "stopped" });
  assertEquals(stopped.step(asks).told, []);
  const ask = (generation: number): RootEffect => {
    return { to: "recovery", tell: { type: "asker", agentId: asker.agentId, generation } };
  };
  assertEquals(stopped.know({ isStuckHere: () => true }).step(asks).effects, [ask(2)]);
  stopped.know({ hasFoundings: true, hasLeftFor: (_, generation) => generation === 3 });
  assertEquals(stopped.step(asks).effects, [ask(3)]);
});

Deno.test("messages that are taken, and a position on disk", () => {
  const taken: RootEvent = { from: "inbox", type: "taken" };
  assertEquals(new Channel().step(taken).told, []);
  const stopped = new Channel({ place: "stopped", hasRoom: true });
  assertEquals(stopped.step(taken).told, ["recovery: all_shown", "reading: room"]);
  assertEquals(new Channel().step({ from: "position", type: "durable" }).told, ["link: durable"]);
});

Deno.test("closing: handlers, then calls, then the disk; each for its time", () => {
  const channel = new Channel().step(close);
  assertEquals([channel.at, ...channel.told], [
    "ending_handlers",
    "self: wake",
    "self: end_handlers",
  ]);
  assertEquals(channel.step(close).told, []);
  assertEquals([channel.step({ from: "self", type: "handlers_ended" }).at, ...channel.told], [
    "ending_calls",
    "self: wake",
    "self: end_calls",
  ]);
  assertEquals([channel.step({ from: "self", type: "calls_ended" }).at, ...channel.told], [
    "writing",
    "self: write",
  ]);
  channel.step({ from: "self", type: "written" });
  const over = { at: "over", error: undefined, toOthers: errorOf("closed") } as const;
  assertEquals(channel.effects, [{ to: "all", tell: { type: "end", over, how: "over" } }]);
  assertEquals(new Channel().step(close).time().time().at, "writing");
  assertEquals(new Channel({ session: "offline" }).step(close).time().at, "writing");
  assertEquals(new Channel({ session: "ended" }).step(close).at, "writing");
});

Deno.test("an end while it closes, and a close behind the end: what is left is written once", () => {
  const fault: RootEvent = { from: "any", type: "fault", fault: "disk" };
  const channel = new Channel().step(close).step(fault);
  assertEquals([channel.at, ...channel.told], ["over", "all: end", "self: write"]);
  assertEquals(channel.step({ from: "self", type: "written" }).told, []);
  const writing = new Channel({ session: "ended" }).step(close).step(fault);
  assertEquals(writing.told, ["all: end"]);
  assertEquals(new Channel().step(fault).step(close).told, ["self: write"]);
  assertEquals(new Channel().step({ from: "names", type: "halt" }).told, ["all: end"]);
});
