/**
 * Judges what a connection has shown: that our store is as new as what we did, and that the relay's
 * log is the one that we have followed. It is the only maker of a `Permit`. Our keys may be used
 * already when the store is older, restored from a backup or copied; and a relay that lied about a
 * commit leaves us alone in our group, which nothing later would show. The relay's word is not a
 * proof; records that are durable before anything is sent are never behind it.
 */
import { equalBytes, generationOf } from "../../../proto/mod.ts";
import { type Anchor, isDiscarded } from "./anchor.ts";
import type { OwnCommit } from "../reading/log_place.ts";
import type {
  ConnectionAnswers,
  ConnectionQuestion,
  FindCommitReply,
  LinkFacts,
  SubscriptionReply,
} from "./link_state.ts";
import type { Doubt, Permit } from "./permit.ts";

export type ConnectionVerdict =
  | { readonly ask: ConnectionQuestion; readonly epoch?: number }
  | { readonly permit: Permit; readonly anchor: Anchor | undefined }
  | { readonly doubt: Doubt; readonly report?: ConnectionReport }
  /** The log was set back, and our place in it is void. */
  | { readonly again: "without_place" }
  /** Facts have changed since the relay was asked. */
  | { readonly again: "from_the_start" | "later" };

export interface ConnectionReport {
  readonly kind: "relay_lied" | "withheld_commit";
  readonly text: string;
}

/** The link's own memory of the log. */
export interface LogMemory {
  readonly lostAt: number | undefined;
  /** The latest commit of ours that this log was asked for. */
  readonly asked: OwnCommit | undefined;
  /** Our epoch when the relay was asked to subscribe. */
  readonly epoch: number;
  /** And our place. */
  readonly place: LinkFacts["place"]["at"];
  /** The number of the permit. */
  readonly number: number;
}

/** Returns the next question, or the judgement. */
export function judgeConnection(
  answers: ConnectionAnswers,
  remembered: LogMemory,
  facts: LinkFacts,
): ConnectionVerdict {
  const { subscribe } = answers;
  if (subscribe === undefined) return { ask: "subscribe" };
  if (facts.epoch !== remembered.epoch || facts.place.at !== remembered.place) {
    return { again: "from_the_start" };
  }
  if (isBefore(subscribe.epoch, facts.epoch) && answers.put_back === undefined) {
    return { ask: "put_back", epoch: subscribe.epoch };
  }
  // A place of an earlier membership says nothing about commits: this agent, or a copy of it, has
  // come in anew since then.
  const renewed = isOfBefore(remembered.lostAt, subscribe)
    ? judgeStore(subscribe, facts, answers)
    : undefined;
  // A log that is another one than ours knows less of what we sent, and says nothing about our
  // store. But a commit that ended our epoch may be one of a copy of our directory: nobody delivers
  // that to us.
  return renewed ?? judgeLog(answers, subscribe, { remembered, facts }) ??
    judgeStore(subscribe, facts, answers) ??
    judgeEnded(answers, subscribe, facts) ?? permit(subscribe, remembered.number, facts);
}

/** Judges another `Subscribe` on a connection that has a permit already. */
export function judgeAgain(
  reply: SubscriptionReply,
  kept: Permit,
  facts: LinkFacts,
): ConnectionVerdict {
  return judgeStore(reply, facts) ?? { permit: kept, anchor: undefined };
}

/** The place that the relay refused stands before the membership that we have by its word. */
export function isOfBefore(
  lostAt: number | undefined,
  { joinedSequence }: Pick<SubscriptionReply, "joinedSequence">,
): boolean {
  return lostAt !== undefined && lostAt < joinedSequence;
}

function permit(
  { joinedSequence }: SubscriptionReply,
  number: number,
  { store: { anchor } }: LinkFacts,
): ConnectionVerdict {
  const isNews = anchor.joinedSequence === undefined;
  // cast: the one place that makes a permit
  return {
    permit: { number } as Permit,
    anchor: isNews ? { ...anchor, joinedSequence } : undefined,
  };
}

/** Returns whether the log is earlier in the same generation, so that commits can be put back. */
function isBefore(logEpoch: number, epoch: number): boolean {
  return logEpoch < epoch && generationOf(logEpoch) === generationOf(epoch);
}

interface ConnectionKnowledge {
  readonly remembered: LogMemory;
  readonly facts: LinkFacts;
}

/** The log must hold our commits and the one that began our epoch. */
function judgeLog(
  answers: ConnectionAnswers,
  subscribe: SubscriptionReply,
  known: ConnectionKnowledge,
): ConnectionVerdict | undefined {
  if (isForeign(subscribe, known.facts)) return undefined;
  return judgeOwn(answers, known) ?? judgeBegan(answers, logEpochOf(answers, subscribe), known);
}

/** Nothing is asked about a generation that we refuse. */
function isForeign({ epoch }: SubscriptionReply, { foreign }: LinkFacts): boolean {
  return foreign !== undefined && generationOf(epoch) >= foreign;
}

function logEpochOf(
  { put_back: putBack }: ConnectionAnswers,
  { epoch }: SubscriptionReply,
): number {
  return epoch + (putBack?.commits ?? 0);
}

function ownToAsk(
  { remembered: { asked }, facts: { own } }: ConnectionKnowledge,
): OwnCommit | undefined {
  return own === asked ? undefined : own;
}

function judgeOwn(
  { own_commit: found }: ConnectionAnswers,
  known: ConnectionKnowledge,
): ConnectionVerdict | undefined {
  const own = ownToAsk(known);
  if (own === undefined) return undefined;
  if (found === undefined) return { ask: "own_commit", epoch: own.epoch };
  const { commit } = found;
  if (commit === undefined) return undefined;
  if (!equalBytes(commit.commitHash, own.hash)) {
    return lied(
      `the relay took a commit of ours in epoch ${own.epoch}, and its log holds another one`,
    );
  }
  // As after a copy of the relay's disk was put back that the relay did not make itself: it does
  // not know of it.
  return own.sequence > 0 && own.sequence !== commit.sequence
    ? { again: "without_place" }
    : undefined;
}

function judgeBegan(
  { epoch_began: found }: ConnectionAnswers,
  logEpoch: number,
  known: ConnectionKnowledge,
): ConnectionVerdict | undefined {
  const { epoch, began: hash } = known.facts;
  const began = ownToAsk(known)?.epoch === epoch - 1 ? undefined : hash;
  if (began === undefined && logEpoch >= epoch) return undefined;
  if (found === undefined) return { ask: "epoch_began", epoch: epoch - 1 };
  if (
    began !== undefined && found.commit !== undefined && !equalBytes(found.commit.commitHash, began)
  ) {
    return lied(
      `the relay delivered another commit of epoch ${epoch - 1} to us than its log holds`,
    );
  }
  if (logEpoch >= epoch || found.commit !== undefined || found.epoch >= epoch) return undefined;
  return lied(
    `the relay took the commit that began epoch ${epoch}, and its log is in epoch ${found.epoch}`,
  );
}

/** The log must not have ended our epoch before our place. */
function judgeEnded(
  answers: ConnectionAnswers,
  log: SubscriptionReply,
  facts: LinkFacts,
): ConnectionVerdict | undefined {
  const { epoch, received = log.after, store } = facts;
  const { epoch_ended: found } = answers;
  // The commit is the one at which we are stopped: the first question has asked for it.
  if (facts.place.at === "stopped") return undefined;
  // While there are entries to come, they show it.
  if (isForeign(log, facts) || logEpochOf(answers, log) <= epoch || log.head > received) {
    return undefined;
  }
  if (found === undefined) return { ask: "epoch_ended", epoch };
  if (found.commit === undefined || found.commit.sequence > received) return undefined;
  // A late copy of our own commit was taken between two questions.
  if (isOurs(found.commit.commitHash, store)) return { again: "later" };
  const text = withheld(epoch, found.commit);
  return { doubt: { by: "log", reason: text }, report: { kind: "withheld_commit", text } };
}

function withheld(epoch: number, { sequence }: NonNullable<FindCommitReply["commit"]>): string {
  return `the relay has not delivered the commit that ended epoch ${epoch}, at entry ${sequence} of the log`;
}

function lied(text: string): ConnectionVerdict {
  return { doubt: { by: "log", reason: text }, report: { kind: "relay_lied", text } };
}

/** Undefined when the store is as new as what the agent did. */
function judgeStore(
  claims: SubscriptionReply,
  facts: LinkFacts,
  { own_commit: found }: ConnectionAnswers = {},
): ConnectionVerdict | undefined {
  const { joinedSequence, sent, acknowledged } = claims;
  const { anchor, isProven } = facts.store;
  // Whatever the relay says now.
  if (isProven) return behind("its data directory is older than what it did", sent);
  const isElsewhere = anchor.joinedSequence === undefined
    ? isBegunBefore(joinedSequence, facts, found)
    : anchor.joinedSequence !== joinedSequence;
  if (isElsewhere) {
    // A membership in which this agent did nothing yet began while it was away.
    const isNew = sent === undefined && acknowledged < joinedSequence;
    if (!isNew) return behind(relaySays("it has joined anew since"), sent);
    // One that is stopped asks for that all the time, and has not taken the Welcome: nothing is
    // said about its store.
    if (facts.place.at !== "stopped") return byWord("it was removed and added again");
  }
  if (
    sent?.commitHash !== undefined && sent.epoch >= facts.epoch &&
    isDiscarded(anchor, sent.commitHash)
  ) {
    return byWord("a commit of ours was taken that this agent had given up");
  }
  const what = unknown(claims, facts);
  return what === undefined ? undefined : behind(relaySays(what), sent);
}

/**
 * A founding of ours began our epoch, and we were let in anew behind it: while it was on its way.
 */
function isBegunBefore(
  joinedSequence: number,
  { own, epoch }: LinkFacts,
  found: FindCommitReply | undefined,
): boolean {
  if (own === undefined || own.epoch !== epoch - 1) return false;
  // In a log that was lost, its place is known by the answer alone.
  const sequence = found?.commit?.sequence ?? own.sequence;
  return sequence > 0 && sequence < joinedSequence;
}

/** Actions that the relay reports and this agent does not know. */
function unknown(
  { joinedSequence, sent, acknowledged }: SubscriptionReply,
  { epoch, store }: LinkFacts,
): string | undefined {
  // The agent is in the group, so we know that it has taken its Welcome.
  if (acknowledged > Math.max(store.reached, joinedSequence)) {
    return `it has read up to entry ${acknowledged}`;
  }
  if (sent === undefined) return undefined;
  if (sent.counter > store.counter) return `it has sent ${sent.counter} messages`;
  if (sent.epoch > epoch) return `it has sent something in epoch ${sent.epoch}`;
  // The keys of an earlier epoch seal nothing any more.
  const keyNumber = sent.epoch === epoch ? sent.keyNumber ?? 0 : 0;
  if (keyNumber > store.usedKeys) {
    return `it has sent messages with ${keyNumber} keys of epoch ${epoch}`;
  }
  const isOther = sent.commitHash !== undefined && sent.epoch === epoch &&
    !isOurs(sent.commitHash, store);
  return isOther ? `it has made the commit that ended epoch ${epoch}` : undefined;
}

/**
 * Returns whether the commit is ours. Such a commit may be taken at any time, and is no proof of
 * anything.
 */
function isOurs(hash: Uint8Array, { commits }: LinkFacts["store"]): boolean {
  return commits.some((each) => equalBytes(each, hash));
}

function relaySays(what: string): string {
  return `its data directory is older than what it did: the relay says that ${what}`;
}

function behind(reason: string, sent: SubscriptionReply["sent"]): ConnectionVerdict {
  return { doubt: { by: "store", reason, sent } };
}

function byWord(reason: string): ConnectionVerdict {
  return { doubt: { by: "word", reason } };
}
