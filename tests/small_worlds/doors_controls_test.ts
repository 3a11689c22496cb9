/** Each false rule about badges is found: what the worlds of doors promise is what they check. */
import { judgeCommit, judgeMembers, lateMs, shutFor } from "./badges_of_letters.ts";
import {
  type DoorRules,
  type DoorSetting,
  doorsOfLetters,
  honestRules,
} from "./doors_of_letters.ts";
import { checkFound } from "./explore.ts";

function control(
  name: string,
  rules: Partial<DoorRules>,
  { why, ...setting }: DoorSetting & { readonly why: string },
): void {
  Deno.test(`the world finds ${name}`, () => {
    checkFound(doorsOfLetters({ ...setting, rules }), why, 200_000);
  });
}

const open = { P: "open" } as const;
const rotated = { P: "closed", Q: "open" } as const;
const differ = "members judge one commit differently";
const blamed = "an honest member is blamed";

control("members that judge times in commits", {
  refuses: (group, commit, { nowMs }) =>
    judgeCommit(group, commit) !== undefined ||
    (nowMs === lateMs && Object.values(commit.add ?? {}).includes("P1")),
}, { left: { add: 1 }, members: ["o", "m", "n", "h"], issuers: open, ahead: ["m"], why: differ });

control("an adder that judges times of members that come back", {
  isShut: (asking, group, nowMs) =>
    shutFor(asking, group, nowMs) || shutFor({ ...asking, isReturning: false }, group, nowMs),
}, { left: { lose: 1 }, issuers: open, ahead: ["o"], why: "m is refused" });

control("a founding that compares with leaves of the base", {
  refusesFounding: (group, base, { name }) =>
    judgeMembers(group) !== undefined ||
    (name === "m" && Object.entries(group.leaves).some(([each, now]) => base.leaves[each] !== now)),
}, { left: { hostile: 1, renew: 1 }, issuers: open, why: "a founding is not followed" });

control("absent members that come back by an open issuer alone", {
  isShut: (asking, group, nowMs) => shutFor(asking, { ...group, absent: [] }, nowMs),
}, { left: { hostile: 1, withhold: 1 }, issuers: rotated, why: "m is refused" });

control("a stopped member that takes any group in which all have a place", {
  takes: (group) => judgeMembers(group) === undefined,
}, { left: { hostile: 1 }, issuers: rotated, why: "a stopped member follows after all" });

control("members for which one of two badges is enough", {
  refuses: (group, commit, by) =>
    judgeCommit(group, commit) !== undefined &&
    !(by.name === "m" && Object.values(commit.add ?? {}).includes("P1 Q1/o")),
}, { left: { hostile: 1 }, issuers: rotated, why: differ });

control("a badge that carries over without the word of its agent", {
  refuses: (group, commit) =>
    judgeCommit(group, { ...commit, rejoins: Object.keys(commit.add ?? {}) }) !== undefined,
}, {
  left: { hostile: 1 },
  issuers: rotated,
  why: "somebody came in by a closed issuer",
});

control("newcomers for which closed issuers count", {
  refuses: (group, commit) =>
    judgeCommit({ ...group, absent: [...group.absent, "x"] }, commit) !== undefined,
}, { left: { hostile: 1 }, issuers: rotated, why: "somebody came in by a closed issuer" });

control("a member that shows its configured badge alone", {
  chooses: (_, wanted) => wanted,
}, { left: { renew: 1, heal: 1 }, issuers: open, why: blamed });

control("a founder that shows its configured badge alone", {
  chooses: (_, wanted) => wanted,
}, { left: { renew: 1, hostile: 1 }, issuers: open, why: "a founding is not followed" });

control("a founding with whatever KeyPackages there are", {
  isLeftOut: () => false,
  chooses: (name, ...given) => name === "m" ? given[0] : honestRules.chooses(name, ...given),
}, { left: { renew: 1, hostile: 1 }, issuers: open, why: "a founding is not followed" });

control("a removed member that judges nothing", {
  refuses: (group, commit, { isRemoved }) => !isRemoved && judgeCommit(group, commit) !== undefined,
}, { left: { hostile: 1 }, issuers: rotated, why: differ });

control("new leaves that are judged by the issuers before", {
  refuses: (group, { issuers: _, ...commit }) => judgeCommit(group, commit) !== undefined,
}, { left: { set: 1, renew: 2 }, issuers: open, why: blamed });

control("a change of the issuers that judges new leaves alone", {
  refuses: (group, commit) =>
    judgeCommit({ ...group, issuers: commit.issuers?.to ?? group.issuers }, commit) !== undefined,
}, { left: { hostile: 1 }, issuers: open, why: "a leaf has no place" });

control("an owner's list that is made anew when its turn comes", {
  alsoGo: (without) => without,
}, { left: { set: 1, add: 1, renew: 1 }, why: "somebody is removed whom the call did not name" });
