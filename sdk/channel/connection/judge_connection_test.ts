import { assertEquals } from "@std/assert";
import { newAnchor } from "./anchor.ts";
import { facts, reply, store } from "../testing/calm_agent.ts";
import { type ConnectionVerdict, judgeConnection } from "./judge_connection.ts";
import type {
  ConnectionAnswers,
  FindCommitReply,
  LinkFacts,
  StoreFacts,
  SubscriptionReply,
} from "./link_state.ts";

const hash = (letter: number): Uint8Array => new Uint8Array(32).fill(letter);
const remembered = {
  lostAt: undefined,
  asked: undefined,
  epoch: 3,
  place: "in_step",
  number: 1,
} as const;

/** Returns the judgement in a word. */
function judged(answers: ConnectionAnswers, known: Partial<LinkFacts> = {}): string {
  return wordFor(
    judgeConnection({ subscribe: reply, ...answers }, remembered, { ...facts, ...known }),
  );
}

function wordFor(judgement: ConnectionVerdict): string {
  if ("ask" in judgement) return `ask ${judgement.ask} ${judgement.epoch}`;
  if ("again" in judgement) return judgement.again;
  return "doubt" in judgement ? `doubt by ${judgement.doubt.by}` : "permit";
}

Deno.test("a key of this epoch that somebody used and this store did not is a doubt, one of an earlier epoch is none", () => {
  const of = (sent: { readonly epoch: number; readonly keyNumber?: number }): string =>
    judged({ subscribe: { ...reply, sent: { sequence: 6, counter: 0, ...sent } } });
  assertEquals(of({ epoch: 3 }), "permit", "a relay that does not say");
  assertEquals(of({ epoch: 3, keyNumber: 64 }), "permit");
  assertEquals(of({ epoch: 3, keyNumber: 65 }), "doubt by store");
  assertEquals(of({ epoch: 2, keyNumber: 65 }), "permit");
  assertEquals(of({ epoch: 4, keyNumber: 1 }), "doubt by store");
});

Deno.test("each thing that the relay knows of us and our store does not is a doubt", () => {
  const sent = { sequence: 6, counter: 3, epoch: 3 };
  const of = (claims: Partial<SubscriptionReply>, known: Partial<StoreFacts> = {}): string =>
    judged({ subscribe: { ...reply, ...claims } }, { store: { ...store, ...known } });
  assertEquals(of({ sent }), "permit");
  assertEquals(of({ sent: { ...sent, counter: 4 } }), "doubt by store", "a message");
  assertEquals(of({ acknowledged: 8 }), "doubt by store", "an acknowledgement");
  assertEquals(of({ sent: { ...sent, commitHash: hash(1) } }), "doubt by store", "a commit");
  assertEquals(
    of({ sent: { ...sent, commitHash: hash(1) } }, { commits: [hash(2), hash(1)] }),
    "permit",
    "a commit under way",
  );
  const anchor = { ...newAnchor(5), discarded: [{ epoch: 3, hash: hash(1) }] };
  assertEquals(
    of({ sent: { ...sent, commitHash: hash(1) } }, { anchor }),
    "doubt by word",
    "one that was given up",
  );
  assertEquals(
    of({ joinedSequence: 8 }),
    "doubt by word",
    "a membership in which nothing was done",
  );
  assertEquals(
    of({ joinedSequence: 8, sent }),
    "doubt by store",
    "one in which something was done",
  );
  assertEquals(
    of({}, { isProven: true }),
    "doubt by store",
    "a proof, whatever the relay says now",
  );
  const anchorless = { ...store, anchor: newAnchor(undefined) };
  assertEquals(of({}, anchorless), "permit", "the first connection");
  const inOwn = (joinedSequence: number): string =>
    judged({ subscribe: { ...reply, joinedSequence }, own_commit: { epoch: 3 } }, {
      store: anchorless,
      own: { sequence: 7, epoch: 2, hash: hash(1) },
    });
  assertEquals(inOwn(5), "permit", "a founding of its own");
  assertEquals(inOwn(8), "doubt by word", "behind which it was let in anew");
});

Deno.test("the log is asked about our commits, and what it holds is judged", () => {
  const own = { sequence: 8, epoch: 2, hash: hash(1) };
  const found = (letter: number, sequence = 8): FindCommitReply => ({
    epoch: 3,
    // cast: nobody looks at it
    commit: { sequence, commitHash: hash(letter), sender: "a" as never, timeMs: 0 },
  });
  assertEquals(judged({}, { own }), "ask own_commit 2");
  assertEquals(judged({ own_commit: found(1) }, { own }), "permit");
  assertEquals(judged({ own_commit: found(2) }, { own }), "doubt by log");
  assertEquals(judged({ own_commit: found(1, 6) }, { own }), "without_place");
  assertEquals(judged({}, { began: hash(1) }), "ask epoch_began 2");
  assertEquals(judged({ epoch_began: found(1) }, { began: hash(1) }), "permit");
  assertEquals(judged({ epoch_began: found(2) }, { began: hash(1) }), "doubt by log");
  const later = { ...reply, epoch: 4 };
  assertEquals(judged({ subscribe: later }), "ask epoch_ended 3");
  assertEquals(judged({ subscribe: { ...later, head: 10 } }), "permit", "entries to come show it");
  assertEquals(judged({ subscribe: later, epoch_ended: found(2) }), "doubt by log");
  const candidate = { store: { ...store, commits: [hash(2)] } };
  assertEquals(
    judged({ subscribe: later, epoch_ended: found(2) }, candidate),
    "later",
    "our own, taken meanwhile",
  );
  const earlier = { ...reply, epoch: 2 };
  assertEquals(judged({ subscribe: earlier }), "ask put_back 2");
  const none = { commits: 0, own: 0, sequence: 0 };
  assertEquals(judged({ subscribe: earlier, put_back: none }), "ask epoch_began 2");
  assertEquals(
    judged({ subscribe: earlier, put_back: none, epoch_began: { epoch: 2 } }),
    "doubt by log",
  );
  assertEquals(judged({ subscribe: earlier, put_back: { ...none, commits: 1 } }), "permit");
  assertEquals(judged({}, { epoch: 4 }), "from_the_start", "our group has moved since");
  assertEquals(
    judged({}, { place: { at: "stopped", sequence: 9 } }),
    "from_the_start",
    "it has stopped since",
  );
  assertEquals(
    judged({ subscribe: later }, { foreign: 0, own }),
    "permit",
    "a generation that we refuse",
  );
});

Deno.test("that a stopped agent was let in anew, by a Welcome that it did not take, is no doubt", () => {
  const sent = { sequence: 10, counter: 3, epoch: 5 };
  // The relay begins behind the commit at which the agent is stopped, and in front of which it has
  // read everything.
  const letIn = { ...reply, after: 10, head: 10, epoch: 5, joinedSequence: 10 };
  const of = (subscribe: SubscriptionReply, known: Partial<StoreFacts> = {}): string => {
    const stopped: LinkFacts = {
      ...facts,
      place: { at: "stopped", sequence: 9 },
      received: undefined,
    };
    const judgement = judgeConnection({ subscribe }, { ...remembered, place: "stopped" }, {
      ...stopped,
      store: { ...store, ...known },
    });
    return wordFor(judgement);
  };
  assertEquals(of(letIn), "permit");
  assertEquals(
    of({ ...letIn, sent }),
    "doubt by store",
    "something was done there, by a copy of it",
  );
  assertEquals(
    of({ ...letIn, acknowledged: 10 }),
    "doubt by store",
    "the Welcome was taken, by a copy of it",
  );
  assertEquals(
    of(letIn, { isProven: true }),
    "doubt by store",
    "a proof, whatever the relay says now",
  );
});
