/** Invariants at every moment of a schedule. */
import type { Play } from "./play.ts";
import type { Player } from "./player.ts";

export class Broken extends Error {}

export function checkNow(play: Play): void {
  // A cell leaves each way, with what members say about their epochs.
  for (const { actor } of play.players) actor.session.ride();
  for (const player of play.players.filter(({ honest }) => honest)) {
    play.ledger.look(player);
    if (play.ledger.failure !== undefined) throw new Broken(play.ledger.failure);
    if (player.wrong !== undefined) throw new Broken(player.wrong.message);
    if (player.isIn) checkInside(play, player);
    else checkOutside(play, player);
  }
}

function checkInside(play: Play, player: Player): void {
  const { channel, label, agentId } = player;
  const { truth, wire: { counts } } = play;
  if (channel === undefined) return;
  const { state, problem = "", epoch, issues } = channel.health();
  if (state === "ok" && epoch === truth.epoch) player.cameIn = truth.cameIn(agentId);
  if (player.removedIn !== undefined && epoch > player.removedIn) player.removedIn = undefined;
  if (state === "ended" && problem.includes('" stopped: ')) {
    throw new Broken(`${label} has died: ${problem}`);
  }
  const lie = issues.find(({ kind, text }) => kind === "member_lied" && isOfHonest(play, text));
  if (lie !== undefined) throw new Broken(`${label} calls an honest member a liar: ${lie.text}`);
  for (const { kind, text } of issues) {
    player.told.add(kind);
    if (kind === "void_leave") play.voidLeaves.add(text.split(" ")[0] ?? "");
  }
  if (play.hostileOwner) return;
  const isTrue = counts.lies === 0 && !play.wasSetBack;
  const order = issues.find(({ text }) => text.includes(" has seen ") && isOfHonest(play, text));
  if (isTrue && order !== undefined) {
    throw new Broken(`${label} sees another log than an honest member: ${order.text}`);
  }
  const isMember = truth.members().has(agentId);
  // Somebody may add it again: its application has to open the channel anew then.
  if (state === "ended" && !isMember) player.rightlyOver = channel;
  const isWrong = state === "ended" && isTrue && isMember && !player.excused &&
    player.rightlyOver !== channel;
  if (isWrong) throw new Broken(`the channel is over for ${label}: ${problem}`);
  const owner = channel.members().find((member) => member.owner && !truth.wasOwner(member.agentId));
  if (owner !== undefined) {
    throw new Broken(`${label} takes ${labelOf(play, owner.agentId)} for an owner`);
  }
  if (state === "stopped" && !play.hasBadCommit) {
    throw new Broken(`${label} is blocked: ${problem}`);
  }
}

/**
 * Only a commit that the log holds, a true one that a lying relay shows, or leaving, makes a member
 * give up its place.
 */
function checkOutside({ truth }: Play, player: Player): void {
  const { label, agentId, cameIn, removedIn, excused } = player;
  const isWrong = cameIn !== undefined && cameIn === truth.cameIn(agentId) &&
    removedIn === undefined && !excused;
  if (isWrong) throw new Broken(`${label} has erased the channel, and is a member`);
}

/** Whether a report begins with the name of an honest player. */
function isOfHonest(play: Play, text: string): boolean {
  return play.players.some(({ honest, agentId }) => honest && text.startsWith(agentId));
}

function labelOf(play: Play, agentId: string): string {
  return play.players.find((player) => player.agentId === agentId)?.label ?? agentId;
}
