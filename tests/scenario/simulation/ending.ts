/** How a schedule must end: the relay tells the truth again, and every honest member is in, agrees, and reads the others. */
import type { Play } from "./play.ts";
import type { Player } from "./player.ts";
import { recoverWhereOffered } from "./recovery_moves.ts";

export class Broken extends Error {}

const second = 1000;
/** Within this everybody is back: an agent may wait an hour between two tries. */
const calmMs = 3 * 60 * 60 * second;

/** What holds at every moment. */
export function checkNow(play: Play): void {
  const { truth } = play;
  const hostileOwner = play.players.some(({ honest, agentId }) => !honest && truth.wasOwner(agentId));
  for (const player of play.players.filter(({ honest }) => honest)) {
    if (player.wrong !== undefined) throw new Broken(player.wrong.message);
    const { channel } = player;
    if (channel === undefined || !player.isIn) continue;
    const false_ = channel.members().find(({ agentId, owner }) => owner && !truth.wasOwner(agentId));
    if (false_ !== undefined) throw new Broken(`${player.label} takes ${labelOf(play, false_.agentId)} for an owner`);
    const { state, problem } = channel.health();
    if (state === "stopped" && !hostileOwner && !play.hasBadCommit) {
      throw new Broken(`${player.label} is blocked: ${problem}`);
    }
  }
}

/** Returns how many honest members stay out: none, unless the relay has lied. */
export async function checkEnding(play: Play, relayLies: boolean): Promise<number> {
  const { stage, wire } = play;
  wire.calm();
  play.note("calm");
  for (const player of play.players) {
    if (!player.honest) {
      player.actor.session.disconnect();
      await stage.finish("it connects", player.actor.session.connect());
    } else await stage.finish(`${player.label} is back`, player.restart(play.truth, "stop"));
    player.read(1_000_000);
  }
  const outside = await calmDown(play, relayLies);
  await hearEachOther(play, inStep(play));
  checkNow(play);
  return outside;
}

/** Honest players that are members, and did not want to go. */
function staying(play: Play): Player[] {
  const members = play.truth.members();
  return play.players.filter((player) =>
    player.honest && player.isIn && !player.excused && members.has(player.agentId)
  );
}

/** Those of them that follow the log. */
function inStep(play: Play): Player[] {
  return staying(play).filter((player) => isSteady(play, player));
}

function isSteady(play: Play, { channel }: Player): boolean {
  const health = channel?.health();
  return health?.state === "ok" && health.epoch === play.truth.epoch;
}

/**
 * A relay that lies can lead all honest members astray that a player has met, one by swallowed commits and one by withheld ones,
 * say. Then nobody can let it in again but by a new invite (docs/membership.md, "What remains"). Whatever else keeps it out is
 * found.
 */
function hasNobody(player: Player, play: Play): boolean {
  const { known } = player;
  return !inStep(play).some(({ agentId }) => known.has(agentId));
}

/** Time passes until a player is in step again, by itself. The relay is honest meanwhile. */
export async function backInStep(play: Play, player: Player): Promise<void> {
  const { time } = play.stage.world;
  for (const endMs = play.nowMs + calmMs; play.nowMs < endMs; await time.advance(second)) {
    const health = player.channel?.health();
    if (health?.state === "ok" && health.epoch === play.truth.epoch) return;
    recoverWhereOffered(play);
  }
  const { state, problem } = player.channel?.health() ?? {};
  throw new Broken(`${player.label} does not come back: ${state} (${problem ?? "no problem"})`);
}

/** Honest members that agree with a player, and with the log: one of them can let it in again. */
export function companions(play: Play, player: Player): Player[] {
  const steady = inStep(play);
  if (!steady.includes(player)) return [];
  return steady.filter((other) => other !== player && other.channel?.fingerprint() === player.channel?.fingerprint());
}

async function calmDown(play: Play, relayLies: boolean): Promise<number> {
  const { time } = play.stage.world;
  const endMs = play.nowMs + calmMs;
  for (let stepMs = second;; stepMs = Math.min(stepMs * 1.5, 60 * second)) {
    // A channel in which nothing is said shows nobody that it lost step.
    if (stepMs < 30 * second) { for (const player of staying(play)) say(play, player); }
    const recovering = recoverWhereOffered(play);
    if (recovering !== undefined) play.note(recovering);
    await time.advance(Math.round(stepMs));
    checkNow(play);
    const prints = new Set(inStep(play).map(({ channel }) => channel?.fingerprint()));
    const outside = staying(play).filter((player) => !isSteady(play, player));
    if (prints.size <= 1 && outside.length === 0) return 0;
    if (play.nowMs < endMs) continue;
    if (prints.size <= 1 && relayLies && outside.every((player) => hasNobody(player, play))) return outside.length;
    const text = staying(play).map(({ label, channel }) => {
      const health = channel?.health();
      return `${label} ${health?.state} in epoch ${health?.epoch} (${health?.problem ?? "no problem"})`;
    });
    throw new Broken(`honest members do not agree: ${text.join("; ")}; the relay is in epoch ${play.truth.epoch}`);
  }
}

/** A relay that lied about positions has made its readers pass over what comes there; soon they hear everything again. */
const rounds = 8;

async function hearEachOther(play: Play, players: readonly Player[]): Promise<void> {
  let missing: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const said = players.map((by) => ({ by, text: say(play, by) }));
    await play.stage.world.time.advance((1 + round) * second);
    missing = players.flatMap((reader) =>
      said.filter(({ by, text }) => by !== reader && !reader.shown.includes(text))
        .map(({ by }) => `${reader.label} has not heard ${by.label}`)
    );
    if (missing.length === 0) return;
  }
  throw new Broken(`not everybody hears everybody: ${missing.join("; ")}`);
}

function say(play: Play, player: Player): string {
  const text = play.truth.seal(player.agentId, true);
  if (player.channel === undefined) throw new Broken(`${player.label} is in and has no channel`);
  play.background(`${player.label} says "${text}"`, player.channel.send(text));
  return text;
}

function labelOf(play: Play, agentId: string): string {
  return play.players.find((player) => player.agentId === agentId)?.label ?? agentId;
}
