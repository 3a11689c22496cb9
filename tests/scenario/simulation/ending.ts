/**
 * How a schedule must end: the relay tells the truth again, and every honest member is in, agrees,
 * and reads the others.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { equalBytes } from "../../../proto/mod.ts";
import type { ChannelMember } from "../../../sdk/mod.ts";
import { isGone, type Play } from "./play.ts";
import type { Player } from "./player.ts";
import { tellsOfTheft } from "./controls.ts";
import { settleBadges } from "./badge_moves.ts";
import { Broken, checkNow } from "./judging.ts";
import { recoverWhereOffered } from "./recovery_moves.ts";

const second = 1000;
const minute = 60 * second;
/** Within this everybody is back: an agent may wait an hour between two tries. */
const calmMs = 3 * 60 * minute;
/** Connections break now and then. Some lies are found out only with the next one. */
const reconnectMs = 30 * minute;
/**
 * Somebody commits now and then. That members have other keys than the log's shows nobody before.
 */
const commitMs = 10 * minute;
/**
 * Within this the others have removed one that left: a call of theirs may be late, and each waits
 * for its turn and tries again.
 */
const ghostMs = minute;

/**
 * The players' start when the relay is honest again: new processes, new connections, or nothing.
 */
const beginnings = ["restart", "reconnect", "nothing"] as const;

/** Returns how many honest members stay out: none, unless the relay has lied. */
export async function checkEnding(play: Play, seed: number): Promise<number> {
  play.wire.calm();
  await settleBadges(play, inStep(play)[0]);
  const beginning = beginnings[seed % beginnings.length];
  play.note(`calm: ${beginning}`);
  for (const player of play.players) {
    if (beginning === "restart" && player.honest) {
      await restart(play, player);
    } else if (beginning !== "nothing") await reconnect(play, player);
    player.read(1_000_000);
  }
  const outside = await calmDown(play);
  if (play.hostileOwner) return outside;
  await hearEachOther(play, inStep(play));
  checkNow(play);
  checkThefts(play);
  if (play.wire.counts.lies === 0 && !play.wasSetBack) await checkGhosts(play);
  return outside;
}

/**
 * One that had left, and did not know yet whether the relay has taken it, finds out while its
 * channel is opened.
 */
async function restart(play: Play, player: Player): Promise<void> {
  try {
    await play.stage.finish(`${player.label} is back`, player.restart(play.truth, "stop"));
  } catch (error) {
    if (!isGone(error) || !play.truth.hasLeft(player.agentId)) throw error;
  }
}

async function reconnect(play: Play, { actor: { session } }: Player): Promise<void> {
  session.disconnect();
  await play.stage.finish("it connects", session.connect());
}

/** Honest players that are members, and do not want to go. */
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
 * A relay that lies can lead all honest members astray that a player has met, one by swallowed
 * commits and one by withheld ones, say. Then nobody can let it in again but by a new invite
 * (docs/groups.md, "What remains"). Whatever else keeps it out is found.
 */
function hasNobody(player: Player, play: Play): boolean {
  const { known } = player;
  return play.wire.counts.lies > 0 && !inStep(play).some(({ agentId }) => known.has(agentId));
}

/**
 * A log that was set back may have lost a change of the owners or of the policy that nobody can put
 * back, and a relay that lies may keep one for itself. A member that has followed it believes no
 * other version than one that comes after it: it stays out, and says so (docs/groups.md, "A log
 * that was set back" and "What remains").
 */
async function hasLostOwners(player: Player, play: Play): Promise<boolean> {
  if (!play.wasSetBack && play.wire.counts.lies === 0) return false;
  const last = (await player.actor.inside()).group.binding.chain?.lastChange;
  for (const { actor } of inStep(play)) {
    const { binding, changes } = (await actor.inside()).group;
    const known = [binding.chain?.lastChange, ...changes.map(({ previous }) => previous)];
    if (last === undefined || known.some((hash) => hash !== undefined && equalBytes(hash, last))) {
      return false;
    }
  }
  return isSentForInvite(player);
}

/**
 * A log that was set back may have lost that an agent left and joined again, and a relay that lies
 * may keep both a removal and what followed for itself. In the log the agent has a leaf of the
 * membership that it gave up, of which it knows nothing any more: it stays out, and says so
 * (docs/groups.md, "A log that was set back" and "What remains").
 */
async function hasForgottenLeaf(player: Player, play: Play): Promise<boolean> {
  const { agentId, formerPlace } = player;
  const isFormer = formerPlace !== undefined && play.truth.cameIn(agentId) === formerPlace;
  if (!play.wasSetBack && !(isFormer && play.wire.counts.lies > 0)) return false;
  const { joinedLeaf } = await player.actor.inside();
  for (const { actor } of inStep(play)) {
    const leaf = (await actor.inside()).leafOf(player.agentId)?.leaf;
    if (
      leaf?.node.leafNodeSource !== "key_package" || equalBytes(sha256(leaf.encoded), joinedLeaf)
    ) return false;
  }
  return isSentForInvite(player);
}

function isSentForInvite({ channel }: Player): boolean {
  const { issues = [] } = channel?.health() ?? {};
  return issues.some(({ kind, text }) =>
    kind === "refused_welcome" && text.includes("new invite token")
  );
}

async function isExcused(player: Player, play: Play): Promise<boolean> {
  return hasNobody(player, play) || await hasLostOwners(player, play) ||
    await hasForgottenLeaf(player, play);
}

/**
 * Time passes until a player is in step again, by itself, or is truly removed. The relay is honest
 * meanwhile.
 */
export async function backInStep(play: Play, player: Player): Promise<void> {
  const { time } = play.stage.world;
  for (const endMs = play.nowMs + calmMs; play.nowMs < endMs; await time.advance(second)) {
    if (isSteady(play, player) || !play.truth.members().has(player.agentId)) return;
    recoverWhereOffered(play);
  }
  const { state, problem } = player.channel?.health() ?? {};
  throw new Broken(`${player.label} does not come back: ${state} (${problem ?? "no problem"})`);
}

/** Honest members that agree with a player, and with the log: one of them can let it in again. */
export function companions(play: Play, player: Player): Player[] {
  const steady = inStep(play);
  if (!steady.includes(player)) return [];
  return steady.filter((other) =>
    other !== player && hasRightClock(other) &&
    other.channel?.fingerprint() === player.channel?.fingerprint()
  );
}

/** Everyday actions of programs and networks while nobody attacks. */
class Everyday {
  readonly #play: Play;
  #reconnectMs: number;
  #commitMs: number;
  #turn = 0;

  constructor(play: Play) {
    this.#play = play;
    this.#reconnectMs = play.nowMs + reconnectMs;
    this.#commitMs = play.nowMs + commitMs;
  }

  async pass(ms: number): Promise<void> {
    const play = this.#play;
    const recovering = recoverWhereOffered(play);
    if (recovering !== undefined) play.note(recovering);
    await reopenEnded(play);
    if (play.nowMs > this.#reconnectMs) {
      this.#reconnectMs = Infinity;
      for (const player of play.players) await reconnect(play, player);
    }
    if (play.nowMs > this.#commitMs) {
      this.#commitMs = play.nowMs + commitMs;
      await settleBadges(play, inStep(play)[0]);
      await this.#commit();
    }
    await play.stage.world.time.advance(Math.round(ms));
  }

  async #commit(): Promise<void> {
    const play = this.#play;
    const players = inStep(play);
    const player = players[this.#turn++ % Math.max(1, players.length)];
    if (player === undefined) return;
    const inside = await player.actor.inside();
    play.background(`${player.label} commits`, inside.commit());
  }
}

/** An application whose channel is over by the relay's word opens it again. */
export async function reopenEnded(play: Play): Promise<string | undefined> {
  const over = play.players.filter((player) => player.honest && player.isOver);
  for (const player of over) {
    // It may be leaving.
    const opening = player.enter(play.truth).catch((error) => {
      if (!isGone(error)) throw error;
    });
    await play.stage.finish(`${player.label} opens it again`, opening);
  }
  return over.length === 0
    ? undefined
    : `${over.map(({ label }) => label).join(" and ")} open the channel again`;
}

async function calmDown(play: Play): Promise<number> {
  let endMs = play.nowMs + calmMs;
  const everyday = new Everyday(play);
  for (let stepMs = second;; stepMs = Math.min(stepMs * 1.5, minute)) {
    // A channel in which nothing is said shows nobody that it lost step.
    if (stepMs < 30 * second) {
      for (const player of staying(play)) if (!player.joining) say(play, player);
    }
    await everyday.pass(stepMs);
    checkNow(play);
    const prints = new Set(inStep(play).map(({ channel }) => channel?.fingerprint()));
    const outside = staying(play).filter((player) => !isSteady(play, player));
    if (play.hostileOwner && stepMs >= minute && outside.every(isTold)) return outside.length;
    if (prints.size <= 1 && outside.length === 0) return 0;
    if (play.nowMs < endMs) continue;
    const excuses = await Promise.all(outside.map((player) => isExcused(player, play)));
    if (prints.size <= 1 && !excuses.includes(false)) {
      play.note(`some stay out: ${states(play)}`);
      return outside.length;
    }
    if (setClocksRight(play, outside)) {
      endMs = play.nowMs + calmMs;
      continue;
    }
    throw new Broken(
      `honest members do not agree: ${states(play)}; the relay is in epoch ${play.truth.epoch}`,
    );
  }
}

/**
 * By a clock that is wrong a member lets nobody in (docs/guarantees.md, "Time"). When those that
 * are out know no other, its user sets it right. Returns whether that was so.
 */
function setClocksRight(play: Play, outside: readonly Player[]): boolean {
  const helpers = inStep(play).filter(({ agentId }) =>
    outside.some(({ known }) => known.has(agentId))
  );
  if (helpers.length === 0 || helpers.some(hasRightClock)) return false;
  for (const player of helpers) {
    player.actor.clockOffsetMs = 0;
    play.note(`the clock of ${player.label} is set right`);
  }
  return true;
}

function hasRightClock({ actor }: Player): boolean {
  return actor.clockOffsetMs === 0;
}

/** Under a hostile owner a member may be out; then it knows that, and why. */
function isTold({ channel }: Player): boolean {
  const { state, problem = "" } = channel?.health() ?? {};
  return state !== undefined && ["stopped", "rejoining", "ended"].includes(state) && problem !== "";
}

function states(play: Play): string {
  const text = staying(play).map(({ label, channel }) => {
    const health = channel?.health();
    return `${label} ${health?.state} in epoch ${health?.epoch} (${
      health?.problem ?? "no problem"
    })`;
  });
  return text.join("; ");
}

/**
 * Without lies nobody that has left stays in the others' group, once the owner has done what it was
 * told.
 */
async function checkGhosts(play: Play): Promise<void> {
  const gone = play.players.filter(({ honest, excused, isIn }) => honest && excused && !isIn);
  const { channel } = play.founder;
  // Of one that is absent, the founder is told that, and may never hear that it left
  // (docs/groups.md, "Founding").
  const isToRemove = ({ agentId, absent }: ChannelMember): boolean =>
    gone.some((each) => each.agentId === agentId) && (absent || play.voidLeaves.has(agentId));
  for (const { agentId } of channel?.members().filter(isToRemove) ?? []) {
    const removing = play.remove(play.founder, agentId);
    await play.stage.finish("a member is removed that cannot prove that it left", removing);
    await play.stage.world.time.advance(second);
  }
  const inside = inStep(play);
  for (const endMs = play.nowMs + ghostMs;; await play.stage.world.time.advance(second)) {
    checkNow(play);
    const ghosts = inside.flatMap(({ label, known }) =>
      gone.filter(({ agentId }) => known.has(agentId)).map((ghost) =>
        `${ghost.label} has left, and ${label} still has it`
      )
    );
    if (ghosts.length === 0) return;
    if (play.nowMs >= endMs) throw new Broken(ghosts.join("; "));
  }
}

/**
 * A thief speaks as its victim, which nobody can prevent; but somebody is told that there are two
 * of it.
 */
function checkThefts(play: Play): void {
  const inside = staying(play);
  for (const { text, victim } of play.stolen) {
    const isTold = inside.some(({ told }) => [...told].some((kind) => tellsOfTheft.has(kind)));
    if (isTold || !inside.includes(victim) || !inside.some(({ shown }) => shown.includes(text))) {
      continue;
    }
    throw new Broken(`a thief has spoken as ${victim.label}, and nobody is told`);
  }
}

/** Under a policy by which only owners speak the others listen. */
function mayPost({ channel }: Player): boolean {
  const isOwner = channel?.members().some(({ self, owner }) => self && owner) === true;
  return isOwner || channel?.policy().posting === "members";
}

/**
 * A relay that lied about positions has made its readers pass over what comes there; soon they hear
 * everything again.
 */
const rounds = 12;

async function hearEachOther(play: Play, players: readonly Player[]): Promise<void> {
  let missing: string[] = [];
  for (let round = 0; round < rounds; round++) {
    // A word of the relay from before the rest may have waited behind a call that was late.
    await reopenEnded(play);
    const said = players.filter(mayPost).map((by) => ({ by, text: say(play, by) }));
    await play.stage.world.time.advance((1 + round) * second);
    missing = players.flatMap((reader) =>
      said.filter(({ by, text }) => by !== reader && !reader.shown.includes(text))
        .map(({ by }) => `${reader.label} has not heard ${by.label}`)
    );
    // A reader that was shown something wrong reads no more.
    checkNow(play);
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
