/** An owner begins its channel anew although members, or the relay, do what they can against it. */
import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import {
  type AgentId,
  channelExtensions,
  type ChannelId,
  foundingEpoch,
  foundingStatement,
  type NoticeBody,
  type NoticeEnvelope,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { StaticError } from "../../../sdk/mod.ts";
import { defaultCoreConfig } from "../../../relay/core/testing/world.ts";
import {
  type BadCommit,
  createError,
  createKeyPackage,
  createSealKey,
  decodeKeyPackageMessage,
  type KeyPackageChange,
  signedAnew,
  storedChannel,
} from "../../../sdk/testing/agents.ts";
import { HostileMember } from "../../../sdk/testing/hostile_member.ts";
import { changeNext, flipped, idsOf, sendBogus } from "../../support/scenario/bad_commits.ts";
import { answerWith, answerWrongly } from "../../support/scenario/hostile.ts";
import {
  allStopped,
  deafen,
  fourMembers,
  issuesOf,
  membersOf,
  recover,
  sendGarbled,
  stateOf,
  talk,
} from "../../support/scenario/recovery.ts";
import type { Tampering } from "../../support/scenario/memory_session.ts";
import { type Actor, allAgree, Stage, until } from "../../support/scenario/stage.ts";

type Claimed = ReplyBody<"ClaimForFounding">["keyPackages"];

/** A Welcome into a group without these, but for the agent of the KeyPackage. */
function welcomeOf(hostile: HostileMember, keyPackage: Uint8Array, without: AgentId[]): Uint8Array {
  return hostile.commitTo({}, [keyPackage], without).welcome ?? new Uint8Array(0);
}

/** The founder is given other KeyPackages of members than these have uploaded. */
function claims(founder: Actor, change: (claimed: Claimed) => Claimed | Promise<Claimed>): void {
  founder.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    if (operation !== "ClaimForFounding") return reply;
    const { keyPackages } = reply as ReplyBody<"ClaimForFounding">; // cast: of this operation
    return { keyPackages: await change(keyPackages) };
  };
}

/** A KeyPackage as its agent may sign it, whatever is in it. */
async function oddKeyPackage(
  { agent: { parts: { identity, signatures, runtime } } }: Actor,
  suiteId: 1 | 3,
  change: KeyPackageChange = {},
): Promise<Uint8Array> {
  const nowMs = runtime.nowMs();
  const own = await createKeyPackage({
    suiteId,
    identity,
    notBeforeMs: nowMs - 60_000,
    notAfterMs: nowMs + 60_000,
    lastResort: false,
    sealKey: await createSealKey((length) => runtime.randomBytes(length), signatures.xWing),
    randomBytes: (length) => runtime.randomBytes(length),
    signatures,
  });
  return signedAnew(own, change, identity).message;
}

const bothSuites: NonNullable<KeyPackageChange["leafNode"]>["capabilities"] = {
  versions: ["mls10"],
  ciphersuites: [
    "MLS_128_DHKEMX25519_AES128GCM_SHA256_Ed25519",
    "MLS_128_DHKEMX25519_CHACHA20POLY1305_SHA256_Ed25519",
  ],
  extensions: [...channelExtensions],
  proposals: [],
  credentials: ["basic"],
};
const sharedKey = new Uint8Array(32).fill(9);
const poisons:
  readonly (readonly [guarantee: string, make: (actor: Actor) => Promise<Uint8Array>])[] = [
    [
      "members whose KeyPackages have an init key of small order keep nobody from coming back, themselves included",
      (actor) => oddKeyPackage(actor, 3, { keyPackage: { initKey: new Uint8Array(32) } }),
    ],
    [
      "members whose KeyPackages have another cipher suite keep nobody from coming back, themselves included",
      (actor) => oddKeyPackage(actor, 1, { leafNode: { capabilities: bothSuites } }),
    ],
    [
      "members whose KeyPackages have the encryption key of another member keep nobody from coming back, themselves included",
      (actor) => oddKeyPackage(actor, 3, { leafNode: { hpkePublicKey: sharedKey } }),
    ],
    [
      "members whose KeyPackages have no private keys any more, as one that was used before keep nobody from coming back, themselves included",
      (actor) => oddKeyPackage(actor, 3),
    ],
  ];

for (const [guarantee, make] of poisons) {
  Deno.test(guarantee, async () => {
    await using stage = await Stage.open();
    const [alice, bob, carol, dave] = await fourMembers(stage);
    const odd = new Map<AgentId, Uint8Array>();
    for (const actor of [carol, dave]) odd.set(actor.client.agentId, await make(actor));
    claims(
      alice,
      (claimed) =>
        claimed.map(({ agentId, keyPackage }) => ({
          agentId,
          keyPackage: odd.get(agentId) ?? keyPackage,
        })),
    );
    await sendBogus(bob);
    await allStopped(alice, carol, dave);
    await recover(alice);
    await talk(alice, carol, dave);
    assertEquals(await membersOf(alice), ["alice", "carol", "dave"]);
  });
}

const denials = {
  "a founder that is told epoch_conflict about a founding that was taken is in its generation":
    "epoch_conflict",
  "a founder that is told rate_limited about a founding that was taken is in its generation":
    "rate_limited",
  "a founder that is told invalid_request about a founding that was taken is in its generation":
    "invalid_request",
} as const;

for (const [guarantee, code] of Object.entries(denials)) {
  Deno.test(guarantee, async () => {
    await using stage = await Stage.open();
    const { alice, bob, carol } = await stage.trio();
    await sendBogus(bob);
    await allStopped(alice, carol);
    alice.session.tampering.call = async (operation, _body, forward) => {
      const reply = await forward();
      if (operation === "FoundGeneration") throw createError(code, "the relay says otherwise");
      return reply;
    };
    await recover(alice);
    await talk(alice, carol);
    assertEquals(await issuesOf(alice, "rejoined"), []);
  });
}

Deno.test("a founder that is put back to before its founding comes back as the owner that it was", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await sendBogus(bob);
  await allStopped(alice, carol);
  const backup = await alice.backup();
  await allStopped(alice);
  await recover(alice);
  await talk(alice, carol);
  await alice.restore(backup);
  await talk(alice, carol);
  const owners = (await carol.channel()).members().filter(({ owner }) => owner).map((
    { identity },
  ) => identity);
  assertEquals([owners, (await alice.inside()).group.self.owner], [["alice"], true]);
});

Deno.test("an owner that is stopped again soon after a member let it in begins anew at once, and takes that way no more", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await sendGarbled(bob, [0]);
  await until("alice is let in", async () => (await issuesOf(alice, "rejoined")).length > 0);
  await allAgree(alice, carol, dave);
  await alice.restart();
  assertNotEquals(await stateOf(alice), "stopped");
  // Carol could follow this one too, and would let alice in.
  await sendGarbled(dave, [1]);
  await allStopped(alice);
  assertEquals((await alice.channel()).health().recoverable, true);
  await (await alice.channel()).recover();
  await talk(alice, carol);
  assertEquals((await membersOf(alice)).includes("dave"), false);
});

Deno.test("another owner lets an owner in also when it is stopped again", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  const inside = await alice.inside();
  await inside.commit(() => ({ owners: idsOf(alice, carol) }));
  await allAgree(alice, bob, carol, dave);
  for (const sender of [bob, dave]) {
    const inside = await carol.inside();
    const { epoch } = inside;
    await sendGarbled(sender, sender === bob ? [0] : [1]);
    await until("carol has let alice in", () => inside.epoch > epoch + 1);
    await allAgree(alice, carol);
  }
  await talk(alice, carol);
  assertEquals(await issuesOf(alice, "recovered"), []);
});

Deno.test("a member that stops an owner again does not let it in by a Welcome of its own; another owner does", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await (await alice.inside()).commit(() => ({ owners: idsOf(alice, carol) }));
  await allAgree(alice, bob, carol, dave);
  await sendGarbled(bob, [0]);
  await until("alice is let in", async () => (await issuesOf(alice, "rejoined")).length > 0);
  await allAgree(alice, carol, dave);
  const answered = answerWith(
    alice,
    dave,
    1,
    (hostile, keyPackage) => welcomeOf(hostile, keyPackage, idsOf(alice)),
  );
  await sendGarbled(dave, [1]);
  await until("alice is told", async () => (await issuesOf(alice, "refused_welcome")).length > 0);
  const [why] = await issuesOf(alice, "refused_welcome");
  assertEquals([answered(), why?.includes("stopped soon after it was let in")], [1, true], why);
  await talk(alice, carol);
});

Deno.test("a member that owns nothing leads a stopped owner into no group that lacks another member", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const answered = answerWith(
    alice,
    bob,
    1,
    (hostile, keyPackage) => welcomeOf(hostile, keyPackage, idsOf(alice, carol)),
  );
  await sendBogus(bob);
  await until("alice is told", async () => (await issuesOf(alice, "refused_welcome")).length > 0);
  const [why] = await issuesOf(alice, "refused_welcome");
  assertEquals([answered(), why?.includes("members are missing from it")], [1, true], why);
  await recover(alice);
  await talk(alice, carol);
});

/**
 * Bob stops alice, and carol answers her with Welcomes that do not open: the relay counts her in
 * anew.
 */
async function countedInAnew(
  [alice, bob, carol, dave]: readonly [Actor, Actor, Actor, Actor],
): Promise<void> {
  deafen(dave);
  carol.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit") return forward();
    const sent = body as RequestBody<"SendCommit">; // cast: of this operation
    const broken = sent.welcomes.map(({ recipients, welcome }) => ({
      recipients,
      welcome: flipped(welcome),
    }));
    return forward({ ...sent, welcomes: broken });
  };
  await sendGarbled(bob, [0]);
  await until("alice is told", async () => (await issuesOf(alice, "refused_welcome")).length > 0);
}

Deno.test("a stopped owner that the relay counts in anew, by a commit whose Welcome does not open, recovers after a new connection", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await countedInAnew([alice, bob, carol, dave]);
  alice.session.disconnect();
  await alice.session.connect();
  alice.clockOffsetMs += 61_000;
  await recover(alice);
  await talk(alice, dave);
  assertEquals((await membersOf(alice)).includes("bob"), false);
  assertEquals(await issuesOf(alice, "withheld_commit"), [], "the relay has kept nothing back");
});

Deno.test("the same owner recovers after a second process too: it acknowledges nothing of what it is counted into", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await countedInAnew([alice, bob, carol, dave]);
  const asking = Promise.withResolvers<void>();
  const tampering: Tampering = {
    call: (operation, _body, forward) => {
      // With a permit: it has read what stands in front of the commit.
      if (operation === "RequestRejoin") asking.resolve();
      return forward();
    },
  };
  await alice.stop();
  await alice.start(tampering);
  await asking.promise;
  await alice.restart();
  alice.clockOffsetMs += 61_000;
  await recover(alice);
  await talk(alice, dave);
  assertEquals((await membersOf(alice)).includes("bob"), false);
  assertEquals(await issuesOf(alice, "store_unproven"), [], "its directory is the latest");
});

Deno.test("a stopped owner is not led astray by the Welcome of another commit, and begins the channel anew", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  deafen(dave);
  const answers = await answerWrongly(carol);
  await sendGarbled(bob, [0]);
  await until("alice is told", async () => (await issuesOf(alice, "refused_welcome")).length > 0);
  const [why] = await issuesOf(alice, "refused_welcome");
  assertEquals([answers() > 0, why?.includes("another group than the commit that carries it")], [
    true,
    true,
  ], why);
  assertEquals([await stateOf(alice), await issuesOf(alice, "rejoined")], ["stopped", []]);
  // The relay counts alice in anew by the commit whose Welcome she did not take.
  alice.session.disconnect();
  await alice.session.connect();
  alice.clockOffsetMs += 61_000;
  await recover(alice);
  await talk(alice, dave);
  assertEquals((await membersOf(alice)).includes("bob"), false);
});

Deno.test("a stopped owner that a Welcome leads into the group that only the log's last state names lets the others in there", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  deafen(dave);
  // The Welcome is that of the declared state; the commit beside it opens for nobody.
  changeNext(carol, ({ commit }) => ({ commit: flipped(commit) }));
  await sendGarbled(bob, [0]);
  await until("alice is let in", async () => (await issuesOf(alice, "rejoined")).length > 0);
  await until("dave is let in", async () => (await issuesOf(dave, "rejoined")).length > 0);
  await talk(alice, dave);
});

Deno.test("an owner and the relay blame nobody for a commit that another member signed", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  let commit: NoticeBody<"DeliverCommit"> | undefined;
  alice.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverCommit") return [notice];
    commit = notice.body;
    return [];
  };
  await (await bob.inside()).commit();
  await allAgree(bob, carol, dave);
  await until("alice's relay has it", () => commit !== undefined);
  const inside = await alice.inside();
  const bad = commit && inside.badCommitOf(commit, "it does not please me");
  if (bad === undefined) throw new Error("the commit is of no member");
  const { identity, signatureKey } = carol.agent.parts.identity;
  const made = await inside.foundingBecauseOf({ ...bad, sender: { identity, signatureKey } });
  const body = {
    ...made,
    sequence: 900,
    epoch: foundingEpoch(1),
    sender: alice.client.agentId,
    timeMs: 0,
  };
  dave.session.inject({ kind: "notice", operation: "DeliverFounding", body });
  await until("dave has judged it", async () => {
    const issues = (await dave.channel()).health().issues.map(({ kind }) => kind);
    return issues.includes("refused_recovery") || issues.includes("recovered");
  });
  const [why] = await issuesOf(dave, "refused_recovery");
  assertEquals(why?.includes("the blamed agent did not sign the commit"), true, why);
  assertEquals(await membersOf(dave), ["alice", "bob", "carol", "dave"]);
});

Deno.test("a clock that is put back while a channel is stopped does not keep its owner from recovering", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  alice.clockOffsetMs += 100 * 60_000;
  carol.session.disconnect();
  await sendBogus(bob);
  await allStopped(alice);
  assertEquals((await alice.channel()).health().recoverable, false);
  alice.clockOffsetMs -= 100 * 60_000;
  await (await alice.channel()).recover();
  await carol.session.connect();
  await talk(alice, carol);
});

for (const when of ["before the commit", "after the commit"] as const) {
  Deno.test(`an owner that went away ${when}, and lapsed, recovers its channel when it is back`, async () => {
    const limits = { ...defaultCoreConfig.limits, keyPackagesPerAgent: 1, lapseAgeMs: 100 };
    await using stage = await Stage.open({ config: { limits } });
    const { alice, bob, carol } = await stage.trio();
    if (when === "before the commit") await alice.stop();
    await sendBogus(bob);
    await allStopped(carol);
    if (when === "after the commit") {
      await allStopped(alice);
      await alice.stop();
    }
    await until("alice has lapsed", () => stage.world.meter.membersLapsed === 1);
    await alice.start();
    await allStopped(alice);
    alice.clockOffsetMs += 61_000;
    await (await alice.channel()).recover();
    await talk(alice, carol);
  });
}

Deno.test("a founding of an owner that is worth nothing is told in words, for good, and drags nobody along", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  const inside = await alice.inside();
  await inside.commit(() => ({ owners: idsOf(alice, carol) }));
  await allAgree(alice, bob, carol, dave);
  await sendBogus(bob);
  await allStopped(alice, carol, dave);
  const { channelId, badCommit } = await stoppedAt(carol);
  const { founding, ...rest } = await (await carol.inside()).foundingBecauseOf(badCommit);
  const other = { ...founding, transcriptHash: new Uint8Array(32) };
  const signature = carol.sign(foundingStatement({ channelId, ...other }));
  await carol.session.call("FoundGeneration", { ...rest, founding: { ...other, signature } });
  const isTold = async (actor: Actor): Promise<boolean> => {
    const { state, problem, recoverable } = (await actor.channel()).health();
    return state === "stopped" && recoverable === false &&
      problem?.includes("does not follow") === true;
  };
  for (const actor of [alice, dave]) {
    await until(`${actor.label} is told`, () => isTold(actor));
    await actor.restart();
    await until(`${actor.label} is told again`, () => isTold(actor));
    assertEquals((await actor.inside()).group.binding.generation, undefined);
  }
  alice.clockOffsetMs += 61_000;
  await assertRejects(
    async () => await (await alice.channel()).recover(),
    StaticError,
    "does not follow",
  );
});

for (const ahead of [0, 5]) {
  const where = ahead === 0 ? "" : ", on an epoch that nobody reached,";
  Deno.test(`a founding by a stranger${where} that only the relay has seen is forgotten when the relay tells the truth again`, async () => {
    await using stage = await Stage.open();
    const { alice, bob, carol } = await stage.trio();
    const stranger = await stage.actor("mallory");
    await sendBogus(bob);
    await allStopped(alice, carol);
    const { channelId, badCommit } = await stoppedAt(alice);
    const { founding, ...rest } = await (await alice.inside()).foundingBecauseOf(badCommit);
    const { signatureKey, identity } = stranger.agent.parts.identity;
    const other = { ...founding, signatureKey, identity, baseEpoch: founding.baseEpoch + ahead };
    const signature = stranger.sign(foundingStatement({ channelId, ...other }));
    const place = {
      sequence: 900_000,
      epoch: foundingEpoch(1),
      sender: stranger.client.agentId,
      timeMs: 0,
    };
    const body = { ...rest, ...place, founding: { ...other, signature } };
    const told = ahead === 0 ? [carol] : [carol, alice];
    for (const actor of told) {
      actor.session.inject({ kind: "notice", operation: "DeliverFounding", body });
      await until(
        `${actor.label} is told`,
        async () =>
          (await issuesOf(actor, ahead === 0 ? "refused_recovery" : "rejoined")).length > 0,
      );
    }
    for (const actor of told) await actor.restart();
    await until(
      "that is forgotten",
      async () => (await carol.channel()).health().action?.includes("recover()") === true,
    );
    await recover(alice);
    await talk(alice, carol);
  });
}

/**
 * A founding of a stranger, on an epoch that nobody has reached, as only a relay can deliver it.
 */
async function strangeFounding(
  stage: Stage,
  owner: Actor,
  generation: number,
): Promise<NoticeEnvelope & { readonly operation: "DeliverFounding" }> {
  const stranger = await stage.actor("mallory");
  const { channelId, badCommit } = await stoppedAt(owner);
  const { founding, ...rest } = await (await owner.inside()).foundingBecauseOf(badCommit);
  const { signatureKey, identity } = stranger.agent.parts.identity;
  const baseEpoch = foundingEpoch(generation - 1) + founding.baseEpoch + 5;
  const other = { ...founding, signatureKey, identity, generation, baseEpoch };
  const signature = stranger.sign(foundingStatement({ channelId, ...other }));
  const place = {
    sequence: 900_000,
    epoch: foundingEpoch(generation),
    sender: stranger.client.agentId,
    timeMs: 0,
  };
  const body = { ...rest, ...place, founding: { ...other, signature } };
  return { kind: "notice", operation: "DeliverFounding", body };
}

for (const generation of [1, 1000]) {
  Deno.test(`a relay that shows the generation ${generation} of a stranger does not keep an owner from recovering, nor others from following`, async () => {
    await using stage = await Stage.open();
    const { alice, bob, carol } = await stage.trio();
    await sendBogus(bob);
    await allStopped(alice, carol);
    const notice = await strangeFounding(stage, alice, generation);
    for (const actor of [alice, carol]) {
      actor.session.inject(notice);
      await until(
        `${actor.label} is told`,
        async () => (await issuesOf(actor, "rejoined")).length > 0,
      );
      assertEquals((await actor.channel()).health().state, "stopped");
    }
    alice.clockOffsetMs += 61_000;
    await (await alice.channel()).recover();
    await talk(alice, carol);
  });
}

Deno.test("a member that does not follow a generation asks for no later one, whoever began that", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await (await alice.inside()).commit(() => ({ owners: idsOf(alice, carol) }));
  await allAgree(alice, bob, carol, dave);
  await sendBogus(bob);
  await allStopped(alice, carol, dave);
  const { channelId, badCommit } = await stoppedAt(carol);
  const notice = await strangeFounding(stage, carol, 2);
  const { founding, ...rest } = await (await carol.inside()).foundingBecauseOf(badCommit);
  const other = { ...founding, transcriptHash: new Uint8Array(32) };
  const signature = carol.sign(foundingStatement({ channelId, ...other }));
  await carol.session.call("FoundGeneration", { ...rest, founding: { ...other, signature } });
  await until("dave refuses it", async () => (await issuesOf(dave, "refused_recovery")).length > 0);
  let asked = 0;
  dave.session.tampering.call = (operation, _, forward) => {
    if (operation === "RequestRejoin") asked++;
    return forward();
  };
  dave.session.inject(notice);
  await dave.session.call("ListMembers", { channelId });
  await (await dave.inside()).recover().catch(() => {}); // behind the notice
  assertEquals([asked, (await dave.channel()).health().state], [0, "stopped"]);
});

Deno.test("who is removed right after it followed a founding, while a Welcome for it is opened, erases its channel and can be closed", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  let asked: RequestBody<"RequestRejoin"> | undefined;
  carol.session.tampering.call = (operation, body, forward) => {
    // cast: of this operation
    if (operation === "RequestRejoin") asked ??= body as RequestBody<"RequestRejoin">;
    return forward();
  };
  await sendBogus(bob);
  await allStopped(alice, carol);
  await until("carol asks", () => asked !== undefined);
  if (asked === undefined) throw new Error("carol has not asked");
  const { channelId, keyPackage, signature } = asked;
  const { agentId } = carol.client;
  const { group, name: channelName } = await bob.inside();
  const change = {
    remove: [agentId],
    add: [decodeKeyPackageMessage(keyPackage)],
    rejoins: [{ agentId, signature }],
  };
  const { welcome, epoch } = group.prepare(change);
  if (welcome === undefined) throw new Error("a commit that adds somebody has a Welcome");
  const held: NoticeEnvelope[] = [];
  carol.session.tampering.notice = (notice) => {
    held.push(notice);
    return [];
  };
  await recover(alice);
  await (await alice.channel()).removeMember(agentId);
  const isHere = (operation: string): boolean =>
    held.some((notice) => notice.operation === operation);
  await until(
    "carol has something to read",
    () => isHere("DeliverFounding") && isHere("DeliverCommit"),
  );
  const place = {
    channelId,
    sequence: 900,
    joinedSequence: 900,
    epoch: epoch + 1,
    timeMs: 0,
    generation: 0,
  };
  const body = { ...place, sender: bob.client.agentId, welcome, name: channelName };
  for (const notice of held) {
    if (notice.operation !== "DeliverChannelEnd") carol.session.inject(notice);
  }
  carol.session.inject({ kind: "notice", operation: "DeliverWelcome", body });
  await until("the channel is erased", () => carol.client.channels.length === 0, 10_000);
});

async function stoppedAt(actor: Actor): Promise<{ channelId: ChannelId; badCommit: BadCommit }> {
  const { channelId } = await actor.inside();
  const { bad: badCommit } = await storedChannel(actor.agent.parts.store, channelId);
  if (badCommit === undefined) throw new Error(`${actor.label} is not stopped`);
  return { channelId, badCommit };
}
