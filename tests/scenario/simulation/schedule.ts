/**
 * A schedule: a seed says who takes part and which moves are made; without some of the moves it is
 * a smaller schedule.
 */
import { createRandom, type Random } from "../../support/mod.ts";
import type { Signatures } from "../../../sdk/testing/agents.ts";
import type { Control } from "./controls.ts";
import { checkEnding } from "./ending.ts";
import { disturbedMoves } from "./disturbed_moves.ts";
import { honestMoves } from "./honest_moves.ts";
import { Broken, checkNow } from "./judging.ts";
import { lapseMoves, lossMoves } from "./loss_moves.ts";
import { memberMoves } from "./member_moves.ts";
import type { MoveKind, MoveTable } from "./moves.ts";
import { ownerMoves } from "./owner_moves.ts";
import { type Cast, isGone, Play } from "./play.ts";
import { commitMoves } from "./recovery_moves.ts";
import { strangerMoves } from "./stranger_moves.ts";
import { relayMoves } from "./relay_moves.ts";
import { badgeMoves } from "./badge_moves.ts";
import { logMoves } from "./log_moves.ts";

export type Attackers = "members" | "relay" | "both";

export interface Schedule {
  readonly seed: number;
  readonly attackers: Attackers;
  readonly cast: Cast;
  readonly moves: readonly { readonly kind: string; readonly seed: number }[];
}

export interface Outcome {
  readonly failure: string | undefined;
  readonly trace: readonly string[];
  readonly commits: number;
  readonly messages: number;
  readonly rejoins: number;
  readonly lies: number;
  readonly shown: number;
  /** Honest members that stay out, because the relay led all others astray that they had met. */
  readonly outside: number;
  /** How often a guest with another key than its pass was refused to let somebody in. */
  readonly guestRefusals: number;
  /** Messages of thieves. */
  readonly stolen: number;
}

export interface ScheduleOptions {
  /** Hostile members also make commits that stop a channel. */
  readonly hostileCommits?: boolean;
  /** One of them owns the channel too. */
  readonly hostileOwner?: boolean;
  /** Connections begin badly. */
  readonly disturbed?: boolean;
  /** There are guests, invented members and thieves, and a policy against them. */
  readonly strangers?: boolean;
  /** The channel requires badges, which end and are renewed, and clocks differ by years. */
  readonly badges?: boolean;
}

const allMoves: MoveTable = {
  ...honestMoves,
  ...lossMoves,
  ...lapseMoves,
  ...prefixed("member", memberMoves),
  ...prefixed("member", commitMoves),
  ...prefixed("owner", ownerMoves),
  ...prefixed("relay", relayMoves),
  ...prefixed("relay", logMoves),
  ...prefixed("disturbed", disturbedMoves),
  ...prefixed("stranger", strangerMoves),
  ...prefixed("badge", badgeMoves),
};

export function createSchedule(seed: number, options: ScheduleOptions = {}): Schedule {
  const { hostileCommits = false, hostileOwner = false, disturbed = false, strangers = false } =
    options;
  const { badges = false } = options;
  const random = createRandom(seed);
  const attackers = random.pick<Attackers>(
    hostileOwner ? ["members", "both"] : ["members", "relay", "both"],
  );
  const cast: Cast = {
    honest: ["alice", "bob", "carol"].slice(0, 2 + random.below(2)),
    hostile: attackers === "relay" ? [] : ["mallory", "trudy"].slice(0, random.chance(0.3) ? 2 : 1),
    outside: ["dave"],
    hostileOwner,
    ...(strangers && { guests: ["gina"] }),
    ...(badges && { badges }),
  };
  const tables: MoveTable[] = [honestMoves];
  // Under a hostile owner nobody can promise that a member which lost its state comes back.
  if (!hostileOwner) tables.push(lossMoves);
  if (attackers !== "relay") tables.push(prefixed("member", memberMoves));
  if (attackers !== "members") {
    tables.push(prefixed("relay", relayMoves), prefixed("relay", logMoves));
  }
  if (hostileCommits || hostileOwner) tables.push(prefixed("member", commitMoves));
  if (hostileOwner) tables.push(prefixed("owner", ownerMoves));
  if (disturbed) tables.push(prefixed("disturbed", disturbedMoves));
  if (strangers) tables.push(lapseMoves, prefixed("stranger", strangerMoves));
  if (badges) tables.push(prefixed("badge", badgeMoves));
  // cast: of tables of moves
  const kinds = Object.entries(Object.assign({}, ...tables) as MoveTable);
  const length = 20 + random.below(21);
  const moves = Array.from(
    { length },
    () => ({ kind: pickWeighted(random, kinds), seed: random.uint32() }),
  );
  return { seed, attackers, cast, moves };
}

/** `control`: a fault that is planted, which the ledger must find. */
export async function runSchedule(
  schedule: Schedule,
  signatures: Signatures,
  control?: Control,
): Promise<Outcome> {
  const play = await Play.open(schedule.seed, schedule.cast, signatures);
  await control?.plant(play);
  let failure: string | undefined;
  let outside = 0;
  try {
    for (const { kind, seed } of schedule.moves) {
      const random = createRandom(seed);
      const done = await runMove(allMoves[kind], play, random);
      if (done !== undefined) play.note(done);
      if (random.chance(0.7)) {
        await play.stage.world.time.advance(random.pick([0, 1, 20, 300, 2_000]));
      }
      checkNow(play);
    }
    outside = await checkEnding(play, schedule.seed);
    if (
      schedule.attackers === "members" && !play.hasLostState && !play.hostileOwner &&
      play.wire.counts.rejoins > 0
    ) {
      throw new Broken("an honest member asked to rejoin though the relay did not lie");
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    failure = error instanceof Broken ? error.message : error.stack ?? error.message;
    for (const { label, channel } of play.players) {
      for (const { kind, count, text } of channel?.health().issues ?? []) {
        play.note(`${label}: ${count} ${kind}: ${text}`);
      }
    }
  }
  await play.close();
  const { trace, truth: { commits, messages }, wire: { counts } } = play;
  const shown = play.players.reduce((sum, player) => sum + player.shown.length, 0);
  const { guestRefusals, stolen: { length: stolen } } = play;
  return { failure, trace, commits, messages, ...counts, shown, outside, guestRefusals, stolen };
}

/** Its player may have left, or its channel been closed, in the middle of it. */
async function runMove(
  move: MoveKind | undefined,
  play: Play,
  random: Random,
): Promise<string | undefined> {
  try {
    return await move?.run(play, random);
  } catch (error) {
    if (isGone(error)) return "nobody is there any more";
    throw error;
  }
}

/** Leaves out moves as long as the schedule still fails in the same way. */
export async function shrink(
  schedule: Schedule,
  failure: string,
  signatures: Signatures,
): Promise<Schedule> {
  let smallest = schedule;
  const way = wayOf(failure);
  for (let size = Math.ceil(schedule.moves.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < smallest.moves.length;) {
      const moves = smallest.moves.filter((_, index) => index < at || index >= at + size);
      const candidate = { ...smallest, moves };
      const { failure: again } = await runSchedule(candidate, signatures);
      if (again !== undefined && wayOf(again) === way) smallest = candidate;
      else at += size;
    }
  }
  return smallest;
}

/** Without what differs from schedule to schedule. */
function wayOf(failure: string): string {
  return failure.split("\n")[0]?.replaceAll(
    /\d+|alice|bob|carol|dave|ok in epoch|;|no problem/g,
    "",
  ) ?? "";
}

function pickWeighted(
  random: Random,
  kinds: readonly (readonly [string, { readonly weight: number }])[],
): string {
  const total = kinds.reduce((sum, [, { weight }]) => sum + weight, 0);
  let left = random.below(total);
  for (const [kind, { weight }] of kinds) {
    if (left < weight) return kind;
    left -= weight;
  }
  throw new Error("weights are counted wrongly");
}

function prefixed(prefix: string, table: MoveTable): MoveTable {
  return Object.fromEntries(
    Object.entries(table).map(([kind, move]) => [`${prefix} ${kind}`, move]),
  );
}
