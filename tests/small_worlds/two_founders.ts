/**
 * Two owners and a member are stopped at a commit that nobody of them can follow, or that one of
 * them can. Both owners begin the channel anew, their foundings are lost, late or refused, and all
 * come into one generation.
 */
import { agent, newMember } from "./recovering_member.ts";
import type { LetterGroup } from "./recovering_member.ts";
import type { World } from "./explore.ts";
import type { RecoveringState, RecoveryBudgets } from "./recovering_state.ts";
import { recoveringWorld, type RecoverySetting } from "./recovering_world.ts";
import { append, newRelay } from "./relay_of_letters.ts";

const [first, second, third, blamed] = ["alice", "carol", "bob", "mallory"] as const;

interface Story {
  /** Members that can follow the commit that stops the others. */
  readonly following: readonly string[];
  readonly founders: readonly string[];
  /** Nobody has read that commit yet. */
  readonly isUnread: boolean;
}

export function twoFounders(
  left: Partial<RecoveryBudgets>,
  { following = [], founders = [first, second], isUnread = false, ...setting }: Partial<
    Story & Pick<RecoverySetting, "step" | "present" | "lists" | "line" | "needsChoice">
  > = {},
): World<RecoveringState> {
  const relay = newRelay(blamed);
  append(relay, {
    kind: "commit",
    sender: blamed,
    epoch: 0,
    hash: "commit a",
    added: [first, second, third],
  });
  append(relay, {
    kind: "commit",
    sender: blamed,
    epoch: 1,
    hash: `bad but for ${following.join(" ")}`,
  });
  relay.former = {};
  relay.owners = Object.freeze([...founders]);
  relay.welcomes = {};
  const names = founders.includes(second) ? [first, second, third] : [first, third];
  const joined = [...names, blamed];
  if (!founders.includes(second)) {
    const { [second]: _, ...members } = relay.members;
    relay.members = Object.freeze(members);
  }
  relay.cursors = Object.freeze(
    Object.fromEntries(names.map((name) => [name, { consumed: 1, acknowledged: 1 }])),
  );
  const group: LetterGroup = Object.freeze({
    epoch: 1,
    led: "commit a",
    leaves: Object.freeze(Object.fromEntries(joined.map((name) => [name, name]))),
    owners: Object.freeze([...founders]),
    parent: "start",
  });
  const bad = {
    sequence: 2,
    epoch: 1,
    hash: relay.entries[1]?.hash ?? "",
    blamed: agent(blamed),
    reason: "bad",
    sinceMs: 0,
  };
  // Members that a list names are like nobody.
  const namedIn = [...(setting.line ?? []), ...(setting.lists ?? []).flat()];
  const alike = founders.filter((name) => !following.includes(name) && !namedIn.includes(name));
  const members = names.map((name) => {
    const anchor = { joinedSequence: 1, discarded: [], cameBackMs: [], formerEpoch: 0 };
    const stopped = isUnread || following.includes(name) ? undefined : bad;
    const records = {
      stopped,
      foreign: undefined,
      foundings: [],
      returnedMs: undefined,
      cameBackMs: [],
    };
    return newMember(name, { group, position: 1, anchor, records });
  });
  return recoveringWorld({
    relay,
    members,
    groups: { "commit a": group },
    left,
    alike,
    ...setting,
  });
}
