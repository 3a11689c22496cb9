import { assertEquals } from "@std/assert";
import { parseAccountId } from "../../proto/mod.ts";
import { createGuesses, type Guess, type GuessVerdict } from "./guesses.ts";
import { createAddressLimiter, createRateLimiter } from "./rate_limit.ts";

const [minuteMs, dayMs] = [60_000, 86_400_000];
const account = parseAccountId("00000000-0000-0000-0000-000000000001");

interface Scene {
  readonly clock: { now: number };
  begin(guess: Guess): Promise<GuessVerdict>;
  /** Whether it is judged; it fails then. */
  fail(address: string, subject?: string): Promise<boolean>;
  /** Whether it is judged; it is good then. */
  succeed(address: string, subject?: string): Promise<boolean>;
}

/** As in production. */
function createScene(): Scene {
  const clock = { now: 0 };
  const now = (): number => clock.now;
  const begin = createGuesses({
    known: createRateLimiter("known", { limit: 100, windowMs: dayMs }, now),
    addresses: createAddressLimiter("failures", { limit: 30, windowMs: minuteMs }, now),
    pairs: createRateLimiter("passwords", { limit: 5, windowMs: 10 * minuteMs }, now),
    newcomers: createRateLimiter("newcomers", { limit: 1, windowMs: dayMs }, now),
    newcomerNetworks: createRateLimiter("newcomers", { limit: 32, windowMs: dayMs }, now),
    subjects: createRateLimiter("passwords", { limit: 10, windowMs: minuteMs }, now),
    keptForNewcomers: 5,
  });
  return {
    clock,
    begin,
    fail: async (address, subject = "victim") =>
      (await begin({ address, subject })).outcome === "begun",
    succeed: async (address, subject = "victim") => {
      const guessing = await begin({ address, subject });
      if (guessing.outcome === "begun") await guessing.giveBack();
      return guessing.outcome === "begun";
    },
  };
}

function trues(each: readonly boolean[]): number {
  return each.filter((one) => one).length;
}

/** All at once. */
function times<T>(count: number, run: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => run(index)));
}

/**
 * Guesses 40 times a minute from these addresses in turn, for so long; returns how often newcomers
 * were let in, once a minute.
 */
async function besiege(
  addresses: readonly string[],
  minutes: number,
): Promise<{ judged: number; letIn: number; lastMinuteOut: number }> {
  const { clock, fail, succeed } = createScene();
  const result = { judged: 0, letIn: 0, lastMinuteOut: -1 };
  for (let guess = 0; guess < 40 * minutes; guess++) {
    if (await fail(addresses[guess % addresses.length] ?? "")) result.judged++;
    if (guess % 40 === 39) {
      if (await succeed(`owner ${guess}`)) result.letIn++;
      else result.lastMinuteOut = Math.floor(guess / 40);
    }
    clock.now += minuteMs / 40;
  }
  return result;
}

Deno.test("a siege of a day keeps newcomers out for as many minutes as it has networks by ten, and not longer", async () => {
  const addresses = (count: number): string[] =>
    Array.from({ length: count }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
  for (const count of [1, 12, 200, 1000]) {
    const { judged, letIn, lastMinuteOut } = await besiege(addresses(count), 1440);
    // Ten a minute is the ceiling, whatever comes.
    assertEquals([
      count,
      judged <= 10 * 1440 + 10,
      lastMinuteOut <= count / 10,
      letIn >= 1440 - count / 10 - 1,
    ], [
      count,
      true,
      true,
      true,
    ]);
  }
});

Deno.test("networks that fail for very many mailboxes do not become newcomers again, although not all is remembered", async () => {
  const { clock, fail } = createScene();
  const networks = Array.from({ length: 200 }, (_, i) => `10.0.0.${i}`);
  for (const network of networks) {
    assertEquals(await fail(network), true);
    clock.now += minuteMs / 10;
  }
  // More than the service remembers of one kind.
  for (let mailbox = 0; mailbox < 600; mailbox++) {
    for (const network of networks) {
      assertEquals(await fail(network, `${network} ${mailbox}`), true);
    }
    clock.now += minuteMs / 30;
  }
  assertEquals(trues(await Promise.all(networks.map((network) => fail(network)))), 5);
});

Deno.test("guesses in parallel from one newcomer leave the newcomers' half", async () => {
  const { fail, succeed } = createScene();
  assertEquals(trues(await times(20, () => fail("192.0.2.1"))), 5);
  assertEquals(trues(await times(5, (i) => fail(`192.0.2.${i + 2}`))), 5);
  assertEquals(await succeed("192.0.2.9"), false);
});

Deno.test("an IPv6 network is one newcomer, whatever it has of addresses", async () => {
  const { fail, succeed } = createScene();
  for (let i = 0; i < 256; i++) await fail(`2001:db8:0:${i.toString(16)}::/64`);
  assertEquals(await succeed("2001:db8:1::/64"), true);
});

Deno.test("an attempt that is refused or good costs nothing, and a failure costs its address and its subject", async () => {
  const { begin, fail, succeed } = createScene();
  for (let i = 0; i < 50; i++) assertEquals(await succeed("192.0.2.1"), true);
  for (let i = 0; i < 12; i++) await fail(`198.51.100.${i}`);
  for (let i = 0; i < 50; i++) assertEquals(await fail("192.0.2.1"), false);
  // The fifty that were refused are no failures of their address.
  assertEquals(
    trues(await times(40, (i) => fail("192.0.2.1", `other ${i}`))),
    30,
  );
  assertEquals((await begin({ address: "192.0.2.1" })).outcome, "limited");
});

Deno.test("a known place has what strangers cannot take, is a party of its account, and a stranger when that is used up", async () => {
  const { begin, fail } = createScene();
  const known = {
    address: "192.0.2.1",
    subject: "victim",
    knownTo: { accountId: account, by: "place" },
  } as const;
  for (let i = 0; i < 40; i++) await fail("192.0.2.1", `other ${i}`);
  for (let i = 0; i < 12; i++) await fail(`198.51.100.${i}`);
  assertEquals((await begin({ address: "203.0.113.1", subject: "victim" })).outcome, "limited");
  const parties = (await times(100, () => begin(known))).map((guessing) =>
    guessing.outcome === "begun" ? guessing.party : undefined
  );
  assertEquals(parties, Array(100).fill({ key: account, isKnown: true }));
  assertEquals((await begin(known)).outcome, "limited");
  const elsewhere = await begin({ ...known, address: "203.0.113.2", subject: "own" });
  assertEquals(elsewhere.outcome === "begun" && elsewhere.party, {
    key: "203.0.113.2",
    isKnown: false,
  });
});

Deno.test("an owner who has mistyped is let in at once, each time, beside one address that guesses every 1.5 s for an hour", async () => {
  const { clock, fail, succeed } = createScene();
  const result = { judged: 0, mistyped: 0, letIn: 0 };
  for (let guess = 0; guess < 2400; guess++) {
    if (await fail("198.51.100.1")) result.judged++;
    // Every five minutes: a typo, and then the password.
    if (guess % 200 === 150) {
      if (await fail("192.0.2.1")) result.mistyped++;
      if (await succeed("192.0.2.1")) result.letIn++;
    }
    clock.now += 1500;
  }
  assertEquals(result, { judged: 34, mistyped: 12, letIn: 12 });
});

Deno.test("a refusal tells the longest wait of all budgets, and takes of none", async () => {
  const { clock, begin, fail, succeed } = createScene();
  for (let i = 0; i < 5; i++) assertEquals(await fail("192.0.2.1"), true);
  for (let i = 0; i < 25; i++) await fail("192.0.2.1", `other ${i}`);
  for (let i = 0; i < 50; i++) {
    const guessing = await begin({ address: "192.0.2.1", subject: "victim" });
    assertEquals(guessing.outcome === "limited" && guessing.decision.resetMs, 2 * minuteMs);
  }
  clock.now += 2 * minuteMs;
  assertEquals([await fail("192.0.2.1"), await fail("192.0.2.1"), await succeed("192.0.2.2")], [
    true,
    false,
    true,
  ]);
});

Deno.test("keys and sessions of an account use up nothing of its known places, and are a party of it", async () => {
  const { begin } = createScene();
  const caller = {
    address: "192.0.2.1",
    subject: account,
    knownTo: { accountId: account, by: "caller" },
  } as const;
  const last = (await times(100, () => begin(caller))).at(-1);
  assertEquals(last?.outcome === "begun" && last.party, { key: account, isKnown: true });
  const beyond = await begin(caller);
  assertEquals(beyond.outcome === "begun" && beyond.party, { key: "192.0.2.1", isKnown: false });
  const place = await begin({
    address: "192.0.2.2",
    subject: "victim",
    knownTo: { accountId: account, by: "place" },
  });
  assertEquals(place.outcome === "begun" && place.party.isKnown, true);
});
