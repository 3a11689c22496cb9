/**
 * All that we use of ts-mls: types and codecs of RFC 9420. Nothing else of the product imports it,
 * so that another version is a change of this file. Most are in modules behind its surface: any
 * release but a patch may move them.
 */
export type { Capabilities } from "ts-mls/capabilities.js";
export { decodeOptional } from "ts-mls/codec/optional.js";
export type { Decoder } from "ts-mls/codec/tlsDecoder.js";
export { decodeVarLenData } from "ts-mls/codec/variableLength.js";
export { type Commit, decodeCommit, encodeCommit } from "ts-mls/commit.js";
export type { CiphersuiteName } from "ts-mls/crypto/ciphersuite.js";
export { type Extension, extensionTypeToNumber } from "ts-mls/extension.js";
export { decodeGroupContext, encodeGroupContext, type GroupContext } from "ts-mls/groupContext.js";
export {
  decodeGroupInfo,
  encodeGroupInfo,
  encodeGroupInfoTBS,
  type GroupInfo,
} from "ts-mls/groupInfo.js";
export { decodeGroupSecrets, encodeGroupSecrets, type GroupSecrets } from "ts-mls/groupSecrets.js";
export { encodeKeyPackage, encodeKeyPackageTBS, type KeyPackage } from "ts-mls/keyPackage.js";
export {
  decodeLeafNode,
  encodeLeafNode,
  encodeLeafNodeTBS,
  type LeafNode,
  type LeafNodeCommit,
  type LeafNodeKeyPackage,
  type LeafNodeTBS,
  type LeafNodeUpdate,
} from "ts-mls/leafNode.js";
export type { Lifetime } from "ts-mls/lifetime.js";
export { decodeMlsMessage, encodeMlsMessage } from "ts-mls/message.js";
export { encodePskId, encodePskLabel, type PreSharedKeyID } from "ts-mls/presharedkey.js";
export {
  decodeProposal,
  encodeProposal,
  type Proposal,
  type ProposalAdd,
} from "ts-mls/proposal.js";
export { decodeNode, type Node } from "ts-mls/ratchetTree.js";
export type { UpdatePath, UpdatePathNode } from "ts-mls/updatePath.js";
export type { Welcome } from "ts-mls/welcome.js";
