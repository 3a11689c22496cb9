/**
 * A member that cannot follow a commit asks to be let in, while another one can. The member that
 * made the commit answers with Welcomes that do not open and with leaves that are not the present
 * one, and an owner begins the channel anew.
 */
import { foundingEpoch } from "../../proto/mod.ts";
import type { Move, World } from "./explore.ts";
import { afterLetterCommit, type LetterFounding, RecoveringHost } from "./recovering_host.ts";
import { agent, type LetterGroup, newMember } from "./recovering_member.ts";
import type { RecoveringState, RecoveryBudgets } from "./recovering_state.ts";
import { recoveringWorld, type RecoverySetting } from "./recovering_world.ts";
import { append, callRelay, newRelay, type Note } from "./relay_of_letters.ts";

const [member, helper, liar, owner] = ["alice", "bob", "mallory", "dave"] as const;
const commit = `bad but for ${helper}`;

export function toldLeaves(
  left: Partial<RecoveryBudgets>,
  setting: Partial<Pick<RecoverySetting, "step">> = {},
): World<RecoveringState> {
  const relay = newRelay(owner);
  append(relay, {
    kind: "commit",
    sender: owner,
    epoch: 0,
    hash: "commit a",
    added: [member, helper, liar],
  });
  append(relay, { kind: "commit", sender: liar, epoch: 1, hash: commit });
  relay.welcomes = {};
  relay.owners = Object.freeze([owner]);
  const names = [member, helper];
  relay.cursors = Object.freeze(
    Object.fromEntries(names.map((name) => [name, { consumed: 1, acknowledged: 1 }])),
  );
  const group: LetterGroup = Object.freeze({
    epoch: 1,
    led: "commit a",
    leaves: Object.freeze({ [member]: member, [helper]: helper, [liar]: liar, [owner]: owner }),
    owners: Object.freeze([owner]),
    parent: "start",
  });
  const bad = {
    sequence: 2,
    epoch: 1,
    hash: commit,
    blamed: agent(liar),
    reason: "bad",
    sinceMs: 0,
  };
  const anchor = { joinedSequence: 1, discarded: [], cameBackMs: [], formerEpoch: 0 };
  const followed = afterLetterCommit(group, commit, []);
  const records = {
    stopped: bad,
    foreign: undefined,
    foundings: [],
    returnedMs: undefined,
    cameBackMs: [],
  };
  const members = [
    newMember(member, { group, position: 1, anchor, records }),
    newMember(helper, { group: followed, position: 2, anchor }),
  ];
  const groups = { "commit a": group, [commit]: followed };
  return recoveringWorld({ relay, members, groups, left, ...setting, also: lies });
}

type LieMove = Move<RecoveringState>;

function lies(state: RecoveringState): readonly LieMove[] {
  const { relay, left } = state;
  const moves: LieMove[] = [];
  const isHere = relay.members[liar] !== undefined;
  const isAsking = relay.asking.some((asking) => asking.agent === member);
  if (isHere && left.welcome > 0 && isAsking) {
    moves.push({
      name: "mallory's Welcome does not open",
      kind: "fault",
      act: useless,
      isBudgeted: true,
    });
  }
  if (relay.sessions[member] !== undefined) {
    moves.push(
      ...told(state, "a Welcome of garbage", "welcome", {
        type: "welcome",
        joined: 0,
        epoch: 0,
        led: "",
      }),
    );
    for (const leaf of [`${liar}'s`, `${member} of before`]) {
      moves.push(
        ...told(state, `mallory says that its leaf is "${leaf}"`, "leaf", { type: "leaf", leaf }),
      );
    }
  }
  // The founder is there, and follows its own generation.
  for (const { agent: name } of relay.epoch >= foundingEpoch(1) ? relay.asking : []) {
    moves.push({
      name: `dave answers ${name}`,
      kind: "program",
      act: (after) => letIn(after, name),
    });
  }
  if (left.begin > 0) {
    for (const isPresent of [true, false]) {
      const name = `dave begins the channel anew, ${isPresent ? "with" : "without"} alice`;
      moves.push({
        name,
        kind: "fault",
        act: (after) => begin(after, isPresent),
        isBudgeted: true,
      });
    }
  }
  return moves;
}

/** It comes at once: so it comes before, between and behind all that is on its way. */
function told(
  { left }: RecoveringState,
  what: string,
  budget: "welcome" | "leaf",
  note: Note,
): readonly LieMove[] {
  if (left[budget] === 0) return [];
  const act = (after: RecoveringState): void => {
    after.left[budget]--;
    const hearer = after.members.find(({ name }) => name === member);
    if (hearer !== undefined) new RecoveringHost(after, hearer).deliver(note);
  };
  return [{ name: `${member}: told: ${what}`, kind: "fault", isBudgeted: true, act }];
}

/** A commit that answers the request: others follow it, and the KeyPackage is in the group. */
function useless(state: RecoveringState): void {
  const { relay, requests, left } = state;
  left.welcome--;
  const epoch = relay.epoch;
  const last = relay.entries.findLast(({ kind }) => kind !== "message");
  const before = state.groups[last?.hash ?? ""];
  const keyPackage = requests[member];
  const request = relay.asking.find((asking) => asking.agent === member);
  if (before === undefined || keyPackage === undefined || request?.leaf !== before.leaves[member]) {
    return;
  }
  const hash = `useless in ${epoch}`;
  const into = afterLetterCommit(before, hash, []);
  const reply = callRelay(relay, liar, {
    op: "SendCommit",
    epoch,
    hash,
    added: [member],
    removed: [member],
  });
  if ("refused" in reply) return;
  state.groups = {
    ...state.groups,
    [hash]: Object.freeze({ ...into, leaves: { ...into.leaves, [member]: keyPackage } }),
  };
}

function letIn(state: RecoveringState, name: string): void {
  const { relay, requests } = state;
  const { epoch } = relay;
  const before = state.groups[relay.entries.findLast(({ kind }) => kind !== "message")?.hash ?? ""];
  const keyPackage = requests[name];
  const leaf = before?.leaves[name];
  const request = relay.asking.find((asking) => asking.agent === name);
  if (
    before === undefined || keyPackage === undefined || leaf === undefined || request === undefined
  ) return;
  if (request.leaf !== leaf) {
    relay.asking = Object.freeze(relay.asking.filter((asking) => asking !== request));
    return void relay.sessions[name]?.pipe.push({ type: "leaf", leaf });
  }
  const hash = `commit in ${epoch} of ${relay.log}`;
  const into = afterLetterCommit(before, hash, []);
  const reply = callRelay(relay, owner, {
    op: "SendCommit",
    epoch,
    hash,
    added: [name],
    removed: [name],
  });
  if ("refused" in reply) return;
  state.groups = {
    ...state.groups,
    [hash]: Object.freeze({ ...into, leaves: { ...into.leaves, [name]: keyPackage } }),
  };
}

function begin(state: RecoveringState, isPresent: boolean): void {
  const { relay } = state;
  state.left.begin--;
  const hash = `founding of ${owner}`;
  const leaves = {
    [member]: isPresent ? `${member} in ${hash}` : "",
    [helper]: `${helper} in ${hash}`,
    [owner]: `${owner} in ${hash}`,
  };
  const founding: LetterFounding = {
    hash,
    founder: owner,
    generation: 1,
    baseEpoch: 1,
    base: "commit a",
    bad: commit,
    blamed: liar,
    without: [],
    owners: [owner],
    leaves,
  };
  state.foundings = { ...state.foundings, [hash]: Object.freeze(founding) };
  state.groups = {
    ...state.groups,
    [hash]: Object.freeze({
      epoch: foundingEpoch(1) + 1,
      led: hash,
      leaves,
      owners: [owner],
      parent: undefined,
    }),
  };
  callRelay(relay, owner, {
    op: "FoundGeneration",
    hash,
    generation: 1,
    baseEpoch: 1,
    bad: commit,
    blamed: liar,
    members: Object.keys(leaves),
  });
}
