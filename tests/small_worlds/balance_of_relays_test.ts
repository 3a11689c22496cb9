// Three relays and a few sessions, in every order of looks, signs of life that are lost, restarts,
// and wherever an agent goes that was sent away.
import { assertGreater } from "@std/assert";
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll, checkFound, type Move, type World } from "./explore.ts";
import {
  type Balance,
  type RelayLoad,
  startBalance,
  step,
  unknownLoad,
} from "../../relay/core/testing/balance.ts";

const relays = [0, 1, 2] as const;
/** Short, so that there are few states: a session is over for one look, and rests for four. */
const times = { overMs: 1, joinMs: 0, gapMs: 2 };
const restMs = 4;
const perRelay = 100;

interface Relay {
  balance: Balance;
  /** Looks since it began; it is steady from the second on. */
  age: number;
  /** The last words of others that it heard. */
  heard: Record<number, RelayLoad>;
}

interface Agent {
  at: number;
  /** Looks until it may be moved again. */
  rest: number;
}

interface State {
  nowMs: number;
  readonly relays: Relay[];
  readonly agents: Agent[];
  restartsLeft: number;
  lossesLeft: number;
  broken: string | undefined;
}

/** A rule that is taken out must be found. */
interface Faults {
  readonly movesAgain?: boolean;
  readonly dividesSessions?: boolean;
}

const countAt = ({ agents }: State, relay: number): number =>
  agents.filter(({ at }) => at === relay).length;

function loadOf(state: State, relay: number): RelayLoad {
  const { age, balance } = state.relays[relay] ?? { age: 0, balance: startBalance };
  const capacity = Math.min(perRelay, perRelay * age / 2);
  const isSending = balance.state.kind === "sending";
  return {
    sessions: countAt(state, relay),
    hasRoom: true,
    capacity,
    isSteady: age >= 2,
    isSending,
  };
}

function shareOf(own: RelayLoad, others: readonly RelayLoad[]): number {
  const sum = (of: (load: RelayLoad) => number): number =>
    others.reduce((total, load) => total + of(load), of(own));
  return sum(({ sessions }) => sessions) * own.capacity / sum(({ capacity }) => capacity);
}

/** All look once, one after the other; what each hears is what was so at the beginning. */
function look(
  state: State,
  targets: (index: number, from: number) => number,
  faults: Faults,
): void {
  state.nowMs++;
  for (const agent of state.agents) agent.rest = Math.max(0, agent.rest - 1);
  for (const relay of relays) {
    const held = state.relays[relay];
    if (held === undefined) continue;
    const own = loadOf(state, relay);
    const others = relays.filter((other) => other !== relay).map((other) =>
      held.heard[other] ?? unknownLoad
    );
    const { balance, send } = step(held.balance, { nowMs: state.nowMs, own, others }, times);
    held.balance = balance;
    const able = state.agents.filter(({ at, rest }) =>
      at === relay && (rest === 0 || faults.movesAgain === true)
    );
    const wanted = faults.dividesSessions && own.sessions > 0 ? 1 : send;
    able.slice(0, wanted).forEach((agent, index) => {
      if (agent.rest > 0) state.broken = "a session is moved twice in its rest";
      if ([own, ...others].some(({ isSteady }) => !isSteady)) {
        state.broken = "a session is moved while a relay begins";
      }
      if (own.sessions < shareOf(own, others) + 1) {
        state.broken = "a session is moved from a relay that has its share";
      }
      agent.rest = restMs;
      agent.at = targets(index, relay);
    });
  }
}

/** Everybody hears of everybody, but for one relay that is not heard. */
function tell(state: State, lost?: number): void {
  for (const relay of relays) {
    for (const other of relays) {
      const held = state.relays[relay];
      if (held === undefined || other === relay || other === lost) continue;
      held.heard[other] = loadOf(state, other);
    }
  }
}

const turned = (from: number, by: number): number => (from + by) % relays.length;

function restart(state: State, relay: number, by: number): void {
  for (const agent of state.agents) if (agent.at === relay) agent.at = turned(relay, by);
  state.relays[relay] = { balance: startBalance, age: 0, heard: {} };
}

function isEven(state: State): boolean {
  const counts = relays.map((relay) => countAt(state, relay));
  const isQuiet = state.relays.every(({ balance, age }) =>
    balance.state.kind === "even" && age >= 2
  );
  return isQuiet && Math.max(...counts) - Math.min(...counts) <= 2;
}

function createWorldOf(agents: readonly number[], faults: Faults = {}): World<State> {
  const steady: Relay = { balance: startBalance, age: 2, heard: {} };
  const start: State = {
    nowMs: 0,
    relays: relays.map(() => structuredClone(steady)),
    agents: agents.map((at) => ({ at, rest: 0 })),
    restartsLeft: 2,
    lossesLeft: 1,
    broken: undefined,
  };
  const pass = (by: number, lost?: number): Move<State> => ({
    name: `agents go ${by} on${lost === undefined ? "" : `, relay ${lost} is not heard`}`,
    kind: lost === undefined ? "time" : "fault",
    isBudgeted: lost !== undefined,
    act: (state) => {
      if (lost !== undefined) state.lossesLeft--;
      for (const relay of state.relays) relay.age = Math.min(2, relay.age + 1);
      tell(state, lost);
      // One goes there, the next to the other one; 0: it comes back.
      look(state, (index, from) => by === 0 ? from : turned(from, 1 + (by + index) % 2), faults);
    },
  });
  return {
    start,
    moves: (state) => [
      ...[0, 1, 2].map((by) => pass(by)),
      ...(state.lossesLeft > 0 ? relays.map((relay) => pass(1, relay)) : []),
      ...(state.restartsLeft > 0
        ? relays.flatMap((relay) =>
          [1, 2].map((by): Move<State> => ({
            name: `relay ${relay} restarts, its agents go ${by} on`,
            kind: "fault",
            isBudgeted: true,
            act: (changed) => {
              changed.restartsLeft--;
              restart(changed, relay, by);
            },
          }))
        )
        : []),
    ],
    view: ({ nowMs, relays: held, agents: all, broken }) => [
      held.map(({ balance: { state, lookedMs }, age, heard }) => [
        state.kind,
        state.kind === "over" ? nowMs - state.sinceMs : 0,
        Math.min(nowMs - lookedMs, times.gapMs + 1),
        age,
        heard,
      ]),
      // Which agent is which says nothing.
      all.map(({ at, rest }) => at * 10 + rest).sort(),
      broken,
    ],
    left: ({ restartsLeft, lossesLeft }) => [restartsLeft, lossesLeft],
    broken: ({ broken }) => broken,
    isGood: isEven,
  };
}

Deno.test("sessions end even from every state, and none is moved twice in its rest", () => {
  for (const agents of [[0, 0, 0, 1], ...(inCampaign ? [[0, 0, 0, 0, 0]] : [])]) {
    const { states } = checkAll("balance", createWorldOf(agents));
    assertGreater(states, 1_000);
    tried(`${states} states of ${agents.length} sessions at three relays`);
  }
});

Deno.test("the world of sessions finds rules that are taken out", () => {
  checkFound(createWorldOf([0, 0, 0, 0, 0], { movesAgain: true }), "a session is moved twice");
  const divided = createWorldOf([0, 1], { dividesSessions: true });
  checkFound(divided, "a session is moved from a relay that has its share");
});
