/**
 * The data that a channel binds into its MLS group, as extensions of the GroupContext: its name,
 * its owners, a later generation, its policy, the issuers of its badges, its sealing, its guests.
 */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import {
  type AgentId,
  binaryIdFromBytes,
  type ChannelId,
  type ChannelIssuers,
  type ChannelName,
  type ChannelPolicy,
  decodeIssuers,
  decodeOwnersVersion,
  decodePolicy,
  encodeIssuers,
  encodeOwnersVersion,
  encodePolicy,
  type OwnersVersion,
  parseChannelName,
} from "../../proto/mod.ts";
import { MlsFault } from "./codec.ts";
import { decodeGuests, encodeGuests } from "./guests_rules.ts";
import { decodeGeneration, encodeGeneration, type GenerationBinding } from "./generation.ts";
import {
  channelNameExtension,
  checkChannelExtensions,
  generationExtension,
  guestsExtension,
  issuersExtension,
  ownersExtension,
  policyExtension,
  sealingExtension,
} from "./leaf.ts";
import { decodeSealing, encodeSealing, type Sealing } from "./sealing_rules.ts";
import { type Extension, extensionTypeToNumber, type GroupContext } from "./ts_mls.ts";

export interface ChannelBinding {
  readonly name: ChannelName;
  readonly owners: readonly AgentId[];
  readonly chain: Pick<OwnersVersion, "version" | "lastChange">;
  /** Absent in generation 0. */
  readonly generation?: GenerationBinding;
  /** Absent until it was changed once. */
  readonly policy?: ChannelPolicy;
  /** Absent until an owner has said something about badges. */
  readonly issuers?: ChannelIssuers;
  /** Absent once somebody came in by a Welcome that was not sealed. */
  readonly sealing?: Sealing | undefined;
  /** Ascending. Absent while there is none. */
  readonly guests?: readonly AgentId[];
}

export function encodeBinding(
  { name, owners, chain, generation, policy, issuers, sealing, guests = [] }: ChannelBinding,
): Extension[] {
  return [
    { extensionType: channelNameExtension, extensionData: utf8ToBytes(name) },
    { extensionType: ownersExtension, extensionData: encodeOwnersVersion({ ...chain, owners }) },
    ...(generation === undefined
      ? []
      : [{ extensionType: generationExtension, extensionData: encodeGeneration(generation) }]),
    ...(policy === undefined
      ? []
      : [{ extensionType: policyExtension, extensionData: encodePolicy(policy) }]),
    ...(issuers === undefined
      ? []
      : [{ extensionType: issuersExtension, extensionData: encodeIssuers(issuers) }]),
    ...(sealing === undefined
      ? []
      : [{ extensionType: sealingExtension, extensionData: encodeSealing(sealing) }]),
    ...(guests.length === 0
      ? []
      : [{ extensionType: guestsExtension, extensionData: encodeGuests(guests) }]),
  ];
}

/**
 * Throws `MlsFault` for a group that is not a channel: a name, owners, after the first its
 * generation, once they were changed its policy and its issuers, while it is sealed that, and while
 * it has some its guests, in this order, and nothing else; `MlsVersionFault` for an extension that
 * a newer version may know. Whatever else a commit could bring in would be a demand on every
 * member's leaf that not all of them meet, and so a way to fork the group.
 */
export function decodeBinding(extensions: readonly Extension[]): ChannelBinding {
  const known = decoded.get(extensions);
  if (known !== undefined) return known;
  const binding = decode(extensions);
  decoded.set(extensions, binding);
  return binding;
}

/**
 * Keeps the bindings of extensions that were decoded before: a caller asks for the binding of an
 * epoch with each member, and with a thousand guests the extensions are long.
 */
const decoded = new WeakMap<readonly Extension[], ChannelBinding>();

function decode(extensions: readonly Extension[]): ChannelBinding {
  checkChannelExtensions(extensions);
  const [name, owners, ...others] = extensions;
  const take = (type: number): Extension | undefined =>
    typeOf(others[0]) === type ? others.shift() : undefined;
  const [generation, policy, issuers, sealing, guests] = [
    take(generationExtension),
    take(policyExtension),
    take(issuersExtension),
    take(sealingExtension),
    take(guestsExtension),
  ];
  if (name === undefined || owners === undefined || others.length > 0) {
    throw new MlsFault(
      "A channel has a name, owners, perhaps a generation, a policy, issuers, a sealing and guests, and no other extension",
    );
  }
  if (typeOf(name) !== channelNameExtension) {
    throw new MlsFault("A channel's first extension is its name");
  }
  if (typeOf(owners) !== ownersExtension) {
    throw new MlsFault("A channel's second extension is its owners");
  }
  try {
    const { owners: agentIds, version, lastChange } = decodeOwnersVersion(owners.extensionData);
    return {
      name: parseChannelName(new TextDecoder().decode(name.extensionData)),
      owners: agentIds,
      chain: { version, lastChange },
      ...(generation !== undefined && { generation: decodeGeneration(generation.extensionData) }),
      ...(policy !== undefined && { policy: decodePolicy(policy.extensionData) }),
      ...(issuers !== undefined && { issuers: decodeIssuers(issuers.extensionData) }),
      ...(sealing !== undefined && { sealing: decodeSealing(sealing.extensionData) }),
      ...(guests !== undefined && { guests: decodeGuests(guests.extensionData) }),
    };
  } catch (cause) {
    if (cause instanceof MlsFault) throw cause;
    const what = "name, owners, generation, policy, issuers, sealing or guests";
    throw new MlsFault(`A channel's ${what} are malformed`, { cause });
  }
}

/** The channel that a group is of: the first generation has its id as its own. */
export function channelIdOf(
  { groupId, extensions }: Pick<GroupContext, "groupId" | "extensions">,
): ChannelId {
  return decodeBinding(extensions).generation?.channelId ?? binaryIdFromBytes<ChannelId>(groupId);
}

function typeOf(extension: Extension | undefined): number | undefined {
  return extension && extensionTypeToNumber(extension.extensionType);
}
