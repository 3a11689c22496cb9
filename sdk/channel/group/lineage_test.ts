/** Rows about members that came in, and the list that a recovery leaves out for it. */
import { assertEquals } from "@std/assert";
import type { AgentId, InviteId } from "../../../proto/mod.ts";
import { createRandom } from "../../../tests/support/random.ts";
import {
  type ExclusionList,
  freshMs,
  leftOutBy,
  type Lineage,
  lineageAfter,
  type LineageEvent,
  type MemberOrigin,
  noLineage,
  rootOf,
} from "./lineage.ts";

const id = (name: string): AgentId => name as AgentId; // cast: the rules compare ids and read none
const ids = (...names: string[]): AgentId[] => names.map(id);

/** A channel as `o` sees it, or another agent. */
class Channel {
  readonly self: AgentId;
  lineage: Lineage = noLineage;
  members: AgentId[];
  owners: AgentId[];
  absent: AgentId[] = [];
  epoch = 1;
  nowMs = 1_000 * freshMs;
  readonly invites = new Map<AgentId, InviteId>();

  constructor(
    members: string[],
    { self = "o", owners = ["o"] }: { self?: string; owners?: string[] } = {},
  ) {
    this.self = id(self);
    this.members = ids(...members);
    this.owners = ids(...owners);
  }

  /** One commit. */
  commit(committer: string, added: readonly string[], removed: readonly string[] = []): this {
    const [come, gone] = [ids(...added), ids(...removed)];
    this.members = [
      ...this.members.filter((each) => !gone.includes(each) && !come.includes(each)),
      ...come,
    ];
    const { absent, owners } = this;
    this.absent = absent.filter((each) => !come.includes(each) && !gone.includes(each));
    this.owners = owners.filter((each) => this.members.includes(each));
    const inviteOf = (agentId: AgentId): InviteId | undefined => this.invites.get(agentId);
    const who = { committer: id(committer), added: come, removed: gone, absent, owners };
    return this.#apply({ type: "commit", ...who, epoch: ++this.epoch, inviteOf });
  }

  /** Agents of these names, one after the other. */
  lets(committer: string, ...names: string[]): this {
    for (const name of names) this.commit(committer, [name]);
    return this;
  }

  founding(blamed: string, ...without: string[]): this {
    const out = ids(blamed, ...without);
    this.members = this.members.filter((each) => !out.includes(each));
    return this.#apply({ type: "founding", blamed: id(blamed), out });
  }

  comesBack(...members: string[]): this {
    const before = this.members;
    this.members = ids(...members);
    return this.#apply({ type: "return", before, epoch: this.epoch += 5 });
  }

  later(ms: number): this {
    this.nowMs += ms;
    return this;
  }

  row(name: string): MemberOrigin | undefined {
    return this.lineage.since.get(id(name));
  }

  by(blamed: string): ExclusionList {
    return leftOutBy(this.lineage, this, id(blamed), this.nowMs);
  }

  #apply(event: LineageEvent): this {
    this.lineage = lineageAfter(this.lineage, event, this);
    return this;
  }
}

const numbered = (letter: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${letter}${i}`);

Deno.test("a row says by whom a member came, and its root is the one of a committer that owns nothing", () => {
  const channel = new Channel(["o", "x"]).lets("x", "s").lets("s", "t");
  const atMs = channel.nowMs;
  assertEquals(channel.row("x"), undefined);
  assertEquals(channel.row("s"), { epoch: 2, atMs, through: id("x"), root: "x" });
  assertEquals(channel.row("t"), { epoch: 3, atMs, through: id("s"), root: "x" });
  assertEquals([rootOf(channel.lineage.since, id("t")), rootOf(channel.lineage.since, id("o"))], [
    "x",
    "o",
  ]);
});

Deno.test("whom an owner lets in is a root of its own, and whom we let in by an invite has that for a root", () => {
  const channel = new Channel(["o", "p"], { owners: ["o", "p"] });
  channel.invites.set(id("i"), "I" as InviteId); // cast: the rules compare ids and read none
  channel.lets("p", "a").lets("o", "i", "b").lets("i", "c");
  const roots = ["a", "i", "b", "c"].map((
    name,
  ) => [channel.row(name)?.through, channel.row(name)?.root]);
  assertEquals(roots, [["p", "a"], ["o", "invite I"], ["o", "b"], ["i", "invite I"]]);
  const plain = new Channel(["o", "m"], { self: "m" });
  plain.invites.set(id("i"), "I" as InviteId); // cast: the same
  plain.lets("m", "i", "b").lets("o", "c");
  assertEquals([plain.row("i")?.root, plain.row("b")?.root, plain.row("c")?.root], [
    "invite I",
    "m",
    "c",
  ]);
});

Deno.test("an invite of ours is nothing to those that others let in", () => {
  const channel = new Channel(["o", "x"]);
  channel.invites.set(id("s"), "I" as InviteId); // cast: the same
  assertEquals(channel.lets("x", "s").row("s")?.root, "x");
});

Deno.test("a member that is removed and added in one commit, or was absent, keeps its row", () => {
  const channel = new Channel(["o", "x", "y"]).lets("x", "s");
  const { atMs, root, through } = channel.row("s") ?? {};
  channel.later(5).commit("o", ["s"], ["s"]);
  // cast: it has all of them
  assertEquals(channel.row("s"), { epoch: 3, atMs, through, root } as MemberOrigin);
  channel.absent = ids("s", "y");
  channel.commit("o", ["s", "y"]);
  const origin = { epoch: 4, atMs, through, root } as MemberOrigin; // cast: the same
  assertEquals(channel.row("s"), origin);
  // No newcomer either: it was here before us.
  assertEquals(channel.row("y"), { epoch: 4, atMs: 0, root: "y" });
  assertEquals(channel.by("o").list, []);
});

Deno.test("when a member goes, those that came through it hang on the one before it, and its label stays", () => {
  const channel = new Channel(["o", "x"]).lets("x", "s").lets("s", "t", "u").commit("o", [], ["s"]);
  assertEquals([channel.row("s"), channel.row("t")?.through, channel.row("u")?.root], [
    undefined,
    id("x"),
    "x",
  ]);
  channel.commit("o", [], ["x", "t"]);
  assertEquals(channel.row("u"), { epoch: 4, atMs: channel.nowMs, root: "x" });
  const both = new Channel(["o", "x"]).lets("x", "s").lets("s", "t").commit("o", [], ["x", "s"]);
  const reversed = new Channel(["o", "x"]).lets("x", "s").lets("s", "t").commit("o", [], [
    "s",
    "x",
  ]);
  assertEquals([both.row("t")?.through, reversed.row("t")?.through], [undefined, undefined]);
});

Deno.test("what an owner vouched for does not pass to the one that let the owner in", () => {
  const channel = new Channel(["o", "x"]).lets("x", "f");
  channel.owners = ids("o", "f");
  channel.lets("f", "a", "b");
  assertEquals(channel.by("x").list, [], "f owns the channel, and the walk ends there");
  channel.owners = ids("o");
  assertEquals(channel.by("x").list, ids("f"), "f is an owner no more, its people stay");
  assertEquals(channel.by("f").list, ids("a", "b"));
  channel.commit("f", [], ["f"]);
  assertEquals([channel.row("a")?.through, channel.by("x").list], [undefined, []]);
});

Deno.test("a recovery leaves out the fresh ones of the line, walks through old ones, and spares owners and us", () => {
  const channel = new Channel(["o", "x", ...numbered("m", 20)]).lets("x", "old").later(freshMs)
    .lets("old", "s", "t");
  channel.lets("s", "u").lets("x", "w");
  assertEquals(channel.by("x").list, ids("w", "s", "t", "u"));
  channel.owners.push(id("t"));
  assertEquals(channel.by("x").list, ids("w", "s", "u"));
  assertEquals(channel.by("m1").list, []);
  const own = new Channel(["o", "x", "m"], { self: "m" }).lets("x", "m2");
  assertEquals(own.by("x").list, ids("m2"));
  assertEquals(leftOutBy(own.lineage, { ...own, self: id("m2") }, id("x"), own.nowMs).list, []);
});

Deno.test("a day is a day: to the millisecond, and a clock that was put back makes nobody old", () => {
  const channel = new Channel(["o", "x", ...numbered("m", 20)]).lets("x", "s").later(freshMs - 1);
  assertEquals(channel.by("x").list, ids("s"));
  assertEquals(channel.later(1).by("x").list, []);
  assertEquals(channel.later(-10 * freshMs).by("x").list, ids("s"));
});

for (
  const [members, allowed] of [[2, 0], [3, 0], [4, 1], [7, 1], [8, 2], [26, 6], [80, 20], [
    1000,
    250,
  ]] as const
) {
  Deno.test(`of ${members} members that count, ${allowed} go without a question`, () => {
    const channel = new Channel(["o", "x", ...numbered("m", members - 2)]).lets(
      "x",
      ...numbered("s", allowed),
    );
    const { list, counted, needsChoice } = channel.by("x");
    assertEquals([list.length, counted, needsChoice], [allowed, members, false]);
    assertEquals(channel.lets("x", "one_more").by("x").needsChoice, true);
  });
}

Deno.test("members that somebody has just let in do not count, so that an accomplice makes no room", () => {
  const channel = new Channel(["o", "x", "y"]).lets("y", ...numbered("h", 8)).lets(
    "x",
    ...numbered("s", 300),
  );
  const { list, counted, needsChoice } = channel.by("y");
  assertEquals([list.length, counted, needsChoice], [8, 3, true]);
});

Deno.test("what owners let in and what came by our invites counts at once, and what came by others a day later", () => {
  const channel = new Channel(["o", "x"]);
  // cast: the same
  for (const name of numbered("i", 4)) channel.invites.set(id(name), "I" as InviteId);
  channel.lets("o", ...numbered("i", 4), ...numbered("a", 4)).lets("x", "s");
  assertEquals(channel.by("x").counted, 10);
  assertEquals(channel.later(freshMs).by("x").counted, 11);
});

Deno.test("the second strike of one root within a day needs a choice, if somebody is there of it", () => {
  const channel = new Channel(["o", "x", ...numbered("m", 20)]).lets("x", "s", "t").later(freshMs);
  assertEquals([channel.by("s").list, channel.by("s").needsChoice], [[], false]);
  channel.founding("s");
  assertEquals([...channel.lineage.struck], [["x", channel.nowMs]]);
  const again = channel.by("t");
  assertEquals([again.list, again.ofDoor, again.needsChoice], [ids("x"), ids("x"), true]);
  assertEquals(channel.by("x").list, ids("t"), "the root itself strikes");
  assertEquals(channel.by("m1").needsChoice, false);
  assertEquals(channel.later(freshMs - 1).by("t").needsChoice, true);
  assertEquals(channel.later(1).by("t").needsChoice, false);
});

Deno.test("a root whose agent has left is still one, and so is an invite of ours", () => {
  const channel = new Channel(["o", "x", ...numbered("m", 20)]).lets("x", "s", "t", "u").later(
    freshMs,
  );
  channel.commit("x", [], ["x"]).founding("s");
  assertEquals(channel.by("t").ofDoor, ids("u"));
  const link = new Channel(["o", ...numbered("m", 20)]);
  for (const name of ["a", "b", "c"]) link.invites.set(id(name), "I" as InviteId); // cast: the same
  link.lets("o", "a", "b", "c").founding("a");
  assertEquals([link.by("b").list, link.by("b").ofDoor, link.by("b").needsChoice], [
    ids("c"),
    ids("c"),
    true,
  ]);
});

Deno.test("strikes are kept as long as somebody of their root is here", () => {
  const channel = new Channel(["o", "x", "y", ...numbered("m", 9)]).lets("x", "s").lets(
    "y",
    "t",
    "u",
  );
  channel.founding("s", "x");
  assertEquals([...channel.lineage.struck.keys()], []);
  channel.founding("t");
  assertEquals([...channel.lineage.struck.keys()], ["y"]);
  channel.commit("o", [], ["y"]);
  assertEquals([...channel.lineage.struck.keys()], ["y"], "u is here");
  channel.commit("o", [], ["u"]);
  assertEquals([...channel.lineage.struck.keys()], []);
});

Deno.test("rows and strikes stay when we come back, and those that we did not see come have one door", () => {
  const channel = new Channel(["o", "x", ...numbered("m", 9)]).lets("x", "s", "t", "u").founding(
    "s",
  );
  const { atMs } = channel.row("t") ?? {};
  channel.later(5).comesBack("o", "x", "t", ...numbered("m", 9), "z1", "z2");
  // cast: it has all of them
  assertEquals(channel.row("t"), { epoch: 0, atMs, through: id("x"), root: "x" } as MemberOrigin);
  const root = `return ${channel.epoch}`;
  assertEquals(channel.row("z1"), { epoch: 0, atMs: channel.nowMs, root });
  assertEquals([channel.row("u"), channel.row("m1"), channel.row("o")], [
    undefined,
    undefined,
    undefined,
  ]);
  assertEquals([...channel.lineage.struck.keys()], ["x"]);
  assertEquals(channel.by("t").ofDoor, ids("x"));
  assertEquals([channel.by("z1").list, channel.founding("z1").by("z2").ofDoor], [[], []]);
  channel.comesBack(...channel.members, "z3");
  assertEquals(channel.row("z2")?.root, root, "the first return names it");
});

Deno.test("ten strikes of fresh sybils cost one founding, and those of old ones two and a choice", () => {
  for (const [honest, sybils] of [[5, 1], [80, 5], [80, 20]] as const) {
    const channel = new Channel(["o", "x", ...numbered("m", honest - 2)]).lets(
      "x",
      ...numbered("s", sybils),
    );
    const { list, needsChoice } = channel.by("x");
    assertEquals([list.length, needsChoice], [sybils, false]);
    channel.founding("x", ...list);
    assertEquals([...channel.lineage.since], []);
    const old = new Channel(["o", "x", ...numbered("m", honest - 2)]).lets(
      "x",
      ...numbered("s", sybils),
    ).later(
      freshMs,
    );
    if (sybils === 1) continue;
    old.founding("s0");
    assertEquals(old.by("s1").list.length, sybils - 1, "the others and x");
  }
});

Deno.test("whatever happens, rows are of members, walks end, and no label is lost", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = createRandom(seed);
    const pick = <T>(from: readonly T[]): T | undefined => from[random.below(from.length)];
    const channel = new Channel(["o", "x", "y", "p"], { owners: ["o", "p"] });
    let next = 0;
    for (let step = 0; step < 60; step++) {
      const one = pick(channel.members) ?? channel.self;
      const other = pick(channel.members.filter((each) => each !== channel.self && each !== one));
      const rootsBefore = new Map(
        channel.members.map((each) => [each, rootOf(channel.lineage.since, each)]),
      );
      const what = random.below(6);
      if (what < 3) channel.lets(one, `n${next++}`);
      else if (what === 3 && other !== undefined) channel.commit(one, [], [other]);
      else if (what === 4 && other !== undefined) channel.commit(one, [other], [other]);
      else if (other !== undefined && channel.members.length > 6) {
        if (random.below(2) === 0) channel.founding(other, ...channel.by(other).list);
        else channel.comesBack(...channel.members.filter((each) => each !== other), `n${next++}`);
      }
      channel.later(random.below(freshMs / 8));
      const { since, struck } = channel.lineage;
      const members = new Set(channel.members);
      for (const [agentId, row] of since) {
        assertEquals(
          [members.has(agentId), row.through === agentId],
          [true, false],
          `seed ${seed}`,
        );
        if (row.through !== undefined) assertEquals(members.has(row.through), true, `seed ${seed}`);
      }
      for (const [agentId, root] of rootsBefore) {
        if (members.has(agentId)) assertEquals(rootOf(since, agentId), root, `seed ${seed}`);
      }
      const roots = new Set(channel.members.map((each) => rootOf(since, each)));
      assertEquals([...struck.keys()].filter((root) => !roots.has(root)), [], `seed ${seed}`);
      for (const blamed of channel.members) {
        const { list, ofDoor, counted } = channel.by(blamed);
        assertEquals(
          [new Set(list).size, counted <= members.size],
          [list.length, true],
          `seed ${seed}`,
        );
        assertEquals(ofDoor.every((each) => list.includes(each)), true, `seed ${seed}`);
        const spared = [blamed, channel.self, ...channel.owners];
        assertEquals(
          list.filter((each) => spared.includes(each) || !members.has(each)),
          [],
          `seed ${seed}`,
        );
      }
    }
  }
});
