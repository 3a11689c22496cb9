/**
 * Groups of a channel that requires badges, in letters: "P1" is the first badge of issuer P. The
 * rules are the real ones, and so are leaves and extensions; signatures are believed.
 */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import {
  type AgentId,
  agentIdOf,
  binaryIdFromBytes,
  type ChannelId,
  emptyCommitAad,
  encodeCommitAad,
  parseChannelName,
} from "../../proto/mod.ts";
import {
  atOnce,
  type BadgedCommit,
  checkCommitBadges,
  checkMembersBadges,
  chooseBadges,
  encodeBinding,
  type Epoch,
  type Extension,
  identityHashOf,
  type InterruptibleWork,
  type KeyPackage,
  type LeafNode,
  MlsFault,
  portableSignatures,
  requiredIssuers,
  showing,
  shownBadges,
  whyNoPlace,
  whyShut,
} from "../../sdk/mls/testing/badges.ts";

/** Listed, and open or not; undefined: nobody needs a badge. */
export type LetterIssuers =
  | { readonly P?: "open" | "closed"; readonly Q?: "open" | "closed" }
  | undefined;

export interface BadgedGroup {
  readonly issuers: LetterIssuers;
  /** The badges that each member shows. */
  readonly leaves: Readonly<Record<string, string>>;
  /** Members without a leaf. */
  readonly absent: readonly string[];
}

/** A commit, as far as badges are concerned. */
export interface LetterCommit {
  readonly by: string;
  /** Names, and badges of their KeyPackages. */
  readonly add?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
  /** Of those that it adds, the ones whose word that they come back it carries. */
  readonly rejoins?: readonly string[];
  /** The badges of the sender's new leaf. */
  readonly path?: string;
  /** Those that it sets, if it does. */
  readonly issuers?: { readonly to: LetterIssuers };
}

const order: readonly string[] = ["o", "m", "n", "h", "x"];
/** The first badge of P ends here. */
const soonSeconds = 100_000_000;
/** Before and after that, by a clock. */
export const [earlyMs, lateMs] = [(soonSeconds - 500_000) * 1000, (soonSeconds + 2e7) * 1000];
const signatures = { ...portableSignatures, verifyHandshakes: () => true };
const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16).fill(1));

function memo<V>(make: (key: string) => V): (key: string) => V {
  const made = new Map<string, V>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

const keyOf = memo((name) => new Uint8Array(32).fill(1 + order.indexOf(name)));
export const idOf: (name: string) => AgentId = memo((name) =>
  agentIdOf(keyOf(name), utf8ToBytes(name))
);
const keyOfIssuer = (letter: string): Uint8Array => new Uint8Array(32).fill(letter.charCodeAt(0));

/** "P1 Q1" of somebody. The first badge of P is over soon; "P1/o" is that of o. */
const badgesOf = memo((key): Extension[] => {
  const [name = "", ...letters] = key.split(" ");
  return showing(
    ...letters.filter((each) => each !== "").map((each) => {
      const [letter = "", of = name] = each.split("/");
      return {
        domain: `${letter[0]?.toLowerCase()}.example`,
        issuerKey: keyOfIssuer(letter),
        name: `bot${letter[1]}`,
        agentId: idOf(of),
        notBefore: soonSeconds - 1_000_000,
        notAfter: letter === "P1" ? soonSeconds : soonSeconds + 30_000_000,
        attributes: [],
        signature: new Uint8Array(64),
      };
    }),
  );
});

export function leafOf(name: string, badges: string): LeafNode {
  return leaf(`${name} ${badges}`);
}

const leaf = memo((key) => {
  const [name = ""] = key.split(" ");
  const credential = { credentialType: "basic", identity: utf8ToBytes(name) };
  const node = { credential, signaturePublicKey: keyOf(name), extensions: badgesOf(key) };
  return node as unknown as LeafNode; // cast: what the rules of badges look at
});

const extensionsOfKey = memo((key) => {
  const { issuers, absent }: Pick<BadgedGroup, "issuers" | "absent"> = JSON.parse(key);
  const list = Object.entries(issuers ?? {}).map(([letter, state]) => ({
    domain: `${letter.toLowerCase()}.example`,
    key: keyOfIssuer(letter),
    closed: state === "closed",
  }));
  return encodeBinding({
    name: parseChannelName("acme/ops/deploy"),
    owners: [],
    chain: { version: 1, lastChange: new Uint8Array(32) },
    generation: {
      channelId,
      generation: 1,
      founding: new Uint8Array(32),
      absent: absent.map((name) => ({
        agentId: idOf(name),
        identityHash: identityHashOf(utf8ToBytes(name)),
      })).sort((a, b) => a.agentId < b.agentId ? -1 : 1),
    },
    issuers: { required: issuers !== undefined, issuers: list },
  });
});

export function extensionsOf({ issuers, absent }: Omit<BadgedGroup, "leaves">): Extension[] {
  return extensionsOfKey(JSON.stringify({ issuers, absent: [...absent].sort() }));
}

/** As far as the rules of badges look at an epoch. */
export function epochOf(group: BadgedGroup): Epoch {
  const leaves = order.flatMap((name, at) => {
    const badges = group.leaves[name];
    const known = { agentId: idOf(name), node: leafOf(name, badges ?? "") };
    return badges === undefined ? [] : [[at, known] as const];
  });
  const tree = {
    leaves: () => leaves,
    leaf: (wanted: number) => leaves.find(([at]) => at === wanted)?.[1],
  };
  // cast: these parts
  return { tree, context: { extensions: extensionsOf(group) } } as unknown as Epoch;
}

export function groupAfter(group: BadgedGroup, commit: LetterCommit): BadgedGroup {
  const { by, add = {}, remove = [], path, issuers } = commit;
  const left = Object.entries(group.leaves).filter(([name]) => !remove.includes(name));
  const leaves = { ...Object.fromEntries(left), ...(path !== undefined && { [by]: path }), ...add };
  return {
    issuers: issuers === undefined ? group.issuers : issuers.to,
    leaves,
    absent: group.absent.filter((name) => !(name in add) && !remove.includes(name)),
  };
}

export function badgedCommit(group: BadgedGroup, commit: LetterCommit): BadgedCommit {
  const { by, add = {}, remove = [], rejoins = [], path } = commit;
  const proof = (name: string) => ({ agentId: idOf(name), signature: new Uint8Array(64) });
  return {
    before: epochOf(group),
    effects: {
      committer: order.indexOf(by),
      added: Object.entries(add).map(([name, badges]) => ({
        leafIndex: order.indexOf(name),
        keyPackage: keyPackageOf(name, badges),
      })),
      removed: remove.flatMap((name) => {
        const badges = group.leaves[name];
        const leafIndex = order.indexOf(name);
        return badges === undefined ? [] : [{ leafIndex, leaf: leafOf(name, badges) }];
      }),
      updated: [],
      extensions: extensionsOf(groupAfter(group, commit)),
    },
    pathLeaf: path === undefined ? undefined : leafOf(by, path),
    authenticatedData: rejoins.length === 0
      ? new Uint8Array(0)
      : encodeCommitAad({ ...emptyCommitAad, rejoins: rejoins.map(proof) }),
  };
}

export function keyPackageOf(name: string, badges: string): KeyPackage {
  // cast: what the rules of badges look at
  return { leafNode: leafOf(name, badges) } as unknown as KeyPackage;
}

/** The reason of the real rules against it. */
export function refusalOf(check: InterruptibleWork<void>): string | undefined {
  try {
    atOnce(check);
    return undefined;
  } catch (error) {
    if (error instanceof MlsFault) return error.message;
    throw error;
  }
}

export function judgeCommit(group: BadgedGroup, commit: LetterCommit): string | undefined {
  return refusalOf(checkCommitBadges(badgedCommit(group, commit), signatures));
}

export function judgeMembers(group: BadgedGroup): string | undefined {
  return refusalOf(checkMembersBadges(epochOf(group), signatures));
}

export function hasPlace(
  name: string,
  badges: string,
  group: Omit<BadgedGroup, "leaves">,
): boolean {
  const issuers = requiredIssuers(extensionsOf(group));
  const wanted = { agentId: idOf(name), node: leafOf(name, badges) };
  return issuers === undefined || whyNoPlace(wanted, issuers, signatures) === undefined;
}

export function shutFor(
  { name, badges, isReturning }: {
    readonly name: string;
    readonly badges: string;
    readonly isReturning: boolean;
  },
  group: BadgedGroup,
  nowMs: number,
): boolean {
  const asking = { keyPackage: keyPackageOf(name, badges), isReturning };
  const clocks = { signatures, clocksMs: [nowMs] };
  return whyShut(asking, epochOf(group), clocks) !== undefined;
}

/** The badges that somebody's next leaf shows, in a group with these issuers. */
export function chosenBy(
  name: string,
  wanted: string,
  before: string | undefined,
  group: Omit<BadgedGroup, "leaves">,
): string {
  const place = {
    before: before === undefined ? undefined : leafOf(name, before),
    extensions: extensionsOf(group),
  };
  const content = shownBadges(leafOf(name, wanted));
  const chosen = chooseBadges(content, idOf(name), place, signatures);
  const choices = [wanted, before ?? "", ...pairs(before ?? "", wanted)];
  const hex = (bytes: Uint8Array | undefined): string => bytes?.toHex() ?? "";
  const found = choices.find((each) =>
    hex(shownBadges(leafOf(name, each))) ===
      hex(chosen ?? (place.before && shownBadges(place.before)))
  );
  if (found === undefined) throw new Error(`${name} shows something else than "${wanted}"`);
  return found;
}

function pairs(before: string, wanted: string): string[] {
  const [old, fresh] = [before, wanted].map((each) => each.split(" "));
  return (old ?? []).flatMap((kept) => (fresh ?? []).map((each) => `${kept} ${each}`));
}
