/** A stopped channel in words, for its application: the problem, and the way out. */
import { quoted } from "../../proto/mod.ts";
import { identityText } from "../base/identity_text.ts";
import type { Group } from "../mls/group.ts";
import { type BadCommit, blamedOf } from "./bad_commit.ts";
import type { ForeignGeneration } from "./foreign_generation.ts";
import type { StoppedState } from "./health.ts";

export function problemOf(bad: BadCommit): string {
  const { sender: { identity }, sequence, reason } = bad;
  return `${quoted(identityText(identity))} (${blamedOf(bad)}) signed a commit that this agent cannot follow, at ` +
    `entry ${sequence} of the log: ${reason}`;
}

/** `isOffered`: whether an owner may begin anew now. */
export function actionFor(bad: BadCommit, { self, binding }: Group, isOffered: boolean): string {
  const blamed = blamedOf(bad);
  const owners = binding.owners.filter((owner) => owner !== blamed);
  if (owners.length === 0) {
    return "No owner is left that could recover the channel, because its only owner made that commit: create another " +
      "channel. What has arrived can still be read";
  }
  if (!self.owner) {
    return `An owner can recover the channel with recover(), without that member: ${owners.join(", ")}. This agent ` +
      "follows by itself, and asks meanwhile whether somebody can follow the commit and lets it in";
  }
  return isOffered
    ? "Call recover() to begin the channel anew without that member; the others follow by themselves"
    : "Others may be able to follow the commit, and let this agent in by themselves. If that has not happened a minute " +
      "after the commit arrived, call recover()";
}

export function foreignState({ generation, founder, reason }: ForeignGeneration): StoppedState {
  return {
    problem: `${founder} began generation ${generation} of the channel, and this agent does not follow: ${reason}`,
    action:
      "The channel goes on without this agent. Ask an owner that you trust for a new invite token, or create another " +
      "channel. What has arrived can still be read",
    recoverable: false,
  };
}
