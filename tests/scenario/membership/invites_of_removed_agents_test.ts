// Invites by which a removed agent came: over for every inviter, also when the relay helps those
// that hold them.
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { ChannelId } from "../../../proto/mod.ts";
import type { Engine } from "../../../relay/engine/mod.ts";
import { StaticError } from "../../../sdk/mod.ts";
import { sendBogus } from "../../support/scenario/bad_commits.ts";
import { allStopped, recover, talk } from "../../support/scenario/recovery.ts";
import { type Actor, name, Stage, until } from "../../support/scenario/stage.ts";

interface Guests {
  readonly alice: Actor;
  readonly bob: Actor;
  readonly carol: Actor;
  readonly dave: Actor;
  readonly token: string;
  /** The relay's help: the invite is as it was before the removal. */
  readonly bringBack: () => Promise<void>;
}

/**
 * Alice owns; carol came in by bob's invite, which is good for two more and which dave holds too.
 */
async function withGuests(stage: Stage): Promise<Guests> {
  const { alice, bob } = await stage.pair();
  const [carol, dave] = [await stage.actor("carol"), await stage.actor("dave")];
  const token = await bob.manager.invite(name, { uses: 3 });
  await carol.manager.joinWithToken(name, token);
  const { engine } = stage.world;
  const { channelId } = await alice.inside();
  const kept = await engine.records.ofChannel(channelId);
  return { alice, bob, carol, dave, token, bringBack: () => restore(engine, channelId, kept) };
}

async function restore(
  engine: Engine,
  channelId: ChannelId,
  kept: Awaited<ReturnType<Engine["records"]["ofChannel"]>>,
): Promise<void> {
  const of = { channelId, most: 10, room: { channelBytes: 1 << 30, accountBytes: 1 << 30 } };
  for (const { key, value, expiresAtMs } of kept) {
    await engine.records.put(key, { value, expiresAtMs, of }, 0);
  }
}

async function isRefused(guest: Actor, token: string): Promise<void> {
  const joining = guest.manager.joinWithToken(name, token, { timeoutMs: 60_000 });
  const error = await assertRejects(() => joining, StaticError);
  assertEquals(error.code, "join_rejected", error.message);
  assertStringIncludes(error.message, "ask for a new one");
}

async function remove({ alice, bob }: Guests, guest: Actor): Promise<void> {
  await (await alice.channel()).removeMember(guest.client.agentId);
  await until("bob has followed", async () => (await bob.channel()).members().length === 2);
}

Deno.test("an invite by which a removed agent came is over at the relay and for its inviter", async () => {
  await using stage = await Stage.open();
  const guests = await withGuests(stage);
  const { bob, carol, dave, token, bringBack } = guests;
  await remove(guests, carol);
  assertEquals(await bob.manager.invites(name), []);
  await isRefused(dave, token);
  // The relay helps: bob's own record says no.
  await bringBack();
  await isRefused(dave, token);
  await isRefused(carol, token);
  await bob.restart();
  await bringBack();
  await isRefused(dave, token);
  assertEquals((await bob.channel()).members().length, 2);
});

Deno.test("an inviter that was away, or dies, when the agent was removed lets nobody in by the invite", async () => {
  await using stage = await Stage.open();
  const guests = await withGuests(stage);
  const { alice, bob, carol, dave, token, bringBack } = guests;
  await bob.stop();
  await (await alice.channel()).removeMember(carol.client.agentId);
  await bringBack();
  await bob.start();
  await until("bob has followed", async () => (await bob.channel()).members().length === 2);
  await bob.crash();
  await bringBack();
  await isRefused(dave, token);
});

Deno.test("a founding without the sender of a bad commit ends its invites, and the invite by which it came", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol, dave, token, bringBack } = await withGuests(stage);
  const carols = await carol.manager.invite(name);
  await sendBogus(carol);
  await allStopped(alice, bob);
  await recover(alice);
  await talk(alice, bob);
  await until("carol is gone for bob", async () => (await bob.channel()).members().length === 2);
  await until("bob's invite is over", async () => (await bob.manager.invites(name)).length === 0);
  await isRefused(dave, token);
  await bringBack();
  await isRefused(dave, token);
  await bob.restart();
  await bringBack();
  await isRefused(dave, token);
  await assertRejects(
    () => dave.manager.joinWithToken(name, carols, { timeoutMs: 2_000 }),
    StaticError,
  );
  assertEquals((await alice.channel()).members().length, 2);
});

Deno.test("an agent that leaves by itself takes no invite with it", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol, dave, token } = await withGuests(stage);
  await (await carol.channel()).leave();
  await until("carol is gone", async () => (await alice.channel()).members().length === 2);
  await until("for bob, too", async () => (await bob.channel()).members().length === 2);
  assertEquals((await bob.manager.invites(name)).map(({ used }) => used), [1]);
  await dave.manager.joinWithToken(name, token, { timeoutMs: 60_000 });
});

for (const how of ["removed an agent that came by it", "revoked it"]) {
  Deno.test(`an invite lets nobody in any more once somebody ${how}, though its answer was under way`, async () => {
    await using stage = await Stage.open();
    const guests = await withGuests(stage);
    const { alice, bob, carol, dave, token } = guests;
    let isFirst = true;
    bob.session.tampering.call = async (operation, _body, forward) => {
      if (operation === "SendCommit" && isFirst) {
        isFirst = false;
        // Alice is faster, so that bob has to make another commit.
        if (how === "revoked it") {
          await bob.manager.revokeInvite(token);
          await (await alice.channel()).rotate();
        } else await (await alice.channel()).removeMember(carol.client.agentId);
      }
      return await forward();
    };
    await isRefused(dave, token);
    assertEquals(isFirst, false);
    const isIn = async (): Promise<boolean> =>
      (await bob.channel()).members().some(({ agentId }) => agentId === dave.client.agentId);
    const isRejected = async (): Promise<boolean> =>
      (await bob.channel()).health().issues.some(({ kind }) => kind === "refused_join");
    await until("bob has decided", async () => await isIn() || await isRejected());
    assertEquals(await isIn(), false, "dave came in");
  });
}
