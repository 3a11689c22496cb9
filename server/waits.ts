/**
 * Every wait of API, relay and `start` for something outside their process: how long it may last,
 * and what is seen then. The code has its numbers from here, and `tools/tidy.ts` (rule `wait`)
 * refuses calls that could wait for ever, and limits that stand elsewhere. Waits for clients at a
 * port are in tables of their own: `http2/budgets.ts`, `relay/listeners/quic_options.ts`,
 * `api/listeners/`.
 */

export interface Wait {
  readonly on:
    | "NATS"
    | "another relay"
    | "the API"
    | "the database"
    | "the disk"
    | "a worker"
    | "mail"
    | "the log's reader"
    | "a part on this machine"
    | "a client";
  readonly ms: number;
  /** The end of the wait, as somebody sees it. */
  readonly then: string;
}

export const waits = {
  nodeConnection: { on: "NATS", ms: 5_000, then: "the next node is tried" },
  nodeAnswer: { on: "NATS", ms: 2_000, then: "the question is asked again" },
  nodePing: {
    on: "NATS",
    ms: 5_000,
    then: "after the second ping without an answer the node is left",
  },
  nodeHealth: { on: "NATS", ms: 10_000, then: "start asks the node again" },
  nodeUp: { on: "NATS", ms: 60_000, then: "start ends a node that never answered, and says so" },
  copyPart: { on: "NATS", ms: 10_000, then: "log_not_shortened in the log, and another try" },
  nodeElection: {
    on: "NATS",
    ms: 30_000,
    then: "the relay does not start, and says which question had no answer",
  },
  logStart: {
    on: "NATS",
    ms: 60_000,
    then: "a relay that begins and reads no more of the log ends, and says where",
  },
  liveStart: { on: "NATS", ms: 90_000, then: "the relay does not start" },
  logCatchUp: { on: "NATS", ms: 2_000, then: "the writer sends again before it has read" },
  logResend: { on: "NATS", ms: 2_000, then: "the entry is sent again" },
  logClient: {
    on: "NATS",
    ms: 3_000,
    then: "a new client takes the place of the old one; node_left in the log",
  },
  logReady: { on: "NATS", ms: 10_000, then: "/ready is 503, /health says why, problem in the log" },
  logLost: { on: "NATS", ms: 15_000, then: "the relay ends: the nodes have lost an entry" },
  logVerdict: { on: "NATS", ms: 30_000, then: "the caller is told that nobody knows" },
  logAway: {
    on: "NATS",
    ms: 30_000,
    then: "agents are sent to other relays; log_silent in the log",
  },
  logEnd: {
    on: "NATS",
    ms: 30_000,
    then:
      "if another connection can use the log, the relay ends: log_deaf in the log; else it stays and says why",
  },
  /** So that relays do not end at the same moment: each adds a random part of it. */
  logEndSpread: { on: "NATS", ms: 10_000, then: "the relay ends" },
  logClose: { on: "NATS", ms: 10_000, then: "what has no verdict is left to its callers" },
  stateOffer: { on: "another relay", ms: 1_500, then: "the others are asked again" },
  statePart: {
    on: "another relay",
    ms: 20_000,
    then: "the answer is broken; the others are asked again",
  },
  stateAll: {
    on: "another relay",
    ms: 15_000,
    then: "all relays begin anew with nothing in memory",
  },
  relaySilent: {
    on: "another relay",
    ms: 30_000,
    then: "it is given up: relay_given_up in the log",
  },
  apiAnswer: { on: "the API", ms: 3_000, then: "the relay goes on with what it knows" },
  apiChanges: {
    on: "the API",
    ms: 6_500,
    then: "accounts_not_followed in the log, and another try",
  },
  apiReady: {
    on: "the API",
    ms: 60_000,
    then: "/health says so; /ready is 503 until the first answer",
  },
  leasesReturned: {
    on: "the API",
    ms: 3_000,
    then: "leases_not_returned in the log; the next start settles them",
  },
  diskConfirmation: {
    on: "the disk",
    ms: 10_000,
    then: "/ready is 503, /health says why, problem in the log",
  },
  agentsGone: {
    on: "a client",
    ms: 3_000,
    then: "drain_incomplete or close_incomplete in the log",
  },
  request: { on: "a client", ms: 30_000, then: "the request is refused" },
  requestsDone: { on: "a client", ms: 10_000, then: "requests under way are cut off at the stop" },
  scrape: { on: "a client", ms: 1_000, then: "a scrape under way is cut off at the stop" },
  database: { on: "the database", ms: 1_500, then: "503 within two seconds" },
  /** It cannot be away, only busy: it does one thing at a time. */
  embeddedDatabase: { on: "the database", ms: 10_000, then: "503" },
  /** Between two statements. Others wait for it. */
  transaction: { on: "the database", ms: 3_000, then: "the database ends it" },
  databaseClose: { on: "the database", ms: 2_000, then: "connections are cut off at the stop" },
  embeddedStart: { on: "a worker", ms: 120_000, then: "the API does not start, and says why" },
  embeddedStop: { on: "a worker", ms: 10_000, then: "the worker is ended" },
  hash: {
    on: "a worker",
    ms: 30_000,
    then: "the request fails, and another worker takes the place of this one",
  },
  mail: {
    on: "mail",
    ms: 10_000,
    then: "the message waits for another try: static_api_mail_queue",
  },
  logTaken: { on: "the log's reader", ms: 1_000, then: "the process ends without its last lines" },
  healthCheck: {
    on: "a part on this machine",
    ms: 4_000,
    then: "the container's check says that it is not well",
  },
  relayHealth: {
    on: "another relay",
    ms: 3_000,
    then: "the operator's page shows the relay as not healthy",
  },
} as const satisfies Readonly<Record<string, Wait>>;
