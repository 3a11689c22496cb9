/**
 * A member's knowledge of one epoch. Everything but the secret tree is immutable; a commit makes a
 * new one beside it.
 */
import { epochState } from "../../proto/mod.ts";
import type { BadgeChoice, BadgePlace } from "./badges.ts";
import type { KeyPair } from "./crypto/hpke.ts";
import type { Signatures } from "./crypto/signatures.ts";
import { type Aead, aeadOf, type SuiteId } from "./crypto/suite.ts";
import type { EpochSecrets } from "./key_schedule.ts";
import type { CredentialPolicy } from "./leaf.ts";
import type { RatchetTree } from "./ratchet_tree.ts";
import type { SecretTree } from "./secret_tree.ts";
import {
  encodeGroupContext,
  type Extension,
  type GroupContext,
  type PreSharedKeyID,
} from "./ts_mls.ts";

export interface Epoch {
  readonly suiteId: SuiteId;
  readonly context: GroupContext;
  /** `context`, encoded: every signature of the epoch covers it. */
  readonly contextBytes: Uint8Array;
  readonly tree: RatchetTree;
  readonly ownLeaf: number;
  readonly leafPrivateKey: Uint8Array;
  /** Keys of the parents above our leaf that we were told, by node. */
  readonly pathKeys: ReadonlyMap<number, KeyPair>;
  readonly secrets: EpochSecrets;
  readonly secretTree: SecretTree;
  readonly confirmationTag: Uint8Array;
  readonly interimTranscriptHash: Uint8Array;
}

/** The epoch after a commit, and the secrets that a Welcome to it needs. */
export interface BegunEpoch {
  readonly next: Epoch;
  readonly joinerSecret: Uint8Array;
  readonly pskSecret: Uint8Array;
}

/** The dependencies of groups. */
export interface GroupDeps {
  readonly signatures: Signatures;
  readonly policy: CredentialPolicy;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly findPsk: (id: PreSharedKeyID) => Uint8Array | undefined;
  /** Undefined: our leaf goes on to show the badges that it has. */
  readonly badges?: BadgeChoice;
}

export function aeadOfEpoch(epoch: Pick<Epoch, "suiteId">): Aead {
  return aeadOf[epoch.suiteId];
}

/** The part of an epoch that can be compared outside of it without its keys; see `epochState`. */
export function stateOf(
  { context: { confirmedTranscriptHash }, confirmationTag }: Epoch,
): Uint8Array {
  return epochState({ confirmedTranscriptHash, confirmationTag });
}

/** Returns the place of a leaf that replaces ours. */
export function placeOf(
  { tree, ownLeaf, context }: Pick<Epoch, "tree" | "ownLeaf" | "context">,
): BadgePlace {
  return { before: tree.leaf(ownLeaf)?.node, extensions: context.extensions };
}

export interface NextContext {
  readonly treeHash: Uint8Array;
  readonly confirmedTranscriptHash: Uint8Array;
  readonly extensions: Extension[];
}

export function nextContext(context: GroupContext, next: NextContext): GroupContext {
  return { ...context, ...next, epoch: context.epoch + 1n };
}

export function contextBytesOf(context: GroupContext): Uint8Array {
  return encodeGroupContext(context);
}
