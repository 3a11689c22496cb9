/**
 * An agent, a relay that hands out its KeyPackages, and agents that claim them: letters around the
 * real step. The process may die, the relay may restart or lie, and the disk may be an older one.
 */
import {
  type KeyPackageEffect,
  type KeyPackageEvent,
  type KeyPackageState,
  type KnownKeyPackage,
  newKeyPackages,
  stepKeyPackages,
} from "../../sdk/channel/testing/key_packages.ts";
import type { Kind, Move, World } from "./explore.ts";

/** How often each may still happen. */
export interface KeyPackageBudgets {
  broken: number;
  crash: number;
  /** The relay begins anew with nothing. */
  restart: number;
  /** Somebody adds the agent. */
  claim: number;
  /** The relay asks for more than it has room for. */
  lie: number;
  /** The directory is an older one. */
  setBack: number;
  /** Eight days, or thirty-one. */
  week: number;
  month: number;
  program: number;
}

type Upload = Extract<KeyPackageEffect, { type: "upload" }>["upload"];
type Doing = Exclude<KeyPackageEffect, { type: "answer" }>;

export interface KeyPackageWorld {
  readonly left: KeyPackageBudgets;
  state: KeyPackageState;
  disk: readonly KnownKeyPackage[];
  /** Of the process: the last resort of a refill, and its pool. */
  made: readonly string[];
  doing: readonly Doing[];
  isOnline: boolean;
  relay: { readonly pool: readonly string[]; readonly lastResort: string | undefined };
  /** Claimed ones, on their way to the agent in a Welcome. */
  welcomes: readonly string[];
  /** Those that the agent may have lost: they expired, or an older disk does not have them. */
  excused: readonly string[];
  program: "none" | "asked" | "answered";
  /** The relay has asked for more than it has room for: a pool may be too large. */
  hasLied: boolean;
  nowDay: number;
  names: number;
  fault: string | undefined;
}

export interface KeyPackageSetting {
  readonly left?: Partial<KeyPackageBudgets>;
  readonly step?: typeof stepKeyPackages;
}

const dayMs = 24 * 60 * 60 * 1000;
/** So many the relay takes. */
const room = 2;
const none: KeyPackageBudgets = {
  broken: 0,
  crash: 0,
  restart: 0,
  claim: 0,
  lie: 0,
  setBack: 0,
  week: 0,
  month: 0,
  program: 0,
};

export function keyPackagesOfAgent(
  { left = {}, step = stepKeyPackages }: KeyPackageSetting,
): World<KeyPackageWorld> {
  return {
    start: {
      left: { ...none, ...left },
      state: newKeyPackages(),
      disk: [],
      made: [],
      doing: [],
      isOnline: false,
      relay: { pool: [], lastResort: undefined },
      welcomes: [],
      excused: [],
      program: "none",
      hasLied: false,
      nowDay: 0,
      names: 0,
      fault: undefined,
    },
    moves: (world) => new Agent(world, step).moves(),
    view: ({ left: _, ...world }) => world,
    left: ({ left }) => Object.values(left),
    broken: ({ fault }) => fault,
    isGood,
  };
}

/** The relay has enough of those that are here, and a last resort that nobody has used. */
function isGood(
  { state, doing, isOnline, relay: { pool, lastResort }, disk, program, welcomes }: KeyPackageWorld,
): boolean {
  const isQuiet = state.refill.at === "resting" && doing.length === 0 && program !== "asked" &&
    welcomes.length === 0;
  const last = disk.find(({ id }) => id === lastResort);
  const isHere = pool.every((id) => disk.some((each) => each.id === id));
  return isQuiet && isOnline && isHere && 2 * pool.length >= room && last !== undefined &&
    !last.isUsed;
}

class Agent {
  readonly #world: KeyPackageWorld;
  readonly #step: typeof stepKeyPackages;

  constructor(world: KeyPackageWorld, step: typeof stepKeyPackages) {
    this.#world = world;
    this.#step = step;
  }

  moves(): Move<KeyPackageWorld>[] {
    const moves: Move<KeyPackageWorld>[] = [];
    const add = (
      name: string,
      kind: Kind,
      act: (agent: Agent) => void,
      budget?: keyof KeyPackageBudgets,
    ): void => {
      if (budget !== undefined && this.#world.left[budget] === 0) return;
      moves.push({
        name,
        kind,
        isBudgeted: budget !== undefined,
        act: (world) => {
          if (budget !== undefined) world.left[budget]--;
          const agent = new Agent(world, this.#step);
          act(agent);
          agent.#check();
        },
      });
    };
    const { doing, isOnline, relay, welcomes, program } = this.#world;
    for (const at of doing.keys()) {
      add(`done: ${doing[at]?.type}`, "answer", (agent) => agent.#done(at));
    }
    if (isOnline) {
      add("no connection", "fault", (agent) => agent.#break(false), "broken");
      add("no connection, behind an upload", "fault", (agent) => agent.#break(true), "broken");
      add("the relay begins anew", "fault", (agent) => agent.#restart(), "restart");
      add("the relay lies", "fault", (agent) => agent.#lie(), "lie");
    } else add("a connection", "notice", (agent) => agent.#connect());
    for (const isWritten of [false, true]) {
      add(`a crash, ${isWritten}`, "fault", (agent) => agent.#crash(isWritten), "crash");
    }
    add("an older directory", "fault", (agent) => agent.#setBack(), "setBack");
    if (relay.pool.length > 0 || relay.lastResort !== undefined) {
      add("a claim", "fault", (agent) => agent.#claim(), "claim");
    }
    if (welcomes.length > 0) add("a Welcome", "notice", (agent) => agent.#enter());
    if (!isOnline) {
      add("a week", "time", (agent) => agent.#wait(8), "week");
      add("a month", "time", (agent) => agent.#wait(31), "month");
    }
    if (program === "none" && isOnline) {
      add("the program replaces all", "program", (agent) => agent.#replace(), "program");
    }
    return moves;
  }

  // One door

  #found(event: KeyPackageEvent): void {
    const { effects } = this.#step(this.#world.state, event, {
      nowMs: this.#world.nowDay * dayMs,
      isOnline: this.#world.isOnline,
    });
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: KeyPackageEffect): void {
    const world = this.#world;
    if (effect.type === "answer") return void (world.program = "answered");
    world.doing = [...world.doing, effect];
    if (effect.type === "look") world.made = [];
    if (effect.type === "upload") this.#checkUpload(effect.upload);
    if (effect.type === "write") this.#checkForgotten(effect.forget);
  }

  /** It ends well. */
  #done(at: number): void {
    const world = this.#world;
    const done = world.doing[at];
    if (done === undefined) return;
    world.doing = world.doing.filter((_, index) => index !== at);
    const { job } = done;
    if (done.type === "look") return this.#found({ type: "looked", job, known: world.disk });
    if (done.type === "write") {
      this.#write(done);
      return this.#found({ type: "written", job, made: world.made });
    }
    if (done.type === "note") {
      this.#note(done.there);
      return this.#found({ type: "noted", job });
    }
    if (!world.isOnline) return this.#found({ type: "failed", job, error: "offline" });
    this.#take(done.upload);
    world.made = [];
    this.#found({ type: "uploaded", job });
  }

  #write({ pool, lastResort, forget }: Extract<Doing, { type: "write" }>): void {
    const world = this.#world;
    const common = {
      madeAtMs: world.nowDay * dayMs,
      isUsed: false,
      isOlder: false,
      isThere: false,
    };
    const made: KnownKeyPackage[] = [];
    for (let i = 0; i < pool; i++) {
      made.push({ ...common, id: `p${++world.names}`, purpose: "pool" });
    }
    if (lastResort) made.push({ ...common, id: `l${++world.names}`, purpose: "last_resort" });
    world.disk = [...world.disk.filter(({ id }) => !forget.includes(id)), ...made];
    world.made = made.map(({ id }) => id);
  }

  #take({ lastResort, replace }: Upload): void {
    const { made, relay } = this.#world;
    const pool = made.filter((id) => id.startsWith("p"));
    const last = lastResort?.is === "known" ? lastResort.id : made.find((id) => id.startsWith("l"));
    this.#world.relay = {
      pool: replace ? pool : [...relay.pool, ...pool],
      lastResort: last ?? (replace ? undefined : relay.lastResort),
    };
  }

  #note(there: readonly string[]): void {
    this.#world.disk = this.#world.disk.map((each) => ({
      ...each,
      isThere: there.includes(each.id),
    }));
  }

  #connect(): void {
    const { relay: { pool, lastResort } } = this.#world;
    this.#world.isOnline = true;
    const cause = {
      of: "connection",
      held: pool.length,
      hasLastResort: lastResort !== undefined,
      room,
    } as const;
    this.#found({ type: "asked", cause });
  }

  /** `isTaken`: the relay has what was under way, and its reply is lost. */
  #break(isTaken: boolean): void {
    const world = this.#world;
    const under = world.doing.filter((each) => each.type === "upload");
    if (isTaken) { for (const { upload } of under) this.#take(upload); }
    world.isOnline = false;
    world.doing = world.doing.filter((each) => each.type !== "upload");
    world.made = [];
    for (const { job } of under) this.#found({ type: "failed", job, error: "offline" });
  }

  #restart(): void {
    this.#world.relay = { pool: [], lastResort: undefined };
    this.#break(false);
  }

  /** Whatever was under way has happened, or not. */
  #crash(isWritten: boolean): void {
    const world = this.#world;
    for (const each of isWritten ? world.doing : []) {
      if (each.type === "write") this.#write(each);
      if (each.type === "note") this.#note(each.there);
      if (each.type === "upload" && world.isOnline) this.#take(each.upload);
    }
    world.state = newKeyPackages();
    world.doing = [];
    world.made = [];
    world.isOnline = false;
    if (world.program === "asked") world.program = "answered";
  }

  #setBack(): void {
    this.#crash(false);
    this.#excuse(this.#world.disk);
    this.#world.disk = [];
  }

  #excuse(lost: readonly KnownKeyPackage[]): void {
    this.#world.excused = [...this.#world.excused, ...lost.map(({ id }) => id)];
  }

  #claim(): void {
    const world = this.#world;
    const [claimed = world.relay.lastResort, ...pool] = world.relay.pool;
    if (claimed === undefined) return;
    world.relay = { ...world.relay, pool };
    world.welcomes = [...world.welcomes, claimed];
    this.#remind(pool.length, room - pool.length);
  }

  #lie(): void {
    this.#world.hasLied = true;
    this.#remind(0, room);
  }

  #remind(held: number, more: number): void {
    const { isOnline, relay: { lastResort } } = this.#world;
    if (!isOnline) return;
    const cause = {
      of: "reminder",
      held,
      hasLastResort: lastResort !== undefined,
      room: more,
    } as const;
    this.#found({ type: "asked", cause });
  }

  /** In one write with the membership. */
  #enter(): void {
    const world = this.#world;
    const [id, ...rest] = world.welcomes;
    world.welcomes = rest;
    const key = world.disk.find((each) => each.id === id);
    if (id === undefined) return;
    if (key === undefined && !world.excused.includes(id)) {
      this.#broken("keys: those of a Welcome are gone");
    }
    if (key === undefined) return;
    const others = world.disk.filter((each) => each !== key);
    world.disk = key.purpose === "last_resort" ? [...others, { ...key, isUsed: true }] : others;
    this.#excuse(key.purpose === "last_resort" ? [] : [key]);
    this.#found({ type: "asked", cause: { of: "use" } });
  }

  #wait(days: number): void {
    this.#world.nowDay += days;
  }

  #replace(): void {
    this.#world.program = "asked";
    this.#found({ type: "asked", cause: { of: "program", operation: 1 } });
  }

  // Promises

  #checkUpload({ lastResort, pool }: Upload): void {
    const { disk, made } = this.#world;
    const isMade = made.filter((id) => id.startsWith("p")).length === pool;
    const last = lastResort?.is === "known" ? lastResort.id : made.find((id) => id.startsWith("l"));
    const known = disk.find(({ id }) => id === last);
    if (!isMade || (lastResort !== undefined && known === undefined)) {
      this.#broken("upload: what is not on disk leaves the process");
    }
    if (known?.isUsed === true) this.#broken("upload: a last resort that was used");
  }

  #checkForgotten(forget: readonly string[]): void {
    const { disk, nowDay, relay: { lastResort } } = this.#world;
    const gone = disk.filter(({ id }) => forget.includes(id));
    const good = gone.filter(({ madeAtMs }) => nowDay * dayMs - madeAtMs < 30 * dayMs);
    const isSucceeded = ({ isUsed, id, madeAtMs }: KnownKeyPackage): boolean =>
      isUsed && id !== lastResort && nowDay * dayMs - madeAtMs > 7 * dayMs;
    if (!good.every(isSucceeded)) this.#broken("keys: good ones are deleted");
    this.#excuse(gone);
  }

  #check(): void {
    const { doing, relay: { pool }, hasLied } = this.#world;
    if (doing.filter(({ type }) => type === "upload").length > 1) {
      this.#broken("refills: two at once");
    }
    if (pool.length > room && !hasLied) this.#broken("refills: more than the relay takes");
    if (pool.length > 3 * room) this.#broken("refills: without end");
  }

  #broken(why: string): void {
    this.#world.fault ??= why;
  }
}
