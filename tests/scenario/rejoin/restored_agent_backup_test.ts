/**
 * An agent whose disk was put back notices it, sends nothing with used keys, and comes back. The
 * log proves it where it still holds what the agent sent; where it does not, the agent comes back
 * all the same. An honest relay and an honest crash never look like that, and a relay that only
 * claims it gains little.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import type { ReplyBody, RequestBody } from "../../../proto/mod.ts";
import { type IssueKind, StaticError } from "../../../sdk/mod.ts";
import { createError } from "../../../sdk/testing/agents.ts";
import { HostileMember } from "../../../sdk/testing/hostile_member.ts";
import type { Tampering } from "../../support/scenario/memory_session.ts";
import {
  type Actor,
  allAgree,
  issueCount,
  name,
  read,
  Stage,
  until,
} from "../../support/scenario/stage.ts";

async function saw(actor: Actor, kind: IssueKind): Promise<boolean> {
  return await countOf(actor, kind) > 0;
}

async function countOf(actor: Actor, kind: IssueKind): Promise<number> {
  return issueCount(await actor.channel(), kind);
}

async function commit(actor: Actor, times: number): Promise<void> {
  const inside = await actor.inside();
  for (let made = 0; made < times; made++) await inside.commit();
}

async function sendMany(actor: Actor, count: number): Promise<string[]> {
  const texts = Array.from({ length: count }, (_, i) => `message ${i}`);
  await Promise.all(texts.map((text) => actor.manager.send(name, text)));
  return texts;
}

/** The log, and what the relay keeps of its end in memory. */
async function trimmed(stage: Stage, actor: Actor): Promise<void> {
  const { channelId } = await actor.inside();
  await until("the log is trimmed", async () => {
    const items = await stage.world.engine.read(channelId, { after: 0, maxBytes: 1 });
    return items.length === 0;
  });
  const { sent } = await actor.session.call("Subscribe", { channelId, windowBytes: 1, tag: 0 });
  await until("nothing is kept of it", async () => {
    if (sent === undefined) return true;
    return (await actor.session.call("ReadOwn", { channelId, sequence: sent.sequence })).message ===
      undefined;
  });
}

/** Epochs of messages and commits that an agent sends. */
function watchSending(epochs: number[]): Tampering {
  return {
    call: (operation, body, forward) => {
      if (operation === "SendMessage" || operation === "SendCommit") {
        epochs.push((body as RequestBody<"SendMessage">).epoch); // cast: both have an epoch
      }
      return forward();
    },
  };
}

/**
 * Puts a backup back, sends at once, and checks that the others read it and that nothing went out
 * under the old leaf.
 */
async function restoreAndSend(
  actor: Actor,
  backup: Awaited<ReturnType<Actor["backup"]>>,
): Promise<void> {
  const { epoch } = await actor.inside();
  const epochs: number[] = [];
  await actor.restore(backup, watchSending(epochs));
  await actor.manager.send(name, "here again");
  await until("it is back", () => saw(actor, "rejoined"));
  assertGreater(epochs.length, 0);
  for (const each of epochs) {
    assertGreater(each, epoch, "something was sent under the leaf from before");
  }
}

async function readUntil(actor: Actor, text: string): Promise<void> {
  const channel = await actor.channel();
  while ((await read(channel, 1))[0] !== text);
}

Deno.test("a backup from before 300 messages that all have read and the relay has trimmed is noticed, unproven", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const backup = await bob.backup();
  const texts = await sendMany(bob, 300);
  for (const reader of [alice, carol]) {
    assertEquals((await read(await reader.channel(), 300)).sort(), texts.sort());
  }
  await trimmed(stage, bob);
  await restoreAndSend(bob, backup);
  assert(await saw(bob, "store_unproven") && !await saw(bob, "store_rolled_back"));
  await allAgree(alice, bob, carol);
  for (const reader of [alice, carol]) {
    assertEquals(await read(await reader.channel(), 1), ["here again"]);
    assertEquals((await reader.channel()).health().issues.map(({ kind }) => kind), []);
  }
});

Deno.test("the same after a restart of the relay, which knows from its snapshot what the agent sent", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const backup = await bob.backup();
  await sendMany(bob, 20);
  await read(await alice.channel(), 20);
  await trimmed(stage, bob);
  await stage.restartRelay();
  await restoreAndSend(bob, backup);
  assert(await saw(bob, "store_unproven"));
  assertEquals(await read(await alice.channel(), 1), ["here again"]);
});

Deno.test("a backup from before messages that the log still holds is proven by the agent's own signature", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await bob.manager.send(name, "before the backup");
  const backup = await bob.backup();
  await sendMany(bob, 300);
  await restoreAndSend(bob, backup);
  assert(await saw(bob, "store_rolled_back") && !await saw(bob, "store_unproven"));
  await allAgree(alice, bob, carol);
  for (const reader of [alice, carol]) await readUntil(reader, "here again");
});

Deno.test("a backup from before commits of its own is proven by what the agent signed with them", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const backup = await bob.backup();
  await carol.stop(); // so that the log keeps them
  await commit(bob, 3);
  await allAgree(alice, bob);
  await restoreAndSend(bob, backup);
  assert(await saw(bob, "store_rolled_back"));
  await carol.start();
  await allAgree(alice, bob, carol);
  for (const reader of [alice, carol]) await readUntil(reader, "here again");
});

Deno.test("a backup from before a rejoin is noticed by where the membership began", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const backup = await bob.backup();
  await (await alice.channel()).addMember(await bob.client.generateKeyPackage());
  await until("bob has joined anew, with a leaf of his own making", async () => {
    const place = (await carol.inside()).leafOf(bob.client.agentId);
    return await saw(bob, "rejoined") && place?.leaf.node.leafNodeSource === "commit";
  });
  await allAgree(alice, bob, carol);
  await restoreAndSend(bob, backup);
  assert(await saw(bob, "store_unproven") || await saw(bob, "store_rolled_back"));
  await allAgree(alice, bob, carol);
  for (const reader of [alice, carol]) await readUntil(reader, "here again");
});

Deno.test("the only owner, restored, is let in by another member and still owns the channel", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const backup = await alice.backup();
  await sendMany(alice, 10);
  await commit(alice, 1);
  await alice.manager.send(name, "and one more");
  await restoreAndSend(alice, backup);
  await allAgree(alice, bob);
  await readUntil(bob, "here again");
  const owners = (await bob.channel()).members().filter(({ owner }) => owner).map(({ agentId }) =>
    agentId
  );
  assertEquals(owners, [alice.client.agentId]);
});

Deno.test("the only owner, restored to when it knew nobody that is left, is let in by one that it let in since", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await (await alice.channel()).removeMember(bob.client.agentId);
  const backup = await alice.backup();
  const carol = await stage.actor("carol");
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await alice.manager.send(name, "hello carol");
  await restoreAndSend(alice, backup);
  assert(!await saw(alice, "refused_welcome"));
  await allAgree(alice, carol);
  await readUntil(carol, "here again");
  const owners = (await carol.channel()).members().filter(({ owner }) => owner).map(({ agentId }) =>
    agentId
  );
  assertEquals(owners, [alice.client.agentId]);
});

Deno.test("the same by one that came by others, all of whom have left", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  await alice.manager.create(name);
  const backup = await alice.backup();
  let inviter = alice;
  const joined: Actor[] = [];
  for (const label of ["bob", "carol", "dave"]) {
    const actor = await stage.actor(label);
    await actor.manager.joinWithToken(name, await inviter.manager.invite(name));
    inviter = actor;
    joined.push(actor);
  }
  await allAgree(alice, ...joined);
  for (const leaver of joined.slice(0, 2)) await (await leaver.channel()).leave();
  await until(
    "dave is alone with alice",
    async () => (await inviter.channel()).members().length === 2,
  );
  await restoreAndSend(alice, backup);
  await allAgree(alice, inviter);
  await readUntil(inviter, "here again");
});

Deno.test("an agent that only reads notices that it has read further", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const backup = await bob.backup();
  await sendMany(alice, 50);
  await read(await bob.channel(), 50);
  await trimmed(stage, bob);
  await bob.restore(backup);
  await until("bob is back", () => saw(bob, "rejoined"));
  assert(await saw(bob, "store_unproven"));
  await allAgree(alice, bob);
  await alice.manager.send(name, "for bob");
  assertEquals(await read(await bob.channel(), 1), ["for bob"]);
});

type Subscribed = ReplyBody<"Subscribe">;

/** False statements of a relay. */
const claims: Readonly<Record<string, (reply: Subscribed) => Subscribed>> = {
  "a relay that merely claims what an agent did gains three rejoins an hour": (reply) => ({
    ...reply,
    sent: { sequence: 1, epoch: 0, counter: 1_000_000 },
  }),
  "a relay that merely claims that an agent was added anew gains three rejoins an hour": (
    { sent: _, ...reply },
  ) => {
    return { ...reply, joinedSequence: reply.joinedSequence + 1, acknowledged: 0 };
  },
};

for (const [guarantee, claim] of Object.entries(claims)) {
  Deno.test(guarantee, async () => {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const hourMs = 60 * 60 * 1000;
    const hours: (() => void)[] = [];
    const { after } = bob;
    bob.after = (ms, run) => {
      if (ms < hourMs) return after(ms, run);
      hours.push(run);
      return () => {};
    };
    let [asked, subscribed] = [0, 0];
    await bob.stop();
    await bob.start({
      call: async (operation, _, forward) => {
        if (operation === "RequestRejoin") asked++;
        if (operation === "LeaveChannel") throw createError("internal", "Not now");
        const reply = await forward();
        if (operation !== "Subscribe") return reply;
        subscribed++;
        return claim(reply as Subscribed); // cast: of this operation
      },
    });
    await until("bob waits an hour", async () => await saw(bob, "relay_lied") && hours.length > 0);
    assertEquals(await countOf(bob, "rejoined"), 3);
    assertEquals(
      await countOf(bob, "store_unproven"),
      guarantee.includes("what an agent did") ? 4 : 0,
    );
    assertEquals(await saw(bob, "store_rolled_back"), false);
    const before = { asked, subscribed };
    bob.session.disconnect();
    await bob.session.connect();
    await until("bob has compared again", () => subscribed > before.subscribed);
    await roundTrips(bob);
    assertEquals(asked, before.asked, "a new connection shortens the hour");
    await assertRejects(async () => await (await bob.channel()).leave(), StaticError);
    await roundTrips(bob);
    assertEquals(asked, before.asked, "a leave that fails shortens the hour");
    bob.session.tampering = {};
    hours.forEach((run) => run());
    await until("bob is back", async () => await countOf(bob, "rejoined") === 4);
    await allAgree(alice, bob);
    await bob.manager.send(name, "at last");
    await readUntil(alice, "at last");
  });
}

/** As long as an agent would need to ask for something. */
async function roundTrips(actor: Actor): Promise<void> {
  const { channelId } = await actor.inside();
  for (let trips = 0; trips < 10; trips++) await actor.session.call("ListMembers", { channelId });
}

Deno.test("commits that an agent made and the relay kept back, however many, do not prove that its store is old", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const kept: RequestBody<"SendCommit">[] = [];
  bob.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit") return forward();
    kept.push(body as RequestBody<"SendCommit">); // cast: of this operation
    return Promise.reject(createError("not_allowed", "The relay keeps it for itself"));
  };
  for (let made = 0; made < 17; made++) await commit(bob, 1).catch(() => {});
  const [shown] = kept;
  assert(shown !== undefined && kept.length === 17);
  const { channelId: _, welcomes: __, answers: ___, ...first } = shown;
  let lies = 1;
  bob.session.tampering.call = async (operation, _, forward) => {
    if (operation === "ReadOwn") return { commit: first };
    const reply = await forward();
    if (operation !== "Subscribe" || lies-- <= 0) return reply;
    const sent = { sequence: 9, epoch: first.epoch, counter: 0, commitHash: sha256(first.commit) };
    return { ...reply as Subscribed, sent }; // cast: of this operation
  };
  bob.session.disconnect();
  await bob.session.connect();
  await until("bob is back", () => saw(bob, "rejoined"));
  assert(await saw(bob, "store_unproven") && !await saw(bob, "store_rolled_back"));
  await allAgree(alice, bob);
});

Deno.test("a relay and a member that make up a message of an agent prove nothing", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const hostile = await HostileMember.of(alice.agent, name);
  const leafIndex = (await bob.inside()).group.self.leafIndex;
  const made = hostile.impersonating({ leafIndex, generation: 70 });
  await bob.stop();
  let lies = 1;
  let shown = 0;
  await bob.start({
    call: async (operation, _, forward) => {
      if (operation === "ReadOwn") {
        shown++;
        return { message: made };
      }
      const reply = await forward() as object; // cast: the body of a reply
      if (operation !== "Subscribe" || lies-- <= 0) return reply;
      return { ...reply, sent: { sequence: 1, epoch: made.epoch, counter: 9 } };
    },
  });
  await until("bob is back", () => saw(bob, "rejoined"));
  assertEquals(shown, 1);
  assert(await saw(bob, "store_unproven") && !await saw(bob, "store_rolled_back"));
  await allAgree(alice, bob);
});

Deno.test("a member that was removed and added again while it was away is not called restored", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const keyPackage = await bob.client.generateKeyPackage();
  await bob.stop();
  await (await alice.channel()).addMember(keyPackage);
  await bob.start();
  await until("bob is back", () => saw(bob, "rejoined"));
  await allAgree(alice, bob, carol);
  assert(!await saw(bob, "store_unproven") && !await saw(bob, "store_rolled_back"));
});

Deno.test("a commit that arrives after its agent gave it up is entered, and is not called a restored backup", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const sent = Promise.withResolvers<RequestBody<"SendCommit">>();
  bob.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit") return forward();
    sent.resolve(body as RequestBody<"SendCommit">); // cast: of this operation
    return Promise.reject(createError("transport_error", "It is on its way for long"));
  };
  const carol = await stage.actor("carol");
  const [channel, keyPackage] = [await bob.channel(), await carol.client.generateKeyPackage()];
  const committing = channel.addMember(keyPackage).catch(() => {});
  const late = await sent.promise;
  await bob.crash();
  await committing;
  await until("bob has given it up", async () => (await bob.channel()).health().state === "ok");
  await bob.session.call("SendCommit", late);
  bob.session.disconnect();
  await bob.session.connect();
  await until("bob has entered it", async () => (await bob.inside()).epoch === late.epoch + 1);
  await allAgree(alice, bob);
  assertEquals((await bob.channel()).health().issues.map(({ kind }) => kind), []);
});
