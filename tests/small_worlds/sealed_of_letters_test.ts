/**
 * Members come, come back and are absent; whatever a modified member commits and an owner
 * founds: members judge alike, what says that it is sealed is, what requires keys goes on to, and
 * all that have a key come back. Each false rule is found.
 */
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll, checkFound } from "./explore.ts";
import {
  honestSealing,
  sealedOfLetters,
  type SealedRules,
  type SealedSetting,
} from "./sealed_of_letters.ts";

const [require, prefer] = [{ required: true, since: 0 }, { required: false, since: 0 }];

function world(name: string, setting: SealedSetting): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, sealedOfLetters(setting), 2_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

const [times, left] = inCampaign
  ? [3, { add: 2, lose: 2, change: 2, hostile: 2, withhold: 1 }]
  : [1, { add: 1, lose: 1, change: 1, hostile: 2, withhold: 1 }];
for (
  const [name, sealing] of [["required", require], ["preferred", prefer], [
    "none",
    undefined,
  ]] as const
) {
  world(`keys are ${name}: members come and go, and one of them is modified`, { left, sealing });
}
world("many come and come back, with programs of all kinds", {
  left: { add: times, lose: times + 1, change: times + 1 },
  sealing: prefer,
  has: { o: "key", m: "key", n: "key", x: "none" },
});

function control(
  name: string,
  rules: Partial<SealedRules>,
  { why, ...setting }: Partial<SealedSetting> & { readonly why: string },
): void {
  Deno.test(`the world finds ${name}`, () => {
    checkFound(sealedOfLetters({ left, sealing: prefer, ...setting, rules }), why, 200_000);
  });
}

control("a removed member that judges nothing", {
  refuses: (before, commit, by) => !by.isRemoved && honestSealing.refuses(before, commit, by),
}, { why: "members judge one commit differently" });

control("members that let an honest commit keep the sealing", {
  after: (before) => ({ sealing: before }),
  refuses: () => false,
  refusesWelcome: () => false,
}, {
  why: "a channel says that it is sealed, and is open",
  has: { o: "key", m: "key", x: "none" },
});

control("members for which a key is enough, without a leaf that knows what it is for", {
  isRefused: (has) => has === "none",
}, {
  why: "o tries a commit that it cannot make",
  sealing: require,
  has: { o: "key", m: "key", x: "older" },
});

control("a joiner that looks at its own secrets alone, or at none", {
  refusesWelcome: () => false,
}, { why: "x enters a sealed channel by an open Welcome" });

control("a member that takes a request without a key where one is required", {
  isRefused: () => false,
}, {
  why: "o tries a commit that it cannot make",
  sealing: require,
  has: { o: "key", m: "key", x: "none" },
});

control("a member that refuses requests without a key where none is required", {
  isRefused: (has) => has !== "key",
}, {
  why: "no way to a good state",
  sealing: undefined,
  has: { o: "key", m: "none", x: "key" },
  left: { lose: 1 },
});

control("a founding that seals again although somebody has no key", {
  founds: (base, _, generation) => honestSealing.founds(base, [], generation),
}, {
  why: "a channel says that it is sealed, and is open",
  sealing: undefined,
  has: { o: "key", m: "none", h: "key" },
});

control("a founding whose members without a key are not left out", {
  isRefused: () => false,
  founds: (base, add, generation) =>
    add.every((has) => has === "key") ? honestSealing.founds(base, add, generation) : undefined,
}, { why: "a founding is not followed", sealing: require, has: { o: "key", m: "none", h: "key" } });

control("followers that take any sealing of a founding", {
  refusesFounding: () => false,
}, { why: "a founding that requires nothing is followed", sealing: require });

control("followers that take any beginning of a sealing", {
  refusesFounding: (founded, base) =>
    founded.sealing?.required !== true && base.sealing?.required === true,
}, { why: "a founding is followed that claims more than is so" });

control("a returning member that takes another requirement", {
  refusesReturn: () => false,
}, { why: "m comes back into a channel that requires something else", sealing: require });

control("members that take a commit which strikes what is required", {
  refuses: (before, commit, by) =>
    commit.sealing !== undefined && honestSealing.refuses(before, commit, by),
}, { why: "a channel requires no keys any more", sealing: require });
