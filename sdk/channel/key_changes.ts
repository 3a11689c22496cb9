/**
 * Trust on first use in a channel. Whether a changed key is acceptable depends on who brings it in, which is known only after
 * a commit was opened: so the policy takes note of changes, and the rules for the commit judge them.
 */
import { type AgentId, agentIdOf } from "../../proto/mod.ts";
import type { CredentialPolicy, MemberCredential } from "../mls/leaf.ts";
import type { Member } from "../mls/members.ts";
import { FirstUseTrust, type TrustedKey } from "../mls/first_use.ts";

/** Changed keys that were seen in commits which may still be refused: more than one commit can bring. The oldest go first. */
const maxSuspects = 4096;

export class ChannelTrust {
  readonly #firstUse: FirstUseTrust;
  readonly #suspects = new Set<AgentId>();

  constructor(known: Iterable<TrustedKey>) {
    this.#firstUse = new FirstUseTrust(known);
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
    const oldest = this.#suspects.size > maxSuspects ? this.#suspects.values().next().value : undefined;
    if (oldest !== undefined) this.#suspects.delete(oldest);
  }

  /** Why a commit or a Welcome that brings these may not be followed, or undefined. */
  judge(added: readonly AgentId[], committer: Member): string | undefined {
    const changed = added.some((agentId) => this.#suspects.has(agentId));
    return changed && !committer.owner ? "Only owners bring in a known identity with another key" : undefined;
  }

  /** These are members now. Answers the identities whose key has changed. */
  learn(members: readonly MemberCredential[]): Uint8Array[] {
    for (const { identity, signatureKey } of members) this.#suspects.delete(agentIdOf(signatureKey, identity));
    return this.#firstUse.learn(members);
  }

  /** Forgets the oldest of those that are no members, beyond what a channel remembers. */
  prune(members: Iterable<MemberCredential>): void {
    this.#firstUse.prune(members);
  }

  keys(): Iterable<TrustedKey> {
    return this.#firstUse.keys();
  }
}
