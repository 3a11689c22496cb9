/** A stopped channel in words, for its application: the problem, and the way out. */
import { type AgentId, quoted } from "../../../proto/mod.ts";
import { identityText } from "../../base/identity_text.ts";
import type { Group } from "../../mls/group.ts";
import { type BadCommit, blamedOf } from "./bad_commit.ts";
import type { ForeignGeneration } from "./foreign_generation.ts";
import type { StoppedState } from "../health.ts";
import type { ExclusionList } from "../group/lineage.ts";

export function problemOf(bad: BadCommit): string {
  const { sender: { identity }, sequence, reason } = bad;
  return `${quoted(identityText(identity))} (${
    blamedOf(bad)
  }) signed a commit that this agent cannot follow, at ` +
    `entry ${sequence} of the log: ${reason}`;
}

/** The exclusion by a `recover()` without lists. */
export interface DefaultExclusion {
  /** Members that would be out beside the sender of the commit. */
  readonly out: number;
  /** Because that one let them in: else an earlier call began it so. */
  readonly isByLine: boolean;
  readonly needsChoice: boolean;
}

/** `outcome`: when an owner may begin anew now. */
export function actionFor(
  bad: BadCommit,
  { self, binding }: Group,
  outcome: DefaultExclusion | undefined,
): string {
  const blamed = blamedOf(bad);
  const owners = binding.owners.filter((owner) => owner !== blamed);
  if (owners.length === 0) {
    return "No owner is left that could recover the channel, because its only owner made that commit: create another " +
      "channel. What has arrived can still be read";
  }
  if (!self.owner) {
    return `An owner can recover the channel with recover(), without that member: ${
      owners.join(", ")
    }. This agent ` +
      "follows by itself, and asks meanwhile whether somebody can follow the commit and lets it in";
  }
  if (outcome === undefined) {
    return "Others may be able to follow the commit, and let this agent in by themselves. If that has not happened a minute " +
      "after the commit arrived, call recover()";
  }
  const { out, isByLine, needsChoice } = outcome;
  if (needsChoice) {
    return "Begin the channel anew without that member with recover(); others follow by themselves. It may have let others " +
      "in for the same purpose, so a choice is needed: see previewRecovery()";
  }
  const others = out === 0
    ? ""
    : ` and ${out} ${isByLine ? "that it let in within a day" : "others"}: see previewRecovery()`;
  return `Call recover() to begin the channel anew without that member${others}; the others follow by themselves`;
}

/** Why an owner must say who goes. */
export function choiceText(
  blamed: AgentId,
  { list, ofDoor, counted }: ExclusionList,
  door: string,
): string {
  const why = ofDoor.length > 0
    ? `a second agent from one door (${door}) stopped the channel within a day, and ${ofDoor.length} others came by it`
    : `recover() would leave out ${list.length} members beside ${blamed}, who came in through it within a day, and that is ` +
      `more than a quarter of the ${counted} others`;
  return `${why}: see previewRecovery(); then call recover({ without }) with those that shall go (none: only ${blamed}), or ` +
    "recover({ keep })";
}

export function foreignState({ generation, founder, reason }: ForeignGeneration): StoppedState {
  return {
    problem:
      `${founder} began generation ${generation} of the channel, and this agent does not follow: ${reason}`,
    action:
      "The channel goes on without this agent. Ask an owner that you trust for a new invite token, or create another " +
      "channel. What has arrived can still be read",
    recoverable: false,
  };
}
