/**
 * `recover()` of an owner that has just started or connected: what stands before the commit is read first, and the call resolves
 * when the channel goes on.
 */
import { assertEquals } from "@std/assert";
import type { NoticeEnvelope } from "../../proto/mod.ts";
import { bogusCommit, idsOf, sendBogus } from "../support/scenario/bad_commits.ts";
import { allStopped, recover, stateOf, talk } from "../support/scenario/recovery.ts";
import { talk as talkOf, withBackup } from "../support/scenario/set_back.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../support/scenario/stage.ts";

const patienceMs = 61_000;

Deno.test("a founder that begins anew as soon as it is back has first read what stands before the commit", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await (await bob.channel()).send("unread");
  await sendBogus(bob);
  await allStopped(alice, carol);
  const held: NoticeEnvelope[] = [];
  const notice = (each: NoticeEnvelope): NoticeEnvelope[] => {
    if (each.operation !== "DeliverMessage" && each.operation !== "DeliverCommit") return [each];
    held.push(each);
    return [];
  };
  await alice.crash({ notice });
  alice.clockOffsetMs += patienceMs;
  const recovering = (await alice.channel()).recover();
  await until("the entries are on their way", () => held.length === 2);
  alice.session.tampering = {};
  for (const each of held) alice.session.inject(each);
  await recovering;
  for (const actor of [alice, carol]) assertEquals(await read(await actor.channel(), 1), ["unread"], actor.label);
  await talk(alice, carol);
});

Deno.test("the same when it is offline at that time", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await (await bob.channel()).send("unread");
  await sendBogus(bob);
  await allStopped(alice, carol);
  await alice.crash();
  alice.session.disconnect();
  alice.clockOffsetMs += patienceMs;
  const recovering = (await alice.channel()).recover();
  await alice.session.connect();
  await recovering;
  for (const actor of [alice, carol]) assertEquals(await read(await actor.channel(), 1), ["unread"], actor.label);
  await talk(alice, carol);
});

Deno.test("the same when the log was set back, and has the commit at the same place behind other messages", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob, carol } = await stage.trio();
    await talkOf(alice, bob, carol);
    await backUp();
    const bogus = await bogusCommit(bob.agent, name);
    await bob.manager.send(name, "first");
    for (const actor of [alice, carol]) assertEquals(await read(await actor.channel(), 1), ["first"]);
    const { sequence } = await bob.session.call("SendCommit", bogus);
    await allStopped(alice, carol);
    await carol.stop();
    const gate = Promise.withResolvers<void>();
    alice.session.tampering.call = (_operation, _body, forward) => gate.promise.then(() => forward());
    await restore();
    await until("bob goes on", async () => await stateOf(bob) === "ok");
    await bob.manager.send(name, "second");
    assertEquals((await bob.session.call("SendCommit", bogus)).sequence, sequence);
    alice.clockOffsetMs += patienceMs;
    const recovering = (await alice.channel()).recover();
    gate.resolve();
    await recovering;
    assertEquals(await read(await alice.channel(), 1), ["second"]);
  });
});

Deno.test("a founder that died before the reply recovers without an error when it is back", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await sendBogus(bob);
  await allStopped(alice, carol);
  const taken = Promise.withResolvers<void>();
  alice.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    if (operation !== "FoundGeneration") return reply;
    taken.resolve();
    return await new Promise(() => {});
  };
  alice.clockOffsetMs += patienceMs;
  void (await alice.channel()).recover().catch(() => {});
  await taken.promise;
  await alice.crash();
  await (await alice.channel()).recover();
  await talk(alice, carol);
});

Deno.test("an owner that was away recovers without an error when another owner has done so", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await (await alice.live()).committer.commit(() => ({ change: { owners: idsOf(alice, carol) } }));
  await allAgree(alice, bob, carol);
  await sendBogus(bob);
  await allStopped(alice, carol);
  await alice.stop();
  carol.clockOffsetMs += patienceMs;
  await recover(carol);
  alice.clockOffsetMs += patienceMs;
  await alice.start();
  await (await alice.channel()).recover();
  await talk(alice, carol);
});

Deno.test("recover() resolves at once when the log does not hold the commit any more", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob, carol } = await stage.trio();
    await talkOf(alice, bob, carol);
    await backUp();
    await (await bob.channel()).send("unread");
    await sendBogus(bob);
    await allStopped(alice, carol);
    await alice.stop();
    await restore();
    alice.clockOffsetMs += patienceMs;
    await alice.start();
    await recoverWithin(alice, 5_000);
    await talkOf(alice, bob, carol);
  });
});

/** It waits ten seconds for what does not come. */
async function recoverWithin(actor: Actor, ms: number): Promise<void> {
  const startedMs = performance.now();
  await (await actor.channel()).recover();
  assertEquals(performance.now() - startedMs < ms, true, "it waited for nothing");
}
