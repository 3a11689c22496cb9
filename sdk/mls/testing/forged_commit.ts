/**
 * Commits as a member with a modified program could make them, and an honest reader's verdict on
 * each.
 */
import {
  emptyCommitAad,
  encodeCommitAad,
  encodeOwnersChanges,
  type MemberProof,
  type OwnersChange,
} from "../../../proto/mod.ts";
import { atOnce } from "../../base/interruptible_work.ts";
import { type ChannelBinding, encodeBinding } from "../channel_extensions.ts";
import { createRules } from "../channel_rules.ts";
import { createCommit } from "../commit.ts";
import { portableSignatures } from "./portable_signatures.ts";
import { stateOf } from "../epoch.ts";
import type { Extension } from "../ts_mls.ts";
import type { Agent } from "./world.ts";

/** Fields that a member with a modified program could write. */
export interface Forged {
  readonly binding?: ChannelBinding;
  /** In place of those that the binding has. */
  readonly extensions?: Extension[];
  readonly changes?: readonly OwnersChange[];
  readonly added?: readonly Agent[];
  readonly rejoins?: readonly MemberProof[];
  readonly leaves?: readonly MemberProof[];
  readonly removed?: readonly Agent[];
}

const followed = "only looking";

/** An honest reader's verdict; undefined when it would follow the commit. */
export async function verdict(
  by: Agent,
  reader: Agent,
  forged: Forged,
): Promise<string | undefined> {
  const { binding, changes = [], added = [], removed = [], rejoins = [], leaves = [] } = forged;
  const packages = await Promise.all(
    added.map(async (agent) => agent.own ?? await agent.createKeyPackage()),
  );
  const extensions = forged.extensions ?? (binding && encodeBinding(binding));
  const { message, next } = atOnce(createCommit(by.member.current, {
    proposals: [
      ...(extensions === undefined ? [] : [{
        proposalType: "group_context_extensions" as const,
        groupContextExtensions: { extensions },
      }]),
      ...removed.map(({ member }) => ({
        proposalType: "remove" as const,
        remove: { removed: member.self.leafIndex },
      })),
      ...packages.map(({ keyPackage }) => ({ proposalType: "add" as const, add: { keyPackage } })),
    ],
    identity: by.identity,
    authenticatedData: encodeCommitAad({
      ...emptyCommitAad,
      changes: encodeOwnersChanges(changes),
      rejoins,
      leaves,
    }),
    padding: () => 0,
  }, by.deps));
  const outcome = await reader.member.receive(message, (commit) => {
    const { owners } = commit.summary;
    const lists = {
      added: added.map(({ id }) => id),
      removed: removed.map(({ id }) => id),
      owners,
    };
    return createRules({ ...lists, nextState: stateOf(next) }, portableSignatures)(commit) ??
      followed;
  });
  if (outcome.kind !== "refused") throw new Error(`the reader did more than look: ${outcome.kind}`);
  return outcome.reason === followed ? undefined : outcome.reason;
}

/** The verdict names this reason. */
export function refuses(part: string, why: string | undefined): void {
  if (why?.includes(part) !== true) throw new Error(`${why} for ${part}`);
}
