/**
 * `recover()` of an owner that has just started or connected: what stands before the commit is read
 * first, and the call resolves when the channel goes on.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { NoticeEnvelope } from "../../../proto/mod.ts";
import { StaticError } from "../../../sdk/mod.ts";
import { bogusCommit, idsOf, sendBogus } from "../../support/scenario/bad_commits.ts";
import { allStopped, issuesOf, recover, stateOf, talk } from "../../support/scenario/recovery.ts";
import { talk as talkOf, withBackup } from "../../support/scenario/set_back.ts";
import {
  type Actor,
  allAgree,
  name,
  read,
  runtime,
  Stage,
  until,
} from "../../support/scenario/stage.ts";

const patienceMs = 61_000;

/** Tampering that keeps entries of the log back. */
function holdEntries(): {
  readonly held: NoticeEnvelope[];
  readonly notice: (each: NoticeEnvelope) => NoticeEnvelope[];
} {
  const held: NoticeEnvelope[] = [];
  const notice = (each: NoticeEnvelope): NoticeEnvelope[] => {
    if (each.operation !== "DeliverMessage" && each.operation !== "DeliverCommit") return [each];
    held.push(each);
    return [];
  };
  return { held, notice };
}

/** Bob has sent these, which nobody has read, and then a commit that nobody can follow. */
async function stoppedBehind(
  stage: Stage,
  ...sent: readonly (string | Uint8Array)[]
): Promise<Record<"alice" | "carol", Actor>> {
  const { alice, bob, carol } = await stage.trio();
  for (const each of sent) await bob.manager.send(name, each);
  await sendBogus(bob);
  await allStopped(alice, carol);
  return { alice, carol };
}

/** Both own the channel and are stopped. Alice has gone, and carol may begin anew. */
async function oneOwnerAway(stage: Stage): Promise<Record<"alice" | "carol", Actor>> {
  const { alice, bob, carol } = await stage.trio();
  await (await alice.inside()).commit(() => ({ owners: idsOf(alice, carol) }));
  await allAgree(alice, bob, carol);
  await sendBogus(bob);
  await allStopped(alice, carol);
  await alice.stop();
  carol.clockOffsetMs += patienceMs;
  return { alice, carol };
}

Deno.test("a founder that begins anew as soon as it is back has first read what stands before the commit", async () => {
  await using stage = await Stage.open();
  const { alice, carol } = await stoppedBehind(stage, "unread");
  const { held, notice } = holdEntries();
  await alice.crash({ notice });
  alice.clockOffsetMs += patienceMs;
  const recovering = (await alice.channel()).recover();
  await until("the entries are on their way", () => held.length === 2);
  alice.session.tampering = {};
  for (const each of held) alice.session.inject(each);
  await recovering;
  for (const actor of [alice, carol]) {
    assertEquals(await read(await actor.channel(), 1), ["unread"], actor.label);
  }
  await talk(alice, carol);
});

Deno.test("the same when it is offline at that time", async () => {
  await using stage = await Stage.open();
  const { alice, carol } = await stoppedBehind(stage, "unread");
  await alice.crash();
  alice.session.disconnect();
  alice.clockOffsetMs += patienceMs;
  const recovering = (await alice.channel()).recover();
  await alice.session.connect();
  await recovering;
  for (const actor of [alice, carol]) {
    assertEquals(await read(await actor.channel(), 1), ["unread"], actor.label);
  }
  await talk(alice, carol);
});

Deno.test("the same when the log was set back, and has the commit at the same place behind other messages", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob, carol } = await stage.trio();
    await talkOf(alice, bob, carol);
    await backUp();
    const bogus = await bogusCommit(bob.agent, name);
    await bob.manager.send(name, "first");
    for (const actor of [alice, carol]) {
      assertEquals(await read(await actor.channel(), 1), ["first"]);
    }
    const { sequence } = await bob.session.call("SendCommit", bogus);
    await allStopped(alice, carol);
    await carol.stop();
    const gate = Promise.withResolvers<void>();
    alice.session.tampering.call = (_operation, _body, forward) =>
      gate.promise.then(() => forward());
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
  const { alice, carol } = await oneOwnerAway(stage);
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

/** It waits half a minute for an entry that does not come. */
async function recoverWithin(actor: Actor, ms: number): Promise<void> {
  const startedMs = performance.now();
  await (await actor.channel()).recover();
  assertEquals(performance.now() - startedMs < ms, true, "it waited for nothing");
}

Deno.test("messages that found no room before, and are on their way again, are not passed over", async () => {
  await using stage = await Stage.open();
  const { alice } = await stoppedBehind(
    stage,
    ...new Array<Uint8Array>(12).fill(new Uint8Array(1024 * 1024)),
  );
  const channel = await alice.channel();
  const { unread } = channel.health();
  assert(unread < 12, "all of them found room");
  const { held, notice } = holdEntries();
  alice.session.tampering.notice = notice;
  alice.clockOffsetMs += patienceMs;
  await read(channel, unread);
  await until("the others are on their way", () => held.length > 0);
  const recovering = channel.recover();
  await turns();
  alice.session.tampering = {};
  for (const each of held) alice.session.inject(each);
  await recovering;
  assertEquals((await read(channel, 12 - unread)).length, 12 - unread);
  assertEquals(await issuesOf(alice, "relay_lied"), []);
});

Deno.test("the same when they are asked for only after the call has waited", async () => {
  await using stage = await Stage.open();
  const { alice } = await stoppedBehind(
    stage,
    ...new Array<Uint8Array>(12).fill(new Uint8Array(1024 * 1024)),
  );
  const channel = await alice.channel();
  const { unread } = channel.health();
  alice.clockOffsetMs += patienceMs;
  const gate = Promise.withResolvers<void>();
  let asked = 0;
  alice.session.tampering.call = async (operation, _body, forward) => {
    if (operation === "Subscribe" && asked++ === 0) await gate.promise;
    return await forward();
  };
  alice.session.disconnect();
  await alice.session.connect();
  await until("she subscribes", () => asked > 0);
  await read(channel, unread);
  const recovering = channel.recover();
  await turns();
  gate.resolve();
  await recovering;
  assertEquals((await read(channel, 12 - unread)).length, 12 - unread);
});

Deno.test("the time for the next entry does not begin before the relay says where entries begin", async () => {
  await using stage = await Stage.open();
  const { alice } = await stoppedBehind(stage, "unread");
  alice.after = (ms, run) => runtime.after(ms === 30_000 ? 20 : ms, run);
  let [waits, asked] = [0, 0];
  await alice.crash({
    call: async (operation, _body, forward) => {
      if (operation === "Subscribe" && asked++ === 0) {
        await until("time has passed", () => ++waits > 5);
      }
      return await forward();
    },
  });
  alice.clockOffsetMs += patienceMs;
  await (await alice.channel()).recover();
  assertEquals(await read(await alice.channel(), 1), ["unread"]);
});

for (const way of ["closes", "is told that the channel has ended"] as const) {
  Deno.test(`an owner that ${way} while it waits founds nothing`, async () => {
    await using stage = await Stage.open();
    const { alice } = await stoppedBehind(stage, "unread");
    const { held, notice } = holdEntries();
    const calls: string[] = [];
    await alice.crash({
      notice,
      call: (operation, _body, forward) => {
        calls.push(operation);
        return forward();
      },
    });
    alice.clockOffsetMs += patienceMs;
    const inside = await alice.inside();
    const recovering = assertRejects(() => inside.recover(), StaticError);
    await until("entries would be here", () => held.length === 2);
    const body = { channelId: inside.channelId, reason: "closed", sequence: 9, timeMs: 1 } as const;
    if (way === "closes") await inside.close();
    else alice.session.inject({ kind: "notice", operation: "DeliverChannelEnd", body });
    await recovering;
    assert(!calls.includes("ClaimForFounding") && !calls.includes("FoundGeneration"), calls.join());
  });
}

Deno.test("recover() of an owner that another owner's founding leaves out resolves when it is let in", async () => {
  await using stage = await Stage.open();
  const { alice, carol } = await oneOwnerAway(stage);
  carol.session.tampering.call = async (operation, _body, forward) =>
    operation === "ClaimForFounding" ? { keyPackages: [] } : await forward();
  await recover(carol);
  carol.session.tampering = {};
  alice.clockOffsetMs += patienceMs;
  await alice.start();
  await (await alice.channel()).recover();
  assertEquals((await alice.inside()).group.binding.generation?.generation, 1);
  await allAgree(alice, carol);
});

Deno.test("an owner that starts stopped does not try to remove a member that has left before it has begun the channel anew", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await alice.stop();
  bob.session.tampering.notice = (each) => each.operation === "DeliverLeave" ? [] : [each];
  await bob.manager.send(name, "unread");
  await (await carol.channel()).leave();
  await sendBogus(bob);
  await alice.start();
  await allStopped(alice);
  const calls: string[] = [];
  await alice.crash({
    call: (operation, _body, forward) => {
      calls.push(operation);
      return forward();
    },
  });
  alice.clockOffsetMs += patienceMs;
  await (await alice.channel()).recover();
  // It would ask who comes before it as soon as it has read that one leaves.
  assert(!calls.slice(0, calls.indexOf("FoundGeneration")).includes("ListMembers"), calls.join());
});

/** For everything that happens at once. */
async function turns(): Promise<void> {
  // wait: for what it may do
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setTimeout(resolve));
}
