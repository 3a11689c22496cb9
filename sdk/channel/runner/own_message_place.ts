/**
 * Whether a message of ours is in the log. The relay delivers nobody its own messages. But if it
 * has seen a message before, by sender and id, it replies with its place. So an empty message is
 * sent under that id for an epoch that is over: it is refused if the id is new, and nothing is
 * added to the log either way.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import {
  binaryIdToBytes,
  type ChannelId,
  encodeMessageAad,
  encodeVectorLength,
  generationOf,
  groupIdOf,
  type MessageId,
} from "../../../proto/mod.ts";
import { isCode } from "../../base/errors.ts";
import type { RelaySession } from "../../session/relay_session.ts";
import type { Membership } from "../group/membership.ts";

/** Throws `StaticError` when the relay cannot be asked. */
export async function standsInLog(
  id: MessageId,
  { membership, session }: { readonly membership: Membership; readonly session: RelaySession },
): Promise<boolean> {
  const { channelId } = membership;
  // Somebody else is in the channel, so it has had an epoch before this one.
  const epoch = Math.max(0, membership.epoch - 1);
  const ciphertext = emptyMessage(groupIdOf(channelId, generationOf(epoch)), epoch, id);
  try {
    return (await session.call("SendMessage", { channelId, epoch, messageId: id, ciphertext }))
      .duplicate;
  } catch (error) {
    if (isCode(error, "epoch_conflict")) return false;
    throw error;
  }
}

/**
 * A PrivateMessage (RFC 9420, section 6.3) of content type application whose sealed parts are
 * empty.
 */
function emptyMessage(groupId: ChannelId, epoch: number, messageId: MessageId): Uint8Array {
  const [mls10, privateMessage, application] = [1, 2, 1];
  const head = new DataView(new ArrayBuffer(4));
  head.setUint16(0, mls10);
  head.setUint16(2, privateMessage);
  const epochBytes = new DataView(new ArrayBuffer(8));
  epochBytes.setBigUint64(0, BigInt(epoch));
  const aad = encodeMessageAad({ messageId, counter: 0 });
  return concatBytes(
    new Uint8Array(head.buffer),
    vector(binaryIdToBytes(groupId)),
    new Uint8Array(epochBytes.buffer),
    Uint8Array.of(application),
    vector(aad),
    vector(new Uint8Array(0)),
    vector(new Uint8Array(0)),
  );
}

function vector(bytes: Uint8Array): Uint8Array {
  return concatBytes(encodeVectorLength(bytes.length), bytes);
}
