/**
 * The wire contract that API, relay, SDK and proxy share. Pure: no I/O, no clock, no randomness.
 */
export {
  type ApiKeyEnvironment,
  apiKeyLookupLength,
  apiKeyPattern,
  apiKeySecretLength,
  encodeApiKey,
  encodeBase62,
  parseApiKey,
  type ParsedApiKey,
} from "./api/api_key.ts";
export {
  type Admission,
  decodeAdmissions,
  decodeShownAdmissions,
  encodeAdmissions,
  encodeShownAdmissions,
  membershipNameBytes,
  type ShownAdmissions,
  type SignedAdmission,
} from "./statements/admissions.ts";
export { type AddressableMember, type AddresseeMatch, findAddressee } from "./people/addressee.ts";
export {
  accountOf,
  type Badge,
  type BadgeAttribute,
  badgeAttributes,
  badgeAttributeTypes,
  badgeStatement,
  decodeBadge,
  decodeBadges,
  encodeBadge,
  encodeBadges,
  formatBadge,
  isBadgeName,
  mailDomainOf,
  maxBadges,
  maxBadgeSeconds,
  parseBadges,
  type UnsignedBadge,
  verifyBadge,
} from "./people/badge.ts";
export {
  attest,
  type Attestation,
  type Attested,
  type BadgedAgent,
  type BadgeReader,
  badgesToVerify,
  notAttested,
  type ReaderAccount,
  type Recognition,
} from "./people/attestation.ts";
export { decodeBase64url, encodeBase64url } from "./base/base64url.ts";
export {
  type CborMap,
  type CborValue,
  decodeCbor,
  decodeOwnCbor,
  encodeCbor,
} from "./base/cbor.ts";
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
} from "./wire/cell.ts";
export { CellSender, type CellSenderOptions } from "./wire/cell_sender.ts";
export {
  type CommitAad,
  decodeCommitAad,
  emptyCommitAad,
  encodeCommitAad,
  type MemberProof,
} from "./statements/commit_aad.ts";
export {
  carryConfirmation,
  type Confirmation,
  decodeConfirmation,
  encodeConfirmation,
} from "./content/confirmation.ts";
export { type BudgetPeriod, CoverBudget, type CoverBudgetOptions } from "./wire/cover_budget.ts";
export {
  type Content,
  type ContentFields,
  type ContentKind,
  contentTag,
  decodeContent,
  type DecodedContent,
  encodeContent,
  encodeRawPayload,
  type ReceiptWanted,
  replyIdOf,
  replySecretBytes,
} from "./content/content.ts";
export {
  decodeReceipts,
  encodeReceipts,
  mayFollow,
  type Receipt,
  type ReceiptState,
  receiptStates,
} from "./content/receipt.ts";
export {
  type Credentials,
  credentialsPath,
  formatCredentials,
  parseCredentials,
  savedKeyFor,
} from "./api/credentials.ts";
export { decodeCreatorWelcome, encodeCreatorWelcome } from "./wire/creator_welcome.ts";
export { isDomain } from "./base/domain.ts";
export { digitsOf } from "./base/digits.ts";
export { drafts, otherDraftText } from "./base/draft.ts";
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
} from "./wire/envelope.ts";
export {
  fetchDueIssuers,
  type FetchedIssuers,
  fetchIssuerDocument,
  fetchIssuers,
  followIssuers,
  issuerRefreshMs,
  issuerTimeoutMs,
  type IssuerWeb,
} from "./people/fetch_issuer.ts";
export {
  badgeKeyStatement,
  type DocumentKey,
  formatIssuerDocument,
  isKeyName,
  type IssuerDocument,
  issuerDocumentPath,
  type IssuerKey,
  issuerKeyNumber,
  maxIssuerDocumentBytes,
  maxIssuerKeys,
  parseIssuerDocument,
} from "./people/issuer_document.ts";
export { equalBytes } from "./base/equal_bytes.ts";
export {
  type ErrorClass,
  type ErrorCode,
  errorCodeOfClose,
  errorCodes,
  isErrorCode,
  WireError,
} from "./base/errors.ts";
export {
  askForCode,
  askVerification,
  changeAddress,
  changePassword,
  claimAddress,
  confirmAddress,
  deleteAccount,
  type OwnAccount,
  readAccount,
  resetPassword,
  type RevocationCounts,
  rotateApiKey,
  type RotatedKey,
} from "./api/http_account.ts";
export { createBadge, listBadges, type ListedBadge, readServiceIssuer } from "./api/http_badges.ts";
export {
  type ApiKeyOptions,
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
} from "./api/http_api.ts";
export {
  type ApiAccess,
  type ApiOutcome,
  type ApiRefusal,
  type HttpFetch,
  isLoopback,
  isSameApi,
  parseApiUrl,
  readBoundedText,
} from "./api/http_call.ts";
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
} from "./base/ids.ts";
export { formatInviteToken, type Invite, parseInviteToken } from "./people/invite_token.ts";
export {
  formatJoinLink,
  type JoinLink,
  joinPagePath,
  type LinkAuthority,
  looksLikeJoinLink,
  maxLinkRelays,
  parseJoinLink,
} from "./people/join_link.ts";
export { certificateOfPem, certificatesOfPem, pemOfCertificate } from "./base/pem.ts";
export { limits } from "./base/limits.ts";
export { knownFeatures, sessionFeatures } from "./wire/features.ts";
export { countModulus, type LogWord, nothingSaid, seenHashBytes } from "./statements/log_word.ts";
export {
  bundleBytesOf,
  bundledHeadBytes,
  type BundledMessage,
  decodeBundle,
  encodeBundle,
  maxBundleBytes,
  maxBundleCiphertextBytes,
} from "./content/bundle.ts";
export {
  type CounterRange,
  decodeMessageAad,
  encodeMessageAad,
  maxBundledMessages,
  type MessageAad,
  messageAadBytes,
  readMessageWord,
} from "./statements/message_aad.ts";
export {
  badgesExtension,
  bundlesCapability,
  channelExtensions,
  checkChannelExtensions,
  type KeyPackage,
  leafExtensions,
  readKeyPackage,
  receiptsCapability,
  sealKeyExtension,
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
export { isUsablePublicKey, isUsableSealKey, sealKeyBytes } from "./mls/public_key.ts";
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
} from "./wire/operations.ts";
export {
  decodeOwnersChanges,
  decodeOwnersVersion,
  encodeOwnersChange,
  encodeOwnersChanges,
  encodeOwnersVersion,
  type OwnersChange,
  type OwnersVersion,
} from "./statements/owners.ts";
export {
  type ChannelIssuers,
  compareIssuers,
  decodeIssuers,
  encodeIssuers,
  hashOfIssuers,
  type Issuer,
  noIssuers,
  type RequiredAttribute,
  sameIssuers,
} from "./statements/issuers.ts";
export {
  type ChannelPolicy,
  decodePolicy,
  encodePolicy,
  openPolicy,
  type PolicyScope,
  samePolicy,
} from "./statements/policy.ts";
export { RecentMap } from "./base/recent_map.ts";
export { groupByRelay, maxRelayAddresses, relaysOf, someRelays } from "./wire/relay_addresses.ts";
export type { AnyStruct, FieldType, Shape } from "./base/schema.ts";
export {
  agentForModel,
  agentInWords,
  failureInWords,
  ownersInWords,
  type SeenAgent,
} from "./people/shown_agent.ts";
export {
  isClean,
  quoted,
  shown,
  shownJson,
  shownLines,
  type ShownOptions,
  shownSentence,
} from "./base/shown_text.ts";
export { isSocketError } from "./wire/socket_errors.ts";
export { foundingEpoch, generationOf, groupIdOf } from "./statements/generations.ts";
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
  type FoundedGeneration,
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
} from "./statements/statements.ts";
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
} from "./api/token_scopes.ts";
export {
  addName,
  formatTrust,
  nobodyKnown,
  parseTrust,
  type Trust,
  trustPath,
} from "./people/trust.ts";
export {
  believeIssuer,
  followIssuer,
  type TrustedIssuer,
  type TrustedKey,
} from "./people/trusted_issuers.ts";
export { version } from "./base/version.ts";
