/**
 * Commits (RFC 9420 section 12.4): ours made, others' processed. Both give a new epoch beside the
 * old one, which stays as it was: a commit that loses its race, or does not verify, has changed
 * nothing.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import type { InterruptibleWork } from "../base/interruptible_work.ts";
import { equalBytes, MlsFault, vector } from "./codec.ts";
import type { KeyPair } from "./crypto/hpke.ts";
import { hashBytes } from "./crypto/suite.ts";
import {
  aeadOfEpoch,
  type BegunEpoch,
  contextBytesOf,
  type Epoch,
  type GroupDeps,
  nextContext,
} from "./epoch.ts";
import { contentToSign, type FramedContent, sealMessage, transcriptContent } from "./framing.ts";
import {
  confirmationTag,
  confirmedTranscriptHash,
  interimTranscriptHash,
  joinerSecret,
  pskSecretOf,
  startEpoch,
} from "./key_schedule.ts";
import { checkLeaf, createCommitLeaf, sameCredential, signedLeaf } from "./leaf.ts";
import type { MlsIdentity } from "./identity.ts";
import {
  type AppliedProposals,
  applyProposals,
  type ProposalFrom,
  type VerifiedParts,
} from "./proposals.ts";
import type { RatchetTree } from "./ratchet_tree.ts";
import { SecretTree } from "./secret_tree.ts";
import {
  type Commit,
  encodeCommit,
  type Extension,
  type LeafNode,
  type Proposal,
} from "./ts_mls.ts";
import { applyPath, type CreatedPath, createPath, openPath } from "./update_path.ts";
import { createWelcome } from "./welcome.ts";

/** The effects of a commit, to be compared with its sender's declaration. */
export interface CommitEffects
  extends Pick<AppliedProposals, "added" | "removed" | "updated" | "extensions"> {
  readonly committer: number;
}

export interface CreatedCommit {
  readonly message: Uint8Array;
  /** One Welcome for everybody that was added. */
  readonly welcome: Uint8Array | undefined;
  readonly next: Epoch;
  readonly effects: CommitEffects;
  /** Our new leaf. */
  readonly pathLeaf: LeafNode | undefined;
}

export interface CommitInput {
  readonly proposals: readonly Proposal[];
  readonly identity: MlsIdentity;
  readonly authenticatedData: Uint8Array;
  /** Bytes of padding for a content of this size. */
  readonly padding: (contentBytes: number) => number;
  /** Fresh keys even where the proposals do not ask for them. */
  readonly forcePath?: boolean;
  /** Further content of a Welcome besides the ratchet tree. */
  readonly groupInfoExtensions?: readonly Extension[];
}

/** Consumes one handshake key of `epoch`; everything else of it stays. */
export function* createCommit(
  epoch: Epoch,
  input: CommitInput,
  deps: GroupDeps,
): InterruptibleWork<CreatedCommit> {
  const { proposals, identity } = input;
  const committer = epoch.ownLeaf;
  const applied = yield* applyProposals(
    epoch,
    committer,
    proposals.map((proposal) => ({ proposal, sender: committer })),
    deps,
  );
  const hasPath = applied.needsPath || input.forcePath === true;
  const path = hasPath ? yield* pathOf(epoch, applied, identity, deps) : undefined;
  return yield* commitWith(epoch, input, { applied, path }, deps);
}

/** The effects of a commit, and the keys that come with it. */
export interface PlannedCommit {
  readonly applied: AppliedProposals;
  readonly path: CreatedPath | undefined;
}

export function* commitWith(
  epoch: Epoch,
  input: CommitInput,
  { applied, path }: PlannedCommit,
  deps: GroupDeps,
): InterruptibleWork<CreatedCommit> {
  const { proposals, identity } = input;
  const committer = epoch.ownLeaf;
  const commit: Commit = {
    proposals: proposals.map((proposal) => ({ proposalOrRefType: "proposal", proposal })),
    path: path?.updatePath,
  };
  const framed: FramedContent = {
    groupId: epoch.context.groupId,
    epoch: epoch.context.epoch,
    sender: committer,
    authenticatedData: input.authenticatedData,
    contentType: "commit",
    content: encodeCommit(commit),
  };
  const signature = deps.signatures.sign(
    identity.signingSeed,
    contentToSign(framed, epoch.contextBytes),
  );
  const keys = path && { leaf: path.leafKey.privateKey, path: path.pathKeys };
  const begun = yield* beginEpoch(epoch, applied, {
    tree: path?.tree ?? applied.tree,
    commitSecret: path?.commitSecret ?? new Uint8Array(hashBytes),
    transcript: transcriptContent(framed, signature),
    pskSecret: pskSecretOf(applied.pskIds, deps.findPsk),
    leafPrivateKey: keys?.leaf ?? epoch.leafPrivateKey,
    newKeys: keys?.path ?? new Map(),
  });
  const auth = concatBytes(vector(signature), vector(begun.next.confirmationTag));
  const message = sealMessage(framed, {
    aead: aeadOfEpoch(epoch),
    senderDataSecret: epoch.secrets.senderData,
    messageKey: epoch.secretTree.next(committer, "handshake"),
    reuseGuard: deps.randomBytes(4),
    auth,
    paddingBytes: input.padding(framed.content.length + auth.length),
  });
  const welcome = applied.added.length === 0 ? undefined : yield* createWelcome(begun, {
    applied,
    pathSecrets: path?.pathSecrets ?? new Map(),
    identity,
    extensions: input.groupInfoExtensions ?? [],
  }, deps);
  const effects = effectsOf(committer, applied);
  return { message, welcome, next: begun.next, effects, pathLeaf: path?.updatePath.leafNode };
}

export function pathOf(
  epoch: Epoch,
  applied: AppliedProposals,
  identity: MlsIdentity,
  deps: GroupDeps,
): InterruptibleWork<CreatedPath> {
  const current = epoch.tree.leaf(epoch.ownLeaf);
  if (current === undefined) throw new MlsFault("We are not in this group");
  const { groupId } = epoch.context;
  return createPath({
    tree: applied.tree,
    sender: epoch.ownLeaf,
    newLeaves: applied.newLeaves,
    aead: aeadOfEpoch(epoch),
    agreement: deps.signatures.agreement,
    randomBytes: deps.randomBytes,
    createLeafNode: (publicKey, parentHash) =>
      createCommitLeaf(
        {
          current: current.node,
          suiteId: epoch.suiteId,
          groupId,
          leafIndex: epoch.ownLeaf,
          publicKey,
          parentHash,
          badges: deps.badges?.({ before: current.node, extensions: applied.extensions }),
        },
        identity,
        deps.signatures,
      ),
    contextFor: (treeHash) => provisionalContext(epoch, applied, treeHash),
  });
}

/** A commit that was opened and whose signature holds. */
export interface VerifiedCommit {
  readonly sender: number;
  readonly commit: Commit;
  /** Wire format, framed content and signature: what the transcript takes in. */
  readonly transcript: Uint8Array;
  readonly confirmationTag: Uint8Array;
  /** Proposals that were sent before, by their reference. */
  readonly findProposal: (reference: Uint8Array) => ProposalFrom | undefined;
  /** The parts of a commit that were verified together with it. */
  readonly verifiedParts: VerifiedParts;
}

export type ProcessedCommit =
  | { readonly kind: "applied"; readonly next: Epoch; readonly effects: CommitEffects }
  | { readonly kind: "removed"; readonly effects: CommitEffects };

/** Throws `MlsFault` for a commit that must not be followed. */
export function* processCommit(
  epoch: Epoch,
  verified: VerifiedCommit,
  deps: GroupDeps,
): InterruptibleWork<ProcessedCommit> {
  const { sender, commit } = verified;
  const proposals = commit.proposals.map((entry): ProposalFrom => {
    if (entry.proposalOrRefType === "proposal") return { proposal: entry.proposal, sender };
    const known = verified.findProposal(entry.reference);
    if (known === undefined) throw new MlsFault("A commit refers to a proposal that never arrived");
    return known;
  });
  const applied = yield* applyProposals(epoch, sender, proposals, deps, verified.verifiedParts);
  if (applied.needsPath && commit.path === undefined) {
    throw new MlsFault("A commit has no path but needs one");
  }
  const effects = effectsOf(sender, applied);
  if (applied.removed.some(({ leafIndex }) => leafIndex === epoch.ownLeaf)) {
    return { kind: "removed", effects };
  }

  const { tree, opened } = yield* followPath(epoch, verified, applied, deps);
  const { next } = yield* beginEpoch(epoch, applied, {
    tree,
    commitSecret: opened?.commitSecret ?? new Uint8Array(hashBytes),
    transcript: verified.transcript,
    pskSecret: pskSecretOf(applied.pskIds, deps.findPsk),
    leafPrivateKey: epoch.leafPrivateKey,
    newKeys: opened?.pathKeys ?? new Map(),
  });
  if (!equalBytes(next.confirmationTag, verified.confirmationTag)) {
    throw new MlsFault(
      "A commit's confirmation tag is wrong: its sender has another view of the group",
    );
  }
  return { kind: "applied", next, effects };
}

function* followPath(
  epoch: Epoch,
  { sender, commit: { path }, verifiedParts }: VerifiedCommit,
  applied: AppliedProposals,
  deps: GroupDeps,
): InterruptibleWork<{ tree: RatchetTree; opened?: ReturnType<typeof openPath> }> {
  if (path === undefined) return { tree: applied.tree };
  const { leafNode } = path;
  checkLeaf(leafNode, {
    suiteId: epoch.suiteId,
    extensions: applied.extensions,
    policy: deps.policy,
  });
  const before = epoch.tree.leaf(sender);
  if (before === undefined || !sameCredential(before.node, leafNode)) {
    throw new MlsFault("A commit changes its sender's identity or signature key");
  }
  const signed = signedLeaf(leafNode, { groupId: epoch.context.groupId, leafIndex: sender });
  if (!verifiedParts.has(leafNode) && !deps.signatures.verifyHandshakes([signed])) {
    throw new MlsFault("A commit's new leaf has a wrong signature");
  }
  const tree = applyPath(applied.tree, sender, path);
  const opened = openPath({
    before: applied.tree,
    sender,
    path,
    newLeaves: applied.newLeaves,
    aead: aeadOfEpoch(epoch),
    agreement: deps.signatures.agreement,
    ownLeaf: epoch.ownLeaf,
    leafPrivateKey: epoch.leafPrivateKey,
    pathKeys: stillValid(epoch.pathKeys, applied.tree),
    context: provisionalContext(epoch, applied, yield* tree.hashInParts()),
  });
  return { tree, opened };
}

interface EpochInput {
  readonly tree: RatchetTree;
  readonly commitSecret: Uint8Array;
  readonly transcript: Uint8Array;
  readonly pskSecret: Uint8Array;
  readonly leafPrivateKey: Uint8Array;
  readonly newKeys: ReadonlyMap<number, KeyPair>;
}

function* beginEpoch(
  epoch: Epoch,
  applied: AppliedProposals,
  input: EpochInput,
): InterruptibleWork<BegunEpoch> {
  const { tree } = input;
  const confirmed = confirmedTranscriptHash(epoch.interimTranscriptHash, input.transcript);
  const context = nextContext(epoch.context, {
    treeHash: yield* tree.hashInParts(),
    confirmedTranscriptHash: confirmed,
    extensions: applied.extensions,
  });
  const contextBytes = contextBytesOf(context);
  const joiner = joinerSecret(epoch.secrets.init, input.commitSecret, contextBytes);
  const { secrets, encryption } = startEpoch(joiner, input.pskSecret, contextBytes);
  const tag = confirmationTag(secrets.confirmation, confirmed);
  const next: Epoch = {
    suiteId: epoch.suiteId,
    context,
    contextBytes,
    tree,
    ownLeaf: epoch.ownLeaf,
    leafPrivateKey: input.leafPrivateKey,
    pathKeys: stillValid(new Map([...epoch.pathKeys, ...input.newKeys]), tree),
    secrets,
    secretTree: SecretTree.create(aeadOfEpoch(epoch), tree.nodeCount, encryption),
    confirmationTag: tag,
    interimTranscriptHash: interimTranscriptHash(confirmed, tag),
  };
  return { next, joinerSecret: joiner, pskSecret: input.pskSecret };
}

/**
 * Path secrets are encrypted in the context of the epoch to come, but before its transcript hash is
 * known.
 */
function provisionalContext(
  epoch: Epoch,
  applied: AppliedProposals,
  treeHash: Uint8Array,
): Uint8Array {
  const { confirmedTranscriptHash: before } = epoch.context;
  return contextBytesOf(
    nextContext(epoch.context, {
      treeHash,
      confirmedTranscriptHash: before,
      extensions: applied.extensions,
    }),
  );
}

/** Without the keys of nodes that were blanked or have another key now. */
function stillValid(
  keys: ReadonlyMap<number, KeyPair>,
  tree: RatchetTree,
): ReadonlyMap<number, KeyPair> {
  return new Map([...keys].filter(([node, { publicKey }]) => {
    const parent = tree.parent(node);
    return parent !== undefined && equalBytes(parent.publicKey, publicKey);
  }));
}

function effectsOf(
  committer: number,
  { added, removed, updated, extensions }: AppliedProposals,
): CommitEffects {
  return { committer, added, removed, updated, extensions };
}
