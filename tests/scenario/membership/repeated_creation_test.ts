/**
 * Stories that models of the channel found in tables of it, on the real agents and the real core of
 * the relay: a creation or an erasure that is done twice, or by half, ends no membership and begins
 * none.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { StaticError } from "../../../sdk/mod.ts";
import { createError } from "../../../sdk/testing/agents.ts";
import { allAgree, name, Stage, until } from "../../support/scenario/stage.ts";

for (const writes of [1, 2, 3, 4]) {
  Deno.test(`a channel that was left is not created again by what a crash left of its creation: ${writes} writes`, async () => {
    await using stage = await Stage.open();
    const alice = await stage.actor("alice");
    const dead = alice.diesAfter(writes);
    const creating = alice.manager.create(name).catch(() => {});
    await Promise.race([dead, creating]);
    await alice.crash();
    const before = await alice.client.openChannel(name);
    await before.leave();
    const { id } = await alice.manager.create(name);
    assert(id !== before.id, "the relay answered with the channel that was left");
    const bob = await stage.actor("bob");
    await bob.manager.joinWithToken(name, await alice.manager.invite(name));
    await allAgree(alice, bob);
  });
}

Deno.test("of two creations at once one makes the channel, and the other says that it is there", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const inside = await bob.inside();
  await alice.client.closeChannel(name);
  await until("bob knows that it is over", () => inside.over !== undefined);
  await bob.client.closeChannel(name);
  const made = await Promise.allSettled([bob.manager.create(name), bob.manager.create(name)]);
  assertEquals(made.map(({ status }) => status), ["fulfilled", "rejected"]);
  const channel = await bob.channel();
  await bob.restart();
  assertEquals((await bob.channel()).id, channel.id);
});

for (const writes of [2, 3, 4]) {
  Deno.test(`a membership whose erasure failed is not opened again: ${writes} writes`, async () => {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const inside = await bob.inside();
    const dead = bob.diesAfter(writes);
    await (await alice.channel()).removeMember(bob.client.agentId);
    await dead;
    await until("it is over", () => inside.over !== undefined);
    const opened = await bob.agent.open(name).then(() => "opened", ({ code }) => code);
    await bob.crash();
    // Without the note nothing was erased.
    assert(opened !== "opened" || bob.client.channels.length === 1);
  });
}

for (const by of ["its own call", "another agent of the account"] as const) {
  Deno.test(`a channel whose creation was not answered, and that was closed since, is not entered: closed by ${by}`, async () => {
    await using stage = await Stage.open();
    const [alice, other] = [await stage.actor("alice"), await stage.actor("other")];
    alice.session.tampering.call = async (operation, _, forward) => {
      const answer = await forward();
      if (operation === "CreateChannel") {
        throw createError("transport_error", "the answer was lost");
      }
      return answer;
    };
    await assertRejects(() => alice.manager.create(name), StaticError, "lost");
    alice.session.tampering = {};
    await (by === "its own call" ? alice : other).client.closeChannel(name);
    await alice.manager.create(name);
    const bob = await stage.actor("bob");
    await bob.manager.joinWithToken(name, await alice.manager.invite(name));
    await allAgree(alice, bob);
  });
}
