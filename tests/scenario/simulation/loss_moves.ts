/**
 * Losses of honest members, though nobody lies: a disk that is put back, a long absence, and a
 * relay that restarts. While a member comes back from the first two the relay is honest, and
 * another one is inside: a relay that leads all others astray at that moment leaves nobody who
 * could admit it (docs/groups.md, "What remains").
 */
import { backInStep, companions } from "./ending.ts";
import type { Random } from "../../support/mod.ts";
import type { MoveTable } from "./moves.ts";
import type { Play } from "./play.ts";
import type { Player } from "./player.ts";
import { lapseMs } from "./stage.ts";

const second = 1000;

/**
 * An honest player that another one can let in again. The relay's lies so far have had their time.
 */
export async function pickSafe(
  play: Play,
  pick: (players: readonly Player[]) => Player | undefined,
): Promise<Player | undefined> {
  play.wire.calm();
  await play.stage.world.time.advance(5 * second);
  return pick(
    play.inside({ honest: true }).filter((player) => companions(play, player).length > 0),
  );
}

/** Something that a crash, or a copy of the disk, may come between. */
async function begin(
  play: Play,
  player: Player,
  what: "commits" | "leaves" | "comes back",
): Promise<void> {
  if (what === "leaves") return await play.leave(player);
  if (what === "commits") {
    await (await player.actor.inside()).commit();
    return;
  }
  // To be removed and added in one commit is to be brought back.
  play.hasLostState = true;
  const { agentId, channel } = play.founder;
  const keyPackage = await player.actor.client.generateKeyPackage();
  if (channel !== undefined) {
    await play.wills.during(agentId, "add", [player.agentId], channel.addMember(keyPackage));
  }
  // It went meanwhile: what it signed is about the leaf before, and the founder has to remove what
  // it added.
  if (player.excused) play.voidLeaves.add(player.agentId);
}

/** `begin`: right before the process starts on its old disk. */
export async function putDiskBack(
  play: Play,
  random: Random,
  begin: (player: Player) => void = () => {},
): Promise<string | undefined> {
  // Somebody inside that it knew then.
  const isKnown = (player: Player): boolean =>
    companions(play, player).some(({ agentId }) => player.saved?.known.has(agentId));
  const player = await pickSafe(play, (safe) => play.pick(random, safe.filter(isKnown)));
  if (player === undefined) return;
  play.hasLostState = true;
  begin(player);
  if (!await play.stage.finish(`${player.label} is back`, player.restore(play.truth))) return;
  play.note(`the disk of ${player.label} is put back`);
  await backInStep(play, player);
  return `${player.label} is back from its old disk`;
}

export const lossMoves: MoveTable = {
  backup: {
    weight: 3,
    run: async (play, random) => {
      const player = play.pick(
        random,
        play.inside({ honest: true }).filter(({ channel }) => channel !== undefined),
      );
      if (player === undefined) return;
      await play.stage.finish(`${player.label} is back`, player.backup(play.truth));
      return `the disk of ${player.label} is copied`;
    },
  },
  copyWhile: {
    weight: 3,
    run: async (play, random) => {
      const inside = play.inside({ honest: true }).filter(({ channel }) => channel !== undefined);
      const player = play.pick(random, inside);
      if (player === undefined) return;
      const what = random.pick(["commits", "leaves", "comes back"] as const);
      if (what !== "commits" && player === play.founder) return;
      play.background(`${player.label} ${what}`, begin(play, player, what));
      await play.stage.world.time.advance(random.pick([0, 1, 5, 20, 100]));
      if (!player.isIn) return;
      await play.stage.finish("the disk is copied", player.copyDisk());
      return `the disk of ${player.label} is copied while it ${what}`;
    },
  },
  restore: {
    weight: 3,
    run: (play, random) => putDiskBack(play, random),
  },
  absence: {
    weight: 1,
    run: (play, random) => beAway(play, random, () => Promise.resolve()),
  },
  restartRelay: {
    weight: 2,
    run: async (play) => {
      await play.withoutRelay(() => play.stage.restartRelay());
      return "the relay restarts";
    },
  },
};

/** Apart from the others, so that schedules that were found before stay what they are. */
export const lapseMoves: MoveTable = {
  lapse: {
    weight: 2,
    run: (play, random) =>
      beAway(play, random, async (companion) => {
        // A relay looks for members that were absent for too long where something happens.
        say(play, companion);
        await play.stage.world.time.advance(60 * second);
      }),
  },
};

/** A member is away for longer than the relay waits for it. */
async function beAway(
  play: Play,
  random: Random,
  before: (companion: Player) => Promise<void>,
): Promise<string | undefined> {
  const player = await pickSafe(play, (safe) => play.pick(random, safe));
  const [companion] = player === undefined ? [] : companions(play, player);
  if (player === undefined || companion?.channel === undefined) return;
  play.hasLostState = true;
  for (const each of play.inside({ honest: true })) each.read(1_000);
  player.actor.session.disconnect();
  say(play, companion);
  await play.stage.world.time.advance(lapseMs + 60 * second);
  await before(companion);
  await play.stage.finish(`${player.label} connects`, player.actor.session.connect());
  play.note(`${player.label} was away for too long`);
  await backInStep(play, player);
  return `${player.label} is back from a long absence`;
}

function say(play: Play, { agentId, label, channel }: Player): void {
  const text = play.truth.seal(agentId, true);
  if (channel !== undefined) play.background(`${label} says "${text}"`, channel.send(text));
}
