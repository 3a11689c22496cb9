/**
 * A member that reads the log of a relay that may lie. Reading is the real machine, and so are the
 * counters of senders; keys, disk, inbox and relay are letters. Whatever the relay shows, a message
 * is shown once, or its reader is told; a commit that was not made in our group is not followed;
 * and when the relay is honest again all of the log is read, or the member knows that it is out.
 */
import type { AgentId } from "../../proto/mod.ts";
import type { Move, World } from "./explore.ts";
import {
  Acting,
  type Answer,
  append,
  bob,
  carol,
  type Disk,
  endOf,
  lose,
  presentOf,
  type ReadingBudgets,
  type ReadingSetting,
  type ReadingWorldState,
  restored,
  sendersOf,
  type Shown,
  shownAs,
  start,
  us,
} from "./reading_host.ts";

/** One is not enough to put a member out of step: what cannot be read is fetched once more. */
const enoughLies = 2;
const none: ReadingBudgets = {
  message: 0,
  carol: 0,
  commit: 0,
  removal: 0,
  founding: 0,
  own: 0,
  lost: 0,
  lie: 0,
  busy: 0,
  broken: 0,
  kill: 0,
};

export function readingMember(
  left: Partial<ReadingBudgets>,
  setting: ReadingSetting = {},
): World<ReadingWorldState> {
  const disk: Disk = Object.freeze({
    records: Object.freeze({
      position: { sequence: 0, epoch: 1 },
      landmarks: { ownCommits: [], endings: [] },
      joinedEpoch: 1,
    }),
    groups: Object.freeze([start]),
    done: [],
    // Both have been heard of: the first message of a stranger is where we begin to count.
    senders: new Map([bob, carol].map((sender) => [sender, { since: 0, highest: 0, missing: [] }])),
    open: undefined,
  });
  const state: ReadingWorldState = {
    log: [],
    agent: restored(disk, 0),
    pipe: [],
    nowMs: 0,
    hidden: [],
    lies: setting.isLiar === true ? enoughLies : 0,
    told: [],
    fault: undefined,
    left: { ...none, ...left },
  };
  return {
    start: state,
    left: ({ left }) => Object.values(left),
    view: viewOf,
    moves: (state) => new Moves(state, setting).all(),
    broken: (state) => state.fault ?? brokenBy(state),
    isGood: (state) => isGood(state, setting),
  };
}

/** Time is relative: what is left of the budget of fetches, as of now. */
function viewOf({ agent, nowMs, left: _, ...state }: ReadingWorldState): unknown {
  const { reading: { budget, ...reading }, disk, born, ...rest } = agent;
  const { senders, ...kept } = disk;
  const left = Math.min(8, budget.left + (nowMs - budget.countedAtMs) / 10_000);
  const disks = { disk: { ...kept, senders: [...senders] }, known: [...born.senders] };
  return { ...state, agent: { ...rest, ...disks, reading, fetches: left } };
}

/**
 * A message in front of the position on disk has been shown, or its reader was told; and its group
 * is the log's, unless it was lied to.
 */
function brokenBy(state: ReadingWorldState): string | undefined {
  const { agent: { disk, reading, work, ended }, log, told, hidden, lies } = state;
  const { sequence = 0 } = disk.records.position ?? {};
  for (const { kind, sequence: at } of log) {
    if (kind !== "message" || at > sequence || disk.done.includes(at) || told.includes(at)) {
      continue;
    }
    if (!hidden.includes(at) || isGapSeen(state, at)) {
      return "S6: a message is behind the position, and nobody was told";
    }
  }
  if (reading.reading.at !== "none" && work === undefined) return "L2: an entry waits for nothing";
  if (lies < enoughLies && ended !== undefined && !hasRival(state)) {
    return `S5: ${ended}, after ${lies} lies`;
  }
  if (lies === 0 && told.length > 0) {
    return "S6: a message cannot be read, though the relay is honest";
  }
  const end = endOf(state);
  const { epoch, name } = presentOf(state.agent);
  if (lies === 0 && epoch === end.epoch && name !== end.name) {
    return "S5: the group is not the log's";
  }
  return undefined;
}

/**
 * It has followed a commit that is not in the log: one lie is enough for that, and it must notice.
 */
function hasRival({ agent }: ReadingWorldState): boolean {
  return presentOf(agent).name.includes("r");
}

/** A later message of its sender has arrived, and it does not count as missing. */
function isGapSeen({ agent, log }: ReadingWorldState, sequence: number): boolean {
  const hidden = log.find((each) => each.sequence === sequence);
  if (hidden === undefined) return false;
  const isSeen = agent.arrived.some(({ sender, counter }) =>
    sender === hidden.sender && counter > hidden.counter
  );
  if (!isSeen) return false;
  for (const { sender, messages } of sendersOf(agent).missing()) {
    if (sender === hidden.sender && messages > 0) return false;
  }
  return true;
}

/**
 * All is read, and the program is done with it. By a lie, the member may have seen that it cannot
 * follow.
 */
function isGood(state: ReadingWorldState, { isLiar = false }: ReadingSetting): boolean {
  const { agent, log, lies } = state;
  if (agent.ended !== undefined) return lies > 0;
  if (isLiar) return agent.fetch !== undefined || agent.reading.reading.at === "none";
  const end = endOf(state);
  const { epoch, name } = presentOf(agent);
  const last = log.findLast(({ kind, sender }) => sender !== us || kind === "message")?.sequence ??
    0;
  const isAllRead = (agent.reading.place.received ?? 0) >= last &&
    agent.reading.reading.at === "none" &&
    agent.reading.passedOver === undefined && agent.inbox.length === 0 && !agent.isDirty;
  return isAllRead && epoch === end.epoch && name === end.name;
}

class Moves {
  readonly #state: ReadingWorldState;
  readonly #setting: ReadingSetting;
  readonly #moves: Move<ReadingWorldState>[] = [];

  constructor(state: ReadingWorldState, setting: ReadingSetting) {
    this.#state = state;
    this.#setting = setting;
  }

  all(): readonly Move<ReadingWorldState>[] {
    const { agent } = this.#state;
    if (agent.ended !== undefined) return [];
    this.#writing();
    this.#others();
    if (agent.work !== undefined) this.#working();
    else if (agent.fetch !== undefined) this.#subscribing();
    else this.#delivering();
    if (agent.inbox.length > 0) {
      this.#add(
        "the program is done with a message",
        "program",
        (state) => this.#acting(state).doneWith(),
      );
    }
    if (agent.isDirty) {
      this.#add("what was noted is written", "time", (state) => this.#acting(state).write());
    }
    this.#add("the connection breaks", "fault", (state) => lose(state), "broken");
    this.#add("the process is killed", "fault", (state) => {
      state.agent = restored(state.agent.disk, state.nowMs);
      lose(state);
    }, "kill");
    return this.#moves;
  }

  #acting(state: ReadingWorldState): Acting {
    return new Acting(state, this.#setting);
  }

  #add(
    name: string,
    kind: Move<ReadingWorldState>["kind"],
    act: Move<ReadingWorldState>["act"],
    budget?: keyof ReadingBudgets,
  ): void {
    if (budget === undefined) return void this.#moves.push({ name, kind, act });
    if (this.#state.left[budget] === 0) return;
    const spend = (state: ReadingWorldState): void => {
      state.left[budget]--;
      act(state);
    };
    this.#moves.push({ name, kind, isBudgeted: true, act: spend });
  }

  #writing(): void {
    const counted = (sender: AgentId): number =>
      this.#state.log.filter((each) => each.kind === "message" && each.sender === sender).length +
      1;
    const isMember = !this.#state.log.some(({ removed }) => removed.includes(carol));
    this.#add(
      "bob sends",
      "program",
      (state) => append(state, "message", bob, { counter: counted(bob) }),
      "message",
    );
    if (isMember) {
      this.#add(
        "carol sends",
        "program",
        (state) => append(state, "message", carol, { counter: counted(carol) }),
        "carol",
      );
      this.#add(
        "bob removes carol",
        "program",
        (state) => append(state, "commit", bob, { removed: [carol] }),
        "removal",
      );
    }
    this.#add("bob commits", "program", (state) => append(state, "commit", bob), "commit");
    this.#add(
      "bob begins a generation",
      "program",
      (state) => append(state, "founding", bob),
      "founding",
    );
  }

  /** Our own commits. The relay takes one of our present epoch only. */
  #others(): void {
    const { agent } = this.#state;
    const { name, epoch } = presentOf(agent);
    if (agent.open !== undefined && agent.fetch === undefined) {
      this.#add(
        "the log is asked about our open commit",
        "time",
        (state) => this.#acting(state).settleOwn(),
      );
    }
    if (
      agent.open !== undefined || endOf(this.#state).name !== name ||
      agent.reading.place.received === undefined
    ) {
      return;
    }
    this.#add("the relay takes our commit", "program", (state) => {
      const { next, sequence } = append(state, "commit", us);
      this.#acting(state).enterOwn({ epoch, next }, sequence);
    }, "own");
    this.#add("the relay takes our commit, and its answer is lost", "program", (state) => {
      const { next } = append(state, "commit", us);
      state.agent.open = { epoch, next };
      state.agent.disk = Object.freeze({ ...state.agent.disk, open: state.agent.open });
    }, "lost");
  }

  #subscribing(): void {
    const { fetch } = this.#state.agent;
    const kind = (fetch?.afterMs ?? 0) > 0 ? "time" : "answer";
    this.#add("entries are fetched", kind, (state) => {
      state.nowMs += state.agent.fetch?.afterMs ?? 0;
      this.#acting(state).subscribe();
    });
  }

  #delivering(): void {
    const { pipe, log } = this.#state;
    const [next, second] = pipe;
    this.#rivalling();
    if (next === undefined) {
      // It shows what was hidden.
      if (this.#state.lies > 0) {
        this.#add("the connection ends, as each does at last", "time", (state) => lose(state));
      }
      return;
    }
    const deliver = (lie: Shown["lie"]) => (state: ReadingWorldState): void => {
      const [first] = state.pipe;
      state.pipe = state.pipe.slice(1);
      if (first !== undefined) this.#acting(state).read(shownAs(first, lie));
    };
    if (this.#setting.isLiar === true && next.kind === "commit") {
      return this.#add("the relay changes a commit", "notice", deliver("changed"));
    }
    this.#add("the relay delivers an entry", "notice", deliver(undefined));
    const lies = next.kind === "message"
      ? ["changed", "epoch"] as const
      : ["changed", "unsigned", "epoch", "rival"] as const;
    for (const lie of next.kind === "founding" ? ["forged"] as const : lies) {
      this.#lie(`the relay lies about the ${next.kind}: ${lie}`, deliver(lie));
    }
    this.#lie("the relay withholds an entry", (state) => {
      state.pipe = state.pipe.slice(1);
      this.#hide(state, next.sequence);
    });
    if (second !== undefined) {
      this.#lie("the relay swaps two entries", (state) => {
        state.pipe = [second, next, ...state.pipe.slice(2)];
        this.#hide(state, next.sequence);
      });
    }
    const { received = 0 } = this.#state.agent.reading.place;
    const before = log.find(({ sequence }) => sequence === received);
    if (before !== undefined && before.sender !== us) {
      this.#lie("the relay repeats an entry", (state) => this.#acting(state).read(before));
    }
  }

  /** A commit of the epoch that ours has ended. */
  #rivalling(): void {
    const { log, agent, pipe } = this.#state;
    const ours = log.findLast(({ sender, kind }) => sender === us && kind === "commit");
    if (ours === undefined || ours.sequence <= (agent.reading.place.received ?? 0)) return;
    // In its place: what stands before it was delivered.
    if (pipe.some(({ sequence }) => sequence < ours.sequence)) return;
    this.#lie("the relay shows another commit in the place of ours", (state) => {
      this.#acting(state).read(shownAs({ ...ours, sender: bob }, "rival"));
    });
  }

  #hide(state: ReadingWorldState, sequence: number): void {
    if (!state.hidden.includes(sequence)) {
      state.hidden = [...state.hidden, sequence].sort((a, b) => a - b);
    }
  }

  #lie(name: string, act: (state: ReadingWorldState) => void): void {
    this.#add(name, "fault", (state) => {
      state.lies++;
      act(state);
    }, "lie");
  }

  #working(): void {
    const { work } = this.#state.agent;
    const type = work?.type ?? "";
    const end = (result: Answer) => (state: ReadingWorldState): void =>
      this.#acting(state).end(result);
    if (type === "find") {
      this.#add("the log tells its commit", "answer", end("honest"));
      this.#add("the relay is busy", "fault", end("busy"), "busy");
      this.#lie("the relay hides its commit", end("hidden"));
      this.#lie("the relay names another commit", end("another"));
      return;
    }
    if (type === "explain") {
      this.#add("it is known what became of our commit", "answer", end("honest"));
      this.#add("the relay is busy", "fault", end("busy"), "busy");
      return;
    }
    this.#add(`${type} is over`, "answer", end("honest"));
  }
}
