/**
 * A member's statement about our present leaf, judged by what we know. Anybody may name a leaf that we had long ago.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { binaryIdToBytes, equalBytes, groupIdOf, type JoinRequestId, type NoticeBody } from "../../proto/mod.ts";
import { isOwnLeaf } from "../mls/leaf.ts";
import type { ChannelDeps } from "./deps.ts";
import type { Membership } from "./membership.ts";

export type ToldLeaf = NoticeBody<"DeliverLeaf">;

export interface AskedLeaf {
  readonly requestId: JoinRequestId;
  /** Leaves that were signed about before, in hexadecimal. */
  readonly signed: ReadonlySet<string>;
}

/** Another leaf than this request was about. */
export function isNews({ requestId, leafNode }: ToldLeaf, request: AskedLeaf): boolean {
  return requestId === request.requestId && !request.signed.has(bytesToHex(leafNode));
}

/**
 * We made it for the group of this generation, joined with it, or hold its keys. In a generation that we have not been in, any
 * leaf of ours: its founder may have been given an old KeyPackage, and nothing that we signed before is about that group.
 */
export async function isOurs(
  { leafIndex, leafNode }: ToldLeaf,
  { generation, isNew }: { readonly generation: number; readonly isNew: boolean },
  { channelId, joinedLeaf }: Pick<Membership, "channelId" | "joinedLeaf">,
  { identity, signatures, keyPackages }: Pick<ChannelDeps, "identity" | "signatures" | "keyPackages">,
): Promise<boolean> {
  const groupId = binaryIdToBytes(groupIdOf(channelId, generation));
  return isOwnLeaf(leafNode, { groupId, leafIndex, ofKeyPackage: isNew }, identity, signatures) ||
    equalBytes(sha256(leafNode), joinedLeaf) || await keyPackages.holdsLeaf(leafNode);
}
