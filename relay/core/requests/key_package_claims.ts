/**
 * Claims of KeyPackages, and what an account may have of them: so many an hour, and of a stranger's
 * pool a share. A claim sent again gets the same answer and counts for nothing.
 */
import { type AgentId, type ChannelId, encodeBase64url } from "../../../proto/mod.ts";
import { takeOfAll } from "../../../server/limits/mod.ts";
import type { ClaimedKeyPackage } from "../../engine/engine.ts";
import { Refusal } from "../refusal.ts";
import type { AgentAsker, CoreParts } from "./request_handler.ts";

/**
 * An agent that is connected fills its pool within moments; one that is not may come back in a
 * while.
 */
const halfEmptyRetryMs = 60_000;

interface KeyPackageClaim {
  readonly channelId: ChannelId;
  readonly agentId: AgentId;
  readonly nonce: Uint8Array;
  /**
   * The agent came into the channel itself: no rate refuses its owners, but its pool is shared all
   * the same.
   */
  readonly hasJoined: boolean;
}

interface ClaimDelay {
  readonly retryAfterMs: number;
}

/** The answer that this claim has had. */
export async function repeatClaim(
  { core, agent }: AgentAsker,
  claim: Omit<KeyPackageClaim, "hasJoined">,
): Promise<ClaimedKeyPackage | undefined> {
  const { engine, nowMs } = core.deps;
  const key = claimKeyOf(agent.agentId, claim);
  return await engine.keyPackages.claim(claim.agentId, { key, nowMs: nowMs(), share: "none" });
}

/**
 * Undefined when the relay holds nothing of this agent; a time to wait when the account has had its
 * share.
 */
export async function claimKeyPackage(
  asker: AgentAsker,
  claim: KeyPackageClaim,
): Promise<ClaimedKeyPackage | ClaimDelay | undefined> {
  const { core, agent } = asker;
  const { agentId, hasJoined } = claim;
  const { engine, nowMs, meter } = core.deps;
  // The rates remember a bounded number of agents: those that were invented must not push out the
  // others.
  if (await isEmpty(core, agentId)) return undefined;
  const pair = `${agent.account} ${agentId}`;
  const retryAfterMs = hasJoined ? undefined : takeRates(asker, pair);
  if (retryAfterMs !== undefined) return { retryAfterMs };
  const isOwn = await engine.keyPackages.ownerOf(agentId) === agent.account;
  const shareMs = isOwn ? undefined : core.limits.rates.singleUseClaims.take(pair, nowMs());
  const isFirst = isOwn || core.limits.rates.firstClaims.take(pair, nowMs()) === undefined;
  const share = shareMs !== undefined ? "last resort" : isFirst ? "any" : "half";
  const key = claimKeyOf(agent.agentId, claim);
  const claimed = await engine.keyPackages.claim(agentId, { key, nowMs: nowMs(), share });
  if (claimed === undefined) {
    // Another claim may have been faster.
    return await isEmpty(core, agentId) ? undefined : { retryAfterMs: shareMs ?? halfEmptyRetryMs };
  }
  meter.keyPackagesClaimed++;
  await askForMore(core, agentId);
  return claimed;
}

async function isEmpty({ deps: { engine, nowMs } }: CoreParts, agentId: AgentId): Promise<boolean> {
  const { keyPackages, hasLastResort } = await engine.keyPackages.count(agentId, nowMs());
  return keyPackages === 0 && !hasLastResort;
}

function takeRates(
  { core: { limits: { rates }, deps }, agent }: AgentAsker,
  pair: string,
): number | undefined {
  const nowMs = deps.nowMs();
  return takeOfAll([...rates.claims.of(agent, nowMs), rates.targetClaims.of(pair, nowMs)], nowMs);
}

function claimKeyOf(
  claimer: AgentId,
  { channelId, nonce }: Pick<KeyPackageClaim, "channelId" | "nonce">,
): string {
  return `${claimer} ${channelId} ${encodeBase64url(nonce)}`;
}

export function tooManyClaims(retryAfterMs: number): Refusal {
  return new Refusal("rate_limited", "This account has claimed too many KeyPackages; try later", {
    retryAfterMs,
  });
}

/**
 * Tells an agent that is connected that its pool runs low: strangers get no more than the first
 * half of it.
 */
export async function askForMore(core: CoreParts, agentId: AgentId): Promise<void> {
  const { engine, nowMs } = core.deps;
  const { keyPackages, filled, hasLastResort } = await engine.keyPackages.count(agentId, nowMs());
  if (keyPackages >= core.config.keyPackagesWanted && 2 * keyPackages > filled) return;
  const wanted = core.config.limits.keyPackagesPerAgent - keyPackages;
  core.sessions.tell(agentId, "KeyPackagesLow", { remaining: keyPackages, wanted, hasLastResort });
}
