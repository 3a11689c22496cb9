// waitForMember(): nobody that comes is missed, and a request to the member that it returns works
// at once.
import { assertEquals, assertRejects } from "@std/assert";
import { type Channel, InvalidArgumentError, StaticError } from "../../../sdk/mod.ts";
import { type Actor, name, Stage, until } from "../../support/scenario/stage.ts";

async function opened(stage: Stage): Promise<{ alice: Actor; channel: Channel }> {
  const alice = await stage.actor("alice");
  return { alice, channel: await alice.manager.create(name) };
}

async function joined(stage: Stage, label: string, token: string): Promise<Actor> {
  const actor = await stage.actor(label);
  const channel = await actor.manager.joinWithToken(name, token);
  channel.serve((request) => `${label} heard ${request.text()}`);
  return actor;
}

Deno.test("waitForMember() returns each newcomer once: before the call, during it, and between two calls", async () => {
  await using stage = await Stage.open();
  const { alice, channel } = await opened(stage);
  const token = await alice.manager.invite(name, { uses: 3 });
  const bob = await joined(stage, "bob", token);
  await until("alice has bob", () => channel.members().length === 2);
  assertEquals((await channel.waitForMember()).agentId, bob.client.agentId);
  const waiting = channel.waitForMember();
  const carol = await joined(stage, "carol", token);
  const found = await waiting;
  assertEquals([found.agentId, found.identity], [carol.client.agentId, "carol"]);
  // Another object of the same channel: the members that came are known to the channel, not to the
  // object.
  const [dave, again] = [await joined(stage, "dave", token), await alice.channel()];
  assertEquals((await again.waitForMember()).agentId, dave.client.agentId);
  assertEquals(await again.waitForMember(undefined, { timeoutMs: 20 }), undefined);
});

Deno.test("a request to the member that waitForMember() returned is answered, though the disk is slow", async () => {
  await using stage = await Stage.open();
  const { alice, channel } = await opened(stage);
  const token = await alice.manager.invite(name);
  alice.writeMs = 50;
  const joining = joined(stage, "bob", token);
  const reply = await channel.request("hello", { to: await channel.waitForMember() });
  assertEquals(reply.text(), "bob heard hello");
  await joining;
});

Deno.test("a request to an agent that says it is in waits until its own side knows, and one to a stranger is refused", async () => {
  await using stage = await Stage.open();
  const { alice, channel } = await opened(stage);
  const token = await alice.manager.invite(name);
  const bob = await stage.actor("bob");
  const held = Promise.withResolvers<void>();
  // The relay, and with it bob, knows of the commit before alice does.
  alice.session.tampering = {
    call: async (operation, _, forward) => {
      const reply = await forward();
      if (operation === "SendCommit") await held.promise;
      return reply;
    },
  };
  (await bob.manager.joinWithToken(name, token)).serve(() => "here");
  assertEquals(channel.members().length, 1);
  const asked = channel.request("?", { to: bob.client.agentId });
  held.resolve();
  assertEquals((await asked).text(), "here");
  const stranger = await stage.actor("stranger");
  const refused = await assertRejects(
    () => channel.request("?", { to: stranger.client.agentId }),
    InvalidArgumentError,
    "is not a member of this channel",
  );
  assertEquals(refused.code, "invalid_request");
});

Deno.test("waitForMember(named) returns a member that is there, waits for one that is not, and for no claim", async () => {
  await using stage = await Stage.open();
  const { alice, channel } = await opened(stage);
  const token = await alice.manager.invite(name, { uses: 2 });
  const bob = await stage.actor("bob");
  const waiting = channel.waitForMember(bob.client.agentId);
  await joined(stage, "carol", token);
  await bob.manager.joinWithToken(name, token);
  assertEquals((await waiting).agentId, bob.client.agentId);
  const there = await channel.waitForMember(bob.client, { timeoutMs: 1 });
  assertEquals(there?.identity, "bob");
  await assertRejects(() => channel.waitForMember("bob"), InvalidArgumentError, "proves nothing");
});

Deno.test("waitForMember() ends with its signal, and with the channel", async () => {
  await using stage = await Stage.open();
  const { alice, channel } = await opened(stage);
  const stop = new AbortController();
  const given = channel.waitForMember(undefined, { signal: stop.signal });
  stop.abort(new Error("enough"));
  await assertRejects(() => given, Error, "enough");
  await assertRejects(
    () => channel.waitForMember("A".repeat(22), { signal: stop.signal }),
    Error,
    "enough",
  );
  const waiting = assertRejects(() => channel.waitForMember(), StaticError);
  await alice.client.closeChannel(name);
  await waiting;
});
