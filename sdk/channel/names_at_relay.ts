/** Channels by their name, as the relay has them: making one, also when a crash left open whether it was made, and finding one. */
import { type ChannelId, type ChannelName, limits, type ReplyBody } from "../../proto/mod.ts";
import { createError, isCode, type StaticError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import type { RelaySession } from "../session/relay_session.ts";
import { decodeFields, encodeFields, type RecordChange, type RecordStore } from "../store/mod.ts";

const [creating, nonceBytes] = ["creating", 16] as const;
/** Of the list of an account's channels: half a million of them. A relay that has more to say does not end. */
const maxPages = 1000;

export interface NamingParts {
  readonly store: Pick<RecordStore, "get" | "put" | "delete">;
  readonly session: Pick<RelaySession, "call">;
  readonly runtime: Pick<Runtime, "randomBytes">;
}

/**
 * The nonce is on disk first: after a crash the same call finds the channel that the relay has made. That one may have been closed
 * since, by its name: then another is made.
 */
export async function createAtRelay(name: ChannelName, parts: NamingParts): Promise<ChannelId> {
  const { channelId, duplicate } = await createByNonce(name, parts);
  if (!duplicate || await isOpen(channelId, parts)) return channelId;
  await parts.store.delete(creating, name);
  return (await createByNonce(name, parts)).channelId;
}

async function createByNonce(
  name: ChannelName,
  { store, session, runtime }: NamingParts,
): Promise<ReplyBody<"CreateChannel">> {
  const stored = await store.get(creating, name);
  const nonce = stored === undefined ? runtime.randomBytes(nonceBytes) : decodeFields(stored, creating).bytes(0);
  if (stored === undefined) await store.put(creating, name, encodeFields([nonce]));
  try {
    return await session.call("CreateChannel", { name, nonce });
  } catch (error) {
    // Its fate is known, so the next attempt is another one.
    if (isCode(error, "name_taken", "rate_limited", "not_allowed")) await store.delete(creating, name);
    throw isCode(error, "name_taken") ? await heldByOthers(name, error, { session }) : error;
  }
}

async function isOpen(channelId: ChannelId, { session }: Pick<NamingParts, "session">): Promise<boolean> {
  try {
    await session.call("ListMembers", { channelId });
    return true;
  } catch (error) {
    if (isCode(error, "not_found")) return false;
    throw error;
  }
}

/** To be written with the channel: nothing is open any more, and the next creation of that name is another one. */
export function created(name: ChannelName): RecordChange {
  return { type: "delete", kind: creating, id: name };
}

/** Says whose the channel is, as far as the relay tells, and the ways to go on. */
async function heldByOthers(
  name: ChannelName,
  cause: StaticError,
  parts: Pick<NamingParts, "session">,
): Promise<Error> {
  // It is the relay's word, which may also be a time that there is not.
  const size = await summaryAtRelay(name, parts).then(sizeInWords).catch(() => "");
  const text =
    `This account has a channel "${name}"${size}. This agent has no keys of it: it is of other agents of the account, ` +
    "or of one whose directory was deleted. Join it with an invite token of a member, or choose another name. To close " +
    `it for all its members: closeChannel("${name}"), or in a shell: static channel close ${name}`;
  return createError("name_taken", text, { cause });
}

function sizeInWords(found: Summary | undefined): string {
  if (found === undefined) return "";
  const { members, createdAtMs } = found;
  return `, with ${members} ${members === 1 ? "member" : "members"}, since ${new Date(createdAtMs).toISOString()}`;
}

/** Among those that this account owns. Throws `not_found`. */
export async function findAtRelay(name: ChannelName, parts: Pick<NamingParts, "session">): Promise<ChannelId> {
  const found = await summaryAtRelay(name, parts);
  if (found === undefined) throw createError("not_found", `This account has no channel "${name}"`);
  return found.channelId;
}

type Summary = ReplyBody<"ListChannels">["channels"][number];

async function summaryAtRelay(
  name: ChannelName,
  { session }: Pick<NamingParts, "session">,
): Promise<Summary | undefined> {
  let after: ChannelId | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { channels, more } = await session.call("ListChannels", {
      ...(after !== undefined && { after }),
      limit: limits.channelsPerPage,
    });
    const found = channels.find((channel) => channel.name === name && channel.owned);
    if (found !== undefined) return found;
    after = channels.at(-1)?.channelId;
    if (!more || after === undefined) return undefined;
  }
  throw createError("protocol_error", `The relay's list of channels does not end after ${maxPages} pages`);
}
