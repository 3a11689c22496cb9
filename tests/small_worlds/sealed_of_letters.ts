/**
 * A channel that is sealed, in letters: agents have keys for the layer of Welcomes or have none,
 * members come, come back, are absent in a founding, and one with a modified program commits and
 * welcomes as it likes. Outside waits somebody that recorded all and breaks X25519 later. Judged by
 * the real rules.
 */
import { agentIdOf, foundingEpoch, sealKeyBytes, sealKeyExtension } from "../../proto/mod.ts";
import {
  checkStillRequired,
  checkWelcomeSealed,
  foundedSealing,
  isKeyMissing,
  type KeyPackage,
  mayFollow,
  MlsFault,
  type Sealing,
  sealingAfter,
  sealingExtension,
  withoutSealKey,
} from "../../sdk/mls/testing/sealing.ts";
import type { Kind, Move, World } from "./explore.ts";

/** An agent's program makes KeyPackages with a key, without one, or with a leaf of before. */
export type Has = "key" | "none" | "older";

export interface SealedGroup {
  readonly sealing: Sealing | undefined;
  readonly generation: number;
  readonly members: readonly string[];
  readonly absent: readonly string[];
}

/** A commit, or a founding, with its Welcome. */
export interface SealedCommit {
  readonly by: string;
  readonly add: Readonly<Record<string, Has>>;
  readonly remove?: readonly string[];
  /** As its GroupContext has it. */
  readonly sealing: Sealing | undefined;
  /** Those whose secrets in the Welcome have no layer. */
  readonly bare: readonly string[];
}

export interface SealedBudgets {
  add: number;
  lose: number;
  /** An agent's program becomes another. */
  change: number;
  hostile: number;
  withhold: number;
}

export interface SealedState {
  readonly left: SealedBudgets;
  group: SealedGroup;
  has: Readonly<Record<string, Has>>;
  /** Members that lost step, and ask to come back. */
  out: readonly string[];
  /** Honest members refused a commit, and are stopped before it. */
  isStopped: boolean;
  /** Somebody outside could open the present epoch, by Welcomes of honest members. */
  isOpen: boolean;
  fault: string | undefined;
}

export interface SealedRules {
  readonly refuses: (
    before: SealedGroup,
    commit: SealedCommit,
    by: { readonly isRemoved: boolean },
  ) => boolean;
  /** The sealing after an honest member's commit; undefined where it makes none. */
  readonly after: (
    before: Sealing | undefined,
    keyless: readonly string[],
  ) => { readonly sealing: Sealing | undefined } | undefined;
  readonly refusesWelcome: (name: string, commit: SealedCommit) => boolean;
  readonly isRefused: (has: Has, group: SealedGroup) => boolean;
  readonly founds: (base: Sealing | undefined, add: readonly Has[], generation: number) =>
    | Sealing
    | undefined;
  readonly refusesFounding: (founded: SealedGroup, base: SealedGroup) => boolean;
  readonly refusesReturn: (known: SealedGroup, to: Sealing | undefined) => boolean;
}

export interface SealedSetting {
  readonly left: Partial<SealedBudgets>;
  readonly sealing: Sealing | undefined;
  readonly has?: Readonly<Record<string, Has>>;
  readonly rules?: Partial<SealedRules>;
}

const hostile = "h";
const noBudgets: SealedBudgets = { add: 0, lose: 0, change: 0, hostile: 0, withhold: 0 };
const [require, prefer] = [{ required: true, since: 0 }, { required: false, since: 0 }];
const layer = Uint8Array.of(1, ...new Uint8Array(1136));
const sealKey = Uint8Array.of(1, ...new Uint8Array(sealKeyBytes - 32), 9, ...new Uint8Array(31));

const packages = new Map<string, KeyPackage>();

export function keyPackageOf(name: string, has: Has): KeyPackage {
  const known = packages.get(`${name} ${has}`);
  if (known !== undefined) return known;
  const identity = new TextEncoder().encode(name);
  const made = {
    extensions: has === "none" ? [] : [{ extensionType: sealKeyExtension, extensionData: sealKey }],
    leafNode: {
      credential: { credentialType: "basic", identity },
      signaturePublicKey: new Uint8Array(32).fill(identity[0] ?? 0),
      capabilities: { extensions: has === "older" ? [] : [sealingExtension] },
    },
  } as unknown as KeyPackage; // cast: what the rules look at
  agentIdOf(made.leafNode.signaturePublicKey, identity);
  packages.set(`${name} ${has}`, made);
  return made;
}

function isTaken(act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (error instanceof MlsFault) return false;
    throw error;
  }
}

const keylessOf = (add: Readonly<Record<string, Has>>): readonly string[] =>
  Object.entries(add).flatMap(([name, has]) =>
    withoutSealKey([keyPackageOf(name, has)]).map(() => name)
  );

function sameSealing(a: Sealing | undefined, b: Sealing | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** In the Welcome of a commit, as a newcomer reads it. */
function welcomeOf({ add, bare }: SealedCommit): Parameters<typeof checkWelcomeSealed>[0] {
  const secrets = Object.keys(add).map((name) => ({
    newMember: new Uint8Array(32),
    encryptedGroupSecrets: {
      kemOutput: new Uint8Array(32),
      ciphertext: bare.includes(name) ? new Uint8Array(100) : layer,
    },
  }));
  // cast: the rest is not read
  return { secrets } as unknown as Parameters<typeof checkWelcomeSealed>[0];
}

export const honestSealing: SealedRules = {
  after: (before, keyless) => {
    let sealing: Sealing | undefined;
    const agents = keyless.flatMap((name) => withoutSealKey([keyPackageOf(name, "none")]));
    const isMade = isTaken(() => sealing = sealingAfter(before, agents));
    return isMade ? { sealing } : undefined;
  },
  refuses: (before, { add, sealing }) => {
    const expected = honestSealing.after(before.sealing, keylessOf(add));
    return expected === undefined || !sameSealing(expected.sealing, sealing);
  },
  refusesWelcome: (_, commit) =>
    !isTaken(() => checkWelcomeSealed(welcomeOf(commit), commit.sealing)),
  isRefused: (has, { sealing }) => isKeyMissing(keyPackageOf("x", has), sealing),
  founds: (base, add, generation) =>
    foundedSealing(base, add.map((has) => keyPackageOf("x", has)), generation),
  refusesFounding: (founded, base) => !mayFollow(founded.sealing, base.sealing, founded.generation),
  refusesReturn: ({ sealing: known }, sealing) =>
    !isTaken(() => checkStillRequired(known, { sealing })),
};

export function sealedOfLetters(
  { left, sealing, has = { o: "key", m: "key", h: "key", x: "key" }, rules: changed }:
    SealedSetting,
): World<SealedState> {
  const rules = { ...honestSealing, ...changed };
  const members = Object.keys(has).filter((name) => name !== "x");
  const start: SealedState = {
    left: { ...noBudgets, ...left },
    group: { sealing, generation: 0, members, absent: [] },
    has,
    out: [],
    isStopped: false,
    isOpen: sealing === undefined,
    fault: undefined,
  };
  return {
    start,
    moves: (state) => new Sealed(state, rules).moves(),
    view: ({ left: _, ...rest }) => rest,
    left: (state) => Object.values(state.left),
    broken: ({ fault }) => fault,
    // Those without a key stay out of a channel that requires one, until its program has.
    isGood: ({ out, isStopped, group, has: programs }) => {
      const waiting = [...out, ...group.absent];
      return !isStopped &&
        waiting.every((name) => group.sealing?.required === true && programs[name] !== "key");
    },
  };
}

class Sealed {
  readonly #state: SealedState;
  readonly #rules: SealedRules;
  readonly #moves: Move<SealedState>[] = [];

  constructor(state: SealedState, rules: SealedRules) {
    this.#state = state;
    this.#rules = rules;
  }

  moves(): readonly Move<SealedState>[] {
    const { group, has } = this.#state;
    for (const [name, now] of Object.entries(has)) {
      if (name === hostile || name === "o") continue;
      for (const to of ["key", "none", "older"] as const) {
        // The leaf of a member in a group that is sealed says that it knows that.
        if (to === now || (to !== "key" && group.members.includes(name))) continue;
        const change = (at: Sealed): void => at.#change(name, to);
        this.#move(`the program of ${name} is one with: ${to}`, "program", change, "change");
      }
    }
    if (this.#state.isStopped) this.#stopped();
    else {
      this.#members();
      this.#hostile();
    }
    return this.#moves;
  }

  #move(name: string, kind: Kind, act: (at: Sealed) => void, budget?: keyof SealedBudgets): void {
    if (budget !== undefined && this.#state.left[budget] === 0) return;
    this.#moves.push({
      name,
      kind,
      isBudgeted: budget !== undefined,
      act: (after) => {
        if (budget !== undefined) after.left[budget]--;
        act(new Sealed(after, this.#rules));
      },
    });
  }

  /** Honest ones that are in step. */
  get #here(): readonly string[] {
    const { group, out } = this.#state;
    return group.members.filter((name) => name !== hostile && !out.includes(name));
  }

  #change(name: string, to: Has): void {
    this.#state.has = { ...this.#state.has, [name]: to };
  }

  #hasOf(name: string): Has {
    return this.#state.has[name] ?? "none";
  }

  #members(): void {
    const { group, out } = this.#state;
    for (const name of this.#here) {
      if (!group.members.includes("x") && !group.absent.includes("x")) {
        this.#move(`${name} lets x in`, "program", (at) => at.#letIn(name, "x"), "add");
      }
      if (name !== "o") {
        const lose = (at: Sealed): void => void (at.#state.out = [...at.#state.out, name].sort());
        this.#move(`${name} loses step`, "fault", lose, "lose");
      }
      for (const asker of [...out, ...group.absent]) {
        const back = (at: Sealed): void => at.#letIn(name, asker);
        this.#move(`${name} lets ${asker} back`, "time", back);
      }
    }
  }

  #letIn(by: string, name: string): void {
    const { group } = this.#state;
    const has = this.#hasOf(name);
    if (this.#rules.isRefused(has, group)) {
      if (has === "key") this.#fault(`${name} is refused, and has a key`);
      return;
    }
    const add = { [name]: has };
    const made = this.#rules.after(group.sealing, keylessOf(add));
    if (made === undefined) return this.#fault(`${by} tries a commit that it cannot make`);
    const remove = group.members.includes(name) ? [name] : [];
    const bare = has === "none" ? [name] : [];
    this.#attempt({ by, add, remove, sealing: made.sealing, bare });
  }

  /** It writes into the group, adds, and leaves layers out as it likes. */
  #hostile(): void {
    const { group } = this.#state;
    if (!group.members.includes(hostile)) return;
    const regained = { required: false, since: foundingEpoch(1) + 1 };
    for (const sealing of [group.sealing, undefined, require, prefer, regained]) {
      for (const add of [{}, { x: "key" }, { x: "none" }, { x: "older" }] as const) {
        if ("x" in add && group.members.includes("x")) continue;
        for (const bare of "x" in add ? [[], ["x"]] : [[]]) {
          for (const remove of [[], ["m"]]) {
            if (!remove.every((name) => group.members.includes(name))) continue;
            const commit = { by: hostile, add, remove, sealing, bare };
            const act = (at: Sealed): void => at.#attempt(commit);
            this.#move(
              `a modified program commits ${JSON.stringify(commit)}`,
              "fault",
              act,
              "hostile",
            );
          }
        }
      }
    }
    for (const name of this.#state.out) {
      for (const to of [undefined, require, prefer]) {
        const act = (at: Sealed): void => at.#mislead(name, to);
        this.#move(`h leads ${name} into ${JSON.stringify(to)}`, "fault", act, "hostile");
      }
    }
  }

  /** Into a group of its own, in which everything else is as it was. */
  #mislead(name: string, to: Sealing | undefined): void {
    const { group } = this.#state;
    const isWeaker = (group.sealing?.required ?? false) !== (to?.required ?? false);
    if (isWeaker && !this.#rules.refusesReturn(group, to)) {
      this.#fault(`${name} comes back into a channel that requires something else`);
    }
  }

  /** All that are in step judge it; those that it adds judge the Welcome. */
  #attempt(commit: SealedCommit): void {
    const { group } = this.#state;
    const { by, add, remove = [] } = commit;
    const isHonest = by !== hostile;
    const verdicts = this.#here.filter((name) => name !== by).map((name) =>
      this.#rules.refuses(group, commit, { isRemoved: remove.includes(name) && !(name in add) })
    );
    if (new Set(verdicts).size > 1) this.#fault("members judge one commit differently", commit);
    else if (verdicts.includes(true)) {
      if (isHonest) this.#fault("an honest member is blamed", commit);
      this.#state.isStopped = true;
    } else this.#follow(commit, isHonest);
  }

  #follow(commit: SealedCommit, isHonest: boolean): void {
    const { group, has, isOpen } = this.#state;
    const { add, remove = [], sealing, bare } = commit;
    const entering = Object.keys(add).filter((name) => {
      const isRefused = this.#rules.refusesWelcome(name, commit);
      if (isRefused && isHonest) this.#fault(`${name} refuses an honest Welcome`, commit);
      if (!isRefused && sealing !== undefined && bare.length > 0 && has[name] === "key") {
        this.#fault(`${name} enters a sealed channel by an open Welcome`, commit);
      }
      return !isRefused;
    });
    const staying = group.members.filter((name) => !remove.includes(name) || name in add);
    // One that refused its Welcome has a leaf, and asks for another.
    const members = [...new Set([...staying, ...Object.keys(add)])].sort();
    this.#state.group = {
      ...group,
      sealing,
      members,
      absent: group.absent.filter((name) => !(name in add)),
    };
    this.#state.out = [
      ...this.#state.out.filter((name) => members.includes(name) && !entering.includes(name)),
      ...Object.keys(add).filter((name) => !entering.includes(name)),
    ].filter((name, i, all) => all.indexOf(name) === i).sort();
    // A member that is modified can tell the keys to anybody: its own Welcomes open nothing more.
    this.#state.isOpen = isOpen || (isHonest && bare.length > 0);
    this.#checkClaim(group.sealing, commit);
  }

  #checkClaim(before: Sealing | undefined, commit?: SealedCommit): void {
    const { group: { sealing }, isOpen } = this.#state;
    if (sealing !== undefined && isOpen) {
      this.#fault("a channel says that it is sealed, and is open", commit);
    }
    if (before?.required === true && sealing?.required !== true) {
      this.#fault("a channel requires no keys any more", commit);
    }
    if (before?.required !== true && sealing?.required === true) {
      this.#fault("a channel requires keys that required none", commit);
    }
  }

  #stopped(): void {
    const { group } = this.#state;
    this.#move("o begins the channel anew", "answer", (at) => at.#found(undefined, undefined));
    for (const name of group.members) {
      if (name === "o" || name === hostile) continue;
      const act = (at: Sealed): void => at.#found(name, undefined);
      this.#move(`o begins it anew, without a KeyPackage of ${name}`, "fault", act, "withhold");
    }
    for (const sealing of [undefined, require, prefer, { required: false, since: 99 }]) {
      const act = (at: Sealed): void => at.#found(undefined, { sealing });
      this.#move(`o, modified, founds ${JSON.stringify(sealing)}`, "fault", act, "hostile");
    }
  }

  /** `written`: by an owner with a modified program. */
  #found(
    withheld: string | undefined,
    written: { readonly sealing: Sealing | undefined } | undefined,
  ): void {
    const { group, out, isOpen } = this.#state;
    const others = group.members.filter((name) => name !== hostile && name !== "o");
    const joining = others.filter((name) =>
      name !== withheld && !out.includes(name) && !this.#rules.isRefused(this.#hasOf(name), group)
    );
    const generation = group.generation + 1;
    const made = this.#rules.founds(
      group.sealing,
      joining.map((name) => this.#hasOf(name)),
      generation,
    );
    const sealing = written === undefined ? made : written.sealing;
    const absent = [...group.absent, ...others.filter((name) => !joining.includes(name))].sort();
    const members = ["o", ...joining].sort();
    const founded = { sealing, generation, members, absent };
    const isFollowed = joining.every(() => !this.#rules.refusesFounding(founded, group));
    if (written !== undefined) {
      if (isFollowed && joining.length > 0) {
        this.#checkFounded(group, founded);
      }
      return;
    }
    if (!isFollowed) this.#fault("a founding is not followed");
    const bare = joining.filter((name) => this.#hasOf(name) === "none");
    this.#state.group = founded;
    this.#state.out = [];
    this.#state.isStopped = false;
    // Its secrets are new, and the base's take part in them.
    this.#state.isOpen = bare.length > 0 && isOpen;
    this.#checkClaim(group.sealing);
  }

  #checkFounded(base: SealedGroup, { sealing, generation }: SealedGroup): void {
    if (base.sealing?.required === true && sealing?.required !== true) {
      this.#fault("a founding that requires nothing is followed");
    }
    const first = base.sealing?.since ?? foundingEpoch(generation) + 1;
    if (
      sealing !== undefined &&
      (sealing.since !== first || sealing.required !== (base.sealing?.required ?? false))
    ) {
      this.#fault("a founding is followed that claims more than is so");
    }
  }

  #fault(what: string, commit?: SealedCommit): void {
    this.#state.fault ??= commit === undefined ? what : `${what}: ${JSON.stringify(commit)}`;
  }
}
