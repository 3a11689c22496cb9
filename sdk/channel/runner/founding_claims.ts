/** KeyPackages that an owner asks the relay for, to begin a new generation with. */
import type { AgentId } from "../../../proto/mod.ts";
import type { ChannelDeps } from "../deps.ts";
import type { Membership } from "../group/membership.ts";
import type { KeyPackage } from "../../mls/key_package.ts";
import { readApplicant } from "../commits/adding.ts";

/**
 * One of each, as far as the relay has one that verifies; members without one are absent at first.
 * At most `limits.claimsForFounding`. Throws `StaticError` when the relay cannot be asked.
 */
export async function claimKeyPackages(
  agentIds: readonly AgentId[],
  { channelId }: Pick<Membership, "channelId">,
  deps: ChannelDeps,
): Promise<KeyPackage[]> {
  const nonce = deps.runtime.randomBytes(16);
  const { keyPackages } = await deps.session.call("ClaimForFounding", {
    channelId,
    agentIds: [...agentIds],
    nonce,
  });
  return keyPackages.flatMap(({ agentId, keyPackage: message }) => {
    try {
      const { keyPackage, agentId: of } = readApplicant(message, deps);
      return of === agentId && agentIds.includes(agentId) ? [keyPackage] : [];
    } catch {
      // Whatever the relay gave us for it, this member comes in later.
      return [];
    }
  });
}
