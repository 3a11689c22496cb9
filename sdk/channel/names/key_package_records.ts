/** Our KeyPackages on disk, with their private keys, and when they may be used. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { binaryIdFromBytes, channelExtensions, type ChannelId } from "../../../proto/mod.ts";
import { MlsFault } from "../../mls/codec.ts";
import { shownBadges, showSame } from "../../mls/badges.ts";
import { listsExtension } from "../../mls/leaf.ts";
import { type OwnKeyPackage, restoreKeyPackage } from "../../mls/key_package.ts";
import { decodeFields, encodeFields, type RecordChange } from "../../store/mod.ts";
import type { KnownKeyPackage, Purpose } from "./key_package_state.ts";

export const keyPackageKind = "keypackages";
/** A record of references alone. */
export const uploadedKind = "uploaded";
export const uploadedId = "keypackages";

/** Channels that one agent enters by one last resort, in the month that it is good. */
const maxLastResortUses = 1000;

/** The seed of a KeyPackage to which nobody can seal. */
const noSeed = new Uint8Array(0);

export interface StoredKeyPackage {
  readonly purpose: Purpose;
  readonly madeAtMs: number;
  readonly own: OwnKeyPackage;
  /**
   * The channels that a last resort has led into. Older records name each by an epoch's
   * confirmation tag in hexadecimal.
   */
  readonly entered: readonly string[];
}

export function putKeyPackage({ purpose, madeAtMs, own, entered }: StoredKeyPackage): RecordChange {
  const { message, initPrivateKey, leafPrivateKey, sealSeed, reference } = own;
  const value = encodeFields([
    purpose,
    madeAtMs,
    message,
    initPrivateKey,
    leafPrivateKey,
    [...entered],
    sealSeed ?? noSeed,
  ]);
  return { type: "put", kind: keyPackageKind, id: bytesToHex(reference), value };
}

/** `id`: its reference in hexadecimal. */
export function deleteKeyPackage(id: string): RecordChange {
  return { type: "delete", kind: keyPackageKind, id };
}

export function keyPackageOf(record: Uint8Array): StoredKeyPackage {
  const fields = decodeFields(record, keyPackageKind);
  const purpose = fields.text(0);
  const sealSeed = fields.bytes(6);
  return {
    purpose: purpose === "pool" || purpose === "last_resort" ? purpose : "handed",
    madeAtMs: fields.number(1),
    own: restoreKeyPackage({
      message: fields.bytes(2),
      initPrivateKey: fields.bytes(3),
      leafPrivateKey: fields.bytes(4),
      sealSeed: sealSeed.length === 0 ? undefined : sealSeed,
    }),
    entered: fields.list(5).map(String),
  };
}

/** Returns the record of the KeyPackages that the relay has taken, by their ids. */
export function putUploaded(ids: readonly string[]): RecordChange {
  return { type: "put", kind: uploadedKind, id: uploadedId, value: encodeFields([[...ids]]) };
}

export function uploadedOf(record: Uint8Array | undefined): ReadonlySet<string> {
  return new Set(
    record === undefined ? [] : decodeFields(record, uploadedKind).list(0).map(String),
  );
}

export function knownOf(
  { purpose, madeAtMs, own, entered }: StoredKeyPackage,
  { uploaded, badges }: {
    readonly uploaded: ReadonlySet<string>;
    /** The badges that a leaf of this agent shows now. */
    readonly badges: Uint8Array | undefined;
  },
): KnownKeyPackage {
  const { leafNode } = own.keyPackage;
  const isOlder = own.sealSeed === undefined ||
    !channelExtensions.every((type) => listsExtension(leafNode, type)) ||
    !showSame(shownBadges(leafNode), badges);
  const id = bytesToHex(own.reference);
  return { id, purpose, madeAtMs, isUsed: entered.length > 0, isOlder, isThere: uploaded.has(id) };
}

/** The group that a Welcome led into. */
export interface EnteredGroup {
  readonly groupId: Uint8Array;
  readonly confirmationTag: Uint8Array;
}

/**
 * Throws `MlsFault` for a channel that a last resort has led into before: following one Welcome
 * twice would use keys twice, and a leaf that is in a group a second time would make statements
 * about the first one true again.
 */
export function checkUse(
  stored: Pick<StoredKeyPackage, "purpose" | "entered"> | undefined,
  { groupId, confirmationTag }: EnteredGroup,
): void {
  const entered = stored?.purpose === "last_resort" ? stored.entered : [];
  const names = [binaryIdFromBytes<ChannelId>(groupId), bytesToHex(confirmationTag)];
  if (!names.some((name) => entered.includes(name)) && entered.length < maxLastResortUses) return;
  throw new MlsFault("This agent has followed the Welcome before; ask for a new one");
}

/**
 * The changes to write with that group. A last resort stays for agents that already hold it, so it
 * records the channel.
 */
export function usedFor(
  stored: StoredKeyPackage | undefined,
  { groupId }: Pick<EnteredGroup, "groupId">,
): RecordChange[] {
  if (stored === undefined) return [];
  const { purpose, own, entered } = stored;
  if (purpose !== "last_resort") return [deleteKeyPackage(bytesToHex(own.reference))];
  return [
    putKeyPackage({ ...stored, entered: [...entered, binaryIdFromBytes<ChannelId>(groupId)] }),
  ];
}
