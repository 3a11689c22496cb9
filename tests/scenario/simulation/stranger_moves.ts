/**
 * Strangers among the members: a guest that came by a guest link with a pass, agents that a member
 * has invented, and a thief with a copy of an honest member's directory. And the policy, by which
 * owners keep strangers from adding others and from speaking.
 */
import { StaticError } from "../../../sdk/mod.ts";
import { Actor, name } from "../../support/scenario/stage.ts";
import { backInStep } from "./ending.ts";
import { pickSafe } from "./loss_moves.ts";
import type { MoveTable } from "./moves.ts";
import type { Play } from "./play.ts";
import type { Player } from "./player.ts";

const scopes = ["members", "owners"] as const;
/** Agents that are invented in a schedule, at most. */
const maxInvented = 3;
/** Of another account than the channel's. */
const otherKey = { account: 2 };

/** A hostile agent that nobody but its maker has heard of joins by it. */
async function invent(play: Play, by: Player): Promise<string | undefined> {
  if (play.invented === maxInvented) return undefined;
  const sybil = await play.invent();
  play.background(`${sybil.label} joins`, sybil.joins(play.truth, play.join(sybil, by)));
  return `${by.label} invents ${sybil.label}, which joins by it`;
}

function isNotAllowed(error: unknown): boolean {
  return error instanceof StaticError && error.code === "not_allowed";
}

function guestOf(play: Play): Player | undefined {
  return play.inside().find(({ comesAsGuest }) => comesAsGuest);
}

export const strangerMoves: MoveTable = {
  sybil: {
    weight: 5,
    run: (play, random) => {
      const by = play.pick(random, play.inside({ honest: false }));
      return by && invent(play, by);
    },
  },
  /** Both its program and the relay refuse it. */
  guestInvites: {
    weight: 2,
    run: async (play) => {
      const guest = guestOf(play);
      return guest?.hasPass === true ? await invent(play, guest) : undefined;
    },
  },
  /**
   * The relay would take it, because the key may add members: the group knows that this one is a
   * guest.
   */
  guestWithOtherKey: {
    weight: 3,
    run: async (play) => {
      const guest = guestOf(play);
      if (guest === undefined) return undefined;
      await play.stage.finish("the guest has connected", guest.actor.useKey(otherKey));
      const text = `${guest.label} uses its directory with another account's key`;
      if (guest.guestSince === undefined || guest.guestSince === Infinity) {
        const invented = await invent(play, guest);
        return invented && `${invented}; ${text}`;
      }
      const refused = await play.stage.finish(
        "the guest is refused",
        guest.actor.manager.invite(name).then(() => false, isNotAllowed),
      );
      if (refused) play.guestRefusals++;
      return `${text}, and ${
        refused ? "may let nobody in" : "does not get so far as to be refused"
      }`;
    },
  },
  release: {
    weight: 1,
    run: (play) => {
      const [guest, { channel, label }] = [guestOf(play), play.founder];
      if (guest === undefined || channel === undefined) return undefined;
      play.ledger.releases(guest);
      play.background("a guest is promoted", channel.promote(guest.agentId, { to: "member" }));
      return `${label} makes ${guest.label} a member like the others`;
    },
  },
  policy: {
    weight: 5,
    run: (play, random) => {
      const { channel, label } = play.founder;
      const policy = { admission: random.pick(scopes), posting: random.pick(scopes) };
      if (channel === undefined) return undefined;
      play.ledger.wantsPolicy(policy);
      play.background("the policy changes", channel.setPolicy(policy));
      return `${label} lets ${policy.admission} add and ${policy.posting} speak`;
    },
  },
  thief: {
    weight: 3,
    run: async (play, random) => {
      const victim = await pickSafe(play, (safe) => play.pick(random, safe));
      if (victim === undefined) return undefined;
      const isCommitting = random.chance(0.3);
      await useCopy(play, victim, { isCommitting, ms: random.pick([20, 300, 2_000, 20_000]) });
      // The relay has ended the victim's session for the thief's. Its application connects again.
      victim.actor.session.disconnect();
      await play.stage.finish(`${victim.label} connects`, victim.actor.session.connect());
      await backInStep(play, victim);
      return `a thief has spoken${
        isCommitting ? " and committed" : ""
      } with a copy of the directory of ${victim.label}`;
    },
  },
};

/** The thief takes the victim's place for a while, with the honest program. */
async function useCopy(
  play: Play,
  victim: Player,
  { isCommitting, ms }: { readonly isCommitting: boolean; readonly ms: number },
): Promise<void> {
  const thief = new Actor(play.stage, victim.label, 1, victim.actor.copyDisk());
  play.hasLostState = true;
  const text = play.truth.seal(victim.agentId, false);
  play.stolen.push({ text, victim });
  await play.stage.finish(
    "the thief has started",
    thief.start({
      call: (operation, _, forward) => {
        // It signs with the victim's key.
        if (operation === "RequestRejoin") play.wills.states(victim.agentId, "comes back");
        return forward();
      },
    }),
  );
  play.background(`the thief says "${text}"`, thief.manager.send(name, text));
  if (isCommitting) {
    const inside = await thief.inside();
    play.background("the thief commits", inside.commit());
  }
  await play.stage.world.time.advance(ms);
  await play.stage.finish("the thief has stopped", thief.stop());
}
