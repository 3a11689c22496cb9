/**
 * Channels by their name, as the relay has them, and the nonce of a creation that it has not
 * answered.
 */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import {
  type ChannelId,
  type ChannelName,
  limits,
  parseChannelName,
  type ReplyBody,
} from "../../../proto/mod.ts";
import { createError, isCode, type StaticError } from "../../base/errors.ts";
import type { RelaySession } from "../../session/relay_session.ts";
import {
  decodeFields,
  encodeFields,
  type RecordChange,
  type RecordStore,
} from "../../store/mod.ts";
import type { NameAnswer, NameRequest } from "../names/names_state.ts";

const creating = "creating";
/**
 * The most pages of the list of an account's channels: half a million channels. A relay that has
 * more to say does not end.
 */
const maxPages = 1000;

export type RelayCaller = Pick<RelaySession, "call">;

/** Throws `StaticError`. Leaving is signed by the channel's own machine. */
export async function askOfNames(
  request: Exclude<NameRequest, { readonly of: "LeaveChannel" }>,
  session: RelayCaller,
): Promise<NameAnswer> {
  switch (request.of) {
    case "CreateChannel":
      return await createAtRelay(request, session);
    case "ListChannels":
      return {
        of: request.of,
        channelId: (await summaryAtRelay(request.name, session))?.channelId,
      };
    case "ListMembers":
      return {
        of: request.of,
        isNew: (await session.call(request.of, { channelId: request.channelId })).epoch === 0,
      };
    case "CloseChannel":
      await session.call(request.of, { channelId: request.channelId });
      return { of: request.of };
  }
}

async function createAtRelay(
  { name, nonce }: Extract<NameRequest, { readonly of: "CreateChannel" }>,
  session: RelayCaller,
): Promise<NameAnswer> {
  try {
    const { channelId, duplicate } = await session.call("CreateChannel", {
      name,
      nonce: hexToBytes(nonce),
    });
    return { of: "CreateChannel", channelId, isRepeated: duplicate };
  } catch (error) {
    throw isCode(error, "name_taken") ? await heldByOthers(name, error, session) : error;
  }
}

/** Undefined: nothing is open any more, and the next creation of that name is another one. */
export function putNonce(name: ChannelName, nonce: string | undefined): RecordChange {
  if (nonce === undefined) return { type: "delete", kind: creating, id: name };
  return { type: "put", kind: creating, id: name, value: encodeFields([hexToBytes(nonce)]) };
}

/** One that cannot be read is made anew. */
export async function readNonces(
  store: Pick<RecordStore, "list">,
): Promise<Partial<Record<ChannelName, string>>> {
  const nonces: Partial<Record<ChannelName, string>> = {};
  for (const { id, value } of await store.list(creating, () => {})) {
    nonces[parseChannelName(id)] = bytesToHex(decodeFields(value, creating).bytes(0));
  }
  return nonces;
}

/** Says whose the channel is, as far as the relay tells, and the ways to go on. */
async function heldByOthers(
  name: ChannelName,
  cause: StaticError,
  session: RelayCaller,
): Promise<Error> {
  // The size is the relay's word, which may also be a time that there is not.
  const size = await summaryAtRelay(name, session).then(sizeInWords).catch(() => "");
  const text =
    `This account has a channel "${name}"${size}. This agent has no keys of it: it is of other agents of the account, ` +
    "or of one whose directory was deleted. Join it with an invite token of a member, or choose another name. To close " +
    `it for all its members: closeChannel("${name}"), or in a shell: static channel close ${name}`;
  return createError("name_taken", text, { cause });
}

function sizeInWords(found: Summary | undefined): string {
  if (found === undefined) return "";
  const { members, createdAtMs } = found;
  return `, with ${members} ${members === 1 ? "member" : "members"}, since ${
    new Date(createdAtMs).toISOString()
  }`;
}

type Summary = ReplyBody<"ListChannels">["channels"][number];

/** Among those that this account owns. */
async function summaryAtRelay(
  name: ChannelName,
  session: RelayCaller,
): Promise<Summary | undefined> {
  let after: ChannelId | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { channels, more } = await session.call("ListChannels", {
      after,
      limit: limits.channelsPerPage,
    });
    const found = channels.find((channel) => channel.name === name && channel.owned);
    if (found !== undefined) return found;
    after = channels.at(-1)?.channelId;
    if (!more || after === undefined) return undefined;
  }
  throw createError(
    "protocol_error",
    `The relay's list of channels does not end after ${maxPages} pages`,
  );
}
