/**
 * A relay that is busy for one call of a connect, around the beginning of a new generation: nobody
 * loses anything by it.
 */
import { assertEquals } from "@std/assert";
import { errorFromRelay } from "../../../sdk/testing/agents.ts";
import { sendBogus } from "../../support/scenario/bad_commits.ts";
import type { Tampering } from "../../support/scenario/memory_session.ts";
import {
  allStopped,
  deafen,
  fourMembers,
  issuesOf,
  sendGarbled,
} from "../../support/scenario/recovery.ts";
import { type Actor, read, Stage, until } from "../../support/scenario/stage.ts";

async function hasUnread(actor: Actor, count: number): Promise<void> {
  await until(
    `${actor.label} has it`,
    async () => (await actor.channel()).health().unread === count,
  );
}

/** The first FindCommit behind a Subscribe is refused once, as a busy relay does. */
function busyOnce(): NonNullable<Tampering["call"]> {
  let [isSubscribed, isOver] = [false, false];
  return (operation, _body, forward) => {
    if (operation === "Subscribe") isSubscribed = true;
    if (operation !== "FindCommit" || !isSubscribed || isOver) return forward();
    isOver = true;
    return Promise.reject(errorFromRelay({ code: "overloaded", message: "The relay is busy" }));
  };
}

/**
 * Alice begins the channel anew, because of a commit of bob's that all others could follow, while
 * dave is away.
 */
async function foundWithout(
  dave: Actor,
  { alice, bob, carol }: Record<"alice" | "bob" | "carol", Actor>,
): Promise<void> {
  await sendGarbled(bob, [0]);
  await allStopped(alice);
  const { epoch } = await alice.inside();
  for (const actor of [carol, dave]) {
    await until(`${actor.label} has followed`, async () => (await actor.inside()).epoch > epoch);
  }
  dave.session.disconnect();
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
}

Deno.test("one busy answer after a restart with unread messages on both sides of a founding loses no message", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await (await bob.channel()).send("before");
  for (const actor of [alice, carol]) await hasUnread(actor, 1);
  await sendBogus(bob);
  await allStopped(alice, carol);
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  await until("carol follows", async () => (await issuesOf(carol, "recovered")).length > 0);
  await (await alice.channel()).send("one");
  await hasUnread(carol, 2);
  await (await alice.inside()).commit();
  await (await alice.channel()).send("two");
  await hasUnread(carol, 3);
  await carol.crash({ call: busyOnce() });
  const got = await read(await carol.channel(), 3);
  assertEquals(await issuesOf(carol, "relay_lied"), []);
  assertEquals(got, ["before", "one", "two"]);
});

Deno.test("one busy answer does not throw a member out of step that could follow the commit", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  deafen(carol, dave);
  await (await bob.channel()).send("before");
  for (const actor of [alice, carol, dave]) await hasUnread(actor, 1);
  await foundWithout(dave, { alice, bob, carol });
  await (await alice.channel()).send("one");
  dave.session.tampering.call = busyOnce();
  await dave.session.connect();
  const got = await read(await dave.channel(), 2);
  assertEquals(await issuesOf(dave, "withheld_commit"), []);
  assertEquals(await issuesOf(dave, "rejoined"), []);
  assertEquals(got, ["before", "one"]);
});

Deno.test("a founding that comes before the store is compared comes again, though an entry behind it is there", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  deafen(carol, dave);
  await foundWithout(dave, { alice, bob, carol });
  const inside = await carol.inside();
  await until("carol is in it", () => inside.group.binding.generation !== undefined);
  alice.session.disconnect();
  await (await carol.channel()).leave();
  dave.session.tampering.call = busyOnce();
  await dave.session.connect();
  const own = await dave.inside();
  await until("dave is in it", () => own.group.binding.generation !== undefined);
  await alice.session.connect();
});
