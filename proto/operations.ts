/**
 * Every operation of the relay, its request, reply and notices. `docs/protocol_fields.md` is generated from this table, and a
 * test compares both with `relay.proto` field by field. Long because it is one table, and a reader wants all of it in one place.
 */
import {
  type AgentId,
  type ChannelId,
  type InviteId,
  type JoinRequestId,
  type MessageId,
  parseAgentId,
  parseChannelName,
} from "./ids.ts";
import { limits } from "./limits.ts";
import {
  type AnyStruct,
  binaryId,
  bool,
  bytes,
  choice,
  type Field,
  fixedBytes,
  type Infer,
  list,
  nested,
  optional,
  parsedText,
  struct,
  text,
  uint,
} from "./schema.ts";

const channelId = binaryId<ChannelId>();
const messageId = binaryId<MessageId>();
const inviteId = binaryId<InviteId>();
const joinRequestId = binaryId<JoinRequestId>();
const agentId: Field<AgentId> = parsedText("agent id", 22, parseAgentId);
const agentIds = list(agentId, limits.membersPerChannel);
const channelName = parsedText("channel name", limits.channelNameBytes, parseChannelName);
/** Counts and sizes that are `uint32` in protobuf. */
const uint32 = uint(0xffff_ffff);
const epoch = uint();
/** Of a channel's MLS group; a channel that was recovered has a later one. */
const generation = uint();
/** Position in a channel's log; the first entry is 1, so 0 means "before everything". */
const sequence = uint();
/** Milliseconds since 1970 by the relay's clock. */
const timeMs = uint();
/** Those of `features.ts`; unknown numbers are ignored. */
const features = list(uint32, limits.featuresPerSession);
const token = text(limits.tokenBytes, 1);
const errorCode = text(limits.errorCodeBytes, 1);
const errorText = text(limits.errorTextBytes);
const ciphertext = bytes(limits.ciphertextBytes, 1);
const keyPackage = bytes(limits.keyPackageBytes, 1);
const commit = bytes(limits.commitBytes, 1);
const welcome = bytes(limits.welcomeBytes, 1);
const leafNode = bytes(limits.leafNodeBytes, 1);
const signature = fixedBytes(64);
const digest = fixedBytes(32);
/** SHA-256 of a member's present LeafNode. */
const leafHash = digest;

/** When cover cells go out: never, at random moments beside messages, or one at every tick in place of a message. */
export type CoverMode = "off" | "poisson" | "constant";
export const coverModes: readonly CoverMode[] = ["off", "poisson", "constant"];
export const gapReasons = ["age", "size"] as const;
export const channelEndReasons = ["closed", "removed", "left", "lapsed", "recovered"] as const;

const none = struct({});

/** Limits that a relay is configured with, never above `limits`. */
const relayLimits = struct({
  payloadBytes: [1, uint32],
  keyPackageBytes: [2, uint32],
  commitBytes: [3, uint32],
  welcomeBytes: [4, uint32],
  membersPerChannel: [5, uint32],
  queueBytesPerChannel: [6, uint()],
  queueAgeMs: [7, uint()],
  keyPackagesPerAgent: [8, uint32],
  idleTimeoutMs: [9, uint32],
  joinRequestMs: [10, uint32],
  lapseAgeMs: [11, uint()],
  lapseCommits: [12, uint32],
});

const channelSummary = struct({
  channelId: [1, channelId],
  name: [2, channelName],
  epoch: [3, epoch],
  head: [4, sequence],
  members: [5, uint32],
  member: [6, bool()],
  owned: [7, bool()],
  createdAtMs: [8, timeMs],
  consumed: [9, optional(sequence)],
  welcomePending: [10, bool()],
});

const member = struct({
  agentId: [1, agentId],
  joinedSequence: [2, sequence],
  online: [3, bool()],
  leaving: [4, bool()],
  owner: [5, bool()],
});

const welcomeFor = struct({
  recipients: [1, agentIds],
  welcome: [2, welcome],
});

const ownerList = struct({ agentIds: [1, agentIds] });

/** How an owner begins a new generation; see `foundingStatement`. */
const founding = struct({
  generation: [1, generation],
  baseEpoch: [2, epoch],
  transcriptHash: [3, digest],
  badCommit: [4, digest],
  blamed: [5, agentId],
  signatureKey: [6, fixedBytes(32)],
  identity: [7, bytes(limits.identityBytes, 1)],
  members: [8, agentIds],
  owners: [9, list(agentId, limits.ownersPerChannel)],
  suite: [10, uint(0xffff)],
  state: [11, digest],
  signature: [12, signature],
  without: [13, agentIds],
});

/** The statement that the sender of a commit signed about it, with the key. */
const commitProof = struct({
  signatureKey: [1, fixedBytes(32)],
  identity: [2, bytes(limits.identityBytes, 1)],
  added: [3, agentIds],
  removed: [4, agentIds],
  owners: [5, optional(nested(ownerList))],
  state: [6, digest],
  nextState: [7, digest],
  signature: [8, signature],
});

/** Positions are of one log: a relay that was put back from a backup has another one. */
const logId = fixedBytes(8);

/** The committer, when another member sends the commit. */
const commitAuthor = struct({
  signatureKey: [1, fixedBytes(32)],
  identity: [2, bytes(limits.identityBytes, 1)],
});

const claimedKeyPackage = struct({ agentId: [1, agentId], keyPackage: [2, keyPackage] });

/** The newest message or commit of an agent in its present membership. Number 5 counted blocks of keys. */
const sentEntry = struct({
  sequence: [1, sequence],
  epoch: [2, epoch],
  /** The highest of its messages. */
  counter: [3, uint()],
  commitHash: [4, optional(digest)],
  /** The highest of its messages in this epoch; see `MessageAad`. */
  keyNumber: [6, optional(uint32)],
});

const ownMessage = struct({ epoch: [1, epoch], messageId: [2, messageId], ciphertext: [3, ciphertext] });

const ownCommit = struct({
  epoch: [1, epoch],
  commit: [2, commit],
  added: [3, agentIds],
  removed: [4, agentIds],
  owners: [5, optional(nested(ownerList))],
  signature: [6, signature],
  generation: [7, generation],
  state: [8, digest],
  nextState: [9, digest],
});

const commitRecord = struct({
  sequence: [1, sequence],
  commitHash: [2, digest],
  sender: [3, agentId],
  timeMs: [4, timeMs],
});

/** One member's word about an epoch that its page names; see `epochStatement`. */
const confirmation = struct({ agentId: [1, agentId], signature: [2, signature] });

/** On the stream, urgent small things and bulk travel in separate lanes; see `cell.ts`. */
export type Lane = "control" | "data";

interface CallOptions {
  readonly lane?: Lane;
  /** May be sent before the session is authenticated. */
  readonly open?: boolean;
  /** May be sent as a notice, which is answered only when it fails. */
  readonly quiet?: boolean;
}

interface Call<Request extends AnyStruct, Reply extends AnyStruct> {
  readonly number: number;
  readonly request: Request;
  readonly reply: Reply;
  readonly lane: Lane;
  readonly open: boolean;
  readonly quiet: boolean;
}

function call<Request extends AnyStruct, Reply extends AnyStruct>(
  number: number,
  request: Request,
  reply: Reply,
  { lane = "control", open = false, quiet = false }: CallOptions = {},
): Call<Request, Reply> {
  return { number, request, reply, lane, open, quiet };
}

/** Calls of a client, with the relay's replies. Numbers are frozen. */
export const calls = {
  GetChallenge: call(
    1,
    struct({ versions: [1, list(uint32, 16, 1)], features: [2, features] }),
    struct({
      version: [1, uint32],
      nonce: [2, digest],
      expiresInMs: [3, uint32],
      relayTimeMs: [4, timeMs],
      cellBytes: [5, uint(limits.maxCellBytes, limits.minCellBytes)],
      features: [6, features],
    }),
    { open: true },
  ),
  Authenticate: call(
    2,
    struct({
      token: [1, token],
      publicKey: [2, fixedBytes(32)],
      identity: [3, bytes(limits.identityBytes, 1)],
      clientNonce: [4, fixedBytes(32)],
      relayNonce: [5, fixedBytes(32)],
      origin: [6, text(limits.originBytes, 1)],
      signature: [7, signature],
    }),
    struct({
      agentId: [1, agentId],
      expiresAtMs: [2, timeMs],
      relayTimeMs: [3, timeMs],
      sessionToken: [4, bytes(limits.sessionTokenBytes)],
      keyPackages: [5, uint32],
      limits: [6, nested(relayLimits)],
      hasLastResort: [7, bool()],
    }),
    { open: true },
  ),
  RenewToken: call(3, struct({ token: [1, token] }), struct({ expiresAtMs: [1, timeMs] })),
  Ping: call(4, none, struct({ relayTimeMs: [1, timeMs] }), { open: true }),
  EndSession: call(5, none, none, { open: true, quiet: true }),
  ConfigureCover: call(
    6,
    struct({
      mode: [1, choice(coverModes)],
      intervalMs: [2, uint(limits.maxCoverIntervalMs)],
    }),
    struct({ mode: [1, choice(coverModes)], intervalMs: [2, uint32] }),
    // So that cover begins with the session: what is asked before authentication holds from it on.
    { open: true },
  ),

  CreateChannel: call(
    10,
    struct({ name: [1, channelName], nonce: [2, fixedBytes(16)] }),
    struct({
      channelId: [1, channelId],
      welcome: [2, bytes(limits.creatorWelcomeBytes, 1)],
      duplicate: [3, bool()],
    }),
  ),
  ListChannels: call(
    11,
    struct({ after: [1, optional(channelId)], limit: [2, uint(limits.channelsPerPage, 1)] }),
    struct({ channels: [1, list(nested(channelSummary), limits.channelsPerPage)], more: [2, bool()] }),
  ),
  CloseChannel: call(12, struct({ channelId: [1, channelId] }), struct({ closedAtMs: [1, timeMs] })),
  ListMembers: call(
    13,
    struct({ channelId: [1, channelId] }),
    struct({ epoch: [1, epoch], members: [2, list(nested(member), limits.membersPerChannel)] }),
  ),
  LeaveChannel: call(
    14,
    struct({
      channelId: [1, channelId],
      signature: [3, signature],
      leafHash: [4, leafHash],
      joinedSequence: [5, optional(sequence)],
    }),
    struct({ sequence: [1, sequence] }),
  ),

  UploadKeyPackage: call(
    20,
    struct({
      keyPackages: [1, list(keyPackage, limits.keyPackagesPerUpload)],
      lastResort: [2, optional(keyPackage)],
      replace: [3, bool()],
    }),
    struct({ stored: [1, uint32], hasLastResort: [2, bool()] }),
    { lane: "data" },
  ),
  AddMember: call(
    21,
    struct({ channelId: [1, channelId], agentId: [2, agentId], nonce: [3, fixedBytes(16)] }),
    struct({ keyPackage: [1, keyPackage], lastResort: [2, bool()] }),
  ),

  SendMessage: call(
    30,
    struct({
      channelId: [1, channelId],
      epoch: [2, epoch],
      messageId: [3, messageId],
      ciphertext: [4, ciphertext],
      /** When one is refused for its account's quota, so are those of the same run that follow: none overtakes it. */
      run: [5, optional(uint32)],
    }),
    struct({ sequence: [1, sequence], timeMs: [2, timeMs], duplicate: [3, bool()] }),
    { lane: "data" },
  ),
  SendCommit: call(
    31,
    struct({
      channelId: [1, channelId],
      epoch: [2, epoch],
      commit: [3, commit],
      added: [4, agentIds],
      removed: [5, agentIds],
      welcomes: [6, list(nested(welcomeFor), limits.welcomesPerCommit)],
      owners: [7, optional(nested(ownerList))],
      answers: [8, list(joinRequestId, limits.answersPerCommit)],
      signature: [11, signature],
      generation: [12, generation],
      state: [13, digest],
      nextState: [14, digest],
      author: [16, optional(nested(commitAuthor))],
    }),
    struct({
      sequence: [1, sequence],
      epoch: [2, epoch],
      commitHash: [3, digest],
      timeMs: [4, timeMs],
      duplicate: [5, bool()],
    }),
    { lane: "data" },
  ),
  SendWelcome: call(
    32,
    struct({ channelId: [1, channelId], epoch: [2, epoch], recipients: [3, agentIds], welcome: [4, welcome] }),
    struct({ sequence: [1, sequence], duplicate: [2, bool()] }),
    { lane: "data" },
  ),
  FindCommit: call(
    33,
    struct({ channelId: [1, channelId], epoch: [2, epoch], generation: [3, generation] }),
    struct({ epoch: [1, epoch], commit: [2, optional(nested(commitRecord))] }),
  ),

  ClaimForFounding: call(
    34,
    struct({
      channelId: [1, channelId],
      agentIds: [2, list(agentId, limits.claimsForFounding, 1)],
      nonce: [3, fixedBytes(16)],
    }),
    struct({ keyPackages: [1, list(nested(claimedKeyPackage), limits.claimsForFounding)] }),
  ),
  FoundGeneration: call(
    35,
    struct({
      channelId: [1, channelId],
      founding: [2, nested(founding)],
      proof: [3, nested(commitProof)],
      change: [4, bytes(limits.ownersChangeBytes, 1)],
      absent: [5, agentIds],
      welcomes: [6, list(nested(welcomeFor), 1)],
    }),
    struct({ sequence: [1, sequence], epoch: [2, epoch], timeMs: [3, timeMs], duplicate: [4, bool()] }),
    { lane: "data" },
  ),

  Subscribe: call(
    40,
    struct({
      channelId: [1, channelId],
      after: [2, optional(sequence)],
      windowBytes: [3, uint(limits.windowBytes, 1)],
      tag: [4, uint32],
      log: [5, optional(logId)],
    }),
    struct({
      after: [1, sequence],
      head: [2, sequence],
      epoch: [3, epoch],
      consumed: [4, sequence],
      generation: [5, generation],
      joinedSequence: [6, sequence],
      sent: [7, optional(nested(sentEntry))],
      acknowledged: [8, sequence],
      log: [9, optional(logId)],
    }),
  ),
  Unsubscribe: call(41, struct({ channelId: [1, channelId] }), none),
  Acknowledge: call(
    42,
    struct({ channelId: [1, channelId], consumed: [2, sequence], received: [3, sequence] }),
    struct({ consumed: [1, sequence] }),
    { quiet: true },
  ),
  ReadOwn: call(
    43,
    struct({ channelId: [1, channelId], sequence: [2, sequence] }),
    struct({ message: [1, optional(nested(ownMessage))], commit: [2, optional(nested(ownCommit))] }),
    { lane: "data" },
  ),
  /** As a notice it rides in cells that leave anyway, and is never answered. */
  Confirm: call(
    44,
    struct({ channelId: [1, channelId], epoch: [2, epoch], state: [3, digest], signature: [4, signature] }),
    none,
    { quiet: true },
  ),

  RegisterInvite: call(
    50,
    struct({
      channelId: [1, channelId],
      inviteId: [2, inviteId],
      expiresAtMs: [3, timeMs],
      uses: [4, uint(limits.inviteUses, 1)],
    }),
    struct({ expiresAtMs: [1, timeMs] }),
  ),
  RevokeInvite: call(51, struct({ channelId: [1, channelId], inviteId: [2, inviteId] }), none),
  RequestJoin: call(
    52,
    struct({
      channelId: [1, channelId],
      inviteId: [2, inviteId],
      keyPackage: [3, keyPackage],
      mac: [4, digest],
      ttlMs: [5, uint(limits.joinRequestMs, 1)],
    }),
    struct({ requestId: [1, joinRequestId], expiresAtMs: [2, timeMs], inviterOnline: [3, bool()] }),
  ),
  RejectJoin: call(
    53,
    struct({
      channelId: [1, channelId],
      requestId: [2, joinRequestId],
      code: [3, errorCode],
      message: [4, errorText],
    }),
    none,
  ),
  RequestRejoin: call(
    54,
    struct({
      channelId: [1, channelId],
      keyPackage: [2, keyPackage],
      signature: [3, signature],
      epoch: [4, epoch],
      leafHash: [5, leafHash],
      answerer: [6, optional(agentId)],
      generation: [7, generation],
    }),
    struct({ requestId: [1, joinRequestId], expiresAtMs: [2, timeMs] }),
  ),
  SendLeaf: call(
    55,
    struct({
      channelId: [1, channelId],
      requestId: [2, joinRequestId],
      leafIndex: [3, uint32],
      leafNode: [4, leafNode],
    }),
    none,
  ),
} as const;

interface Notice<Body extends AnyStruct> {
  readonly number: number;
  readonly body: Body;
  readonly lane: Lane;
}

function notice<Body extends AnyStruct>(number: number, body: Body, lane: Lane = "data"): Notice<Body> {
  return { number, body, lane };
}

/** Notices that the relay sends unasked. Numbers are frozen and apart from those of the calls. */
export const notices = {
  DeliverMessage: notice(
    64,
    struct({
      channelId: [1, channelId],
      sequence: [2, sequence],
      epoch: [3, epoch],
      sender: [4, agentId],
      timeMs: [5, timeMs],
      messageId: [6, messageId],
      ciphertext: [7, ciphertext],
    }),
  ),
  DeliverCommit: notice(
    65,
    struct({
      channelId: [1, channelId],
      sequence: [2, sequence],
      epoch: [3, epoch],
      sender: [4, agentId],
      timeMs: [5, timeMs],
      commit: [6, commit],
      added: [7, agentIds],
      removed: [8, agentIds],
      owners: [9, optional(nested(ownerList))],
      signature: [12, optional(signature)],
      generation: [13, generation],
      state: [14, optional(digest)],
      nextState: [16, optional(digest)],
    }),
  ),
  DeliverWelcome: notice(
    66,
    struct({
      channelId: [1, channelId],
      sequence: [2, sequence],
      epoch: [3, epoch],
      sender: [4, agentId],
      timeMs: [5, timeMs],
      welcome: [6, welcome],
      name: [7, channelName],
      requestId: [8, optional(joinRequestId)],
      joinedSequence: [9, sequence],
      generation: [10, generation],
      /** Of the epoch into which it welcomes, as the commit declares that carries it. */
      state: [11, optional(digest)],
    }),
  ),
  DeliverLeave: notice(
    67,
    struct({
      channelId: [1, channelId],
      sequence: [2, sequence],
      epoch: [3, epoch],
      sender: [4, agentId],
      timeMs: [5, timeMs],
      signature: [6, signature],
      leafHash: [7, leafHash],
    }),
  ),
  DeliverGap: notice(
    68,
    struct({
      channelId: [1, channelId],
      firstSequence: [2, sequence],
      lastSequence: [3, sequence],
      messages: [4, uint()],
      reason: [5, choice(gapReasons)],
    }),
  ),
  DeliverChannelEnd: notice(
    69,
    struct({
      channelId: [1, channelId],
      sequence: [2, sequence],
      timeMs: [3, timeMs],
      reason: [4, choice(channelEndReasons)],
    }),
  ),
  DeliverJoinRequest: notice(
    70,
    struct({
      channelId: [1, channelId],
      requestId: [2, joinRequestId],
      inviteId: [3, inviteId],
      agentId: [4, agentId],
      keyPackage: [5, keyPackage],
      mac: [6, digest],
      expiresAtMs: [7, timeMs],
    }),
  ),
  DeliverJoinRejected: notice(
    71,
    struct({
      channelId: [1, channelId],
      requestId: [2, joinRequestId],
      code: [3, errorCode],
      message: [4, errorText],
    }),
  ),
  DeliverRejoinRequest: notice(
    72,
    struct({
      channelId: [1, channelId],
      requestId: [2, joinRequestId],
      agentId: [3, agentId],
      keyPackage: [4, keyPackage],
      signature: [5, signature],
      expiresAtMs: [6, timeMs],
      epoch: [7, epoch],
      leafHash: [8, leafHash],
      answerer: [9, optional(agentId)],
    }),
  ),
  DeliverLeaf: notice(
    78,
    struct({
      channelId: [1, channelId],
      requestId: [2, joinRequestId],
      sender: [3, agentId],
      leafIndex: [4, uint32],
      leafNode: [5, leafNode],
    }),
  ),
  DeliverLapse: notice(
    76,
    struct({
      channelId: [1, channelId],
      sequence: [2, sequence],
      epoch: [3, epoch],
      agentId: [4, agentId],
      timeMs: [5, timeMs],
    }),
  ),
  /** In the data lane, so that it stands before the first entry that a Subscribe of this tag delivers. */
  DeliverStart: notice(77, struct({ channelId: [1, channelId], tag: [2, uint32], after: [3, sequence] })),
  DeliverFounding: notice(
    79,
    struct({
      channelId: [1, channelId],
      sequence: [2, sequence],
      epoch: [3, epoch],
      sender: [4, agentId],
      timeMs: [5, timeMs],
      founding: [6, nested(founding)],
      proof: [7, nested(commitProof)],
      change: [8, bytes(limits.ownersChangeBytes, 1)],
      absent: [9, agentIds],
      welcomes: [10, list(nested(welcomeFor), 1)],
    }),
  ),
  /** Rides in cells that leave anyway: members that confirmed one epoch with one state. */
  DeliverConfirmations: notice(
    80,
    struct({
      channelId: [1, channelId],
      epoch: [2, epoch],
      state: [3, digest],
      confirmations: [4, list(nested(confirmation), limits.confirmationsPerPage, 1)],
    }),
    "control",
  ),
  /** Rides likewise: members that are connected, and of which the relay has no confirmation of this epoch or a later one. */
  DeliverUnconfirmed: notice(
    81,
    struct({
      channelId: [1, channelId],
      epoch: [2, epoch],
      agentIds: [3, list(agentId, limits.unconfirmedPerPage)],
    }),
    "control",
  ),
  KeyPackagesLow: notice(
    73,
    struct({ remaining: [1, uint32], wanted: [2, uint32], hasLastResort: [3, bool()] }),
    "control",
  ),
  CoverStopped: notice(74, struct({ message: [1, errorText], untilMs: [2, optional(timeMs)] }), "control"),
  SessionEnding: notice(
    75,
    struct({ code: [1, errorCode], message: [2, errorText], retryAfterMs: [3, optional(uint())] }),
    "control",
  ),
} as const;

/** The body of an error reply. `code` is text on the wire: a newer relay may know codes that we do not. */
export const errorBody = struct({
  code: [1, errorCode],
  message: [2, errorText],
  epoch: [3, optional(epoch)],
  retryAfterMs: [4, optional(uint())],
});
export type ErrorBody = Infer<typeof errorBody>;

/** Content of the Welcome of CreateChannel: public parameters, since the relay never holds a group secret. */
export const creatorWelcome = struct({
  channelId: [1, channelId],
  name: [2, channelName],
  cellBytes: [3, uint32],
  relayTimeMs: [4, timeMs],
  limits: [5, nested(relayLimits)],
});
export type CreatorWelcome = Infer<typeof creatorWelcome>;

/** Bodies that are parts of others, and those outside calls and notices, by their names in `relay.proto`. */
export const records = {
  RelayLimits: relayLimits,
  ChannelSummary: channelSummary,
  Member: member,
  WelcomeFor: welcomeFor,
  OwnerList: ownerList,
  Founding: founding,
  CommitProof: commitProof,
  CommitAuthor: commitAuthor,
  ClaimedKeyPackage: claimedKeyPackage,
  CommitRecord: commitRecord,
  Confirmation: confirmation,
  SentEntry: sentEntry,
  OwnMessage: ownMessage,
  OwnCommit: ownCommit,
  ErrorDetail: errorBody,
  CreatorWelcome: creatorWelcome,
} as const;

export type CallName = keyof typeof calls;
export type NoticeName = keyof typeof notices;
export type RequestBody<Name extends CallName> = Infer<(typeof calls)[Name]["request"]>;
export type ReplyBody<Name extends CallName> = Infer<(typeof calls)[Name]["reply"]>;
export type NoticeBody<Name extends NoticeName> = Infer<(typeof notices)[Name]["body"]>;

export type RelayLimits = Infer<typeof relayLimits>;
export type GapReason = (typeof gapReasons)[number];
export type ChannelEndReason = (typeof channelEndReasons)[number];
