/**
 * A channel that requires badges: they are renewed, end, and begin later, their issuer changes its
 * keys and closes old ones, owners follow it, and clocks differ by years.
 */
import { equalBytes } from "../../../proto/mod.ts";
import type { MoveTable } from "./moves.ts";
import { type Life, lives } from "./issuing.ts";
import type { Play } from "./play.ts";
import type { Player } from "./player.ts";

const yearMs = 365 * 24 * 60 * 60 * 1000;
const maxKeys = 4;

/** The founder's application lists what the issuer has now. */
export function listIssuers(play: Play): void {
  const { channel } = play.founder;
  if (channel === undefined || play.issuing === undefined) return;
  play.background("the issuers are listed", channel.setIssuers(play.issuing.listed));
}

/**
 * At the end: all have badges that last, by a key that the channel knows, as one of its members
 * tells, and by the newest. The founder lists the issuer's keys beside those in force.
 */
export async function settleBadges(play: Play, member: Player | undefined): Promise<void> {
  const { issuing, founder: { channel } } = play;
  if (issuing === undefined) return;
  const { issuers } = (await member?.actor.inside())?.group.binding ?? {};
  const open = issuers?.issuers.filter(({ closed }) => !closed) ?? [];
  for (const { label, agentId } of play.players) {
    issuing.giveKnown(label, agentId, (key) => open.some((each) => equalBytes(each.key, key)));
  }
  if (channel === undefined) return;
  const list = async (): Promise<void> => {
    const { listed } = issuing;
    const others = (await channel.issuers()).filter(({ key }) =>
      !listed.some((each) => each.key === key)
    );
    await channel.setIssuers([...others, ...listed]);
  };
  play.background("the issuers are listed", list());
}

export const badgeMoves: MoveTable = {
  renew: {
    weight: 8,
    run: (play, random) => {
      const player = play.pick(random, play.players);
      if (player === undefined || play.issuing === undefined) return;
      // cast: the keys of a table
      const life = random.pick(Object.keys(lives) as Life[]);
      const both = random.chance(0.5);
      play.issuing.give(player.label, player.agentId, { life, both });
      return `${player.label} has a badge: ${life}${both ? ", and one by the key before" : ""}`;
    },
  },
  show: {
    weight: 8,
    run: (play, random) => {
      const player = play.pick(random, play.inside({ honest: true }));
      if (player?.channel === undefined) return;
      play.background(`${player.label} rotates`, player.channel.rotate());
      return `${player.label} shows its badges with new keys`;
    },
  },
  nextKey: {
    weight: 3,
    run: (play) => {
      if (play.issuing === undefined || play.issuing.keys === maxKeys) return;
      play.issuing.next();
      listIssuers(play);
      return "the issuer has a new key, and the founder lists it";
    },
  },
  closeKey: {
    weight: 3,
    run: (play) => {
      if (play.issuing?.closeOldest() !== true) return;
      listIssuers(play);
      return "the issuer closes its oldest key, and so does the founder";
    },
  },
  takeOut: {
    weight: 3,
    run: (play) => {
      if (play.issuing?.takeOutClosed() !== true) return;
      listIssuers(play);
      return "the issuer takes out a closed key, and so does the founder, if nobody needs it";
    },
  },
  pause: {
    weight: 1,
    run: (play) => {
      const { channel } = play.founder;
      if (channel === undefined) return;
      play.background("nobody needs a badge", channel.setIssuers([]));
      return "the founder asks for no badges";
    },
  },
  list: {
    weight: 2,
    run: (play) => {
      listIssuers(play);
      return "the founder lists the issuers";
    },
  },
  clock: {
    weight: 4,
    run: (play, random) => {
      const player = play.pick(random, play.players.filter((each) => each !== play.founder));
      if (player === undefined) return;
      const years = random.pick([-3, -1, 0, 1, 5]);
      player.actor.clockOffsetMs = years * yearMs;
      return `the clock of ${player.label} is ${years} years ahead`;
    },
  },
};
