/** Actions of honest members and owners, and accidents of their processes. */
import { reopenEnded } from "./ending.ts";
import type { MoveTable } from "./moves.ts";
import type { Player } from "./player.ts";
import { name } from "../../support/scenario/stage.ts";

const second = 1000;

export const honestMoves: MoveTable = {
  say: {
    weight: 14,
    run: (play, random) => {
      const player = play.pick(random, play.inside({ honest: true }));
      if (player?.channel === undefined) return;
      const text = play.truth.seal(player.agentId, true);
      play.background(`${player.label} says "${text}"`, player.channel.send(text));
      return `${player.label} says "${text}"`;
    },
  },
  read: {
    weight: 8,
    run: (play, random) => {
      const player = play.pick(random, play.inside({ honest: true }));
      const messages = 1 + random.below(4);
      player?.read(messages);
      return player && `${player.label} reads ${messages}`;
    },
  },
  wait: {
    weight: 8,
    run: async (play, random) => {
      const ms = random.pick([1, 10, 100, second, 5 * second, 20 * second]);
      await play.stage.world.time.advance(ms);
      return `${ms} ms pass`;
    },
  },
  join: {
    weight: 8,
    run: (play, random) => {
      const guest = play.pick(
        random,
        play.players.filter(({ honest, isIn, joining }) => honest && !isIn && !joining),
      );
      const inviter = play.pick(random, play.inside({ honest: true }));
      if (guest === undefined || inviter === undefined) return;
      play.background(`${guest.label} joins`, guest.joins(play.truth, play.join(guest, inviter)));
      return `${guest.label} joins by ${inviter.label}`;
    },
  },
  leave: {
    weight: 3,
    run: (play, random) => {
      const player = play.pick(
        random,
        play.inside({ honest: true }).filter((each) => each !== play.founder),
      );
      if (player?.channel === undefined) return;
      play.background(`${player.label} leaves`, play.leave(player));
      return `${player.label} leaves`;
    },
  },
  remove: {
    weight: 4,
    run: (play, random) => {
      const { founder } = play;
      const target = play.pick(random, play.players.filter((each) => each !== founder));
      if (target === undefined || founder.channel === undefined) return;
      play.background(`${target.label} is removed`, play.remove(founder, target.agentId));
      return `${founder.label} removes ${target.label}`;
    },
  },
  appoint: {
    weight: 2,
    run: (play, random) => {
      const { founder } = play;
      const others = play.inside({ honest: true }).filter((player) => player !== founder);
      const chosen = others.filter(() => random.chance(0.5));
      play.background("owners are appointed", play.appoint([founder, ...chosen]));
      return `${founder.label} makes owners of ${
        chosen.map(({ label }) => label).join(" and ") || "nobody else"
      }`;
    },
  },
  reopen: { weight: 2, run: (play) => reopenEnded(play) },
  restart: {
    weight: 3,
    run: async (play, random) => {
      const player = play.pick(random, play.players.filter(({ honest }) => honest));
      if (player === undefined) return;
      await play.stage.finish(`${player.label} is back`, player.restart(play.truth, "stop"));
      return `${player.label} restarts`;
    },
  },
  crash: {
    weight: 3,
    run: async (play, random) => {
      const player = play.pick(random, play.players.filter(({ honest }) => honest));
      if (player === undefined) return;
      await play.stage.finish(`${player.label} is back`, player.restart(play.truth, "crash"));
      return `${player.label} crashes`;
    },
  },
  disconnect: {
    weight: 4,
    run: (play, random) => {
      const player = play.pick(random, play.players);
      if (player === undefined) return;
      const { session } = player.actor;
      const ms = random.pick([0, second, 20 * second]);
      session.disconnect();
      play.stage.runtime.after(ms, () => play.background("connecting", session.connect()));
      return `${player.label} loses its connection for ${ms} ms`;
    },
  },
  loseReply: {
    weight: 2,
    run: (play, random) => {
      const player = play.pick(random, play.inside());
      if (player === undefined) return;
      player.actor.session.loseReplies++;
      return `${player.label} will not get its next reply`;
    },
  },
  addByHand: {
    weight: 2,
    run: (play, random) => {
      const isFree = ({ honest, isIn, joining, comesAsGuest }: Player): boolean =>
        honest && !isIn && !joining && !comesAsGuest;
      const guest = play.pick(random, play.players.filter(isFree));
      const adder = play.pick(random, play.inside({ honest: true }));
      const channel = adder?.channel;
      if (guest === undefined || adder === undefined || channel === undefined) return;
      const add = async (): Promise<void> => {
        const keyPackage = await guest.actor.client.generateKeyPackage();
        const call = channel.addMember(keyPackage);
        const welcome = await play.wills.during(adder.agentId, "add", [guest.agentId], call);
        // Handed over without the relay: perhaps of a commit that the relay has kept for itself.
        if (play.wire.liedTo.has(adder)) play.wire.liedTo.add(guest);
        await guest.actor.client.joinChannel(name, welcome);
        await guest.enter(play.truth);
      };
      play.background(`${guest.label} is added`, guest.joins(play.truth, add()));
      return `${adder.label} adds ${guest.label}`;
    },
  },
};
