/**
 * Commits that their agent gave up, and that the relay takes all the same: they are entered like
 * any other of its own. And the moments in which a commit of ours is neither here nor there: a
 * write under way, a process that dies, a client that is closed.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { RequestBody } from "../../../proto/mod.ts";
import { StaticError } from "../../../sdk/mod.ts";
import { createError } from "../../../sdk/testing/agents.ts";
import { sendBogus } from "../../support/scenario/bad_commits.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

type SendCommit = RequestBody<"SendCommit">;

async function issuesOf(...actors: Actor[]): Promise<string[]> {
  const channels = await Promise.all(actors.map((actor) => actor.channel()));
  return channels.flatMap((channel) => channel.health().issues.map(({ kind }) => kind));
}

async function isAt(actor: Actor, epoch: number): Promise<boolean> {
  return (await actor.inside()).epoch === epoch;
}

/** The relay is busy with the next commits of an agent, and keeps them. */
function keepsBack({ session: { tampering } }: Actor): SendCommit[] {
  const kept: SendCommit[] = [];
  tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit") return forward();
    kept.push(body as SendCommit); // cast: of this operation
    return Promise.reject(createError("overloaded", "Try again later"));
  };
  return kept;
}

async function takesLate({ session }: Actor, commit: SendCommit | undefined): Promise<void> {
  assert(commit !== undefined);
  session.tampering = {};
  await session.call("SendCommit", commit);
}

Deno.test("two additions that were given up and are taken late put neither of their authors out", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const [carol, dave] = [await stage.actor("carol"), await stage.actor("dave")];
  const { epoch } = await alice.inside();
  const [ofAlice, ofBob] = [keepsBack(alice), keepsBack(bob)];
  const added = (await alice.channel()).addMember(await carol.client.generateKeyPackage());
  await assertRejects(() => added, StaticError, "Try again later");
  await takesLate(alice, ofAlice[0]);
  await until("bob has followed it", () => isAt(bob, epoch + 1));
  const second = (await bob.channel()).addMember(await dave.client.generateKeyPackage());
  await assertRejects(() => second, StaticError, "Try again later");
  await takesLate(bob, ofBob[0]);
  await until("alice has entered hers and followed his", () => isAt(alice, epoch + 2));
  await alice.manager.send(name, "in the epoch that bob's began");
  assertEquals(await read(await bob.channel(), 1), ["in the epoch that bob's began"]);
  await allAgree(alice, bob);
  assertEquals([(await bob.inside()).group.members().length, await issuesOf(alice, bob)], [4, []]);
});

Deno.test("a commit that was given up is taken while another one of its agent is on its way, also after a crash", async () => {
  for (const isCrash of [false, true]) {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const { epoch } = await bob.inside();
    const kept = keepsBack(bob);
    await assertRejects(
      async () => await (await bob.inside()).commit(),
      StaticError,
      "Try again later",
    );
    if (isCrash) await bob.crash();
    // Between the question what became of it and the next commit.
    bob.session.tampering.call = async (operation, body, forward) => {
      if (operation !== "SendCommit" || body === kept[0]) return await forward();
      await takesLate(bob, kept[0]);
      return await forward();
    };
    await (await bob.inside()).commit();
    assertEquals((await bob.inside()).epoch, epoch + 2);
    await allAgree(alice, bob);
    assertEquals(await issuesOf(alice, bob), []);
  }
});

Deno.test("of many commits that were given up in one epoch any of the last eight may be taken", async () => {
  for (const taken of [1, 9]) {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const { epoch } = await bob.inside();
    const kept = keepsBack(bob);
    for (let tries = 0; tries < 10; tries++) {
      await assertRejects(
        async () => await (await bob.inside()).commit(),
        StaticError,
        "Try again later",
      );
    }
    await bob.crash();
    await takesLate(bob, kept[taken + 1 > 2 ? taken : 2]);
    await alice.manager.send(name, "in the next epoch");
    assertEquals(await read(await bob.channel(), 1), ["in the next epoch"]);
    await until("bob is there", () => isAt(bob, epoch + 1));
    assertEquals(await issuesOf(alice, bob), []);
  }
});

Deno.test("a process that dies at any write of its commits goes on from there, whatever the relay took", async () => {
  for (const isBusy of [false, true]) {
    let isDead = true;
    for (let writes = 0; isDead; writes++) {
      await using stage = await Stage.open();
      const { alice, bob } = await stage.pair();
      let sends = 0;
      bob.session.tampering.call = async (operation, _body, forward) => {
        const reply = await forward();
        // Taken, and its author does not hear of it.
        if (isBusy && operation === "SendCommit" && sends++ === 0) {
          throw createError("overloaded", "Try again later");
        }
        return reply;
      };
      const dead = bob.diesAfter(writes).then(() => true);
      const inside = await bob.inside();
      const commits = async (): Promise<boolean> => {
        for (let made = 0; made < 2; made++) await inside.commit();
        return false;
      };
      isDead = await Promise.race([dead, commits().catch(() => false)]);
      await bob.crash();
      await (await bob.inside()).commit();
      await allAgree(alice, bob);
      await bob.manager.send(name, "still here");
      assertEquals(await read(await alice.channel(), 1), ["still here"]);
      assertEquals(await issuesOf(alice, bob), [], `after ${writes} writes`);
    }
  }
});

Deno.test("a connection that breaks while a commit is written, sent or entered costs the change nothing", async () => {
  for (const at of ["written", "sent", "entered"] as const) {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const { epoch } = await bob.inside();
    let isBroken = false;
    const breaks = (): void => {
      if (isBroken) return;
      isBroken = true;
      bob.session.disconnect();
      void bob.session.connect();
    };
    bob.session.tampering.call = async (operation, _body, forward) => {
      if (operation === "SendCommit" && at === "sent" && !isBroken) {
        breaks();
        throw createError("transport_error", "Lost");
      }
      const reply = await forward();
      if (operation === "SendCommit" && at === "entered") breaks();
      return reply;
    };
    const inside = await bob.inside();
    if (at === "written") bob.writeMs = 50;
    const committing = inside.commit();
    if (at === "written") setTimeout(breaks, 20);
    await committing;
    assertEquals(inside.epoch, epoch + 1, at);
    await allAgree(alice, bob);
    assertEquals(await issuesOf(alice, bob), [], at);
  }
});

Deno.test("a client that is closed in any state of a commit comes to rest, and the next process makes it or leaves it", async () => {
  for (const when of ["planned", "sent", "asked", "resting"] as const) {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const reached = Promise.withResolvers<void>();
    const never = Promise.withResolvers<never>();
    bob.session.tampering.call = (operation, _body, forward) => {
      if (
        operation === "SendCommit" && when === "sent" ||
        operation === "FindCommit" && when === "asked"
      ) {
        reached.resolve();
        return Promise.race([never.promise, bob.session.call("ListMembers", { channelId })]).then(
          () => never.promise,
        );
      }
      if (operation === "SendCommit" && when === "asked") {
        return Promise.reject(createError("transport_error", "Lost"));
      }
      if (operation === "SendCommit" && when === "resting") {
        setTimeout(reached.resolve, 20);
        return Promise.reject(createError("epoch_conflict", "Too late", { epoch: epoch + 1 }));
      }
      return forward();
    };
    const { channelId, epoch } = await bob.inside();
    if (when === "planned") {
      bob.session.disconnect();
      reached.resolve();
    }
    const committing = (await bob.inside()).commit();
    const refused = assertRejects(() => committing, StaticError);
    await reached.promise;
    await bob.stop();
    await refused;
    await bob.start();
    await (await bob.inside()).commit();
    await allAgree(alice, bob);
    assertEquals(await issuesOf(alice, bob), [], when);
  }
});

Deno.test("a generation that begins ends what its member had open or given up, and the plan goes on in it", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const kept = keepsBack(carol);
  await assertRejects(
    async () => await (await carol.inside()).commit(),
    StaticError,
    "Try again later",
  );
  const waits = Promise.withResolvers<void>();
  const mayGoOn = Promise.withResolvers<void>();
  carol.session.tampering.call = async (operation, _body, forward) => {
    if (operation !== "SendCommit") return await forward();
    waits.resolve();
    await mayGoOn.promise;
    return await forward();
  };
  const committing = (await carol.inside()).commit();
  await waits.promise;
  await sendBogus(bob);
  await until("alice is stopped", async () => (await alice.channel()).health().state === "stopped");
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  mayGoOn.resolve();
  await committing;
  await until(
    "carol is in it",
    async () => (await carol.inside()).group.binding.generation?.generation === 1,
  );
  await allAgree(alice, carol);
  assertEquals((await carol.inside()).group.members().length, 2);
  await assertRejects(() => takesLate(carol, kept[0]), StaticError);
  await alice.manager.send(name, "still here");
  assertEquals(await read(await carol.channel(), 1), ["still here"]);
});

Deno.test("programs that change a channel at once each have their change, in one commit or the next", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const others = await Promise.all(["carol", "dave", "erin"].map((label) => stage.actor(label)));
  const packages = await Promise.all(others.map((other) => other.client.generateKeyPackage()));
  const channel = await alice.channel();
  await Promise.all([
    ...packages.map((keyPackage) => channel.addMember(keyPackage)),
    channel.promote(bob.client.agentId),
    channel.promote(bob.client.agentId),
    channel.setPolicy({ admission: "owners" }),
    channel.rotate(),
    (await bob.inside()).commit(),
  ]);
  await allAgree(alice, bob);
  const { group } = await bob.inside();
  assertEquals([group.members().length, group.binding.owners.length], [5, 2]);
  assertEquals(await issuesOf(alice, bob), []);
});

Deno.test("an agent that came in by a KeyPackage is not put out by a call that adds it with the same one", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const dave = await stage.actor("dave");
  const keyPackage = await dave.client.generateKeyPackage();
  const channel = await alice.channel();
  const [welcome, again] = await Promise.allSettled([
    channel.addMember(keyPackage),
    channel.addMember(keyPackage),
  ]);
  assert(
    welcome.status === "fulfilled" && again.status === "rejected" &&
      again.reason instanceof StaticError,
  );
  assertEquals(again.reason.code, "already_member");
  await dave.client.joinChannel(name, welcome.value);
  await allAgree(alice, dave);
});

Deno.test("a commit at which the relay itself fails is given up, and the next change or a leave goes on", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  const failed = new Set<string>();
  let sends = 0;
  const failsAtTheNext = (): void => {
    bob.session.tampering.call = (operation, body, forward) => {
      if (operation !== "SendCommit") return forward();
      const bytes = bytesToHex((body as SendCommit).commit); // cast: of this operation
      if (failed.size === 0) failed.add(bytes);
      if (!failed.has(bytes)) return forward();
      sends++;
      return Promise.reject(createError("internal", "At these bytes"));
    };
  };
  failsAtTheNext();
  await assertRejects(() => channel.rotate(), StaticError, "At these bytes");
  await channel.rotate();
  await allAgree(alice, bob);
  failed.clear();
  await assertRejects(() => channel.rotate(), StaticError, "At these bytes");
  await channel.leave();
  assertEquals([sends, await issuesOf(alice)], [10, []]);
});
