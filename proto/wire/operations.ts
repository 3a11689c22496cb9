/**
 * Every operation of the relay, its request, reply and notices. From this table come the
 * descriptors of the gRPC service and, for others, `relay.proto`, with the comments of fields, and
 * `docs/protocol_fields.md`. Numbers are frozen, and `testdata/protobuf.json` holds them.
 */
import {
  type AgentId,
  type ChannelId,
  type InviteId,
  type JoinRequestId,
  type MessageId,
  parseAgentId,
  parseChannelName,
} from "../base/ids.ts";
import { limits } from "../base/limits.ts";
import {
  type AnyStruct,
  binaryId,
  bool,
  bytes,
  choice,
  fixedBytes,
  type Infer,
  list,
  nested,
  optional,
  parsedText,
  type SchemaField,
  struct,
  text,
  uint,
} from "../base/schema.ts";

const channelId = binaryId<ChannelId>();
const messageId = binaryId<MessageId>();
const inviteId = binaryId<InviteId>();
const joinRequestId = binaryId<JoinRequestId>();
const agentId: SchemaField<AgentId> = parsedText("agent id", 22, parseAgentId);
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

/**
 * When cover cells go out: never, at random moments beside messages, or one at every tick in place
 * of a message.
 */
export type CoverMode = "off" | "poisson" | "constant";
export const coverModes: readonly CoverMode[] = ["off", "poisson", "constant"];
export const gapReasons = ["age", "size"] as const;
/** Recovered: an owner has begun a new generation of the channel without this agent. */
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
  /** A session without a byte for this long is ended. */
  idleTimeoutMs: [9, uint32],
  /** The longest a join request waits for its answer. */
  joinRequestMs: [10, uint32],
  /** A member absent for this long, or for this many commits, lapses. */
  lapseAgeMs: [11, uint()],
  lapseCommits: [12, uint32],
}, [13]);

const channelSummary = struct({
  channelId: [1, channelId],
  name: [2, channelName],
  epoch: [3, epoch],
  /** Sequence of the last entry in the log. */
  head: [4, sequence],
  members: [5, uint32],
  /** This agent is a member. */
  member: [6, bool()],
  /** This account created the channel and may close it. */
  owned: [7, bool()],
  createdAtMs: [8, timeMs],
  /** Last entry that this agent has acknowledged. */
  consumed: [9, optional(sequence)],
  /** A Welcome waits for this agent. */
  welcomePending: [10, bool()],
});

const member = struct({
  agentId: [1, agentId],
  /** The commit that added it; 0 for the creator. */
  joinedSequence: [2, sequence],
  online: [3, bool()],
  /** Has left or lapsed; waits for a member's commit that removes it. */
  leaving: [4, bool()],
  owner: [5, bool()],
});

const welcomeFor = struct({
  recipients: [1, agentIds],
  welcome: [2, welcome],
});

const ownerList = struct({ agentIds: [1, agentIds] });

/**
 * An owner's word that it begins a new generation; its signature is over the founding statement,
 * `state` included.
 */
const founding = struct({
  /** The new one. */
  generation: [1, generation],
  /** The last epoch that members share, and its confirmed transcript hash. */
  baseEpoch: [2, epoch],
  transcriptHash: [3, digest],
  /** SHA-256 of the commit that ended it, and the agent that sent it. */
  badCommit: [4, digest],
  blamed: [5, agentId],
  /** Of the founder. */
  signatureKey: [6, fixedBytes(32)],
  identity: [7, bytes(limits.identityBytes, 1)],
  /** Those of the base without the blamed and those that it leaves out beside it, ascending. */
  members: [8, agentIds],
  owners: [9, list(agentId, limits.ownersPerChannel)],
  /** The cipher suite's number. */
  suite: [10, uint(0xffff)],
  /** Of the first epoch that the new generation's members share. */
  state: [11, digest],
  signature: [12, signature],
  /** Those that it leaves out beside the blamed, ascending. */
  without: [13, agentIds],
});

/**
 * The fields of the statement that the sender of a commit signed about it, with the key that
 * verifies it.
 */
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

/**
 * The newest message or commit of an agent in its present membership. Number 5 counted blocks of
 * keys.
 */
const sentEntry = struct({
  sequence: [1, sequence],
  epoch: [2, epoch],
  /** The highest counter of its messages; 0 without messages. */
  counter: [3, uint()],
  /** SHA-256 of the entry if it is a commit. */
  commitHash: [4, optional(digest)],
  /**
   * The highest number of a key by which it sealed a message in this epoch; see `MessageAad` in
   * docs/protocol.md.
   */
  keyNumber: [6, optional(uint32)],
}, [5]);

const ownMessage = struct({
  epoch: [1, epoch],
  messageId: [2, messageId],
  ciphertext: [3, ciphertext],
});

/** With what its sender declared and signed. */
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
const confirmation = struct({
  agentId: [1, agentId],
  /** Over the epoch statement, with the key of the member's leaf. */
  signature: [2, signature],
});

/** On the stream, urgent small things and bulk travel in separate lanes; see `cell.ts`. */
export type Lane = "control" | "data";

interface CallOptions {
  readonly lane?: Lane;
  /** May be sent before the session is authenticated. */
  readonly open?: boolean;
  /** May be sent as a notice, which is answered only when it fails. */
  readonly quiet?: boolean;
}

interface CallDefinition<Request extends AnyStruct, Reply extends AnyStruct> {
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
): CallDefinition<Request, Reply> {
  return { number, request, reply, lane, open, quiet };
}

/** Calls of a client, with the relay's replies. Numbers are frozen. */
export const calls = {
  GetChallenge: call(
    1,
    struct({
      /** Versions of this protocol that the client speaks. */
      versions: [1, list(uint32, 16, 1)],
      /**
       * Additions that the client knows, by their numbers; unknown ones are ignored. 3: bundles of
       * messages. 4: `returnWithinMs`.
       */
      features: [2, features],
    }),
    struct({
      version: [1, uint32],
      /** Single use. */
      nonce: [2, digest],
      expiresInMs: [3, uint32],
      relayTimeMs: [4, timeMs],
      cellBytes: [5, uint(limits.maxCellBytes, limits.minCellBytes)],
      /** Those of the client's features that this session has. */
      features: [6, features],
    }),
    { open: true },
  ),
  Authenticate: call(
    2,
    struct({
      /** The JWT from POST /v1/tokens. */
      token: [1, token],
      /** Ed25519. */
      publicKey: [2, fixedBytes(32)],
      identity: [3, bytes(limits.identityBytes, 1)],
      clientNonce: [4, fixedBytes(32)],
      relayNonce: [5, fixedBytes(32)],
      /** As dialled: scheme, host and port. */
      origin: [6, text(limits.originBytes, 1)],
      /** Ed25519 over the authentication statement. */
      signature: [7, signature],
    }),
    struct({
      agentId: [1, agentId],
      expiresAtMs: [2, timeMs],
      relayTimeMs: [3, timeMs],
      /** For the metadata of typed calls; empty inside a cell session. */
      sessionToken: [4, bytes(limits.sessionTokenBytes)],
      /** KeyPackages that the relay holds for this agent. */
      keyPackages: [5, uint32],
      limits: [6, nested(relayLimits)],
      /** The relay holds a KeyPackage of last resort for this agent. */
      hasLastResort: [7, bool()],
      /**
       * If the connection is lost without a word, agents come back at a random moment within this
       * time.
       */
      returnWithinMs: [8, optional(uint32)],
    }),
    { open: true },
  ),
  RenewToken: call(3, struct({ token: [1, token] }), struct({ expiresAtMs: [1, timeMs] })),
  Ping: call(
    4,
    none,
    struct({
      relayTimeMs: [1, timeMs],
      /** As in the reply to Authenticate, for now. */
      returnWithinMs: [2, optional(uint32)],
    }),
    { open: true },
  ),
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
    struct({
      /** As organisation/namespace/service. */
      name: [1, channelName],
      /** The same nonce gets the same answer. */
      nonce: [2, fixedBytes(16)],
    }),
    struct({
      /** The MLS group id. */
      channelId: [1, channelId],
      /** Public parameters only: the relay never holds a group secret. */
      welcome: [2, bytes(limits.creatorWelcomeBytes, 1)],
      duplicate: [3, bool()],
    }),
  ),
  ListChannels: call(
    11,
    struct({ after: [1, optional(channelId)], limit: [2, uint(limits.channelsPerPage, 1)] }),
    struct({
      channels: [1, list(nested(channelSummary), limits.channelsPerPage)],
      more: [2, bool()],
    }),
  ),
  CloseChannel: call(
    12,
    struct({ channelId: [1, channelId] }),
    struct({ closedAtMs: [1, timeMs] }),
  ),
  ListMembers: call(
    13,
    struct({ channelId: [1, channelId] }),
    struct({ epoch: [1, epoch], members: [2, list(nested(member), limits.membersPerChannel)] }),
  ),
  LeaveChannel: call(
    14,
    struct({
      channelId: [1, channelId],
      /** Ed25519 over the leave statement. */
      signature: [3, signature],
      /** SHA-256 of this agent's present LeafNode. */
      leafHash: [4, leafHash],
      /**
       * Where the membership began that this agent leaves. Another one has begun since:
       * `state_conflict`.
       */
      joinedSequence: [5, optional(sequence)],
    }, [2]),
    struct({ sequence: [1, sequence] }),
  ),

  UploadKeyPackage: call(
    20,
    struct({
      /** Each an MLSMessage with a KeyPackage of this agent. */
      keyPackages: [1, list(keyPackage, limits.keyPackagesPerUpload)],
      /** Served, marked as such, when the pool is empty. */
      lastResort: [2, optional(keyPackage)],
      /** Drop what the relay holds first: the private keys of those are gone. */
      replace: [3, bool()],
    }),
    struct({
      /** Single-use KeyPackages that the relay now holds. */
      stored: [1, uint32],
      hasLastResort: [2, bool()],
    }),
    { lane: "data" },
  ),
  AddMember: call(
    21,
    struct({
      channelId: [1, channelId],
      agentId: [2, agentId],
      /** The same nonce gets the same KeyPackage. */
      nonce: [3, fixedBytes(16)],
    }),
    struct({ keyPackage: [1, keyPackage], lastResort: [2, bool()] }),
  ),

  SendMessage: call(
    30,
    struct({
      channelId: [1, channelId],
      epoch: [2, epoch],
      /** The same for every retry. */
      messageId: [3, messageId],
      /** An MLSMessage with a PrivateMessage of content type application. */
      ciphertext: [4, ciphertext],
      /**
       * When one is refused for its account's quota, so are those of the same run that follow: none
       * overtakes it.
       */
      run: [5, optional(uint32)],
    }),
    struct({
      sequence: [1, sequence],
      timeMs: [2, timeMs],
      /** The message had been accepted before; this is the original answer. */
      duplicate: [3, bool()],
    }),
    { lane: "data" },
  ),
  SendCommit: call(
    31,
    struct({
      channelId: [1, channelId],
      /** The epoch in which the commit was made. */
      epoch: [2, epoch],
      /** An MLSMessage with a PrivateMessage of content type commit. */
      commit: [3, commit],
      /** Its effects as its sender declares them; members compare. */
      added: [4, agentIds],
      removed: [5, agentIds],
      welcomes: [6, list(nested(welcomeFor), limits.welcomesPerCommit)],
      /** The owners from the next epoch on, when the commit changes them. */
      owners: [7, optional(nested(ownerList))],
      /** Join and rejoin requests that this commit answers. */
      answers: [8, list(joinRequestId, limits.answersPerCommit)],
      /**
       * Ed25519 over the commit statement: the sender stands for the commit and for the lists
       * above.
       */
      signature: [11, signature],
      /** Of the MLS group, as the epoch tells too. */
      generation: [12, generation],
      /**
       * SHA-256 of confirmed transcript hash and confirmation tag, of the epoch before and after
       * the commit.
       */
      state: [13, digest],
      nextState: [14, digest],
      /**
       * Its maker, when another member puts it back into a log that was set back. No welcomes and
       * answers then.
       */
      author: [16, optional(nested(commitAuthor))],
    }, [9, 10]),
    struct({
      sequence: [1, sequence],
      /** The epoch that the commit began. */
      epoch: [2, epoch],
      /** SHA-256 of the commit's bytes. */
      commitHash: [3, digest],
      timeMs: [4, timeMs],
      duplicate: [5, bool()],
    }),
    { lane: "data" },
  ),
  SendWelcome: call(
    32,
    struct({
      channelId: [1, channelId],
      /** The epoch into which it welcomes. */
      epoch: [2, epoch],
      recipients: [3, agentIds],
      welcome: [4, welcome],
    }),
    struct({ sequence: [1, sequence], duplicate: [2, bool()] }),
    { lane: "data" },
  ),
  FindCommit: call(
    33,
    struct({
      channelId: [1, channelId],
      /** The epoch in which the commit was made. */
      epoch: [2, epoch],
      generation: [3, generation],
    }),
    struct({
      /** The current epoch. */
      epoch: [1, epoch],
      /** Absent when nobody has committed in that epoch. */
      commit: [2, optional(nested(commitRecord))],
    }),
  ),

  /** For a new generation of a channel that nobody can go on in. By owners only. */
  ClaimForFounding: call(
    34,
    struct({
      channelId: [1, channelId],
      /** Members of the channel. */
      agentIds: [2, list(agentId, limits.claimsForFounding, 1)],
      /** The same again gets the same KeyPackages. */
      nonce: [3, fixedBytes(16)],
    }),
    struct({
      /** Members of which the relay holds none are missing. */
      keyPackages: [1, list(nested(claimedKeyPackage), limits.claimsForFounding)],
    }),
  ),
  FoundGeneration: call(
    35,
    struct({
      channelId: [1, channelId],
      founding: [2, nested(founding)],
      proof: [3, nested(commitProof)],
      /** The change of the owners that it makes, encoded. */
      change: [4, bytes(limits.ownersChangeBytes, 1)],
      /** Members that are not in the group yet, ascending. */
      absent: [5, agentIds],
      welcomes: [6, list(nested(welcomeFor), 1)],
    }),
    struct({
      sequence: [1, sequence],
      /** The first epoch that the members share. */
      epoch: [2, epoch],
      timeMs: [3, timeMs],
      duplicate: [4, bool()],
    }),
    { lane: "data" },
  ),

  Subscribe: call(
    40,
    struct({
      channelId: [1, channelId],
      /** Deliver what follows this entry; without it, what follows the last acknowledged one. */
      after: [2, optional(sequence)],
      /** Bytes delivered but not yet received (see Acknowledge) that may be under way. */
      windowBytes: [3, uint(limits.windowBytes, 1)],
      /**
       * Chosen by the client; DeliverStart repeats it before the first entry of this subscription.
       */
      tag: [4, uint32],
      /**
       * The log that `after` is of, as an earlier reply named it; another one is cursor_invalid.
       * Without it, any.
       */
      log: [5, optional(logId)],
    }),
    struct({
      after: [1, sequence],
      head: [2, sequence],
      epoch: [3, epoch],
      consumed: [4, sequence],
      generation: [5, generation],
      /** The commit that added this agent; 0 for the creator. */
      joinedSequence: [6, sequence],
      /**
       * The last of this agent in this membership, also when it was trimmed. Absent when that is
       * nothing, or not known.
       */
      sent: [7, optional(nested(sentEntry))],
      /**
       * The highest position that this agent itself acknowledged; below joined_sequence when none
       * in this membership.
       */
      acknowledged: [8, sequence],
      /**
       * Another one after the relay was put back from a backup: then positions of the one before
       * are void.
       */
      log: [9, optional(logId)],
    }),
  ),
  Unsubscribe: call(41, struct({ channelId: [1, channelId] }), none),
  Acknowledge: call(
    42,
    struct({
      channelId: [1, channelId],
      /** The application is done with everything up to here: never delivered again. */
      consumed: [2, sequence],
      /** The client holds everything up to here: makes room in the window, promises nothing. */
      received: [3, sequence],
    }),
    struct({ consumed: [1, sequence] }),
    { quiet: true },
  ),
  /** The reply has neither, when the entry is not of this agent or the log holds it no more. */
  ReadOwn: call(
    43,
    struct({ channelId: [1, channelId], sequence: [2, sequence] }),
    struct({
      message: [1, optional(nested(ownMessage))],
      commit: [2, optional(nested(ownCommit))],
    }),
    { lane: "data" },
  ),
  /**
   * A member's word about an epoch. As a notice it rides in cells that leave anyway, and is never
   * answered.
   */
  Confirm: call(
    44,
    struct({
      channelId: [1, channelId],
      epoch: [2, epoch],
      /** SHA-256 of the epoch's confirmed transcript hash and confirmation tag. */
      state: [3, digest],
      /** Over the epoch statement, with the key of the member's leaf. */
      signature: [4, signature],
    }),
    none,
    { quiet: true },
  ),

  RegisterInvite: call(
    50,
    struct({
      channelId: [1, channelId],
      /** Derived from the invite's secret. */
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
      /** HMAC-SHA-256 over the join statement under a key derived from the invite's secret. */
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
      /** Ed25519 over the rejoin statement by the old leaf's key. */
      signature: [3, signature],
      /** The asker's epoch: a hint, by which those that it has met answer first. */
      epoch: [4, epoch],
      /** SHA-256 of the asker's present LeafNode. */
      leafHash: [5, leafHash],
      /** The only member that shall answer. */
      answerer: [6, optional(agentId)],
      /** Into which it wants. */
      generation: [7, generation],
    }),
    struct({ requestId: [1, joinRequestId], expiresAtMs: [2, timeMs] }),
  ),
  SendLeaf: call(
    55,
    struct({
      channelId: [1, channelId],
      /** The request to rejoin that this answers. */
      requestId: [2, joinRequestId],
      leafIndex: [3, uint32],
      /** The asker's present LeafNode. */
      leafNode: [4, leafNode],
    }),
    none,
  ),
} as const;

interface NoticeDefinition<Body extends AnyStruct> {
  readonly number: number;
  /** Its field in the `Delivery` of typed sessions. */
  readonly delivery: number;
  readonly body: Body;
  readonly lane: Lane;
}

function notice<Body extends AnyStruct>(
  number: number,
  delivery: number,
  body: Body,
  lane: Lane = "data",
): NoticeDefinition<Body> {
  return { number, delivery, body, lane };
}

/** Notices that the relay sends unasked. Numbers are frozen and apart from those of the calls. */
export const notices = {
  DeliverMessage: notice(
    64,
    1,
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
    2,
    struct({
      channelId: [1, channelId],
      sequence: [2, sequence],
      /** The epoch in which the commit was made. */
      epoch: [3, epoch],
      sender: [4, agentId],
      timeMs: [5, timeMs],
      commit: [6, commit],
      added: [7, agentIds],
      removed: [8, agentIds],
      owners: [9, optional(nested(ownerList))],
      /**
       * The sender's, over the commit statement. Absent in entries from before version 2, as are
       * both states.
       */
      signature: [12, optional(signature)],
      generation: [13, generation],
      state: [14, optional(digest)],
      nextState: [16, optional(digest)],
    }, [10, 11]),
  ),
  DeliverWelcome: notice(
    66,
    3,
    struct({
      channelId: [1, channelId],
      sequence: [2, sequence],
      /** The epoch into which it welcomes. */
      epoch: [3, epoch],
      sender: [4, agentId],
      timeMs: [5, timeMs],
      welcome: [6, welcome],
      name: [7, channelName],
      /** The join or rejoin request that it answers. */
      requestId: [8, optional(joinRequestId)],
      /**
       * The joining commit. Acknowledging it (consumed) acknowledges the Welcome and skips nothing
       * that follows.
       */
      joinedSequence: [9, sequence],
      generation: [10, generation],
      /** Of the epoch into which it welcomes, as the commit declares that carries it. */
      state: [11, optional(digest)],
    }),
  ),
  DeliverLeave: notice(
    67,
    4,
    struct({
      channelId: [1, channelId],
      sequence: [2, sequence],
      epoch: [3, epoch],
      sender: [4, agentId],
      timeMs: [5, timeMs],
      signature: [6, signature],
      /** SHA-256 of the LeafNode that the statement is about. */
      leafHash: [7, leafHash],
    }),
  ),
  /**
   * Application messages that were dropped from the queue before this member had acknowledged them.
   */
  DeliverGap: notice(
    68,
    5,
    struct({
      channelId: [1, channelId],
      firstSequence: [2, sequence],
      lastSequence: [3, sequence],
      messages: [4, uint()],
      reason: [5, choice(gapReasons)],
    }),
  ),
  /** Nothing more of this channel will be delivered to this agent. */
  DeliverChannelEnd: notice(
    69,
    6,
    struct({
      channelId: [1, channelId],
      sequence: [2, sequence],
      timeMs: [3, timeMs],
      reason: [4, choice(channelEndReasons)],
    }),
  ),
  DeliverJoinRequest: notice(
    70,
    7,
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
    8,
    struct({
      channelId: [1, channelId],
      requestId: [2, joinRequestId],
      code: [3, errorCode],
      message: [4, errorText],
    }),
  ),
  DeliverRejoinRequest: notice(
    72,
    9,
    struct({
      channelId: [1, channelId],
      requestId: [2, joinRequestId],
      agentId: [3, agentId],
      keyPackage: [4, keyPackage],
      signature: [5, signature],
      expiresAtMs: [6, timeMs],
      /** The asker's; a hint. */
      epoch: [7, epoch],
      leafHash: [8, leafHash],
      /** The only member that shall answer. */
      answerer: [9, optional(agentId)],
    }),
  ),
  /** A member's answer to a request to rejoin that names an older leaf than the group has. */
  DeliverLeaf: notice(
    78,
    16,
    struct({
      channelId: [1, channelId],
      requestId: [2, joinRequestId],
      sender: [3, agentId],
      leafIndex: [4, uint32],
      /** A LeafNode of RFC 9420 section 7.2. */
      leafNode: [5, leafNode],
    }),
  ),
  /** A member was absent for too long; the relay holds its place no more and it must rejoin. */
  DeliverLapse: notice(
    76,
    10,
    struct({
      channelId: [1, channelId],
      sequence: [2, sequence],
      epoch: [3, epoch],
      agentId: [4, agentId],
      timeMs: [5, timeMs],
    }),
  ),
  /**
   * All that follows in this channel belongs to the subscription of this tag; what came before it
   * does not. In the data lane, so that it stands before the first entry.
   */
  DeliverStart: notice(
    77,
    14,
    struct({ channelId: [1, channelId], tag: [2, uint32], after: [3, sequence] }),
  ),
  DeliverFounding: notice(
    79,
    17,
    struct({
      channelId: [1, channelId],
      sequence: [2, sequence],
      /** The founder's own epoch of the new generation; the next one is common. */
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
  /**
   * Members that confirmed one epoch with one state. Rides in cells that leave anyway; typed
   * sessions get none.
   */
  DeliverConfirmations: notice(
    80,
    18,
    struct({
      channelId: [1, channelId],
      epoch: [2, epoch],
      state: [3, digest],
      confirmations: [4, list(nested(confirmation), limits.confirmationsPerPage, 1)],
    }),
    "control",
  ),
  /**
   * Members that are connected, and of which the relay has no confirmation of this epoch or a later
   * one. Rides likewise.
   */
  DeliverUnconfirmed: notice(
    81,
    19,
    struct({
      channelId: [1, channelId],
      epoch: [2, epoch],
      agentIds: [3, list(agentId, limits.unconfirmedPerPage)],
    }),
    "control",
  ),
  KeyPackagesLow: notice(
    73,
    11,
    struct({ remaining: [1, uint32], wanted: [2, uint32], hasLastResort: [3, bool()] }),
    "control",
  ),
  CoverStopped: notice(
    74,
    12,
    struct({ message: [1, errorText], untilMs: [2, optional(timeMs)] }),
    "control",
  ),
  SessionEnding: notice(
    75,
    13,
    struct({
      code: [1, errorCode],
      message: [2, errorText],
      /** Reconnect after a random part of this time. */
      retryAfterMs: [3, optional(uint())],
    }),
    "control",
  ),
} as const;

/**
 * The body of an error reply. `code` is text on the wire: a newer relay may know codes that we do
 * not.
 */
export const errorBody = struct({
  /** From the list in errors.ts. */
  code: [1, errorCode],
  message: [2, errorText],
  /** With epoch_conflict: the current epoch. */
  epoch: [3, optional(epoch)],
  retryAfterMs: [4, optional(uint())],
});
export type ErrorBody = Infer<typeof errorBody>;

/**
 * Content of the Welcome of CreateChannel: public parameters, since the relay never holds a group
 * secret.
 */
export const creatorWelcome = struct({
  channelId: [1, channelId],
  name: [2, channelName],
  cellBytes: [3, uint32],
  relayTimeMs: [4, timeMs],
  limits: [5, nested(relayLimits)],
});
export type CreatorWelcome = Infer<typeof creatorWelcome>;

/**
 * Bodies that are parts of others, and those outside calls and notices, by their names in
 * `relay.proto`.
 */
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

/** Closed sets of words, by their names in `relay.proto`. */
export const wordSets = {
  CoverMode: coverModes,
  GapReason: gapReasons,
  ChannelEndReason: channelEndReasons,
} as const;

export type CallName = keyof typeof calls;
export type NoticeName = keyof typeof notices;
export type RequestBody<Name extends CallName> = Infer<(typeof calls)[Name]["request"]>;
export type ReplyBody<Name extends CallName> = Infer<(typeof calls)[Name]["reply"]>;
export type NoticeBody<Name extends NoticeName> = Infer<(typeof notices)[Name]["body"]>;

export type RelayLimits = Infer<typeof relayLimits>;
export type GapReason = (typeof gapReasons)[number];
export type ChannelEndReason = (typeof channelEndReasons)[number];
