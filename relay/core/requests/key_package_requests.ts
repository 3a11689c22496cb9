/**
 * KeyPackages: uploaded by their owner, each claimed once by a member that adds it to a channel.
 */
import {
  checkChannelExtensions,
  type KeyPackage,
  readKeyPackage,
  type ReplyBody,
  type RequestBody,
  verifyKeyPackage,
} from "../../../proto/mod.ts";
import type { PooledKeyPackage } from "../../engine/engine.ts";
import { partOf, partyOf, sharesOf } from "../limits/shares.ts";
import { Refusal } from "../refusal.ts";
import type { AgentAsker } from "./request_handler.ts";
import { openAsMember } from "./channel_access.ts";
import { claimKeyPackage, repeatClaim, tooManyClaims } from "./key_package_claims.ts";

/** KeyPackages verified before others have their turn: each takes about half a millisecond. */
const verifiedAtOnce = 4;

export async function uploadKeyPackage(
  asker: AgentAsker,
  { keyPackages, lastResort, replace }: RequestBody<"UploadKeyPackage">,
): Promise<ReplyBody<"UploadKeyPackage">> {
  const { core, agent } = asker;
  const pooled: PooledKeyPackage[] = [];
  for (const [index, bytes] of keyPackages.entries()) {
    // The first are part of the request's own turn.
    if (index % verifiedAtOnce === verifiedAtOnce - 1) {
      await core.limits.slowTurns.take(partyOf(agent), 1);
    }
    pooled.push(pool(bytes, checkOwn(asker, bytes, false)));
  }
  const share = sharesOf(agent).find(({ part }) => part < 1);
  const last = lastResort && pool(lastResort, checkOwn(asker, lastResort, true));
  const count = await core.deps.engine.keyPackages.put(agent.agentId, {
    keyPackages: pooled,
    ...(last && { lastResort: last }),
    replace,
    capacity: core.config.limits.keyPackagesPerAgent,
    account: agent.account,
    ...(share &&
      {
        key: { id: share.name, bytes: partOf(core.config.keyPackageBytesPerAccount, share.part) },
      }),
    bytesPerAccount: core.config.keyPackageBytesPerAccount,
    bytesGuaranteed: core.config.keyPackageBytesGuaranteed,
    bytesInAll: core.config.keyPackageBytesInAll,
    nowMs: core.deps.nowMs(),
  });
  return { stored: count.keyPackages, hasLastResort: count.hasLastResort };
}

export async function addMember(
  asker: AgentAsker,
  { channelId, agentId, nonce }: RequestBody<"AddMember">,
): Promise<ReplyBody<"AddMember">> {
  const { state } = await openAsMember(asker, channelId);
  if (state.isActive(agentId)) {
    throw new Refusal("already_member", "This agent is in the channel already");
  }
  const claim = { channelId, agentId, nonce, hasJoined: false };
  const claimed = await repeatClaim(asker, claim) ?? await claimKeyPackage(asker, claim);
  if (claimed === undefined) {
    throw new Refusal(
      "key_package_missing",
      "The relay holds no KeyPackage of this agent; it must upload one",
    );
  }
  if ("retryAfterMs" in claimed) throw tooManyClaims(claimed.retryAfterMs);
  return { keyPackage: claimed.keyPackage, lastResort: claimed.lastResort };
}

/** A KeyPackage of the asking agent; everything else is refused. */
export function checkOwn(
  { core, agent }: AgentAsker,
  bytes: Uint8Array,
  lastResort?: boolean,
): KeyPackage {
  if (bytes.length > core.config.limits.keyPackageBytes) {
    throw new Refusal(
      "payload_too_large",
      `A KeyPackage has at most ${core.config.limits.keyPackageBytes} bytes here`,
    );
  }
  const unverified = readKeyPackage(bytes);
  const keyPackage = verifyKeyPackage(unverified, core.deps.nowMs(), core.deps.verifySignature);
  checkChannelExtensions(unverified);
  if (keyPackage.agentId !== agent.agentId) {
    throw new Refusal(
      "key_package_invalid",
      "The KeyPackage is of another agent than this session's",
    );
  }
  if (lastResort !== undefined && keyPackage.lastResort !== lastResort) {
    throw new Refusal(
      "key_package_invalid",
      "A KeyPackage of last resort has that extension, the others do not",
    );
  }
  return keyPackage;
}

function pool(bytes: Uint8Array, { reference, notAfterMs }: KeyPackage): PooledKeyPackage {
  return { bytes, reference, notAfterMs };
}
