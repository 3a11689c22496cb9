/**
 * A connect is a row of calls. An honest relay may refuse each of them, be late with it, or lose
 * the connection over it. Whichever call it is, an owner whose disk was put back uses no key twice,
 * and is heard.
 */
import { assertEquals, assertGreater, assertRejects } from "@std/assert";
import type { CallName } from "../../../proto/mod.ts";
import { type Channel, StaticError } from "../../../sdk/mod.ts";
import { createError, type MemoryDisk, type Signatures } from "../../../sdk/testing/agents.ts";
import { inCampaign, tried } from "../../support/campaign.ts";
import { createRandom } from "../../support/mod.ts";
import { sendBogus } from "../../support/scenario/bad_commits.ts";
import { disturb, type Disturbance, disturbances } from "../../support/scenario/disturbed_call.ts";
import { issuesOf, stateOf } from "../../support/scenario/recovery.ts";
import { Actor, name, read } from "../../support/scenario/stage.ts";
import { createRememberedSignatures, SimulatedStage } from "../simulation/stage.ts";

interface Restored {
  readonly stage: SimulatedStage;
  readonly alice: Actor;
  readonly bob: Actor;
  readonly carol: Actor;
  /** Of alice, from before a founding of hers was entered in which she has sent since. */
  readonly disk: MemoryDisk;
}

/**
 * Alice has begun the channel anew and spoken; her disk is from before she knew that the relay had
 * taken the founding.
 */
async function prepare(signatures: Signatures): Promise<Restored> {
  const stage = await SimulatedStage.open(createRandom(1), signatures);
  const [alice, bob, carol] = ["alice", "bob", "carol"].map((label) => new Actor(stage, label, 1));
  if (alice === undefined || bob === undefined || carol === undefined) {
    throw new Error("three actors were asked for");
  }
  for (const actor of [alice, bob, carol]) {
    await stage.finish(`${actor.label} starts`, actor.start());
  }
  await stage.finish("the channel is made", alice.manager.create(name));
  for (const guest of [bob, carol]) {
    const token = await stage.finish("an invite is made", alice.manager.invite(name));
    await stage.finish(`${guest.label} joins`, guest.manager.joinWithToken(name, token));
  }
  await stage.finish("bob says something", bob.manager.send(name, "before"));
  await stage.world.time.advance(1000);
  await stage.finish("bob commits random bytes", sendBogus(bob));
  await stage.world.time.advance(61_000);
  assertEquals([await stateOf(alice), await stateOf(carol)], ["stopped", "stopped"]);
  alice.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    if (operation === "FoundGeneration") throw createError("transport_error", "Lost");
    return reply;
  };
  const channel = await alice.channel();
  await stage.finish(
    "the founding's answer is lost",
    assertRejects(() => channel.recover(), StaticError),
  );
  const disk = alice.copyDisk();
  await stage.finish("alice crashes", alice.crash());
  await stage.finish("alice enters it and speaks", alice.manager.send(name, "one"));
  assertEquals(await stage.finish("carol reads", carol.channel().then((own) => read(own, 2))), [
    "before",
    "one",
  ]);
  return { stage, alice, bob, carol, disk };
}

/** Which calls of a connect are disturbed: the first has number 1. */
type Plan = ReadonlyMap<number, Disturbance>;

/**
 * Puts the disk back and disturbs calls of the connect. Returns how many calls were made until a
 * message of alice's was taken.
 */
async function sendDisturbed(
  plan: Plan,
  signatures: Signatures,
  act: (channel: Channel) => Promise<void> = () => Promise.resolve(),
): Promise<number> {
  const { stage, alice, bob, carol, disk } = await prepare(signatures);
  const calls: CallName[] = [];
  const { runtime } = stage;
  const call = (
    operation: CallName,
    _body: unknown,
    forward: () => Promise<unknown>,
  ): Promise<unknown> => {
    calls.push(operation);
    const kind = plan.get(calls.length);
    return kind === undefined
      ? forward()
      : disturb(kind, { session: alice.session, runtime }, forward);
  };
  const why = (): string => `${JSON.stringify([...plan])} of ${calls.join(", ")}`;
  await stage.finish("alice is back with her old disk", alice.restore(disk, { call }));
  const channel = await stage.finish("alice opens the channel", alice.channel());
  const acting = act(channel).catch(() => {}); // whether it may is for others to say
  await stage.finish("alice speaks", channel.send("two", { timeoutMs: 120_000 })).catch((error) => {
    throw new Error(`Alice cannot speak; disturbed: ${why()}`, { cause: error });
  });
  const count = calls.length;
  await stage.finish("that is over", acting);
  const own = await carol.channel();
  const heard = await stage.finish("carol hears her", read(own, 1)).catch((error) => {
    throw new Error(`Carol does not hear her; disturbed: ${why()}`, { cause: error });
  });
  assertEquals(heard, ["two"], why());
  assertEquals(await issuesOf(carol, "repeated_counter"), [], why());
  for (const actor of [alice, bob, carol]) await stage.finish("it stops", actor.stop());
  await stage.close();
  return count;
}

/** By default each call is disturbed in one way, and in the campaign in every way. */
const ways: readonly (readonly [name: string, kindAt: (call: number) => Disturbance])[] = inCampaign
  ? disturbances.map((kind) => [kind, () => kind])
  : [["each in one way", (call) => disturbances[call % disturbances.length] ?? "busy"]];

for (const [way, kindAt] of ways) {
  Deno.test(`a restored owner uses no key twice, whichever call of its connect is disturbed: ${way}`, async () => {
    const signatures = await createRememberedSignatures();
    let [at, calls] = [0, 1];
    while (++at <= calls) calls = await sendDisturbed(new Map([[at, kindAt(at)]]), signatures);
    assertGreater(calls, 5, "a connect has more calls than that");
  });
}

for (const [way, kindAt] of ways) {
  Deno.test(`nor when it is told to recover the channel meanwhile: ${way}`, async () => {
    const signatures = await createRememberedSignatures();
    for (let [at, calls] = [1, 1]; at <= Math.min(calls, 6); at++) {
      calls = await sendDisturbed(
        new Map([[at, kindAt(at)]]),
        signatures,
        (channel) => channel.recover(),
      );
    }
  });
}

// Minutes, so it is for the campaign.
if (inCampaign) {
  Deno.test("a restored owner uses no key twice, whichever two calls of its connect are disturbed", async () => {
    const signatures = await createRememberedSignatures();
    let plans = 0;
    for (const first of disturbances) {
      for (const second of disturbances) {
        for (let [at, calls] = [1, 2]; at < calls; at++) {
          for (let later = at + 1; later <= calls; later++, plans++) {
            calls = await sendDisturbed(new Map([[at, first], [later, second]]), signatures);
          }
        }
      }
    }
    tried(`${plans} pairs of disturbed calls`);
  });
}
