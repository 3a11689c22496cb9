/**
 * Anybody may be added by strangers, and is pushed a Welcome for each channel until it has taken
 * it. So what waits for an agent that did not ask is bounded. Accounts share what there is evenly:
 * those that come later have room, however much the first have sent.
 */
import type { AgentId, JoinRequestId } from "../../../proto/mod.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import type { CoreConfig } from "../config.ts";
import { Refusal } from "../refusal.ts";
import { unaskedCost } from "../limits/request_cost.ts";
import type { CoreParts } from "./request_handler.ts";
import type { PendingAddition } from "../limits/unsolicited_additions.ts";

export interface CommitAdditions {
  readonly added: readonly AgentId[];
  /** Requests that are answered with it: their agents asked. */
  readonly answers: readonly JoinRequestId[];
  readonly welcomeBytes: ReadonlyMap<AgentId, number>;
}

/** An absent agent may come back in a minute, or never. */
const retryAfterMs = 60_000;

/** Looked up before others have their turn: each reads all that waits for its agent. */
const agentsAtOnce = 4;

/**
 * The room for what waits for an agent is divided among at least so many accounts: an account that
 * is alone gets no more than this part either.
 */
export const leastAccounts = 4;

/** Returns the sizes of the Welcomes by the agents that wait for them. */
export function welcomeBytesOf(
  welcomes: readonly { readonly recipients: readonly AgentId[]; readonly welcome: Uint8Array }[],
): ReadonlyMap<AgentId, number> {
  return new Map(
    welcomes.flatMap(({ recipients, welcome }) =>
      recipients.map((agentId) => [agentId, welcome.length])
    ),
  );
}

/**
 * Throws `Refusal` when an agent that did not ask has too much waiting for it. An admitted Welcome
 * counts as waiting from the start, so that others at the same time do not take the same room;
 * dispose of the result once the engine has the entry, or will not have it.
 */
export async function admitUnasked(
  core: CoreParts,
  channel: LoadedChannel,
  { added, answers, welcomeBytes }: CommitAdditions,
): Promise<Disposable> {
  const { account, channelId } = channel;
  const requests = answers.flatMap((requestId) => core.joins.find(requestId) ?? []);
  const asked = new Set(
    requests.flatMap((request) => request.channelId === channelId ? [request.agentId] : []),
  );
  const unasked = added.filter((agentId) => !asked.has(agentId) && !channel.answered.has(agentId));
  const adding = core.limits.unasked.begin(account, unasked, welcomeBytes);
  try {
    for (let at = 0; at < unasked.length; at += agentsAtOnce) {
      // The first are part of the request's own turn.
      if (at > 0) await core.limits.turns.take(account, agentsAtOnce * unaskedCost);
      await Promise.all(
        unasked.slice(at, at + agentsAtOnce).map((agentId) => refuseExcess(core, channel, agentId)),
      );
    }
    return adding;
  } catch (error) {
    adding[Symbol.dispose]();
    throw error;
  }
}

async function refuseExcess(
  core: CoreParts,
  { account, channelId }: LoadedChannel,
  agentId: AgentId,
): Promise<void> {
  const { config, deps: { engine, meter } } = core;
  const waiting = await engine.joining({ agentId, account, except: channelId });
  const adding = core.limits.unasked.of(account, agentId);
  const why = excessOf(config, {
    channels: waiting.channelsOfAccount + adding.channels,
    bytes: waiting.bytesOfAccount + adding.bytes,
    otherAccounts: waiting.otherAccounts,
  });
  if (why === undefined) return;
  meter.welcomesRefused++;
  throw new Refusal("queue_full", `Agent ${agentId} ${why}; wait until it has come into some`, {
    retryAfterMs,
  });
}

function excessOf(
  config: CoreConfig,
  { channels, bytes, otherAccounts }: PendingAddition & { otherAccounts: number },
): string | undefined {
  if (channels > config.joiningPerAccount) {
    return `was added to ${config.joiningPerAccount} channels of this account and has not come into them`;
  }
  const share = config.welcomeBytesPerAgent / Math.max(leastAccounts, otherAccounts + 1);
  const most = Math.floor(Math.max(config.welcomeBytesGuaranteed, share));
  return bytes > most
    ? `may have ${most} bytes of Welcomes of this account waiting for it`
    : undefined;
}
