/**
 * A member that is stopped at a commit goes on when the log does not hold that commit any more.
 * That it does not is the relay's word: a relay that lies gains no more by it than by keeping the
 * commit back.
 */
import { assert, assertEquals } from "@std/assert";
import { foundingEpoch, foundingHash, type RequestBody } from "../../../proto/mod.ts";
import { createError } from "../../../sdk/testing/agents.ts";
import { bogusCommit, idsOf, sendBogus } from "../../support/scenario/bad_commits.ts";
import {
  allStopped,
  fourMembers,
  issuesOf as textsOf,
  membersOf,
  recover,
  stateOf,
} from "../../support/scenario/recovery.ts";
import { talk, withBackup } from "../../support/scenario/set_back.ts";
import {
  type Actor,
  allAgree,
  issueCount,
  name,
  read,
  Stage,
  until,
} from "../../support/scenario/stage.ts";

for (const isTold of [true, false]) {
  const who = isTold ? "a relay" : "a relay that does not know of it";
  Deno.test(`members that are stopped at a commit go on when ${who} is set back to before it`, async () => {
    await withBackup(async (stage, { backUp, restore }) => {
      const { alice, bob, carol } = await stage.trio();
      await talk(alice, bob, carol);
      await backUp();
      await sendBogus(bob);
      await allStopped(alice, carol);
      // One that comes back later finds the same.
      await carol.stop();
      await restore({ isTold });
      await talk(alice, bob);
      await carol.start();
      await talk(alice, bob, carol);
      for (const actor of [alice, carol]) {
        const [text] = (await textsOf(actor, "log_set_back")).filter((each) =>
          each.includes("goes on without it")
        );
        assert(text?.includes(bob.client.agentId), text);
      }
      await sendBogus(bob);
      await allStopped(alice, carol);
      await recover(alice);
      await talk(alice, carol);
    });
  });

  for (const messages of [0, 8]) {
    Deno.test(`the same when another commit stands in its place, behind ${messages} messages, by ${who}`, async () => {
      await withBackup(async (stage, { backUp, restore }) => {
        const { alice, bob, carol } = await stage.trio();
        await talk(alice, bob, carol);
        await backUp();
        await sendBogus(bob);
        await allStopped(alice, carol);
        for (const actor of [alice, bob, carol]) await actor.stop();
        await restore({ isTold });
        await bob.start();
        for (let sent = 0; sent < messages; sent++) await bob.manager.send(name, `message ${sent}`);
        await (await bob.inside()).commit();
        await alice.start();
        await talk(alice, bob);
        await carol.start();
        await talk(alice, bob, carol);
      });
    });
  }
}

function epochOf(body: unknown): number {
  return (body as RequestBody<"FindCommit">).epoch; // cast: by its operation
}

async function reconnect({ session }: Actor): Promise<void> {
  session.disconnect();
  await session.connect();
}

Deno.test("a founding that its founder gave up by going on is never entered, whatever the relay says of its log", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const [alice, bob, carol, dave] = await fourMembers(stage);
    await (await alice.inside()).commit(() => ({ owners: idsOf(alice, carol) }));
    await allAgree(alice, bob, carol, dave);
    await backUp();
    await sendBogus(bob);
    await allStopped(alice, carol, dave);
    let founding: RequestBody<"FoundGeneration"> | undefined;
    alice.session.tampering.call = (operation, body, forward) => {
      if (operation !== "FoundGeneration") return forward();
      founding = body as RequestBody<"FoundGeneration">; // cast: by its operation
      return Promise.reject(
        createError("transport_error", "The relay keeps the founding for later"),
      );
    };
    alice.clockOffsetMs += 61_000;
    await (await alice.channel()).recover().catch(() => {});
    assert(founding !== undefined);
    alice.session.tampering = {};
    await restore();
    await until("alice goes on", async () => await stateOf(alice) === "ok");
    await allAgree(alice, bob, carol, dave);
    await (await alice.channel()).removeMember(carol.client.agentId);
    await allAgree(alice, bob, dave);
    await sendBogus(dave);
    await allStopped(alice, bob);
    const commitHash = foundingHash({ channelId: founding.channelId, ...founding.founding });
    const asked = Promise.withResolvers<void>();
    alice.session.tampering.call = async (operation, body, forward) => {
      if (operation === "Subscribe") asked.resolve();
      if (operation !== "FindCommit" || epochOf(body) !== foundingEpoch(1)) return await forward();
      return {
        epoch: foundingEpoch(1) + 1,
        commit: { sequence: 900, commitHash, sender: alice.client.agentId },
      };
    };
    await reconnect(alice);
    await asked.promise;
    // Behind whatever she does when she subscribes.
    await recover(alice);
    alice.session.tampering = {};
    await talk(alice, bob);
    assertEquals(await membersOf(alice), ["alice", "bob"]);
    assert(!(await alice.inside()).group.binding.owners.includes(carol.client.agentId));
  });
});

async function stopsOf(actor: Actor): Promise<number> {
  return issueCount(await actor.channel(), "refused_commit");
}

Deno.test("a relay that denies the commit and delivers it makes a member go on once for each connection", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await sendBogus(bob);
  await allStopped(alice, carol);
  const { epoch } = await alice.inside();
  let denied = 0;
  alice.session.tampering.call = async (operation, body, forward) => {
    if (operation !== "FindCommit" || epochOf(body) !== epoch) return await forward();
    denied++;
    return { epoch };
  };
  for (const times of [1, 2]) {
    await reconnect(alice);
    await until(
      "alice is stopped again",
      async () => await stopsOf(alice) > times && await stateOf(alice) === "stopped",
    );
    assertEquals(denied, times);
  }
  alice.session.tampering = {};
  await recover(alice);
  await talk(alice, carol);
});

Deno.test("a relay that was set back is not called a liar by a member that goes on", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob, carol } = await stage.trio();
    await talk(alice, bob, carol);
    // So that she reads these commits once more.
    alice.session.acknowledge = () => {};
    for (let times = 0; times < 3; times++) {
      await bob.manager.send(name, `message ${times}`);
      for (const actor of [alice, carol]) await read(await actor.channel(), 1);
      await (await carol.inside()).commit();
      await allAgree(alice, bob, carol);
    }
    await backUp();
    await sendBogus(bob);
    await allStopped(alice, carol);
    await restore();
    await talk(alice, bob, carol);
    assertEquals(await textsOf(alice, "relay_lied"), []);
  });
});

Deno.test("messages before the commit are read when it stands at a later place of a log that was set back", async () => {
  await withBackup(async (stage, { backUp, restore }) => {
    const { alice, bob, carol } = await stage.trio();
    await talk(alice, bob, carol);
    await backUp();
    const bogus = await bogusCommit(bob.agent, name);
    await bob.session.call("SendCommit", bogus);
    await allStopped(alice, carol);
    await alice.stop();
    await restore();
    await talk(bob, carol);
    await bob.session.call("SendCommit", bogus);
    await allStopped(carol);
    await alice.start();
    await until("alice is stopped", async () => await stateOf(alice) === "stopped");
    assertEquals((await read(await alice.channel(), 2)).map((text) => text.split(" ")[0]), [
      "bob",
      "carol",
    ]);
  });
});
