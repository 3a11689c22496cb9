/**
 * The keys, Welcomes, foundings and commits that the state of recovery names by hash or number: it
 * calls the relay about them, and works with them. The judgements are those of `following.ts` and
 * `welcome_back.ts`.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import {
  binaryIdToBytes,
  equalBytes,
  generationOf,
  groupIdOf,
  type NoticeBody,
  rejoinStatement,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { type BaseEpoch, baseMembersOf, baseOf } from "../../mls/base_epoch.ts";
import { noLeaf } from "../../mls/channel_rules.ts";
import { shownBadges } from "../../mls/badges.ts";
import { type Epoch, placeOf } from "../../mls/epoch.ts";
import type { KeyPackage, OwnKeyPackage } from "../../mls/key_package.ts";
import { encodeLeaf, isOwnLeaf } from "../../mls/leaf.ts";
import type { FoundingCandidate } from "../../mls/state_codec.ts";
import { type BadCommit, blamedOf } from "../recovery/bad_commit.ts";
import type { ChannelDeps } from "../deps.ts";
import type { DeliveredFounding } from "../recovery/following.ts";
import { createFounding, requestOf } from "../recovery/founding.ts";
import { claimKeyPackages } from "./founding_claims.ts";
import type { Membership } from "../group/membership.ts";
import type {
  MadeFounding,
  ReceivedWelcome,
  RecoveryAnswer,
  RecoveryRequest,
  RecoveryWork,
  RecoveryWorkResult,
  RejoinKeyPackage,
  ToldLeaf as KnownLeaf,
  UnfollowableCommit,
} from "../recovery/recovery_state.ts";
import { isFor } from "../recovery/welcome_back.ts";
import type { Welcome } from "./welcomes.ts";
import {
  type JoinableWelcome,
  type OpenedFounding,
  openFounding,
  openWelcome,
} from "./open_welcomes.ts";
import { findCommit } from "./find_commit.ts";

export type DeliveredLeaf = NoticeBody<"DeliverLeaf">;

export interface RecoveryBytesParts {
  readonly membership: Membership;
  /** As a Welcome is judged. */
  readonly stop: () => { readonly stopped: BadCommit | undefined; readonly isAgain: boolean };
  /** Whether an entry of the log is ours, and of no process of this store. */
  readonly isUnknownOwn: (entry: ReplyBody<"ReadOwn">) => Promise<boolean>;
}

/** A group as a founding on it names it. */
export function nameOf(
  { epoch, transcriptHash }: Pick<BaseEpoch, "epoch" | "transcriptHash">,
): string {
  return `${epoch}/${bytesToHex(transcriptHash)}`;
}

export function baseNameOf(epoch: Epoch): string {
  return nameOf(baseOf(epoch));
}

export function badOf(bad: BadCommit): UnfollowableCommit {
  const { sequence, declared: { epoch, commitHash }, reason, sinceMs } = bad;
  return { sequence, epoch, hash: bytesToHex(commitHash), blamed: blamedOf(bad), reason, sinceMs };
}

export function madeOf(founding: FoundingCandidate): Omit<MadeFounding, "isSent" | "isRefused"> {
  const { founding: { generation, badCommit, baseEpoch, transcriptHash, without } } = requestOf(
    founding,
  );
  return {
    hash: bytesToHex(founding.hash),
    generation,
    badCommit: bytesToHex(badCommit),
    base: nameOf({ epoch: baseEpoch, transcriptHash }),
    members: founding.next.tree.memberCount,
    without,
  };
}

export class RecoveryBytes {
  readonly #parts: RecoveryBytesParts;
  readonly #deps: ChannelDeps;
  /** The commit at which we are stopped. */
  bad: BadCommit | undefined;
  readonly foundings: Map<string, FoundingCandidate>;
  /** Not written yet. */
  readonly #made = new Map<string, FoundingCandidate>();
  /** The founding whose Welcome is looked at, and the group on which it stands. */
  entry: { readonly founding: DeliveredFounding; readonly base: BaseEpoch } | undefined;
  openedFounding: OpenedFounding | undefined;
  readonly #own = new Map<string, OwnKeyPackage>();
  readonly #welcomes = new Map<number, Welcome>();
  readonly #opened = new Map<number, JoinableWelcome>();
  readonly #leaves = new Map<number, DeliveredLeaf>();
  readonly #entries = new Map<number, ReplyBody<"ReadOwn">>();
  readonly #claimed = new Map<number, readonly KeyPackage[]>();
  #numbers = 0;

  constructor(
    parts: RecoveryBytesParts & {
      readonly bad: BadCommit | undefined;
      readonly foundings: readonly FoundingCandidate[];
    },
    deps: ChannelDeps,
  ) {
    this.#parts = parts;
    this.#deps = deps;
    this.bad = parts.bad;
    this.foundings = new Map(
      parts.foundings.map((founding) => [bytesToHex(founding.hash), founding]),
    );
  }

  /** Our leaf in the group, in hexadecimal. */
  get leaf(): string {
    const { tree, ownLeaf } = this.#parts.membership.group.current;
    return bytesToHex(tree.leaf(ownLeaf)?.encoded ?? new Uint8Array(0));
  }

  welcomed(welcome: Welcome): ReceivedWelcome {
    for (const [number, known] of this.#welcomes) {
      if (known === welcome) return toldOf(number, known);
    }
    this.#welcomes.set(++this.#numbers, welcome);
    return toldOf(this.#numbers, welcome);
  }

  told(leaf: DeliveredLeaf): KnownLeaf {
    const { requestId, sender } = leaf;
    this.#leaves.set(++this.#numbers, leaf);
    return { number: this.#numbers, requestId, leaf: bytesToHex(leaf.leafNode), sender };
  }

  /** Everything else that was told is of no use any more. */
  keepTold(held: ReadonlySet<number>): void {
    for (const told of [this.#welcomes, this.#opened, this.#leaves]) {
      for (const number of told.keys()) if (!held.has(number)) told.delete(number);
    }
  }

  openedWelcome(number: number): (JoinableWelcome & { readonly welcome: Welcome }) | undefined {
    const [opened, welcome] = [this.#opened.get(number), this.#welcomes.get(number)];
    return opened && welcome && { ...opened, welcome };
  }

  /** One that is written now. */
  written(hash: string): FoundingCandidate | undefined {
    const made = this.#made.get(hash);
    this.#made.clear();
    if (made !== undefined) this.foundings.set(hash, made);
    return made;
  }

  /** KeyPackages of requests, which nobody has used. */
  get asked(): readonly string[] {
    return [...this.#own.keys()];
  }

  usedUp(reference: Uint8Array): void {
    this.#own.delete(bytesToHex(reference));
  }

  async forgetKeys(references: readonly string[]): Promise<void> {
    const spent = references.flatMap((reference) => this.#own.get(reference) ?? []);
    for (const reference of references) this.#own.delete(reference);
    if (spent.length > 0) await this.#deps.keyPackages.forget(spent);
  }

  /** Throws `StaticError`. */
  async call(number: number, request: RecoveryRequest): Promise<RecoveryAnswer> {
    const { membership, membership: { channelId } } = this.#parts;
    const { session } = this.#deps;
    switch (request.to) {
      case "FindCommit": {
        const { commit } = await findCommit(membership, request.epoch, this.#deps);
        const found = commit && { sequence: commit.sequence, hash: bytesToHex(commit.commitHash) };
        return { to: "FindCommit", ...(found && { commit: found }) };
      }
      case "ReadOwn":
        this.#entries.set(
          number,
          await session.call("ReadOwn", { channelId, sequence: request.sequence }),
        );
        return { to: "ReadOwn" };
      case "ClaimForFounding":
        this.#claimed.set(number, await claimKeyPackages(request.agentIds, membership, this.#deps));
        return { to: "ClaimForFounding" };
      case "FoundGeneration": {
        const founding = this.foundings.get(request.hash);
        if (founding === undefined) throw new TypeError("A founding is sent that is not here");
        return {
          to: "FoundGeneration",
          sequence: (await session.call("FoundGeneration", requestOf(founding))).sequence,
        };
      }
      case "RequestRejoin": {
        const { requestId } = await session.call("RequestRejoin", this.#rejoinOf(request));
        return { to: "RequestRejoin", requestId };
      }
    }
  }

  #rejoinOf(
    { own: reference, leaf, generation, answerer }: Extract<
      RecoveryRequest,
      { to: "RequestRejoin" }
    >,
  ): RequestBody<"RequestRejoin"> {
    const { channelId, epoch } = this.#parts.membership;
    const { agentId, signatures, identity } = this.#deps;
    const own = this.#own.get(reference);
    if (own === undefined) throw new TypeError("A request names a KeyPackage that is not here");
    const leafHash = leaf === "" ? noLeaf : sha256(hexToBytes(leaf));
    const claim = {
      channelId: groupIdOf(channelId, generation),
      agentId,
      leafHash,
      keyPackageHash: sha256(own.message),
    };
    const signature = signatures.sign(identity.signingSeed, rejoinStatement(claim));
    const named = answerer === undefined ? {} : { answerer };
    return { channelId, keyPackage: own.message, signature, leafHash, epoch, generation, ...named };
  }

  /** Throws when keys could not be made or used. */
  async work(work: RecoveryWork): Promise<RecoveryWorkResult> {
    switch (work.of) {
      case "proof": {
        const entry = this.#entries.get(work.call) ?? {};
        this.#entries.clear();
        return { of: "proof", isProof: await this.#parts.isUnknownOwn(entry) };
      }
      case "request": {
        const own = (work.own === undefined ? undefined : this.#own.get(work.own)) ??
          await this.#deps.keyPackages.create(placeOf(this.#parts.membership.group.current));
        return { of: "request", own: this.#keep(own) };
      }
      case "leaf":
        return { of: "leaf", isOurs: await this.#isOurs(work) };
      case "welcome":
        return { of: "welcome", opened: await this.#open(work) };
      case "founding": {
        const claimed = work.calls.flatMap((call) => this.#claimed.get(call) ?? []);
        this.#claimed.clear();
        if (this.bad === undefined) {
          throw new TypeError("A founding is made, and nothing is stopped");
        }
        const { membership } = this.#parts;
        const founding = createFounding(membership, this.bad, claimed, this.#deps, work.without);
        const made = await membership.group.carryOut(founding);
        this.#made.set(bytesToHex(made.hash), made);
        return {
          of: "founding",
          made: { hash: bytesToHex(made.hash), members: made.next.tree.memberCount },
        };
      }
      case "generation": {
        if (this.entry === undefined) throw new TypeError("No founding is looked at");
        const opened = await openFounding(
          this.entry.founding,
          this.entry.base,
          this.#parts.membership,
          this.#deps,
        );
        this.openedFounding = typeof opened === "string" ? undefined : opened;
        return { of: "generation", why: typeof opened === "string" ? opened : undefined };
      }
    }
  }

  /** The badges that a leaf of ours would show now. */
  get badgesNow(): string {
    const place = placeOf(this.#parts.membership.group.current);
    return bytesToHex(this.#deps.badges?.(place) ?? new Uint8Array(0));
  }

  #keep(own: OwnKeyPackage): RejoinKeyPackage {
    const reference = bytesToHex(own.reference);
    this.#own.set(reference, own);
    const { leafNode } = own.keyPackage;
    return {
      reference,
      leaf: bytesToHex(encodeLeaf(leafNode)),
      badges: bytesToHex(shownBadges(leafNode) ?? new Uint8Array(0)),
      notBeforeMs: Number(leafNode.lifetime.notBefore) * 1000,
      notAfterMs: Number(leafNode.lifetime.notAfter) * 1000,
    };
  }

  /**
   * We made it for the group of this generation, joined with it, or hold its keys. In a generation
   * that we have not been in, any leaf of ours: its founder may have been given an old KeyPackage,
   * and nothing that we signed before is about that group.
   */
  async #isOurs(
    { number, generation, isNew }: Extract<RecoveryWork, { of: "leaf" }>,
  ): Promise<boolean> {
    const told = this.#leaves.get(number);
    if (told === undefined) return false;
    const { channelId, joinedLeaf } = this.#parts.membership;
    const { identity, signatures, keyPackages } = this.#deps;
    const { leafNode, leafIndex } = told;
    const groupId = binaryIdToBytes(groupIdOf(channelId, generation));
    return isOwnLeaf(leafNode, { groupId, leafIndex, ofKeyPackage: isNew }, identity, signatures) ||
      equalBytes(sha256(leafNode), joinedLeaf) || await keyPackages.holdsLeaf(leafNode);
  }

  async #open(
    { welcome: number, own: asked }: Extract<RecoveryWork, { of: "welcome" }>,
  ): Promise<Extract<RecoveryWorkResult, { of: "welcome" }>["opened"]> {
    const welcome = this.#welcomes.get(number);
    if (welcome === undefined) throw new TypeError("A Welcome is looked at that is not here");
    const opened = await openWelcome(
      welcome,
      { membership: this.#parts.membership, recovery: this.#parts.stop() },
      this.#deps,
    );
    if (typeof opened === "string") {
      const own = asked === undefined ? undefined : this.#own.get(asked);
      return { why: opened, isForOwn: own !== undefined && isFor(welcome, own) };
    }
    this.#opened.set(number, opened);
    const { own: { reference }, group } = opened;
    const members = baseMembersOf(group.current);
    return { own: bytesToHex(reference), generation: generationOf(group.epoch), members };
  }
}

function toldOf(welcome: number, { sender }: Welcome): ReceivedWelcome {
  return { welcome, sender };
}
