/**
 * Waits for somebody to be in a channel. It looks after it has begun to listen, so nobody comes
 * unseen in between.
 */
import { createError, isCode } from "../../base/errors.ts";
import type { Runtime } from "../../base/runtime.ts";
import { type Addressee, addresseesOf } from "../../content/values.ts";
import { memberNamed } from "../group/addressing.ts";
import type { ChannelMember } from "../group/member_list.ts";
import type { Newcomers } from "../group/newcomers.ts";
import type { ChannelPort } from "../port.ts";
import type { ReceiveOptions } from "./inbox_runner.ts";

export interface WaitingParts {
  readonly channel: Pick<ChannelPort, "events" | "knownMembers" | "over">;
  readonly newcomers: Newcomers;
  readonly runtime: Pick<Runtime, "after">;
}

/**
 * Undefined when nobody comes in time. Rejects with the signal's reason, and when the channel ends
 * first.
 */
export async function waitForMember(
  wanted: Addressee | undefined,
  { timeoutMs, signal }: ReceiveOptions,
  { channel, newcomers, runtime }: WaitingParts,
): Promise<ChannelMember | undefined> {
  signal?.throwIfAborted();
  const [named] = wanted === undefined ? [] : addresseesOf(wanted);
  const over = new AbortController();
  const stop = (): void => over.abort();
  signal?.addEventListener("abort", stop);
  const cancel = timeoutMs === undefined ? () => {} : runtime.after(timeoutMs, stop);
  const events = channel.events(over.signal);
  try {
    for (;;) {
      const members = channel.knownMembers();
      const found = named === undefined
        ? nextNewcomer(newcomers, members)
        : presentMember(named, members);
      if (found !== undefined) return found;
      if ((await events.next()).done !== true) continue;
      signal?.throwIfAborted();
      if (over.signal.aborted) return undefined;
      throw channel.over ?? createError("transport_error", "The channel has ended; open it again");
    }
  } finally {
    cancel();
    signal?.removeEventListener("abort", stop);
    await events.return?.();
  }
}

function nextNewcomer(
  newcomers: Newcomers,
  members: readonly ChannelMember[],
): ChannelMember | undefined {
  const ready = new Map(members.filter(isReady).map((member) => [member.agentId, member]));
  const agentId = newcomers.take((each) => ready.has(each));
  return agentId && ready.get(agentId);
}

/**
 * Throws `StaticError` with `invalid_request` for a name that members only claim: that would lead
 * to a stranger.
 */
function presentMember(
  named: string,
  members: readonly ChannelMember[],
): ChannelMember | undefined {
  try {
    const member = memberNamed(named, members);
    return isReady(member) ? member : undefined;
  } catch (error) {
    if (isCode(error, "not_found")) return undefined;
    throw error;
  }
}

/** Whether a request to it can be answered. */
function isReady({ self, absent, keyUnchanged }: ChannelMember): boolean {
  return !self && !absent && keyUnchanged;
}
