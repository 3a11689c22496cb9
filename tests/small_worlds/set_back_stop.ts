/**
 * An owner is stopped at a commit, and another member perhaps not. The log is set back to before
 * that commit, or to before what came behind it: the stop is taken back, or comes again, commits
 * are put back, and a founding may be on its way meanwhile.
 */
import type { World } from "./explore.ts";
import { copyOf } from "./plain_state.ts";
import { afterLetterCommit } from "./recovering_host.ts";
import { agent, type LetterGroup, newMember } from "./recovering_member.ts";
import type { RecoveringState, RecoveryBudgets } from "./recovering_state.ts";
import { recoveringWorld, type RecoverySetting } from "./recovering_world.ts";
import { append, newRelay } from "./relay_of_letters.ts";

const [owner, member, blamed] = ["alice", "bob", "mallory"] as const;

interface Story {
  /** The other member can follow the commit at which the owner is stopped. */
  readonly isFollowed: boolean;
}

export function setBackStop(
  left: Partial<RecoveryBudgets>,
  { isFollowed = false, ...setting }: Partial<Story & Pick<RecoverySetting, "step">> = {},
): World<RecoveringState> {
  const relay = newRelay(owner);
  append(relay, {
    kind: "commit",
    sender: owner,
    epoch: 0,
    hash: "commit a",
    added: [member, blamed],
  });
  relay.welcomes = {};
  relay.cursors = Object.freeze(
    Object.fromEntries([owner, member].map((name) => [name, { consumed: 1, acknowledged: 1 }])),
  );
  const backup = copyOf(relay);
  const hash = isFollowed ? `bad but for ${member}` : "bad";
  append(relay, { kind: "commit", sender: blamed, epoch: 1, hash });
  const leaves = Object.freeze(
    Object.fromEntries([owner, member, blamed].map((name) => [name, name])),
  );
  const group: LetterGroup = Object.freeze({
    epoch: 1,
    led: "commit a",
    leaves,
    owners: [owner],
    parent: "start",
  });
  const bad = { sequence: 2, epoch: 1, hash, blamed: agent(blamed), reason: "bad", sinceMs: 0 };
  const records = {
    stopped: bad,
    foreign: undefined,
    foundings: [],
    returnedMs: undefined,
    cameBackMs: [],
  };
  const common = { discarded: [], cameBackMs: [], formerEpoch: 0 };
  const followed = afterLetterCommit(group, hash, []);
  const nobody = { added: [], removed: [] };
  const kept = [{ epoch: 1, hash, sender: blamed, ...nobody }];
  const members = [
    newMember(owner, { group, position: 1, anchor: { joinedSequence: 0, ...common }, records }),
    newMember(
      member,
      isFollowed
        ? { group: followed, position: 2, anchor: { joinedSequence: 1, ...common }, kept }
        : { group, position: 1, anchor: { joinedSequence: 1, ...common } },
    ),
  ];
  const groups = { "commit a": group, [hash]: followed };
  return recoveringWorld({
    relay,
    members,
    groups,
    left: { setBack: 0, ...left },
    backup,
    ...setting,
  });
}
