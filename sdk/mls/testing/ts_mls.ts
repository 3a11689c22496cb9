/**
 * The rest of ts-mls, for tests: its group logic and cryptography as the second judge of ours, and
 * the codecs of vectors.
 */
export {
  type CiphersuiteImpl,
  defaultCryptoProvider,
  emptyPskIndex,
  generateKeyPackageWithKey,
  getCiphersuiteFromName,
  type PrivateKey,
  type PrivateKeyPackage,
  type PublicKey,
} from "ts-mls";
export {
  type AuthenticatedContent,
  decodeAuthenticatedContent,
  encodeAuthenticatedContent,
} from "ts-mls/authenticatedContent.js";
export { defaultClientConfig } from "ts-mls/clientConfig.js";
export { type ClientState, createGroup, joinGroup } from "ts-mls/clientState.js";
export { createCommit } from "ts-mls/createCommit.js";
export { createApplicationMessage, createProposal } from "ts-mls/createMessage.js";
export { refhash } from "ts-mls/crypto/hash.js";
export { decryptWithLabel, encryptWithLabel } from "ts-mls/crypto/hpke.js";
export { deriveSecret, deriveTreeSecret, expandWithLabel } from "ts-mls/crypto/kdf.js";
export { signWithLabel, verifyWithLabel } from "ts-mls/crypto/signature.js";
export { encodeFramedContent } from "ts-mls/framedContent.js";
export { unprotectPublicMessage } from "ts-mls/messageProtectionPublic.js";
export { processPrivateMessage } from "ts-mls/processMessages.js";
export { decodeRatchetTree } from "ts-mls/ratchetTree.js";
export { decodeUpdatePath } from "ts-mls/updatePath.js";
