/** The relay's rows of the table of limits (`docs/capacity.md`), as a configuration sets them. */
import { limits as wire } from "../proto/mod.ts";
import { defaultBudgets } from "../server/http2/mod.ts";
import {
  type Limit,
  type Limits,
  type Rate,
  tellBytes,
  tellCount,
  tellMs,
  tellPart,
  tellRate,
  tellTime,
} from "../server/limits/mod.ts";
import type { RelayConfig } from "./config.ts";
import { mostAtOnce, sharedAtOnce } from "./core/limits/append_gate.ts";
import type { CoreConfig } from "./core/config.ts";
import { bytesInAll, bytesPerAccount } from "./core/limits/confirmation_budget.ts";
import { pauseMs as confirmationMs } from "./core/channel/confirmations.ts";
import { sharedTurnCost, turnCost } from "./core/limits/fair_turns.ts";
import { readersAtOnce } from "./core/channel/fan_out.ts";
import { joinMinimumMs } from "./core/limits/join_places.ts";
import { allowanceOf, type PlanName, plans, rankOf, storageBytesOf } from "./core/limits/plans.ts";
import { CoreRates } from "./core/limits/rates.ts";
import { costOf, defaultCost, keyPackageCost, unaskedCost } from "./core/limits/request_cost.ts";
import { shareOfOthers } from "./core/requests/append.ts";
import { bytesPerMessage, reserve } from "./core/requests/handshake_payment.ts";
import { longestInviteMs } from "./core/requests/invite_requests.ts";
import { leastAccounts } from "./core/requests/unsolicited_welcomes.ts";
import { idleMs, minimumMs as sessionMs, reservedShare } from "./core/session/session_places.ts";
import { keyPart, visitorPart, visitorsPart } from "./core/limits/shares.ts";
import { reserveBytes, smallDiskPart } from "./core/limits/storage_watch.ts";
import { slowPauseMs } from "./core/limits/limits.ts";
import { newSocketBudgets, strangerBudgets } from "./edge.ts";
import { defaultQuicLimits } from "./listeners/quic.ts";

const secondMs = 1_000;
const hourMs = 3_600 * secondMs;
const changeHands = "places change hands, see below";

export function relayLimits(config: RelayConfig): Limits {
  const core: CoreConfig = { ...config.core, origins: [] };
  const rates = new CoreRates(core);
  return {
    "plans and sizes": sizes(core),
    storage: [...storage(core, rates), disk(config)],
    sessions: [...sessions(core), ...strangers(config)],
    "requests to join": joins(core, rates),
    "KeyPackages and Welcomes": keyPackages(core, rates),
    work: work(core),
  };
}

function sizes({ limits, visitorMessagesPerDay, channelsPerAccount }: CoreConfig): Limit[] {
  const tooLarge = "`payload_too_large`";
  const queue = `${tellBytes(limits.queueBytesPerChannel)} and ${tellTime(limits.queueAgeMs)}`;
  const absence = `${tellTime(limits.lapseAgeMs)} or ${tellCount(limits.lapseCommits)} commits`;
  const visitor = `${tellCount(visitorMessagesPerDay)} with one publishable key, at each relay`;
  const name = `three parts of 1 to ${wire.nameComponentBytes} characters`;
  const gap = "the oldest messages give way to a gap";
  return [
    [
      "messages in a day",
      visitor,
      "visitor",
      "`quota_exceeded` until some come back",
      "STATIC_RELAY_VISITOR_MESSAGES",
    ],
    ["payload of a message", tellBytes(limits.payloadBytes), "message", tooLarge],
    ["commit", tellBytes(limits.commitBytes), "message", tooLarge],
    ["Welcome", tellBytes(limits.welcomeBytes), "message", tooLarge],
    ["KeyPackage", tellBytes(limits.keyPackageBytes), "message", tooLarge],
    ["members", tellCount(limits.membersPerChannel), "channel", "`member_limit_reached`"],
    ["owners", tellCount(wire.ownersPerChannel), "channel", "`invalid_request`"],
    ["queue", queue, "channel", gap, "STATIC_RELAY_QUEUE_SECONDS"],
    ["absence", absence, "member", "`membership_lapsed` until it rejoins"],
    ["name", name, "channel", "`channel_error`"],
    ["identity", `1 to ${tellBytes(wire.identityBytes)}`, "agent", "`invalid_request`"],
    ["uses", tellCount(wire.inviteUses), "invite", "`invalid_request`"],
    ["life", tellTime(longestInviteMs), "invite", "it ends"],
    ["channels", tellCount(channelsPerAccount), "account", "`rate_limited`"],
  ];
}

function storage(core: CoreConfig, { foundings }: CoreRates): Limit[] {
  const stored = ofPlans((plan) => tellBytes(storageBytesOf(core, plan)));
  const counts = ofPlans((plan) => tellCount(allowanceOf(core, plan).count));
  const bytes = ofPlans((plan) => tellBytes(allowanceOf(core, plan).bytes));
  const charged = `each ${
    tellBytes(bytesPerMessage)
  } begun is a message, and \`quota_exceeded\` without one`;
  const others = `${tellPart(shareOfOthers)} of the storage`;
  const like = "like other commits";
  return [
    [
      "storage of its channels",
      stored,
      "account",
      "room is made, see below; meanwhile `storage_full`",
      "STATIC_RELAY_ACCOUNT_BYTES",
    ],
    ["commits and Welcomes of other accounts", others, "channel", "`queue_full` for them"],
    [
      "commits and Welcomes that it keeps",
      tellBytes(core.logBytesPerChannel),
      "channel",
      "`queue_full`",
    ],
    ["open invites", tellCount(core.invitesPerChannel), "channel", "`rate_limited`"],
    ["commits and Welcomes in a day", counts, "account", charged],
    ["bytes of them", bytes, "account", charged, "STATIC_RELAY_HANDSHAKE_BYTES"],
    [
      "removals and foundings that are never refused",
      `${tellBytes(reserve.bytes)} in a day`,
      "account",
      like,
    ],
    ["the same", `${tellBytes(reserve.bytes)} in a day`, "channel", like],
    ["foundings of a channel", atOnce(foundings.rate), "agent", "`rate_limited`"],
  ];
}

function disk({ diskBytes }: RelayConfig): Limit {
  const size = diskBytes === undefined ? "all" : tellBytes(diskBytes);
  const free = `${size} but ${tellBytes(reserveBytes)}, or but ${
    tellPart(smallDiskPart)
  } if that is less`;
  return ["the disk", free, "relay", "`storage_full`, in steps", "STATIC_RELAY_DISK_BYTES"];
}

function sessions(core: CoreConfig): Limit[] {
  const { maxSessions, sessionsPerAccount } = core;
  const account = `${tellPart(sessionsPerAccount / maxSessions)} of all`;
  const weights = ofPlans((plan) => tellCount(rankOf(plan).weight));
  const reserved = `the last ${tellPart(reservedShare).replace(/^a /, "")} of all`;
  const visitors = `${tellPart(visitorsPart)} as many as the account's, beside them`;
  return [
    ["sessions", tellCount(maxSessions), "relay", changeHands, "STATIC_RELAY_SESSIONS"],
    [
      "sessions",
      account,
      "account",
      "an idle one of it goes, else `rate_limited`",
      "STATIC_RELAY_SESSIONS_PER_ACCOUNT",
    ],
    ["sessions", `${tellPart(keyPart)} of the account's`, "key", "`rate_limited`"],
    ["sessions", tellCount(core.sessionsPerGuest), "guest pass", "`rate_limited`"],
    ["sessions of all visitors", visitors, "account", changeHands],
    ["sessions for members of channels only", reserved, "relay", "others change places, or wait"],
    [
      "time without a call until one without a subscription is idle",
      tellTime(idleMs),
      "session",
      "it goes first",
    ],
    ["safe time of an only session", tellTime(sessionMs), "account", changeHands],
    ["parts in which places are shared", weights, "account", changeHands],
    ["subscriptions", tellCount(core.subscriptionsPerSession), "session", "`rate_limited`"],
    ["requests under way", tellCount(core.requestsInFlight), "session", "it is not read"],
  ];
}

function strangers({ core, ...config }: RelayConfig): Limit[] {
  const sockets = newSocketBudgets(config.newSocketsPerAddress).socketsPerAddress;
  const calls = strangerBudgets(config.callsPerAddress).strangerCalls;
  const connections = tellCount(config.socketsPerAddress ?? defaultBudgets.connectionsPerAddress);
  const { handshakes, handshakeMs } = defaultQuicLimits;
  const closed = "closed before TLS";
  const login = `${tellCount(core.maxUnauthenticated)} on each port, ${
    tellTime(core.authenticationMs)
  } each`;
  const gives = "the address with most gives one up, or `overloaded`";
  return [
    ["connections without a session", login, "relay", gives, "STATIC_RELAY_SESSIONS"],
    [
      "TCP connections without a session",
      connections,
      "address",
      closed,
      "STATIC_RELAY_SOCKETS_PER_ADDRESS",
    ],
    [
      "new TCP connections",
      atOnce(sockets),
      "address",
      closed,
      "STATIC_RELAY_NEW_SOCKETS_PER_ADDRESS",
    ],
    [
      "calls without a session",
      atOnce(calls),
      "address",
      "status 429",
      "STATIC_RELAY_CALLS_PER_ADDRESS",
    ],
    [
      "handshakes of QUIC",
      `${tellCount(handshakes)}, ${tellTime(handshakeMs)} each`,
      "relay",
      "no answer; agents use TCP",
    ],
  ];
}

function joins(core: CoreConfig, { rejoins, invites, leavesAgain }: CoreRates): Limit[] {
  const limited = "`rate_limited`";
  return [
    ["requests that wait", tellCount(core.joinRequestsPerAgent), "agent", limited],
    ["requests that wait", tellCount(core.joinRequestsPerAccount), "account", limited],
    ["requests that wait", tellCount(core.joinRequestsPerAccount), "visitor", limited],
    ["requests to join that wait", tellCount(core.joinRequestsPerChannel), "channel", changeHands],
    [
      "requests of members to come back that wait",
      tellCount(core.joinRequestsPerChannel),
      "channel",
      changeHands,
    ],
    [
      "requests to one inviter that wait",
      tellCount(core.joinRequestsPerInviter),
      "agent",
      changeHands,
    ],
    ["requests that wait", tellCount(core.joinRequestsInAll), "relay", changeHands],
    ["time that a request waits", tellTime(core.limits.joinRequestMs), "request", "it ends"],
    ["safe time of a request", tellTime(joinMinimumMs), "account", changeHands],
    ["requests of a member to come back", inAnHour(rejoins.rate), "member", limited],
    ["new invites", inAnHour(invites.rate), "agent", limited],
    ["statements that it has left", inAnHour(leavesAgain.rate), "member", limited],
  ];
}

function keyPackages(core: CoreConfig, rates: CoreRates): Limit[] {
  const { targetClaims, singleUseClaims, firstClaims } = rates;
  const single = `${inAnHour(singleUseClaims.rate)}; the first are ${
    atOnce(firstClaims.rate)
  }, others end at half of the pool`;
  const lastResort = "the KeyPackage of last resort; without one `rate_limited`";
  const evenly =
    `${
      tellBytes(core.welcomeBytesPerAgent / leastAccounts)
    }; with more than ${leastAccounts} accounts an even part of ` +
    `${tellBytes(core.welcomeBytesPerAgent)}, ${tellBytes(core.welcomeBytesGuaranteed)} at least`;
  const most = `the account with most gives way; one with ${
    tellBytes(core.keyPackageBytesGuaranteed)
  } or less loses nothing`;
  return [
    ["KeyPackages", tellCount(core.limits.keyPackagesPerAgent), "agent", "not taken"],
    ["single-use KeyPackages of an agent that it claims", single, "account", lastResort],
    [
      "KeyPackages of an agent that it claims",
      inAnHour(targetClaims.rate),
      "account",
      "`rate_limited`",
    ],
    [
      "KeyPackages that it claims",
      `${tellCount(core.claimsPerAccountAndHour)} in an hour`,
      "account",
      "`rate_limited`",
    ],
    [
      "memory for pools",
      tellBytes(core.keyPackageBytesPerAccount),
      "account",
      "its longest untouched pools are emptied",
    ],
    ["memory for pools", tellBytes(core.keyPackageBytesInAll), "relay", most],
    [
      "channels that an agent was added to and is not in",
      tellCount(core.joiningPerAccount),
      "account",
      "`queue_full`",
    ],
    ["Welcomes that wait for an agent", evenly, "account", "`queue_full`"],
  ];
}

function work({ accountWorkMs, accountWorkMsPerSecond }: CoreConfig): Limit[] {
  const told = [
    ["login", costOf("Authenticate")],
    ["join request", costOf("RequestJoin")],
    ["KeyPackage", keyPackageCost],
    ["agent that a commit adds", unaskedCost],
    ["most others", defaultCost],
  ] as const;
  const limited = "`rate_limited`, with the time to wait";
  const [atOnce, again] = [
    `${tellTime(accountWorkMs)} of one core`,
    `${tellMs(accountWorkMsPerSecond)} in a second`,
  ];
  const ofAccount = (part: number): string => `${tellPart(part)} of both`;
  const costs = told.map(([name, cost]) => `${name} ${tellMs(cost / 1_000)}`).join("; ");
  const turn = `${tellMs(turnCost / 1_000)}; ${
    tellMs(sharedTurnCost / 1_000)
  } while several accounts ask`;
  const engine = `${mostAtOnce}; ${sharedAtOnce} of all accounts that have some, if several have`;
  const quiet =
    "those of channels that were quiet for longest are forgotten; members send them again";
  return [
    ["estimate of a call", costs, "request", "it counts as work"],
    ["work at once", atOnce, "account", limited, "STATIC_RELAY_ACCOUNT_WORK_MS"],
    ["work that comes back", again, "account", limited, "STATIC_RELAY_ACCOUNT_WORK_MS"],
    ["work", ofAccount(keyPart), "key", limited],
    ["work of all visitors", `${tellPart(visitorsPart)} as much, beside it`, "account", limited],
    ["work", `${tellPart(visitorPart / visitorsPart)} of all visitors'`, "visitor", limited],
    [
      "work that one turn of the event loop begins",
      turn,
      "relay",
      "it waits; accounts are served in rounds",
    ],
    [
      "readers that are told of a message in one turn",
      `${readersAtOnce} at least`,
      "channel",
      "others are told later",
    ],
    [
      "slow parts of requests",
      `one at a time, with pauses of ${tellMs(slowPauseMs)}`,
      "relay",
      "it waits, in rounds",
    ],
    ["entries in the engine", engine, "account", "it waits"],
    ["memory for confirmations", tellBytes(bytesPerAccount), "account", quiet],
    ["memory for confirmations", tellBytes(bytesInAll), "relay", quiet],
    [
      "new confirmations",
      `one in ${tellTime(confirmationMs)}`,
      "member",
      "not taken, without a reply",
    ],
  ];
}

function ofPlans(tell: (plan: PlanName) => string): string {
  return plans.map((plan) => `${plan} ${tell(plan)}`).join("; ");
}

/** A ceiling of an hour: half of it may come at once, and half comes back. */
function inAnHour({ burst, perSecond }: Rate): string {
  return tellRate(burst + perSecond * hourMs / secondMs, hourMs);
}

/** So much at once, and one more at a time. */
function atOnce({ burst, perSecond }: Rate): string {
  const again = perSecond >= 1
    ? `${tellCount(perSecond)} more in a second`
    : `one more in ${tellTime(secondMs / perSecond)}`;
  return `${tellCount(burst)} at once, and ${again}`;
}
