/**
 * Commits of members with a modified client that nobody, or not everybody, can follow; and an owner
 * that begins anew.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  binaryIdToBytes,
  commitStatement,
  generationOf,
  groupIdOf,
  type RequestBody,
} from "../../../proto/mod.ts";
import { MlsFault, stateOf } from "../../../sdk/testing/agents.ts";
import { HostileMember } from "../../../sdk/testing/hostile_member.ts";
import { createPrivateMessage, type Random } from "../../support/mod.ts";
import { name } from "../../support/scenario/stage.ts";
import type { MoveKind, MoveTable } from "./moves.ts";
import type { Play } from "./play.ts";
import type { Player } from "./player.ts";

type Commit = RequestBody<"SendCommit">;

async function signed(by: Player, commit: Uint8Array, nextState: Uint8Array): Promise<Commit> {
  const { channelId, group } = await by.actor.inside();
  const lists = { added: [], removed: [], welcomes: [], answers: [] };
  const states = { state: stateOf(group.current), nextState };
  const { epoch } = group;
  const body = { channelId, epoch, commit, ...lists, generation: generationOf(epoch), ...states };
  const statement = commitStatement({ ...body, commitHash: sha256(commit), owners: undefined });
  return { ...body, signature: by.actor.sign(statement) };
}

async function bogus(random: Random, by: Player): Promise<Commit> {
  const { channelId, epoch } = await by.actor.inside();
  const commit = createPrivateMessage({
    groupId: binaryIdToBytes(groupIdOf(channelId, generationOf(epoch))),
    epoch,
    contentType: 3,
    ciphertext: random.bytes(200),
  });
  return await signed(by, commit, random.bytes(32));
}

async function garbled(random: Random, by: Player): Promise<Commit> {
  const member = await HostileMember.of(by.actor.agent, name);
  const { message, next } = member.garbledCommit([random.below(3)]);
  return await signed(by, message, stateOf(next));
}

/** For a hostile player that is in the channel; which it is not for long. */
function badCommit(
  weight: number,
  make: (random: Random, by: Player) => Promise<Commit>,
  what: string,
): MoveKind {
  return {
    weight,
    run: async (play, random) => {
      const by = play.pick(random, play.inside({ honest: false }));
      if (by === undefined) return undefined;
      try {
        const commit = await play.stage.finish("a commit is made", make(random, by));
        play.hasBadCommit = play.hasLostState = true;
        play.background(`${by.label} commits`, by.actor.session.call("SendCommit", commit));
        return `${by.label} commits ${what} in epoch ${commit.epoch}`;
      } catch (error) {
        if (error instanceof MlsFault) return `${by.label} has no keys any more`;
        throw error;
      }
    },
  };
}

/** Owners whose application looks at `health()` and does what it offers. */
export function recoverWhereOffered(play: Play): string | undefined {
  const owners = play.inside({ honest: true }).filter(({ channel }) =>
    channel?.health().recoverable === true
  );
  for (const owner of owners) {
    play.background(`${owner.label} recovers the channel`, play.recover(owner));
  }
  return owners.length === 0
    ? undefined
    : `${owners.map(({ label }) => label).join(" and ")} recover the channel`;
}

export const commitMoves: MoveTable = {
  bogusCommit: badCommit(3, bogus, "random bytes"),
  garbledPath: badCommit(3, garbled, "a garbled path"),
  recover: { weight: 6, run: (play) => recoverWhereOffered(play) },
};
