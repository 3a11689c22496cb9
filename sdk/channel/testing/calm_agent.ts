/** An agent in step, and the reply of a relay that knows no more of it than its store: for tests of its connection. */
import { newAnchor } from "../anchor.ts";
import type { Facts, StoreFacts, Subscribed } from "../connection/link_state.ts";

export const store: StoreFacts = {
  anchor: newAnchor(5),
  isProven: false,
  counter: 3,
  usedKeys: 64,
  reached: 7,
  candidate: undefined,
};

export const facts: Facts = {
  place: { at: "in_step" },
  epoch: 3,
  began: undefined,
  received: 9,
  durable: 7,
  own: undefined,
  hasOpenCommit: false,
  foreign: undefined,
  store,
  jitter: (ms) => ms,
};

export const reply: Subscribed = {
  after: 9,
  head: 9,
  epoch: 3,
  consumed: 7,
  generation: 0,
  joinedSequence: 5,
  acknowledged: 7,
};
