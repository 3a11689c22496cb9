/**
 * Adding agents: verifies their KeyPackages, and decides whom they may come in place of, and who
 * comes as a guest. An identity that is in the channel comes in under another key only when an
 * owner has named the agent that it replaces.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type AgentId,
  equalBytes,
  type KeyPackage as VerifiedKeyPackage,
  parseAgentId,
  quoted,
  readKeyPackage,
  verifyKeyPackage,
} from "../../../proto/mod.ts";
import { createError, type StaticError } from "../../base/errors.ts";
import { identityText } from "../../base/identity_text.ts";
import { identifiedMembersOf } from "../../mls/base_epoch.ts";
import type { ChannelBinding } from "../../mls/channel_extensions.ts";
import { MlsFault } from "../../mls/codec.ts";
import type { SuiteId } from "../../mls/crypto/suite.ts";
import { identityHashOf } from "../../mls/generation.ts";
import type { Change } from "../../mls/group.ts";
import { guestsExtension } from "../../mls/leaf.ts";
import { lacking, rightsOf } from "../../mls/policy_rules.ts";
import { isKeyMissing } from "../../mls/sealing_rules.ts";
import { checkKeyPackage, checkLifetime, decodeKeyPackageMessage } from "../../mls/key_package.ts";
import { type ChannelDeps, clocksOf } from "../deps.ts";
import { toStaticError } from "../faults.ts";
import type { Membership } from "../group/membership.ts";
import { mustUpdate } from "./ownership.ts";
import type { Applicant } from "./plan.ts";

/** Whom an agent that is added replaces. */
export interface AddOptions {
  /**
   * The agent id of a member that is removed with the addition, whatever the new one calls itself.
   * For owners.
   */
  readonly replaces?: string | undefined;
}

/**
 * Throws `StaticError` with `key_package_invalid` for bytes that are no KeyPackage, or one that
 * does not verify.
 */
export function readApplicant(
  message: Uint8Array,
  deps: Pick<ChannelDeps, "relayNowMs" | "runtime" | "signatures">,
): Applicant {
  try {
    const { agentId, identity }: VerifiedKeyPackage = verifyKeyPackage(
      readKeyPackage(message),
      deps.relayNowMs(),
      deps.signatures.verifyHandshake,
    );
    const keyPackage = decodeKeyPackageMessage(message);
    checkLifetime(keyPackage, clocksOf(deps));
    return { agentId, identity, keyPackage };
  } catch (fault) {
    throw keyPackageInvalid(fault);
  }
}

function keyPackageInvalid(fault: unknown): StaticError {
  const { message: why } = toStaticError(fault, "The KeyPackage was refused");
  return createError("key_package_invalid", `${why}; ask its agent for a new one`, {
    cause: fault,
  });
}

/** Why an applicant cannot be added now, or who is removed with its addition. */
export function judgeApplicant(
  membership: Membership,
  applicant: Applicant,
): { readonly remove: readonly AgentId[] } | StaticError {
  const verdict = judgePlace(membership, applicant);
  if (verdict instanceof Error) return verdict;
  const { group } = membership;
  const unfit = whyUnfit(applicant, group.current.suiteId);
  if (unfit !== undefined) return unfit;
  if (isKeyMissing(applicant.keyPackage, group.binding.sealing)) {
    return withoutKey(applicant.agentId);
  }
  const why = group.whyShut(applicant.keyPackage, false);
  return why === undefined ? verdict : notAttested(why, group.binding);
}

/** One that no commit can add: it must not fail that of the others. */
function whyUnfit({ keyPackage }: Applicant, suiteId: SuiteId): StaticError | undefined {
  try {
    checkKeyPackage(keyPackage, suiteId);
    return undefined;
  } catch (fault) {
    if (!(fault instanceof MlsFault)) throw fault;
    return keyPackageInvalid(fault);
  }
}

function judgePlace(
  membership: Membership,
  { agentId, identity, replaces }: Applicant,
): { readonly remove: readonly AgentId[] } | StaticError {
  const { group, absent } = membership;
  const { mayAdd, owner } = group.self;
  if (!mayAdd) return ownersAdmit(membership);
  if (agentId === group.self.agentId) {
    return createError("already_member", "An agent cannot let itself in");
  }
  // One that has gone meanwhile is replaced by nobody.
  const named = replaces !== undefined && replaces !== agentId && membership.isMember(replaces)
    ? [replaces]
    : [];
  if (named.length > 0 && !owner) return ownersReplace();
  const holder = holderOf(identity, membership);
  if (holder === undefined || named.includes(holder)) return { remove: named };
  const isLeaving = membership.departures.leavers.some((leaver) => leaver.agentId === holder);
  if (holder !== agentId) {
    return owner && isLeaving ? { remove: [...named, holder] } : identityPresent(identity, holder);
  }
  // An absent member that is added is absent no more, and need not be removed for that. Without its
  // own word only owners bring it in.
  if (absent.includes(holder)) return owner ? { remove: named } : ownersBringBack(holder);
  // The holder has left, comes back as it was, and goes and comes by one commit.
  if (isLeaving) return { remove: [] };
  // Only if its owner or the agent itself says so: a KeyPackage and an invite do not show that
  // their agent has asked for it.
  if (owner && (replaces === agentId || membership.departures.hasSaidGoodbye(agentId))) {
    return { remove: [holder] };
  }
  return createError(
    "already_member",
    "The agent is in the channel already; an owner can add it anew with addMember(), or remove it and invite it again",
  );
}

function withoutKey(agentId: AgentId): StaticError {
  const text =
    `Agent ${agentId} runs a program without post-quantum keys, and this channel requires one of everybody. Update that ` +
    'agent, have it connect once, and try again; a channel that only prefers them is made with `postQuantum: "prefer"`';
  return createError("members_must_update", text, { members: [agentId] });
}

/** The issuers by which somebody may come in are told with it. */
function notAttested(why: string, { issuers }: Pick<ChannelBinding, "issuers">): StaticError {
  const open = issuers?.issuers.filter(({ closed }) => !closed).map(({ domain }) => domain) ?? [];
  const domains = [...new Set(open)].join(", ");
  const whose = domains === "" ? "of nobody now" : `of ${domains}`;
  return createError("not_attested", `${why}. The channel takes badges ${whose}`);
}

/** The member with this identity, with a leaf or without. There is one at most. */
function holderOf(identity: Uint8Array, { group }: Membership): AgentId | undefined {
  const wanted = identityHashOf(identity);
  return identifiedMembersOf(group.current).find(({ identityHash }) =>
    equalBytes(identityHash, wanted)
  )?.agentId;
}

/** The same words for the agent that wants in and for the one that was to let it in. */
function identityPresent(identity: Uint8Array, holder: AgentId): StaticError {
  const text =
    `Agent ${holder} has the identity ${
      quoted(identityText(identity))
    } in this channel, under another key. It ` +
    "stays, and nobody was let in. Join under another identity. If the keys of that agent are lost, an owner can put " +
    "another one in its place by an invite that names it (`replaces`)";
  return createError("identity_present", text, { members: [holder] });
}

function ownersReplace(): StaticError {
  return createError(
    "not_allowed",
    "Only owners let an agent in the place of a member; ask one of them",
  );
}

function ownersBringBack(agentId: AgentId): StaticError {
  const text =
    `Agent ${agentId} belongs to the channel and has not come back yet: start it in its own directory and it comes ` +
    "back by itself, or ask an owner to add it";
  return createError("not_allowed", text);
}

/**
 * Returns the id of a member that this agent may let another one replace. Throws `StaticError` or
 * `WireError`.
 */
export function checkReplaced(
  text: string,
  membership: Pick<Membership, "group" | "isMember">,
): AgentId {
  const agentId = parseAgentId(text);
  const { self } = membership.group;
  if (!self.owner) throw ownersReplace();
  if (agentId === self.agentId) {
    throw createError(
      "invalid_request",
      "An agent cannot name itself as the one to be replaced; name another member",
    );
  }
  if (membership.isMember(agentId)) return agentId;
  throw createError(
    "not_found",
    `Agent ${agentId} is no member that could be replaced; invite without \`replaces\``,
  );
}

/**
 * Guests let nobody in, and where the policy says so owners alone let agents in, and invite them.
 */
export function ownersAdmit({ group }: Pick<Membership, "group">): StaticError {
  if (group.self.guest) {
    const text =
      "This agent came by a guest link, and a guest lets nobody in; ask another member, or have an owner make it a " +
      'member like the others (promote with `to: "member"`)';
    return createError("not_allowed", text);
  }
  const owners = group.members().filter(({ owner }) => owner)
    .map(({ agentId, identity }) => `${agentId} (calls itself ${quoted(identityText(identity))})`);
  return createError(
    "not_allowed",
    `Only owners let agents into this channel; ask one of them: ${owners.join(", ")}`,
  );
}

/** Throws `StaticError` when one of them cannot be added, or two of them have one identity. */
export function changeFor(membership: Membership, applicants: readonly Applicant[]): Change {
  const remove = new Set<AgentId>();
  const guests: AgentId[] = [];
  const names = new Map<string, AgentId>();
  for (const applicant of applicants) {
    const { identity, agentId, replaces } = applicant;
    const verdict = judgeApplicant(membership, applicant);
    if (verdict instanceof Error) throw verdict;
    const name = bytesToHex(identity);
    const twin = names.get(name);
    if (twin !== undefined) throw identityPresent(identity, twin);
    names.set(name, agentId);
    for (const each of verdict.remove) remove.add(each);
    // In a guest's place comes a guest, be it the same agent; by the record of the invite when the
    // guest has gone.
    const isGuest = replaces !== undefined && membership.isMember(replaces)
      ? rightsOf(replaces, membership.group.binding).guest
      : applicant.guest === true;
    if (isGuest) guests.push(agentId);
  }
  if (guests.length > 0) checkGuestsKnown(membership, [...remove]);
  return { add: applicants.map(({ keyPackage }) => keyPackage), remove: [...remove], guests };
}

/** Throws `StaticError` while a member that stays cannot tell guests from others. */
function checkGuestsKnown({ group, departures }: Membership, removed: readonly AgentId[]): void {
  const gone = [...departures.leavers.map(({ agentId }) => agentId), ...removed];
  const members = lacking(guestsExtension, group.current, gone);
  if (members.length > 0) throw mustUpdate(members, "let a guest in", "guests");
}
