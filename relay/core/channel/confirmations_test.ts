import { assert, assertEquals } from "@std/assert";
import {
  type AgentId,
  decodeRelayEnvelope,
  encodeBase64url,
  limits,
  type NoticeBody,
  parseAccountId,
  parseAgentId,
  parseChannelId,
} from "../../../proto/mod.ts";
import { ConfirmationBudget } from "../limits/confirmation_budget.ts";
import { Confirmations, type RiderPlace } from "./confirmations.ts";

const channelId = parseChannelId("BwcHBwcHBwcHBwcHBwcHBw");
const agent = (number: number): AgentId => {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(0, number);
  return parseAgentId(encodeBase64url(bytes));
};
const state = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const signature = new Uint8Array(64).fill(1);

class Bench {
  nowMs = 1_000_000;
  held = 0;
  readonly present: AgentId[] = [];
  readonly gone = new Set<AgentId>();
  readonly confirmations = new Confirmations(channelId, {
    nowMs: () => this.nowMs,
    isMember: (agentId) => !this.gone.has(agentId),
    hold: (bytes) => this.held = bytes,
  });

  take(number: number, epoch: number, byte = epoch): void {
    this.confirmations.take(agent(number), { epoch, state: state(byte), signature });
  }

  reader(): RiderPlace {
    return { page: 0, toldUnconfirmedMs: this.nowMs };
  }

  /** Everything that rides to a reader now. */
  ride(
    place: RiderPlace,
    { epoch = 1, room = 1019 } = {},
  ): (NoticeBody<"DeliverConfirmations"> | AgentId[])[] {
    const heard: (NoticeBody<"DeliverConfirmations"> | AgentId[])[] = [];
    for (;;) {
      const bytes = this.confirmations.rider(place, room, { epoch, agents: () => this.present });
      if (bytes === undefined) return heard;
      const envelope = decodeRelayEnvelope(bytes);
      assert(envelope.kind === "notice");
      if (envelope.operation === "DeliverConfirmations") heard.push(envelope.body);
      else if (envelope.operation === "DeliverUnconfirmed") heard.push([...envelope.body.agentIds]);
    }
  }

  agents(place: RiderPlace): AgentId[] {
    return this.ride(place).flatMap((each) => "confirmations" in each ? each.confirmations : [])
      .map(({ agentId }) => agentId);
  }
}

Deno.test("every reader is told the newest of each member once, in pages that all share", () => {
  const bench = new Bench();
  const readers = [bench.reader(), bench.reader()];
  for (let i = 0; i < 25; i++) bench.take(i, 1);
  bench.nowMs += 1_000;
  const told = readers.map((reader) => bench.ride(reader));
  const sizes = told.map((pages) =>
    pages.map((page) => "confirmations" in page ? page.confirmations.length : 0)
  );
  assertEquals(sizes, [[10, 10, 5], [10, 10, 5]]);
  assertEquals(told[0], told[1]);
  assertEquals(readers.map((reader) => bench.ride(reader)), [[], []]);
  assertEquals(bench.agents(bench.reader()).length, 25, "and so is one that comes later");
});

Deno.test("a page waits for a second for more, so that few carry many", () => {
  const bench = new Bench();
  const reader = bench.reader();
  bench.take(1, 1);
  assertEquals(bench.ride(reader), []);
  bench.nowMs += 900;
  bench.take(2, 1);
  bench.nowMs += 100;
  assertEquals(bench.agents(reader), [agent(1), agent(2)]);
});

Deno.test("a newer word of a member replaces the one before, and an older one is not taken", () => {
  const bench = new Bench();
  for (let epoch = 1; epoch <= 3; epoch++) {
    for (let i = 0; i < 30; i++) bench.take(i, epoch);
    bench.nowMs += 10_000;
  }
  bench.take(0, 2);
  // As long as a page waits for more.
  bench.nowMs += 1_000;
  assertEquals(bench.confirmations.epochOf(agent(0)), 3);
  const pages = bench.ride(bench.reader());
  assertEquals(pages.map((page) => "epoch" in page && page.epoch), [3, 3, 3]);
  assert(bench.held < 3 * 1_300, `${bench.held} bytes are held`);
});

Deno.test("members that disagree are told apart, each page with one state", () => {
  const bench = new Bench();
  for (let i = 0; i < 12; i++) bench.take(i, 1, i % 2);
  bench.nowMs += 1_000;
  const reader = bench.reader();
  const pages = [...bench.ride(reader), ...bench.ride(reader)];
  assertEquals(pages.map((page) => "state" in page && [page.state[0], page.confirmations.length]), [
    [0, 6],
    [1, 6],
  ]);
});

Deno.test("a member that says something new all the time is heard once in five seconds", () => {
  const bench = new Bench();
  const reader = bench.reader();
  let heard = 0;
  for (let i = 0; i < 60; i++) {
    bench.take(1, 1, i);
    bench.nowMs += 1_000;
    heard += bench.agents(reader).length;
  }
  assertEquals(heard, 12);
});

Deno.test("a word that comes too soon is told when its time has come, though its member says nothing more", () => {
  const bench = new Bench();
  const reader = bench.reader();
  for (const epoch of [1, 2, 3]) bench.take(1, epoch);
  bench.take(2, 1);
  bench.nowMs += 1_000;
  assertEquals(bench.ride(reader, { epoch: 3 }).map((page) => "epoch" in page && page.epoch), [1]);
  bench.nowMs += 4_000;
  assertEquals(bench.ride(reader, { epoch: 3 }), [], "a page waits for a second");
  bench.nowMs += 1_000;
  const [page, ...others] = bench.ride(reader, { epoch: 3 });
  assert(page !== undefined && "epoch" in page);
  assertEquals([page.epoch, page.confirmations.map(({ agentId }) => agentId), others], [3, [
    agent(1),
  ], []]);
  const { held } = bench;
  bench.confirmations.clear();
  assertEquals([held > 0, bench.held], [true, 0]);
});

Deno.test("a page that has no room waits for a cell that has", () => {
  const bench = new Bench();
  for (let i = 0; i < 10; i++) bench.take(i, 1);
  const reader = bench.reader();
  assertEquals(bench.ride(reader, { room: 500 }), []);
  assertEquals(bench.ride(reader).length, 1);
});

Deno.test("members that are connected and have not confirmed are named after a minute, and every five", () => {
  const bench = new Bench();
  bench.present.push(agent(1), agent(2));
  bench.take(1, 7);
  const reader = bench.reader();
  const named: number[] = [];
  for (let second = 0; second < 700; second++) {
    if (bench.ride(reader, { epoch: 7 }).some((each) => Array.isArray(each))) named.push(second);
    bench.nowMs += 1_000;
  }
  assertEquals(named, [300, 600]);
  // Epochs that follow each other quickly hide nobody.
  const quick = new Bench();
  quick.present.push(agent(2));
  const watching = quick.reader();
  let seen = 0;
  for (let epoch = 1; epoch < 60; epoch++) {
    quick.nowMs += 10_000;
    seen += quick.ride(watching, { epoch }).filter(Array.isArray).length;
  }
  assertEquals(seen, 1);
  const other = bench.reader();
  other.toldUnconfirmedMs = 0;
  assertEquals(bench.ride(other, { epoch: 7 }).filter(Array.isArray), [[agent(2)]]);
});

Deno.test("those that are members no more make room for others", () => {
  const bench = new Bench();
  for (let i = 0; i < limits.membersPerChannel; i++) bench.take(i, 1);
  bench.gone.add(agent(0));
  bench.take(5_000, 1);
  assertEquals(bench.confirmations.size, limits.membersPerChannel);
  assertEquals(bench.confirmations.epochOf(agent(0)), undefined);
  assertEquals(bench.confirmations.epochOf(agent(5_000)), 1);
});

Deno.test("an account that holds too much loses what was quiet for longest, and costs no other account anything", () => {
  const budget = new ConfirmationBudget({ perAccount: 100, inAll: 150 });
  const [first, second] = [
    "00000000-0000-4000-8000-000000000001",
    "00000000-0000-4000-8000-000000000002",
  ]
    .map(parseAccountId);
  assert(first !== undefined && second !== undefined);
  const dropped: string[] = [];
  const tail = (account: typeof first, name: string): { dropTail: () => void } => {
    const made = {
      dropTail: (): void => {
        dropped.push(name);
        budget.hold(account, made, 0);
      },
    };
    return made;
  };
  budget.hold(first, tail(first, "a"), 60);
  budget.hold(second, tail(second, "b"), 60);
  budget.hold(first, tail(first, "c"), 60);
  assertEquals(dropped, ["a"]);
  assertEquals(budget.bytes, 120);
  budget.hold(second, tail(second, "d"), 40);
  assertEquals(dropped, ["a", "b"], "in all there is a bound too");
});
