/**
 * How members came in, as the GroupInfo of a Welcome shows it. A member that comes back and knows nobody in the group any more judges
 * by that whether its members let the Welcome's maker in, or the relay made it up.
 */
import { type Extension, extensionTypeToNumber } from "ts-mls/extension.js";
import {
  type Admission,
  admissionStatement,
  type AgentId,
  agentIdOf,
  type ChannelId,
  decodeShownAdmissions,
  encodeShownAdmissions,
  equalBytes,
  limits,
  membershipNameBytes,
  type ShownAdmissions,
  WireError,
} from "../../proto/mod.ts";
import type { Signatures } from "./crypto/signatures.ts";
import type { MlsIdentity } from "./identity.ts";
import { admissionsExtension } from "./leaf.ts";

/** How this agent came in. It stays the same until the agent comes back, or joins again. */
export interface Entry {
  /** The random name of its membership, which stays the same when it comes back. */
  readonly membership: Uint8Array;
  /** Oldest first; none when it made the channel. */
  readonly admissions: readonly Admission[];
}

/** Of memberships from before they had names: they have signed nothing with another one. */
export const unnamedEntry: Entry = { membership: new Uint8Array(membershipNameBytes), admissions: [] };

export function createEntry(admissions: readonly Admission[], randomBytes: (length: number) => Uint8Array): Entry {
  return { membership: randomBytes(membershipNameBytes), admissions };
}

/** The extension of a Welcome that lets these agents in by a commit of ours. */
export async function showAdmissions(
  { membership, admissions }: Entry,
  { channelId, epoch, added }: {
    readonly channelId: ChannelId;
    readonly epoch: number;
    readonly added: readonly AgentId[];
  },
  { signingSeed, signatureKey, identity }: MlsIdentity,
  signatures: Signatures,
): Promise<Extension> {
  const signed = await Promise.all(added.map(async (agentId) => {
    const fields = { membership, epoch, agentId };
    const signature = await signatures.sign(signingSeed, admissionStatement({ channelId, ...fields }));
    return { signatureKey, identity, ...fields, signature };
  }));
  const extensionData = encodeShownAdmissions({ maker: admissions, added: signed });
  return { extensionType: admissionsExtension, extensionData };
}

/** None when they are missing or cannot be read: a Welcome is not worse for that. */
export function readAdmissions(extensions: readonly Extension[]): ShownAdmissions {
  const shown = extensions.find(({ extensionType }) => extensionTypeToNumber(extensionType) === admissionsExtension);
  try {
    if (shown !== undefined) return decodeShownAdmissions(shown.extensionData);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
  }
  return { maker: [], added: [] };
}

/** Those that lead to an agent that was added. Empty when its own is missing. */
export function admissionsOf(agentId: AgentId, { maker, added }: ShownAdmissions): readonly Admission[] {
  const last = added.find((admission) => admission.agentId === agentId);
  return last === undefined ? [] : [...maker, last].slice(-limits.admissions);
}

/** What a member knows that comes back. */
export interface KnownMembers {
  readonly self: AgentId;
  readonly entry: Entry;
  /** In its present epoch, itself among them. */
  readonly members: readonly AgentId[];
  /** The last epoch that it was in, in any group of the channel. Those that were let in before it and are not there any more have left. */
  readonly epoch: number;
  /** The member that made the commit at which it is stopped. */
  readonly blamed?: AgentId | undefined;
}

/**
 * The entry of a member that came back. From the first admission that it signed itself on they lead from it to it, and would
 * become more with every return: of these the last is enough.
 */
export function entryOfReturn({ self, entry }: KnownMembers, shown: ShownAdmissions): Entry {
  const admissions = admissionsOf(self, shown);
  if (admissions.length === 0) return entry;
  const own = admissions.findIndex((admission) => signerOf(admission) === self);
  return { ...entry, admissions: own < 0 ? admissions : [...admissions.slice(0, own), ...admissions.slice(-1)] };
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
    const signer = signerOf(admission);
    if (admission.epoch < known.epoch || !members.has(signer) || signer === known.blamed) continue;
    // What it signed when it was a member before is no news from the time that it has forgotten.
    if (signer === known.self && !equalBytes(admission.membership, known.entry.membership)) continue;
    const statement = admissionStatement({ channelId, ...admission });
    if (!signatures.verifyHandshake(admission.signatureKey, statement, admission.signature)) continue;
    members.add(admission.agentId);
  }
  return members.has(agentId);
}

function signerOf({ signatureKey, identity }: Admission): AgentId {
  return agentIdOf(signatureKey, identity);
}
