/** How a schedule must end: the relay tells the truth again, and every honest member is in, agrees, and reads the others. */
import type { AgentId } from "../../../proto/mod.ts";
import type { Play } from "./play.ts";
import type { Player } from "./player.ts";

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
    if (state === "blocked" && !hostileOwner) throw new Broken(`${player.label} is blocked: ${problem}`);
  }
}

export async function checkEnding(play: Play): Promise<void> {
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
  await calmDown(play);
  await hearEachOther(play);
  checkNow(play);
}

/** Honest players that are members, and did not want to go. */
function staying(play: Play): Player[] {
  const members = play.truth.members();
  return play.players.filter((player) =>
    player.honest && player.isIn && !player.excused && members.has(player.agentId) && !isAlone(player, play, members)
  );
}

/**
 * Nobody honest that it has met is left inside, as for an owner to whom the relay said that it took the removal of the others:
 * then nobody can let it in again.
 */
function isAlone(player: Player, play: Play, members: ReadonlySet<AgentId>): boolean {
  const known = new Set(player.channel?.members().map(({ agentId }) => agentId));
  const others = play.players.filter((other) => other !== player && members.has(other.agentId));
  return !others.some(({ honest, isIn, agentId }) => honest && isIn && known.has(agentId));
}

async function calmDown(play: Play): Promise<void> {
  const { time } = play.stage.world;
  const endMs = play.nowMs + calmMs;
  for (let stepMs = second;; stepMs = Math.min(stepMs * 1.5, 60 * second)) {
    // A channel in which nothing is said shows nobody that it lost step.
    if (stepMs < 30 * second) { for (const player of staying(play)) say(play, player); }
    await time.advance(Math.round(stepMs));
    checkNow(play);
    const states = staying(play).map((player) => ({ player, health: player.channel?.health() }));
    const prints = new Set(staying(play).map(({ channel }) => channel?.fingerprint()));
    if (prints.size <= 1 && states.every(({ health }) => health?.state === "ok")) return;
    if (play.nowMs < endMs) continue;
    const text = states.map(({ player, health }) =>
      `${player.label} ${health?.state} in epoch ${health?.epoch} (${health?.problem ?? "no problem"})`
    );
    throw new Broken(`honest members do not agree: ${text.join("; ")}; the relay is in epoch ${play.truth.epoch}`);
  }
}

/** A relay that lied about positions has made its readers pass over what comes there; soon they hear everything again. */
const rounds = 8;

async function hearEachOther(play: Play): Promise<void> {
  const players = staying(play);
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
