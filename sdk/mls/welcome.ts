/** Welcomes (RFC 9420 section 12.4.3): how a committer lets somebody in, and how one joins. */
import type { SignedBytes } from "../../wasm/mod.ts";
import type { InterruptibleWork } from "../base/interruptible_work.ts";
import { decodeExactly, equalBytes, isRefusal, label, MlsFault } from "./codec.ts";
import type { KeyAgreement } from "./crypto/key_agreement.ts";
import { layerSecretOf, putLayer, takeLayerOff } from "./crypto/seal_layer.ts";
import { type Signatures, verifyInParts } from "./crypto/signatures.ts";
import {
  createEncryptor,
  decryptWithLabel,
  expandWithLabel,
  signContent,
} from "./crypto/labelled.ts";
import { type Aead, aeadOf, type SuiteId, suiteIdOf, suiteNames } from "./crypto/suite.ts";
import {
  aeadOfEpoch,
  type BegunEpoch,
  contextBytesOf,
  type Epoch,
  type GroupDeps,
} from "./epoch.ts";
import {
  checkPskIds,
  confirmationTag,
  interimTranscriptHash,
  pskSecretOf,
  startEpoch,
  welcomeSecret,
} from "./key_schedule.ts";
import { checkLeaf, signedLeaf } from "./leaf.ts";
import { keyPackageReference, type OwnKeyPackage, sealKeyOf } from "./key_package.ts";
import type { MlsIdentity } from "./identity.ts";
import type { AppliedProposals } from "./proposals.ts";
import { commonAncestor, RatchetTree } from "./ratchet_tree.ts";
import { SecretTree } from "./secret_tree.ts";
import { validateTree } from "./tree_validation.ts";
import {
  decodeGroupInfo,
  decodeGroupSecrets,
  decodeMlsMessage,
  encodeGroupInfo,
  encodeGroupInfoTBS,
  encodeGroupSecrets,
  encodeMlsMessage,
  type Extension,
  type GroupInfo,
  type GroupSecrets,
  type Welcome,
} from "./ts_mls.ts";
import { deriveAbove } from "./update_path.ts";

const groupInfoLabel = label("GroupInfoTBS");
const welcomeLabel = label("Welcome");
const [keyLabel, nonceLabel] = [label("key"), label("nonce")];
const nothing = new Uint8Array(0);

export interface WelcomeInput {
  readonly applied: AppliedProposals;
  readonly pathSecrets: ReadonlyMap<number, Uint8Array>;
  readonly identity: MlsIdentity;
  /** The extensions of the GroupInfo, behind the ratchet tree. */
  readonly extensions: readonly Extension[];
}

/**
 * One Welcome for all that a commit added, as an MLSMessage. The ratchet tree travels inside it.
 */
export function* createWelcome(
  { next, joinerSecret, pskSecret }: BegunEpoch,
  { applied, pathSecrets, identity, extensions }: WelcomeInput,
  deps: GroupDeps,
): InterruptibleWork<Uint8Array> {
  const aead = aeadOfEpoch(next);
  const tbs = {
    groupContext: next.context,
    extensions: [
      { extensionType: "ratchet_tree" as const, extensionData: next.tree.encode() },
      ...extensions,
    ],
    confirmationTag: next.confirmationTag,
    signer: next.ownLeaf,
  };
  const signed = signContent(groupInfoLabel, encodeGroupInfoTBS(tbs));
  const groupInfo = { ...tbs, signature: deps.signatures.sign(identity.signingSeed, signed) };
  const { key, nonce } = welcomeKey(aead, welcomeSecret(joinerSecret, pskSecret));
  const encryptedGroupInfo = aead.seal(key, nonce, nothing, encodeGroupInfo(groupInfo));
  const encrypt = createEncryptor(
    aead,
    welcomeLabel,
    encryptedGroupInfo,
    deps.signatures.agreement,
  );
  const groupInfoHash = deps.signatures.longHash(encryptedGroupInfo);
  const secrets: Welcome["secrets"] = [];
  for (const { leafIndex, keyPackage } of applied.added) {
    const pathSecret = pathSecrets.get(commonAncestor(next.ownLeaf, leafIndex));
    const plaintext = encodeGroupSecrets({ joinerSecret, pathSecret, psks: [...applied.pskIds] });
    const inner = encrypt({
      publicKey: keyPackage.initKey,
      plaintext,
      randomness: deps.randomBytes(32),
    });
    const newMember = keyPackageReference(keyPackage);
    const publicKey = sealKeyOf(keyPackage);
    const encryptedGroupSecrets = publicKey === undefined
      ? inner
      : putLayer(inner, { newMember, groupInfoHash, publicKey }, {
        xWing: deps.signatures.xWing,
        randomBytes: deps.randomBytes,
      });
    secrets.push({ newMember, encryptedGroupSecrets });
    yield;
  }
  const welcome = { cipherSuite: suiteNames[next.suiteId], secrets, encryptedGroupInfo };
  return encodeMlsMessage({ version: "mls10", wireformat: "mls_welcome", welcome });
}

/** A Welcome, decoded but not opened. Throws `MlsFault` when the bytes are anything else. */
export function decodeWelcomeMessage(bytes: Uint8Array): Welcome {
  const message = decodeExactly(decodeMlsMessage, bytes, "Welcome");
  if (message.wireformat !== "mls_welcome") {
    throw new MlsFault("Cannot join: the message is not a Welcome");
  }
  return message.welcome;
}

/** Our KeyPackage, ready for one Welcome. */
export interface JoiningKeyPackage extends OwnKeyPackage {
  /** The secret for the layer around our secrets in that Welcome, if it has a layer. */
  readonly layerSecret?: Uint8Array | undefined;
}

/** Opens the lock that takes time. Throws `MlsFault` for a Welcome that cannot be for it. */
export async function readyToJoin(
  welcome: Uint8Array,
  own: OwnKeyPackage,
  { xWing }: Pick<Signatures, "xWing">,
): Promise<JoiningKeyPackage> {
  const { encryptedGroupSecrets } = secretsFor(decodeWelcomeMessage(welcome), own);
  const layerSecret = await layerSecretOf(encryptedGroupSecrets, own.sealSeed, xWing);
  return { ...own, layerSecret };
}

export interface JoinInput {
  readonly welcome: Welcome;
  readonly own: JoiningKeyPackage;
  /** When the Welcome does not carry it. */
  readonly ratchetTree?: Uint8Array;
}

export interface JoinedEpoch {
  readonly epoch: Epoch;
  /** The leaf of who let us in: it signed the GroupInfo. */
  readonly signer: number;
  /** The extensions of the GroupInfo. */
  readonly extensions: readonly Extension[];
}

/** Section 12.4.3.1. Throws `MlsFault`; a Welcome that is refused has changed nothing. */
export function* joinGroup(
  { welcome, own, ratchetTree }: JoinInput,
  deps: GroupDeps,
): InterruptibleWork<JoinedEpoch> {
  const opened = openWelcome(welcome, own, deps);
  const tree = yield* treeOf(opened.groupInfo, ratchetTree);
  yield* checkGroup(opened, tree, deps);
  const { signer, extensions } = opened.groupInfo;
  return { epoch: enter({ ...opened, tree, own }, deps.signatures.agreement), signer, extensions };
}

export interface OpenedWelcome {
  readonly suiteId: SuiteId;
  readonly groupSecrets: GroupSecrets;
  readonly pskSecret: Uint8Array;
  /** Not verified yet: its signer's key is in the tree. */
  readonly groupInfo: GroupInfo;
}

export function openWelcome(
  welcome: Welcome,
  own: JoiningKeyPackage,
  { findPsk, signatures }: Pick<GroupDeps, "findPsk" | "signatures">,
): OpenedWelcome {
  const suiteId = suiteIdOf(welcome.cipherSuite);
  if (suiteId === undefined || welcome.cipherSuite !== own.keyPackage.cipherSuite) {
    throw new MlsFault("Cannot join: the Welcome is for another cipher suite");
  }
  const aead = aeadOf[suiteId];
  const groupSecrets = openGroupSecrets(welcome, own, aead, signatures);
  checkPskIds(groupSecrets.psks);
  const pskSecret = pskSecretOf(groupSecrets.psks, findPsk);
  return {
    suiteId,
    groupSecrets,
    pskSecret,
    groupInfo: openGroupInfo(welcome, groupSecrets, pskSecret, aead),
  };
}

export function signedGroupInfo(groupInfo: GroupInfo, publicKey: Uint8Array): SignedBytes {
  const message = signContent(groupInfoLabel, encodeGroupInfoTBS(groupInfo));
  return { publicKey, message, signature: groupInfo.signature };
}

function openGroupSecrets(
  welcome: Welcome,
  own: JoiningKeyPackage,
  aead: Aead,
  { agreement, longHash }: Signatures,
): GroupSecrets {
  const { encryptedGroupInfo } = welcome;
  const { newMember, encryptedGroupSecrets } = secretsFor(welcome, own);
  const place = { newMember, groupInfoHash: longHash(encryptedGroupInfo) };
  const plaintext = opening(() => {
    const inner = takeLayerOff(encryptedGroupSecrets, place, own.layerSecret);
    const input = { privateKey: own.initPrivateKey, ...inner };
    return decryptWithLabel(aead, welcomeLabel, encryptedGroupInfo, input, agreement);
  });
  return decodeExactly(decodeGroupSecrets, plaintext, "group secrets");
}

function secretsFor(
  { secrets }: Welcome,
  { reference }: Pick<OwnKeyPackage, "reference">,
): Welcome["secrets"][number] {
  const ours = secrets.find(({ newMember }) => equalBytes(newMember, reference));
  if (ours === undefined) throw new MlsFault("Cannot join: the Welcome is not for this KeyPackage");
  return ours;
}

function openGroupInfo(
  welcome: Welcome,
  secrets: GroupSecrets,
  pskSecret: Uint8Array,
  aead: Aead,
): GroupInfo {
  const { key, nonce } = welcomeKey(aead, welcomeSecret(secrets.joinerSecret, pskSecret));
  const plaintext = opening(() => aead.open(key, nonce, nothing, welcome.encryptedGroupInfo));
  return decodeExactly(decodeGroupInfo, plaintext, "GroupInfo");
}

function treeOf(
  groupInfo: GroupInfo,
  given: Uint8Array | undefined,
): InterruptibleWork<RatchetTree> {
  const extension = groupInfo.extensions.find(({ extensionType }) =>
    extensionType === "ratchet_tree"
  );
  const encoded = extension?.extensionData ?? given;
  if (encoded === undefined) throw new MlsFault("Cannot join: the Welcome carries no ratchet tree");
  return RatchetTree.decode(encoded, "ratchet tree");
}

/** The GroupInfo's signature, the tree's hash and shape, every leaf. */
function* checkGroup(
  { suiteId, groupInfo }: OpenedWelcome,
  tree: RatchetTree,
  deps: GroupDeps,
): InterruptibleWork<void> {
  const { groupContext, signer } = groupInfo;
  if (groupContext.version !== "mls10" || suiteIdOf(groupContext.cipherSuite) !== suiteId) {
    throw new MlsFault(
      "Cannot join: the group has another version or cipher suite than the Welcome",
    );
  }
  const signerKey = tree.leaf(signer)?.node.signaturePublicKey;
  if (signerKey === undefined) {
    throw new MlsFault("Cannot join: who made the GroupInfo is not in the group");
  }
  const treeHash = yield* tree.hashInParts();
  if (!equalBytes(treeHash, groupContext.treeHash)) {
    throw new MlsFault("Cannot join: the tree hash does not match");
  }
  yield* validateTree(tree);
  const rules = { suiteId, extensions: groupContext.extensions, policy: deps.policy };
  const signed = [signedGroupInfo(groupInfo, signerKey)];
  for (const [leafIndex, { node, encoded }] of tree.leaves()) {
    checkLeaf(node, rules, encoded.length);
    signed.push(signedLeaf(node, { groupId: groupContext.groupId, leafIndex }));
    yield;
  }
  if (!(yield* verifyInParts(deps.signatures, signed))) {
    throw new MlsFault("Cannot join: the signature of the GroupInfo or of a leaf is wrong");
  }
}

interface EnterInput extends OpenedWelcome {
  readonly tree: RatchetTree;
  readonly own: OwnKeyPackage;
}

function enter(
  { suiteId, groupInfo, groupSecrets, pskSecret, tree, own }: EnterInput,
  agreement: KeyAgreement,
): Epoch {
  const { groupContext: context, signer } = groupInfo;
  const ownLeaf = findOwnLeaf(tree, own);
  const contextBytes = contextBytesOf(context);
  const { secrets, encryption } = startEpoch(groupSecrets.joinerSecret, pskSecret, contextBytes);
  const tag = confirmationTag(secrets.confirmation, context.confirmedTranscriptHash);
  if (!equalBytes(tag, groupInfo.confirmationTag)) {
    throw new MlsFault("Cannot join: the confirmation tag is wrong");
  }
  return {
    suiteId,
    context,
    contextBytes,
    tree,
    ownLeaf,
    leafPrivateKey: own.leafPrivateKey,
    pathKeys: groupSecrets.pathSecret === undefined
      ? new Map()
      : pathKeysAbove(tree, { ownLeaf, signer, secret: groupSecrets.pathSecret }, agreement),
    secrets,
    secretTree: SecretTree.create(aeadOf[suiteId], tree.nodeCount, encryption),
    confirmationTag: tag,
    interimTranscriptHash: interimTranscriptHash(context.confirmedTranscriptHash, tag),
  };
}

/** From the node that we share with the committer up, along its filtered direct path. */
function pathKeysAbove(
  tree: RatchetTree,
  { ownLeaf, signer, secret }: { ownLeaf: number; signer: number; secret: Uint8Array },
  agreement: KeyAgreement,
): Epoch["pathKeys"] {
  const shared = commonAncestor(signer, ownLeaf);
  const steps = tree.filteredDirectPath(signer);
  const first = steps.findIndex(({ node }) => node === shared);
  if (first < 0) throw new MlsFault("Cannot join: the Welcome has a path secret for a blank node");
  const above = steps.slice(first);
  const publicKeys = above.map(({ node }) => tree.parent(node)?.publicKey ?? nothing);
  return deriveAbove(secret, above, publicKeys, agreement).pathKeys;
}

function findOwnLeaf(tree: RatchetTree, { keyPackage }: OwnKeyPackage): number {
  for (const [leafIndex, { node }] of tree.leaves()) {
    if (equalBytes(node.signature, keyPackage.leafNode.signature)) return leafIndex;
  }
  throw new MlsFault("Cannot join: the group's tree does not contain us");
}

function welcomeKey(aead: Aead, secret: Uint8Array): { key: Uint8Array; nonce: Uint8Array } {
  return {
    key: expandWithLabel(secret, keyLabel, nothing, aead.keyBytes),
    nonce: expandWithLabel(secret, nonceLabel, nothing, aead.nonceBytes),
  };
}

function opening<T>(act: () => T): T {
  try {
    return act();
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
    throw new MlsFault("Cannot join: the Welcome cannot be opened with this KeyPackage", { cause });
  }
}
