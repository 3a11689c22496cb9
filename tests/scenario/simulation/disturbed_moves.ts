/**
 * Connections that begin badly, though nobody lies: one of the first calls is refused, late, or
 * ends the connection.
 */
import { disturb, disturbances } from "../../support/scenario/disturbed_call.ts";
import type { Random } from "../../support/mod.ts";
import { putDiskBack } from "./loss_moves.ts";
import type { MoveKind, MoveTable } from "./moves.ts";
import type { Play } from "./play.ts";
import type { Player } from "./player.ts";

/** As many calls as a connect of an owner makes that has much to settle. */
const callsOfConnect = 10;

/** From now on one of the player's next calls is disturbed. Returns a description. */
function disturbOne(play: Play, random: Random, player: Player): string {
  const [kind, at] = [random.pick(disturbances), random.below(callsOfConnect)];
  let calls = 0;
  play.wire.disturb(player, (forward) => {
    if (calls++ !== at) return undefined;
    return disturb(kind, { session: player.actor.session, runtime: play.stage.runtime }, forward);
  });
  return `call ${at + 1} of its next ones is disturbed: ${kind}`;
}

function badly(
  weight: number,
  what: string,
  begin: (play: Play, player: Player) => Promise<void>,
): MoveKind {
  return {
    weight,
    run: async (play, random) => {
      const player = play.pick(random, play.inside({ honest: true }));
      if (player === undefined) return undefined;
      const told = disturbOne(play, random, player);
      await begin(play, player);
      return `${player.label} ${what}; ${told}`;
    },
  };
}

export const disturbedMoves: MoveTable = {
  connect: badly(6, "connects anew", (play, { actor: { session } }) => {
    session.disconnect();
    play.background("connecting", session.connect());
    return Promise.resolve();
  }),
  crash: badly(4, "crashes", (play, player) => {
    return play.stage.finish(`${player.label} is back`, player.restart(play.truth, "crash"));
  }),
  restore: {
    weight: 6,
    run: (play, random) =>
      putDiskBack(
        play,
        random,
        (player) => play.note(`${player.label}: ${disturbOne(play, random, player)}`),
      ),
  },
  restart: badly(2, "restarts", (play, player) => {
    return play.stage.finish(`${player.label} is back`, player.restart(play.truth, "stop"));
  }),
};
