/**
 * The state of the agent or of a channel, sent with the events after which it may have changed: for
 * clients whose surface tells both without waiting. Events that come together are sent together.
 */
import type { Channel } from "../../api/channel.ts";
import type { StaticClient } from "../../api/client.ts";
import type { FrameHeader } from "../frames.ts";
import { encodeEvent, encodeKeyAge, encodeMember } from "../wire_values.ts";
import { channelOf, type OperationAnswer, type OperationCall } from "./operation.ts";

const gatherMs = 5;
const manyMembers = 100;

export async function watch(
  call: OperationCall<{ readonly channel?: string }>,
): Promise<OperationAnswer> {
  const { fields, held: { client } } = call;
  if (fields.channel === undefined) {
    const state = (): FrameHeader => agentState(client);
    follow(
      call,
      (signal) => client.events({ signal }),
      (events) => ({ event: "agent", state: state(), events }),
    );
    return { ok: { state: state() } };
  }
  const channel = await channelOf(call, fields.channel);
  await channel.port.prepareMembers();
  const { name } = channel;
  let told: string | undefined;
  let isLarge = false;
  const state = (): FrameHeader => {
    // In a large channel an event that is told would cost a signature of each member.
    const listed = isLarge ? channel.port.knownMembers() : channel.members();
    isLarge = listed.length > manyMembers;
    const members = listed.map(encodeMember);
    const { keys, ...health } = channel.health();
    const ages = keys.map(encodeKeyAge);
    const names = JSON.stringify(
      members.map((
        { knownAs, attested, badgeExpired, badgeEndsMs, sameAccount },
      ) => [knownAs, attested, badgeExpired, badgeEndsMs, sameAccount]),
    );
    // The members of a large channel are sent again only when it has others.
    const now = isLarge ? `epoch ${health.epoch} ${names}` : JSON.stringify([members, ages]);
    const isNew = now !== told;
    told = now;
    return { ...channelState(channel), health, ...(isNew && { members, keys: ages }) };
  };
  const tellOf = (events: readonly FrameHeader[]): FrameHeader => ({
    event: "channel",
    channel: name,
    state: state(),
    events,
  });
  follow(call, (signal) => channel.events({ signal }), tellOf);
  return { ok: { state: state() } };
}

/** Follows events for as long as the program is there. */
function follow(
  { streams, tell }: Pick<OperationCall, "streams" | "tell">,
  listen: (signal: AbortSignal) => AsyncIterable<{ readonly type: string }>,
  told: (events: readonly FrameHeader[]) => FrameHeader,
): void {
  const stop = new AbortController();
  let events: FrameHeader[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const send = (): void => {
    timer = undefined;
    const gathered = events;
    events = [];
    if (!stop.signal.aborted) tell(told(gathered));
  };
  const gather = async (): Promise<void> => {
    for await (const event of listen(stop.signal)) {
      events.push(encodeEvent(event));
      timer ??= setTimeout(send, gatherMs);
    }
  };
  streams.whenEnded(() => {
    stop.abort();
    clearTimeout(timer);
  });
  gather().catch(() => {}); // its end is the channel's end, which the last state told
}

export function agentState({ agentId, transport, channels, welcomes }: StaticClient): FrameHeader {
  return { agentId, ...(transport !== undefined && { transport }), channels, welcomes };
}

/**
 * Returns all of a channel's state, for the answer to an operation that changes it: a program sees
 * what it has done.
 */
export function wholeState(channel: Channel): FrameHeader {
  const { keys, ...health } = channel.health();
  const members = channel.members().map(encodeMember);
  return { ...channelState(channel), health, members, keys: keys.map(encodeKeyAge) };
}

/** Without what is long or seldom changes. */
function channelState(channel: Channel): FrameHeader {
  const { name, id } = channel;
  return {
    name,
    id,
    fingerprint: channel.fingerprint(),
    policy: { ...channel.policy() },
  };
}
