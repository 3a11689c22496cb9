/**
 * The process of a founder, and of a follower, dies at every write to its disk, from the commit
 * that stops the channel until all are in the new generation. One write in the test command, every
 * one in a campaign.
 */
import { assert, assertEquals } from "@std/assert";
import type { RecoverOptions } from "../../../sdk/mod.ts";
import { createRandom, seedFromEnvironment } from "../../support/mod.ts";
import { sendBogus } from "../../support/scenario/bad_commits.ts";
import { allStopped, fourMembers, issuesOf, talk } from "../../support/scenario/recovery.ts";
import { type Actor, read, Stage, until } from "../../support/scenario/stage.ts";

const isStress = Deno.env.get("STATIC_STRESS") === "1";
const random = createRandom(seedFromEnvironment());
/** No way through has as many. */
const maxWrites = 60;

async function generationOf(actor: Actor): Promise<number> {
  return (await actor.inside()).group.binding.generation?.generation ?? 0;
}

/** Until it is in the new generation, as often as it has to be asked. */
async function recovered(alice: Actor, choice: RecoverOptions): Promise<void> {
  await until("alice has recovered", async () => {
    const channel = await alice.channel();
    const { state, recoverable } = channel.health();
    if (state === "stopped" && recoverable === true) await channel.recover(choice).catch(() => {});
    return await generationOf(alice) === 1;
  });
}

const roles = ["founder", "follower", "founder that leaves out another member"] as const;

/** Whether the process lived that long. */
async function dieAt(writes: number, role: typeof roles[number]): Promise<boolean> {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  const choice = role === "founder that leaves out another member"
    ? { without: [dave.client.agentId] }
    : {};
  await (await bob.channel()).send("unread");
  for (const actor of [alice, carol]) {
    await until(`${actor.label} has it`, async () => (await actor.channel()).health().unread === 1);
  }
  alice.clockOffsetMs += 61_000;
  const dying = role === "follower" ? carol : alice;
  let isDead = false;
  const dead = dying.diesAfter(writes).then(() => void (isDead = true));
  await sendBogus(bob);
  const others = async (): Promise<void> => {
    await allStopped(alice, carol);
    alice.clockOffsetMs += 61_000;
    await recovered(alice, choice);
    await until("carol follows", async () => await generationOf(carol) === 1);
  };
  // Actions of a dead process have no effect.
  await Promise.race([others().catch(() => dead), dead]);
  if (isDead) await dying.crash();
  else void dying.diesAfter(Infinity);
  alice.clockOffsetMs += 61_000;
  await recovered(alice, choice);
  await until("carol follows", async () => await generationOf(carol) === 1);
  for (const actor of [alice, carol]) {
    assertEquals(
      await read(await actor.channel(), 1),
      ["unread"],
      `${actor.label}, ${writes} writes`,
    );
  }
  await talk(alice, carol);
  for (const actor of [alice, carol]) {
    assertEquals(
      [await issuesOf(actor, "relay_lied"), await issuesOf(actor, "rejoined")],
      [[], []],
      actor.label,
    );
  }
  const inside = await carol.inside();
  assertEquals(
    inside.isMember(dave.client.agentId),
    !("without" in choice),
    `dave, ${writes} writes`,
  );
  return isDead;
}

for (const role of roles) {
  Deno.test(`a ${role} that dies at any write to its disk is in the new generation, and loses nothing`, async () => {
    if (!isStress) return void await dieAt(random.below(6), role);
    let writes = 0;
    while (await dieAt(writes, role)) writes++;
    console.log(`${role}: ${writes} writes`);
    assert(writes > 3 && writes < maxWrites, `${writes} writes`);
  });
}
