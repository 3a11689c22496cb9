/**
 * A channel whose rooms are letters around the real root: each keeps the little of it that others
 * must hear of. Effects behind one that waits for the disk are carried out later, and anything may
 * happen before that.
 */
import type { StaticError } from "../../sdk/mod.ts";
import {
  newRoot,
  type RelayEndReason,
  type RootEffect,
  type RootEvent,
  type RootFacts,
  type RootState,
  stepRoot,
  type ToDuties,
} from "../../sdk/channel/testing/root.ts";
import type { Kind, Move, World } from "./explore.ts";

/** How often each may still happen. */
export interface RootBudgets {
  broken: number;
  /** The session is over. */
  session: number;
  doubt: number;
  /** The link pauses, and asks again. */
  retry: number;
  lost: number;
  commit: number;
  stop: number;
  outside: number;
  said: number;
  leave: number;
  close: number;
  fault: number;
}

type Permit = NonNullable<RootFacts["permit"]>;

export interface RootWorld {
  readonly left: RootBudgets;
  readonly state: RootState;
  session: RootFacts["session"];
  link: { at: "offline" | "settling" | "listening" | "idle" } | {
    at: "reading" | "fetching";
    permit: Permit;
  };
  permits: number;
  /** Commits that the relay has, and this agent has not read. */
  unread: number;
  place: "in_step" | "stopped" | "word" | "commits";
  stage: RootFacts["stage"];
  isHalted: boolean;
  duties: "resting" | "at work";
  outbox: "resting" | "at work";
  commits: "resting" | "at work";
  /** Of what the program was told. `doubtful`: there is more to read. */
  ready: "untold" | "told" | "doubtful";
  /** The last thing that the relay said of an end. */
  said: RelayEndReason;
  close: "none" | "asked" | "handlers" | "calls" | "writing" | "written";
  ended: readonly string[];
  /** Of the names: their call to leave, and its answer. */
  leaving: "none" | "asked" | "answered";
  /** Effects that wait for the disk. */
  waiting: readonly (readonly RootEffect[])[];
  fault: string | undefined;
}

export interface RootSetting {
  readonly left?: Partial<RootBudgets>;
  readonly step?: typeof stepRoot;
}

const none: RootBudgets = {
  broken: 0,
  session: 0,
  doubt: 0,
  retry: 0,
  lost: 0,
  commit: 0,
  stop: 0,
  outside: 0,
  said: 0,
  leave: 0,
  close: 0,
  fault: 0,
};

export function rootOfLetters({ left = {}, step = stepRoot }: RootSetting): World<RootWorld> {
  return {
    start: {
      left: { ...none, ...left },
      state: newRoot(),
      session: "offline",
      link: { at: "offline" },
      permits: 0,
      unread: 0,
      place: "in_step",
      stage: "staying",
      isHalted: false,
      duties: "resting",
      outbox: "resting",
      commits: "resting",
      ready: "untold",
      said: "unknown",
      close: "none",
      ended: [],
      leaving: "none",
      waiting: [],
      fault: undefined,
    },
    moves: (world) => new Channel(world, step).moves(),
    view: ({ left: _, permits: __, ...world }) => world,
    left: ({ left }) => Object.values(left),
    broken: ({ fault }) => fault,
    isGood,
  };
}

/** It is over and all have heard of it, or it works. */
function isGood({ state, session, link, unread, place, stage, ...world }: RootWorld): boolean {
  const { duties, outbox, commits, ready, close, leaving, waiting } = world;
  const isQuiet = waiting.length === 0 && (close === "none" || close === "written") &&
    leaving !== "asked";
  if (!isQuiet) return false;
  if (state.root.at === "over") return true;
  if (session === "ended") return close === "none";
  const isAtWork = duties === "at work" && outbox === "at work" && commits === "at work";
  return link.at === "reading" && unread === 0 && place === "in_step" && stage === "staying" &&
    isAtWork &&
    ready !== "untold";
}

class Channel {
  readonly #world: RootWorld;
  readonly #step: typeof stepRoot;

  constructor(world: RootWorld, step: typeof stepRoot) {
    this.#world = world;
    this.#step = step;
  }

  moves(): Move<RootWorld>[] {
    const moves: Move<RootWorld>[] = [];
    const add = (
      name: string,
      kind: Kind,
      act: (channel: Channel) => void,
      budget?: keyof RootBudgets,
    ): void => {
      if (budget !== undefined && this.#world.left[budget] === 0) return;
      moves.push({
        name,
        kind,
        isBudgeted: budget !== undefined,
        act: (world) => {
          if (budget !== undefined) world.left[budget]--;
          const channel = new Channel(world, this.#step);
          act(channel);
          channel.#check();
        },
      });
    };
    this.#addOutside(add);
    if (this.#world.state.root.at !== "over") this.#addRooms(add);
    return moves;
  }

  /** The program, the session, the disk and the clock. */
  #addOutside(add: Add): void {
    const { state: { root }, session, close, waiting, leaving, stage } = this.#world;
    if (root.at === "made") return add("it begins", "program", (channel) => channel.found(begin));
    for (const at of waiting.keys()) {
      add(`the disk is done, ${at}`, "answer", (channel) => channel.#resume(at));
    }
    if (session === "offline") {
      add("a connection", "notice", (channel) => channel.#connect("online"));
    }
    if (session === "online") {
      add("no connection", "fault", (channel) => channel.#connect("offline"), "broken");
    }
    if (session !== "ended") {
      add("the session ends", "fault", (channel) => channel.#connect("ended"), "session");
    }
    if (close === "none") {
      add("the program closes it", "program", (channel) => channel.#close(), "close");
    }
    if (close === "handlers") {
      add("handlers end", "program", (channel) => channel.#closed("handlers_ended"));
    }
    if (close === "calls") add("calls end", "answer", (channel) => channel.#closed("calls_ended"));
    if (close === "writing") {
      add("all is written", "answer", (channel) => channel.#closed("written"));
    }
    if ("timer" in root) {
      const { timer } = root;
      add("time", "time", (channel) => channel.found({ from: "self", type: "time", timer }));
    }
    const isOpen = root.at !== "over";
    if (leaving === "none" && isOpen) {
      add("the program leaves", "program", (channel) => channel.#leave(), "leave");
    }
    if (stage === "leaving" && isOpen) {
      add("goodbye", "answer", (channel) => channel.#goTo("goodbye"));
      add("it stays", "answer", (channel) => channel.#stay());
    }
    if (stage === "goodbye" && isOpen) {
      add("it has left", "answer", (channel) => channel.#left("gone"));
      add("it stays", "answer", (channel) => channel.#stay());
    }
    add(
      "the disk fails",
      "fault",
      (channel) => channel.found({ from: "any", type: "fault", fault: "disk" }),
      "fault",
    );
  }

  #addRooms(add: Add): void {
    const { link, place, session, unread, isHalted } = this.#world;
    if (session === "online") this.#addWords(add);
    if (link.at === "settling") {
      add("the log is compared", "answer", (channel) => channel.#clear(false));
      add("the log has lost its end", "fault", (channel) => channel.#clear(true), "lost");
      add("a doubt about the log", "fault", (channel) => channel.#doubt(), "doubt");
    }
    if (link.at === "fetching") add("the log goes on", "answer", (channel) => channel.#fetched());
    if (link.at === "reading") {
      add("the link pauses", "fault", (channel) => channel.#loseLink("settling"), "retry");
      if (unread > 0 && place === "in_step") {
        add("a commit is read", "notice", (channel) => channel.#readCommit());
      }
      if (place === "in_step") add("a bad commit", "fault", (channel) => channel.#stop(), "stop");
      if (place === "stopped") {
        add("a generation begins", "notice", (channel) => channel.#generation(false));
        if (!isHalted) {
          add("our generation begins", "answer", (channel) => channel.#generation(true));
        }
      }
    }
    if (place !== "commits") {
      add("our commit leads nowhere", "fault", (channel) => channel.#lost(), "outside");
    }
    const mayComeBack = place !== "in_step" && (place !== "stopped" || link.at === "listening");
    if (mayComeBack && session === "online" && !isHalted) {
      add("a Welcome", "notice", (channel) => channel.#rejoin());
    }
  }

  #addWords(add: Add): void {
    const { link } = this.#world;
    add("a commit in the log", "fault", (channel) => channel.#addCommit(), "commit");
    for (const reason of ["closed", "lapsed", "left"] as const) {
      add(`the relay says: ${reason}`, "fault", (channel) => channel.#said(reason), "said");
    }
    if (link.at === "reading") {
      add("a commit removes us", "fault", (channel) => channel.#removed(), "said");
    }
  }

  // One door

  found(event: RootEvent): void {
    const before = this.#world.state.root.at;
    const { effects } = this.#step(this.#world.state, event, this.#facts);
    if (before === "over") this.#checkOver(effects);
    this.#carryOut(effects);
  }

  #carryOut(effects: readonly RootEffect[]): void {
    for (const [at, effect] of effects.entries()) {
      this.#perform(effect);
      if (!waitsForDisk(effect)) continue;
      this.#world.waiting = [...this.#world.waiting, effects.slice(at + 1)];
      return;
    }
  }

  #resume(at: number): void {
    const effects = this.#world.waiting[at] ?? [];
    this.#world.waiting = this.#world.waiting.filter((_, index) => index !== at);
    // Rooms that have ended do nothing more.
    this.#carryOut(
      this.#isOver ? effects.filter(({ to }) => to === "names" || to === "self") : effects,
    );
  }

  get #isOver(): boolean {
    return this.#world.state.root.at === "over";
  }

  get #permit(): Permit | undefined {
    const { link } = this.#world;
    return "permit" in link ? link.permit : undefined;
  }

  get #facts(): RootFacts {
    const { session, unread, place, stage } = this.#world;
    const isOnWayBack = place === "word" || place === "commits";
    return {
      session,
      sessionError: undefined,
      permit: this.#permit,
      isAllRead: this.#permit !== undefined && unread === 0,
      place: isOnWayBack ? "outside" : place,
      isOnWayBack,
      isByWord: place === "word",
      hasFoundings: false,
      stage,
      generation: 0,
      hasRoom: false,
      isAskedFor: (end) => stage === "goodbye" && end === "left",
      hasLeftFor: () => false,
      isStuckHere: () => false,
      errors: {
        removed: () => errorOf("removed"),
        ended: (said) => errorOf(said),
        left: () => errorOf("left"),
        closed: () => errorOf("closed here"),
        failed: () => errorOf("failed"),
      },
    };
  }

  #perform(effect: RootEffect): void {
    const world = this.#world;
    switch (effect.to) {
      case "link":
        return this.#tellLink(effect.tell);
      case "recovery":
        return this.#tellRecovery(effect.tell);
      case "departure":
        return effect.tell.type === "told" ? this.#left("gone") : undefined;
      case "duties":
        return this.#tellDuties(effect.tell.type);
      case "outbox":
      case "commits":
        // Each looks whether it may work.
        return void (world[effect.to] = this.#mayWork ? "at work" : "resting");
      case "names":
        return effect.tell.type === "ended" && world.leaving === "asked"
          ? void (world.leaving = "answered")
          : undefined;
      case "program":
        return this.#tellReady();
      case "self":
        return this.#tellSelf(effect.tell);
      case "all":
        return this.#end(effect.tell.over.error);
    }
  }

  get #mayWork(): boolean {
    const { place } = this.#world;
    return this.#permit !== undefined && place === "in_step" && !this.#isOver;
  }

  #tellLink(told: Extract<RootEffect, { to: "link" }>["tell"]): void {
    const { session } = this.#world;
    if (told.type === "connection") {
      return this.#loseLink(session === "online" ? "settling" : "offline");
    }
    if (told.type === "out_of_step" && session === "online") return this.#loseLink("idle");
    if (told.type === "fetch" && this.#permit !== undefined) {
      this.#world.link = { at: "fetching", permit: this.#permit };
    }
    if (told.type === "retry" && this.#permit !== undefined) this.#loseLink("settling");
  }

  /** Without a permit a connection has nothing to say, until it is compared (again). */
  #loseLink(at: "offline" | "settling" | "listening" | "idle"): void {
    const had = this.#permit;
    this.#world.link = { at };
    this.#world.ready = "untold";
    if (had !== undefined) this.found({ from: "link", finding: { is: "rests" } });
  }

  #tellRecovery(told: Extract<RootEffect, { to: "recovery" }>["tell"]): void {
    const world = this.#world;
    if ("is" in told) return;
    switch (told.type) {
      case "permit":
        if (world.place === "word") this.#goIn();
        return;
      case "doubt":
        if (world.place === "in_step") this.#goOut("word", told.by !== "lapse");
        return;
      case "out_of_step":
        return world.place === "stopped" ? undefined : this.#goOut("commits", false);
      case "ended":
        return world.place === "in_step" || world.place === "stopped"
          ? this.found({ from: "recovery", finding: { type: "over" } })
          : undefined;
      case "removed":
        return this.found({ from: "recovery", finding: { type: "gone" } });
      case "halt":
        return void (world.isHalted = true);
      case "resume":
        return void (world.isHalted = false);
    }
  }

  #goIn(): void {
    this.#world.place = "in_step";
    this.found({ from: "recovery", finding: { type: "in_step" } });
  }

  #goOut(place: "word" | "commits", hears: boolean): void {
    this.#world.place = place;
    this.found({ from: "recovery", finding: { type: "outside", hears } });
  }

  #tellDuties(told: ToDuties["type"]): void {
    const { place, stage } = this.#world;
    if (told === "rest") this.#world.duties = "resting";
    if (told !== "start") return;
    this.#world.duties = "at work";
    const isDue = this.#permit !== undefined && place === "in_step" && stage === "staying" &&
      !this.#isOver;
    if (!isDue) this.#broken("duties: they begin without a permit in step");
  }

  #tellReady(): void {
    const world = this.#world;
    const { at } = world.state.root;
    if (world.ready === "told") this.#broken("ready: the program is told twice");
    if (!this.#facts.isAllRead || this.#facts.isOnWayBack) {
      this.#broken("ready: the program is told before it is so");
    }
    if (at === "over" || world.close !== "none") {
      this.#broken("ready: the program is told behind the end");
    }
    world.ready = "told";
  }

  #tellSelf(told: Extract<RootEffect, { to: "self" }>["tell"]): void {
    const world = this.#world;
    if (told === "end_handlers") world.close = "handlers";
    else if (told === "end_calls") world.close = "calls";
    else if (told === "write") {
      if (world.close === "writing" || world.close === "written") {
        this.#broken("close: the rest is written twice");
      }
      if (world.close === "none") this.#broken("close: nobody closes it");
      world.close = "writing";
    } else if (told.type === "then") this.found(told.event);
  }

  #end(error: StaticError | undefined): void {
    const world = this.#world;
    world.ended = [...world.ended, textOf(error)];
    if (world.ended.length > 1) this.#broken("end: it ends twice");
    const isSaid = error === undefined || !["closed", "left", "recovered"].includes(textOf(error));
    if (!isSaid && textOf(error) !== world.said) {
      this.#broken("end: of a reason that the relay did not say last");
    }
    if (world.stage === "goodbye" && textOf(error) === "left") {
      this.#broken("end: its own leave is taken for a loss");
    }
    world.duties = world.outbox = world.commits = "resting";
    // As the room of leaving does: those that wait are handed on.
    if (world.leaving === "asked" && world.stage !== "staying") this.#left("over");
    world.stage = "goodbye";
  }

  // The rooms, by themselves

  #connect(session: RootFacts["session"]): void {
    this.#world.session = session;
    this.found({ from: "session", type: "connection" });
  }

  #clear(isLost: boolean): void {
    const world = this.#world;
    const permit = forgedPermit(++world.permits);
    world.link = { at: "reading", permit };
    const begins = { after: 0, head: 0, isLost, log: undefined };
    this.found({ from: "link", finding: { is: "cleared", permit, begins } });
  }

  #fetched(): void {
    const permit = this.#permit;
    if (permit === undefined) return;
    this.#world.link = { at: "reading", permit };
    this.found({ from: "link", finding: { is: "resumed", permit } });
  }

  #doubt(): void {
    this.#world.link = { at: "listening" };
    this.found({ from: "link", finding: { is: "doubted", doubt: { by: "word", reason: "" } } });
  }

  #addCommit(): void {
    this.#world.unread++;
    if (this.#world.ready === "told") this.#world.ready = "doubtful";
  }

  #readCommit(): void {
    this.#world.unread--;
    this.found({ from: "group", type: "moved" });
  }

  #stop(): void {
    this.#world.place = "stopped";
    this.found({ from: "recovery", finding: { type: "stopped" } });
  }

  #generation(isOwn: boolean): void {
    this.#goIn();
    this.found({
      from: "recovery",
      finding: { type: "generation", begun: { sequence: 0, epoch: 0 }, isOwn },
    });
  }

  #lost(): void {
    const finding = { type: "out_of_step", reason: "" } as const;
    this.found({ from: "commits", finding });
  }

  #rejoin(): void {
    this.found({
      from: "recovery",
      finding: { type: "replaced", joinedSequence: 0, formerEpoch: 0 },
    });
    this.#goIn();
    this.found({ from: "recovery", finding: { type: "membership" } });
  }

  #said(reason: "closed" | "lapsed" | "left"): void {
    if (reason !== "lapsed") this.#world.said = reason;
    this.found({ from: "relay", type: "ends", reason });
  }

  #removed(): void {
    // cast: nobody reads who removed us
    const body = {} as Extract<RootEvent, { from: "reading" }>["finding"] & never;
    this.found({ from: "reading", finding: { is: "removed", isAgain: false, body } });
  }

  #close(): void {
    this.#world.close = "asked";
    this.found({ from: "program", type: "close" });
  }

  #closed(type: "handlers_ended" | "calls_ended" | "written"): void {
    if (type === "written") this.#world.close = "written";
    this.found({ from: "self", type });
  }

  #leave(): void {
    this.#world.leaving = "asked";
    this.#goTo("leaving");
  }

  #goTo(stage: RootFacts["stage"]): void {
    const before = this.#world.stage;
    this.#world.stage = stage;
    this.found({ from: "departure", finding: { is: "stage", before } });
  }

  #stay(): void {
    this.#world.leaving = "answered";
    this.#goTo("staying");
  }

  #left(how: "gone" | "over"): void {
    if (this.#world.leaving !== "asked") return;
    this.#world.stage = "goodbye";
    this.found({ from: "departure", finding: { is: "ended", how, operations: [1] } });
  }

  // Promises

  #check(): void {
    const { duties, outbox, commits, stage, place, isHalted } = this.#world;
    if (this.#isOver) return;
    if (outbox === "at work" && !this.#mayWork) {
      this.#broken("work: messages go on without a permit in step");
    }
    if (commits === "at work" && !this.#mayWork) {
      this.#broken("work: commits go on without a permit in step");
    }
    if (duties === "at work" && (place !== "in_step" || stage !== "staying")) {
      this.#broken("duties: they go on out of step, or while it leaves");
    }
    if (isHalted !== (stage === "goodbye")) {
      this.#broken("goodbye: our leaf may change behind it, or stays for ever");
    }
  }

  #checkOver(effects: readonly RootEffect[]): void {
    const isLast = effects.every(({ to }) => to === "self" || to === "names" || to === "all");
    if (!isLast) this.#broken("end: a room is told something behind it");
  }

  #broken(why: string): void {
    this.#world.fault ??= why;
  }
}

type Add = (
  name: string,
  kind: Kind,
  act: (channel: Channel) => void,
  budget?: keyof RootBudgets,
) => void;

const begin: RootEvent = { from: "names", type: "begin" };

/** Effects behind these are carried out when they are. */
function waitsForDisk({ to, tell }: RootEffect): boolean {
  if (typeof tell === "string") return to === "outbox" && tell === "replaced";
  if (!("type" in tell)) return false;
  return to === "position"
    ? tell.type === "flush" || tell.type === "lost"
    : to === "recovery" && tell.type === "permit";
}

/** The type allows it by an untyped value alone: nothing was compared. */
export function forgedPermit(number: number): Permit {
  return JSON.parse(`{"number":${number}}`);
}

/** A letter. */
function errorOf(text: string): StaticError {
  // cast: nobody throws it here
  return { message: text } as StaticError;
}

function textOf(error: StaticError | undefined): string {
  return error?.message ?? "";
}
