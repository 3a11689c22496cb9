/**
 * How members came in, as the GroupInfo of a Welcome shows it. A member that comes back and knows
 * nobody in the group any more judges by that whether its members let the Welcome's maker in, or
 * the relay made it up.
 */
import {
  type Admission,
  admissionStatement,
  type AgentId,
  agentIdOf,
  type ChannelId,
  decodeAdmissions,
  decodeShownAdmissions,
  encodeAdmissions,
  encodeShownAdmissions,
  equalBytes,
  limits,
  membershipNameBytes,
  type ShownAdmissions,
  WireError,
} from "../../proto/mod.ts";
import type { Signatures } from "./crypto/signatures.ts";
import type { MlsIdentity } from "./identity.ts";
import { admissionsExtension, type MemberCredential } from "./leaf.ts";
import { type Extension, extensionTypeToNumber } from "./ts_mls.ts";

/** How this agent came in. It stays the same until the agent comes back, or joins again. */
export interface MembershipEntry {
  /** The random name of its membership, which stays the same when it comes back. */
  readonly membership: Uint8Array;
  /** Oldest first; none when it made the channel. */
  readonly admissions: readonly Admission[];
}

export function createEntry(
  admissions: readonly Admission[],
  randomBytes: (length: number) => Uint8Array,
): MembershipEntry {
  return { membership: randomBytes(membershipNameBytes), admissions };
}

/** The extension of a Welcome that lets these agents in by a commit of ours. */
export function showAdmissions(
  { membership, admissions }: MembershipEntry,
  { channelId, epoch, added }: {
    readonly channelId: ChannelId;
    readonly epoch: number;
    readonly added: readonly AgentId[];
  },
  { signingSeed }: Pick<MlsIdentity, "signingSeed">,
  signatures: Signatures,
): Extension {
  const signed = added.map((agentId) => {
    const statement = admissionStatement({ channelId, membership, epoch, agentId });
    return { agentId, signature: signatures.sign(signingSeed, statement) };
  });
  const extensionData = encodeShownAdmissions({ maker: admissions, membership, added: signed });
  return { extensionType: admissionsExtension, extensionData };
}

/** Undefined when they are missing or cannot be read: a Welcome is not worse for that. */
export function readAdmissions(extensions: readonly Extension[]): ShownAdmissions | undefined {
  const shown = extensions.find(({ extensionType }) =>
    extensionTypeToNumber(extensionType) === admissionsExtension
  );
  try {
    return shown && decodeShownAdmissions(shown.extensionData);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

/** The maker of a Welcome, and what the Welcome shows. */
export interface ShownWelcome {
  readonly maker: MemberCredential;
  /** The one that the Welcome leads into. */
  readonly epoch: number;
  readonly admissions: ShownAdmissions | undefined;
}

/**
 * The admissions that lead to an agent that a Welcome lets in, oldest first; none when its own is
 * missing.
 */
export function admissionsOf(
  self: AgentId,
  { maker, epoch, admissions }: ShownWelcome,
): readonly Admission[] {
  const admitted = admissions?.added.find(({ agentId }) => agentId === self);
  // Nobody is let in by the first epoch of a group.
  if (admissions === undefined || admitted === undefined || epoch < 1) return [];
  const { signatureKey, identity } = maker;
  const own = {
    signatureKey,
    identity,
    membership: admissions.membership,
    epoch: epoch - 1,
    ...admitted,
  };
  return copied([...admissions.maker, own].slice(-limits.admissions));
}

/** They are parts of the Welcome, which is large and would stay in memory with them. */
function copied(admissions: readonly Admission[]): readonly Admission[] {
  return decodeAdmissions(encodeAdmissions(admissions));
}

/** The knowledge of a member that comes back. */
export interface KnownMembers {
  readonly self: AgentId;
  readonly entry: MembershipEntry;
  /** The members of its present epoch, with itself. */
  readonly members: readonly AgentId[];
  /** The guests among these members: they let nobody in. */
  readonly guests: readonly AgentId[];
  /**
   * The last epoch that it was in, in any group of the channel. Those that were let in before it
   * and are not there any more have left.
   */
  readonly epoch: number;
  /** The member that made the commit at which it is stopped. */
  readonly blamed?: AgentId | undefined;
}

/**
 * The entry of a member that came back: the admissions by which it first came in, and the one by
 * which it came back now. Those of returns in between add nothing, since it was a member all the
 * time.
 */
export function entryOfReturn({ self, entry }: KnownMembers, shown: ShownWelcome): MembershipEntry {
  const admissions = admissionsOf(self, shown);
  if (admissions.length === 0) return entry;
  const first = entry.admissions.findIndex(({ agentId }) => agentId === self);
  if (first < 0) return { ...entry, admissions };
  return {
    ...entry,
    admissions: [...entry.admissions.slice(0, first + 1), ...admissions.slice(-1)].slice(
      -limits.admissions,
    ),
  };
}

/** Whether members that are known, one after the other, let this agent in. */
export function isAdmitted(
  agentId: AgentId,
  channelId: ChannelId,
  admissions: readonly Admission[],
  known: KnownMembers,
  signatures: Signatures,
): boolean {
  const members = new Set(known.members);
  for (const admission of admissions) {
    if (members.has(agentId)) break;
    const signer = agentIdOf(admission.signatureKey, admission.identity);
    if (admission.epoch < known.epoch || !members.has(signer) || known.guests.includes(signer)) {
      continue;
    }
    if (signer === known.blamed) continue;
    // This agent's own signatures of an earlier membership are no news from the time that it has
    // forgotten.
    if (signer === known.self && !equalBytes(admission.membership, known.entry.membership)) {
      continue;
    }
    const statement = admissionStatement({ channelId, ...admission });
    if (!signatures.verifyHandshake(admission.signatureKey, statement, admission.signature)) {
      continue;
    }
    members.add(admission.agentId);
  }
  return members.has(agentId);
}
