/**
 * Settings of the core for the operator, with their defaults. Wire limits above these are ceilings;
 * see `proto/base/limits.ts`.
 */
import { knownFeatures, limits, type RelayLimits } from "../../proto/mod.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export interface CoreConfig {
  /** Origins under which clients may have dialled this relay: scheme, lowercase host and port. */
  readonly origins: readonly string[];
  readonly cellBytes: number;
  /** Limits that clients are told; listeners enforce `idleTimeoutMs` too. */
  readonly limits: RelayLimits;
  /** Sessions have those of them that their clients know. */
  readonly features: readonly number[];
  /** Sessions at once, and those that have not authenticated yet. */
  readonly maxSessions: number;
  readonly maxUnauthenticated: number;
  /**
   * A connection that has not asked for a challenge after this long is closed; then it has the
   * challenge's own time.
   */
  readonly authenticationMs: number;
  /** Authenticated sessions of one account: a quarter of all, unless it is set. */
  readonly sessionsPerAccount: number;
  /** Sessions of one guest pass, so that a guest cannot use up those of the account. */
  readonly sessionsPerGuest: number;
  readonly channelsPerAccount: number;
  /**
   * Commits and Welcomes that one channel may keep on disk, for members that have not taken them.
   */
  readonly logBytesPerChannel: number;
  /**
   * Disk space for all channels of a free account; larger plans have a multiple of it (`plans.ts`).
   */
  readonly storageBytesPerAccount: number;
  /**
   * Commits and Welcomes of a free account in a day that count as no messages; larger plans have a
   * multiple of it.
   */
  readonly handshakesPerDay: number;
  readonly handshakeBytesPerDay: number;
  /**
   * Channels of one account that one agent was added to and has not come into: a Welcome each is
   * pushed when it connects.
   */
  readonly joiningPerAccount: number;
  /**
   * Welcomes that wait for one agent which did not ask for them. Accounts share it evenly, four at
   * least; each has the part that is guaranteed, however many they are.
   */
  readonly welcomeBytesPerAgent: number;
  readonly welcomeBytesGuaranteed: number;
  /** Invites of one channel that are open. */
  readonly invitesPerChannel: number;
  readonly subscriptionsPerSession: number;
  /** Requests of one session under way; above it the session is not read. */
  readonly requestsInFlight: number;
  /** Messages that the visitors of one address may send in a day with one public key. */
  readonly visitorMessagesPerDay: number;
  /**
   * Work that one account may cause at once, by estimate, and what comes back of it in a second;
   * messages are not part of it.
   */
  readonly accountWorkMs: number;
  readonly accountWorkMsPerSecond: number;
  /** Deliveries pause while a link has this much to write, and go on below the low mark. */
  readonly highWaterBytes: number;
  readonly lowWaterBytes: number;
  /** A link above the high mark that has written nothing for this long belongs to a slow reader. */
  readonly slowReaderMs: number;
  /** KeyPackages of one agent that one account may claim per hour. */
  readonly claimsPerTargetAndHour: number;
  /**
   * How many of these claims get a KeyPackage that may be used once. Beyond this number, other
   * accounts get the KeyPackage of last resort; the target's own account does not.
   */
  readonly singleUseClaimsPerTargetAndHour: number;
  /** KeyPackages of all agents that one account may claim per hour. */
  readonly claimsPerAccountAndHour: number;
  readonly joinRequestsPerAgent: number;
  /**
   * Requests that wait in one channel, and for one inviter over all channels: an agent that
   * connects is sent all of them.
   */
  readonly joinRequestsPerChannel: number;
  readonly joinRequestsPerInviter: number;
  /** They are in memory, with a KeyPackage each, and an account may have any number of agents. */
  readonly joinRequestsPerAccount: number;
  readonly joinRequestsInAll: number;
  readonly invitesPerAgentAndHour: number;
  /**
   * KeyPackages are in memory, and an account may have any number of agents: beyond this its oldest
   * pools are emptied.
   */
  readonly keyPackageBytesPerAccount: number;
  /**
   * When all take too much, the account that has most gives way, but none that has no more than
   * this.
   */
  readonly keyPackageBytesGuaranteed: number;
  readonly keyPackageBytesInAll: number;
  /** Below this the owner of a pool is asked for more. */
  readonly keyPackagesWanted: number;
  /**
   * The latest entries of channels are kept in memory, up to 4 MiB of each and this much of all.
   */
  readonly tailBytesInAll: number;
  /** The same for channels that nobody reads now. */
  readonly unreadTailBytesInAll: number;
  /** Channels kept in memory without a session. */
  readonly idleChannels: number;
  /** Ends of sessions during a drain are spread over this. */
  readonly drainMs: number;
}

export const defaultCoreConfig: CoreConfig = {
  origins: [],
  cellBytes: limits.cellBytes,
  limits: {
    payloadBytes: limits.payloadBytes,
    keyPackageBytes: limits.keyPackageBytes,
    commitBytes: limits.commitBytes,
    welcomeBytes: limits.welcomeBytes,
    membersPerChannel: limits.membersPerChannel,
    queueBytesPerChannel: limits.queueBytesPerChannel,
    queueAgeMs: limits.queueAgeMs,
    keyPackagesPerAgent: 100,
    idleTimeoutMs: minuteMs,
    joinRequestMs: limits.joinRequestMs,
    lapseAgeMs: 30 * dayMs,
    lapseCommits: 10_000,
  },
  features: knownFeatures,
  maxSessions: 10_000,
  maxUnauthenticated: 1_000,
  authenticationMs: 15_000,
  sessionsPerAccount: 2_500,
  sessionsPerGuest: 16,
  channelsPerAccount: 10_000,
  logBytesPerChannel: 256 * 1024 * 1024,
  storageBytesPerAccount: 256 * 1024 * 1024,
  handshakesPerDay: 1_000,
  handshakeBytesPerDay: 64 * 1024 * 1024,
  joiningPerAccount: 256,
  welcomeBytesPerAgent: 64 * 1024 * 1024,
  welcomeBytesGuaranteed: 1024 * 1024,
  invitesPerChannel: 1_000,
  subscriptionsPerSession: 1_000,
  requestsInFlight: 64,
  visitorMessagesPerDay: 100,
  accountWorkMs: 10_000,
  accountWorkMsPerSecond: 250,
  highWaterBytes: 256 * 1024,
  lowWaterBytes: 64 * 1024,
  slowReaderMs: 20_000,
  claimsPerTargetAndHour: 120,
  singleUseClaimsPerTargetAndHour: 25,
  claimsPerAccountAndHour: 3_000,
  joinRequestsPerAgent: 20,
  joinRequestsPerChannel: 128,
  joinRequestsPerInviter: 1_024,
  joinRequestsPerAccount: 2_000,
  joinRequestsInAll: 20_000,
  invitesPerAgentAndHour: 1_000,
  keyPackageBytesPerAccount: 64 * 1024 * 1024,
  keyPackageBytesGuaranteed: 1024 * 1024,
  keyPackageBytesInAll: 1024 * 1024 * 1024,
  keyPackagesWanted: 10,
  tailBytesInAll: 256 * 1024 * 1024,
  unreadTailBytesInAll: 8 * 1024 * 1024,
  idleChannels: 1_000,
  drainMs: 3_000,
};
