/** Adding agents: verifies their KeyPackages and removes the members that they replace in the same commit. */
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type AgentId,
  type ChannelId,
  type KeyPackage as VerifiedKeyPackage,
  parseAgentId,
  readKeyPackage,
  verifyKeyPackage,
} from "../../proto/mod.ts";
import { createError, type StaticError } from "../base/errors.ts";
import { identityText } from "../base/identity_text.ts";
import { identifiedMembersOf } from "../mls/base_epoch.ts";
import { identityHashOf } from "../mls/generation.ts";
import type { Change } from "../mls/group.ts";
import { checkLifetime, decodeKeyPackageMessage, type KeyPackage } from "../mls/key_package.ts";
import type { RelaySession } from "../session/relay_session.ts";
import type { Committer } from "./commits.ts";
import { type ChannelDeps, clocksOf } from "./deps.ts";
import { toStaticError } from "./faults.ts";
import type { Membership } from "./membership.ts";

const nonceBytes = 16;

/** Somebody whose KeyPackage verifies. */
export interface Applicant {
  readonly agentId: AgentId;
  readonly identity: Uint8Array;
  readonly keyPackage: KeyPackage;
}

/** Throws `StaticError` with `key_package_invalid` for bytes that are no KeyPackage, or one that does not verify. */
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
    const { message: why } = toStaticError(fault, "The KeyPackage was refused");
    throw createError("key_package_invalid", `${why}; ask its agent for a new one`, { cause: fault });
  }
}

/** Why an applicant cannot be added now, or whom it replaces. */
export function judgeApplicant(
  membership: Membership,
  { agentId, identity }: Applicant,
): { readonly replaces: readonly AgentId[] } | StaticError {
  const { group, absent } = membership;
  if (!group.self.mayAdd) return ownersAdmit(membership);
  const name = bytesToHex(identityHashOf(identity));
  const leaving = membership.leavers.map((leaver) => leaver.agentId);
  const same = identifiedMembersOf(group.current).filter((member) => bytesToHex(member.identityHash) === name);
  // An absent member that is added is absent no more, and need not be removed for that.
  const replaces = same.map((member) => member.agentId).filter((each) => each !== agentId || !absent.includes(each));
  if (replaces.length === 0 || group.self.owner) return { replaces };
  // It has left, comes back as it was, and goes and comes by one commit.
  if (replaces.includes(agentId) && leaving.includes(agentId)) return { replaces: [] };
  return replaces.includes(agentId)
    ? createError("already_member", "The agent is in the channel already; an owner can add it anew")
    : createError(
      "not_allowed",
      "The agent's identity is in the channel under another key; only an owner can replace it",
    );
}

/** Only owners let agents in, and invite them. */
export function ownersAdmit({ group }: Pick<Membership, "group">): StaticError {
  const owners = group.members().filter(({ owner }) => owner).map(({ identity }) => `"${identityText(identity)}"`);
  return createError("not_allowed", `Only owners let agents into this channel; ask one of them: ${owners.join(", ")}`);
}

export function changeFor(membership: Membership, applicants: readonly Applicant[]): Change {
  const remove = new Set<AgentId>();
  const add: KeyPackage[] = [];
  for (const applicant of applicants) {
    const verdict = judgeApplicant(membership, applicant);
    if (verdict instanceof Error) throw verdict;
    add.push(applicant.keyPackage);
    for (const agentId of verdict.replaces) remove.add(agentId);
  }
  return { add, remove: [...remove] };
}

export interface AddingDeps extends Pick<ChannelDeps, "relayNowMs" | "runtime" | "signatures"> {
  readonly session: Pick<RelaySession, "call">;
}

/** Adds an agent by its KeyPackage, or by its id when the relay holds a KeyPackage for it. Returns the Welcome. */
export async function addMember(
  keyPackage: Uint8Array | string,
  { membership, committer }: { readonly membership: Membership; readonly committer: Committer },
  deps: AddingDeps,
): Promise<Uint8Array> {
  const wanted = typeof keyPackage === "string" ? parseAgentId(keyPackage) : undefined;
  const message = typeof keyPackage === "string"
    ? await claim(parseAgentId(keyPackage), membership.channelId, deps)
    : keyPackage;
  const applicant = readApplicant(message, deps);
  if (wanted !== undefined && applicant.agentId !== wanted) {
    const text =
      "Cannot add the member: the relay returned the KeyPackage of another agent. Ask the agent to send you its KeyPackage directly";
    throw createError("key_package_invalid", text);
  }
  const committed = await committer.commit(() => ({ change: changeFor(membership, [applicant]) }));
  const welcome = committed?.prepared.welcome;
  if (welcome === undefined) throw createError("internal", "Cannot add the member: no Welcome was made");
  return welcome;
}

/** One KeyPackage of an agent that the relay holds for it. */
async function claim(agentId: AgentId, channelId: ChannelId, { session, runtime }: AddingDeps): Promise<Uint8Array> {
  return (await session.call("AddMember", { channelId, agentId, nonce: runtime.randomBytes(nonceBytes) })).keyPackage;
}
