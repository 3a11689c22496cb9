/**
 * A group's state as bytes, in parts that change at different speed: the epoch (once per commit),
 * its secret tree's frontier (when somebody speaks for the first time), one sender's ratchets (with
 * every message: about a hundred bytes). The store encrypts a record, binds its name, and brings an
 * older one to the newest format (`store/formats.ts`).
 */
import {
  type AgentId,
  type CborValue,
  decodeAdmissions,
  decodeCbor,
  decodeIssuers,
  decodeOwnersChanges,
  decodePolicy,
  encodeAdmissions,
  encodeCbor,
  encodeIssuers,
  encodeOwnersChanges,
  encodePolicy,
  type OwnersChange,
  parseAgentId,
} from "../../proto/mod.ts";
import { atOnce } from "../base/interruptible_work.ts";
import { maxValueBytes } from "../store/mod.ts";
import type { MembershipEntry } from "./admissions.ts";
import { decodeExactly, MlsFault } from "./codec.ts";
import { aeadOf, type SuiteId } from "./crypto/suite.ts";
import type { Epoch } from "./epoch.ts";
import type { ParentEpoch, PreparedCommit } from "./group.ts";
import { RatchetTree } from "./ratchet_tree.ts";
import type { PastEpoch } from "./past_epochs.ts";
import type { ProposalFrom } from "./proposals.ts";
import { decodeSealing, encodeSealing } from "./sealing_rules.ts";
import { type LeafRatchets, type Ratchet, SecretTree } from "./secret_tree.ts";
import { decodeGroupContext, decodeProposal, encodeProposal } from "./ts_mls.ts";

/** Everything of an epoch but its secret tree. */
export type EpochWithoutTree = Omit<Epoch, "secretTree">;

export function encodeEpoch(epoch: EpochWithoutTree): Uint8Array {
  const { secrets } = epoch;
  return encodeCbor([
    epoch.suiteId,
    epoch.contextBytes,
    epoch.tree.encode(),
    epoch.ownLeaf,
    epoch.leafPrivateKey,
    Array.from(
      epoch.pathKeys,
      ([node, { publicKey, privateKey }]) => [node, publicKey, privateKey],
    ),
    [
      secrets.senderData,
      secrets.exporter,
      secrets.external,
      secrets.confirmation,
      secrets.membership,
      secrets.resumption,
      secrets.authenticator,
      secrets.init,
    ],
    epoch.confirmationTag,
    epoch.interimTranscriptHash,
  ]);
}

/**
 * The part of an encoded epoch that all members share; the rest is a member's own keys, and differs
 * in length.
 */
export function sharedBytesOf(
  epoch: Pick<EpochWithoutTree, "leafPrivateKey" | "pathKeys">,
  encoded: Uint8Array,
): number {
  const { leafPrivateKey, pathKeys } = epoch;
  const keys = Array.from(
    pathKeys,
    ([node, { publicKey, privateKey }]) => [node, publicKey, privateKey],
  );
  return encoded.length - encodeCbor([leafPrivateKey, keys]).length;
}

export function decodeEpoch(record: Uint8Array): EpochWithoutTree {
  const fields = open(record, 9);
  const [
    senderData,
    exporter,
    external,
    confirmation,
    membership,
    resumption,
    authenticator,
    init,
  ] = list(fields[6], 8)
    .map(bytes);
  if (
    !senderData || !exporter || !external || !confirmation || !membership || !resumption ||
    !authenticator || !init
  ) {
    throw malformed();
  }
  return {
    suiteId: suite(fields[0]),
    ...groupContext(fields[1]),
    tree: atOnce(RatchetTree.decode(bytes(fields[2]), "stored ratchet tree")),
    ownLeaf: number(fields[3]),
    leafPrivateKey: bytes(fields[4]),
    pathKeys: new Map(
      list(fields[5]).map((entry) => {
        const [node, publicKey, privateKey] = list(entry, 3);
        return [number(node), { publicKey: bytes(publicKey), privateKey: bytes(privateKey) }];
      }),
    ),
    secrets: {
      senderData,
      exporter,
      external,
      confirmation,
      membership,
      resumption,
      authenticator,
      init,
    },
    confirmationTag: bytes(fields[7]),
    interimTranscriptHash: bytes(fields[8]),
  };
}

/** Everything of an epoch that is over but its secret tree, and its roster, a record of its own. */
export type PastWithoutRoster = Omit<PastEpoch, "secretTree" | "roster">;

export function encodePastEpoch(epoch: PastWithoutRoster): Uint8Array {
  const { suiteId, contextBytes, ownLeaf, nodeCount, senderData } = epoch;
  return encodeCbor([suiteId, contextBytes, ownLeaf, nodeCount, senderData]);
}

export function decodePastEpoch(record: Uint8Array): PastWithoutRoster {
  const [suiteId, context, ownLeaf, nodeCount, senderData] = open(record, 5);
  return {
    suiteId: suite(suiteId),
    ...groupContext(context),
    ownLeaf: number(ownLeaf),
    nodeCount: number(nodeCount),
    senderData: bytes(senderData),
  };
}

/** The rest of the epoch before the present one. */
export function encodeParent({ base, commitHash }: ParentEpoch): Uint8Array {
  const {
    epoch,
    groupId,
    suiteId,
    transcriptHash,
    members,
    owners,
    chain,
    generation,
    policy,
    issuers,
    sealing,
    guests,
    resumption,
  } = base;
  const lists = [members, [...owners], [chain.version, chain.lastChange]];
  const last = [
    policy === undefined ? null : encodePolicy(policy),
    issuers === undefined ? null : encodeIssuers(issuers),
    [...guests],
    sealing === undefined ? null : encodeSealing(sealing),
  ];
  return encodeCbor([
    commitHash,
    epoch,
    groupId,
    suiteId,
    transcriptHash,
    ...lists,
    generation,
    resumption,
    ...last,
  ]);
}

export function decodeParent(record: Uint8Array): ParentEpoch {
  const [commitHash, epoch, groupId, suiteId, transcriptHash, members, owners, chain, ...rest] =
    open(record, 14);
  const [generation, resumption, policy, issuers, guests, sealing] = rest;
  const [version, lastChange] = list(chain, 2);
  return {
    commitHash: bytes(commitHash),
    base: {
      epoch: number(epoch),
      groupId: bytes(groupId),
      suiteId: suite(suiteId),
      transcriptHash: bytes(transcriptHash),
      members: bytes(members),
      owners: list(owners).map(agent),
      chain: { version: number(version), lastChange: bytes(lastChange) },
      generation: number(generation),
      policy: policy === null ? undefined : decodePolicy(bytes(policy)),
      issuers: issuers === null ? undefined : decodeIssuers(bytes(issuers)),
      sealing: sealing === null ? undefined : decodeSealing(bytes(sealing)),
      guests: list(guests).map(agent),
      resumption: bytes(resumption),
    },
  };
}

/** A generation of ours that the relay has perhaps taken: what is sent, and where it leads. */
export interface FoundingCandidate {
  readonly hash: Uint8Array;
  /** The request as it was sent, to be sent once more. */
  readonly request: Uint8Array;
  readonly next: Epoch;
  readonly changes: readonly OwnersChange[];
}

export function encodeFounding({ hash, request, next, changes }: FoundingCandidate): Uint8Array {
  return encodeCbor([
    hash,
    request,
    encodeEpoch(next),
    encodeFrontier(next.secretTree),
    encodeOwnersChanges(changes),
  ]);
}

export function decodeFounding(record: Uint8Array): FoundingCandidate {
  const [hash, request, next, frontier, changes] = open(record, 5);
  const decoded = decodeEpoch(bytes(next));
  const place = { ...decoded, nodeCount: decoded.tree.nodeCount };
  return {
    hash: bytes(hash),
    request: bytes(request),
    next: { ...decoded, secretTree: restoreSecretTree(place, bytes(frontier), []) },
    changes: decodeOwnersChanges(bytes(changes)),
  };
}

/** How this member came in. */
export function encodeEntry({ membership, admissions }: MembershipEntry): Uint8Array {
  return encodeCbor([membership, encodeAdmissions(admissions)]);
}

export function decodeEntry(record: Uint8Array): MembershipEntry {
  const [membership, admissions] = open(record, 2);
  return { membership: bytes(membership), admissions: decodeAdmissions(bytes(admissions)) };
}

/** The latest changes of the channel's owners. */
export function encodeChanges(changes: readonly OwnersChange[]): Uint8Array {
  return encodeCbor([encodeOwnersChanges(changes)]);
}

export function decodeChanges(record: Uint8Array): OwnersChange[] {
  const [changes] = open(record, 1);
  return decodeOwnersChanges(bytes(changes));
}

/** A proposal that was sent on its own and that a commit of its epoch may refer to. */
export function encodeProposalFrom({ proposal, sender }: ProposalFrom): Uint8Array {
  return encodeCbor([sender, encodeProposal(proposal)]);
}

export function decodeProposalFrom(record: Uint8Array): ProposalFrom {
  const [sender, proposal] = open(record, 2);
  return {
    sender: number(sender),
    proposal: decodeExactly(decodeProposal, bytes(proposal), "stored proposal"),
  };
}

/**
 * A commit of ours that waits for the relay's verdict. Its epoch is new, so its secret tree is one
 * secret.
 */
export function encodeCandidate(
  prepared: PreparedCommit,
  nextEpoch: Uint8Array = encodeEpoch(prepared.next),
): Uint8Array {
  const { epoch, message, hash, welcome, summary, next } = prepared;
  return encodeCbor([
    epoch,
    message,
    hash,
    welcome ?? null,
    [
      summary.committer,
      [...summary.added],
      Array.from(summary.keyPackageHashes, ([agentId, hash]) => [agentId, hash]),
      [...summary.removed],
      summary.owners === undefined ? null : [...summary.owners],
      [...summary.ownersBefore],
      [...summary.keyless],
    ],
    nextEpoch,
    encodeFrontier(next.secretTree),
  ]);
}

export function decodeCandidate(record: Uint8Array): PreparedCommit {
  const [epoch, message, hash, welcome, summary, next, frontier] = open(record, 7);
  const [committer, added, keyPackageHashes, removed, owners, ownersBefore, keyless] = list(
    summary,
    7,
  );
  const decoded = decodeEpoch(bytes(next));
  return {
    epoch: number(epoch),
    message: bytes(message),
    hash: bytes(hash),
    welcome: welcome === null ? undefined : bytes(welcome),
    summary: {
      committer: agent(committer),
      added: list(added).map(agent),
      keyPackageHashes: new Map(
        list(keyPackageHashes).map((entry) => {
          const [agentId, hash] = list(entry, 2);
          return [agent(agentId), bytes(hash)];
        }),
      ),
      keyless: list(keyless).map(agent),
      removed: list(removed).map(agent),
      owners: owners === null ? undefined : list(owners).map(agent),
      ownersBefore: list(ownersBefore).map(agent),
    },
    next: {
      ...decoded,
      secretTree: restoreSecretTree(
        { ...decoded, nodeCount: decoded.tree.nodeCount },
        bytes(frontier),
        [],
      ),
    },
  };
}

/** Secrets of subtrees that nobody has spoken from yet. */
export function encodeFrontier({ subtrees }: SecretTree): Uint8Array {
  return encodeCbor([Array.from(subtrees, ([node, secret]) => [node, secret])]);
}

export function encodeRatchets({ handshake, application }: LeafRatchets): Uint8Array {
  return encodeCbor([encodeRatchet(handshake), encodeRatchet(application)]);
}

export function decodeRatchets(record: Uint8Array): LeafRatchets {
  const [handshake, application] = open(record, 2);
  return { handshake: decodeRatchet(handshake), application: decodeRatchet(application) };
}

/** The secret tree from its frontier and the ratchets of every leaf that has spoken. */
export function restoreSecretTree(
  epoch: Pick<PastEpoch, "suiteId" | "nodeCount">,
  frontier: Uint8Array,
  leaves: Iterable<readonly [leafIndex: number, ratchets: Uint8Array]>,
): SecretTree {
  const [entries] = open(frontier, 1);
  const subtrees = list(entries).map((entry) => {
    const [node, secret] = list(entry, 2);
    return [number(node), bytes(secret)] as const;
  });
  const ratchets = Array.from(leaves, ([leaf, record]) => [leaf, decodeRatchets(record)] as const);
  return SecretTree.restore(aeadOf[epoch.suiteId], epoch.nodeCount, subtrees, ratchets);
}

function encodeRatchet({ secret, generation, skipped }: Ratchet): CborValue {
  return [secret, generation, Array.from(skipped, ([each, { key, nonce }]) => [each, key, nonce])];
}

function decodeRatchet(value: CborValue | undefined): Ratchet {
  const [secret, generation, skipped] = list(value, 3);
  return {
    secret: bytes(secret),
    generation: number(generation),
    skipped: new Map(
      list(skipped).map((entry) => {
        const [each, key, nonce] = list(entry, 3);
        return [number(each), { key: bytes(key), nonce: bytes(nonce) }];
      }),
    ),
  };
}

function suite(value: CborValue | undefined): SuiteId {
  if (value !== 1 && value !== 3) throw malformed();
  return value;
}

function groupContext(value: CborValue | undefined): Pick<Epoch, "context" | "contextBytes"> {
  const contextBytes = bytes(value);
  return {
    context: decodeExactly(decodeGroupContext, contextBytes, "stored GroupContext"),
    contextBytes,
  };
}

/** A record with that many fields. */
function open(record: Uint8Array, length: number): readonly CborValue[] {
  return list(decodeCbor(record, maxValueBytes), length);
}

function list(value: CborValue | undefined, length?: number): readonly CborValue[] {
  if (!Array.isArray(value) || (length !== undefined && value.length !== length)) throw malformed();
  return value;
}

function bytes(value: CborValue | undefined): Uint8Array {
  if (!(value instanceof Uint8Array)) throw malformed();
  return value;
}

function agent(value: CborValue | undefined): AgentId {
  if (typeof value !== "string") throw malformed();
  return parseAgentId(value);
}

function number(value: CborValue | undefined): number {
  if (typeof value !== "number") throw malformed();
  return value;
}

function malformed(): MlsFault {
  return new MlsFault("Stored MLS state is malformed");
}
