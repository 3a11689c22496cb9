/** KeyPackages: uploaded by their owner, each claimed once by whoever adds it to a channel. */
import {
  type AccountId,
  type AgentId,
  checkChannelExtensions,
  encodeBase64url,
  type KeyPackage,
  readKeyPackage,
  type ReplyBody,
  type RequestBody,
  verifyKeyPackage,
} from "../../../proto/mod.ts";
import type { PooledKeyPackage } from "../../engine/engine.ts";
import { Refusal } from "../refusal.ts";
import type { AgentAsker, CoreParts } from "../request_handler.ts";
import { openAsMember } from "./channel_access.ts";

/** KeyPackages verified before others have their turn: each takes about half a millisecond. */
const verifiedAtOnce = 4;
/** Claims of an account in an hour that a pool serves to its end. */
const firstClaims = 3;
/** An agent that is connected fills its pool within moments; one that is not may come back in a while. */
const halfEmptyRetryMs = 60_000;

export async function uploadKeyPackage(
  asker: AgentAsker,
  { keyPackages, lastResort, replace }: RequestBody<"UploadKeyPackage">,
): Promise<ReplyBody<"UploadKeyPackage">> {
  const { core, agent } = asker;
  const pooled: PooledKeyPackage[] = [];
  for (const [index, bytes] of keyPackages.entries()) {
    // The first are part of the request's own turn.
    if (index % verifiedAtOnce === verifiedAtOnce - 1) await core.slowTurns.take(agent.account, 1);
    pooled.push(pool(bytes, checkOwn(asker, bytes, false)));
  }
  const last = lastResort && pool(lastResort, checkOwn(asker, lastResort, true));
  const count = core.deps.engine.keyPackages.put(agent.agentId, {
    keyPackages: pooled,
    ...(last && { lastResort: last }),
    replace,
    capacity: core.config.limits.keyPackagesPerAgent,
    account: agent.account,
    bytesPerAccount: core.config.keyPackageBytesPerAccount,
    bytesInAll: core.config.keyPackageBytesInAll,
    nowMs: core.deps.nowMs(),
  });
  return { stored: count.keyPackages, hasLastResort: count.hasLastResort };
}

export async function addMember(
  asker: AgentAsker,
  { channelId, agentId, nonce }: RequestBody<"AddMember">,
): Promise<ReplyBody<"AddMember">> {
  const { core, agent } = asker;
  const { engine, nowMs, meter } = core.deps;
  const { state } = await openAsMember(asker, channelId);
  if (state.isActive(agentId)) throw new Refusal("already_member", "This agent is in the channel already");
  const { keyPackages, hasLastResort } = engine.keyPackages.count(agentId, nowMs());
  // The limit remembers a bounded number of agents: those that were invented must not push out the others.
  const counts = keyPackages > 0 || hasLastResort;
  const pair = `${agent.account} ${agentId}`;
  if (counts) refuseClaims(core, agent.account, pair);
  const isOwn = engine.keyPackages.ownerOf(agentId) === agent.account;
  const shareMs = isOwn ? undefined : core.singleUseRate.take(pair, nowMs());
  const isFirst = isOwn || core.singleUseRate.count(pair, nowMs()) <= firstClaims;
  const share = shareMs !== undefined ? "last resort" : isFirst ? "any" : "half";
  const key = `${agent.agentId} ${channelId} ${encodeBase64url(nonce)}`;
  const claimed = engine.keyPackages.claim(agentId, { key, nowMs: nowMs(), share });
  if (claimed === undefined && counts && share !== "any") throw tooManyClaims(shareMs ?? halfEmptyRetryMs);
  if (claimed === undefined) {
    throw new Refusal("key_package_missing", "The relay holds no KeyPackage of this agent; it must upload one");
  }
  meter.keyPackagesClaimed++;
  askForMore(core, agentId);
  return { keyPackage: claimed.keyPackage, lastResort: claimed.lastResort };
}

function refuseClaims({ claimRate, accountClaimRate, deps }: CoreParts, account: AccountId, pair: string): void {
  const retryAfterMs = accountClaimRate.take(account, deps.nowMs()) ?? claimRate.take(pair, deps.nowMs());
  if (retryAfterMs !== undefined) throw tooManyClaims(retryAfterMs);
}

function tooManyClaims(retryAfterMs: number): Refusal {
  return new Refusal("rate_limited", "This account has claimed too many KeyPackages; try later", { retryAfterMs });
}

/** Tells an agent that is connected that its pool runs low. */
export function askForMore(core: CoreParts, agentId: AgentId): void {
  const { engine, nowMs } = core.deps;
  const { keyPackages, hasLastResort } = engine.keyPackages.count(agentId, nowMs());
  if (keyPackages >= core.config.keyPackagesWanted) return;
  const wanted = core.config.limits.keyPackagesPerAgent - keyPackages;
  core.sessionOf(agentId)?.notify("KeyPackagesLow", { remaining: keyPackages, wanted, hasLastResort });
}

/** A KeyPackage of the asking agent; everything else is refused. */
export function checkOwn({ core, agent }: AgentAsker, bytes: Uint8Array, lastResort?: boolean): KeyPackage {
  if (bytes.length > core.config.limits.keyPackageBytes) {
    throw new Refusal("payload_too_large", `A KeyPackage has at most ${core.config.limits.keyPackageBytes} bytes here`);
  }
  const unverified = readKeyPackage(bytes);
  const keyPackage = verifyKeyPackage(unverified, core.deps.nowMs(), core.deps.verifySignature);
  checkChannelExtensions(unverified);
  if (keyPackage.agentId !== agent.agentId) {
    throw new Refusal("key_package_invalid", "The KeyPackage is of another agent than this session's");
  }
  if (lastResort !== undefined && keyPackage.lastResort !== lastResort) {
    throw new Refusal("key_package_invalid", "A KeyPackage of last resort has that extension, the others do not");
  }
  return keyPackage;
}

function pool(bytes: Uint8Array, { reference, notAfterMs }: KeyPackage): PooledKeyPackage {
  return { bytes, reference, notAfterMs };
}
