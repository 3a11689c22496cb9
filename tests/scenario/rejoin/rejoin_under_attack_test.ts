/**
 * Attacks of a hostile member or relay on a member that comes back, or on those that admit others:
 * they keep nobody out.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { foundingEpoch, type NoticeEnvelope, rejoinStatement } from "../../../proto/mod.ts";
import { type IssueKind, StaticError } from "../../../sdk/mod.ts";
import { createError } from "../../../sdk/testing/agents.ts";
import { createKeyPackage, createWelcome } from "../../support/mls.ts";
import { loseStep } from "../../support/scenario/lost_step.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

async function saw(actor: Actor, kind: IssueKind): Promise<boolean> {
  return (await actor.channel()).health().issues.some((issue) => issue.kind === kind);
}

async function commit(actor: Actor, times = 1): Promise<void> {
  const inside = await actor.inside();
  for (let made = 0; made < times; made++) await inside.commit();
}

async function leafOf(actor: Actor): Promise<{ leafIndex: number; leafNode: Uint8Array }> {
  const { current } = (await actor.inside()).group;
  return {
    leafIndex: current.ownLeaf,
    leafNode: current.tree.leaf(current.ownLeaf)?.encoded ?? new Uint8Array(0),
  };
}

/** Asks with a KeyPackage of one's own making. */
async function requestRejoin(
  stage: Stage,
  actor: Actor,
  made: Partial<Parameters<typeof createKeyPackage>[0]>,
): Promise<void> {
  const { id: channelId } = await actor.channel();
  const { agentId } = actor.client;
  const nowMs = stage.world.time.nowMs();
  const keyPackage = createKeyPackage({
    secretKey: actor.secretKey,
    identity: new TextEncoder().encode(actor.label),
    notBeforeMs: nowMs - 1000,
    notAfterMs: nowMs + 1_000_000,
    ...made,
  });
  const leafHash = sha256((await leafOf(actor)).leafNode);
  const statement = rejoinStatement({
    channelId,
    agentId,
    leafHash,
    keyPackageHash: sha256(keyPackage),
  });
  await actor.session.call("RequestRejoin", {
    channelId,
    keyPackage,
    leafHash,
    signature: actor.sign(statement),
    epoch: 0,
    generation: 0,
  });
}

Deno.test("Welcomes of garbage before and after the good one, at every request, do not keep an asker out", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  let garbage = 0;
  bob.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverWelcome") return [notice];
    const bad = [alice, carol].map(({ client }): NoticeEnvelope => ({
      ...notice,
      body: { ...notice.body, sender: client.agentId, welcome: createWelcome(2, 100 + garbage++) },
    }));
    return [...bad, notice, ...bad];
  };
  await loseStep(bob, alice);
  await until("bob is back", () => saw(bob, "rejoined"));
  assert(garbage >= 2);
  await allAgree(alice, bob, carol);
  await bob.manager.send(name, "here again");
  assertEquals((await read(await alice.channel(), 1)).at(-1), "here again");
});

Deno.test("a request to rejoin that no commit can grant stops neither those that leave nor those that return", async () => {
  await using stage = await Stage.open();
  stage.postQuantum = "prefer";
  const [alice, bob, carol, dave, erin] = await stage.channelOf(4);
  assert(alice && bob && carol && dave && erin);
  // A commit that adds it would have one encryption key in two leaves.
  const { group } = await alice.inside();
  const leafKey = group.current.tree.leaf(4)?.node.hpkePublicKey ?? new Uint8Array(0);
  await requestRejoin(stage, bob, { leafKey });
  await (await carol.channel()).leave();
  await until("carol is removed", async () => (await alice.channel()).members().length === 4);
  await loseStep(dave, erin);
  await until("dave is back", () => saw(dave, "rejoined"));
  await allAgree(alice, dave, erin);
  assert(await saw(alice, "refused_join"));
});

Deno.test("a request that is tried alone is not granted any more when its asker has a new leaf meanwhile", async () => {
  await using stage = await Stage.open();
  stage.postQuantum = "prefer";
  const { alice, bob, carol } = await stage.trio();
  bob.session.tampering.notice = (notice) =>
    notice.operation === "DeliverRejoinRequest" ? [] : [notice];
  const { after } = alice;
  // Nobody waits five seconds for the next attempt here.
  alice.after = (ms, run) => after(ms > 2000 ? 200 : ms, run);
  let sent = 0;
  let isTold = false;
  alice.session.tampering.call = async (operation, _, forward) => {
    isTold ||= operation === "SendLeaf";
    if (operation !== "SendCommit") return await forward();
    sent++;
    if (sent === 1) throw createError("not_allowed", "The relay refuses the first one");
    if (sent === 2) await commit(carol);
    return await forward();
  };
  await requestRejoin(stage, carol, {});
  await until("alice tells carol its leaf, or commits once more", () => isTold || sent > 2);
  await allAgree(alice, bob, carol);
  await alice.manager.send(name, "still here");
  for (const member of [bob, carol]) {
    assertEquals(await read(await member.channel(), 1), ["still here"]);
    assertEquals((await member.channel()).health().state, "ok");
  }
});

Deno.test("a relay that once names a generation that there is not does not keep an asker out for good", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  let lies = 0;
  bob.session.tampering.call = (operation, _, forward) => {
    if (operation !== "RequestRejoin" || lies > 0) return forward();
    lies++;
    return Promise.reject(
      createError("epoch_conflict", "ask for its generation", { epoch: foundingEpoch(7) + 1 }),
    );
  };
  await loseStep(bob, alice);
  await until("bob is back", () => saw(bob, "rejoined"));
  assertEquals(lies, 1);
  await allAgree(alice, bob, carol);
});

Deno.test("a relay that names one generation after the other is asked twice, and then after a pause", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.trio();
  let asked = 0;
  bob.session.tampering.call = (operation, _, forward) => {
    if (operation !== "RequestRejoin") return forward();
    // From now on its clock stands: all that it does, it does at once.
    if (asked === 1) bob.after = (ms, run) => ms === 0 ? stage.runtime.after(ms, run) : () => {};
    return Promise.reject(
      createError("epoch_conflict", "ask for its generation", {
        epoch: foundingEpoch(++asked) + 1,
      }),
    );
  };
  await loseStep(bob, alice);
  await until("bob has asked", () => asked > 1);
  // wait: for what it may do at once
  for (let turns = 0; turns < 200; turns++) await new Promise((resolve) => setTimeout(resolve));
  assertEquals(asked, 2);
});

Deno.test("a KeyPackage that our clock says has expired is no request to rejoin", async () => {
  await using stage = await Stage.open();
  stage.postQuantum = "prefer";
  const { alice, bob, carol } = await stage.trio();
  for (const member of [alice, carol]) {
    member.clockOffsetMs = 60 * 60 * 1000;
    // Connected anew, it knows the relay's clock, by which the KeyPackage is good.
    await member.restart();
  }
  await requestRejoin(stage, bob, {});
  for (const member of [alice, carol]) {
    await until("it is refused", () => saw(member, "refused_join"));
  }
  assert(!await saw(alice, "duty_failed"));
  await alice.manager.send(name, "still here");
  assertEquals(await read(await carol.channel(), 1), ["still here"]);
});

Deno.test("a member that tells old leaves without end does not keep an asker out", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await stage.channelOf(3);
  assert(alice && bob && carol && dave);
  const leaves: Awaited<ReturnType<typeof leafOf>>[] = [];
  for (let epoch = 0; epoch < 6; epoch++) {
    leaves.push(await leafOf(bob));
    await commit(bob);
  }
  await allAgree(alice, bob, carol, dave);
  // The owner is away, so that those answer that come later, and the liar is the first of them.
  await alice.stop();
  let told = 0;
  carol.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverRejoinRequest") return [notice];
    const { channelId, requestId } = notice.body;
    const leaf = leaves[told++ % leaves.length];
    if (leaf !== undefined) {
      carol.session.call("SendLeaf", { channelId, requestId, ...leaf }).catch(() => {});
    }
    return [];
  };
  await loseStep(bob, dave);
  await until("bob is back", () => saw(bob, "rejoined"), 20_000);
  assert(told > 0);
  await allAgree(bob, dave);
});

Deno.test("a member that leaves on its way back signs about the leaf that it was told, and writes nothing afterwards", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const backup = await bob.backup();
  await commit(bob, 3);
  await allAgree(alice, bob, carol);
  const held: NoticeEnvelope[] = [];
  let [told, isWaiting] = [false, false];
  await bob.restore(backup, {
    notice: (notice) => {
      told ||= notice.operation === "DeliverLeaf";
      if (notice.operation !== "DeliverWelcome") return [notice];
      held.push(notice);
      return [];
    },
    // Its question about its present leaf is lost: it stays out of step.
    call: (operation, _, forward) => {
      if (operation !== "RequestRejoin" || !told) return forward();
      isWaiting = true;
      return new Promise(() => {});
    },
  });
  await until("bob has asked about the leaf that it was told", () => isWaiting);
  const inside = await bob.inside();
  await (await bob.channel()).leave();
  held.forEach((notice) => bob.session.inject(notice));
  await until("bob is removed", async () => (await alice.channel()).members().length === 2);
  for (const member of [alice, carol]) assert(!await saw(member, "void_leave"));
  await inside.idle();
  await bob.restart();
  await assertRejects(() => bob.channel(), StaticError, "in no channel");
});

Deno.test("the only owner that leaves on its way back hands the channel on", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await loseStep(alice, bob);
  await (await alice.channel()).leave();
  await until("alice is removed", async () => (await bob.channel()).members().length === 2);
  await allAgree(bob, carol);
  const owners = (await carol.channel()).members().filter(({ owner }) => owner).map(({ agentId }) =>
    agentId
  );
  assertEquals(owners, [bob.client.agentId]);
});
