/**
 * A member lets in agents that it has invented, and they stop the channel. One founding puts them
 * out: those of the line at once, those of one door with the second strike. Two rounds in the test
 * command; in a campaign ten, more agents, and three in a large channel.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { StaticError } from "../../../sdk/mod.ts";
import { idsOf, sendBogus } from "../../support/scenario/bad_commits.ts";
import { allStopped, issuesOf, membersOf, talk } from "../../support/scenario/recovery.ts";
import { type Actor, allAgree, name, Stage, until } from "../../support/scenario/stage.ts";

const isStress = Deno.env.get("STATIC_STRESS") === "1";
const rounds = isStress ? 10 : 2;

async function generationOf(actor: Actor): Promise<number> {
  return (await actor.inside()).group.binding.generation?.generation ?? 0;
}

/** Agents that join by one token. */
async function join(stage: Stage, token: string, labels: readonly string[]): Promise<Actor[]> {
  const joined: Actor[] = [];
  for (const label of labels) {
    const actor = await stage.actor(label);
    await actor.manager.joinWithToken(name, token);
    joined.push(actor);
  }
  return joined;
}

/** An owner and members that it has let in, each by an invite of its own. */
async function channelOf(stage: Stage, size: number): Promise<[Actor, ...Actor[]]> {
  const alice = await stage.actor("alice");
  await alice.manager.create(name);
  const others: Actor[] = [];
  for (let i = 1; i < size; i++) {
    others.push(...await join(stage, await alice.manager.invite(name), [`honest ${i}`]));
  }
  await allAgree(alice, ...others);
  return [alice, ...others];
}

/** One call, or the one that its refusal asks for. Returns those whom the refusal named. */
async function recoverOnce(owner: Actor): Promise<readonly string[] | undefined> {
  const channel = await owner.channel();
  await until("recovery is offered", () => channel.health().recoverable === true, 120_000);
  try {
    await channel.recover();
    return undefined;
  } catch (error) {
    assert(error instanceof StaticError && error.code === "choice_needed", String(error));
    assertEquals([error.retryable, (await channel.previewRecovery()).choiceNeeded], [false, true]);
    await channel.recover({ without: error.members ?? [] });
    return error.members;
  }
}

/** All of them are in the same generation and hear its owner. */
async function areWell(...honest: readonly Actor[]): Promise<void> {
  if (honest.length <= 5) return await talk(...honest);
  await allAgree(...honest);
  const [alice, ...others] = honest;
  await (await alice?.channel())?.send("here");
  for (const actor of others) {
    const payload = await (await actor.channel()).receive({ timeoutMs: 60_000 });
    assertEquals(new TextDecoder().decode(payload), "here");
  }
}

/**
 * One attack: an agent comes by an invite of the owner, lets in so many others, and stops the
 * channel.
 */
async function attack(
  stage: Stage,
  honest: readonly [Actor, ...Actor[]],
  invented: number,
  round: number,
): Promise<void> {
  const [alice, ...others] = honest;
  const [mallory] = await join(stage, await alice.manager.invite(name), [`mallory ${round}`]);
  assert(mallory);
  const token = await mallory.manager.invite(name, { uses: invented });
  const labels = Array.from({ length: invented }, (_, i) => `sybil ${round}.${i}`);
  const sybils = await join(stage, token, labels);
  await allAgree(...honest, mallory, ...sybils);
  await sendBogus(mallory);
  await allStopped(...honest);
  const named = await recoverOnce(alice);
  assertEquals(
    named?.toSorted(),
    invented > (honest.length + 1) / 4 ? idsOf(...sybils).toSorted() : undefined,
  );
  await areWell(...honest);
  assertEquals(await membersOf(alice), [...honest].map(({ label }) => label).toSorted());
  assertEquals(await generationOf(others[0] ?? alice), round + 1, "one founding for a round");
  for (const sybil of sybils) {
    const { message } = (await sybil.inside()).over ?? {};
    assert(message === undefined || message.includes("without this agent"), message);
  }
  for (const actor of [mallory, ...sybils]) await actor.stop();
}

async function attacks(size: number, invented: number, times = rounds): Promise<void> {
  await using stage = await Stage.open();
  const honest = await channelOf(stage, size);
  for (let round = 0; round < times; round++) await attack(stage, honest, invented, round);
}

for (const invented of isStress ? [1, 5, 20] : [1, 5]) {
  Deno.test(`a channel of 5 works after the first founding when a member lets in ${invented} invented agents, round after round`, () =>
    attacks(5, invented));
}

if (isStress) {
  for (const invented of [1, 5, 20]) {
    Deno.test(`a channel of 80 works after the first founding when a member lets in ${invented} invented agents`, () =>
      attacks(80, invented, 3));
  }
}

Deno.test("invented agents that stop the channel one by one are out with the second strike, whichever of them strikes", async () => {
  await using stage = await Stage.open();
  const honest = await channelOf(stage, 4);
  const [alice] = honest;
  const [mallory] = await join(stage, await alice.manager.invite(name), ["mallory"]);
  assert(mallory);
  const sybils = await join(stage, await mallory.manager.invite(name, { uses: 3 }), [
    "s1",
    "s2",
    "s3",
  ]);
  const [first, second] = sybils;
  assert(first && second);
  await allAgree(...honest, mallory, ...sybils);
  for (const striker of [first, second]) {
    await until(
      "all agree",
      async () => (await generationOf(striker)) === (await generationOf(alice)),
    );
    await sendBogus(striker);
    await allStopped(...honest);
    alice.clockOffsetMs += 61_000;
    const named = await recoverOnce(alice);
    const rest = striker === first ? undefined : idsOf(mallory, ...sybils.slice(2)).toSorted();
    assertEquals(named?.toSorted(), rest);
    await allAgree(...honest);
  }
  await areWell(...honest);
  assertEquals(await membersOf(alice), honest.map(({ label }) => label).toSorted());
  assertEquals(await generationOf(alice), 2);
});

Deno.test("agents that came by one link of the owner itself cost two foundings", async () => {
  await using stage = await Stage.open();
  const honest = await channelOf(stage, 3);
  const [alice] = honest;
  const sybils = await join(stage, await alice.manager.invite(name, { uses: 20 }), [
    "s1",
    "s2",
    "s3",
    "s4",
  ]);
  const [first, second] = sybils;
  assert(first && second);
  await allAgree(...honest, ...sybils);
  for (const striker of [first, second]) {
    await until(
      "all agree",
      async () => (await generationOf(striker)) === (await generationOf(alice)),
    );
    await sendBogus(striker);
    await allStopped(...honest);
    alice.clockOffsetMs += 61_000;
    assertEquals((await recoverOnce(alice))?.length, striker === first ? undefined : 2);
    await allAgree(...honest);
  }
  await areWell(...honest);
  assertEquals(await generationOf(alice), 2);
});

for (const isDemoted of [false, true]) {
  Deno.test(`people whom an owner let in stay when the one that let in the owner stops the channel${isDemoted ? ", also when it owns nothing any more" : ""}`, async () => {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const [carol] = await join(stage, await bob.manager.invite(name), ["carol"]);
    assert(carol);
    await allAgree(alice, bob, carol);
    const channel = await alice.channel();
    await channel.promote(carol.client.agentId);
    await allAgree(alice, bob, carol);
    const [dave] = await join(stage, await carol.manager.invite(name), ["dave"]);
    assert(dave);
    if (isDemoted) await channel.demote(carol.client.agentId);
    await allAgree(alice, bob, carol, dave);
    await sendBogus(bob);
    await allStopped(alice, carol, dave);
    await until("recovery is offered", () => channel.health().recoverable === true);
    await channel.recover();
    const staying = isDemoted ? [alice, dave] : [alice, carol, dave];
    await talk(...staying);
    assertEquals(await membersOf(alice), staying.map(({ label }) => label));
  });
}

Deno.test("a member that was let in by the one that stopped the channel a day ago stays", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const [carol] = await join(stage, await bob.manager.invite(name), ["carol"]);
  assert(carol);
  await allAgree(alice, bob, carol);
  await sendBogus(bob);
  await allStopped(alice, carol);
  alice.clockOffsetMs += 24 * 60 * 60_000;
  const channel = await alice.channel();
  assertEquals((await channel.previewRecovery()).leftOut.length, 1);
  await channel.recover();
  await talk(alice, carol);
});

/** Alice owns the channel; bob, whom it let in, has let in three others and stopped the channel. */
async function bobsThree(
  stage: Stage,
): Promise<{ alice: Actor; bob: Actor; theirs: readonly Actor[] }> {
  const { alice, bob } = await stage.pair();
  const theirs = await join(stage, await bob.manager.invite(name, { uses: 3 }), ["x", "y", "z"]);
  await allAgree(alice, bob, ...theirs);
  await sendBogus(bob);
  await allStopped(alice, ...theirs);
  return { alice, bob, theirs };
}

Deno.test("an owner sees before who goes and why; a wrong list is refused with the agent's name, and nothing is sent", async () => {
  await using stage = await Stage.open();
  const { alice, bob, theirs } = await bobsThree(stage);
  const channel = await alice.channel();
  const { blamed, members, leftOut, choiceNeeded } = await channel.previewRecovery();
  assertEquals([blamed, members, choiceNeeded], [bob.client.agentId, 5, true]);
  assertEquals(leftOut[0]?.because, "blamed");
  assertEquals(
    leftOut.slice(1).map(({ agentId }) => agentId).toSorted(),
    idsOf(...theirs).toSorted(),
  );
  for (const { because, letInBy, seenMs } of leftOut.slice(1)) {
    assertEquals([because, letInBy, seenMs !== undefined], ["let_in", bob.client.agentId, true]);
  }
  assert(channel.health().action?.includes("a choice is needed"), channel.health().action);
  alice.clockOffsetMs += 61_000;
  let founded = 0;
  alice.session.tampering.call = (operation, _body, forward) => {
    if (operation === "FoundGeneration" || operation === "ClaimForFounding") founded++;
    return forward();
  };
  const [x, y, z] = idsOf(...theirs);
  assert(x && y && z);
  const stranger = (await stage.actor("stranger")).client.agentId;
  const wrong = [
    [{ without: [x], keep: [y] }, "not both"],
    [{ keep: [] }, "empty"],
    [{ without: [x, x] }, x],
    [{ without: [stranger] }, stranger],
    [{ without: [alice.client.agentId] }, "leave()"],
    [{ keep: [bob.client.agentId] }, bob.client.agentId],
    [{ keep: [stranger] }, stranger],
  ] as const;
  for (const [choice, says] of wrong) {
    for (const act of [() => channel.recover(choice), () => channel.previewRecovery(choice)]) {
      const error = await assertRejects(act, StaticError, says);
      assertEquals(error.code, "invalid_request");
    }
  }
  await assertRejects(() => channel.recover(), StaticError, "more than a quarter");
  assertEquals(founded, 0);
  // Another one is kept: not refused for its size.
  assertEquals((await channel.previewRecovery({ keep: [x] })).leftOut.length, 3);
  await channel.recover({ keep: [x] });
  await talk(alice, ...theirs.slice(0, 1));
  assertEquals(await membersOf(alice), ["alice", "x"]);
  const [text] = await issuesOf(alice, "recovered");
  assert(text?.includes("also out: ") && text.includes(y) && text.includes(z), text);
});

Deno.test("a call that names nobody always works and takes one agent", async () => {
  await using stage = await Stage.open();
  const { alice, theirs } = await bobsThree(stage);
  const channel = await alice.channel();
  alice.clockOffsetMs += 61_000;
  await channel.recover({ without: [] });
  await talk(alice, ...theirs);
});

Deno.test("a founding whose reply was lost goes again as the same bytes, and a call with another list is told what it left out", async () => {
  await using stage = await Stage.open();
  const { alice, theirs } = await bobsThree(stage);
  const [x, y] = theirs;
  assert(x && y);
  const channel = await alice.channel();
  alice.clockOffsetMs += 61_000;
  let lost = 0;
  alice.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    // Neither the reply nor what the log says comes back.
    if (operation === "FoundGeneration" && lost++ === 0) {
      throw new StaticError("connection_error", "the reply is lost");
    }
    if (operation === "FindCommit" && lost === 1) {
      throw new StaticError("connection_error", "the reply is lost");
    }
    return reply;
  };
  await assertRejects(
    () => channel.recover({ without: idsOf(x) }),
    StaticError,
    "the reply is lost",
  );
  lost++;
  const preview = await channel.previewRecovery();
  assertEquals([
    preview.leftOut.map(({ agentId }) => agentId).includes(x.client.agentId),
    preview.choiceNeeded,
  ], [
    true,
    false,
  ]);
  const error = await assertRejects(
    () => channel.recover({ without: idsOf(y) }),
    StaticError,
    "use removeMember()",
  );
  assertEquals([error.code, error.retryable, error.members], ["epoch_conflict", false, idsOf(y)]);
  await talk(alice, ...theirs.slice(1));
});
