import { assertEquals, assertRejects } from "@std/assert";
import { agentIdOf, encodeBadges, formatBadge, type Recognition } from "../../proto/mod.ts";
import { StaticError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import { badgeSeconds, Issuer } from "../mls/testing/issuer.ts";
import { type BadgeFollower, type BadgeSource, OwnBadges } from "./own_badges.ts";

const agentId = agentIdOf(new Uint8Array(32), new Uint8Array(1));
const other = agentIdOf(new Uint8Array(32), new Uint8Array(2));
const [acme, service] = [new Issuer(), new Issuer("static.localhost", 8)];

/** Time that passes when a test says so. */
class Clock implements Runtime {
  #nowMs = 0;
  #timers: { readonly atMs: number; readonly run: () => void }[] = [];
  readonly nowMs = (): number => this.#nowMs;
  readonly randomBytes = (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length);
  readonly after = (ms: number, run: () => void): () => void => {
    const timer = { atMs: this.#nowMs + ms, run };
    this.#timers.push(timer);
    return () => void (this.#timers = this.#timers.filter((each) => each !== timer));
  };

  get waiting(): number {
    return this.#timers.length;
  }

  async pass(ms: number): Promise<void> {
    this.#nowMs += ms;
    const due = this.#timers.filter(({ atMs }) => atMs <= this.#nowMs);
    this.#timers = this.#timers.filter((each) => !due.includes(each));
    for (const { run } of due) run();
    await settled();
  }
}

/** Everything that waits for nothing but promises has happened. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

class Source implements BadgeSource {
  readonly everyMs = 1_000;
  reads = 0;
  next: () => Promise<readonly string[]> = () => Promise.resolve([]);
  read(): Promise<readonly string[]> {
    this.reads++;
    return this.next();
  }
}

async function opened(source: Source, clock: Clock): Promise<OwnBadges> {
  const badges = new OwnBadges(source, agentId, clock);
  await badges.first;
  return badges;
}

function follower(clock: Clock, changed: () => void): BadgeFollower {
  const recogniser = { all: (): Recognition[] => [] };
  return { runtime: clock, nowMs: clock.nowMs, changed, recogniser, rosters: () => [] };
}

const says = (...texts: string[]) => (): Promise<readonly string[]> => Promise.resolve(texts);

Deno.test("an agent shows what its source has, at most two badges, and goes on to look", async () => {
  const [clock, source] = [new Clock(), new Source()];
  const [first, second] = [acme.badge(agentId), service.badge(agentId)];
  source.next = says(formatBadge(first));
  const badges = await opened(source, clock);
  assertEquals(badges.shown, encodeBadges([first]));
  assertEquals(clock.waiting, 0, "the patience leaves no timer");
  const changes: unknown[] = [];
  const stop = badges.follow(follower(clock, () => changes.push(badges.shown)));
  await clock.pass(1_000);
  assertEquals([source.reads, changes], [2, []], "the same badge is no change");
  const third = new Issuer("umbrella.org", 9).badge(agentId);
  source.next = says(formatBadge(first), formatBadge(second), formatBadge(third));
  await clock.pass(1_000);
  assertEquals(changes, [encodeBadges([first, second])]);
  source.next = says();
  await clock.pass(1_000);
  assertEquals([changes.length, badges.shown], [2, undefined]);
  stop();
  await clock.pass(10_000);
  assertEquals([source.reads, clock.waiting], [4, 0]);
});

Deno.test("who has given other badges need not wait, and nobody asks twice as often for it", async () => {
  const [clock, source] = [new Clock(), new Source()];
  source.next = says();
  const badges = await opened(source, clock);
  await badges.look();
  assertEquals(source.reads, 1, "nobody follows yet");
  const stop = badges.follow(follower(clock, () => {}));
  const badge = acme.badge(agentId);
  source.next = says(formatBadge(badge));
  await badges.look();
  assertEquals([source.reads, badges.shown], [2, encodeBadges([badge])]);
  await clock.pass(1_000);
  assertEquals([source.reads, clock.waiting], [3, 1]);
  source.next = () => new Promise(() => {});
  const looked = badges.look();
  await clock.pass(3_000);
  await looked;
  stop();
});

Deno.test("when the last badge has ended, the agent is made known anew, once", async () => {
  const [clock, source] = [new Clock(), new Source()];
  const endsIn = (seconds: number): string => {
    const notAfter = Math.floor(clock.nowMs() / 1000) + seconds;
    return formatBadge(acme.badge(agentId, { notBefore: 0, notAfter }));
  };
  source.next = says(endsIn(5));
  const badges = await opened(source, clock);
  let changes = 0;
  badges.follow(follower(clock, () => changes++));
  await clock.pass(4_000);
  assertEquals(changes, 0);
  for (let i = 0; i < 5; i++) await clock.pass(1_000);
  assertEquals(changes, 1);
  source.next = says(endsIn(50));
  await clock.pass(1_000);
  assertEquals(changes, 2);
});

Deno.test("a source that fails, hangs or gives what is no badge of this agent leaves the badges as they are", async () => {
  const [clock, source] = [new Clock(), new Source()];
  const badge = acme.badge(agentId);
  source.next = says(formatBadge(badge));
  const badges = await opened(source, clock);
  const changes: unknown[] = [];
  badges.follow(follower(clock, () => changes.push(1)));
  for (
    const next of [
      () => Promise.reject(new Error("the disk is away")),
      says("badge_AAAA"),
      says(formatBadge(acme.badge(other))),
      says(""),
    ]
  ) {
    source.next = next;
    await clock.pass(1_000);
  }
  source.next = () => new Promise(() => {});
  await clock.pass(1_000);
  await clock.pass(60_000);
  source.next = says(formatBadge(acme.badge(agentId, { notBefore: badgeSeconds + 1 })));
  assertEquals([badges.shown, changes], [encodeBadges([badge]), []]);
  await clock.pass(1_000);
  assertEquals([source.reads, changes], [7, [1]], "and it is asked again all the same");
});

Deno.test("connecting waits three seconds for badges, shows those that come later, and tells of those that are not this agent's", async () => {
  const [clock, source] = [new Clock(), new Source()];
  let come = (_: readonly string[]): void => {};
  source.next = () => new Promise((resolve) => come = resolve);
  const opening = opened(source, clock);
  await clock.pass(3_000);
  const late = await opening;
  const changes: unknown[] = [];
  late.follow(follower(clock, () => changes.push(late.shown)));
  const badge = acme.badge(agentId);
  come([formatBadge(badge)]);
  await settled();
  assertEquals(changes, [encodeBadges([badge])]);
  source.next = () => Promise.reject(new Error("the network is away"));
  assertEquals((await opened(source, clock)).shown, undefined);
  source.next = says(formatBadge(acme.badge(other)));
  await assertRejects(
    () => opened(source, clock),
    StaticError,
    `it is of agent ${other}, and this is ${agentId}`,
  );
});
