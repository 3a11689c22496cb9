/** What a channel binds into its MLS group: its name and its owners, as extensions of the GroupContext. */
import type { Extension } from "ts-mls/extension.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { type AgentId, type ChannelName, parseAgentId, parseChannelName } from "../../proto/mod.ts";
import { MlsFault } from "./codec.ts";
import { channelNameExtension, checkChannelExtensions, ownersExtension } from "./leaf.ts";

export interface ChannelBinding {
  readonly name: ChannelName;
  readonly owners: readonly AgentId[];
}

const agentIdBytes = 22;

export function encodeBinding({ name, owners }: ChannelBinding): Extension[] {
  return [
    { extensionType: channelNameExtension, extensionData: utf8ToBytes(name) },
    { extensionType: ownersExtension, extensionData: concatBytes(...owners.map((owner) => utf8ToBytes(owner))) },
  ];
}

/**
 * Throws `MlsFault` for a group that is not a channel: these two extensions and no other; `MlsVersionFault` for an extension
 * that a newer version may know. Whatever else a commit could bring in would be a demand on every member's leaf that not all of
 * them meet, and so a way to fork the group.
 */
export function decodeBinding(extensions: readonly Extension[]): ChannelBinding {
  checkChannelExtensions(extensions);
  if (extensions.length !== 2) throw new MlsFault("A channel has a name and owners, and no other extension");
  const name = dataOf(extensions, channelNameExtension);
  const owners = dataOf(extensions, ownersExtension);
  if (owners.length % agentIdBytes !== 0) throw new MlsFault("A channel's list of owners is malformed");
  const text = new TextDecoder();
  try {
    return {
      name: parseChannelName(text.decode(name)),
      owners: Array.from(
        { length: owners.length / agentIdBytes },
        (_, i) => parseAgentId(text.decode(owners.subarray(i * agentIdBytes, (i + 1) * agentIdBytes))),
      ),
    };
  } catch (cause) {
    throw new MlsFault("A channel's name or owners are malformed", { cause });
  }
}

function dataOf(extensions: readonly Extension[], type: number): Uint8Array {
  const found = extensions.filter(({ extensionType }) => extensionType === type);
  const [only] = found;
  if (only === undefined || found.length > 1) throw new MlsFault("A group does not carry exactly one channel binding");
  return only.extensionData;
}
