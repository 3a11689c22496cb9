// Guests, on the real relay core: the group says who is one, so that it does not matter which key a
// guest's directory is used with.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { channelExtensions } from "../../../proto/mod.ts";
import { StaticError } from "../../../sdk/mod.ts";
import { decodeKeyPackageMessage } from "../../../sdk/testing/agents.ts";
import { idsOf, sendBogus } from "../../support/scenario/bad_commits.ts";
import { assertGuests, inviteGuest } from "../../support/scenario/guests.ts";
import { answerWith, withholdCommits } from "../../support/scenario/hostile.ts";
import { addOlderMember } from "../../support/scenario/older_member.ts";
import {
  allStopped,
  issuesOf,
  membersOf,
  recover,
  recoverWithout,
  talk,
} from "../../support/scenario/recovery.ts";
import { type Actor, allAgree, name, Stage, until } from "../../support/scenario/stage.ts";

/** Of another account than the channel's, and good for everything. */
const otherKey = { account: 2 };

async function refused(call: Promise<unknown>, code: string, text: string): Promise<StaticError> {
  const error = await assertRejects(() => call, StaticError);
  assertEquals([error.code, error.message.includes(text)], [code, true], error.message);
  return error;
}

/** An owner, a member, and a guest that either of them has let in. */
async function withGuest(
  stage: Stage,
  by: "alice" | "bob" = "alice",
): Promise<[Actor, Actor, Actor]> {
  const { alice, bob } = await stage.pair();
  const gina = await stage.actor("gina");
  await gina.manager.joinWithToken(name, await inviteGuest(by === "alice" ? alice : bob));
  await allAgree(alice, bob, gina);
  await assertGuests([gina], alice, bob, gina);
  return [alice, bob, gina];
}

Deno.test("a guest's directory that is used with another account's key adds nobody", async () => {
  for (const by of ["alice", "bob"] as const) {
    await using stage = await Stage.open();
    const [alice, bob, gina] = await withGuest(stage, by);
    await gina.useKey(otherKey);
    const friend = await stage.actor("friend", 2);
    await refused(gina.manager.invite(name), "not_allowed", "a guest lets nobody in");
    await refused(inviteGuest(gina), "not_allowed", "a guest lets nobody in");
    const keyPackage = await friend.client.generateKeyPackage();
    await refused(
      (await gina.channel()).addMember(keyPackage),
      "not_allowed",
      "a guest lets nobody in",
    );
    await refused(
      (await gina.channel()).promote(gina.client.agentId, { to: "member" }),
      "not_allowed",
      "only owners",
    );
    await talk(alice, bob, gina);
  }
});

Deno.test("a guest with a modified client that adds somebody, or takes its mark away, is followed by nobody, and goes", async () => {
  for (const what of ["adds", "releases itself"]) {
    await using stage = await Stage.open();
    const [alice, bob, gina] = await withGuest(stage);
    await gina.useKey(otherKey);
    const friend = await stage.actor("friend", 2);
    const keyPackage = decodeKeyPackageMessage(await friend.client.generateKeyPackage());
    const change = what === "adds" ? { add: [keyPackage] } : { released: [gina.client.agentId] };
    await (await gina.inside()).commit(() => change);
    await allStopped(alice, bob);
    await recover(alice);
    await allAgree(alice, bob);
    assertEquals(await membersOf(bob), ["alice", "bob"]);
    await assertGuests([], alice, bob);
    await talk(alice, bob);
  }
});

Deno.test("those whom a guest's commit has stopped are not let back in by the guest, into a group that is as it wants", async () => {
  for (const what of ["adds", "releases itself"]) {
    await using stage = await Stage.open();
    const [alice, bob, gina] = await withGuest(stage);
    await gina.useKey(otherKey);
    const friend = await stage.actor("friend", 2);
    const keyPackage = decodeKeyPackageMessage(await friend.client.generateKeyPackage());
    const change = what === "adds" ? { add: [keyPackage] } : { released: [gina.client.agentId] };
    // Her own program follows it, and answers those that ask to come back.
    await (await gina.inside()).commit(() => change);
    const expected = what === "adds" ? "whom its maker may not let in" : "it has other guests";
    for (const actor of [alice, bob]) {
      await until(`${actor.label} says why`, async () => {
        return (await issuesOf(actor, "refused_welcome")).some((text) => text.includes(expected));
      });
    }
    await recover(alice);
    await allAgree(alice, bob);
    assertEquals(await membersOf(bob), ["alice", "bob"]);
    await assertGuests([], alice, bob);
    await talk(alice, bob);
  }
});

Deno.test("a guest leads a stopped member into no group in which it has marked others, or made somebody absent", async () => {
  for (const what of ["marks", "absent"]) {
    await using stage = await Stage.open();
    const [alice, bob, gina] = await withGuest(stage);
    const mallory = await stage.actor("mallory");
    await mallory.manager.joinWithToken(name, await alice.manager.invite(name));
    await allAgree(alice, bob, gina, mallory);
    await recoverWithout(alice, mallory);
    await talk(alice, bob, gina);
    const friend = await stage.actor("friend");
    answerWith(bob, gina, 1, async (hostile, keyPackage) => {
      const { generation } = (await gina.inside()).group.binding;
      if (generation === undefined) throw new Error("the channel was not begun anew");
      const stranger = { agentId: friend.client.agentId, identityHash: new Uint8Array(16) };
      const binding = what === "marks"
        ? { guests: idsOf(bob, gina).toSorted() }
        : { generation: { ...generation, absent: [stranger] } };
      const { welcome } = hostile.commitTo(binding, [keyPackage], [bob.client.agentId]);
      return welcome ?? new Uint8Array(0);
    });
    await sendBogus(gina);
    await until("bob is told", async () => (await issuesOf(bob, "refused_welcome")).length > 0);
    const [why] = await issuesOf(bob, "refused_welcome");
    assert(
      why?.includes(what === "marks" ? "it has other guests" : "whom its maker may not let in"),
      why,
    );
  }
});

Deno.test("a guest that comes back is a guest, by whichever member, also another guest", async () => {
  for (const answerer of ["alice", "bob", "gil"]) {
    await using stage = await Stage.open();
    const [alice, bob, gina] = await withGuest(stage);
    const gil = await stage.actor("gil");
    await gil.manager.joinWithToken(name, await inviteGuest(bob));
    await allAgree(alice, bob, gina, gil);
    for (const actor of [alice, bob, gil]) {
      if (actor.label === answerer) continue;
      actor.session.tampering.notice = (notice) =>
        notice.operation === "DeliverRejoinRequest" ? [] : [notice];
    }
    const inside = await alice.inside();
    const leaf = (): unknown => inside.leafOf(gina.client.agentId)?.leaf;
    let isOver = false;
    withholdCommits(gina, () => isOver);
    const before = leaf();
    await (await bob.channel()).rotate();
    await (await bob.channel()).send("on");
    await until("gina has come back", () => {
      isOver = leaf() !== undefined && leaf() !== before;
      return isOver;
    });
    await allAgree(alice, bob, gina, gil);
    await assertGuests([gina, gil], alice, bob, gina, gil);
  }
});

Deno.test("a channel that is begun anew keeps its guests, those too that are absent from it at first", async () => {
  await using stage = await Stage.open();
  const [alice, bob, gina] = await withGuest(stage);
  const gil = await stage.actor("gil");
  await gil.manager.joinWithToken(name, await inviteGuest(alice));
  await allAgree(alice, bob, gina, gil);
  await recoverWithout(alice, bob, gil);
  await talk(alice, gina);
  await assertGuests([gina, gil], alice, gina);
  assert(
    (await alice.channel()).members().some(({ identity, absent }) => absent && identity === "gil"),
  );
  await gil.start();
  await talk(alice, gina, gil);
  await assertGuests([gina, gil], alice, gina, gil);
  await gil.useKey(otherKey);
  await refused(gil.manager.invite(name), "not_allowed", "a guest lets nobody in");
});

Deno.test("a generation that has forgotten a guest is entered by nobody that knows of it", async () => {
  await using stage = await Stage.open();
  const [alice, bob, gina] = await withGuest(stage);
  const carol = await stage.actor("carol");
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, carol, gina);
  const { group } = await alice.inside();
  const { binding } = group;
  const { guests: _, ...without } = binding;
  Object.defineProperty(group, "binding", { get: () => without, configurable: true });
  await sendBogus(bob);
  await allStopped(alice, carol, gina);
  await recover(alice);
  for (const actor of [carol, gina]) {
    await until(`${actor.label} says why`, async () => {
      const { issues } = (await actor.channel()).health();
      return issues.some(({ text }) => text.includes("it has other guests"));
    });
  }
});

Deno.test("an owner makes a guest a member like the others, or an owner, and it lets agents in from then on", async () => {
  await using stage = await Stage.open();
  const [alice, bob, gina] = await withGuest(stage);
  await refused(
    (await bob.channel()).promote(gina.client.agentId, { to: "member" }),
    "not_allowed",
    "only owners may",
  );
  await refused(
    (await alice.channel()).promote("A".repeat(22), { to: "member" }),
    "not_found",
    "not a member",
  );
  await (await alice.channel()).promote(gina.client.agentId, { to: "member" });
  await (await alice.channel()).promote(gina.client.agentId, { to: "member" });
  await allAgree(alice, bob, gina);
  await assertGuests([], alice, bob, gina);
  assertEquals(
    (await alice.channel()).members().find(({ identity }) => identity === "gina")?.owner,
    false,
  );
  const friend = await stage.actor("friend");
  await friend.manager.joinWithToken(name, await gina.manager.invite(name));
  await allAgree(alice, bob, gina, friend);
  const gil = await stage.actor("gil");
  await gil.manager.joinWithToken(name, await inviteGuest(gina));
  await allAgree(alice, bob, gina, gil);
  await assertGuests([gil], alice, bob, gina, friend, gil);
  await (await alice.channel()).promote(gil.client.agentId);
  await allAgree(alice, gil);
  await assertGuests([], alice, gil);
  await (await gil.channel()).demote(gil.client.agentId);
  await allAgree(alice, gil);
  await assertGuests([], alice, gil);
});

Deno.test("an inviter that dies while it lets a guest in, at whichever write, makes it a guest afterwards", async () => {
  const deaths: boolean[] = [];
  for (let writes = 0; writes === 0 || deaths.at(-1) === true; writes++) {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const gina = await stage.actor("gina");
    const token = await inviteGuest(alice);
    const dead = alice.diesAfter(writes).then(() => true);
    const joining = gina.manager.joinWithToken(name, token, { timeoutMs: 60_000 });
    deaths.push(await Promise.race([dead, joining.then(() => false)]));
    await alice.crash();
    await joining;
    await allAgree(alice, bob, gina);
    await assertGuests([gina], alice, bob, gina);
  }
  assert(deaths.length > 3, `${deaths.length}`);
});

Deno.test("a guest in whose place an owner lets another agent in is followed by a guest", async () => {
  await using stage = await Stage.open();
  const [alice, bob, gina] = await withGuest(stage);
  await gina.stop();
  const gil = await stage.actor("gil");
  await gil.manager.joinWithToken(
    name,
    await alice.manager.invite(name, { replaces: gina.client.agentId }),
  );
  await allAgree(alice, bob, gil);
  await assertGuests([gil], alice, bob, gil);
});

Deno.test("a guest that has gone when another agent comes in its place is followed by a guest; one that an owner has promoted is not", async () => {
  for (const what of ["gone", "promoted"]) {
    await using stage = await Stage.open();
    const [alice, bob, gina] = await withGuest(stage);
    const token = await alice.manager.invite(name, { replaces: gina.client.agentId });
    if (what === "gone") await (await gina.channel()).leave();
    else await (await alice.channel()).promote(gina.client.agentId, { to: "member" });
    await until("the others know", async () => {
      const found = (await alice.channel()).members().find(({ identity }) => identity === "gina");
      return found?.guest !== true;
    });
    const gil = await stage.actor("gil");
    await gil.manager.joinWithToken(name, token);
    await allAgree(alice, bob, gil);
    await assertGuests(what === "gone" ? [gil] : [], alice, bob, gil);
  }
});

Deno.test("the last owner that leaves hands the channel to no guest, unless it names one", async () => {
  await using stage = await Stage.open();
  const [alice, bob, gina] = await withGuest(stage);
  await (await bob.channel()).leave();
  await allAgree(alice, gina);
  await gina.manager.send(name, "I am there");
  await until(
    "alice has heard gina",
    async () =>
      (await alice.channel()).members().some(({ identity, lastHeardMs }) =>
        identity === "gina" && lastHeardMs !== undefined
      ),
  );
  await refused((await alice.channel()).leave(), "successor_needed", "leave({ successor })");
  await (await alice.channel()).leave({ successor: gina.client.agentId });
  const owner = await gina.channel();
  await until(
    "gina owns the channel",
    () => owner.members().every((each) => each.owner && !each.guest),
  );
});

Deno.test("while a member's version knows no guests, none comes in, and the member is named", async () => {
  await using stage = await Stage.open();
  stage.postQuantum = "prefer";
  const { alice, bob } = await stage.pair();
  const older = await stage.actor("old");
  await addOlderMember(alice, older, stage, channelExtensions.filter((type) => type !== 0xf5d1));
  await allAgree(alice, bob);
  const gina = await stage.actor("gina");
  const error = await refused(
    gina.manager.joinWithToken(name, await inviteGuest(bob), { timeoutMs: 60_000 }),
    "join_rejected",
    older.client.agentId,
  );
  assert(error.message.includes("(members_must_update): Cannot let a guest in"), error.message);
  assertEquals(await issuesOf(bob, "refused_commit"), []);
  await (await alice.channel()).removeMember(older.client.agentId);
  await gina.manager.joinWithToken(name, await inviteGuest(bob));
  await allAgree(alice, bob, gina);
  await assertGuests([gina], alice, bob, gina);
});
