/**
 * Changes of the channel as data. A plan holds what a call wants; `planOf` says what that is in the
 * present epoch, whenever the plan's turn comes, because others may have done it, or made it
 * impossible, since it was asked for.
 */
import {
  type AgentId,
  type ChannelIssuers,
  type ChannelPolicy,
  type JoinRequestId,
  limits,
  type NoticeBody,
} from "../../../proto/mod.ts";
import type { StaticError } from "../../base/errors.ts";
import type { Change } from "../../mls/group.ts";
import type { KeyPackage } from "../../mls/key_package.ts";
import { agentOf } from "../../mls/leaf.ts";
import type { Membership } from "../group/membership.ts";
import type { LeaveProof } from "../records.ts";

/** The new rank of a member: an owner, or of a guest a member like the others. */
export type Promotion = "owner" | "member";

/** A key whose badges let agents into a channel. Give one of `account` and `mailDomain`, or none. */
export interface ChannelIssuer {
  /** Its domain, in lower case. */
  readonly domain: string;
  /** Its Ed25519 key: base64url, as `x` in the issuer's document. */
  readonly key: string;
  /** Nobody comes in by it any more; members that have a badge of it stay. */
  readonly closed?: boolean;
  /** Only agents of this account: of badges of a service. */
  readonly account?: string;
  /** Only agents of accounts whose verified e-mail address is of this domain. */
  readonly mailDomain?: string;
}

/** Members that go with a change of the issuers. */
export interface IssuersOptions {
  /** Agent ids, or names that you gave: they are removed by the same commit. */
  readonly remove?: readonly string[] | undefined;
}

export type Plan =
  /** Nothing but to stand behind what is open. */
  | { readonly is: "settle" }
  | { readonly is: "rotate" }
  /** `leaf`: with the keys that are too old. */
  | { readonly is: "heal"; readonly leaf: string }
  | { readonly is: "renew" }
  | { readonly is: "remove"; readonly agentId: AgentId }
  | { readonly is: "promote"; readonly agentId: AgentId; readonly to: Promotion }
  | { readonly is: "demote"; readonly agentId: AgentId }
  | { readonly is: "policy"; readonly wanted: Partial<ChannelPolicy> }
  | {
    readonly is: "issuers";
    /** Undefined: as they are. */
    readonly wanted: ChannelIssuers | undefined;
    /** Named by the call: what others are meanwhile puts nobody out. */
    readonly remove: readonly AgentId[];
  }
  | { readonly is: "add"; readonly applicant: Applicant }
  | {
    readonly is: "admit";
    readonly admitted: readonly AdmittedRequest[];
    readonly invites: Invites;
  }
  /** `of`: requests to come back. */
  | { readonly is: "duties"; readonly of: "all" | "none" | JoinRequestId }
  | { readonly is: "succession"; readonly successor: AgentId | undefined };

/** Somebody whose KeyPackage verifies. */
export interface Applicant {
  readonly agentId: AgentId;
  readonly identity: Uint8Array;
  readonly keyPackage: KeyPackage;
  /**
   * The member whose place it takes, named by an owner; itself, to be added anew. It has no say in
   * this.
   */
  readonly replaces?: AgentId | undefined;
  /**
   * The agent came by a guest link, or by an invite in the place of a guest, as our own record of
   * the invite says.
   */
  readonly guest?: boolean;
}

/** A request that holds an invite of ours. */
export interface AdmittedRequest {
  readonly request: NoticeBody<"DeliverJoinRequest">;
  readonly applicant: Applicant;
  /** The channel's epoch when the request was admitted. */
  readonly epoch: number;
}

export interface Invites {
  /** Undefined for one by which its applicant may come in. */
  readonly whyEnded: (
    request: AdmittedRequest["request"],
    membership: Membership,
  ) => StaticError | undefined;
}

/** A member that asks to come back. */
export interface ReturningMember {
  readonly agentId: AgentId;
  readonly requestId: JoinRequestId;
  readonly keyPackage: KeyPackage;
  readonly signature: Uint8Array;
}

/**
 * Agents that one commit of ours lets in: a KeyPackage with a post-quantum key, a badge and the
 * longest names has 2 kB, and with a path in a channel of 1,000 they fit into a commit. More wait
 * for the next.
 */
export const maxLetIn = 64;

/** Knowledge of this moment, by which plans are worked out. */
export interface PlanFacts {
  readonly membership: Membership;
  /** Leaving members. Our commit removes them together with its main change. */
  readonly leavers: readonly LeaveProof[];
  /** The name of our own leaf. */
  readonly ownLeaf: string;
  /** The members whose requests can be granted. */
  readonly returning: readonly ReturningMember[];
  /** Whether a member was heard of lately. */
  readonly isHeard: (agentId: AgentId) => boolean;
}

export interface PlannedChange {
  readonly change: Change;
  readonly answers?: readonly JoinRequestId[];
}

/** With the members that leave, by their own signatures. The relay's word removes nobody. */
export function withLeavers(change: Change, leavers: readonly LeaveProof[]): Change {
  const [adding, returning] = [change.add ?? [], change.rejoins ?? []];
  const arriving = new Set(adding.map(({ leafNode }) => agentOf(leafNode)));
  // Members that cannot be added before they are removed come first.
  const leaves = leavers.filter(({ agentId }) =>
    !returning.some((proof) => proof.agentId === agentId)
  )
    .sort((a, b) => Number(arriving.has(b.agentId)) - Number(arriving.has(a.agentId)))
    .slice(0, limits.proofsPerCommit);
  const remove = new Set([...change.remove ?? [], ...leaves.map(({ agentId }) => agentId)]);
  return { ...change, remove: [...remove], leaves };
}
