/**
 * One channel's MLS group as its member sees it. Commits have two phases: `prepare` leaves the
 * group as it is, `accept` moves it on once the relay took the commit; a commit that lost its race
 * is dropped and the winner is received like any other. Whatever arrives, `receive` answers with an
 * outcome: one bad message never ends a group.
 * Nothing here waits: a message is sealed and received in two halves, with the work of the
 * runtime's keys between them, and a commit in parts, which leave the group as it is up to the
 * last.
 */
import {
  type AgentId,
  agentIdOf,
  binaryIdToBytes,
  type ChannelId,
  type ChannelIssuers,
  type ChannelName,
  decodeCommitAad,
  decodeOwnersChanges,
  encodeCommitAad,
  encodeOwnersChanges,
  encodeVectorLength,
  limits,
  type MemberProof,
  type OwnersChange,
  readPrivateMessageHeader,
  WireError,
} from "../../proto/mod.ts";
import { sha256 } from "../../wasm/mod.ts";
import { atOnce, type CarryOut, type InterruptibleWork } from "../base/interruptible_work.ts";
import {
  admissionsOf,
  createEntry,
  entryOfReturn,
  isAdmitted,
  type KnownMembers,
  type MembershipEntry,
  readAdmissions,
  showAdmissions,
} from "./admissions.ts";
import { checkCommitBadges, checkMembersBadges, whyShut, withoutPlace } from "./badge_rules.ts";
import { type BaseEpoch, baseOf } from "./base_epoch.ts";
import { type Change, proposalsOf } from "./change.ts";
import {
  type ChannelBinding,
  channelIdOf,
  decodeBinding,
  encodeBinding,
} from "./channel_extensions.ts";
import { MlsFault, vector } from "./codec.ts";
import { createCommit, type CreatedCommit } from "./commit.ts";
import { hashBytes, suiteIdOf } from "./crypto/suite.ts";
import { aeadOfEpoch, contextBytesOf, type Epoch, type GroupDeps } from "./epoch.ts";
import { contentToSign, decodeSealedMessage, type FramedContent, sealMessage } from "./framing.ts";
import {
  confirmationTag,
  exportSecret,
  interimTranscriptHash,
  startFromEpochSecret,
} from "./key_schedule.ts";
import { checkLifetime, type KeyPackage, type OwnKeyPackage } from "./key_package.ts";
import type { MlsIdentity } from "./identity.ts";
import {
  agentOf,
  checkChannel,
  type CommitSummary,
  credentialAt,
  DescribedMembers,
  type Member,
  memberAt,
  membersOf,
  summarise,
} from "./members.ts";
import { followedBy, type Job, perform, type StartedJob } from "./job.ts";
import { isUnknownOwn } from "./own_message.ts";
import { keepChanges, type KnownOwners, noVersion, signChange, versionOf } from "./owners_chain.ts";
import { planBinding } from "./owners_rules.ts";
import type { ProposalFrom } from "./proposals.ts";
import { PastEpochs } from "./past_epochs.ts";
import {
  type CommitRules,
  type JudgedMessage,
  type KeepCheck,
  type MessagePlaces,
  type Preview,
  previewMessage,
  receiveMessage,
  type ReceiveOutcome,
  tryCommit,
} from "./receive.ts";
import { createLeaf, RatchetTree } from "./ratchet_tree.ts";
import { checkStillRequired, checkWelcomeSealed, type Sealing } from "./sealing_rules.ts";
import { SecretTree } from "./secret_tree.ts";
import { believeOwners, encodeShownChanges } from "./shown_owners.ts";
import { decodeWelcomeMessage, joinGroup, type JoiningKeyPackage } from "./welcome.ts";

export interface MemberDeps extends GroupDeps {
  readonly identity: MlsIdentity;
  /** Returns the times of the clocks. A KeyPackage that we add must be valid by each of them. */
  readonly clocksMs: () => readonly number[];
  /** How many zeros to add to a content of this size, so that sizes say little. */
  readonly padding: (contentBytes: number) => number;
  /** Does long work. The things that the work is about do not change meanwhile. */
  readonly carryOut: CarryOut;
}

export interface GroupStart {
  /** The group's id: the channel's, in generation 0. */
  readonly channelId: ChannelId;
  /** 0 unless a generation begins. */
  readonly epoch?: number;
  readonly binding: ChannelBinding;
  readonly changes: readonly OwnersChange[];
}

/** A commit that waits for the relay's verdict. */
export interface PreparedCommit {
  /** The epoch in which it was made. */
  readonly epoch: number;
  readonly message: Uint8Array;
  readonly hash: Uint8Array;
  readonly welcome: Uint8Array | undefined;
  readonly summary: CommitSummary;
  readonly next: Epoch;
}

/** Proposals that were sent on their own, by reference: what a commit of their epoch may name. */
export type Proposals = ReadonlyMap<string, ProposalFrom>;

const noBytes = new Uint8Array(0);
const signatureBytes = 64;
const always: KeepCheck = () => undefined;

/** A message that is ready to be sent. */
export interface ReadyMessage {
  readonly epoch: number;
  readonly message: Uint8Array;
  /** The message holds the fuller of two payloads. */
  readonly isFuller: boolean;
}

/** Room of a message beside its payload. */
export interface SealingRoom {
  /** The message is padded as if its payload were so much longer. */
  readonly slackBytes?: number;
  /** Sealed in place of the payload, unless the message becomes longer by it. */
  readonly fuller?: Uint8Array | undefined;
}

/** Where a Welcome must lead. */
export interface ExpectedGroup {
  readonly channelId?: ChannelId;
  readonly name: string;
  readonly inviter?: AgentId;
  /**
   * For a member that comes back: the owners that it knew. The owners of the Welcome must follow
   * from them.
   */
  readonly known?: KnownOwners;
  /**
   * For a member that comes back: only these members, an owner, and members that they let in may
   * make the Welcome.
   */
  readonly members?: KnownMembers;
}

/** A group as it goes on from what was stored or made. */
export interface GroupParts {
  readonly epoch: Epoch;
  /** The latest changes of the owners, oldest first. */
  readonly changes: readonly OwnersChange[];
  /** How this member came in. */
  readonly entry: MembershipEntry;
  readonly past?: PastEpochs;
  readonly proposals?: Proposals;
  readonly parent?: ParentEpoch | undefined;
}

/** The epoch before the present one, and the commit that ended it. */
export interface ParentEpoch {
  readonly base: BaseEpoch;
  readonly commitHash: Uint8Array;
}

export type { Change };

export class Group {
  readonly #deps: MemberDeps;
  #epoch: Epoch;
  #changes: readonly OwnersChange[];
  readonly #entry: MembershipEntry;
  #parent: ParentEpoch | undefined;
  readonly #past: PastEpochs;
  readonly #proposals: Map<string, ProposalFrom>;
  readonly #senders = new DescribedMembers();

  private constructor(
    { epoch, changes, entry, past = new PastEpochs(), proposals = new Map(), parent }: GroupParts,
    deps: MemberDeps,
  ) {
    this.#parent = parent;
    this.#epoch = epoch;
    this.#changes = changes;
    this.#entry = entry;
    this.#deps = deps;
    this.#past = past;
    this.#proposals = new Map(proposals);
  }

  /**
   * A group of one, which owns it: `own` becomes its first leaf. `sealing` is undefined in tests
   * alone, whose members then need no key for the layer of Welcomes.
   */
  static create(
    { channelId, name, sealing }: {
      readonly channelId: ChannelId;
      readonly name: ChannelName;
      readonly sealing: Sealing | undefined;
    },
    own: OwnKeyPackage,
    deps: MemberDeps,
  ): Group {
    const { identity, signatures } = deps;
    const owners = [agentIdOf(identity.signatureKey, identity.identity)];
    const change = signChange({ channelId, before: noVersion, owners }, identity, signatures);
    const { version, lastChange } = versionOf(change);
    const binding = { name, owners, chain: { version, lastChange }, sealing };
    return Group.begin({ channelId, binding, changes: [change] }, own, deps);
  }

  /** A group of one with owners that are given. */
  static begin(
    { channelId, binding, changes, epoch: number = 0 }: GroupStart,
    own: OwnKeyPackage,
    deps: MemberDeps,
  ): Group {
    const { keyPackage } = own;
    const suiteId = suiteIdOf(keyPackage.cipherSuite);
    if (suiteId === undefined) {
      throw new MlsFault("Cannot create a group: the KeyPackage is for another suite");
    }
    const tree = RatchetTree.fromNodes([createLeaf(keyPackage.leafNode)]);
    const context = {
      version: "mls10" as const,
      cipherSuite: keyPackage.cipherSuite,
      groupId: binaryIdToBytes(channelId),
      epoch: BigInt(number),
      treeHash: tree.hash(),
      confirmedTranscriptHash: noBytes,
      extensions: encodeBinding(binding),
    };
    const { secrets, encryption } = startFromEpochSecret(deps.randomBytes(hashBytes));
    const tag = confirmationTag(secrets.confirmation, noBytes);
    const epoch: Epoch = {
      suiteId,
      context,
      contextBytes: contextBytesOf(context),
      tree,
      ownLeaf: 0,
      leafPrivateKey: own.leafPrivateKey,
      pathKeys: new Map(),
      secrets,
      secretTree: SecretTree.create(aeadOfEpoch({ suiteId }), tree.nodeCount, encryption),
      confirmationTag: tag,
      interimTranscriptHash: interimTranscriptHash(noBytes, tag),
    };
    return new Group({ epoch, changes, entry: createEntry([], deps.randomBytes) }, deps);
  }

  /**
   * Throws `MlsFault` for a Welcome that is not for `own`, does not verify, leads into another
   * channel, or shows owners that cannot be believed.
   */
  static *beginJoin(
    welcome: Uint8Array,
    own: JoiningKeyPackage,
    deps: MemberDeps,
    expected: ExpectedGroup,
  ): InterruptibleWork<Group> {
    const decoded = decodeWelcomeMessage(welcome);
    const { epoch, signer, extensions } = yield* joinGroup({ welcome: decoded, own }, deps);
    yield* checkChannel(epoch);
    yield* checkMembersBadges(epoch, deps.signatures);
    const binding = decodeBinding(epoch.context.extensions);
    checkWelcomeSealed(decoded, binding.sealing);
    if (expected.known !== undefined) checkStillRequired(expected.known.sealing, binding);
    if (binding.name !== expected.name) {
      throw new MlsFault("Cannot join: the Welcome leads into a channel of another name");
    }
    if (expected.channelId && expected.channelId !== channelIdOf(epoch.context)) {
      throw new MlsFault("Cannot join: the Welcome leads into another channel");
    }
    if (expected.inviter && memberAt(epoch, signer).agentId !== expected.inviter) {
      throw new MlsFault("Cannot join: the Welcome was not made by the inviter");
    }
    const maker = memberAt(epoch, signer);
    if (expected.known === undefined && !maker.mayAdd) {
      const text = maker.guest
        ? "the Welcome was made by a guest, and a guest lets nobody in"
        : "only owners let agents into this channel, and the Welcome was made by another member";
      throw new MlsFault(`Cannot join: ${text}`);
    }
    const changes = believeOwners({ epoch, extensions }, expected.known, deps.signatures);
    const shown = {
      maker: credentialAt(epoch, signer),
      epoch: Number(epoch.context.epoch),
      admissions: readAdmissions(extensions),
    };
    const { members } = expected;
    if (members === undefined) {
      const { agentId } = memberAt(epoch, epoch.ownLeaf);
      return new Group({
        epoch,
        changes,
        entry: createEntry(admissionsOf(agentId, shown), deps.randomBytes),
      }, deps);
    }
    // A relay can make a group of strangers under our channel's id. It cannot make one in the name
    // of an owner, because the owners follow from those that we knew, nor of somebody that members
    // let in.
    const admissions = shown.admissions?.maker ?? [];
    if (
      !maker.owner &&
      !isAdmitted(maker.agentId, channelIdOf(epoch.context), admissions, members, deps.signatures)
    ) {
      throw new MlsFault(
        "Cannot join: the Welcome was made by somebody that this agent has not met",
      );
    }
    return new Group({ epoch, changes, entry: entryOfReturn(members, shown) }, deps);
  }

  /** `beginJoin` in this call. */
  static join(...welcomed: Parameters<typeof Group["beginJoin"]>): Group {
    return atOnce(Group.beginJoin(...welcomed));
  }

  /** From stored state. */
  static restore(parts: GroupParts, deps: MemberDeps): Group {
    return new Group(parts, deps);
  }

  get epoch(): number {
    return Number(this.#epoch.context.epoch);
  }

  get current(): Epoch {
    return this.#epoch;
  }

  /** Undefined in the first epoch that we are in. */
  get parent(): ParentEpoch | undefined {
    return this.#parent;
  }

  get past(): PastEpochs {
    return this.#past;
  }

  get proposals(): Proposals {
    return this.#proposals;
  }

  get binding(): ChannelBinding {
    return decodeBinding(this.#epoch.context.extensions);
  }

  /** Which group this is, and which epoch of it. */
  get identifiers(): { readonly groupId: Uint8Array; readonly confirmationTag: Uint8Array } {
    const { context, confirmationTag } = this.#epoch;
    return { groupId: context.groupId, confirmationTag };
  }

  /** The parts as `restore` takes them. */
  get parts(): GroupParts {
    const [epoch, changes, entry] = [this.#epoch, this.#changes, this.#entry];
    return {
      epoch,
      changes,
      entry,
      past: this.#past,
      proposals: this.#proposals,
      parent: this.#parent,
    };
  }

  /** How the present owners came to be: the latest changes, oldest first. */
  get changes(): readonly OwnersChange[] {
    return this.#changes;
  }

  /** How this member came in. */
  get entry(): MembershipEntry {
    return this.#entry;
  }

  /** Equal for all members of the epoch, and for nobody else. */
  get authenticator(): Uint8Array {
    return this.#epoch.secrets.authenticator;
  }

  get self(): Member {
    return memberAt(this.#epoch, this.#epoch.ownLeaf);
  }

  members(): Member[] {
    return membersOf(this.#epoch);
  }

  export(label: string, context: Uint8Array, length: number): Uint8Array {
    return exportSecret(this.#epoch.secrets.exporter, label, context, length);
  }

  /**
   * Seals a message for the members of the current epoch. The key that it uses is gone behind the
   * second half.
   */
  beginSeal(
    payload: Uint8Array,
    authenticatedData: Uint8Array,
    { fuller, slackBytes = 0 }: SealingRoom = {},
  ): Job<Uint8Array, ReadyMessage> {
    const epoch = this.#epoch;
    const { identity: { signingSeed }, signatures, randomBytes } = this.#deps;
    const wholeBytes = this.#paddedBytes(payload.length + slackBytes);
    const isFuller = fuller !== undefined && this.#paddedBytes(fuller.length) <= wholeBytes;
    const framed: FramedContent = {
      groupId: epoch.context.groupId,
      epoch: epoch.context.epoch,
      sender: epoch.ownLeaf,
      authenticatedData,
      contentType: "application",
      content: vector(isFuller ? fuller : payload),
    };
    const finish = (signature: Uint8Array): ReadyMessage => {
      const auth = vector(signature);
      const message = sealMessage(framed, {
        aead: aeadOfEpoch(epoch),
        senderDataSecret: epoch.secrets.senderData,
        messageKey: epoch.secretTree.next(epoch.ownLeaf, "application"),
        reuseGuard: randomBytes(4),
        auth,
        paddingBytes: wholeBytes - framed.content.length - auth.length,
      });
      return { epoch: Number(epoch.context.epoch), message, isFuller };
    };
    return {
      work: () =>
        signatures.signApplication(signingSeed, contentToSign(framed, epoch.contextBytes)),
      finish,
    };
  }

  /** Both halves of `beginSeal`. */
  seal(...message: Parameters<Group["beginSeal"]>): ReadyMessage | Promise<ReadyMessage> {
    return perform(this.beginSeal(...message));
  }

  get carryOut(): CarryOut {
    return this.#deps.carryOut;
  }

  get #places(): MessagePlaces {
    return {
      current: this.#epoch,
      past: this.#past,
      proposals: this.#proposals,
      senders: this.#senders,
    };
  }

  /** Returns the length of a message's content with its signature and padding. */
  #paddedBytes(length: number): number {
    const bytes = encodeVectorLength(length).length + length +
      encodeVectorLength(signatureBytes).length +
      signatureBytes;
    return bytes + this.#deps.padding(bytes);
  }

  /**
   * Whatever arrives; never throws for what a peer or the relay sent, only when this machine cannot
   * compute (out of memory): then nothing has changed, and the same message can be received again.
   * `rules` says what a commit may do, `admit` whether the epoch after it can be kept.
   */
  beginReceive(
    message: Uint8Array,
    rules: CommitRules,
    admit: KeepCheck = always,
  ): StartedJob<boolean, ReceiveOutcome> {
    const sealed = decodeOrExplain(message);
    if ("kind" in sealed) return { result: sealed };
    return followedBy(
      receiveMessage(this.#places, sealed, { rules, admit }, this.#deps),
      ({ outcome, next }) => {
        if (next !== undefined) this.#moveTo(next, sealed.authenticatedData, sha256(message));
        return outcome;
      },
    );
  }

  /** All of `beginReceive`. */
  receive(...message: Parameters<Group["beginReceive"]>): ReceiveOutcome | Promise<ReceiveOutcome> {
    return perform(this.beginReceive(...message));
  }

  /**
   * The outcome of a commit if it were received, and the epoch that it would begin. Nothing
   * changes: it can be received later.
   */
  tryFollow(commit: Uint8Array, rules: CommitRules, admit: KeepCheck = always): JudgedMessage {
    const sealed = decodeOrExplain(commit);
    if ("kind" in sealed) return { outcome: sealed };
    return tryCommit(this.#places, sealed, { rules, admit }, this.#deps);
  }

  /** Opens an application message if it is wanted. Nothing changes: it can be received later. */
  beginPreview(
    message: Uint8Array,
    preview: Preview,
  ): StartedJob<boolean, ReceiveOutcome | undefined> {
    const sealed = decodeOrExplain(message);
    if ("kind" in sealed) return { result: sealed };
    return previewMessage(this.#places, sealed, preview, this.#deps);
  }

  /**
   * Whether a message of this epoch is our own, and sealed with a key that we have not used.
   * Nothing changes by it.
   */
  isUnknownOwn(message: Uint8Array): boolean | Promise<boolean> {
    const sealed = decodeOrExplain(message);
    const { identity, signatures } = this.#deps;
    return !("kind" in sealed) && isUnknownOwn(this.#epoch, sealed, identity, signatures);
  }

  /**
   * Why a channel that requires badges does not let an agent in by this KeyPackage. One that comes
   * back by its own word is a member already: no clock of ours puts it out.
   */
  whyShut(keyPackage: KeyPackage, isReturning: boolean): string | undefined {
    const { signatures, clocksMs } = this.#deps;
    return whyShut({ keyPackage, isReturning }, this.#epoch, { signatures, clocksMs: clocksMs() });
  }

  /** Members that have no place under these issuers, ours perhaps with another leaf. */
  withoutPlace(issuers: ChannelIssuers): AgentId[] {
    return withoutPlace(issuers, this.#epoch, this.#deps);
  }

  /** A commit of ours, ready to be sent. The group does not change before `accept`. */
  *beginPrepare(change: Change): InterruptibleWork<PreparedCommit> {
    const { epoch } = this;
    for (const keyPackage of change.add ?? []) {
      checkLifetime(keyPackage, this.#deps.clocksMs());
      const isReturning = change.rejoins?.some(({ agentId }) =>
        agentId === agentOf(keyPackage.leafNode)
      );
      const why = this.whyShut(keyPackage, isReturning === true);
      if (why !== undefined) throw new MlsFault(why);
    }
    const [leaves, rejoins] = [this.#inOrder(change.leaves), this.#inOrder(change.rejoins)];
    const { binding, changes } = planBinding(this.#epoch, { ...change, leaves }, this.#deps);
    const authenticatedData = encodeCommitAad({
      changes: encodeOwnersChanges(changes),
      leaves,
      rejoins,
    });
    const created = yield* createCommit(this.#epoch, {
      proposals: proposalsOf(this.#epoch, change, binding),
      identity: this.#deps.identity,
      authenticatedData,
      padding: this.#deps.padding,
      forcePath: change.forcePath === true,
      groupInfoExtensions: [
        ...encodeShownChanges(keepChanges(this.#changes, changes)),
        ...this.#shownAdmissions(change),
      ],
    }, this.#deps);
    yield* checkChannel(created.next);
    const { effects, pathLeaf } = created;
    const judged = { before: this.#epoch, effects, pathLeaf, authenticatedData };
    yield* checkCommitBadges(judged, this.#deps.signatures);
    checkSizes(created);
    return {
      epoch,
      message: created.message,
      hash: sha256(created.message),
      welcome: created.welcome,
      summary: summarise(this.#epoch, created.effects),
      next: created.next,
    };
  }

  /** `beginPrepare` in this call. */
  prepare(change: Change): PreparedCommit {
    return atOnce(this.beginPrepare(change));
  }

  /** The relay took our commit. */
  accept(prepared: PreparedCommit): void {
    if (prepared.epoch !== this.epoch) {
      throw new MlsFault(
        `Cannot accept a commit of epoch ${prepared.epoch}: the group is at ${this.epoch}`,
      );
    }
    const { authenticatedData } = readPrivateMessageHeader(prepared.message);
    this.#moveTo(prepared.next, authenticatedData, prepared.hash);
  }

  /** A new generation has begun: its first epoch, and how its owners came to be. */
  enterGeneration(next: Epoch, changes: readonly OwnersChange[]): void {
    this.#parent = undefined;
    this.#past.add(this.#epoch);
    this.#proposals.clear();
    this.#epoch = next;
    this.#changes = changes;
  }

  /** With the authenticated data and the hash of the commit that leads there. */
  #moveTo(next: Epoch, authenticatedData: Uint8Array, commitHash: Uint8Array): void {
    const changes = decodeOwnersChanges(decodeCommitAad(authenticatedData).changes);
    this.#parent = { base: baseOf(this.#epoch), commitHash };
    this.#past.add(this.#epoch);
    this.#proposals.clear();
    this.#epoch = next;
    this.#changes = keepChanges(this.#changes, changes);
  }

  /** Returns the admissions for the Welcome of our commit. */
  #shownAdmissions({ add = [] }: Change): ReturnType<typeof showAdmissions>[] {
    if (add.length === 0) return [];
    const added = add.map(({ leafNode }) => agentOf(leafNode));
    const fields = { channelId: channelIdOf(this.#epoch.context), epoch: this.epoch, added };
    return [showAdmissions(this.#entry, fields, this.#deps.identity, this.#deps.signatures)];
  }

  /** Returns the proofs as every member expects them: in the order of leaves. */
  #inOrder(proofs: readonly MemberProof[] = []): MemberProof[] {
    if (proofs.length < 2) return [...proofs];
    const places = new Map(this.members().map(({ agentId, leafIndex }) => [agentId, leafIndex]));
    const last = Number.MAX_SAFE_INTEGER;
    const placeOf = ({ agentId }: MemberProof): number => places.get(agentId) ?? last;
    return [...proofs].sort((a, b) => placeOf(a) - placeOf(b) || (a.agentId < b.agentId ? -1 : 1));
  }
}

/** A commit that the relay would refuse is not made in the first place. */
function checkSizes({ message, welcome }: CreatedCommit): void {
  if (message.length <= limits.commitBytes && (welcome?.length ?? 0) <= limits.welcomeBytes) return;
  throw new MlsFault(
    `A commit of ${message.length} bytes with a Welcome of ${
      welcome?.length ?? 0
    }; at most ${limits.commitBytes} and ` +
      `${limits.welcomeBytes} are allowed: change fewer members at once`,
  );
}

function decodeOrExplain(
  message: Uint8Array,
): ReturnType<typeof decodeSealedMessage> | ReceiveOutcome {
  try {
    return decodeSealedMessage(message);
  } catch (error) {
    if (error instanceof WireError) return { kind: "undecryptable", reason: error.message };
    throw error;
  }
}
