/**
 * Trust on first use in a channel. Remembered keys never decide whether a commit is followed: other
 * members remember other keys and would diverge from us. They decide which messages are shown. A
 * member that comes back under a known identity with another key, and was not added by an owner, is
 * a member like others, but its messages are not shown.
 */
import { type AgentId, agentIdOf } from "../../../proto/mod.ts";
import type { CredentialPolicy, MemberCredential } from "../../mls/leaf.ts";
import type { Member } from "../../mls/members.ts";
import { type FirstUseKey, FirstUseTrust } from "./first_use.ts";

/**
 * Changed keys that were seen in commits which may still be refused: more than one commit can
 * bring. The oldest go first.
 */
const maxSuspects = 4096;
/** Many times the members of a channel. The oldest that are no members go first. */
const maxDoubtful = 4096;

/** Identities that came with another key than the one that was known. */
export interface ChangedKeys {
  /** Brought in by an owner: from now on this is their key. */
  readonly accepted: readonly Uint8Array[];
  readonly doubtful: readonly Uint8Array[];
}

export class ChannelTrust {
  readonly #firstUse: FirstUseTrust;
  readonly #suspects = new Set<AgentId>();
  readonly #doubtful: Set<AgentId>;

  constructor(known: Iterable<FirstUseKey>, doubtful: Iterable<AgentId> = []) {
    this.#firstUse = new FirstUseTrust(known);
    this.#doubtful = new Set(doubtful);
  }

  /** For `MemberDeps.policy`. */
  readonly policy: CredentialPolicy = (credential) => {
    if (this.#firstUse.policy(credential) !== undefined) this.#suspect(credential);
    return undefined;
  };

  #suspect({ signatureKey, identity }: MemberCredential): void {
    const agentId = agentIdOf(signatureKey, identity);
    this.#suspects.delete(agentId);
    this.#suspects.add(agentId);
    const oldest = this.#suspects.size > maxSuspects
      ? this.#suspects.values().next().value
      : undefined;
    if (oldest !== undefined) this.#suspects.delete(oldest);
  }

  /** Why we do not bring these in ourselves, or undefined. */
  judge(added: readonly AgentId[], committer: Member): string | undefined {
    const changed = added.some((agentId) => this.#suspects.has(agentId));
    return changed && !committer.owner
      ? "Only owners bring in a known identity with another key"
      : undefined;
  }

  /** These are members now, brought in by an owner or not. */
  learn(
    members: readonly MemberCredential[],
    { byOwner }: { readonly byOwner: boolean },
  ): ChangedKeys {
    const agents = members.map((credential) => ({
      credential,
      agentId: agentIdOf(credential.signatureKey, credential.identity),
      changed: this.#firstUse.policy(credential) !== undefined,
    }));
    for (const { agentId, changed } of agents) {
      this.#suspects.delete(agentId);
      if (changed && !byOwner) this.#doubtful.add(agentId);
      else if (byOwner) this.#doubtful.delete(agentId);
    }
    const taken = agents.filter(({ changed }) => byOwner || !changed);
    const doubtful = agents.filter((agent) => !taken.includes(agent));
    return {
      accepted: this.#firstUse.learn(taken.map(({ credential }) => credential)),
      doubtful: doubtful.map(({ credential }) => credential.identity),
    };
  }

  /** A group that we enter. Its inviter vouches for no one that we had doubts about. */
  enter(
    members: readonly MemberCredential[],
    { byOwner }: { readonly byOwner: boolean },
  ): ChangedKeys {
    const known = (credential: MemberCredential): boolean =>
      this.isDoubtful(agentIdOf(credential.signatureKey, credential.identity));
    const before = this.learn(members.filter(known), { byOwner: false });
    const others = this.learn(members.filter((each) => !known(each)), { byOwner });
    return { accepted: others.accepted, doubtful: [...before.doubtful, ...others.doubtful] };
  }

  /** Whether messages of this agent are not shown. */
  isDoubtful(agentId: AgentId): boolean {
    return this.#doubtful.has(agentId);
  }

  /** Forgets the oldest of those that are no members, beyond what a channel remembers. */
  prune(members: readonly MemberCredential[]): void {
    this.#firstUse.prune(members);
    if (this.#doubtful.size <= maxDoubtful) return;
    const staying = new Set(
      members.map(({ signatureKey, identity }) => agentIdOf(signatureKey, identity)),
    );
    for (const agentId of this.#doubtful) {
      if (this.#doubtful.size <= maxDoubtful) return;
      if (!staying.has(agentId)) this.#doubtful.delete(agentId);
    }
  }

  get keys(): Iterable<FirstUseKey> {
    return this.#firstUse.keys();
  }

  get doubtful(): Iterable<AgentId> {
    return this.#doubtful;
  }
}
