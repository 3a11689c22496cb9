/** The wire contract that API, relay, SDK and proxy share. Pure: no I/O, no clock, no randomness. */
export {
  type ApiKeyEnvironment,
  apiKeyLookupLength,
  apiKeyPattern,
  apiKeySecretLength,
  encodeApiKey,
  encodeBase62,
  parseApiKey,
  type ParsedApiKey,
} from "./api_key.ts";
export {
  type Admission,
  type Admitted,
  decodeAdmissions,
  decodeShownAdmissions,
  encodeAdmissions,
  encodeShownAdmissions,
  membershipNameBytes,
  type ShownAdmissions,
} from "./admissions.ts";
export { decodeBase64url, encodeBase64url } from "./base64url.ts";
export { type CborMap, type CborValue, decodeCbor, decodeOwnCbor, encodeCbor } from "./cbor.ts";
export {
  type CellCounts,
  cellHeaderBytes,
  CellPacker,
  CellReader,
  type CellReaderLimits,
  checkEnvelopeBytes,
  createCoverCell,
  envelopeCapacity,
  envelopePrefixBytes,
  riderPrefixBytes,
  writeRider,
} from "./cell.ts";
export { CellSender, type CellSenderOptions } from "./cell_sender.ts";
export { type CommitAad, decodeCommitAad, emptyCommitAad, encodeCommitAad, type MemberProof } from "./commit_aad.ts";
export { carryConfirmation, type Confirmation, decodeConfirmation, encodeConfirmation } from "./confirmation.ts";
export { type BudgetPeriod, CoverBudget, type CoverBudgetOptions } from "./cover_budget.ts";
export {
  type Content,
  type ContentFields,
  type ContentKind,
  contentTag,
  decodeContent,
  type DecodedContent,
  encodeContent,
  encodeRawPayload,
  replyIdOf,
  replySecretBytes,
} from "./content.ts";
export { type Credentials, credentialsPath, formatCredentials, parseCredentials, savedKeyFor } from "./credentials.ts";
export { decodeCreatorWelcome, encodeCreatorWelcome } from "./creator_welcome.ts";
export { drafts, otherDraftText } from "./draft.ts";
export {
  type ClientEnvelope,
  decodeClientEnvelope,
  decodeRelayEnvelope,
  encodeClientNotice,
  encodeError,
  encodeNotice,
  encodeReply,
  encodeRequest,
  type ErrorEnvelope,
  maxMessageEnvelopeOverhead,
  type NoticeEnvelope,
  protocolVersion,
  type RelayEnvelope,
  type ReplyEnvelope,
} from "./envelope.ts";
export { equalBytes } from "./equal_bytes.ts";
export { type ErrorClass, type ErrorCode, errorCodeOfClose, errorCodes, isErrorCode, WireError } from "./errors.ts";
export {
  askForCode,
  askVerification,
  changeAddress,
  changePassword,
  claimAddress,
  confirmAddress,
  deleteAccount,
  type Endings,
  type OwnAccount,
  readAccount,
  resetPassword,
  rotateApiKey,
  type RotatedKey,
} from "./http_account.ts";
export {
  type ApiKeyTraits,
  createAccount,
  createApiKey,
  type CreatedAccount,
  type CreatedKey,
  createKeyByPassword,
  createToken,
  type KnownPlace,
  listApiKeys,
  type ListedKey,
  type Login,
  readDiscovery,
  readHealth,
  readTokenClaims,
  readTokenKeys,
  readUsage,
  revokeApiKey,
  type ServiceDiscovery,
  type TokenClaims,
  tokenCovers,
  type Usage,
} from "./http_api.ts";
export {
  type ApiAccess,
  type ApiOutcome,
  type ApiRefusal,
  type HttpFetch,
  isLoopback,
  isSameApi,
  parseApiUrl,
  readBoundedText,
} from "./http_call.ts";
export {
  type AccountId,
  type AgentId,
  agentIdOf,
  type BinaryId,
  binaryIdBytes,
  binaryIdFromBytes,
  binaryIdToBytes,
  type Branded,
  type ChannelId,
  type ChannelName,
  type InviteId,
  isAgentId,
  type JoinRequestId,
  type KeyId,
  type MessageId,
  parseAccountId,
  parseAgentId,
  parseBinaryId,
  parseChannelId,
  parseChannelName,
  parseKeyId,
} from "./ids.ts";
export { formatInviteToken, type Invite, parseInviteToken } from "./invite_token.ts";
export {
  formatJoinLink,
  type JoinLink,
  joinPagePath,
  type LinkAuthority,
  looksLikeJoinLink,
  maxLinkRelays,
  parseJoinLink,
} from "./join_link.ts";
export { certificateOfPem, certificatesOfPem, pemOfCertificate } from "./pem.ts";
export { limits } from "./limits.ts";
export { knownFeatures, sessionFeatures } from "./features.ts";
export { countModulus, type LogWord, nothingSaid, seenHashBytes } from "./log_word.ts";
export {
  bundleBytesOf,
  bundledHeadBytes,
  type BundledMessage,
  decodeBundle,
  encodeBundle,
  maxBundleBytes,
  maxBundleCiphertextBytes,
} from "./bundle.ts";
export {
  type CounterRange,
  decodeMessageAad,
  encodeMessageAad,
  maxBundledMessages,
  type MessageAad,
  messageAadBytes,
  readMessageWord,
} from "./message_aad.ts";
export {
  bundlesCapability,
  channelExtensions,
  checkChannelExtensions,
  type KeyPackage,
  leafExtensions,
  readKeyPackage,
  supportedCipherSuites,
  type UnverifiedKeyPackage,
  verifyKeyPackage,
  type VerifySignature,
} from "./mls/key_package.ts";
export {
  type ContentType,
  type PrivateMessageHeader,
  readPrivateMessageHeader,
  readWelcomeHeader,
  type WelcomeHeader,
} from "./mls/message.ts";
export { isUsablePublicKey } from "./mls/public_key.ts";
export { encodeVectorLength, MlsReader } from "./mls/reader.ts";
export {
  type CallName,
  calls,
  type ChannelEndReason,
  type CoverMode,
  type CreatorWelcome,
  type ErrorBody,
  type GapReason,
  type Lane,
  type NoticeBody,
  type NoticeName,
  notices,
  records,
  type RelayLimits,
  type ReplyBody,
  type RequestBody,
} from "./operations.ts";
export {
  decodeOwnersChanges,
  decodeOwnersVersion,
  encodeOwnersChange,
  encodeOwnersChanges,
  encodeOwnersVersion,
  type OwnersChange,
  type OwnersVersion,
} from "./owners.ts";
export { type ChannelPolicy, decodePolicy, encodePolicy, openPolicy, type PolicyScope, samePolicy } from "./policy.ts";
export { RecentMap } from "./recent_map.ts";
export { groupByRelay, maxRelayAddresses, relaysOf, someRelays } from "./relay_addresses.ts";
export type { AnyStruct, FieldType, Shape } from "./schema.ts";
export { agentForModel, agentInWords, failureInWords, ownersInWords, type SeenAgent } from "./shown_agent.ts";
export { isClean, quoted, shown, shownJson, shownLines, type ShownOptions, shownSentence } from "./shown_text.ts";
export { isSocketError } from "./socket_errors.ts";
export { foundingEpoch, generationOf, groupIdOf } from "./generations.ts";
export {
  type AdmissionStatement,
  admissionStatement,
  type AuthenticationStatement,
  authenticationStatement,
  type CommitStatement,
  commitStatement,
  epochState,
  type EpochStatement,
  epochStatement,
  type Founded,
  foundingHash,
  type FoundingStatement,
  foundingStatement,
  inviteIdOf,
  joinMac,
  type JoinStatement,
  type LeaveStatement,
  leaveStatement,
  type OwnersStatement,
  ownersStatement,
  type RejoinStatement,
  rejoinStatement,
} from "./statements.ts";
export {
  type ChannelRight,
  channelRights,
  type ChannelScope,
  coversPattern,
  formatTokenGrant,
  isChannelPattern,
  maxTokenScopes,
  narrowTokenHeader,
  parseTokenGrant,
  rightsIn,
  type TokenGrant,
} from "./token_scopes.ts";
export { addName, formatTrust, nobodyKnown, parseTrust, type Trust, trustPath } from "./trust.ts";
export { version } from "./version.ts";
