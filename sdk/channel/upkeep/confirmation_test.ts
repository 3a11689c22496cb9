/**
 * Every transition, one by one. Conclusions from the words of others are tested in
 * fork_watch_test.ts.
 */
import { assert, assertEquals } from "@std/assert";
import type { AgentId } from "../../../proto/mod.ts";
import { stepConfirmations } from "./confirmation.ts";
import {
  type ConfirmationEffect,
  type ConfirmationEvent,
  type ConfirmationFacts,
  type ConfirmationRecords,
  keptEpochs,
  overEpochs,
  restoreConfirmations,
} from "./confirmation_state.ts";
import { claimsBehind, longestWait } from "./waiting_claims.ts";

// cast: nobody reads more than their names
const [self, bob, carol] = ["self", "bob", "carol"] as unknown as [AgentId, AgentId, AgentId];
const members = new Set([self, bob, carol]);
const state = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const signature = new Uint8Array(64);
const publicKey = new Uint8Array(32);
const minuteMs = 60_000;

class Member {
  readonly state;
  facts: ConfirmationFacts = {
    nowMs: 1_000_000,
    self,
    isMember: (agentId) => members.has(agentId),
    joinedEpoch: () => 0,
    epoch: 7,
    state: state(7),
    members: 3,
    isCurrent: true,
  };
  effects: ConfirmationEffect[] = [];

  constructor(records: Partial<ConfirmationRecords> = {}, formerEpoch = -1) {
    const none = {
      own: undefined,
      states: new Map(),
      heard: new Map(),
      liars: new Set<AgentId>(),
      begun: undefined,
    };
    this.state = restoreConfirmations({ ...none, ...records }, formerEpoch);
    this.enter(7);
  }

  get at(): string {
    return this.state.word.at;
  }

  know(facts: Partial<ConfirmationFacts>): this {
    this.facts = { ...this.facts, ...facts };
    return this;
  }

  pass(ms: number): this {
    return this.know({ nowMs: this.facts.nowMs + ms });
  }

  step(event: ConfirmationEvent): this {
    this.effects = [...stepConfirmations(this.state, event, this.facts).effects];
    return this;
  }

  enter(
    epoch: number,
    by?: Extract<ConfirmationEvent, { type: "entered" }>["by"],
    byte = epoch,
  ): this {
    return this.know({ epoch, state: state(byte) }).step({
      type: "entered",
      epoch,
      state: state(byte),
      by,
    });
  }

  confirm(): this {
    return this.step({ type: "confirm" });
  }

  signed(): this {
    const { word } = this.state;
    return this.step({ type: "signed", job: word.at === "signing" ? word.job : 0, signature });
  }

  /** The word about this epoch is given. */
  say(): this {
    return this.confirm().signed();
  }

  time(): this {
    const { word } = this.state;
    return this.step({ type: "time", timer: "timer" in word ? word.timer : 0 });
  }

  told(agentId: AgentId, epoch: number, byte = epoch): this {
    return this.step({
      type: "told",
      said: { epoch, state: state(byte) },
      by: [{ agentId, publicKey, signature }],
      isOwn: false,
    });
  }

  /** And its signature is good. */
  said(agentId: AgentId, epoch: number, byte = epoch): this {
    return this.step({
      type: "verified",
      claims: [{
        ...{ agentId, publicKey, signature, epoch, state: state(byte) },
        ...{ atMs: this.facts.nowMs, begunMs: undefined, waited: false },
      }],
      doubted: [],
    });
  }

  only<Type extends ConfirmationEffect["type"]>(
    type: Type,
  ): Extract<ConfirmationEffect, { type: Type }>[] {
    // cast: the filter says so
    return this.effects.filter((effect) => effect.type === type) as Extract<
      ConfirmationEffect,
      { type: Type }
    >[];
  }

  get waitMs(): number | undefined {
    return this.only("wake").at(-1)?.afterMs;
  }
}

Deno.test("confirm: the word is written, then signed, then told, and again after five minutes", () => {
  const member = new Member().confirm();
  assertEquals([member.at, member.only("sign")[0]?.isNew, member.only("tell").length], [
    "signing",
    true,
    0,
  ]);
  assertEquals(member.state.own, undefined, "it is not on disk yet");
  member.signed();
  assertEquals([member.at, member.only("tell")[0]?.signed.epoch, member.waitMs], [
    "said",
    7,
    5 * minuteMs,
  ]);
  assertEquals(member.state.own?.epoch, 7);
  member.time();
  assertEquals([member.at, member.only("sign")[0]?.isNew], ["signing", false], "it is on disk");
});

Deno.test("confirm in `said`, the same epoch: again at once, for a relay that has just come back", () => {
  assertEquals(new Member().say().confirm().only("sign").map(({ isNew }) => isNew), [false]);
});

Deno.test("confirm, a new epoch: not within ten seconds of the last one, and then the newest", () => {
  const member = new Member().say().pass(4000).enter(8).confirm();
  assertEquals([member.at, member.waitMs], ["due", 6000]);
  assertEquals(member.enter(9).confirm().effects, []);
  member.pass(6000).time();
  assertEquals(member.only("sign").map(({ said }) => said.epoch), [9]);
});

Deno.test("confirm behind a clock that was set back: after ten seconds", () => {
  assertEquals(new Member().say().pass(-3_600_000).enter(8).confirm().waitMs, 10_000);
});

Deno.test("confirm: nothing about an epoch of a former group, against an earlier word, or alone", () => {
  assertEquals(new Member({}, 7).confirm().effects, []);
  assertEquals(new Member({ own: { epoch: 8, state: state(8) } }).confirm().effects, []);
  assertEquals(new Member({ own: { epoch: 7, state: state(99) } }).confirm().effects, []);
  assertEquals(new Member().know({ members: 1 }).confirm().effects, []);
  assertEquals(new Member({ own: { epoch: 7, state: state(7) } }).confirm().only("sign").length, 1);
});

Deno.test("confirm in `signing`: nothing; the epoch that has come meanwhile is due behind it", () => {
  const member = new Member().confirm().enter(8).confirm();
  assertEquals(member.effects, []);
  member.signed();
  assertEquals([member.only("tell")[0]?.signed.epoch, member.at, member.waitMs], [
    7,
    "due",
    10_000,
  ]);
  assertEquals(new Member().confirm().enter(8).know({ isCurrent: false }).signed().at, "said");
});

Deno.test("signed, of another job: nothing", () => {
  assertEquals(new Member().say().signed().effects, []);
});

Deno.test("time in `due`, `said`, not current: none, until the channel is up to date", () => {
  const due = new Member().say().enter(8).confirm().know({ isCurrent: false }).pass(10_000).time();
  assertEquals([due.at, due.effects], ["none", []]);
  const said = new Member().say().know({ isCurrent: false }).time();
  assertEquals([said.at, said.effects], ["none", []]);
  assertEquals(said.know({ isCurrent: true }).confirm().at, "signing");
});

Deno.test("entered: the committer was with us in the epoch that it ended, and those that came were there when they asked", () => {
  const member = new Member().enter(8, {
    committer: bob,
    added: [{ agentId: carol, madeMs: 500 }],
  });
  const { forks } = member.state;
  assertEquals([forks.confirmed.get(bob)?.epoch, forks.heardMs.get(carol)], [7, 500]);
  const unknown = new Member().enter(20, {
    committer: bob,
    added: [{ agentId: carol, madeMs: 2_000_000 }],
  });
  assertEquals([unknown.state.forks.confirmed.get(bob), unknown.state.forks.heardMs.get(carol)], [
    undefined,
    1_000_000,
  ]);
});

Deno.test("entered: the 257th state goes, in the commit's write too", () => {
  const states = new Map(Array.from({ length: keptEpochs }, (_, epoch) => [epoch + 100, state(1)]));
  const member = new Member({ states: new Map([...states].slice(1)) });
  assertEquals(member.state.states.size, keptEpochs);
  assertEquals(overEpochs(member.state, 356), [101]);
  member.enter(356, { committer: bob, added: [] });
  assertEquals(
    [member.state.states.size, member.state.states.has(101), member.state.states.has(7)],
    [
      keptEpochs,
      false,
      true,
    ],
  );
});

Deno.test("restarted: of the group before no state is compared, and nothing is said up to where it was", () => {
  const member = new Member().say().enter(8);
  member.know({ epoch: 6, state: state(60) }).step({
    type: "restarted",
    epoch: 6,
    state: state(60),
    formerEpoch: 8,
  });
  assertEquals([...member.state.states.keys()], [6]);
  assertEquals(member.confirm().effects, []);
  assertEquals(member.pass(minuteMs).enter(9).confirm().only("sign").length, 1);
});

Deno.test("told: news of members that differ is verified, and nothing else", () => {
  // cast: as above
  const stranger = "stranger" as AgentId;
  const member = new Member();
  for (const agentId of [self, stranger]) assertEquals(member.told(agentId, 7).effects, []);
  assertEquals(member.told(bob, 7, 99).only("verify").map(({ claims }) => claims.length), [1]);
  assertEquals(member.said(bob, 7).state.forks.confirmed.get(bob)?.epoch, 7);
  assertEquals(member.told(bob, 7).effects, [], "it was heard before");
});

const hourMs = 60 * minuteMs;
/** Bob was heard of. */
const heard = (records: Partial<ConfirmationRecords> = {}): Member => {
  const bobWas = { confirmed: undefined, said: undefined, heardMs: 1_000_000 };
  return new Member({ heard: new Map([[bob, bobWas]]), ...records });
};

Deno.test("told, what agrees: it waits until somebody asks, and counts as of when it came", () => {
  const member = heard().told(bob, 7);
  assertEquals([member.waitMs, member.only("verify"), member.state.claims.size], [hourMs, [], 1]);
  assertEquals(member.told(bob, 7).effects, [], "the same again");
  member.pass(minuteMs).step({ type: "asked", agentIds: [bob, carol] });
  const [verify] = member.only("verify");
  assertEquals([verify?.claims.length, member.waitMs, member.state.claims.size], [1, minuteMs, 0]);
  member.step({ type: "verified", claims: verify?.claims ?? [], doubted: [] });
  const { confirmed, said } = member.state.forks;
  assertEquals([confirmed.get(bob), said.get(bob)?.epoch], [{ epoch: 7, atMs: 1_000_000 }, 7]);
  assertEquals(member.told(bob, 7).effects, [], "it was heard before");
});

/** Those that wait, the newest first. */
const waiting = ({ state: { claims } }: Member): number[] =>
  claimsBehind(claims.get(bob)).map(({ epoch }) => epoch);

Deno.test("told, what agrees about a later epoch: it waits before the others, up to eight", () => {
  const member = heard().told(bob, 7).enter(8).told(bob, 8);
  assertEquals([member.effects, waiting(member)], [[], [8, 7]]);
  assertEquals(waiting(member.told(bob, 7)), [8, 7], "the same again");
  for (let epoch = 9; epoch < 14; epoch++) member.enter(epoch).told(bob, epoch);
  assertEquals([member.only("verify"), waiting(member).length], [[], longestWait - 1]);
  member.enter(14).told(bob, 14);
  const [verify] = member.only("verify");
  assertEquals(verify?.claims.map((claim) => claimsBehind(claim).length), [longestWait]);
  assertEquals(waiting(member), []);
});

Deno.test("told, several times in one page: the first counts", () => {
  const said = { epoch: 7, state: state(7) };
  const word = { agentId: bob, publicKey, signature };
  const by = [word, { ...word, signature: signature.slice().fill(1) }];
  const member = heard().step({ type: "told", said, by, isOwn: false });
  assertEquals([member.only("verify"), waiting(member)], [[], [7]]);
});

Deno.test("time, an hour after something began to wait: all is looked at, if anything waits yet", () => {
  const look = (member: Member): Member =>
    member.step({ type: "time", timer: member.state.look ?? 0 });
  assertEquals(look(heard().told(bob, 7)).effects, [{ type: "look" }]);
  assertEquals(look(heard().told(bob, 7).step({ type: "asked", agentIds: [bob] })).effects, []);
});

Deno.test("verified, and something else was told that nobody signed: nothing of that member waits", () => {
  const member = heard().step({ type: "verified", claims: [], doubted: [bob] });
  assertEquals(member.told(bob, 7).only("verify").length, 1);
  assertEquals(member.said(bob, 7).enter(8).told(bob, 8).only("verify"), [], "it has signed one");
  member.step({ type: "verified", claims: [], doubted: [bob] });
  assertEquals(member.know({ isMember: () => false }).enter(9).state.doubted.size, 0);
});

Deno.test("told, what may not wait: with what waits of its signer, in the order in which it came", () => {
  const epochs = (member: Member): number[] =>
    member.only("verify").flatMap(({ claims }) => claims.map(({ epoch }) => epoch));
  assertEquals(epochs(heard().told(bob, 7).told(bob, 7, 99)), [7, 7], "it differs");
  assertEquals(epochs(heard().told(bob, 7).told(bob, 9)), [7, 9], "of an epoch to come");
  assertEquals(epochs(heard().enter(8).told(bob, 8).told(bob, 7)), [8, 7], "out of order");
  const by = [{ agentId: bob, publicKey, signature: signature.slice().fill(1) }];
  const said = { epoch: 7, state: state(7) };
  assertEquals(epochs(heard().told(bob, 7).step({ type: "told", said, by, isOwn: false })), [7, 7]);
  assertEquals(epochs(heard().step({ type: "told", said, by, isOwn: true })), [7], "its own");
  assertEquals(epochs(heard({ liars: new Set([bob]) }).told(bob, 7)), [7], "of a liar");
  assertEquals(epochs(heard().said(bob, 7, 99).enter(8).told(bob, 8)), [8], "of one that differed");
  const late = heard().pass(24 * 60 * minuteMs + 1).enter(8).told(bob, 8);
  assertEquals(epochs(late), [8], "not heard of for a day");
  assertEquals(epochs(heard().pass(-1).told(bob, 7)), [7], "heard of in the future");
});

Deno.test("told, its own word that waits already: that is verified, once", () => {
  const said = { epoch: 7, state: state(7) };
  const by = [{ agentId: bob, publicKey, signature }];
  const member = heard().told(bob, 7).step({ type: "told", said, by, isOwn: true });
  assertEquals(member.only("verify").map(({ claims }) => claims.length), [1]);
});

Deno.test("verified, a contradiction: what waits of others is verified before it is judged", () => {
  const member = heard().said(carol, 7).told(bob, 7).said(carol, 7, 99);
  const names = member.only("verify").flatMap(({ claims }) => claims.map(({ agentId }) => agentId));
  assertEquals([names, member.only("report")], [[bob, carol], []]);
  member.step({ type: "verified", claims: member.only("verify")[0]?.claims ?? [], doubted: [] });
  assertEquals(member.only("report").map(({ kind, about }) => [kind, about]), [
    ["member_lied", carol],
  ]);
  assertEquals(member.state.forks.confirmed.get(bob)?.epoch, 7);
  assertEquals(member.enter(8).told(bob, 8).said(carol, 7, 98).only("verify"), [], "a known liar");
});

Deno.test("entered: claims of those that are gone are forgotten, and others wait", () => {
  const member = heard().told(bob, 7);
  assertEquals([member.enter(8).state.claims.size, member.only("verify")], [1, []]);
  member.know({ isMember: (agentId) => agentId !== bob }).enter(9);
  assertEquals([member.state.claims.size, member.only("verify")], [0, []]);
});

Deno.test("restarted: claims of its epoch that agreed with another group are verified", () => {
  const restart = (epoch: number): Member =>
    heard().enter(8).told(bob, 8).know({ epoch, state: state(80) }).step({
      type: "restarted",
      epoch,
      state: state(80),
      formerEpoch: 8,
    });
  assertEquals(restart(8).only("verify")[0]?.claims.map(({ waited }) => waited), [false]);
  assertEquals(restart(7).only("verify").length, 1, "it is of an epoch to come");
  assertEquals(restart(9).state.claims.size, 1);
  const both = heard().told(bob, 7).enter(8).told(bob, 8).know({ state: state(80) }).step({
    type: "restarted",
    epoch: 8,
    state: state(80),
    formerEpoch: 8,
  });
  const [verify] = both.only("verify");
  assertEquals(verify?.claims.map(({ epoch, waited }) => [epoch, waited]), [[7, true], [8, false]]);
});

Deno.test("entered at the start: the epoch began when it says on disk, and not in the future", () => {
  const begunMs = (atMs: number, epoch = 7): number | undefined =>
    new Member({ begun: { epoch, atMs } }).state.forks.begun.get(7);
  assertEquals([begunMs(5), begunMs(2_000_000), begunMs(5, 6)], [5, 1_000_000, 1_000_000]);
});

Deno.test("verified: a statement that differs is told at once", () => {
  const member = new Member().said(bob, 7, 99);
  assertEquals(member.effects.map(({ type }) => type), ["report", "forked"]);
});

Deno.test("verified, of a later epoch than ours: a minute later the relay is named, if it is so yet", () => {
  const ahead = (): Member => new Member().said(bob, 9);
  const time = (member: Member): Member =>
    member.step({ type: "time", timer: member.state.ahead ?? 0 });
  assertEquals(ahead().waitMs, minuteMs);
  assertEquals(time(ahead()).only("report").map(({ kind }) => kind), ["withheld_commit"]);
  assertEquals(ahead().said(carol, 9).effects, [], "one minute for both");
  assertEquals(time(ahead().know({ isCurrent: false })).effects, []);
  assertEquals(time(ahead().enter(8).enter(9)).effects, []);
});

Deno.test("heard: a message opened; what was heard is noted after a minute, once", () => {
  const member = new Member().step({ type: "heard", agentId: bob, epoch: 7 });
  assertEquals([member.waitMs, member.state.forks.confirmed.get(bob)?.epoch], [minuteMs, 7]);
  assertEquals(member.step({ type: "heard", agentId: self, epoch: 7 }).effects, []);
  const timer = member.state.keep ?? 0;
  assertEquals(member.step({ type: "time", timer }).effects, [{
    type: "note",
    operation: undefined,
  }]);
  assertEquals(member.step({ type: "time", timer }).effects, []);
});

Deno.test("keep: what was heard is noted before the process ends, if anything was", () => {
  const member = new Member();
  assertEquals(member.step({ type: "keep", operation: 1 }).effects, [{
    type: "settle",
    operation: 1,
  }]);
  member.step({ type: "heard", agentId: bob, epoch: 7 }).step({ type: "keep", operation: 2 });
  assertEquals(member.effects, [{ type: "note", operation: 2 }]);
  assertEquals(member.state.keep, undefined);
});

Deno.test("unconfirmed: members that the relay calls connected, up to our epoch", () => {
  const member = new Member().step({ type: "connection", isOnline: true });
  member.step({ type: "unconfirmed", epoch: 8, agentIds: [bob] });
  assertEquals(member.state.forks.present.size, 0);
  member.step({ type: "unconfirmed", epoch: 7, agentIds: [bob] });
  assert(member.state.forks.present.has(bob));
});
