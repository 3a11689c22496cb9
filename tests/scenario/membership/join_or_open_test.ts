// joinOrOpen(): a program is the same on its first run and on every other, and never enters a
// channel other than its token's.
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { StaticError } from "../../../sdk/mod.ts";
import { type Actor, allAgree, name, Stage, until } from "../../support/scenario/stage.ts";

async function opened(stage: Stage): Promise<Actor> {
  const alice = await stage.actor("alice");
  await alice.manager.create(name);
  return alice;
}

async function codeOf(act: Promise<unknown>): Promise<string> {
  return await act.then(
    () => "fulfilled",
    (error: unknown) => error instanceof StaticError ? error.code : String(error),
  );
}

/** How many agents the invites of this agent still let in. */
async function usesLeft({ manager }: Actor): Promise<number> {
  return (await manager.invites(name)).reduce((sum, { uses, used }) => sum + uses - used, 0);
}

Deno.test("calls at once join once; later calls and later runs open, without the inviter", async () => {
  await using stage = await Stage.open();
  const [alice, bob] = [await opened(stage), await stage.actor("bob")];
  const token = await alice.manager.invite(name, { uses: 2 });
  const channels = await Promise.all(
    [1, 2, 3].map(() => bob.manager.joinOrOpen(name, token, { timeoutMs: 30_000 })),
  );
  assertEquals(new Set(channels.map(({ id }) => id)).size, 1);
  assertEquals(await usesLeft(alice), 1);
  await allAgree(alice, bob);
  await alice.manager.revokeInvite(token);
  await alice.stop();
  await bob.restart();
  assertEquals(
    (await bob.manager.joinOrOpen(name, token, { timeoutMs: 30_000 })).id,
    channels[0]?.id,
  );
  await alice.start();
});

Deno.test("a call that waits for an earlier one waits no longer than its own time, and says which that was", async () => {
  await using stage = await Stage.open();
  const [alice, bob] = [await opened(stage), await stage.actor("bob")];
  const token = await alice.manager.invite(name);
  await alice.stop();
  let isOver = false;
  const first = bob.manager.joinOrOpen(name, token, { timeoutMs: 60_000 }).finally(() =>
    isOver = true
  );
  const second = bob.manager.joinOrOpen(name, token, { timeoutMs: 50 });
  const late = await assertRejects(() => second, StaticError, "nobody answered within 50 ms");
  assertEquals([late.code, isOver], ["join_timeout", false]);
  await alice.start();
  const channel = await first;
  assertEquals((await bob.manager.joinOrOpen(name, token)).id, channel.id);
});

Deno.test("two agents with one token: as many come in as it has uses, and the other is told", async () => {
  await using stage = await Stage.open();
  const alice = await opened(stage);
  const [bob, carol, dave] = [
    await stage.actor("bob"),
    await stage.actor("carol"),
    await stage.actor("dave"),
  ];
  const token = await alice.manager.invite(name, { uses: 2 });
  await Promise.all([bob, carol].map(({ manager }) => manager.joinOrOpen(name, token)));
  await allAgree(alice, bob, carol);
  assertEquals(await codeOf(dave.manager.joinOrOpen(name, token)), "join_rejected");
});

for (const writes of [0, 1, 2, 3, 4, 5]) {
  Deno.test(`an agent that dies after ${writes} writes of joining is in after the next run, by the same use`, async () => {
    await using stage = await Stage.open();
    const [alice, bob] = [await opened(stage), await stage.actor("bob")];
    const token = await alice.manager.invite(name, { uses: 2 });
    const dead = bob.diesAfter(writes);
    await Promise.race([dead, bob.manager.joinOrOpen(name, token).catch(() => {})]);
    await bob.crash();
    await bob.manager.joinOrOpen(name, token);
    await allAgree(alice, bob);
    assertEquals(await usesLeft(alice), 1);
  });
}

Deno.test("an agent whose directory is gone is another agent: it is told why it is not let in, and replaces the first one", async () => {
  await using stage = await Stage.open();
  const [alice, bob] = [await opened(stage), await stage.actor("bob")];
  const [once, twice] = [
    await alice.manager.invite(name),
    await alice.manager.invite(name, { uses: 2 }),
  ];
  await bob.manager.joinOrOpen(name, once);
  const anew = await stage.actor("bob");
  assertEquals(await codeOf(anew.manager.joinOrOpen(name, once)), "join_rejected");
  assertEquals(await codeOf(anew.manager.joinOrOpen(name, twice)), "identity_present");
  const replacing = await alice.manager.invite(name, { replaces: bob.client.agentId });
  await anew.manager.joinOrOpen(name, replacing);
  await allAgree(alice, anew);
});

Deno.test("a channel that is over is not opened: its token says so, and that of the next channel of the name leads into it", async () => {
  await using stage = await Stage.open();
  const [alice, bob] = [await opened(stage), await stage.actor("bob")];
  const token = await alice.manager.invite(name);
  const first = await bob.manager.joinOrOpen(name, token);
  await alice.client.closeChannel(name);
  const { code, message } = await assertRejects(
    () => bob.manager.joinOrOpen(name, token),
    StaticError,
  );
  assertEquals(code, "join_rejected");
  assertStringIncludes(message, "This agent was in channel");
  const { id } = await alice.manager.create(name);
  const next = await alice.manager.invite(name);
  assertEquals((await bob.manager.joinOrOpen(name, next)).id, id);
  assert(first.id !== id);
  await bob.restart();
  assertEquals((await bob.manager.joinOrOpen(name, next)).id, id);
});

Deno.test("an agent in another channel of that name stays there, and is told", async () => {
  await using stage = await Stage.open();
  const { bob } = await stage.pair();
  const other = await stage.actor("mallory", 2);
  await other.manager.create(name);
  const before = (await bob.channel()).id;
  const { code, channel } = await assertRejects(
    async () => await bob.manager.joinOrOpen(name, await other.manager.invite(name)),
    StaticError,
  );
  assertEquals([code, channel, (await bob.channel()).id], ["name_taken", name, before]);
});

Deno.test("a removed agent does not come back by its old token", async () => {
  await using stage = await Stage.open();
  const [alice, bob] = [await opened(stage), await stage.actor("bob")];
  const token = await alice.manager.invite(name, { uses: 2 });
  const channel = await bob.manager.joinOrOpen(name, token);
  await allAgree(alice, bob);
  await (await alice.channel()).removeMember(bob.client.agentId);
  await until("bob knows", () => channel.health().state === "ended");
  assertEquals(await codeOf(bob.manager.joinOrOpen(name, token)), "join_rejected");
});

Deno.test("a name that an agent with lost keys has taken: the error says whose it is and how to close it, and that works", async () => {
  await using stage = await Stage.open();
  await opened(stage);
  const anew = await stage.actor("alice");
  for (const enter of [anew.client.openChannel(name), anew.manager.create(name)]) {
    const { code, message, channel } = await assertRejects(() => enter, StaticError);
    assertEquals([code, channel], ["name_taken", undefined]);
    for (
      const words of [
        "with 1 member",
        "no keys of it",
        `static channel close ${name}`,
        `closeChannel("${name}")`,
      ]
    ) {
      assertStringIncludes(message, words);
    }
  }
  await anew.client.closeChannel(name);
  assertEquals((await anew.client.openChannel(name)).members().length, 1);
});
