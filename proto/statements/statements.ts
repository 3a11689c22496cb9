/** Statements that agents sign and authenticate outside MLS; `statement.ts` has their form. */
import { hkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { generationOf } from "./generations.ts";
import {
  type AgentId,
  binaryIdBytes,
  binaryIdFromBytes,
  binaryIdToBytes,
  type ChannelId,
  type ChannelName,
  type InviteId,
} from "../base/ids.ts";
import { statement, uint16 } from "../base/statement.ts";
import { uint64 } from "../mls/writer.ts";
import { type ChannelPolicy, encodePolicy } from "./policy.ts";

export interface AuthenticationStatement {
  /** As dialled, so that a relay cannot pass the signature on to another. */
  readonly origin: string;
  readonly relayNonce: Uint8Array;
  readonly clientNonce: Uint8Array;
  readonly token: string;
  readonly agentId: AgentId;
}

/** Signed with the agent's Ed25519 key to open a session. */
export function authenticationStatement(s: AuthenticationStatement): Uint8Array {
  return statement("authenticate", [
    utf8ToBytes(s.origin),
    s.relayNonce,
    s.clientNonce,
    sha256(utf8ToBytes(s.token)),
    utf8ToBytes(s.agentId),
  ]);
}

/** About a member's present leaf: any new leaf of it makes the statement void. */
export interface LeaveStatement {
  /** The MLS group's id, which is the channel's in generation 0. */
  readonly channelId: ChannelId;
  readonly agentId: AgentId;
  /**
   * SHA-256 of the member's LeafNode, as the ratchet tree has it; zeros for a member that a new
   * generation has no leaf of.
   */
  readonly leafHash: Uint8Array;
}

/** Signed by a leaver. */
export function leaveStatement(s: LeaveStatement): Uint8Array {
  return statement("leave", leafFields(s));
}

export interface RejoinStatement extends LeaveStatement {
  /** SHA-256 of the KeyPackage's bytes. */
  readonly keyPackageHash: Uint8Array;
}

/** Signed with the key of the agent's old leaf, so that only it can take its own place again. */
export function rejoinStatement(s: RejoinStatement): Uint8Array {
  return statement("rejoin", [...leafFields(s), s.keyPackageHash]);
}

export interface CommitStatement {
  readonly channelId: ChannelId;
  readonly generation: number;
  /** The one in which the commit was made. */
  readonly epoch: number;
  /** SHA-256 of the commit's bytes. */
  readonly commitHash: Uint8Array;
  readonly added: readonly AgentId[];
  readonly removed: readonly AgentId[];
  /** Undefined when the commit leaves the owners as they are. */
  readonly owners: readonly AgentId[] | undefined;
  /** Of the epoch in which the commit was made, and of the one that it begins: see `epochState`. */
  readonly state: Uint8Array;
  readonly nextState: Uint8Array;
}

/**
 * Signed by a commit's sender: it stands for what it declares to the relay, and nobody can change
 * that on the way.
 */
export function commitStatement(s: CommitStatement): Uint8Array {
  const fields = [
    binaryIdToBytes(s.channelId),
    uint64(s.generation),
    uint64(s.epoch),
    s.commitHash,
    utf8ToBytes(s.added.join("")),
    utf8ToBytes(s.removed.join("")),
    Uint8Array.of(s.owners === undefined ? 0 : 1),
    utf8ToBytes(s.owners?.join("") ?? ""),
    s.state,
    s.nextState,
  ];
  return statement("commit", fields);
}

/**
 * By which members can tell, without the keys of an epoch, whether they are in the same one: the
 * tag covers its keys.
 */
export function epochState(
  { confirmedTranscriptHash, confirmationTag }: {
    readonly confirmedTranscriptHash: Uint8Array;
    readonly confirmationTag: Uint8Array;
  },
): Uint8Array {
  return sha256(concatBytes(confirmedTranscriptHash, confirmationTag));
}

/** A member's statement about its epoch, made with no key of the epoch. */
export interface EpochStatement {
  readonly channelId: ChannelId;
  readonly epoch: number;
  /** See `epochState`. */
  readonly state: Uint8Array;
}

/**
 * Signed once an epoch by each member: two that differ show that members of one channel are not in
 * one group.
 */
export function epochStatement({ channelId, epoch, state }: EpochStatement): Uint8Array {
  return statement("epoch", [
    binaryIdToBytes(channelId),
    uint64(generationOf(epoch)),
    uint64(epoch),
    state,
  ]);
}

export interface OwnersStatement {
  readonly channelId: ChannelId;
  readonly version: number;
  /** SHA-256 of the change before; zeros for version 1. */
  readonly previous: Uint8Array;
  /** Those of the new version. */
  readonly owners: readonly AgentId[];
  /** Of a change that founds a new generation. */
  readonly founded?: FoundedGeneration;
  /**
   * In force after it, if the channel has one: of a change that founds a generation, which takes it
   * along, or sets a policy.
   */
  readonly policy?: ChannelPolicy;
  /** SHA-256 of the channel's issuers, likewise. */
  readonly issuers?: Uint8Array;
}

export interface FoundedGeneration {
  readonly generation: number;
  /** SHA-256 of the founding statement. */
  readonly founding: Uint8Array;
}

/**
 * Signed by an owner of the version before: so a member that was away can tell who may be believed.
 */
export function ownersStatement(s: OwnersStatement): Uint8Array {
  const fields = [
    binaryIdToBytes(s.channelId),
    uint64(s.version),
    s.previous,
    utf8ToBytes(s.owners.join("")),
  ];
  const policy = s.policy === undefined ? [] : [encodePolicy(s.policy)];
  const issuers = s.issuers === undefined ? [] : [s.issuers];
  if (s.founded !== undefined) {
    return statement("owners", [
      ...fields,
      uint64(s.founded.generation),
      s.founded.founding,
      ...policy,
      ...issuers,
    ]);
  }
  if (s.issuers !== undefined) return statement("issuers", [...fields, ...issuers]);
  return statement(s.policy === undefined ? "owners" : "policy", [...fields, ...policy]);
}

/** The statement of a member that adds another one by a commit. */
export interface AdmissionStatement {
  readonly channelId: ChannelId;
  /** The random name of the signer's membership. */
  readonly membership: Uint8Array;
  /** The one in which the commit was made. */
  readonly epoch: number;
  /** The agent that it adds. */
  readonly agentId: AgentId;
}

/**
 * Signed by the member that adds: so one that was set back can tell that the other did not come
 * from the relay.
 */
export function admissionStatement(
  { channelId, membership, epoch, agentId }: AdmissionStatement,
): Uint8Array {
  return statement("admit", [
    binaryIdToBytes(channelId),
    membership,
    uint64(epoch),
    utf8ToBytes(agentId),
  ]);
}

/** The statement of an owner that begins a new generation of a channel. Ids are ascending. */
export interface FoundingStatement {
  readonly channelId: ChannelId;
  /** The new one. */
  readonly generation: number;
  readonly baseEpoch: number;
  /** The confirmed transcript hash of the base. */
  readonly transcriptHash: Uint8Array;
  /** SHA-256 of the commit that ended the base, and the agent that sent it. */
  readonly badCommit: Uint8Array;
  readonly blamed: AgentId;
  /** Of the founder. */
  readonly signatureKey: Uint8Array;
  readonly identity: Uint8Array;
  readonly members: readonly AgentId[];
  /** Members of the base that it leaves out beside the blamed one. */
  readonly without: readonly AgentId[];
  readonly owners: readonly AgentId[];
  readonly suite: number;
}

/** By which the group knows how it was founded. */
export function foundingHash(s: FoundingStatement): Uint8Array {
  return sha256(statement("found", foundingFields(s)));
}

/** Signed by the founder, with the state of the first epoch that members share. */
export function foundingStatement(
  s: FoundingStatement & { readonly state: Uint8Array },
): Uint8Array {
  return statement("found", [...foundingFields(s), s.state]);
}

function foundingFields(s: FoundingStatement): Uint8Array[] {
  return [
    binaryIdToBytes(s.channelId),
    uint64(s.generation),
    uint64(s.baseEpoch),
    s.transcriptHash,
    s.badCommit,
    utf8ToBytes(s.blamed),
    s.signatureKey,
    s.identity,
    utf8ToBytes(s.members.join("")),
    utf8ToBytes(s.without.join("")),
    utf8ToBytes(s.owners.join("")),
    uint16(s.suite),
  ];
}

function leafFields({ channelId, agentId, leafHash }: LeaveStatement): Uint8Array[] {
  return [binaryIdToBytes(channelId), utf8ToBytes(agentId), leafHash];
}

export interface JoinStatement {
  readonly channelId: ChannelId;
  readonly name: ChannelName;
  readonly inviter: AgentId;
  readonly keyPackage: Uint8Array;
}

/**
 * Made by the holder of an invite's secret. The relay, which does not, can swap neither KeyPackage
 * nor inviter.
 */
export function joinMac(secret: Uint8Array, s: JoinStatement): Uint8Array {
  const message = statement("join", [
    binaryIdToBytes(s.channelId),
    utf8ToBytes(s.name),
    utf8ToBytes(s.inviter),
    sha256(s.keyPackage),
  ]);
  return hmac(sha256, deriveFromInvite(secret, "mac", 32), message);
}

/** How the relay knows an invite: it cannot be turned back into the secret. */
export function inviteIdOf(secret: Uint8Array): InviteId {
  return binaryIdFromBytes<InviteId>(deriveFromInvite(secret, "id", binaryIdBytes));
}

function deriveFromInvite(secret: Uint8Array, info: string, length: number): Uint8Array {
  return hkdf(sha256, secret, utf8ToBytes("static invite v1"), utf8ToBytes(info), length);
}
