/**
 * Calls about the names of channels that cross: with each other, with the end of a channel, of the
 * client, of the disk.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ChannelEndReason } from "../../../proto/mod.ts";
import { StaticError } from "../../../sdk/mod.ts";
import { createError } from "../../../sdk/testing/agents.ts";
import { loseStep } from "../../support/scenario/lost_step.ts";
import { deafen } from "../../support/scenario/recovery.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

const other = "acme/ops/other";

async function outcomeOf(call: Promise<unknown>): Promise<string> {
  return await call.then(
    () => "done",
    (error: unknown) => error instanceof StaticError ? error.code : String(error),
  );
}

/** The relay says that the channel is over. */
async function tellEnd(actor: Actor, reason: ChannelEndReason): Promise<void> {
  const { channelId, state } = await actor.inside();
  assertEquals(state.ended, undefined);
  const body = { channelId, sequence: 900, timeMs: 0, reason };
  actor.session.inject({ kind: "notice", operation: "DeliverChannelEnd", body });
}

async function assertWorks(alice: Actor, bob: Actor): Promise<void> {
  await allAgree(alice, bob);
  await alice.manager.send(name, "hello");
  assertEquals((await read(await bob.channel(), 1)).at(-1), "hello");
}

/**
 * From now on answers to this operation are kept back, the first ones as given. Returns what lets
 * them go, and how many there are.
 */
function hold(
  actor: Actor,
  held: string,
  first = Infinity,
): { readonly count: () => number; readonly release: () => void } {
  const gate = Promise.withResolvers<void>();
  let [asked, taken] = [0, 0];
  actor.session.tampering.call = async (operation, _, forward) => {
    const isHeld = operation === held && asked++ < first;
    const answer = await forward();
    if (!isHeld) return answer;
    taken++;
    await gate.promise;
    return answer;
  };
  return { count: () => taken, release: gate.resolve };
}

Deno.test("a late answer to leave() of a channel that has ended erases nothing of the one that was joined since", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  const { count, release } = hold(bob, "LeaveChannel", 1);
  const leaving = channel.leave();
  await until("the relay has taken it, and says that the channel is over", () => count() === 1);
  await leaving;
  assertEquals(bob.client.channels, []);
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  release();
  await assertWorks(alice, bob);
  await bob.restart();
  await assertWorks(alice, bob);
});

Deno.test("a call to leave() that reaches the relay late, after another one of the same channel, ends nothing that was joined since", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let late: Promise<unknown> | undefined;
  bob.session.tampering.call = (operation, _, forward) => {
    if (operation !== "LeaveChannel" || late !== undefined) return forward();
    asked.resolve();
    return late = gate.promise.then(() => forward());
  };
  const leaving = (await bob.channel()).leave();
  await asked.promise;
  await tellEnd(bob, "removed");
  await leaving;
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  gate.resolve();
  const outcome = await outcomeOf(Promise.resolve(late));
  assertEquals(outcome, "state_conflict");
  await assertWorks(alice, bob);
  await bob.restart();
  await assertWorks(alice, bob);
});

Deno.test("a handler that leaves when it is told that the channel has ended leaves it", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const [handling, isHandled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const channel = await bob.channel();
  let leaving: Promise<string> | undefined;
  channel.serve(async ({ signal }) => {
    signal.addEventListener("abort", () => leaving = outcomeOf(channel.leave()));
    handling.resolve();
    await isHandled.promise;
  });
  void (await alice.channel()).request("work", { to: bob.client.agentId }).catch(() => {});
  await handling.promise;
  await tellEnd(bob, "removed");
  await until("it leaves", () => leaving !== undefined);
  assertEquals([await leaving, bob.client.channels], ["done", []]);
  isHandled.resolve();
});

Deno.test("a channel that comes back by itself while another Welcome takes its place keeps its new place", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const handling = Promise.withResolvers<void>();
  const isHandled = Promise.withResolvers<void>();
  (await bob.channel()).serve(async () => {
    handling.resolve();
    await isHandled.promise;
    return "done";
  });
  void (await alice.channel()).request("work", { to: bob.client.agentId }).catch(() => {});
  await handling.promise;
  // The relay breaks every answer until bob is stuck, and keeps back what comes then.
  const inside = await bob.inside();
  let comes: "broken" | "lost" | "whole" = "broken";
  bob.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverWelcome") return [notice];
    const { welcome } = notice.body;
    const broken = welcome.slice().fill(0x55, welcome.length - 32);
    if (comes === "whole") return [notice];
    return comes === "broken" ? [{ ...notice, body: { ...notice.body, welcome: broken } }] : [];
  };
  await loseStep(bob, alice);
  await until("bob is unwelcome", () => inside.state.unwelcome);
  deafen(alice, carol);
  comes = "lost";
  const channel = await alice.channel();
  const earlier = await channel.addMember(await bob.client.generateKeyPackage());
  const joining = outcomeOf(bob.client.joinChannel(name, earlier));
  // Its machine waits for the handler before it ends, and comes back meanwhile.
  comes = "whole";
  await channel.addMember(await bob.client.generateKeyPackage());
  await until("bob is back", () => inside.issues.some(({ kind }) => kind === "rejoined"));
  isHandled.resolve();
  assertEquals(await joining, "name_taken");
  await allAgree(alice, bob, carol);
  await bob.restart();
  await allAgree(alice, bob, carol);
});

Deno.test("calls about one channel do not wait for those about another", async () => {
  await using stage = await Stage.open();
  const [alice, bob] = [await stage.actor("alice"), await stage.actor("bob")];
  await alice.manager.create(name);
  const { count, release } = hold(bob, "CreateChannel");
  const creating = bob.manager.create(other);
  await until("the relay has made it", () => count() === 1);
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  await (await bob.channel()).leave();
  release();
  await creating;
  assertEquals(bob.client.channels, [other]);
});

Deno.test("calls at once for one name take turns, whichever they are", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  assertEquals(await Promise.all([channel.leave(), channel.leave()].map(outcomeOf)), [
    "done",
    "done",
  ]);
  const made = await Promise.all([bob.client.openChannel(other), bob.client.openChannel(other)]);
  assertEquals(new Set(made.map(({ id }) => id)).size, 1);
  const calls = [
    alice.client.closeChannel(name),
    alice.client.createChannel(name),
    alice.client.closeChannel(name),
  ];
  assertEquals((await Promise.all(calls.map(outcomeOf)))[0], "done");
  await alice.client.openChannel(name);
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  await assertWorks(alice, bob);
});

Deno.test("leave() of a channel that is being erased already waits until nothing is left of it", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const [channel, inside] = [await bob.channel(), await bob.inside()];
  bob.writeMs = 20;
  await (await alice.channel()).removeMember(bob.client.agentId);
  await until("it is over", () => inside.over !== undefined);
  await channel.leave();
  assertEquals([bob.client.channels, bob.agent.parts.store.has("channels", channel.id)], [
    [],
    false,
  ]);
  bob.writeMs = 0;
});

Deno.test("the only owner can leave a channel that is over for all, and not one that the relay falsely calls over", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const first = await alice.channel();
  await tellEnd(alice, "removed");
  const error = await assertRejects(() => first.leave(), StaticError, "Cannot leave");
  assertEquals(error.code, "not_allowed");
  await assertWorks(alice, bob);
  const [channel, inside] = [await alice.channel(), await alice.inside()];
  await bob.client.closeChannel(name);
  await until("it is over", () => inside.over !== undefined);
  await channel.leave();
  assertEquals(alice.client.channels, []);
});

Deno.test("a channel that is over is not left beside a change that is not settled", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  const { count, release } = hold(bob, "SendCommit");
  const changing = outcomeOf(channel.rotate());
  await until("the relay has taken it", () => count() === 1);
  const leaving = outcomeOf(channel.leave());
  await tellEnd(bob, "removed");
  assertEquals([await leaving, await changing], ["not_allowed", "removed"]);
  release();
  await (await bob.channel()).leave();
  await until("alice is alone", async () => (await alice.channel()).members().length === 1);
});

Deno.test("a channel that is over is not left without the successor that its owner names", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await alice.channel();
  await channel.promote(bob.client.agentId);
  await allAgree(alice, bob, carol);
  await tellEnd(alice, "removed");
  await until("it is over", () => channel.health().state === "ended");
  const { code } = await assertRejects(
    () => channel.leave({ successor: carol.client.agentId }),
    StaticError,
  );
  assertEquals([code, alice.client.channels], ["not_allowed", [name]]);
  await channel.leave({ successor: bob.client.agentId });
  assertEquals(alice.client.channels, []);
});

for (const operation of ["CreateChannel", "ListMembers", "LeaveChannel", "CloseChannel"] as const) {
  Deno.test(`a client that is closed while it asks the relay ends every call, and is whole after its next start: ${operation}`, async () => {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const channel = await bob.channel();
    const keyPackage = await bob.client.generateKeyPackage();
    hold(bob, operation);
    const calls = [
      bob.client.createChannel(other),
      bob.client.createChannel(name),
      bob.client.joinChannel(name, keyPackage),
      operation === "CloseChannel" ? bob.client.closeChannel(name) : channel.leave(),
      bob.client.channel(other),
    ];
    const outcomes = calls.map(outcomeOf);
    // wait: a turn of the event loop, so that they have begun
    await new Promise((resolve) => setTimeout(resolve));
    await bob.stop();
    assert((await Promise.all(outcomes)).every((outcome) => outcome !== "pending"));
    await bob.start();
    for (const each of bob.client.channels) await bob.client.channel(each).catch(() => {});
    if (operation !== "CloseChannel") await alice.manager.send(name, "goes on");
  });
}

for (const writes of [0, 1, 2, 3, 4, 5, 6]) {
  Deno.test(`a disk that fails after ${writes} writes ends every call, and nothing waits for ever`, async () => {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const channel = await bob.channel();
    const token = await alice.manager.invite(name);
    void bob.diesAfter(writes);
    const calls = [
      bob.client.createChannel(other),
      bob.client.openChannel("acme/ops/third"),
      channel.leave().then(() => bob.manager.joinWithToken(name, token, { timeoutMs: 5_000 })),
    ];
    const outcomes = await Promise.all(calls.map(outcomeOf));
    for (const outcome of outcomes) {
      assert(["done", "store_failed", "join_timeout"].includes(outcome), outcomes.join());
    }
    await bob.agent.close().catch(() => {});
    const late = await outcomeOf(bob.client.createChannel("acme/ops/fourth"));
    assert(["store_failed", "transport_error"].includes(late), late);
    await bob.crash();
    for (const each of bob.client.channels) await bob.client.channel(each);
  });
}

Deno.test("a relay that refuses, or does not say, leaves a name as it was", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const refusing = (refused: string): void => {
    bob.session.tampering.call = (operation, _, forward) =>
      operation === refused ? Promise.reject(createError("overloaded", "later")) : forward();
  };
  const channel = await bob.channel();
  refusing("ListMembers");
  assertEquals(await outcomeOf(bob.client.createChannel(name)), "overloaded");
  refusing("LeaveChannel");
  assertEquals(await outcomeOf(channel.leave()), "overloaded");
  refusing("CloseChannel");
  assertEquals(await outcomeOf(bob.client.closeChannel(name)), "overloaded");
  refusing("CreateChannel");
  assertEquals(await outcomeOf(bob.client.createChannel(other)), "overloaded");
  bob.session.tampering = {};
  await assertWorks(alice, bob);
  await bob.client.createChannel(other);
});
