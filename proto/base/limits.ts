/**
 * Every limit of the wire contract, each with its unit in its name. Decoders check them before they
 * allocate; a relay may be configured below the values marked "ceiling" and tells clients what it
 * uses, never above them.
 */

const KiB = 1024;
const MiB = 1024 * KiB;

export const limits = Object.freeze({
  /** The one size of every unit on a stream unless the relay's first reply says otherwise. */
  cellBytes: 4 * KiB,
  minCellBytes: 1 * KiB,
  maxCellBytes: 16 * KiB,

  /** Plaintext of one application message. Ceiling. */
  payloadBytes: 1 * MiB,
  /** One PrivateMessage: payload, padding up to one cell of the largest size, MLS framing. */
  ciphertextBytes: 1 * MiB + 32 * KiB,
  keyPackageBytes: 16 * KiB,
  commitBytes: 256 * KiB,
  welcomeBytes: 2 * MiB,
  /**
   * A thousand leaves, with the parents above them, stay far below what an agent's store holds in
   * one record.
   */
  leafNodeBytes: 4 * KiB,
  /** Public parameters that CreateChannel returns. */
  creatorWelcomeBytes: 1 * KiB,

  /** One envelope: the largest is a founding of a thousand members, or a commit with its Welcome. */
  envelopeBytes: 2 * MiB + 256 * KiB + 128 * KiB,
  /** One envelope before authentication: a token, two nonces, a signature. */
  handshakeEnvelopeBytes: 16 * KiB,
  /** Nesting of CBOR arrays and maps: envelope, body, list, record, list, and one to spare. */
  cborDepth: 6,
  /**
   * Items of one CBOR value: more than any envelope has (16 Welcomes for 1,000 members), too few to
   * build a bomb of.
   */
  cborItems: 32_768,

  membersPerChannel: 1000,
  welcomesPerCommit: 16,
  keyPackagesPerUpload: 100,
  channelsPerPage: 500,
  answersPerCommit: 1000,
  /**
   * Members that one commit removes because they left; and those that it lets in again because they
   * asked.
   */
  proofsPerCommit: 128,
  ownersPerChannel: 64,
  /**
   * Changes of a channel's owners that its members keep, and that a Welcome carries: more, and a
   * returning member needs an invite.
   */
  ownersChanges: 64,
  /** Issuers whose badges a channel may require, and their bytes in its GroupContext. */
  issuersPerChannel: 16,
  issuersBytes: 1 * KiB,
  /** Everything that a badge says beside its name. */
  badgeAttributesBytes: 128,
  /** One change of the owners: 64 ids, an identity, hashes and a signature. */
  ownersChangeBytes: 2 * KiB,
  /**
   * Admissions by which a member came in, the latest of them: more, and a returning member may need
   * an invite.
   */
  admissions: 16,
  /**
   * KeyPackages that an owner claims at once for a new generation: the largest of them fit one
   * reply.
   */
  claimsForFounding: 100,
  /**
   * Members' confirmations of an epoch that are told at once: with all around them they fit the
   * smallest cell.
   */
  confirmationsPerPage: 10,
  /**
   * Members that are told at once to be connected without having confirmed: these fit the smallest
   * cell too.
   */
  unconfirmedPerPage: 40,
  featuresPerSession: 64,

  identityBytes: 256,
  tokenBytes: 8 * KiB,
  originBytes: 300,
  sessionTokenBytes: 64,
  errorTextBytes: 1 * KiB,
  errorCodeBytes: 64,

  nameComponentBytes: 63,
  /** Three components and two slashes. */
  channelNameBytes: 3 * 63 + 2,
  emailBytes: 254,

  /** Fields of an enveloped payload beside its body; see `content.ts`. */
  contentFieldsBytes: 8 * KiB,
  contentTypeBytes: 127,
  contentAddressees: 64,
  conversationBytes: 128,
  contentHeaders: 32,
  contentHeaderNameBytes: 64,
  contentHeaderValueBytes: 1 * KiB,
  contentErrorBytes: 64,
  /** Channel id (16), epoch (8), state (32), signature (64). */
  contentConfirmationBytes: 120,
  /** Messages that one receipt tells of. */
  contentReceipts: 64,

  queueBytesPerChannel: 64 * MiB,
  queueAgeMs: 7 * 24 * 60 * 60 * 1000,
  /** Unread bytes that a subscription may have in flight. */
  windowBytes: 16 * MiB,

  challengeMs: 30_000,
  joinRequestMs: 10 * 60 * 1000,
  inviteUses: 10_000,
  /** How far a clock may be off before a lifetime is refused. */
  clockSkewMs: 10 * 60 * 1000,
  /** The longest lifetime accepted in a KeyPackage, plus twice the tolerated skew. */
  keyPackageLifetimeMs: 100 * 24 * 60 * 60 * 1000,
  /** Cover traffic: the shortest and longest interval a client may ask for. */
  minCoverIntervalMs: 10,
  maxCoverIntervalMs: 60 * 60 * 1000,
});
