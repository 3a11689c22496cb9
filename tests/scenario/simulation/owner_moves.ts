/**
 * Attacks of a hostile owner: all that its keys and its place allow. No honest member is safe from
 * it, but each is told.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { commitStatement, type NoticeBody, type RequestBody } from "../../../proto/mod.ts";
import type { Random } from "../../support/mod.ts";
import { foundingAgainst } from "../../support/scenario/bad_commits.ts";
import { name } from "../../support/scenario/stage.ts";
import type { MoveKind, MoveTable } from "./moves.ts";
import type { Play } from "./play.ts";
import type { Player } from "./player.ts";

function owner(
  weight: number,
  act: (play: Play, random: Random, by: Player) => string | undefined,
): MoveKind {
  return {
    weight,
    run: (play, random) => {
      const by = play.pick(random, play.inside({ honest: false }));
      return by && act(play, random, by);
    },
  };
}

/** Commits in the background, if it is still in. */
function commit(
  play: Play,
  by: Player,
  change: { readonly remove?: Player[]; readonly owners?: Player[] },
): void {
  const run = async (): Promise<void> => {
    const inside = await by.actor.inside();
    const idsOf = (players: readonly Player[] = []) =>
      players.map(({ agentId }) => agentId).filter((agentId) =>
        inside.memberOf(agentId) !== undefined
      );
    const call = inside.commit(() => ({
      remove: idsOf(change.remove),
      ...(change.owners && { owners: idsOf(change.owners) }),
    }));
    await play.wills.during(
      by.agentId,
      "remove",
      (change.remove ?? []).map(({ agentId }) => agentId),
      call,
    );
  };
  play.background(`${by.label} commits`, run());
}

export const ownerMoves: MoveTable = {
  throwOut: owner(3, (play, random, by) => {
    const target = random.pick(play.players.filter((each) => each !== by));
    commit(play, by, { remove: [target] });
    return `${by.label} removes ${target.label}`;
  }),
  takeOver: owner(3, (play, random, by) => {
    const owners = play.players.filter((each) => each === by || random.chance(0.3));
    commit(play, by, { owners });
    return `${by.label} makes owners of ${owners.map(({ label }) => label).join(" and ")}`;
  }),
  declareNothing: owner(3, (play, random, by) => {
    play.hasBadCommit = play.hasLostState = true;
    const remove = play.players.filter((each) => each !== by && random.chance(0.5));
    play.wire.add("client", by, {
      uses: 1,
      call: (operation, body, forward) => {
        if (operation !== "SendCommit") return undefined;
        const { owners: _, ...sent } = body as RequestBody<"SendCommit">; // cast: of this operation
        const bare = { ...sent, added: [], removed: [], welcomes: [], answers: [] };
        const statement = commitStatement({
          ...bare,
          commitHash: sha256(bare.commit),
          owners: undefined,
        });
        return forward({ ...bare, signature: by.actor.sign(statement) });
      },
    });
    commit(play, by, { remove });
    return `${by.label} removes ${remove.length} members and declares nothing`;
  }),
  foundFalsely: owner(4, (play, _, by) => {
    play.hasBadCommit = play.hasLostState = true;
    play.wire.add("client", by, {
      uses: 1,
      notice: (notice) => {
        if (notice.operation !== "DeliverCommit") return undefined;
        play.background(`${by.label} founds`, foundInstead(by, notice.body));
        return [];
      },
    });
    return `${by.label} begins a new generation instead of following the next commit`;
  }),
  close: owner(1, (play, _, by) => {
    play.background(`${by.label} closes`, by.actor.client.closeChannel(name));
    return `${by.label} closes the channel`;
  }),
};

/** A good commit is called a bad one. */
async function foundInstead({ actor }: Player, commit: NoticeBody<"DeliverCommit">): Promise<void> {
  const founding = await foundingAgainst(await actor.inside(), commit);
  if (founding !== undefined) await actor.session.call("FoundGeneration", founding);
}
