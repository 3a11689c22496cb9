/**
 * The one operations suite: what a client may ask of the relay and what it is told, the same over
 * every transport and in every runtime. Each test has agents, accounts and channels of its own, so
 * all can run against one relay at once.
 */
import type { Relay } from "../support/relay/agent.ts";
import { deferred } from "../support/relay/relay_client.ts";
import type { RuntimeTest } from "../support/runtime/suite.ts";
import {
  burst,
  closing,
  commitRace,
  contentTypes,
  creation,
  duplicates,
  joining,
  keyPackages,
  listing,
  resuming,
  sizes,
  strangers,
  welcomes,
} from "./channel_operations.ts";
import { founding, invites, leaving, ownEntries, rejoining } from "./member_operations.ts";
import { authentication, goodbye, ping, renewal, replacement } from "./session_operations.ts";

const patienceMs = 120_000;
/** So that a runtime that ran only some of them is found out. */
export const operationCount = 23;

export function createOperations(relay: Relay): RuntimeTest[] {
  const tests: readonly [name: string, run: (relay: Relay) => Promise<void>][] = [
    ["Ping answers the relay's time, before and after authentication", ping],
    [
      "a session needs a fresh challenge, the right origin and the agent's own signature",
      authentication,
    ],
    ["a token is renewed on the open session, and only by one of the same account", renewal],
    ["a newer session of an agent ends the older with session_replaced", replacement],
    ["EndSession is answered, and the session ends without an error", goodbye],
    [
      "CreateChannel answers id and public parameters, idempotently; a name is taken once",
      creation,
    ],
    [
      "KeyPackages are the agent's own and valid, and the last one is claimed once by many",
      keyPackages,
    ],
    ["a member is added with KeyPackage, commit and Welcome, and messages go both ways", joining],
    ["reading resumes after what was acknowledged, and positions outside are refused", resuming],
    [
      "messages and commits sent again get their original answers; wrong epochs conflict",
      duplicates,
    ],
    ["a commit sent as a message, and the reverse, is refused", contentTypes],
    ["of commits in one epoch one wins, and FindCommit tells which", commitRace],
    ["a stranger is told not_found, as for a channel that does not exist", strangers],
    ["an invite is registered, used, refused and revoked", invites],
    ["a member rejoins with a request that it signed", rejoining],
    ["an owner claims KeyPackages and begins a new generation, and the others are told", founding],
    ["what an agent sent and acknowledged is told when it subscribes, and read again", ownEntries],
    ["a leaver is told and removed; a removed member reads no further", leaving],
    ["a closed channel ends for all, and its name is free", closing],
    ["channels and members are listed, page by page", listing],
    ["a Welcome can be sent again, and to nobody else", welcomes],
    ["messages of the largest size pass, larger ones are refused, and the session goes on", sizes],
    ["a hundred messages at once arrive once each, in one order", burst],
  ];
  return tests.map(([name, run]) => ({ name, run: () => withinTime(run(relay)) }));
}

/** A reply that never comes must fail its own test and not hold up the others. */
async function withinTime(running: Promise<void>): Promise<void> {
  const late = deferred<void>();
  const timer = setTimeout(
    () => late.reject(new Error(`not done after ${patienceMs} ms`)),
    patienceMs,
  );
  try {
    await Promise.race([running, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
