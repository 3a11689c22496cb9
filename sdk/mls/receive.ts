/**
 * The one way for bytes into a group: routed by group id and epoch, opened, signature verified, and
 * only then acted on.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type AgentId,
  binaryIdToBytes,
  generationOf,
  groupIdOf,
  limits,
  WireError,
} from "../../proto/mod.ts";
import type { SignedBytes } from "../../wasm/mod.ts";
import { atOnce, type InterruptibleWork } from "../base/interruptible_work.ts";
import { attempt, decodeFirst, equalBytes, isMachineFault, MlsFault, vector } from "./codec.ts";
import type { ChainForks } from "./chain_forks.ts";
import { checkCommitBadges } from "./badge_rules.ts";
import { channelIdOf } from "./channel_extensions.ts";
import { processCommit } from "./commit.ts";
import { proposalRefLabel, refHash } from "./crypto/labelled.ts";
import { aeadOfEpoch, type Epoch, type GroupDeps } from "./epoch.ts";
import { followedBy, type StartedJob } from "./job.ts";
import {
  contentToSign,
  type FramedContent,
  kindOf,
  openContent,
  openSenderData,
  readApplicationContent,
  readHandshakeContent,
  type SealedMessage,
  transcriptContent,
} from "./framing.ts";
import { type BadgedCredential, badgedOf, type LeafPlace, signedLeaf } from "./leaf.ts";
import { signedKeyPackage } from "./key_package.ts";
import {
  checkChannel,
  type CommitSummary,
  type DescribedMembers,
  type Member,
  memberOf,
  summarise,
} from "./members.ts";
import type { PastEpoch, PastEpochs } from "./past_epochs.ts";
import type { ProposalFrom } from "./proposals.ts";
import { maxSkippedGenerations, type MessageKey, type ReceivedKey } from "./secret_tree.ts";
import {
  type Commit,
  decodeCommit,
  decodeProposal,
  type Extension,
  type KeyPackage,
  type LeafNode,
  type Proposal,
} from "./ts_mls.ts";

export type ReceiveOutcome =
  | {
    readonly kind: "message";
    readonly epoch: number;
    readonly sender: Member;
    readonly payload: Uint8Array;
    readonly authenticatedData: Uint8Array;
    /** Which opened it. */
    readonly key: MessageKey;
  }
  | { readonly kind: "commit"; readonly epoch: number; readonly summary: CommitSummary }
  /** Kept until a commit refers to it. */
  | { readonly kind: "proposal"; readonly sender: Member }
  | { readonly kind: "removed"; readonly summary: CommitSummary }
  /** An echo of what we sent ourselves. */
  | { readonly kind: "own" }
  | { readonly kind: "stale"; readonly epoch: number }
  | { readonly kind: "future"; readonly epoch: number }
  | { readonly kind: "duplicate" }
  | { readonly kind: "undecryptable"; readonly reason: string; readonly cause?: unknown }
  /** A commit that verifies but that a member must not follow. */
  | { readonly kind: "refused"; readonly reason: string; readonly cause?: unknown }
  | { readonly kind: "wrong_group" };

/** A commit that verifies, before it is followed. */
export interface ProposedCommit {
  readonly summary: CommitSummary;
  readonly committer: Member;
  /** The epoch in which it was made. */
  readonly before: Epoch;
  readonly proposals: Commit["proposals"];
  readonly authenticatedData: Uint8Array;
  /** The extensions of the GroupContext after the commit. */
  readonly extensions: readonly Extension[];
  /** The epoch that it begins; undefined for a member that it removes. */
  readonly next: Epoch | undefined;
}

/** Rules for commits beyond those of MLS. Returns the reason against the commit, or undefined. */
export type CommitRules = (commit: ProposedCommit) => string | undefined;

/**
 * Whether there is room for the epoch after a commit. Returns the reason against it, or undefined.
 */
export type KeepCheck = (next: Epoch) => string | undefined;

/**
 * Channels change by commits alone; a few proposals on their own are tolerated, each with room for
 * a KeyPackage.
 */
const maxProposals = 64;
/** Parts of a commit that are verified with it; of more, its own signature is verified first. */
const maxParts = 8;
const maxProposalBytes = 2 * limits.keyPackageBytes;

/** Where a message may belong. */
export interface MessagePlaces {
  readonly current: Epoch;
  readonly past: PastEpochs;
  /** Filled by proposals that arrive, used by commits that refer to them. */
  readonly proposals: Map<string, ProposalFrom>;
  readonly senders: DescribedMembers;
}

/** Checks before a commit is followed. */
export interface CommitChecks {
  readonly rules: CommitRules;
  readonly admit: KeepCheck;
}

export interface JudgedMessage {
  readonly outcome: ReceiveOutcome;
  /** The epoch that the message begins. */
  readonly next?: Epoch;
}

/** Epochs of an earlier generation have the id of another group. */
function groupIdAt({ context }: Epoch, epoch: number): Uint8Array {
  if (generationOf(epoch) === generationOf(Number(context.epoch))) return context.groupId;
  return binaryIdToBytes(groupIdOf(channelIdOf(context), generationOf(epoch)));
}

/**
 * Whether a message is verified is the half that may wait. A commit is followed, or not, in parts.
 */
export function receiveMessage(
  places: MessagePlaces,
  message: SealedMessage,
  checks: CommitChecks,
  deps: GroupDeps,
): StartedJob<boolean, JudgedMessage> {
  const place = placeOf(places, message);
  if ("kind" in place) return { result: { outcome: place } };
  try {
    const opened = open(place, message);
    if ("kind" in opened) return { result: { outcome: opened } };
    if (message.contentType === "application") {
      return followedBy(
        readApplication(place, places.senders, message, opened, deps),
        (outcome) => ({ outcome }),
      );
    }
    return { parts: explained(readHandshake(places, message, opened, checks, deps), message) };
  } catch (cause) {
    return { result: { outcome: explain(cause, message) } };
  }
}

/**
 * The outcome of a commit if it were received. Nothing changes and no key is used up: it can be
 * received later.
 */
export function tryCommit(
  places: MessagePlaces,
  message: SealedMessage,
  checks: CommitChecks,
  deps: GroupDeps,
): JudgedMessage {
  const place = placeOf(places, message);
  if ("kind" in place) return { outcome: place };
  if (message.contentType !== "commit") {
    return { outcome: { kind: "refused", reason: "It is not a commit" } };
  }
  try {
    const opened = open({ ...place, secretTree: place.secretTree.fork() }, message);
    return "kind" in opened
      ? { outcome: opened }
      : atOnce(readHandshake(places, message, opened, checks, deps));
  } catch (cause) {
    return { outcome: explain(cause, message) };
  }
}

/** The epoch of a message, or the outcome when it belongs to none that we have. */
function placeOf(
  { current, past }: MessagePlaces,
  message: SealedMessage,
): ReadableEpoch | ReceiveOutcome {
  const { epoch: now } = current.context;
  const epoch = Number(message.epoch);
  const place = message.epoch >= now ? readable(current) : readablePast(past.get(message.epoch));
  const groupId = place?.context.groupId ?? groupIdAt(current, epoch);
  if (!equalBytes(message.groupId, groupId)) return { kind: "wrong_group" };
  if (message.epoch > now) return { kind: "future", epoch };
  // A handshake of an epoch that is over lost its race, or is one that we have already followed.
  if (place === undefined || (message.epoch < now && message.contentType !== "application")) {
    return { kind: "stale", epoch };
  }
  return place;
}

function* explained(
  parts: InterruptibleWork<JudgedMessage>,
  message: SealedMessage,
): InterruptibleWork<JudgedMessage> {
  try {
    return yield* parts;
  } catch (cause) {
    return { outcome: explain(cause, message) };
  }
}

/**
 * Whatever a member wrote into its message, and however the cryptography below balked at it: the
 * group goes on.
 */
function explain(cause: unknown, { contentType }: SealedMessage): ReceiveOutcome {
  // The message may be right: a member that refused its commit for that would leave the others for
  // good.
  if (isMachineFault(cause)) throw cause;
  const known = cause instanceof MlsFault || cause instanceof WireError;
  const reason = known ? cause.message : `The ${contentType} is malformed or was not made for us`;
  return { kind: contentType === "application" ? "undecryptable" : "refused", reason, cause };
}

/** How a message is looked at before its turn. */
export interface Preview {
  readonly forks: ChainForks;
  /**
   * As the relay says. Of another one, a member could use up keys that this one's own messages
   * need.
   */
  readonly sender: AgentId;
  /** Asked before the signature is verified, which is most of the work. */
  readonly isWanted: (payload: Uint8Array) => boolean;
}

/**
 * Opens a message of an application with other chains than the group's: nothing changes, and it can
 * be received later. Undefined for one that is not wanted.
 */
export function previewMessage(
  { current, past, senders }: Omit<MessagePlaces, "proposals">,
  message: SealedMessage,
  { forks, sender, isWanted }: Preview,
  deps: GroupDeps,
): StartedJob<boolean, ReceiveOutcome | undefined> {
  const isCurrent = message.epoch === current.context.epoch;
  const own = isCurrent ? readable(current) : readablePast(past.get(message.epoch));
  if (
    own === undefined || message.contentType !== "application" ||
    !equalBytes(message.groupId, own.context.groupId)
  ) {
    return { result: { kind: "stale", epoch: Number(message.epoch) } };
  }
  const place = { ...own, secretTree: forks.of(message.epoch, own.secretTree) };
  try {
    const opened = open(place, message);
    if ("kind" in opened) return { result: opened };
    if (senders.at(opened.sender, opened.credential, place.context).agentId !== sender) {
      return { result: undefined };
    }
    if (isWanted(readApplicationContent(opened.plaintext).data)) {
      return readApplication(place, senders, message, opened, deps);
    }
    opened.key.use();
    return { result: undefined };
  } catch (cause) {
    return { result: explain(cause, message) };
  }
}

interface OpenedContent {
  readonly sender: number;
  readonly credential: BadgedCredential;
  readonly plaintext: Uint8Array;
  readonly key: ReceivedKey;
}

/** The content of a message and the key that it takes, or the outcome when there is none for us. */
function open(place: ReadableEpoch, message: SealedMessage): OpenedContent | ReceiveOutcome {
  const aead = aeadOfEpoch(place);
  const undecryptable = (reason: string): ReceiveOutcome => ({ kind: "undecryptable", reason });
  const from = attempt(() => openSenderData(message, aead, place.senderData));
  if (from === undefined) {
    return undecryptable("The message was not sealed in this epoch, or was changed on its way");
  }
  if (from.sender === place.ownLeaf) return { kind: "own" };
  const credential = place.credentialAt(from.sender);
  if (credential === undefined) return undecryptable("The sender was not a member");
  const key = place.secretTree.find(from.sender, kindOf(message.contentType), from.generation);
  if (key === "used") return { kind: "duplicate" };
  if (key === "too_far_ahead") {
    return undecryptable(`More than ${maxSkippedGenerations} messages of its sender are missing`);
  }
  const plaintext = attempt(() => openContent(message, aead, key, from.reuseGuard));
  if (plaintext === undefined) return undecryptable("The message was changed on its way");
  return { sender: from.sender, credential, plaintext, key };
}

function readApplication(
  place: ReadableEpoch,
  senders: DescribedMembers,
  message: SealedMessage,
  { sender, credential, plaintext, key }: OpenedContent,
  deps: GroupDeps,
): StartedJob<boolean, ReceiveOutcome> {
  const { data, signature } = readApplicationContent(plaintext);
  const signed = contentToSign({ ...message, sender, content: vector(data) }, place.contextBytes);
  // A credential that nobody can describe is refused here, and not behind a wait.
  const from = senders.at(sender, credential, place.context);
  return {
    work: () => deps.signatures.verifyApplication(credential.signatureKey, signed, signature),
    finish: (isTrue) => {
      if (!isTrue) return { kind: "undecryptable", reason: "The sender's signature is wrong" };
      key.use();
      const { authenticatedData } = message;
      return {
        kind: "message",
        epoch: Number(message.epoch),
        sender: from,
        payload: data,
        authenticatedData,
        key,
      };
    },
  };
}

function* readHandshake(
  { current, proposals }: MessagePlaces,
  message: SealedMessage,
  { sender, credential, plaintext, key: { use } }: OpenedContent,
  { rules, admit }: CommitChecks,
  deps: GroupDeps,
): InterruptibleWork<JudgedMessage> {
  const isCommit = message.contentType === "commit";
  const { value, length } = decodeFirst<Commit | Proposal>(
    isCommit ? decodeCommit : decodeProposal,
    plaintext,
    message.contentType,
  );
  const { content, signature, confirmationTag } = readHandshakeContent(
    plaintext,
    message.contentType,
    length,
  );
  const framed: FramedContent = { ...message, sender, content };
  const signed = {
    publicKey: credential.signatureKey,
    message: contentToSign(framed, current.contextBytes),
    signature,
  };
  const parts = "proposalType" in value
    ? []
    : signedPartsOf(value, { groupId: message.groupId, leafIndex: sender });
  const together = parts.length > 0 &&
    deps.signatures.verifyHandshakes([signed, ...parts.flatMap(({ signatures }) => signatures)]);
  // A part of the commit may be wrong although the commit's own signature is not: then each is
  // checked, and named, separately.
  if (!together && !deps.signatures.verifyHandshakes([signed])) {
    return { outcome: { kind: "undecryptable", reason: "The sender's signature is wrong" } };
  }
  const transcript = transcriptContent(framed, signature);
  const from = memberOf(sender, credential, current.context);
  if ("proposalType" in value) {
    if (proposals.size >= maxProposals || content.length > maxProposalBytes) {
      return {
        outcome: {
          kind: "refused",
          reason: "Too many proposals are waiting, or this one is too long",
        },
      };
    }
    // For a proposal, what the transcript takes in of a commit is what its reference is the hash
    // of.
    const reference = bytesToHex(refHash(proposalRefLabel, transcript));
    use();
    proposals.set(reference, { proposal: value, sender });
    return { outcome: { kind: "proposal", sender: from } };
  }
  const processed = yield* processCommit(current, {
    sender,
    commit: value,
    transcript,
    confirmationTag,
    findProposal: (reference) => proposals.get(bytesToHex(reference)),
    verifiedParts: new Set(together ? parts.map(({ part }) => part) : []),
  }, deps);
  // The commit's key stays: if it is refused now it may be followed later, and once it is followed
  // the epoch is over.
  const summary = summarise(current, processed.effects);
  const { authenticatedData } = message;
  const { proposals: proposed } = value;
  const { extensions } = processed.effects;
  const next = processed.kind === "applied" ? processed.next : undefined;
  const commit = {
    summary,
    committer: from,
    before: current,
    proposals: proposed,
    authenticatedData,
    extensions,
    next,
  };
  // A member that the commit removes judges it too: it must not obey what all others refuse.
  yield* checkCommitBadges({
    before: current,
    effects: processed.effects,
    pathLeaf: value.path?.leafNode,
    authenticatedData,
  }, deps.signatures);
  const forbidden = rules(commit);
  if (forbidden !== undefined) return { outcome: { kind: "refused", reason: forbidden } };
  if (next === undefined) return { outcome: { kind: "removed", summary } };
  yield* checkChannel(next);
  const noRoom = admit(next);
  if (noRoom !== undefined) return { outcome: { kind: "refused", reason: noRoom } };
  return { outcome: { kind: "commit", epoch: Number(next.context.epoch), summary }, next };
}

interface PartSignatures {
  readonly part: KeyPackage | LeafNode;
  readonly signatures: readonly SignedBytes[];
}

/**
 * KeyPackages and the committer's new leaf. Verified with the commit's own signature they cost
 * little more than that one. None of a commit with more.
 */
function signedPartsOf({ proposals, path }: Commit, place: LeafPlace): PartSignatures[] {
  if (proposals.length >= maxParts) return [];
  const added = proposals.flatMap((entry) => {
    if (entry.proposalOrRefType !== "proposal" || entry.proposal.proposalType !== "add") return [];
    const { keyPackage } = entry.proposal.add;
    return [{ part: keyPackage, signatures: signedKeyPackage(keyPackage) }];
  });
  if (path === undefined) return added;
  return [...added, { part: path.leafNode, signatures: [signedLeaf(path.leafNode, place)] }];
}

/** The parts of an epoch, present or past, that reading needs. */
interface ReadableEpoch
  extends Pick<PastEpoch, "suiteId" | "context" | "contextBytes" | "ownLeaf" | "secretTree"> {
  readonly senderData: Uint8Array;
  readonly credentialAt: (leafIndex: number) => BadgedCredential | undefined;
}

function readable({ tree, secrets, ...epoch }: Epoch): ReadableEpoch {
  const credentialAt = (leafIndex: number): BadgedCredential | undefined => {
    const leaf = tree.leaf(leafIndex);
    return leaf && badgedOf(leaf.node);
  };
  return { ...epoch, senderData: secrets.senderData, credentialAt };
}

function readablePast(past: PastEpoch | undefined): ReadableEpoch | undefined {
  return past && { ...past, credentialAt: (leafIndex) => past.roster.at(leafIndex) };
}
