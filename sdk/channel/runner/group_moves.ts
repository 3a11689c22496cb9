/**
 * The group of a channel moves on, in one write with what the membership knows of it; then
 * everybody who keeps something per member hears of it.
 */
import type { NoticeBody } from "../../../proto/mod.ts";
import type { PreparedCommit } from "../../mls/group.ts";
import type { FoundingCandidate } from "../../mls/state_codec.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { FollowVerdict, GenerationFounder } from "../group/followed_commits.ts";
import type { Membership } from "../group/membership.ts";
import type { KeptCommit } from "../group/signed_commit.ts";

/** Somebody's commit. It is followed and durable, or the outcome says why not. */
export async function follow(
  commit: NoticeBody<"DeliverCommit">,
  membership: Membership,
): Promise<FollowVerdict> {
  const judged = membership.judgeCommit(commit);
  if (judged.kind !== "follow") return judged;
  const { rules, place } = judged;
  const { outcome } = await membership.durable.receive(
    commit.commit,
    rules,
    (summary) => membership.changesOf(summary, place),
  );
  if (outcome.kind === "commit") membership.moved(outcome.summary);
  if (outcome.kind === "stale" || outcome.kind === "future" || outcome.kind === "wrong_group") {
    return {
      kind: "refused",
      reason: "The commit was made for another epoch or group than its sender declared",
    };
  }
  return outcome;
}

/**
 * The relay took our commit, and says where it stands. Resolves with false when the group had left
 * its epoch before.
 */
export async function accept(
  prepared: PreparedCommit,
  { sequence, signed }: { readonly sequence: number; readonly signed: KeptCommit },
  membership: Membership,
): Promise<boolean> {
  const { epoch, hash, summary } = prepared;
  const place = { own: true, hash, epoch, sequence, signed };
  const isTaken = await membership.durable.accept(
    prepared,
    (summary) => membership.changesOf(summary, place),
  );
  if (isTaken) membership.moved(summary);
  return isTaken;
}

/**
 * A new generation takes the present one's place. `written`: it is on disk, and nobody was told
 * yet.
 */
export async function enterGeneration(
  generation: Pick<FoundingCandidate, "next" | "changes"> & GenerationFounder,
  { alongside, written }: {
    readonly alongside: () => readonly RecordChange[];
    readonly written: () => void;
  },
  membership: Membership,
): Promise<void> {
  const before = membership.beforeGeneration;
  await membership.durable.enterGeneration(generation, () => {
    const changes = membership.generationChanges(generation, before);
    return [...alongside(), ...changes];
  });
  written();
  membership.generationEntered(generation, before);
}
