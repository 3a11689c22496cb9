/** The members of a channel, as its user sees them. */
import type { AgentId, Recognition } from "../../../proto/mod.ts";
import { identityText } from "../../base/identity_text.ts";
import { badgeEndMs, requiredBy } from "../../mls/badge_rules.ts";
import type { Epoch } from "../../mls/epoch.ts";
import { listsExtension, sealingExtension } from "../../mls/leaf.ts";
import type { ChannelDeps } from "../deps.ts";
import type { Rooms } from "../runner/rooms.ts";

/** Somebody in a channel. */
export interface ChannelMember extends Recognition {
  /** How the relay and other agents name it. */
  readonly agentId: AgentId;
  /**
   * The name that the member chose for itself: a claim that nobody has checked. In hexadecimal when
   * it is not text.
   */
  readonly identity: string;
  /** The same as bytes. */
  readonly identityBytes: Uint8Array;
  /**
   * Whether it is the same agent as before under this identity. Messages of one that is not are not
   * shown.
   */
  readonly keyUnchanged: boolean;
  /** Owners may remove others. */
  readonly owner: boolean;
  /**
   * The member came by a guest link and lets nobody in, until an owner makes it a member like the
   * others. The group says this, not the relay.
   */
  readonly guest: boolean;
  /** This agent. */
  readonly self: boolean;
  /**
   * The member belongs to the channel and is not back yet after the channel was begun anew: it can
   * read nothing until it is. Its identity is empty if this agent has never met it.
   */
  readonly absent: boolean;
  /**
   * The last epoch of which it is known to be in the same group: by its signed confirmation, or by
   * a message of it that opened. Undefined when it has not been heard of since the channel was
   * opened.
   */
  readonly confirmedEpoch: number | undefined;
  /**
   * When the member was last there, by a signature that this agent has verified, and by the local
   * clock: when its message or commit came, when the epoch began that it confirmed, or when it made
   * the KeyPackage with which it came. Undefined when this agent has verified none.
   */
  readonly lastHeardMs: number | undefined;
  /**
   * The relay says that the member was absent for too long, and keeps nothing for it. It stays a
   * member and may come back. If it will not, an owner removes it.
   */
  readonly lapsed: boolean;
  /**
   * When the last badge of the member ends, by its issuer's word, of those with which it is in a
   * channel that requires badges; undefined in others. A member whose badge is over stays until an
   * owner removes it.
   */
  readonly badgeEndsMs: number | undefined;
  /**
   * Its program has post-quantum keys, as its leaf says. While a member's has none, the channel
   * cannot be one whose recordings stay closed. False for an absent member.
   */
  readonly postQuantum: boolean;
  /**
   * Members with another agent id whose identity looks the same, by its case, blanks or letters:
   * some of them, at most eight. Tell them apart by their agent ids.
   */
  readonly resembles: readonly AgentId[];
}

/** Whether a member is there: as the relay says, and, apart from it, as this agent has heard. */
export interface Presence {
  /** The member. */
  readonly agentId: AgentId;
  /**
   * Whether it has a connection to the relay now, as the relay says, which may say anything.
   * Undefined when the relay cannot be asked, or says nothing of it.
   */
  readonly online?: boolean;
  /** `lastHeardMs` of the member: by signatures that this agent has verified. */
  readonly lastHeardMs?: number;
}

/** `online`: what the relay says, of agents of its choice. */
export function listPresence(
  { membership, confirmations }: Pick<Rooms, "membership" | "confirmations">,
  online: ReadonlyMap<AgentId, boolean>,
): Presence[] {
  confirmations.verifyAll();
  const present = membership.group.members();
  return [...present, ...membership.absentMembers].map(({ agentId }) => {
    const [isOnline, { lastHeardMs }] = [online.get(agentId), confirmations.known(agentId)];
    return {
      agentId,
      ...(isOnline !== undefined && { online: isOnline }),
      ...(lastHeardMs !== undefined && { lastHeardMs }),
    };
  });
}

/** Statements of theirs that wait are verified. */
export function listMembers(...of: Parameters<typeof listKnownMembers>): ChannelMember[] {
  const [{ confirmations }] = of;
  confirmations.verifyAll();
  return listKnownMembers(...of);
}

/** The same, with what was heard of them as of the last question: it costs no signature. */
export function listKnownMembers(
  { membership, confirmations, watch: { lookAlikes } }: Rooms,
  self: AgentId,
  recogniser: ChannelDeps["recogniser"],
): ChannelMember[] {
  const lapsed = new Set(membership.departures.lapsed);
  const issuers = requiredBy(membership.group.binding) ?? [];
  const members = [
    ...membership.group.members().map((member) => ({ ...member, absent: false })),
    ...membership.absentMembers,
  ];
  const withKeys = withSealKeys(membership.group.current);
  const recognised = recogniser.all(members);
  return members.map(({ agentId, identity, owner, guest, absent, badges }, i) => ({
    agentId,
    identity: identityText(identity),
    identityBytes: identity,
    keyUnchanged: !membership.isDoubtful(agentId),
    ...recognised[i] ?? recogniser.of({ agentId }),
    owner,
    guest,
    self: agentId === self,
    absent,
    ...confirmations.known(agentId),
    lapsed: lapsed.has(agentId),
    badgeEndsMs: badgeEndMs(badges, issuers),
    postQuantum: withKeys.has(agentId),
    resembles: lookAlikes.of(agentId),
  }));
}

/** Members whose leaves say that their programs have keys for the layer of Welcomes. */
function withSealKeys({ tree }: Pick<Epoch, "tree">): ReadonlySet<AgentId> {
  return new Set(
    Array.from(tree.leaves()).flatMap(([, { agentId, node }]) =>
      listsExtension(node, sealingExtension) ? [agentId] : []
    ),
  );
}
