/** What a channel binds into its MLS group, as extensions of the GroupContext: its name, its owners, and a later generation. */
import { type Extension, extensionTypeToNumber } from "ts-mls/extension.js";
import type { GroupContext } from "ts-mls/groupContext.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import {
  type AgentId,
  binaryIdFromBytes,
  type ChannelId,
  type ChannelName,
  decodeOwnersVersion,
  encodeOwnersVersion,
  type OwnersVersion,
  parseAgentId,
  parseChannelName,
} from "../../proto/mod.ts";
import { MlsFault } from "./codec.ts";
import { decodeGeneration, encodeGeneration, type GenerationBinding } from "./generation.ts";
import {
  channelNameExtension,
  checkChannelExtensions,
  generationExtension,
  listedOwnersExtension,
  ownersExtension,
} from "./leaf.ts";

export interface ChannelBinding {
  readonly name: ChannelName;
  readonly owners: readonly AgentId[];
  /** Undefined in a channel from before there were versions of owners. */
  readonly chain: Pick<OwnersVersion, "version" | "lastChange"> | undefined;
  /** Absent in generation 0. */
  readonly generation?: GenerationBinding;
}

const agentIdBytes = 22;

export function encodeBinding({ name, owners, chain, generation }: ChannelBinding): Extension[] {
  return [
    { extensionType: channelNameExtension, extensionData: utf8ToBytes(name) },
    chain === undefined
      ? { extensionType: listedOwnersExtension, extensionData: utf8ToBytes(owners.join("")) }
      : { extensionType: ownersExtension, extensionData: encodeOwnersVersion({ ...chain, owners }) },
    ...(generation === undefined
      ? []
      : [{ extensionType: generationExtension, extensionData: encodeGeneration(generation) }]),
  ];
}

/**
 * Throws `MlsFault` for a group that is not a channel: a name, owners and, after the first, its generation, in this order, and
 * nothing else; `MlsVersionFault` for an extension that a newer version may know. Whatever else a commit could bring in would be a demand on every member's leaf
 * that not all of them meet, and so a way to fork the group.
 */
export function decodeBinding(extensions: readonly Extension[]): ChannelBinding {
  checkChannelExtensions(extensions);
  const [name, owners, later, ...others] = extensions;
  const isWhole = name !== undefined && owners !== undefined && others.length === 0;
  if (!isWhole || (later !== undefined && typeOf(later) !== generationExtension)) {
    throw new MlsFault("A channel has a name, owners and perhaps a generation, and no other extension");
  }
  if (typeOf(name) !== channelNameExtension) throw new MlsFault("A channel's first extension is its name");
  try {
    const binding = { name: parseChannelName(new TextDecoder().decode(name.extensionData)), ...decodeOwners(owners) };
    return later === undefined ? binding : { ...binding, generation: decodeGeneration(later.extensionData) };
  } catch (cause) {
    if (cause instanceof MlsFault) throw cause;
    throw new MlsFault("A channel's name or owners are malformed", { cause });
  }
}

/** The channel that a group is of: the first generation has its id as its own. */
export function channelIdOf({ groupId, extensions }: Pick<GroupContext, "groupId" | "extensions">): ChannelId {
  return decodeBinding(extensions).generation?.channelId ?? binaryIdFromBytes<ChannelId>(groupId);
}

function decodeOwners(extension: Extension): Pick<ChannelBinding, "owners" | "chain"> {
  const { extensionData } = extension;
  switch (typeOf(extension)) {
    case listedOwnersExtension:
      return { owners: decodeList(extensionData), chain: undefined };
    case ownersExtension: {
      const { owners, version, lastChange } = decodeOwnersVersion(extensionData);
      return { owners, chain: { version, lastChange } };
    }
    default:
      throw new MlsFault("A channel's second extension is its owners");
  }
}

/** The ids, one after the other. */
function decodeList(bytes: Uint8Array): AgentId[] {
  if (bytes.length % agentIdBytes !== 0) throw new MlsFault("A channel's list of owners is malformed");
  const text = new TextDecoder();
  return Array.from(
    { length: bytes.length / agentIdBytes },
    (_, i) => parseAgentId(text.decode(bytes.subarray(i * agentIdBytes, (i + 1) * agentIdBytes))),
  );
}

function typeOf({ extensionType }: Extension): number {
  return extensionTypeToNumber(extensionType);
}
