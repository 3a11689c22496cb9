/**
 * An agent in step, and the reply of a relay that knows no more of it than its store: for tests of
 * its connection.
 */
import { newAnchor } from "../connection/anchor.ts";
import { newLink, stepLink } from "../connection/link.ts";
import { permitOf } from "../connection/link_run.ts";
import type { Permit } from "../connection/permit.ts";
import type { LinkFacts, StoreFacts, SubscriptionReply } from "../connection/link_state.ts";

export const store: StoreFacts = {
  anchor: newAnchor(5),
  isProven: false,
  counter: 3,
  usedKeys: 64,
  reached: 7,
  commits: [],
};

export const facts: LinkFacts = {
  place: { at: "in_step" },
  epoch: 3,
  began: undefined,
  received: 9,
  durable: 7,
  own: undefined,
  foreign: undefined,
  store,
  jitter: (ms) => ms,
};

export const reply: SubscriptionReply = {
  after: 9,
  head: 9,
  epoch: 3,
  consumed: 7,
  generation: 0,
  joinedSequence: 5,
  acknowledged: 7,
};

/** Of a connection that was judged: nothing else makes one. */
export function calmPermit(): Permit | undefined {
  const link = newLink<string>(undefined);
  stepLink(link, { type: "connected" }, facts);
  if (!("call" in link.link)) throw new TypeError("a connection begins with a question");
  stepLink(link, {
    type: "answered",
    call: link.link.call,
    answer: { question: "subscribe", reply },
  }, facts);
  return permitOf(link);
}
