import { assert, assertEquals } from "@std/assert";
import { type AgentId, agentIdOf } from "../../../proto/mod.ts";
import {
  type Answerers,
  attemptOver,
  isHopeless,
  newAnswerers,
  nextAnswerer,
  type Peer,
  refusedBy,
} from "./answerers.ts";

const member = (number: number, owner: boolean): Peer => ({
  agentId: agentIdOf(new Uint8Array(32).fill(number), Uint8Array.of(number)),
  owner,
});
const [carol, alice, bob] = [member(0, false), member(1, true), member(2, false)];
const others = [carol, alice, bob];

/** The answerers of one agent, and its latest pause. */
class Asker {
  answerers: Answerers = newAnswerers();

  pass(isAnswered: boolean): number {
    const [answerers, ms] = attemptOver(this.answerers, others, isAnswered);
    this.answerers = answerers;
    return ms;
  }

  next(): AgentId | undefined {
    const [answerers, next] = nextAnswerer(this.answerers, others);
    this.answerers = answerers;
    return next;
  }

  refused({ agentId }: Peer): void {
    this.answerers = refusedBy(this.answerers, agentId);
  }
}

Deno.test("while nobody answers, anybody is asked; after an answer in vain owners come first, and anybody at the end", () => {
  const asker = new Asker();
  asker.pass(false);
  assertEquals(asker.next(), undefined);
  assert(!asker.answerers.isInVain);
  const asked = [true, false, false, false, false].map((isAnswered) => {
    asker.pass(isAnswered);
    return asker.next();
  });
  assertEquals(asked, [alice.agentId, carol.agentId, bob.agentId, undefined, alice.agentId]);
});

Deno.test("a member whose answer was refused is not named again, also when its answer came late", () => {
  const asker = new Asker();
  asker.pass(false);
  asker.refused(alice);
  assertEquals(asker.next(), carol.agentId);
  asker.pass(false);
  assertEquals(asker.next(), bob.agentId);
});

Deno.test("an agent that nobody can let in costs its channel a commit an hour, and silence is asked every minute", () => {
  const hopeless = new Asker();
  const pauses: number[] = [];
  for (let round = 0; round < 20; round++) {
    hopeless.refused(carol);
    for (let asked = 0; asked < 3; asked++) pauses.push(hopeless.pass(asked === 0));
  }
  const rounds = Array.from(
    { length: 20 },
    (_, i) => pauses.slice(i * 3, i * 3 + 3).reduce((sum, ms) => sum + ms, 0),
  );
  assert((rounds.at(-1) ?? 0) >= 3_600_000, `the last rounds took ${rounds.slice(-3)} ms`);
  assert(isHopeless(hopeless.answerers));
  const silent = new Asker();
  for (let asked = 0; asked < 100; asked++) assert(silent.pass(false) <= 60_000);
  assert(!isHopeless(silent.answerers));
});
