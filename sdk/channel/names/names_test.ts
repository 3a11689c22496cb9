/** Every transition of names, one by one. Orders of events are tried in tests/small_worlds. */
import { assert, assertEquals } from "@std/assert";
import type { ChannelId, ChannelName } from "../../../proto/mod.ts";
import { copyNames, type KeptChannel, restoreNames } from "./kept_names.ts";
import { stepNames } from "./names.ts";
import type {
  NameAnswer,
  NameCall,
  NameCallOutcome,
  NameJobResult,
  NamesEffect,
  NamesEvent,
  NameSlot,
  NamesState,
  NamesStep,
  NameTurn,
} from "./names_state.ts";

// cast: names and ids of these tests
const [name, otherName] = ["acme/ops/a", "acme/ops/b"] as unknown as readonly [
  ChannelName,
  ChannelName,
];
const [a, b] = ["A", "B"] as unknown as readonly [ChannelId, ChannelId]; // cast: the same

/** A call without its number. */
type Called = NameCall extends infer C ? C extends NameCall ? Omit<C, "operation"> : never : never;

class Names {
  readonly state: NamesState;
  stuck: readonly number[] = [];
  isHidden = false;
  /** Calls whose writes the disk has refused. */
  unwritten: readonly number[] = [];
  last: NamesStep = { write: [], effects: [] };
  operations = 0;

  constructor(
    channels: readonly Partial<KeptChannel>[] = [],
    nonces: Readonly<Record<string, string>> = {},
  ) {
    const kept = channels.map((each) => ({
      channelId: a,
      name,
      hasKeys: true,
      isNoted: false,
      ...each,
    }));
    this.state = restoreNames({ channels: kept, nonces });
  }

  step(event: NamesEvent): this {
    const facts = {
      isStuck: (each: number): boolean => this.stuck.includes(each),
      isHidden: () => this.isHidden,
      nonce: "fresh",
      isUnwritten: (each: number): boolean => this.unwritten.includes(each),
    };
    this.last = stepNames(this.state, event, facts);
    return this;
  }

  /** By its next operation. */
  call(by: Called, of = name): this {
    // cast: with its number it is one
    return this.step({
      type: "called",
      name: of,
      by: { ...by, operation: ++this.operations } as NameCall,
    });
  }

  close(): this {
    return this.step({ type: "close", name, operation: ++this.operations });
  }

  get slot(): NameSlot {
    return this.state.names[name]?.slot ?? { at: "free" };
  }

  get turn(): NameTurn | undefined {
    return this.state.names[name]?.turn;
  }

  get at(): string {
    return this.slot.at;
  }

  get membership(): number {
    return "membership" in this.slot ? this.slot.membership : 0;
  }

  get leaf(): number {
    return "leaf" in this.slot ? this.slot.leaf : 0;
  }

  /** The number of what is waited for. */
  get number(): number {
    const { turn, slot } = this;
    if (turn !== undefined && "call" in turn) return turn.call;
    if (turn !== undefined && "job" in turn) return turn.job;
    const job = slot.at === "erasing" ? slot.job : undefined;
    return job ?? this.state.closing[0]?.call ?? 0;
  }

  answer(answer: NameAnswer = { of: "ListMembers", isNew: true }): this {
    return this.step({ type: "answered", call: this.number, answer });
  }

  refuse(code: string): this {
    return this.step({ type: "refused", call: this.number, code });
  }

  done(result: NameJobResult): this {
    return this.step({ type: "done", job: this.number, result });
  }

  fail(): this {
    return this.step({ type: "failed", job: this.number });
  }

  created(channelId = a, isRepeated = false): this {
    return this.answer({ of: "CreateChannel", channelId, isRepeated });
  }

  welcome(channelId = a, at = 0, key: string | undefined = undefined): this {
    return this.done({ of: "open_welcome", channelId, key, at });
  }

  /** Opens what is at rest. */
  opened(): this {
    return this.call({ type: "open", orCreates: false }).done({ of: "load", hasKeys: true });
  }

  gone(leaving: readonly number[] = []): this {
    return this.step({ type: "gone", membership: this.membership, leaving });
  }

  over(leaving: readonly number[] = []): this {
    return this.step({ type: "over", membership: this.membership, leaving });
  }

  /** To its end. */
  erased(): this {
    for (let { slot } = this; slot.at === "erasing"; slot = this.slot) {
      this.step({ type: "done", job: slot.job ?? 0, result: { of: "erase" } });
    }
    return this;
  }

  recalled(way: "close" | "leave" | "kept_out"): this {
    return this.done({ of: "recall", way });
  }

  settled(operation = this.operations): NameCallOutcome | undefined {
    return this.last.effects.flatMap((each) =>
      each.type === "settle" && each.operation === operation ? [each.result] : []
    )[0];
  }

  get refusal(): string | undefined {
    const settled = this.settled();
    return settled?.type === "refused" ? settled.why : settled?.type;
  }

  get requests(): string[] {
    return this.last.effects.flatMap((each) => each.type === "call" ? [each.request.of] : []);
  }

  has(type: NamesEffect["type"]): boolean {
    return this.last.effects.some((effect) => effect.type === type);
  }

  get writes(): string[] {
    return this.last.write.map(({ type }) => type);
  }
}

const opened: NameJobResult = { of: "open_welcome", channelId: a, key: undefined, at: 0 };

function jobOf({ turn }: Names): number {
  return turn !== undefined && "job" in turn ? turn.job : 0;
}

const create = { type: "create" } as const;
const join = { type: "join" } as const;
const check = { type: "check" } as const;
const open = { type: "open", orCreates: false } as const;
const invited = (before?: number): Called => ({ type: "invited", before });

const free = (): Names => new Names();
const keyless = (): Names => new Names([{ hasKeys: false }]);
const resting = (): Names => new Names([{}]);
const running = (): Names => resting().opened();
function stuck(): Names {
  const names = running();
  names.stuck = [names.membership];
  return names;
}

Deno.test("names: each call begins as its slot says", () => {
  const begun = (names: Names, by: Called): string | undefined =>
    names.call(by).turn?.at ?? names.refusal;
  const expected: readonly (readonly [Called, readonly (string | undefined)[]])[] = [
    [create, ["creating", "creating", "asking", "asking"]],
    [join, ["opening_welcome", "opening_welcome", "asking", "asking"]],
    [invited(), ["opening_welcome", "opening_welcome", "asking", "asking"]],
    [check, ["may_ask", "may_ask", "asking", "asking"]],
    [open, ["not_here", "keys_lost", "loading", "opened"]],
    [{ type: "open", orCreates: true }, ["creating", "keys_lost", "loading", "opened"]],
    [{ type: "leave", membership: 77 }, ["done", "done", "done", "done"]],
  ];
  for (const [by, ats] of expected) {
    const found = [free, keyless, resting, running].map((make) => begun(make(), by));
    assertEquals(found, ats, by.type);
  }
});

Deno.test("names: an invited agent whose slot is as at its check asks nothing more", () => {
  for (const names of [resting(), running()]) {
    assertEquals(names.call(invited(names.leaf)).turn?.at, "opening_welcome");
  }
});

Deno.test("names: leave goes to the machine of what is open, and has a turn for what rests", () => {
  const names = running();
  assert(names.call({ type: "leave", membership: names.membership }).has("depart"));
  assertEquals(names.turn, undefined);
  const over = resting();
  assertEquals(over.call({ type: "leave", membership: over.membership }).turn?.at, "recalling");
});

Deno.test("names: a call waits for the one that has the turn, another name does not", () => {
  const names = free().call(create);
  assertEquals(names.call(create).requests, []);
  assertEquals(names.call(create, otherName).requests, ["CreateChannel"]);
  assertEquals(names.created().done({ of: "make" }).at, "open");
  assertEquals([names.turn?.at, names.requests], ["asking", ["ListMembers"]], "the second one");
});

Deno.test("names: what the relay says of a membership decides whether a call goes on", () => {
  const said = (names: Names, by: Called, isMember: boolean): string | undefined => {
    names.call(by);
    if (isMember) names.answer();
    else names.refuse("not_found");
    return names.turn?.at ?? names.refusal;
  };
  const row = (by: Called, isMember: boolean): (string | undefined)[] =>
    [resting, running, stuck].map((make) => said(make(), by, isMember));
  assertEquals(row(create, true), ["in_already", "in_already", "in_already"]);
  assertEquals(row(join, true), ["in_already", "in_already", "opening_welcome"]);
  assertEquals(row(invited(), true), ["in_already", "in_already", "opening_welcome"]);
  assertEquals(row(check, true), ["in_already", "in_already", "may_ask"]);
  assertEquals(row(create, false), ["forgotten", "forgotten", "forgotten"]);
  assertEquals(row(join, false), ["opening_welcome", "forgotten", "opening_welcome"]);
  assertEquals(row(invited(), false), ["opening_welcome", "opening_welcome", "opening_welcome"]);
  assertEquals(row(check, false), ["may_ask", "may_ask", "may_ask"]);
});

Deno.test("names: a channel that the pass is not for is not taken for one that is over", () => {
  for (const by of [create, join, check, invited()]) {
    const names = resting();
    names.isHidden = true;
    assertEquals(names.call(by).refuse("not_found").refusal, "hidden");
  }
});

Deno.test("names: a relay that cannot be asked decides nothing", () => {
  assertEquals(resting().call(join).refuse("overloaded").refusal, "failed");
});

Deno.test("names: a slot that changed while the relay was asked is looked at from the top", () => {
  const gone = running().call(join).gone();
  assertEquals([gone.answer().turn, gone.at], [undefined, "erasing"]);
  assertEquals(gone.erased().turn?.at, "opening_welcome");
  const rejoined = stuck().call(join);
  rejoined.step({ type: "rejoined", membership: rejoined.membership });
  assertEquals(rejoined.answer().turn?.at, "asking");
  const back = stuck().call(join);
  back.stuck = [];
  assertEquals(back.answer().refusal, "in_already");
});

Deno.test("names: a creation has its nonce on disk first, and loses it with the membership or a refusal that is final", () => {
  const names = free().call(create);
  assertEquals([names.writes, names.requests], [["nonce"], ["CreateChannel"]]);
  assertEquals(names.created().turn?.at, "making");
  const [write] = names.done({ of: "make" }).last.write;
  assert(write?.type === "membership" && write.isCreated);
  assertEquals([names.at, names.refusal, names.has("begin"), names.state.names[name]?.nonce], [
    "open",
    "opened",
    true,
    undefined,
  ]);
  assertEquals(free().call(create).refuse("name_taken").writes, ["nonce"]);
  const lost = free().call(create).refuse("transport_error");
  assertEquals([lost.refusal, lost.state.names[name]?.nonce], ["failed", "fresh"]);
  assertEquals([lost.call(create).writes, lost.requests], [[], ["CreateChannel"]]);
});

Deno.test("names: a channel that an earlier call made may be closed since, or have other members", () => {
  const repeated = (): Names => new Names([], { [name]: "old" }).call(create).created(a, true);
  assertEquals([repeated().turn?.at, repeated().requests], ["confirming", ["ListMembers"]]);
  assertEquals(repeated().answer().turn?.at, "making");
  assertEquals(repeated().refuse("overloaded").refusal, "failed");
  const others: NameAnswer = { of: "ListMembers", isNew: false };
  for (const again of [repeated().refuse("not_found"), repeated().answer(others)]) {
    assertEquals([again.writes, again.turn?.at, again.state.names[name]?.nonce], [
      ["nonce"],
      "creating",
      "fresh",
    ]);
    assertEquals(again.created(b, true).turn?.at, "making", "a fresh nonce repeats nothing");
  }
});

Deno.test("names: a channel that another name has, or is about to have, is not entered", () => {
  const created = (names: Names): string | undefined => names.call(create).created().refusal;
  assertEquals(created(new Names([{ name: otherName }])), "other_name");
  assertEquals(created(free().call(join, otherName)), undefined);
  const both = free().call(create, otherName);
  const turn = both.state.names[otherName]?.turn;
  both.step({
    type: "answered",
    call: turn?.at === "creating" ? turn.call : 0,
    answer: { of: "CreateChannel", channelId: a, isRepeated: false },
  });
  assertEquals(created(both), "other_name");
});

Deno.test("names: a Welcome enters what is free, and takes the record of what has lost its keys", () => {
  assertEquals([free().call(join).welcome().at, keyless().call(join).welcome(b).at], [
    "open",
    "open",
  ]);
  const [write] = keyless().call(join).welcome(b).last.write;
  assert(write?.type === "membership" && write.keyless === a && !write.isCreated);
  const [same] = keyless().call(join).welcome(a).last.write;
  assert(same?.type === "membership" && same.keyless === undefined);
});

Deno.test("names: a Welcome that leads into another name makes way for the next, and the first refusal is told", () => {
  const names = new Names([{ name: otherName }]).call(join);
  assertEquals([names.welcome(a, 2).turn?.at, names.refusal], ["opening_welcome", undefined]);
  const [next] = names.last.effects;
  assert(next?.type === "job" && next.work.of === "open_welcome" && next.work.from === 3);
  assertEquals(names.fail().refusal, "other_name");
  assertEquals(free().call(join).fail().refusal, "failed");
});

Deno.test("names: in whose place a Welcome leads", () => {
  const led = (make: () => Names, by: "join" | "invited", into: ChannelId): string | undefined => {
    const names = make();
    if (by === "join") names.call(join).refuse("not_found");
    else names.call(invited(names.leaf));
    if (names.turn?.at !== "opening_welcome") return names.refusal;
    const { turn } = names.welcome(into);
    return turn?.at === "opening_welcome" ? turn.refusal : turn?.at;
  };
  const row = (by: "join" | "invited", into: ChannelId): (string | undefined)[] =>
    [resting, running, stuck].map((make) => led(make, by, into));
  assertEquals(row("join", a), ["replacing", "forgotten", "retiring"]);
  assertEquals(row("join", b), ["forgotten", "forgotten", "in_already"]);
  assertEquals(row("invited", a), ["replacing", "retiring", "retiring"]);
  assertEquals(row("invited", b), ["replacing", "forgotten", "replacing"]);
});

Deno.test("names: a machine that is stuck ends before the new membership is written over it", () => {
  const names = stuck().call(join).answer();
  const { membership } = names;
  names.welcome();
  assertEquals([names.at, names.turn?.at], ["resting", "retiring"]);
  names.step({ type: "over", membership, leaving: [40] });
  assertEquals(names.settled(40), { type: "refused", why: "replaced" });
  assertEquals([names.done({ of: "retire" }).writes, names.at, names.refusal], [
    ["membership"],
    "open",
    "opened",
  ]);
  assertEquals(names.call({ type: "leave", membership }).refusal, "replaced");
  const failed = stuck().call(join).answer().welcome().fail();
  assertEquals([failed.refusal, failed.at], ["failed", "resting"]);
});

Deno.test("names: a machine that comes back while it ends keeps its place", () => {
  const retired = stuck().call(join).answer().welcome();
  retired.step({ type: "rejoined", membership: retired.membership }).done({ of: "retire" });
  assertEquals([retired.writes, retired.at, retired.turn?.at], [[], "resting", "asking"]);
  const replaced = stuck();
  replaced.call(invited(replaced.leaf)).welcome(b);
  replaced.step({ type: "rejoined", membership: replaced.membership }).done({ of: "erase" });
  assertEquals([replaced.at, replaced.turn?.at], ["resting", "asking"]);
  const closed = stuck();
  closed.call(invited(closed.leaf)).welcome(b).close();
  closed.step({
    type: "answered",
    call: closed.state.closing[0]?.call ?? 0,
    answer: { of: "CloseChannel" },
  });
  closed.step({ type: "rejoined", membership: closed.membership }).done({ of: "erase" });
  assertEquals(closed.turn?.at, "asking", "the one that was closed waits for its turn");
  closed.answer();
  assertEquals([closed.settled(2)?.type, closed.slot.at === "erasing" && closed.slot.why], [
    "refused",
    "closed",
  ]);
  assertEquals(closed.erased().settled(3), { type: "done" });
});

Deno.test("names: two names do not enter by one KeyPackage", () => {
  const names = new Names([{ channelId: b, name: otherName }]);
  names.call({ type: "join" }, otherName);
  const asking = names.state.names[otherName]?.turn;
  names.step({
    type: "refused",
    call: asking?.at === "asking" ? asking.call : 0,
    code: "not_found",
  });
  const other = names.state.names[otherName]?.turn;
  names.step({
    type: "done",
    job: other?.at === "opening_welcome" ? other.job : 0,
    result: { of: "open_welcome", channelId: b, key: "K", at: 0 },
  });
  assertEquals(names.state.names[otherName]?.turn?.at, "replacing");
  assertEquals(names.call(join).welcome(a, 0, "K").fail().refusal, "key_in_use");
});

Deno.test("names: the write of a new membership waits for the erasure of the former", () => {
  const names = resting();
  names.call(invited(names.leaf)).welcome(b);
  assertEquals([names.at, names.turn?.at, names.writes], ["erasing", "replacing", []]);
  assertEquals(
    [names.erased().writes, names.at, names.slot.at === "open" && names.slot.channelId],
    [
      ["membership"],
      "open",
      b,
    ],
  );
  const gone = running();
  gone.call(invited(gone.leaf)).gone().step({ type: "done", job: jobOf(gone), result: opened });
  assertEquals([gone.turn?.at, gone.writes], ["replacing", []]);
  assertEquals(gone.erased().writes, ["membership"]);
});

Deno.test("names: a Welcome of a call that was overtaken is judged anew", () => {
  const other = running();
  other.call(invited(other.leaf)).step({ type: "rejoined", membership: other.membership });
  assertEquals(other.welcome().turn?.at, "asking");
  const back = stuck().call(join).answer();
  const job = jobOf(back);
  back.step({ type: "rejoined", membership: back.membership }).gone().step({
    type: "done",
    job,
    result: opened,
  });
  assertEquals(
    [back.turn, back.writes],
    [undefined, []],
    "it came back by this Welcome, and was removed again",
  );
  const came = stuck().call(join).answer();
  came.stuck = [];
  assertEquals(came.welcome().refusal, "in_already");
});

Deno.test("names: opening reads the records, also when they are not what was expected", () => {
  const names = resting();
  const { membership } = names;
  names.call(open);
  assertEquals(names.call(create).requests, [], "others wait");
  assertEquals([names.done({ of: "load", hasKeys: true }).settled(1), names.at], [
    { type: "opened", membership },
    "open",
  ]);
  assertEquals([names.membership, names.has("begin")], [membership, true]);
  const lost = resting().call(open).done({ of: "load", hasKeys: false });
  assertEquals([lost.refusal, lost.at], ["keys_lost", "keyless"]);
  const failed = resting().call(open).fail();
  assertEquals([failed.refusal, failed.at], ["failed", "resting"]);
});

Deno.test("names: a leave of a membership at rest goes by its records, and others leave with it", () => {
  const left = (way: "close" | "leave" | "kept_out" = "leave"): Names => {
    const names = resting();
    const leave = { type: "leave", membership: names.membership } as const;
    return names.call(leave).recalled(way).call(leave);
  };
  const ends = [
    (names: Names) => names.answer({ of: "LeaveChannel" }),
    (names: Names) => names.refuse("not_found"),
  ];
  for (const end of ends) {
    const names = end(left());
    assertEquals([names.at, names.settled()], ["erasing", undefined]);
    assertEquals([names.erased().settled(1)?.type, names.settled(2)?.type, names.at], [
      "done",
      "done",
      "free",
    ]);
  }
  const refused = left().refuse("state_conflict");
  assertEquals([refused.at, refused.settled(1)?.type, refused.settled(2)?.type], [
    "resting",
    "failed",
    "failed",
  ]);
  const hidden = left();
  hidden.isHidden = true;
  assertEquals(hidden.refuse("not_found").at, "resting");
  assertEquals(left().call(open).turn?.at, "leaving", "nobody opens it meanwhile");
  const last = resting();
  assertEquals(
    last.call({ type: "leave", membership: last.membership }).recalled("kept_out").refusal,
    "kept_out",
  );
  const alone = resting();
  alone.call({ type: "leave", membership: alone.membership });
  assertEquals(alone.recalled("close").requests, ["CloseChannel"]);
  assertEquals(alone.refuse("not_allowed").requests, ["LeaveChannel"]);
});

Deno.test("names: closeChannel asks the relay first, whatever the slot holds", () => {
  const erasing = running().gone();
  assertEquals(
    [free(), keyless(), resting(), running(), erasing].map((names) => names.close().requests[0]),
    [
      "ListChannels",
      "CloseChannel",
      "CloseChannel",
      "CloseChannel",
      "CloseChannel",
    ],
  );
  assertEquals(
    free().close().answer({ of: "ListChannels", channelId: undefined }).refusal,
    "not_at_relay",
  );
  const found = free().close().answer({ of: "ListChannels", channelId: b });
  assertEquals(found.requests, ["CloseChannel"]);
  assertEquals(found.answer({ of: "CloseChannel" }).refusal, "done");
});

Deno.test("names: a channel that was closed goes from its slot, and no other", () => {
  for (const make of [resting, running]) {
    const names = make().close().answer({ of: "CloseChannel" });
    assertEquals([names.at, names.slot.at === "erasing" && names.slot.why, names.refusal], [
      "erasing",
      "closed",
      undefined,
    ]);
    assertEquals(names.erased().refusal, "done");
  }
  const gone = keyless().close().answer({ of: "CloseChannel" });
  assertEquals([gone.writes, gone.at, gone.refusal], [["no_record"], "free", "done"]);
  const other = keyless().close();
  const { number } = other;
  other.call(join).welcome(b);
  assertEquals([
    other.step({ type: "answered", call: number, answer: { of: "CloseChannel" } }).refusal,
    other.at,
  ], [
    undefined,
    "open",
  ]);
  assertEquals(other.settled(1), { type: "done" });
});

Deno.test("names: that a channel is over already closes what is here of it, but not what was only left", () => {
  for (const make of [resting, running]) {
    assertEquals(make().close().refuse("not_found").at, "erasing");
  }
  assertEquals(resting().close().refuse("not_allowed").refusal, "failed");
  for (const make of [keyless, resting, running]) {
    const hidden = make().close();
    hidden.isHidden = true;
    const { at } = hidden;
    assertEquals(
      [hidden.refuse("not_found").refusal, hidden.at],
      ["hidden", at],
      "it works, for another pass",
    );
  }
  const left = running().gone().close();
  const [{ call = 0 } = {}] = left.state.closing;
  assertEquals(left.step({ type: "refused", call, code: "not_found" }).refusal, "failed");
  const twice = resting().close().close();
  const [first, second] = twice.state.closing;
  twice.step({ type: "answered", call: first?.call ?? 0, answer: { of: "CloseChannel" } });
  twice.step({ type: "refused", call: second?.call ?? 0, code: "not_found" });
  assertEquals([twice.erased().settled(1)?.type, twice.settled(2)?.type], ["done", "done"]);
});

Deno.test("names: a machine that is gone is erased, in its parts, and those that leave wait for it", () => {
  const names = running().gone([40]);
  const steps = ["end", "note", "keys", "rest"].map((_) => {
    const step = names.slot.at === "erasing" ? names.slot.step : undefined;
    names.done({ of: "erase" });
    return step;
  });
  assertEquals([steps, names.at, names.settled(40)?.type], [
    ["end", "note", "keys", "rest"],
    "free",
    "done",
  ]);
});

Deno.test("names: a machine that is over rests, and its leave goes on as a turn", () => {
  assertEquals(running().over().at, "resting");
  const names = running().over([40]);
  assertEquals([names.at, names.turn?.at], ["resting", "recalling"]);
  names.recalled("leave").answer({ of: "LeaveChannel" });
  assertEquals(names.erased().settled(40)?.type, "done");
});

Deno.test("names: a rejoin changes the leaf, and no handle", () => {
  const names = running();
  const { membership, leaf } = names;
  names.step({ type: "rejoined", membership });
  assertEquals([names.membership, names.leaf === leaf], [membership, false]);
  assert(names.call({ type: "leave", membership }).has("depart"));
});

Deno.test("names: what a machine of before says changes nothing", () => {
  const names = running();
  for (const type of ["gone", "over"] as const) names.step({ type, membership: 77, leaving: [] });
  assertEquals(names.at, "open");
});

Deno.test("names: calls wait for an erasure; leave and close end with it, whatever its reason", () => {
  const names = running();
  const { membership } = names;
  names.gone().call({ type: "leave", membership }).call(open).call(join);
  assertEquals(names.turn, undefined);
  const [second, third] = [2, 3].map((operation) => {
    names.erased();
    return names.settled(operation)?.type;
  });
  assertEquals([second, third, names.turn?.at], ["done", "refused", "opening_welcome"]);
  const replaced = resting();
  const former = replaced.membership;
  replaced.call(invited(replaced.leaf)).welcome(b).call({ type: "leave", membership: former });
  assertEquals([replaced.erased().at, replaced.settled(2)?.type], ["open", "done"]);
  const closed = running();
  const held = closed.membership;
  closed.close().answer({ of: "CloseChannel" }).step({
    type: "over",
    membership: held,
    leaving: [40],
  });
  assertEquals([closed.at, closed.erased().settled(40)?.type], ["erasing", "done"]);
});

Deno.test("names: an erasure that failed stays, everybody is told, and the next call tries again", () => {
  const names = running();
  const { membership } = names;
  names.gone([40]).call(open).call({ type: "leave", membership });
  names.fail();
  assertEquals(
    [names.at, names.settled(40)?.type, names.settled(2)?.type, names.settled(3)?.type],
    [
      "erasing",
      "failed",
      "failed",
      "failed",
    ],
  );
  assert(names.slot.at === "erasing" && names.slot.job === undefined);
  for (const by of [open, create, { type: "leave", membership } as const]) {
    assert(names.call(by).has("job"), by.type);
    names.fail();
  }
  assertEquals([names.close().answer({ of: "CloseChannel" }).has("job"), names.erased().refusal], [
    true,
    "done",
  ]);
  const replacing = resting();
  replacing.call(invited(replacing.leaf)).welcome(b).fail();
  assertEquals([replacing.settled()?.type, replacing.turn, replacing.at], [
    "failed",
    undefined,
    "erasing",
  ]);
});

Deno.test("names: a start goes on with what a note says, before anything else, and holds no name by it", () => {
  const names = new Names([{ isNoted: true }]).step({ type: "start" });
  assertEquals([names.at, names.call(create).requests], ["free", []]);
  const job = (): number => names.state.leftovers[0]?.job ?? 0;
  names.step({ type: "done", job: job(), result: { of: "erase" } });
  names.step({ type: "done", job: job(), result: { of: "erase" } });
  assertEquals([names.state.leftovers, names.requests], [[], ["CreateChannel"]]);
});

Deno.test("names: a leftover on a damaged disk stays for the next start; a new membership of its channel ends it", () => {
  const names = new Names([{ isNoted: true }]).step({ type: "start" });
  names.step({ type: "failed", job: names.state.leftovers[0]?.job ?? 0 });
  assertEquals([names.state.leftovers.length, names.call(join).turn?.at], [1, "opening_welcome"]);
  assertEquals(names.welcome().state.leftovers, []);
});

Deno.test("names: of two records of one name the one with keys has it, and that of lost keys waits for its user", () => {
  for (
    const channels of [[{ hasKeys: false }, { channelId: b }], [{ channelId: b }, {
      hasKeys: false,
    }]]
  ) {
    const { slot } = new Names(channels);
    assertEquals([slot.at, "channelId" in slot && slot.channelId], ["resting", b]);
  }
  assertEquals(keyless().at, "keyless");
});

Deno.test("names: a client that is closed refuses what has no turn, and every later call", () => {
  const names = free().call(create).call(join);
  names.step({ type: "finish" });
  assertEquals([names.refusal, names.turn?.at], ["closing", "creating"]);
  assertEquals([names.call(open).refusal, names.close().refusal], ["closing", "closing"]);
  const left = running();
  const { membership } = left;
  assertEquals(left.step({ type: "finish" }).has("finished"), false, "its machine has not ended");
  assertEquals(left.over([40]).turn?.at, "recalling");
  assert(left.recalled("leave").refuse("transport_error").has("finished"));
  assertEquals(left.call({ type: "leave", membership }).refusal, "closing");
});

Deno.test("names: what is entered or read while the client is closed is there for the next start, and not begun", () => {
  const names = free().call(create).created().step({ type: "finish" }).done({ of: "make" });
  assertEquals([names.writes, names.at, names.has("begin"), names.settled(1)], [
    ["membership"],
    "resting",
    false,
    { type: "refused", why: "closing" },
  ]);
  assert(names.has("finished"));
  const loading = resting().call(open).step({ type: "finish" });
  assertEquals(
    [loading.has("finished"), loading.done({ of: "load", hasKeys: true }).has("begin")],
    [false, false],
  );
  assert(loading.has("finished"));
  const erasing = running().gone().step({ type: "finish" });
  assertEquals([erasing.has("finished"), erasing.erased().has("finished")], [false, true]);
});

Deno.test("names: an end whose number no state holds changes nothing", () => {
  const names = running().call(check);
  const before = structuredClone(names.state);
  for (const number of [0, 999]) {
    names.step({ type: "answered", call: number, answer: { of: "ListMembers", isNew: true } });
    names.step({ type: "refused", call: number, code: "not_found" });
    names.step({ type: "done", job: number, result: { of: "make" } });
    names.step({ type: "failed", job: number });
    assertEquals(names.last.effects, []);
  }
  assertEquals(names.state, before);
});

Deno.test("names: a call whose write the disk refuses fails, and its name is as before", () => {
  const refused = (names: Names, act: (names: Names) => void): unknown[] => {
    names.unwritten = [names.operations + (names.turn === undefined ? 1 : 0)];
    act(names);
    return [names.refusal, names.at, names.turn, names.writes];
  };
  const failed = (at: string): unknown[] => ["unwritten", at, undefined, []];
  assertEquals(refused(free(), (names) => names.call(create)), failed("free"));
  assertEquals(
    refused(free().call(create).created(), (names) => names.done({ of: "make" })),
    failed("free"),
  );
  assertEquals(refused(free().call(join), (names) => names.welcome()), failed("free"));
  assertEquals(refused(keyless().call(join), (names) => names.welcome()), failed("keyless"));
  assertEquals(refused(free().call(create), (names) => names.refuse("name_taken")), [
    "failed",
    "free",
    undefined,
    [],
  ]);
  const twice = free().call(create).call(create);
  twice.unwritten = [2];
  twice.refuse("overloaded");
  assertEquals(
    [twice.settled(1)?.type, twice.turn?.at],
    ["failed", "creating"],
    "its nonce is there",
  );
});

Deno.test("names: a step that counts for nothing leaves the state as it was", () => {
  const { state } = running().call(create).call(join);
  const before = JSON.stringify(state);
  const copy = copyNames(state);
  const facts = {
    isStuck: () => false,
    isHidden: () => false,
    nonce: "fresh",
    isUnwritten: () => false,
  };
  stepNames(copy, { type: "finish" }, facts);
  stepNames(copy, { type: "gone", membership: 1, leaving: [7] }, facts);
  assertEquals([JSON.stringify(state) === before, JSON.stringify(copy) === before], [true, false]);
});
