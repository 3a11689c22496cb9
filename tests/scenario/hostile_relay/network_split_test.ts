/**
 * A relay that divides a group, members that lie about it, and members that say nothing: all of it
 * is told in words, and none of it stops a channel. On simulated time; a cell leaves each way every
 * second.
 */
import { assert, assertEquals } from "@std/assert";
import {
  type AgentId,
  decodeContent,
  epochStatement,
  type NoticeBody,
  type NoticeEnvelope,
  type RequestBody,
} from "../../../proto/mod.ts";
import type { Channel, ChannelMember } from "../../../sdk/mod.ts";
import {
  errorFromRelay,
  factsKind,
  Inside,
  putConfirmed,
  stateOf,
  storedChannel,
} from "../../../sdk/testing/agents.ts";
import { createRandom, seedFromEnvironment } from "../../support/mod.ts";
import type { Tampering } from "../../support/scenario/memory_session.ts";
import { Actor, name } from "../../support/scenario/stage.ts";
import { createRememberedSignatures, SimulatedStage } from "../simulation/stage.ts";

const side = "acme/ops/side";
const minuteMs = 60_000;

class Halves {
  readonly stage: SimulatedStage;
  readonly actors: Actor[] = [];

  private constructor(stage: SimulatedStage) {
    this.stage = stage;
  }

  /** An owner and guests, all of which have confirmed the epoch that they share. */
  static async open(...labels: readonly string[]): Promise<Halves> {
    const random = createRandom(seedFromEnvironment());
    const halves = new Halves(
      await SimulatedStage.open(random, await createRememberedSignatures()),
    );
    for (const label of labels) {
      const actor = new Actor(halves.stage, label, 1);
      await halves.finish(actor.start());
      halves.actors.push(actor);
    }
    await halves.create(name, ...halves.actors);
    await halves.pass(15);
    return halves;
  }

  finish<T>(promise: Promise<T>): Promise<T> {
    return this.stage.finish("it is done", promise);
  }

  async create(channel: string, owner?: Actor, ...guests: readonly Actor[]): Promise<void> {
    assert(owner !== undefined);
    await this.finish(owner.manager.create(channel));
    for (const guest of guests) {
      const token = await this.finish(owner.manager.invite(channel));
      await this.finish(guest.manager.joinWithToken(channel, token));
    }
  }

  /** So many seconds, in each of which a cell leaves each way. */
  async pass(seconds: number, actors: readonly Actor[] = this.actors): Promise<void> {
    const { time } = this.stage.world;
    for (let second = 0; second < seconds; second++) {
      await time.advance(1_000);
      for (const { session } of actors) session.ride();
      await time.settle();
    }
  }

  /** Seconds pass until it is so. */
  async until(what: string, condition: () => boolean): Promise<void> {
    for (let second = 0; !condition(); second++) {
      if (second > 120) throw new Error(`Waited ${second} simulated seconds in vain until ${what}`);
      await this.pass(1);
    }
  }

  /** The relay is put back to that moment; only these are connected to it. */
  async setBack(moment: number, ...first: readonly Actor[]): Promise<void> {
    for (const { session } of this.actors) session.disconnect();
    await this.stage.setRelayBack(moment);
    for (const { session } of first) await this.finish(session.connect());
  }

  /** One after the other sends a message, and all others read it. */
  async talk(...actors: readonly Actor[]): Promise<void> {
    for (const from of actors) {
      const readers = await Promise.all(
        actors.filter((each) => each !== from).map((each) => each.channel()),
      );
      await this.finish(from.manager.send(name, `by ${from.label}`));
      const read = readers.map((channel) => channel.receive({ timeoutMs: 60_000 }));
      for (const payload of await this.finish(Promise.all(read))) {
        assertEquals(payload && new TextDecoder().decode(payload), `by ${from.label}`);
      }
    }
  }

  async close(): Promise<void> {
    for (const actor of this.actors) await this.finish(actor.stop());
    await this.stage.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

const idOf = ({ client: { agentId } }: Actor): AgentId => agentId;
const signersOf = (channel: Channel): string[] =>
  channel.health().forked.map(({ signers }) => [...signers].sort().join());
const pairOf = (a: Actor, b: Actor): string => [idOf(a), idOf(b)].sort().join();
const issuesOf = (channel: Channel, kind: string): string[] =>
  channel.health().issues.flatMap((each) => each.kind === kind ? [each.text] : []);
const memberOf = (channel: Channel, actor: Actor): ChannelMember | undefined =>
  channel.members().find(({ agentId }) => agentId === idOf(actor));

type Commit = RequestBody<"SendCommit">;

/**
 * The relay takes a commit of each half and shows each half its own: `second` and those with it
 * never hear of the log's. Messages and confirmations of one half are not delivered to the other.
 * Returns a function that lets the confirmations through after all.
 */
async function divide(
  halves: Halves,
  { first, second }: { readonly first: readonly Actor[]; readonly second: readonly Actor[] },
): Promise<() => void> {
  const [one, two] = [first[0], second[0]];
  assert(one !== undefined && two !== undefined);
  const { channelId, epoch } = await halves.finish(two.inside());
  const { head } = await halves.finish(
    two.session.call("Subscribe", { channelId, windowBytes: 4096, tag: 99 }),
  );
  const sequence = head + 1;
  let hidden: Commit | undefined;
  const withheld: { readonly to: Actor; readonly notice: NoticeEnvelope }[] = [];
  const timeMs = halves.stage.world.time.nowMs();
  for (const actor of [...first, ...second]) {
    const others = new Set((first.includes(actor) ? second : first).map(idOf));
    actor.session.tampering.notice = (notice) => {
      const { operation, body } = notice;
      if (
        operation === "DeliverMessage" && others.has(body.sender) && body.channelId === channelId
      ) return [];
      if (
        operation === "DeliverConfirmations" &&
        body.confirmations.some(({ agentId }) => others.has(agentId))
      ) {
        withheld.push({ to: actor, notice });
        return [];
      }
      const isCommit = operation === "DeliverCommit" && body.sequence === sequence;
      if (!isCommit || first.includes(actor)) return [notice];
      if (actor === two || hidden === undefined) return [];
      const { welcomes: _, answers: __, ...declared } = hidden;
      const commit: NoticeBody<"DeliverCommit"> = {
        ...declared,
        sequence,
        sender: idOf(two),
        timeMs,
      };
      return [{ kind: "notice", operation, body: commit }];
    };
  }
  two.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit" || hidden !== undefined) return forward();
    hidden = body as Commit; // cast: of this operation
    const { commit } = hidden;
    return crypto.subtle.digest("SHA-256", commit.slice()).then((hash) => {
      return {
        sequence,
        epoch: epoch + 1,
        commitHash: new Uint8Array(hash),
        timeMs,
        duplicate: false,
      };
    });
  };
  for (const actor of [two, one]) {
    const inside = await halves.finish(actor.inside());
    await halves.finish(inside.commit());
  }
  await halves.pass(2);
  const states = await Promise.all([...first, ...second].map(async (actor) => {
    const inside = await actor.inside();
    return `${inside.epoch} ${stateOf(inside.group.current)}`;
  }));
  assertEquals(new Set(states.slice(0, first.length)).size, 1, "the first half is one group");
  assertEquals(new Set(states.slice(first.length)).size, 1, "and so is the second");
  assertEquals(new Set(states).size, 2, "but not the same");
  return () => withheld.forEach(({ to, notice }) => to.session.inject(notice));
}

Deno.test("members of one group confirm each other, and members() says until when", async () => {
  await using halves = await Halves.open("alice", "bob", "carol");
  const nowMs = halves.stage.world.time.nowMs();
  for (const actor of halves.actors) {
    const channel = await actor.channel();
    const { epoch, forked, silent, issues } = channel.health();
    assertEquals([forked, silent, issues], [[], [], []]);
    for (const { confirmedEpoch, lastHeardMs } of channel.members()) {
      assertEquals(confirmedEpoch, epoch);
      assert(nowMs - (lastHeardMs ?? 0) < 20_000);
    }
  }
});

Deno.test("two halves that the relay divides learn it from the first confirmation that it lets through", async () => {
  await using halves = await Halves.open("alice", "bob", "carol", "dave");
  // cast: as many as labels
  const [alice, bob, carol, dave] = halves.actors as [Actor, Actor, Actor, Actor];
  const letThrough = await divide(halves, { first: [alice, carol], second: [bob, dave] });
  await halves.pass(20);
  for (const actor of halves.actors) {
    const { state, forked, issues } = (await actor.channel()).health();
    assertEquals([state, forked, issues], ["ok", [], []], "kept apart, each half is consistent");
  }
  const events = (await alice.channel()).events()[Symbol.asyncIterator]();
  letThrough();
  await halves.pass(1);
  for (const actor of halves.actors) {
    const others = [alice, carol].includes(actor) ? [bob, dave] : [alice, carol];
    const channel = await actor.channel();
    assertEquals(signersOf(channel).sort(), others.map((other) => pairOf(actor, other)).sort());
    assertEquals(channel.health().state, "ok", "nothing stops");
    assertEquals(channel.members().length, 4, "and nobody is removed");
  }
  for (;;) {
    const { value } = await events.next();
    if (value?.type === "forked") break;
  }
  await events.return?.();
});

Deno.test("where the relay lets nothing through, another channel of both halves carries it", async () => {
  await using halves = await Halves.open("alice", "bob", "carol", "dave");
  // cast: as many as labels
  const [alice, bob, carol, dave] = halves.actors as [Actor, Actor, Actor, Actor];
  await halves.create(side, alice, bob);
  await halves.pass(15);
  await divide(halves, { first: [alice, carol], second: [bob, dave] });
  await halves.pass(20);
  const [mine, theirs] = [await alice.channel(), await bob.channel()];
  assertEquals([...signersOf(mine), ...signersOf(theirs)], []);
  await halves.finish(alice.manager.send(side, "a word"));
  const channel = await halves.finish(bob.client.channel(side));
  const payload = await halves.finish(channel.receive({ timeoutMs: 60_000 }));
  assertEquals(
    payload && new TextDecoder().decode(payload),
    "a word",
    "what the program sent is what arrives",
  );
  assertEquals(signersOf(theirs), [pairOf(alice, bob)]);
  assertEquals(signersOf(mine), []);
  await halves.finish(bob.manager.send(side, "another"));
  await halves.pass(1);
  assertEquals(signersOf(mine), [pairOf(alice, bob)]);
});

Deno.test("of a channel nothing is carried in one that has other members too", async () => {
  await using halves = await Halves.open("alice", "bob");
  const [alice, bob] = halves.actors as [Actor, Actor]; // cast: as many as labels
  const eve = new Actor(halves.stage, "eve", 1);
  await halves.finish(eve.start());
  halves.actors.push(eve);
  await halves.create(side, alice, bob, eve);
  await halves.pass(15);
  const sealed: Uint8Array[] = [];
  const inside = await halves.finish(Inside.of(alice.agent, side));
  inside.onSealed((plaintext) => sealed.push(plaintext));
  await halves.finish(alice.manager.send(side, "hello"));
  assertEquals(sealed.map((each) => decodeContent(each).form), ["raw"]);
  await halves.finish((await halves.finish(alice.client.channel(side))).removeMember(idOf(eve)));
  await halves.finish(alice.manager.send(side, "hello again"));
  assertEquals(sealed.map((each) => decodeContent(each).form), ["raw", "enveloped"]);
});

/** From now on this member signs something else than its state. */
function lie(actor: Actor, makeState: (state: Uint8Array) => Uint8Array): void {
  actor.session.tampering.confirm = (body) => {
    const said = { ...body, state: makeState(body.state) };
    return { ...said, signature: actor.sign(epochStatement(said)) };
  };
}

Deno.test("a member that signs random hashes is named, and traffic goes on", async () => {
  await using halves = await Halves.open("alice", "bob", "carol");
  const [alice, bob, carol] = halves.actors as [Actor, Actor, Actor]; // cast: as many as labels
  lie(bob, () => crypto.getRandomValues(new Uint8Array(32)));
  const inside = await alice.inside();
  await halves.finish(inside.commit());
  await halves.pass(20);
  for (const honest of [alice, carol]) {
    const channel = await honest.channel();
    assertEquals(signersOf(channel), [pairOf(honest, bob)], "so far it may be the relay");
    assert(issuesOf(channel, "forked")[0]?.includes(idOf(bob)));
  }
  await halves.talk(alice, bob, carol);
  for (const honest of [alice, carol]) {
    const channel = await honest.channel();
    assertEquals(signersOf(channel), [], "a member that speaks with our keys is in our group");
    assert(issuesOf(channel, "forked").at(-1)?.startsWith(`${idOf(bob)} speaks under the keys`));
    assertEquals([channel.health().state, channel.members().length], ["ok", 3]);
  }
  await halves.finish(inside.commit());
  await halves.pass(20);
  await halves.talk(alice, bob, carol);
  assertEquals((await bob.channel()).health().forked, []);
});

Deno.test("two statements of one signer about one epoch are its lie, and nobody else is named", async () => {
  await using halves = await Halves.open("alice", "bob", "carol");
  const [alice, bob, carol] = halves.actors as [Actor, Actor, Actor]; // cast: as many as labels
  lie(bob, () => crypto.getRandomValues(new Uint8Array(32)));
  bob.session.disconnect();
  await halves.finish(bob.session.connect());
  await halves.pass(10);
  for (const honest of [alice, carol]) {
    const channel = await honest.channel();
    assertEquals(signersOf(channel), []);
    assert(issuesOf(channel, "member_lied")[0]?.includes("two different states"));
    assertEquals(issuesOf(channel, "forked"), []);
  }
  await halves.talk(alice, bob, carol);
});

Deno.test("a member that is connected and confirms nothing is reported after ten minutes, and no sooner", async () => {
  await using halves = await Halves.open("alice", "bob", "carol");
  const [alice, bob, carol] = halves.actors as [Actor, Actor, Actor]; // cast: as many as labels
  bob.session.tampering.confirm = () => undefined;
  const inside = await alice.inside();
  await halves.finish(inside.commit());
  const channel = await carol.channel();
  const before = memberOf(channel, bob)?.confirmedEpoch;
  for (let minute = 0; minute < 9; minute++) {
    await halves.pass(1);
    await halves.stage.world.time.advance(minuteMs - 1_000);
    assertEquals(channel.health().silent, []);
  }
  for (let minute = 0; minute < 3; minute++) {
    await halves.pass(1);
    await halves.stage.world.time.advance(minuteMs - 1_000);
  }
  const [silent, ...others] = channel.health().silent;
  assertEquals([silent?.agentId, silent?.confirmedEpoch, others], [idOf(bob), before, []]);
  assertEquals(memberOf(channel, alice)?.confirmedEpoch, channel.health().epoch);
  assertEquals(channel.health().state, "ok");
});

Deno.test("a member that was away is compared with the state of its epoch, also after a restart of ours", async () => {
  await using halves = await Halves.open("alice", "bob");
  const [alice, bob] = halves.actors as [Actor, Actor]; // cast: as many as labels
  const inside = await alice.inside();
  const { channelId, epoch } = inside;
  for (let i = 0; i < 3; i++) await halves.finish(inside.commit());
  await halves.finish(alice.restart());
  const channel = await halves.finish(alice.channel());
  const said = { channelId, epoch: epoch + 1, state: new Uint8Array(32) };
  const confirmations = [{ agentId: idOf(bob), signature: bob.sign(epochStatement(said)) }];
  alice.session.inject({
    kind: "notice",
    operation: "DeliverConfirmations",
    body: { ...said, confirmations },
  });
  await halves.pass(1);
  assertEquals(channel.health().forked, [{ epoch: epoch + 1, signers: [idOf(alice), idOf(bob)] }]);
});

Deno.test("an agent whose commit the relay takes and denies is no liar for being in another group", async () => {
  await using halves = await Halves.open("alice", "bob", "carol");
  const [alice, bob, carol] = halves.actors as [Actor, Actor, Actor]; // cast: as many as labels
  const { epoch } = (await alice.channel()).health();
  let taken: Commit | undefined;
  const { promise: isTaken, resolve: take } = Promise.withResolvers<void>();
  const { promise: isDenied, resolve: deny } = Promise.withResolvers<void>();
  alice.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit" || taken !== undefined) return forward();
    taken = body as Commit; // cast: of this operation
    take();
    return isDenied.then(() => {
      throw errorFromRelay({
        code: "epoch_conflict",
        message: "It was not taken",
        epoch: epoch + 1,
      });
    });
  };
  carol.session.tampering.notice = (notice) => {
    if (
      notice.operation !== "DeliverCommit" || notice.body.epoch !== epoch || taken === undefined
    ) return [notice];
    const { welcomes: _, answers: __, ...declared } = taken;
    return [{ ...notice, body: { ...notice.body, ...declared, sender: idOf(alice) } }];
  };
  const denied = (await alice.inside()).commit(() => taken === undefined ? {} : undefined);
  // Else carol may have followed bob's commit before there is another one to show her.
  await halves.finish(isTaken);
  await halves.finish((await bob.inside()).commit());
  deny();
  await halves.finish(denied);
  const channel = await carol.channel();
  await halves.until("both have confirmed", () => signersOf(channel).length === 2);
  assertEquals([(await alice.channel()).health().epoch, channel.health().epoch], [
    epoch + 1,
    epoch + 1,
  ]);
  assertEquals(signersOf(channel).sort(), [pairOf(carol, alice), pairOf(carol, bob)].sort());
  assertEquals(issuesOf(channel, "member_lied"), []);
});

/** Right after it has written that it is in another group, the process dies. */
function diesOnceBack(actor: Actor): Promise<void> {
  const { store } = actor.agent.parts;
  const batch = store.batch.bind(store);
  const { promise, resolve } = Promise.withResolvers<void>();
  store.batch = async (changes) => {
    await batch(changes);
    if (
      !["channels", "anchor"].every((each) =>
        changes.some(({ kind, id }) => kind === each || id === each)
      )
    ) return;
    void actor.diesAfter(0);
    resolve();
  };
  return promise;
}

/**
 * A log is set back, and bob, who was away, commits something else in it. Returns the epoch that
 * alice and carol had reached.
 */
async function goElsewhere(halves: Halves): Promise<number> {
  const [alice, bob, carol] = halves.actors as [Actor, Actor, Actor]; // cast: as many as labels
  const { moment } = halves.stage;
  bob.session.disconnect();
  const inside = await alice.inside();
  // The second one follows too soon to be confirmed.
  for (let i = 0; i < 2; i++) await halves.finish(inside.commit());
  await halves.talk(alice, carol);
  const { epoch } = inside;
  await halves.setBack(moment, bob);
  await halves.finish((await bob.inside()).commit());
  return epoch;
}

/** Notes the epochs that an actor confirms. */
function noting(epochs: number[]): Tampering {
  return {
    confirm: (body) => {
      epochs.push(body.epoch);
      return body;
    },
  };
}

Deno.test("an agent that is let into another group takes no member for a liar that spoke in the one before", async () => {
  await using halves = await Halves.open("alice", "bob", "carol");
  const [alice, , carol] = halves.actors as [Actor, Actor, Actor]; // cast: as many as labels
  const inside = await alice.inside();
  const { channelId } = inside;
  const epoch = await goElsewhere(halves);
  const said = { channelId, epoch, state: stateOf(inside.group.current) };
  const confirmations = [{ agentId: idOf(carol), signature: carol.sign(epochStatement(said)) }];
  alice.session.inject({
    kind: "notice",
    operation: "DeliverConfirmations",
    body: { ...said, confirmations },
  });
  await halves.pass(1);
  const channel = await alice.channel();
  assertEquals([inside.epoch, memberOf(channel, carol)?.confirmedEpoch], [epoch, epoch]);
  const epochs: number[] = [];
  alice.session.tampering = noting(epochs);
  await halves.finish(alice.session.connect());
  await halves.until("alice is back", () => issuesOf(channel, "rejoined").length > 0);
  await halves.until("alice confirms again", () => epochs.length > 0);
  assertEquals(signersOf(channel), [pairOf(alice, carol)]);
  assertEquals(issuesOf(channel, "member_lied"), []);
  assert(epochs.every((each) => each > epoch), `${epochs} after ${epoch}`);
});

Deno.test("an agent that dies once it is in another group says nothing about epochs of the one before, and keeps none of its states", async () => {
  await using halves = await Halves.open("alice", "bob", "carol");
  const [alice] = halves.actors as [Actor, Actor, Actor]; // cast: as many as labels
  const epoch = await goElsewhere(halves);
  const isBack = diesOnceBack(alice);
  await halves.finish(alice.session.connect());
  await halves.finish(isBack);
  const epochs: number[] = [];
  await halves.finish(alice.crash(noting(epochs)));
  const inside = await halves.finish(alice.inside());
  const { channelId } = inside;
  await halves.until("alice confirms again", () => epochs.length > 0);
  assert(epochs.every((each) => each > epoch), `${epochs} after ${epoch}`);
  const { confirmations: { states } } = await storedChannel(alice.agent.parts.store, channelId);
  assertEquals(states.size, inside.epoch - epoch + 1);
});

Deno.test("a word that the relay has lost is given again within five minutes", async () => {
  await using halves = await Halves.open("alice", "bob");
  const [alice, bob] = halves.actors as [Actor, Actor]; // cast: as many as labels
  let lost = 0;
  bob.session.tampering.confirm = (body) => lost++ === 0 ? undefined : body;
  await halves.finish((await alice.inside()).commit());
  await halves.pass(20);
  const channel = await alice.channel();
  const { epoch } = channel.health();
  assertEquals([lost, memberOf(channel, bob)?.confirmedEpoch], [1, epoch - 1]);
  await halves.stage.world.time.advance(5 * minuteMs);
  await halves.pass(3);
  assertEquals([lost, memberOf(channel, bob)?.confirmedEpoch], [2, epoch]);
});

Deno.test("what was heard of a member outlives a restart, also what it signed", async () => {
  await using halves = await Halves.open("alice", "bob");
  const [alice, bob] = halves.actors as [Actor, Actor]; // cast: as many as labels
  const before = memberOf(await alice.channel(), bob);
  assert(before?.confirmedEpoch !== undefined);
  await halves.finish(alice.restart());
  const channel = await halves.finish(alice.channel());
  const after = memberOf(channel, bob);
  assertEquals([after?.confirmedEpoch, after?.lastHeardMs], [
    before.confirmedEpoch,
    // On disk to the minute.
    Math.floor((before.lastHeardMs ?? 0) / minuteMs) * minuteMs,
  ]);
  const said = { channelId: channel.id, epoch: before.confirmedEpoch, state: new Uint8Array(32) };
  const confirmations = [{ agentId: idOf(bob), signature: bob.sign(epochStatement(said)) }];
  alice.session.inject({
    kind: "notice",
    operation: "DeliverConfirmations",
    body: { ...said, confirmations },
  });
  await halves.pass(1);
  assert(issuesOf(channel, "member_lied")[0]?.includes("two different states"));
});

Deno.test("a signature that does not fit says nothing about anybody", async () => {
  await using halves = await Halves.open("alice", "bob", "carol");
  const [alice, bob, carol] = halves.actors as [Actor, Actor, Actor]; // cast: as many as labels
  const { channelId, epoch } = await alice.inside();
  const said = { channelId, epoch, state: new Uint8Array(32) };
  const signature = carol.sign(epochStatement(said));
  const channel = await alice.channel();
  // Alone, and beside one that fits: they are verified together.
  for (
    const [named, blamed] of [[[bob], []], [[bob, carol], [idOf(carol)]], [[carol, bob], [
      idOf(carol),
    ]]] as const
  ) {
    const confirmations = named.map((actor) => ({ agentId: idOf(actor), signature }));
    alice.session.inject({
      kind: "notice",
      operation: "DeliverConfirmations",
      body: { ...said, confirmations },
    });
    await halves.pass(1);
    const told = issuesOf(channel, "member_lied").map((text) => text.split(" ")[0]);
    assertEquals(told, [...blamed], "bob signed nothing");
    assertEquals(channel.health().forked, []);
  }
});

Deno.test("a member that the relay keeps behind learns from the others' words that there is more", async () => {
  await using halves = await Halves.open("alice", "bob");
  const [alice, bob] = halves.actors as [Actor, Actor]; // cast: as many as labels
  bob.session.tampering.notice = (notice) => notice.operation === "DeliverCommit" ? [] : [notice];
  const inside = await alice.inside();
  await halves.finish(inside.commit());
  await halves.pass(30);
  const channel = await bob.channel();
  assertEquals(channel.health().issues, [], "it may be on its way");
  await halves.pass(60);
  assert(
    issuesOf(channel, "withheld_commit")[0]?.startsWith(`${idOf(alice)} confirms a later epoch`),
  );
  assertEquals(channel.health().state, "ok");
});

Deno.test("an agent has its word on disk before anybody hears it, and gives the same after a restart", async () => {
  await using halves = await Halves.open("alice", "bob");
  const [alice, bob] = halves.actors as [Actor, Actor]; // cast: as many as labels
  const said: RequestBody<"Confirm">[] = [];
  const stored: (Uint8Array | undefined)[] = [];
  const confirm = (body: RequestBody<"Confirm">): RequestBody<"Confirm"> => {
    said.push(body);
    void bob.agent.parts.store.get(factsKind(body.channelId), "confirmed").then((record) =>
      stored.push(record)
    );
    return body;
  };
  bob.session.tampering = { confirm };
  const inside = await alice.inside();
  await halves.finish(inside.commit());
  await halves.pass(15);
  await halves.finish(bob.crash({ confirm }));
  await halves.finish(bob.channel());
  await halves.pass(15);
  assertEquals(said.length, 2);
  assertEquals(said[0], said[1]);
  assert(stored[0] !== undefined, "written first");
  assertEquals(stored[0], stored[1]);
});

Deno.test("an agent that confirmed another state of an epoch says nothing rather than contradict itself", async () => {
  await using halves = await Halves.open("alice", "bob");
  const [alice, bob] = halves.actors as [Actor, Actor]; // cast: as many as labels
  const { channelId } = await bob.inside();
  const wrong = new Uint8Array(32).fill(1);
  const { epoch } = (await bob.channel()).health();
  await halves.finish(
    bob.change((store) => store.batch([putConfirmed(channelId, { epoch, state: wrong })])),
  );
  await halves.finish(bob.channel());
  await halves.pass(15);
  assertEquals((await bob.channel()).members().find(({ self }) => self)?.confirmedEpoch, undefined);
  assertEquals((await alice.channel()).health().issues, []);
});
