/**
 * Anybody may be added by strangers, and is pushed a Welcome for each channel until it has taken it. So what waits for an
 * agent that did not ask is bounded: of one account, and of all accounts but its own.
 */
import type { AgentId, JoinRequestId } from "../../../proto/mod.ts";
import type { Waiting } from "../../engine/engine.ts";
import type { Channel } from "../channel.ts";
import { Refusal } from "../refusal.ts";
import { unaskedCost } from "../request_cost.ts";
import type { CoreParts } from "../request_handler.ts";

export interface Additions {
  readonly added: readonly AgentId[];
  /** Requests that are answered with it: their agents asked. */
  readonly answers: readonly JoinRequestId[];
  readonly welcomeBytes: ReadonlyMap<AgentId, number>;
}

/** Who is away may come back in a minute, or never. */
const retryAfterMs = 60_000;

/** Looked up before others have their turn: each reads all that waits for its agent. */
const agentsAtOnce = 4;

/** By those who wait for each. */
export function welcomeBytesOf(
  welcomes: readonly { readonly recipients: readonly AgentId[]; readonly welcome: Uint8Array }[],
): ReadonlyMap<AgentId, number> {
  return new Map(welcomes.flatMap(({ recipients, welcome }) => recipients.map((agentId) => [agentId, welcome.length])));
}

/** Throws `Refusal` when an agent that did not ask has too much waiting for it. */
export async function refuseUnasked(
  core: CoreParts,
  { account, channelId }: Channel,
  { added, answers, welcomeBytes }: Additions,
): Promise<void> {
  const requests = answers.flatMap((requestId) => core.joins.find(requestId) ?? []);
  const asked = new Set(requests.flatMap((request) => request.channelId === channelId ? [request.agentId] : []));
  const unasked = added.filter((agentId) => !asked.has(agentId));
  for (let at = 0; at < unasked.length; at += agentsAtOnce) {
    // The first are part of the request's own turn.
    if (at > 0) await core.turns.take(account, agentsAtOnce * unaskedCost);
    await Promise.all(
      unasked.slice(at, at + agentsAtOnce).map(async (agentId) => {
        const waiting = await core.deps.engine.joining({ agentId, account, except: channelId });
        const isOwn = core.deps.engine.keyPackages.ownerOf(agentId) === account;
        const why = excessOf(core, waiting, { bytes: welcomeBytes.get(agentId) ?? 0, isOwn });
        if (why === undefined) return;
        core.deps.meter.welcomesRefused++;
        throw new Refusal("queue_full", `Agent ${agentId} ${why}; wait until it has come into some`, { retryAfterMs });
      }),
    );
  }
}

function excessOf(
  { config }: CoreParts,
  waiting: Waiting,
  { bytes, isOwn }: { readonly bytes: number; readonly isOwn: boolean },
): string | undefined {
  if (waiting.channelsOfAccount >= config.joiningPerAccount) {
    return `was added to ${config.joiningPerAccount} channels of this account and has not come into them`;
  }
  if (waiting.bytesOfAccount + bytes > config.welcomeBytesPerAccount) {
    return `has ${config.welcomeBytesPerAccount} bytes of Welcomes of this account waiting for it`;
  }
  const isFull = waiting.bytes + bytes > config.welcomeBytesPerAgent;
  return isFull && !isOwn ? `has ${config.welcomeBytesPerAgent} bytes of Welcomes waiting for it` : undefined;
}
