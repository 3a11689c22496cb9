/**
 * One story of a small world, drawn by chance: budgets may be far beyond those of which every state
 * can be visited. At the end no budget is left, and the story must come to a good state by itself.
 */
import type { Random } from "../support/mod.ts";
import { explore, type Move, type Story, told, type World } from "./explore.ts";
import { copyOf } from "./plain_state.ts";

/**
 * One move in so many needs a budget, if there is one: faults come in the middle of things, and not
 * all at the beginning.
 */
const oddsOfFault = 6;
/** Moves by chance that a story has to come to its end, before a way is looked for. */
const maxCalmMoves = 2_000;
const maxStatesToGood = 200_000;

/**
 * Returns how many moves there were. Throws with the story if a promise breaks, or if no way leads
 * to a good state.
 */
export function live<S>(world: World<S>, random: Random, length: number): number {
  const state = copyOf(world.start);
  const events: string[] = [];
  for (let calm = 0;;) {
    const moves = world.moves(state);
    const move = choose(world, random, moves, events.length < length);
    if (move === undefined) {
      if (world.isGood(state)) return events.length;
      throw failed("no event is left, and the state is no good one", events);
    }
    events.push(move.name);
    move.act(state);
    const why = world.broken(state);
    if (why !== undefined) throw failed(why, events);
    if (events.length < length) continue;
    if (world.isGood(state)) return events.length;
    if (++calm === maxCalmMoves) return checkWay(world, state, events);
  }
}

/** Of moves that need no budget; sometimes, if they may be spent, of those that need one. */
function choose<S>(
  world: World<S>,
  random: Random,
  moves: readonly Move<S>[],
  spends: boolean,
): Move<S> | undefined {
  const free = moves.filter((move) => !isSpending(world, move));
  const faults = spends ? moves.filter((move) => isSpending(world, move)) : [];
  const from = faults.length > 0 && (free.length === 0 || random.below(oddsOfFault) === 0)
    ? faults
    : free;
  return from.length === 0 ? undefined : random.pick(from);
}

/**
 * Worlds that do not say what is left have a budget for each fault, and for each call of a program.
 */
function isSpending<S>({ left }: World<S>, { isBudgeted, kind }: Move<S>): boolean {
  return isBudgeted ?? (left === undefined && (kind === "fault" || kind === "program"));
}

/** Chance alone may go round for long: the way is looked for, without what needs a budget. */
function checkWay<S>(world: World<S>, state: S, events: readonly string[]): number {
  const moves = (at: S): readonly Move<S>[] =>
    world.moves(at).filter((move) => !isSpending(world, move));
  const { left: _, alone: __, ...rest } = world;
  const { stuckStory, faults } = explore({ ...rest, start: state, moves }, maxStatesToGood);
  const [found = stuckStory] = faults;
  if (found !== undefined) throw failed(found.why, [...events, ...found.events]);
  return events.length;
}

function failed(why: string, events: readonly string[]): Error {
  const story: Story = { why, events };
  return new Error(told(story));
}
