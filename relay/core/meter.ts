/**
 * Counters of the core. Plain numbers, so that counting costs nothing; the admin port turns them
 * into metrics.
 */

export interface Meter {
  sessionsRefused: number;
  /** Ended to make room for others. */
  sessionsEvicted: number;
  /** Sent to relays that have fewer. */
  sessionsMoved: number;
  requests: number;
  requestErrors: number;
  /** Requests of accounts that have had their share of the work. */
  requestsOverBudget: number;
  messagesAccepted: number;
  commitsAccepted: number;
  epochConflicts: number;
  deliveries: number;
  deliveredBytes: number;
  /** Sessions that were cut off because they did not read. */
  slowReaders: number;
  /** Application messages that gave way to gaps. */
  messagesDropped: number;
  membersLapsed: number;
  keyPackagesClaimed: number;
  /** Additions of agents that have too much waiting for them. */
  welcomesRefused: number;
  /** Requests and connections refused because of load. */
  shed: number;
  quotaRefusals: number;
  /** Commits and Welcomes above the allowance of their account: they were paid for as messages. */
  handshakesCharged: number;
  /** Requests refused because the disk, or the account's share of it, is full. */
  storageRefusals: number;
}

export function createMeter(): Meter {
  return {
    sessionsRefused: 0,
    sessionsEvicted: 0,
    sessionsMoved: 0,
    requests: 0,
    requestErrors: 0,
    requestsOverBudget: 0,
    messagesAccepted: 0,
    commitsAccepted: 0,
    epochConflicts: 0,
    deliveries: 0,
    deliveredBytes: 0,
    slowReaders: 0,
    messagesDropped: 0,
    membersLapsed: 0,
    keyPackagesClaimed: 0,
    welcomesRefused: 0,
    shed: 0,
    quotaRefusals: 0,
    handshakesCharged: 0,
    storageRefusals: 0,
  };
}
