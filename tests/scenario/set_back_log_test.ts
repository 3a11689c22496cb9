/** A relay that is restored from a backup has a log that ends before its channels' last commits: members put them back. */
import { assert, assertEquals } from "@std/assert";
import { openSqliteEngine } from "../../relay/engine/mod.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../support/scenario/stage.ts";

/** A stage whose relay can be set back once, to the moment of `backUp`. */
async function withBackup(
  play: (stage: Stage, moment: { backUp(): Promise<void>; restore(): Promise<void> }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-set-back-" });
  const engine = await openSqliteEngine({ path: `${folder}/relay.sqlite` });
  await using opened = new AsyncDisposableStack();
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  opened.defer(() => engine.close());
  {
    await using stage = await Stage.open({ engine });
    await play(stage, {
      backUp: () => engine.backUp(`${folder}/copy.sqlite`, 1),
      restore: async () => {
        const copy = await openSqliteEngine({ path: `${folder}/copy.sqlite` });
        opened.defer(() => copy.close());
        await stage.restartRelay(copy);
      },
    });
  }
}

async function issuesOf(actor: Actor): Promise<string[]> {
  return (await actor.channel()).health().issues.map(({ kind }) => kind);
}

/** All are in step, and hear each other. */
async function talk(...actors: readonly Actor[]): Promise<void> {
  await allAgree(...actors);
  for (const sender of actors) {
    const text = `${sender.label} is here: ${crypto.randomUUID()}`;
    await (await sender.channel()).send(text);
    for (const reader of actors.filter((actor) => actor !== sender)) {
      // One that was away may have messages from before.
      while ((await read(await reader.channel(), 1))[0] !== text);
    }
  }
}

Deno.test("a log that has lost commits gets them back from its members, and nobody joins anew", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob, carol } = await stage.trio();
    await talk(alice, bob, carol);
    await backUp();
    const { committer } = await alice.live();
    await committer.commit(() => ({ change: { owners: [alice, bob].map(({ client }) => client.agentId) } }));
    await (await alice.channel()).removeMember(carol.client.agentId);
    await talk(alice, bob);
    const { epoch } = (await alice.live()).membership;
    await restore();
    await talk(alice, bob);
    assertEquals((await alice.live()).membership.epoch, epoch);
    const issues = [await issuesOf(alice), await issuesOf(bob)];
    assert(issues.flat().includes("log_set_back"), issues.join());
    for (const kind of ["rejoined", "relay_lied", "withheld_commit"]) assert(!issues.flat().includes(kind), kind);
    // The relay knows the members by the log: carol is out again.
    await until(
      "carol is out",
      async () => await carol.channel().then((each) => each.health().state, () => "ended") === "ended",
    );
  });
});

Deno.test("commits are put back by members that made none of them, and a member that came after the backup is let in again", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob, carol } = await stage.trio();
    await talk(alice, bob, carol);
    await backUp();
    await (await alice.channel()).send("so that dave joins at another place of the log");
    for (const actor of [bob, carol]) await read(await actor.channel(), 1);
    const dave = await stage.actor("dave");
    await dave.manager.joinWithToken(name, await alice.manager.invite(name));
    await allAgree(alice, bob, carol, dave);
    for (const actor of [alice, dave]) await actor.stop();
    await restore();
    await talk(bob, carol);
    for (const actor of [alice, dave]) await actor.start();
    const missed = await read(await alice.channel(), 2);
    assertEquals(missed.map((text) => text.split(" ")[0]), ["bob", "carol"]);
    await until("dave is back", async () => (await issuesOf(dave)).includes("rejoined"));
    await talk(alice, bob, carol, dave);
    const issues = [...await issuesOf(bob), ...await issuesOf(carol)];
    assert(issues.includes("log_set_back"), issues.join());
    assert(!issues.includes("relay_lied"));
    assert(!(await issuesOf(alice)).includes("rejoined"));
  });
});

Deno.test("what a member that is behind sends into a log that was set back is reported by those that cannot read it", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob, carol } = await stage.trio();
    await talk(alice, bob, carol);
    await backUp();
    await carol.stop();
    const { committer } = await alice.live();
    await committer.commit(() => ({ change: {} }));
    await talk(alice, bob);
    for (const actor of [alice, bob]) await actor.stop();
    await restore();
    await carol.start();
    await (await carol.channel()).send("in an epoch that is over for the others");
    for (const actor of [alice, bob]) await actor.start();
    await talk(alice, bob, carol);
    for (const actor of [alice, bob]) {
      const issues = await issuesOf(actor);
      assert(issues.includes("undecryptable") && !issues.includes("relay_lied"), issues.join());
    }
  });
});

Deno.test("a place in the log before is not acknowledged in a log that was set back", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob } = await stage.pair();
    await talk(alice, bob);
    await backUp();
    const sender = await bob.channel();
    for (let i = 0; i < 5; i++) await sender.send(`before ${i}`);
    const reader = await alice.channel();
    await until("alice has them", () => reader.health().unread === 5);
    const gate = Promise.withResolvers<void>();
    alice.session.tampering.call = async (operation, _body, forward) => {
      if (operation === "Subscribe") await gate.promise;
      return await forward();
    };
    await restore();
    const texts = Array.from({ length: 10 }, (_, i) => `after ${i}`);
    for (const text of texts) await sender.send(text);
    // She is done with these on a connection whose log she does not know yet.
    assertEquals((await read(reader, 5)).length, 5);
    await until("they are on disk", () => reader.health().unread === 0);
    gate.resolve();
    assertEquals(await read(reader, 10), texts);
  });
});
