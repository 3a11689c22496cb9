/**
 * A relay that is restored from a backup has a log that ends before its channels' last commits:
 * members put them back.
 */
import { assert, assertEquals } from "@std/assert";
import { createError } from "../../../sdk/testing/agents.ts";
import type { Tampering } from "../../support/scenario/memory_session.ts";
import { issuesOf as textsOf } from "../../support/scenario/recovery.ts";
import { type Moment, talk, withBackup } from "../../support/scenario/set_back.ts";
import {
  type Actor,
  allAgree,
  name,
  read,
  type Stage,
  until,
} from "../../support/scenario/stage.ts";

async function issuesOf(actor: Actor): Promise<string[]> {
  return (await actor.channel()).health().issues.map(({ kind }) => kind);
}

Deno.test("a log that has lost commits gets them back from its members, and nobody joins anew", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob, carol } = await stage.trio();
    await talk(alice, bob, carol);
    await backUp();
    const inside = await alice.inside();
    await inside.commit(() => ({ owners: [alice, bob].map(({ client }) => client.agentId) }));
    await (await alice.channel()).removeMember(carol.client.agentId);
    await talk(alice, bob);
    const { epoch } = await alice.inside();
    await restore();
    await talk(alice, bob);
    assertEquals((await alice.inside()).epoch, epoch);
    const issues = [await issuesOf(alice), await issuesOf(bob)];
    assert(issues.flat().includes("log_set_back"), issues.join());
    for (const kind of ["rejoined", "relay_lied", "withheld_commit"]) {
      assert(!issues.flat().includes(kind), kind);
    }
    // The relay knows the members by the log: carol is out again.
    await until(
      "carol is out",
      async () =>
        await carol.channel().then((each) => each.health().state, () => "ended") === "ended",
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

Deno.test("a member sees by a commit of its own that the log was set back, though the relay does not know it, and misses nothing", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob, carol } = await stage.trio();
    await talk(alice, bob, carol);
    await backUp();
    await (await alice.channel()).send("so that the commit stands at another place of the log");
    const inside = await alice.inside();
    await inside.commit();
    await allAgree(alice, bob, carol);
    await alice.stop();
    await restore({ isTold: false });
    await talk(bob, carol);
    await alice.start();
    const missed = await read(await alice.channel(), 2);
    assertEquals(missed.map((text) => text.split(" ")[0]), ["bob", "carol"]);
    const issues = await issuesOf(alice);
    assert(issues.includes("log_set_back") && !issues.includes("relay_lied"), issues.join());
    await talk(alice, bob, carol);
  });
});

Deno.test("what a member that is behind sends into a log that was set back is reported by those that cannot read it", async () => {
  await withBackup(async (stage, moment) => {
    const { alice, bob, carol } = await leaveBehind(stage, moment);
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
    assert((await issuesOf(alice)).includes("log_set_back"));
  });
});

/** Alice and bob go on without carol, who is away; then the relay is put back to where she left. */
async function leaveBehind(
  stage: Stage,
  { backUp, restore }: Moment,
): Promise<Record<"alice" | "bob" | "carol", Actor>> {
  const { alice, bob, carol } = await stage.trio();
  await talk(alice, bob, carol);
  await backUp();
  await carol.stop();
  const inside = await alice.inside();
  await inside.commit();
  await talk(alice, bob);
  for (const actor of [alice, bob]) await actor.stop();
  await restore();
  await carol.start();
  return { alice, bob, carol };
}

/** Before an actor puts its first commit back, somebody else does something. */
function beforePuttingBack(act: () => Promise<unknown>): Tampering {
  let isFirst = true;
  return {
    call: async (operation, _body, forward) => {
      if (operation === "SendCommit" && isFirst) {
        isFirst = false;
        await act();
      }
      return await forward();
    },
  };
}

Deno.test("a relay to which somebody sends while another member puts commits back has not lied", async () => {
  await withBackup(async (stage, moment) => {
    const { alice, bob, carol } = await leaveBehind(stage, moment);
    const behind = await carol.channel();
    await bob.start(beforePuttingBack(() => behind.send("in an epoch that is nearly over")));
    const isDone = async (): Promise<boolean> =>
      (await textsOf(bob, "log_set_back")).some((text) => text.includes("this agent put 1 back"));
    await until("bob has put it back", isDone);
    await alice.start();
    await talk(alice, bob, carol);
    assertEquals(await textsOf(bob, "relay_lied"), []);
  });
});

Deno.test("a relay that is busy while a commit is put back has not lied, and the commit is put back a little later", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob } = await stage.pair();
    await talk(alice, bob);
    await backUp();
    await (await alice.inside()).commit();
    await allAgree(alice, bob);
    await bob.stop();
    let refused = 0;
    alice.session.tampering = {
      call: async (operation, _body, forward) => {
        if (operation === "SendCommit" && ++refused === 1) {
          throw createError("overloaded", "The relay is busy");
        }
        return await forward();
      },
    };
    await restore();
    // Or the relay is blamed.
    await until(
      "alice goes on",
      async () => refused > 1 || (await issuesOf(alice)).includes("relay_lied"),
    );
    await bob.start();
    await talk(alice, bob);
    const issues = await issuesOf(alice);
    for (const kind of ["relay_lied", "rejoined"]) assert(!issues.includes(kind), issues.join());
  });
});

Deno.test("an agent says that it put commits back only if the log holds them", async () => {
  await withBackup(async (stage, moment) => {
    const { bob, carol } = await leaveBehind(stage, moment);
    const inside = await carol.inside();
    await bob.start(beforePuttingBack(() => inside.commit()));
    await until("bob is back", async () => (await textsOf(bob, "rejoined")).length > 0);
    const [text] = await textsOf(bob, "log_set_back");
    assert(text !== undefined && !text.includes("put"), text);
  });
});

Deno.test("an agent that was removed after the backup and is a member again is reported by those that removed it", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob, carol } = await stage.trio();
    await talk(alice, bob, carol);
    await backUp();
    for (const actor of [bob, carol]) await actor.stop();
    await (await alice.channel()).removeMember(carol.client.agentId);
    await alice.stop();
    await restore();
    await carol.start();
    const inside = await carol.inside();
    await inside.commit();
    await bob.start();
    await allAgree(bob, carol);
    await alice.start();
    await until("alice is back", async () => (await textsOf(alice, "rejoined")).length > 0);
    const [text] = await textsOf(alice, "members_changed");
    assert(text?.includes(carol.client.agentId) && text.includes("is a member again"), text);
    await (await alice.channel()).removeMember(carol.client.agentId);
    await talk(alice, bob);
  });
});

for (const committer of ["alice", "bob"] as const) {
  Deno.test(`messages that waited for room in bob's inbox are read after the log was set back, though ${committer} has made commits since`, async () => {
    await withBackup(async (stage, { backUp, restore }) => {
      const { alice, bob } = await stage.pair();
      await talk(alice, bob);
      const [sender, reader] = [await alice.channel(), await bob.channel()];
      const large = new Uint8Array(1024 * 1024);
      for (let i = 0; i < 9; i++) await sender.send(large);
      await until(
        "bob opens no more messages",
        async () => (await issuesOf(bob)).includes("unread_messages"),
      );
      await sender.send("in the epoch before");
      const inside = await { alice, bob }[committer].inside();
      for (let i = 0; i < 2; i++) await inside.commit();
      await allAgree(alice, bob);
      await backUp();
      await restore();
      await until("bob knows it", async () => (await issuesOf(bob)).includes("log_set_back"));
      const texts: string[] = [];
      for (let i = 0; i < 10; i++) {
        const bytes = await reader.receive({ timeoutMs: 60_000 });
        if ((bytes?.length ?? 0) < large.length) texts.push(new TextDecoder().decode(bytes));
      }
      assertEquals(texts, ["in the epoch before"]);
      await talk(alice, bob);
    });
  });
}

Deno.test("members that had acknowledged messages before the backup do not doubt their stores after it", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob } = await stage.pair();
    await talk(alice, bob);
    const { channelId } = await alice.inside();
    const isStored = async (actor: Actor): Promise<boolean> =>
      ((await stage.world.engine.cursors(channelId)).get(actor.client.agentId)?.acknowledged ?? 0) >
        1;
    for (const actor of [alice, bob]) {
      await until("what it has read is on the relay's disk", () => isStored(actor));
    }
    await backUp();
    await talk(alice, bob);
    await restore();
    await talk(alice, bob);
    for (const actor of [alice, bob]) {
      const issues = await issuesOf(actor);
      assert(issues.includes("log_set_back"), issues.join());
      for (const kind of ["store_unproven", "rejoined"]) {
        assert(!issues.includes(kind), issues.join());
      }
    }
  });
});

Deno.test("a channel whose only owner came back since the backup goes on", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob, carol } = await stage.trio();
    await talk(alice, bob, carol);
    await backUp();
    const disk = await alice.backup();
    await alice.manager.send(name, "not on the disk that is put back");
    for (const actor of [bob, carol]) await read(await actor.channel(), 1);
    await alice.restore(disk);
    await until("alice is back", async () => (await issuesOf(alice)).includes("rejoined"));
    await talk(alice, bob, carol);
    await restore();
    // Nobody that owns the channel has the commit by which she came back.
    await talk(alice, bob, carol);
  });
});

Deno.test("a member whose disk is older than the log that was set back joins anew, and does not stay behind", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob, carol } = await stage.trio();
    await talk(alice, bob, carol);
    await backUp();
    const disk = await carol.backup();
    await restore();
    await allAgree(alice, bob, carol);
    const inside = await alice.inside();
    await inside.commit();
    const [channelId, head] = [
      inside.channelId,
      (await stage.world.engine.findChannel(inside.channelId))?.head,
    ];
    await until("carol has acknowledged it", async () => {
      return (await stage.world.engine.cursors(channelId)).get(carol.client.agentId)
        ?.acknowledged === head;
    });
    await carol.restore(disk);
    await until("carol is back", async () => (await issuesOf(carol)).includes("rejoined"));
    await talk(alice, bob, carol);
  });
});
