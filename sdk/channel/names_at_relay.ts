/** Channels by their name, as the relay has them: making one, also when a crash left open whether it was made, and finding one. */
import { type ChannelId, type ChannelName, limits } from "../../proto/mod.ts";
import { createError, isCode } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import type { RelaySession } from "../session/relay_session.ts";
import { decodeFields, encodeFields, type RecordChange, type RecordStore } from "../store/mod.ts";

const [creating, nonceBytes] = ["creating", 16] as const;

export interface NamingParts {
  readonly store: Pick<RecordStore, "get" | "put" | "delete">;
  readonly session: Pick<RelaySession, "call">;
  readonly runtime: Pick<Runtime, "randomBytes">;
}

/** The nonce is on disk first: after a crash the same call finds the channel that the relay has made. */
export async function createAtRelay(name: ChannelName, { store, session, runtime }: NamingParts): Promise<ChannelId> {
  const stored = await store.get(creating, name);
  const nonce = stored === undefined ? runtime.randomBytes(nonceBytes) : decodeFields(stored, creating).bytes(0);
  if (stored === undefined) await store.put(creating, name, encodeFields([nonce]));
  try {
    return (await session.call("CreateChannel", { name, nonce })).channelId;
  } catch (error) {
    // Its fate is known, so the next attempt is another one.
    if (isCode(error, "name_taken", "rate_limited", "not_allowed")) await store.delete(creating, name);
    throw error;
  }
}

/** To be written with the channel: nothing is open any more, and the next creation of that name is another one. */
export function created(name: ChannelName): RecordChange {
  return { type: "delete", kind: creating, id: name };
}

/** Among those that this account owns. Throws `not_found`. */
export async function findAtRelay(name: ChannelName, { session }: Pick<NamingParts, "session">): Promise<ChannelId> {
  let after: ChannelId | undefined;
  for (;;) {
    const { channels, more } = await session.call("ListChannels", {
      ...(after !== undefined && { after }),
      limit: limits.channelsPerPage,
    });
    const found = channels.find((channel) => channel.name === name && channel.owned);
    if (found !== undefined) return found.channelId;
    after = channels.at(-1)?.channelId;
    if (!more || after === undefined) throw createError("not_found", `This account has no channel "${name}"`);
  }
}
