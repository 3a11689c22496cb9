import { assert, assertEquals } from "@std/assert";
import {
  type AgentId,
  agentIdOf,
  binaryIdFromBytes,
  type ChannelId,
  type LogWord,
} from "../../../proto/mod.ts";
import { foundingEpoch } from "../../../proto/mod.ts";
import { sha256 } from "../../../wasm/mod.ts";
import { stepOrder, wordOf } from "./order.ts";
import {
  maxAhead,
  newOrder,
  type OrderEvent,
  type OrderFinding,
  orderRecord,
  type OrderState,
  restoreOrder,
} from "./order_state.ts";

const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16).fill(7));
const [alice, bob] = [1, 2].map((byte) =>
  agentIdOf(new Uint8Array(32).fill(byte), Uint8Array.of(byte))
) as [
  AgentId,
  AgentId,
];

function digest(id: number): Uint8Array {
  return sha256(Uint8Array.of(id % 256, id >> 8));
}

/** A member that joined behind entry 1, in epoch 1. */
function member(): OrderState {
  return newOrder(channelId, 1, 1);
}

function passed(sequence: number, epoch = 1, id = sequence): OrderEvent {
  return { type: "passed", sequence, epoch, digest: digest(id) };
}

function commit(sequence: number, epoch: number): OrderEvent {
  return { type: "passed", sequence, epoch };
}

function opened(sender: AgentId, sequence: number, epoch: number, word: LogWord): OrderEvent {
  return { type: "opened", sender, sequence, epoch, word };
}

function departs(counter: number, epoch = 1): OrderEvent {
  return { type: "departs", counter, epoch, digest: digest(1000 + counter) };
}

function stands(counter: number, sequence: number, epoch = 1): OrderEvent {
  return { type: "stands", counter, epoch, sequence };
}

function run(state: OrderState, ...events: readonly OrderEvent[]): readonly OrderFinding[] {
  return events.flatMap((event) => stepOrder(state, event));
}

/** One that has read this. */
function after(...events: readonly OrderEvent[]): OrderState {
  const state = member();
  assertEquals(run(state, ...events), []);
  return state;
}

function kindsOf(findings: readonly OrderFinding[]): readonly string[] {
  return findings.map(({ kind, from, to }) => `${kind} ${from}-${to}`);
}

Deno.test("members that read the same say the same, wherever they began", () => {
  const [one, other] = [after(passed(2), passed(3)), member()];
  run(other, departs(1), passed(3), stands(1, 2));
  assertEquals(wordOf(one, 1).seen?.place, 3);
  assert(wordOf(other, 1).seen !== undefined);
  // Its own message has other bytes in this test.
  assertEquals(wordOf(other, 1).seen?.count, 2);
  assertEquals(wordOf(one, 1).seen?.hash.length, 16);
  assertEquals(kindsOf(run(one, opened(alice, 4, 1, wordOf(after(passed(2), passed(3)), 1)))), []);
});

Deno.test("another order of as many messages is reordered, fewer or more are a missing tail", () => {
  const swapped = wordOf(after(passed(2, 1, 3), passed(3, 1, 2)), 1);
  assertEquals(kindsOf(run(after(passed(2), passed(3)), opened(bob, 4, 1, swapped))), [
    "reordered 2-3",
  ]);
  const more = wordOf(after(passed(2), passed(3)), 1);
  assertEquals(kindsOf(run(after(passed(2), commit(3, 1)), opened(bob, 4, 1, more))), [
    "missing_tail 2-3",
  ]);
  const fewer = wordOf(after(passed(2)), 1);
  assertEquals(kindsOf(run(after(passed(2), passed(3)), opened(bob, 4, 1, fewer))), []);
});

Deno.test("a message in front of what its sender had seen is reordered", () => {
  const word = wordOf(after(passed(2), passed(3)), 1);
  assertEquals(kindsOf(run(after(passed(2)), opened(bob, 3, 1, word))), ["reordered 3-3"]);
});

Deno.test("entries are named from the last word that agreed, and a sender once in an epoch", () => {
  const state = after(
    passed(2),
    opened(alice, 3, 1, wordOf(after(passed(2)), 1)),
    passed(3),
    passed(4),
  );
  const other = wordOf(after(passed(2), passed(3, 1, 9), passed(4)), 1);
  assertEquals(kindsOf(run(state, opened(bob, 5, 1, other), opened(bob, 6, 1, other))), [
    "reordered 3-4",
  ]);
  assertEquals(kindsOf(run(state, opened(alice, 6, 1, other))), ["reordered 3-4"]);
});

Deno.test("the end of the epoch before is compared in the next one, and what was told is not told again", () => {
  const whole = after(passed(2), passed(3), commit(4, 2));
  const cut = after(passed(2), commit(4, 2));
  const [told] = run(cut, opened(bob, 5, 2, wordOf(whole, 2)));
  assertEquals(told, { kind: "missing_tail", sender: bob, from: 2, to: 4 });
  const known = after(passed(2), commit(3, 1));
  const early = wordOf(after(passed(2), passed(3)), 1);
  assertEquals(kindsOf(run(known, opened(bob, 4, 1, early))), ["missing_tail 2-3"]);
  assertEquals(run(known, commit(4, 2), opened(bob, 5, 2, wordOf(whole, 2))), []);
  assertEquals(kindsOf(run(known, opened(alice, 6, 2, wordOf(whole, 2)))), ["missing_tail 2-4"]);
});

Deno.test("epochs without messages are passed over", () => {
  const whole = after(passed(2), commit(3, 2), commit(4, 3));
  assertEquals(wordOf(whole, 3).before, wordOf(after(passed(2), commit(3, 2)), 2).before);
  assertEquals(wordOf(after(commit(2, 2)), 2).before, undefined);
});

Deno.test("our place stays in front of an unanswered message, and a word about what is behind it waits", () => {
  const state = after(passed(2), departs(1), passed(4));
  assertEquals(wordOf(state, 1).seen?.place, 2);
  const other = wordOf(after(passed(2), passed(3, 1, 1001), passed(4)), 1);
  const wrong = wordOf(after(passed(2), passed(3, 1, 1002), passed(4)), 1);
  assertEquals(run(state, opened(alice, 5, 1, other), opened(bob, 6, 1, wrong)), []);
  assertEquals(kindsOf(run(state, stands(1, 3))), ["reordered 2-4"]);
  assertEquals(wordOf(state, 1).seen?.place, 4);
});

Deno.test("our own entries that follow without a hole are known at once", () => {
  const state = after(passed(2), departs(1), stands(1, 3), {
    type: "moved",
    sequence: 4,
    epoch: 2,
  });
  assertEquals(wordOf(state, 2).seen?.place, 4);
  assertEquals(
    wordOf(state, 2).before,
    wordOf(after(passed(2), passed(3, 1, 1001), commit(4, 2)), 2).before,
  );
});

Deno.test("a message that was refused holds nothing up, and one that may stand makes its epoch unsure", () => {
  const dropped = (mayStand: boolean): OrderEvent => ({
    type: "dropped",
    counter: 1,
    epoch: 1,
    mayStand,
  });
  const refused = after(passed(2), departs(1), passed(3), dropped(false));
  assertEquals(wordOf(refused, 1), wordOf(after(passed(2), passed(3)), 1));
  const abandoned = after(passed(2), departs(1), passed(3), dropped(true));
  assertEquals(wordOf(abandoned, 1), { seen: undefined, before: undefined });
  run(abandoned, commit(4, 2), passed(5, 2), commit(6, 3));
  assertEquals(
    wordOf(abandoned, 3).before,
    wordOf(after(commit(4, 2), passed(5, 2), commit(6, 3)), 3).before,
  );
});

Deno.test("a gap makes its epoch unsure, and nothing else", () => {
  const state = after(passed(2), commit(3, 2), {
    type: "passed",
    sequence: 5,
    epoch: 2,
    isGap: true,
  }, passed(6, 2));
  assertEquals(wordOf(state, 2), {
    seen: undefined,
    before: wordOf(after(passed(2), commit(3, 2)), 2).before,
  });
  const word = wordOf(after(passed(2), commit(3, 2), passed(4, 2)), 2);
  assertEquals(run(state, opened(bob, 7, 2, word)), []);
});

Deno.test("a log that was set back makes all epochs up to ours unsure", () => {
  const state = after(
    passed(2),
    commit(3, 2),
    { type: "lost", epoch: 2 },
    passed(2),
    commit(3, 2),
    passed(4, 2),
  );
  assertEquals(wordOf(state, 2), { seen: undefined, before: undefined });
  run(state, commit(5, 3), passed(6, 3));
  assertEquals(wordOf(state, 3).seen?.count, 1);
  assertEquals(wordOf(state, 3).before, undefined);
});

Deno.test("a generation, and a membership, begin anew", () => {
  const epoch = foundingEpoch(1) + 1;
  const state = after(passed(2), commit(3, epoch), passed(4, epoch));
  assertEquals(
    wordOf(state, epoch),
    wordOf(after(passed(2), commit(3, epoch), passed(4, epoch)), epoch),
  );
  assertEquals([wordOf(state, epoch).seen?.count, wordOf(state, epoch).before], [1, undefined]);
  const entered = after(
    passed(2),
    departs(1),
    { type: "entered", sequence: 5, epoch: 3 },
    stands(1, 3),
    passed(6, 3),
  );
  const { seen, before } = wordOf(entered, 3);
  assertEquals([seen?.place, seen?.count, before], [6, 1, undefined]);
});

Deno.test("a generation that begins with an entry of ours is known from its first message, and unsure behind a gap", () => {
  const epoch = foundingEpoch(1) + 1;
  const whole = after(passed(2), commit(3, epoch), passed(4, epoch), passed(5, epoch));
  const founder = after(passed(2), passed(4, epoch), passed(5, epoch));
  assertEquals(wordOf(founder, epoch), wordOf(whole, epoch));
  const speaking = after(
    passed(2),
    departs(1, 1),
    departs(1, epoch),
    stands(1, 4, epoch),
    passed(5, epoch),
  );
  const other = after(passed(2), commit(3, epoch), passed(4, epoch, 1001), passed(5, epoch));
  assertEquals(wordOf(speaking, epoch), wordOf(other, epoch));
  const late = after(
    passed(2),
    { type: "passed", sequence: 4, epoch, isGap: true },
    passed(5, epoch),
  );
  assertEquals(wordOf(late, epoch).seen, undefined);
  assertEquals(run(late, opened(bob, 6, epoch, wordOf(whole, epoch))), []);
});

Deno.test("with too much behind an unanswered message nothing is said, and nothing is kept", () => {
  const state = after(departs(1));
  for (let at = 0; at <= maxAhead; at++) run(state, passed(2 + at, 1, at));
  assertEquals([state.ahead.length, state.out.length, wordOf(state, 1).seen], [0, 0, undefined]);
});

Deno.test("counts go round", () => {
  const state = member();
  const point = state.points[0];
  assert(point !== undefined);
  state.points[0] = { ...point, count: 2 ** 16 + 4, sequence: 9 };
  state.through = 9;
  const { hash } = point;
  const said = (count: number): LogWord => ({ seen: { place: 9, count, hash }, before: undefined });
  assertEquals(kindsOf(run(state, opened(bob, 10, 1, said(5)))), ["missing_tail 2-9"]);
  assertEquals(kindsOf(run(state, opened(alice, 10, 1, said(4)))), []);
});

// On disk

function restarted(state: OrderState, position: number, epoch = 1): OrderState {
  return restoreOrder({
    channelId,
    record: orderRecord(state, position),
    position,
    joinedEpoch: 1,
    epoch,
  });
}

Deno.test("a process that was closed goes on where the program was, and knows its own entries behind that", () => {
  const state = after({ type: "opening" }, passed(2), departs(1), passed(4), stands(1, 3), {
    type: "closing",
  });
  const word = wordOf(state, 1);
  for (const position of [1, 2, 4]) {
    const next = restarted(state, position);
    run(
      next,
      ...[passed(2), passed(4)].filter((event) => "sequence" in event && event.sequence > position),
    );
    assertEquals(wordOf(next, 1), word);
  }
});

Deno.test("a process that was killed is unsure in its epoch if it had sent, and sure if it had not", () => {
  const sent = after(passed(2), commit(3, 2), passed(4, 2), { type: "opening" });
  const killed = restarted(sent, 4, 2);
  assertEquals(wordOf(killed, 2), { seen: undefined, before: undefined });
  assertEquals(run(killed, commit(5, 3)), []);
  assertEquals(wordOf(killed, 3), wordOf(newOrder(channelId, 5, 3), 3));
  const quiet = after(passed(2), commit(3, 2), passed(4, 2));
  assertEquals(wordOf(restarted(quiet, 4, 2), 2), wordOf(quiet, 2));
});

Deno.test("one that is closed with an unanswered message is like one that was killed", () => {
  const state = after({ type: "opening" }, departs(1), { type: "closing" });
  assertEquals(wordOf(restarted(state, 1), 1).seen, undefined);
});

Deno.test("what is stored of an earlier membership says nothing", () => {
  const record = orderRecord(after(passed(2)), 2);
  const state = restoreOrder({ channelId, record, position: undefined, joinedEpoch: 4, epoch: 4 });
  assertEquals(state, newOrder(channelId, 0, 4));
});

Deno.test("a place before all that is remembered is unsure", () => {
  const state = member();
  for (let at = 0; at < 5000; at++) run(state, passed(2 + at));
  assert(state.points.length <= 2048);
  const next = restarted(state, 3);
  assertEquals(wordOf(next, 1), { seen: undefined, before: undefined });
  const word = wordOf(after(passed(2)), 1);
  assertEquals(run(state, opened(bob, 9000, 1, word)), []);
});
