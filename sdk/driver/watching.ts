/**
 * The state of the agent or of a channel, sent whenever it may have changed: for clients whose surface tells it without waiting.
 * Changes that come together are sent once.
 */
import type { Channel } from "../channel.ts";
import type { StaticClient } from "../client.ts";
import type { Header } from "../host/frames.ts";
import { encodeMember } from "../host/wire_values.ts";
import { type Answer, type Call, channelOf } from "./operation.ts";

const gatherMs = 5;

export async function watch(call: Call): Promise<Answer> {
  const { fields, held: { client } } = call;
  if (!fields.has("channel")) {
    const state = (): Header => agentState(client);
    follow(call, (signal) => client.events({ signal }), () => ({ event: "agent", state: state() }));
    return { ok: { state: state() } };
  }
  const channel = await channelOf(call);
  let told: number | undefined;
  const state = (): Header => {
    const { epoch } = channel.health();
    const isNew = epoch !== told;
    told = epoch;
    return { ...channelState(channel), ...(isNew && { members: channel.members().map(encodeMember) }) };
  };
  follow(
    call,
    (signal) => channel.events({ signal }),
    () => ({ event: "channel", channel: channel.name, state: state() }),
  );
  return { ok: { state: state() } };
}

/** For as long as the program is there. */
function follow(
  { streams, tell }: Call,
  events: (signal: AbortSignal) => AsyncIterable<unknown>,
  state: () => Header,
): void {
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const send = (): void => {
    timer = undefined;
    if (!stop.signal.aborted) tell(state());
  };
  const listen = async (): Promise<void> => {
    for await (const _ of events(stop.signal)) timer ??= setTimeout(send, gatherMs);
  };
  streams.whenEnded(() => {
    stop.abort();
    clearTimeout(timer);
  });
  listen().catch(() => {}); // its end is the channel's end, which the last state told
}

export function agentState({ agentId, transport, channels, welcomes }: StaticClient): Header {
  return { agentId, ...(transport !== undefined && { transport }), channels, welcomes };
}

/** Without its members, which change with the epoch only. */
function channelState(channel: Channel): Header {
  const { name, id } = channel;
  return { name, id, fingerprint: channel.fingerprint(), health: channel.health() };
}
