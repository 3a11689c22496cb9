/**
 * An agent that verifies statements of members when somebody asks, beside one that is told the same
 * and verifies each when it comes. The second one is the real machine too, and nothing waits in it.
 * Their accusations and answers must be alike, whatever the relay makes up and repeats, also after
 * the process has died. A signature is one byte: 1 is right.
 */
import type { AgentId } from "../../proto/mod.ts";
import {
  claimsBehind,
  type ConfirmationEvent,
  type ConfirmationFacts,
  type ConfirmationRecords,
  type ConfirmationState,
  type EpochClaim,
  heardBy,
  lastConfirmed,
  lastHeardMs,
  restoreConfirmations,
  stepConfirmations,
} from "../../sdk/channel/testing/confirmations.ts";
import type { Move, World } from "./explore.ts";

export { stepConfirmations };

export type Speaker = "bob" | "carol" | "dave";

/** Somebody's word, or what the relay says is one. */
export interface LetterWord {
  readonly by: Speaker;
  readonly epoch: number;
  /** In place of the epoch's own, which is its number. */
  readonly state?: number;
  readonly isForged?: boolean;
  /** How often it is told. */
  readonly times?: number;
}

interface ClaimBudgets {
  /** The group moves on. */
  enter: number;
  /** A message of a member opens. */
  speak: number;
  /** So much time that notes are written. */
  minute: number;
  /** So much that what is verified is old. */
  days: number;
  /** The process dies, and starts again. */
  crash: number;
  /** The agent joins anew, in another group of the present epoch. */
  rejoin: number;
}

/** Rules that are replaced to see a fault found. */
export interface ClaimRules {
  readonly step: typeof stepConfirmations;
  /** Whether a claim counts when it is looked at. */
  readonly isSigned: (claim: EpochClaim) => boolean;
  /** Of what is on disk. */
  readonly restored: (records: ConfirmationRecords) => ConfirmationRecords;
}

export interface ClaimSetting {
  readonly words: readonly LetterWord[];
  readonly left?: Partial<ClaimBudgets>;
  readonly rules?: Partial<ClaimRules>;
  /** Nobody was ever heard of; else all were, just now. */
  readonly isFirst?: boolean;
}

interface Listener {
  state: ConfirmationState;
  disk: ConfirmationRecords;
  /** Kind and agent of each report. */
  accused: readonly string[];
}

interface ClaimsState {
  readonly left: ClaimBudgets;
  readonly told: number[];
  readonly lazy: Listener;
  readonly eager: Listener;
  nowMs: number;
  epoch: number;
  /** Of our group's states: another one after we joined anew. */
  group: number;
  /** The epoch of that. Nothing is concluded from earlier ones, which the two may know or not. */
  rejoined: number;
  /** The process died with claims that waited, or some waited when we joined anew. */
  hasLost: boolean;
}

// cast: nobody reads more than their names
const self = "self" as AgentId;
const speakers = ["bob", "carol", "dave"] as const;
const idOf = (by: Speaker): AgentId => by as unknown as AgentId; // cast: as above
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const firstEpoch = 7;
const firstMs = 100 * dayMs;
const none: ClaimBudgets = { enter: 0, speak: 0, minute: 0, days: 0, crash: 0, rejoin: 0 };
export const signedByLetter = ({ signature }: EpochClaim): boolean => signature[0] === 1;
const honest: ClaimRules = {
  step: stepConfirmations,
  isSigned: signedByLetter,
  restored: (records) => records,
};

const stateOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

export function waitingClaims(setting: ClaimSetting): World<ClaimsState> {
  const rules = { ...honest, ...setting.rules };
  const host = new Listening(setting, rules);
  return {
    start: host.start(),
    moves: (state) => host.moves(state),
    view,
    left: ({ left, told }) => [...Object.values(left), ...told],
    broken: (state) => host.broken(state),
    isGood: () => true,
  };
}

class Listening {
  readonly #words: readonly LetterWord[];
  readonly #rules: ClaimRules;
  readonly #setting: ClaimSetting;

  constructor(setting: ClaimSetting, rules: ClaimRules) {
    this.#setting = setting;
    this.#words = setting.words;
    this.#rules = rules;
  }

  start(): ClaimsState {
    const heardMs = this.#setting.isFirst === true ? undefined : firstMs;
    const heard = new Map(
      speakers.map((by) => [idOf(by), { confirmed: undefined, said: undefined, heardMs }]),
    );
    const disk = { own: undefined, states: new Map(), heard, liars: new Set<AgentId>() };
    const listener = (): Listener => {
      const records = { ...disk, begun: undefined };
      return { state: restoreConfirmations(records, -1), disk: records, accused: [] };
    };
    const state: ClaimsState = {
      left: { ...none, ...this.#setting.left },
      told: this.#words.map(({ times = 1 }) => times),
      lazy: listener(),
      eager: listener(),
      nowMs: firstMs,
      epoch: firstEpoch - 1,
      group: 0,
      rejoined: 0,
      hasLost: false,
    };
    this.#enter(state);
    return Object.freeze(state);
  }

  moves(state: ClaimsState): readonly Move<ClaimsState>[] {
    const moves: Move<ClaimsState>[] = [];
    const add = (
      name: string,
      act: (after: ClaimsState) => void,
      budget?: keyof ClaimBudgets,
    ): void => {
      if (budget !== undefined && state.left[budget] === 0) return;
      moves.push({
        name,
        kind: "fault",
        isBudgeted: budget !== undefined,
        copy: structuredClone,
        act: (after) => {
          if (budget !== undefined) after.left[budget]--;
          act(after);
        },
      });
    };
    this.#words.forEach((word, at) => {
      const left = state.told[at] ?? 0;
      if (left === 0) return;
      moves.push({
        name: nameOf(word),
        kind: "fault",
        isBudgeted: true,
        copy: structuredClone,
        act: (after) => {
          after.told[at] = left - 1;
          this.#tell(after, word);
        },
      });
    });
    add("somebody asks", (after) => this.#ask(after, after.lazy));
    add("the group moves on", (after) => this.#enter(after), "enter");
    add("bob speaks", (after) => this.#speak(after), "speak");
    add("a minute passes", (after) => this.#pass(after, minuteMs), "minute");
    add("30 hours pass", (after) => this.#pass(after, 1.25 * dayMs), "days");
    add("the process dies", (after) => this.#crash(after), "crash");
    add("we join anew", (after) => this.#rejoin(after), "rejoin");
    return moves;
  }

  /** The promise that is broken. */
  broken(state: ClaimsState): string | undefined {
    const { lazy, eager } = state;
    const asked = structuredClone(state);
    this.#ask(asked, asked.lazy);
    const { forks } = asked.lazy.state;
    for (const agentId of speakers.map(idOf)) {
      const known = eager.state.forks;
      const [heardMs, confirmed] = [forks.heardMs.get(agentId), forks.confirmed.get(agentId)];
      const least = Math.max(known.confirmed.get(agentId)?.epoch ?? -1, state.rejoined - 1);
      if ((confirmed?.epoch ?? -1) > least) {
        return "a member is shown with an epoch that it has not signed";
      }
      const gapMs = (known.heardMs.get(agentId) ?? 0) - (heardMs ?? 0);
      if (gapMs < 0) return "a member looks present that is not";
      if (heardMs !== undefined && gapMs > dayMs) return "a member looks gone that is not";
      const waiting = lazy.state.claims.get(agentId);
      const claim = claimsBehind(waiting).find(this.#rules.isSigned);
      const { forks: now } = lazy.state;
      if (
        lastConfirmed(now, agentId, claim)?.epoch !== confirmed?.epoch ||
        lastHeardMs(now, agentId, { claim, nowMs: state.nowMs }) !== heardMs
      ) return "an answer is not what the state says after it";
    }
    const named = ({ accused }: Listener): readonly Speaker[] =>
      speakers.filter((by) => accused.some((each) => each.endsWith(` ${by}`)));
    const unseen = named(eager).filter((by) => !named(asked.lazy).includes(by));
    if (unseen.length > 0) return "a member that differs is not reported";
    const isHonest = (by: Speaker): boolean =>
      this.#words.every((word) =>
        word.by !== by || word.isForged === true || word.state === undefined
      );
    const alone = named(asked.lazy).filter((by) => isHonest(by) && !named(eager).includes(by));
    if (alone.length > 0) return "an honest member is accused";
    if (state.hasLost) return undefined;
    const [mine, theirs] = [shown(asked.lazy), shown(eager)];
    const field = Object.keys(mine).find((key) => mine[key] !== theirs[key]);
    return field && `the two differ: ${field}: ${mine[field]} and ${theirs[field]}`;
  }

  #tell(
    state: ClaimsState,
    { by, epoch, state: byte = epoch, isForged = false }: LetterWord,
  ): void {
    const agentId = idOf(by);
    const word = {
      agentId,
      publicKey: Uint8Array.of(0),
      signature: Uint8Array.of(isForged ? 0 : 1, ...(isForged ? [byte] : [])),
    };
    const said = { epoch, state: stateOf(byte) };
    this.#step(state, state.lazy, { type: "told", said, by: [word], isOwn: false });
    const claim = { ...word, ...said, atMs: state.nowMs, begunMs: undefined, waited: false };
    const claims = isForged ? [] : [claim];
    this.#step(state, state.eager, { type: "verified", claims, doubted: [] });
  }

  #ask(state: ClaimsState, listener: Listener): void {
    const agentIds = [...listener.state.claims.keys()];
    this.#step(state, listener, { type: "asked", agentIds });
  }

  #speak(state: ClaimsState): void {
    const event = { type: "heard", agentId: idOf("bob"), epoch: state.epoch } as const;
    for (const listener of [state.lazy, state.eager]) this.#step(state, listener, event);
  }

  #enter(state: ClaimsState): void {
    state.epoch++;
    const [{ epoch, nowMs: atMs }, own] = [state, this.#own(state)];
    for (const listener of [state.lazy, state.eager]) {
      const states = new Map([...listener.disk.states, [epoch, own]]);
      listener.disk = { ...listener.disk, states, begun: { epoch, atMs } };
      this.#step(state, listener, { type: "entered", epoch, state: own, by: undefined });
    }
  }

  #rejoin(state: ClaimsState): void {
    state.group = 100;
    state.rejoined = state.epoch;
    state.hasLost ||= state.lazy.state.claims.size > 0;
    const [{ epoch, nowMs: atMs }, own] = [state, this.#own(state)];
    for (const listener of [state.lazy, state.eager]) {
      const states = new Map([[epoch, own]]);
      listener.disk = { ...listener.disk, states, begun: { epoch, atMs } };
      const restarted = { type: "restarted", epoch, state: own, formerEpoch: epoch } as const;
      this.#step(state, listener, restarted);
    }
  }

  #pass(state: ClaimsState, ms: number): void {
    state.nowMs += ms;
    for (const listener of [state.lazy, state.eager]) {
      const { keep, look } = listener.state;
      if (look !== undefined && ms >= hourMs) {
        this.#step(state, listener, { type: "time", timer: look });
      }
      if (keep !== undefined) this.#step(state, listener, { type: "time", timer: keep });
    }
    note(state.eager);
  }

  #crash(state: ClaimsState): void {
    const { lazy, eager } = state;
    const diskOf = ({ disk }: Listener): string => text([...disk.heard], [...disk.liars]);
    state.hasLost ||= lazy.state.claims.size > 0 || diskOf(lazy) !== diskOf(eager);
    for (const listener of [lazy, eager]) {
      listener.state = restoreConfirmations(this.#rules.restored(listener.disk), -1);
      const event = { type: "entered", epoch: state.epoch, state: this.#own(state) } as const;
      this.#step(state, listener, { ...event, by: undefined });
    }
  }

  #own({ epoch, group }: ClaimsState): Uint8Array {
    return stateOf(epoch + group);
  }

  #step(world: ClaimsState, listener: Listener, event: ConfirmationEvent): void {
    const facts: ConfirmationFacts = {
      nowMs: world.nowMs,
      self,
      isMember: () => true,
      joinedEpoch: () => 0,
      epoch: world.epoch,
      state: this.#own(world),
      members: 4,
      isCurrent: true,
    };
    const step = listener === world.eager ? stepConfirmations : this.#rules.step;
    for (const effect of step(listener.state, event, facts).effects) {
      if (effect.type === "verify") {
        const isSigned = listener === world.eager ? honest.isSigned : this.#rules.isSigned;
        const claims = effect.claims.flatMap((each) => claimsBehind(each).find(isSigned) ?? []);
        const doubted = effect.claims.filter((each) => !isSigned(each)).map(nameOfSigner);
        this.#step(world, listener, { type: "verified", claims, doubted });
      } else if (effect.type === "look") {
        this.#ask(world, listener);
      } else if (effect.type === "report") {
        const accused = `${effect.kind} ${effect.about}`;
        listener.accused = [...new Set([...listener.accused, accused])].sort();
      } else if (effect.type === "note") {
        note(listener);
      }
    }
  }
}

function note(listener: Listener): void {
  const { state: { forks }, disk } = listener;
  listener.disk = { ...disk, heard: heardBy(forks), liars: new Set(forks.liars) };
}

const nameOfSigner = ({ agentId }: EpochClaim): AgentId => agentId;

function nameOf({ by, epoch, state = epoch, isForged = false }: LetterWord): string {
  const what = state === epoch ? "" : ` with state ${state}`;
  return `${isForged ? "the relay lets" : ""} ${by} confirm ${epoch}${what}`.trim();
}

/** All by which conclusions are drawn, as text. */
function shown({ state: { forks }, accused }: Listener): Record<string, string> {
  return {
    accused: text(accused),
    said: text(sorted(forks.said)),
    confirmed: text(sorted(forks.confirmed)),
    heard: text(sorted(forks.heardMs)),
    spoke: text(sorted(forks.spoke)),
    forks: text([...forks.forks.keys()].sort()),
    liars: text([...forks.liars].sort()),
    strange: text([...forks.strange].sort()),
  };
}

function sorted<T>(map: ReadonlyMap<AgentId, T>): (readonly [AgentId, T])[] {
  return [...map].sort(([a], [b]) => a < b ? -1 : 1);
}

function text(...values: readonly unknown[]): string {
  const byteOf = (_: string, value: unknown): unknown =>
    value instanceof Uint8Array ? value.join() : value;
  return JSON.stringify(values, byteOf);
}

function view({ lazy, eager, left: _, told: __, ...others }: ClaimsState): unknown {
  const shownOf = (listener: Listener): unknown => {
    const { state: { claims, doubted, look, forks, keep }, disk } = listener;
    return [
      shown(listener),
      text(sorted(claims), [...doubted].sort(), look !== undefined, [...forks.unknown], [
        ...forks.begun,
      ], keep !== undefined),
      text([...disk.heard], [...disk.liars], [...disk.states], disk.begun),
    ];
  };
  return { ...others, lazy: shownOf(lazy), eager: shownOf(eager) };
}
