/**
 * The one way for bytes into a group: routed by group id and epoch, opened, signature verified, and only then acted on. Keys
 * of earlier epochs are kept apart for messages that were on their way when a commit overtook them.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { type Commit, decodeCommit } from "ts-mls/commit.js";
import { decodeProposal, type Proposal } from "ts-mls/proposal.js";
import { WireError } from "../../proto/mod.ts";
import { decodeFirst, equalBytes, MlsFault, vector } from "./codec.ts";
import { type GroupDeps, processCommit } from "./commit.ts";
import { proposalRefLabel, refHash } from "./crypto/labelled.ts";
import { aeadOfEpoch, type Epoch } from "./epoch.ts";
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
import { checkChannel, type CommitSummary, type Member, memberAt, summarise } from "./members.ts";
import type { ProposalFrom } from "./proposals.ts";
import { maxSkippedGenerations, type SecretTree } from "./secret_tree.ts";

export type Outcome =
  | {
    readonly kind: "message";
    readonly epoch: number;
    readonly sender: Member;
    readonly payload: Uint8Array;
    readonly authenticatedData: Uint8Array;
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

/** What a commit may do, besides what MLS itself demands. Answers why not, or undefined. */
export type CommitRules = (summary: CommitSummary, committer: Member) => string | undefined;

/** Channels change by commits alone; a few proposals on their own are tolerated. */
const maxProposals = 64;

/** What is left of an epoch that is over: enough to read its messages, not to speak in it. */
export interface PastEpoch {
  readonly suiteId: Epoch["suiteId"];
  readonly context: Epoch["context"];
  readonly contextBytes: Uint8Array;
  readonly tree: Epoch["tree"];
  readonly ownLeaf: number;
  readonly senderData: Uint8Array;
  readonly secretTree: SecretTree;
}

export class PastEpochs {
  readonly #epochs: Map<bigint, PastEpoch>;

  constructor(epochs: Iterable<PastEpoch> = []) {
    this.#epochs = new Map(Array.from(epochs, (epoch) => [epoch.context.epoch, epoch]));
  }

  add({ suiteId, context, contextBytes, tree, ownLeaf, secrets, secretTree }: Epoch): void {
    // Field by field: private keys and the other secrets of an epoch must not outlive it.
    const past = { suiteId, context, contextBytes, tree, ownLeaf, senderData: secrets.senderData, secretTree };
    this.#epochs.set(context.epoch, past);
  }

  get(epoch: bigint): PastEpoch | undefined {
    return this.#epochs.get(epoch);
  }

  /** All messages before this epoch were read or have expired: their keys go. Answers what was forgotten. */
  forgetBefore(epoch: bigint): PastEpoch[] {
    const forgotten = [...this.#epochs.values()].filter(({ context }) => context.epoch < epoch);
    for (const { context } of forgotten) this.#epochs.delete(context.epoch);
    return forgotten;
  }

  [Symbol.iterator](): Iterator<PastEpoch> {
    return this.#epochs.values();
  }
}

/** Where a message may belong. */
export interface Places {
  readonly current: Epoch;
  readonly past: PastEpochs;
  /** Filled by proposals that arrive, used by commits that refer to them. */
  readonly proposals: Map<string, ProposalFrom>;
}

interface Received {
  readonly outcome: Outcome;
  /** The epoch that the message began. */
  readonly next?: Epoch;
}

export async function receiveMessage(
  places: Places,
  message: SealedMessage,
  rules: CommitRules,
  deps: GroupDeps,
): Promise<Received> {
  const { epoch: now, groupId } = places.current.context;
  const epoch = Number(message.epoch);
  if (!equalBytes(message.groupId, groupId)) return { outcome: { kind: "wrong_group" } };
  if (message.epoch > now) return { outcome: { kind: "future", epoch } };
  const place = message.epoch === now ? asPast(places.current) : places.past.get(message.epoch);
  // A handshake of an epoch that is over lost its race, or is one that we have already followed.
  if (place === undefined || (message.epoch < now && message.contentType !== "application")) {
    return { outcome: { kind: "stale", epoch } };
  }
  try {
    const opened = open(place, message);
    if ("kind" in opened) return { outcome: opened };
    if (message.contentType === "application") return { outcome: await readApplication(place, message, opened, deps) };
    return readHandshake(places, message, opened, rules, deps);
  } catch (cause) {
    // Whatever a member wrote into its message, and however the cryptography below balked at it: the group goes on.
    const known = cause instanceof MlsFault || cause instanceof WireError;
    const reason = known ? cause.message : `The ${message.contentType} is malformed or was not made for us`;
    return { outcome: { kind: message.contentType === "application" ? "undecryptable" : "refused", reason, cause } };
  }
}

interface Opened {
  readonly sender: number;
  readonly plaintext: Uint8Array;
  readonly use: () => void;
}

/** The content of a message and the key that it takes, or the outcome when there is none for us. */
function open(place: PastEpoch, message: SealedMessage): Opened | Outcome {
  const aead = aeadOfEpoch(place);
  const undecryptable = (reason: string): Outcome => ({ kind: "undecryptable", reason });
  const from = attempt(() => openSenderData(message, aead, place.senderData));
  if (from === undefined) return undecryptable("The message was not sealed in this epoch, or was changed on its way");
  if (from.sender === place.ownLeaf) return { kind: "own" };
  if (place.tree.leaf(from.sender) === undefined) return undecryptable("The sender was not a member");
  const key = place.secretTree.find(from.sender, kindOf(message.contentType), from.generation);
  if (key === "used") return { kind: "duplicate" };
  if (key === "too_far_ahead") {
    return undecryptable(`More than ${maxSkippedGenerations} messages of its sender are missing`);
  }
  const plaintext = attempt(() => openContent(message, aead, key, from.reuseGuard));
  if (plaintext === undefined) return undecryptable("The message was changed on its way");
  return { sender: from.sender, plaintext, use: key.use };
}

async function readApplication(
  place: PastEpoch,
  message: SealedMessage,
  { sender, plaintext, use }: Opened,
  deps: GroupDeps,
): Promise<Outcome> {
  const { data, signature } = readApplicationContent(plaintext);
  const signed = contentToSign({ ...message, sender, content: vector(data) }, place.contextBytes);
  if (!await deps.signatures.verifyApplication(signatureKeyOf(place, sender), signed, signature)) {
    return { kind: "undecryptable", reason: "The sender's signature is wrong" };
  }
  use();
  return {
    kind: "message",
    epoch: Number(message.epoch),
    sender: memberAt(place, sender),
    payload: data,
    authenticatedData: message.authenticatedData,
  };
}

function readHandshake(
  { current, proposals }: Places,
  message: SealedMessage,
  { sender, plaintext, use }: Opened,
  rules: CommitRules,
  deps: GroupDeps,
): Received {
  const isCommit = message.contentType === "commit";
  const { value, length } = decodeFirst<Commit | Proposal>(
    isCommit ? decodeCommit : decodeProposal,
    plaintext,
    message.contentType,
  );
  const { content, signature, confirmationTag } = readHandshakeContent(plaintext, message.contentType, length);
  const framed: FramedContent = { ...message, sender, content };
  const signed = contentToSign(framed, current.contextBytes);
  if (!deps.signatures.verifyHandshake(signatureKeyOf(current, sender), signed, signature)) {
    return { outcome: { kind: "undecryptable", reason: "The sender's signature is wrong" } };
  }
  const transcript = transcriptContent(framed, signature);
  if ("proposalType" in value) {
    if (proposals.size >= maxProposals) {
      return { outcome: { kind: "refused", reason: "Too many proposals are waiting" } };
    }
    use();
    // For a proposal, what the transcript takes in of a commit is what its reference is the hash of.
    proposals.set(bytesToHex(refHash(proposalRefLabel, transcript)), { proposal: value, sender });
    return { outcome: { kind: "proposal", sender: memberAt(current, sender) } };
  }
  const processed = processCommit(current, {
    sender,
    commit: value,
    transcript,
    confirmationTag,
    findProposal: (reference) => proposals.get(bytesToHex(reference)),
  }, deps);
  // The commit's key stays: if it is refused now it may be followed later, and once it is followed the epoch is over.
  const summary = summarise(current, processed.effects);
  const committer = memberAt(current, sender);
  const why = rules(summary, committer);
  if (why !== undefined) return { outcome: { kind: "refused", reason: why } };
  if (processed.kind === "removed") return { outcome: { kind: "removed", summary } };
  const { next } = processed;
  checkChannel(next);
  return { outcome: { kind: "commit", epoch: Number(next.context.epoch), summary }, next };
}

function signatureKeyOf({ tree }: Pick<Epoch, "tree">, sender: number): Uint8Array {
  const leaf = tree.leaf(sender);
  if (leaf === undefined) throw new MlsFault("The sender is not a member");
  return leaf.node.signaturePublicKey;
}

function asPast({ secrets, ...epoch }: Epoch): PastEpoch {
  return { ...epoch, senderData: secrets.senderData };
}

/** An AEAD that refuses throws; here that is an answer. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
