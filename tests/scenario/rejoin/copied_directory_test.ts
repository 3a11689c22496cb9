/**
 * Copies of one data directory that are used in turn: no key seals two messages. Either the copy
 * that comes back has other keys to go on with, or it notices what was sent in between and joins
 * anew. Whatever the relay takes is read.
 */
import { assert, assertEquals } from "@std/assert";
import {
  decodeMessageAad,
  readPrivateMessageHeader,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { factsKind } from "../../../sdk/testing/agents.ts";
import { inCampaign, tried } from "../../support/campaign.ts";
import { createRandom, type Random, seedFromEnvironment } from "../../support/mod.ts";
import type { Tampering } from "../../support/scenario/memory_session.ts";
import { Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

type Copy = ReturnType<Actor["copyDisk"]>;

const [runs, stepsEach] = [inCampaign ? 200 : 6, 12];

/**
 * The process dies when its message is sealed, and before the relay has it. Returns the directory
 * that it leaves.
 */
async function dieSending(actor: Actor, tampering: Tampering = {}): Promise<Copy> {
  const sealed = Promise.withResolvers<void>();
  actor.session.tampering = {
    ...tampering,
    call: (operation, body, forward) => {
      if (operation !== "SendMessage") {
        return tampering.call?.(operation, body, forward) ?? forward();
      }
      sealed.resolve();
      return new Promise(() => {});
    },
  };
  actor.manager.send(name, "lost").catch(() => {});
  await sealed.promise;
  const left = actor.copyDisk();
  await actor.crash(tampering);
  return left;
}

Deno.test("a copy whose keys another copy has used up to its own and beyond uses none of them again", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await alice.manager.send(name, "one");
  const first = alice.copyDisk();
  // As one: four counters, and a single key.
  await Promise.all(["two", "three", "four", "five"].map((text) => alice.manager.send(name, text)));
  // The keys that are left are given back, and some of them are reserved again.
  await alice.restart();
  const second = await dieSending(alice);
  await alice.restore(first);
  for (const text of ["six", "seven", "eight", "nine"]) await alice.manager.send(name, text);
  await alice.restore(second);
  await alice.manager.send(name, "ten");
  const texts = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
  assertEquals(await read(await bob.channel(), texts.length), texts);
});

Deno.test("keys that a copy left out in an earlier epoch do not hide which keys of this one others have used", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  // So that alice acknowledges nothing, and the log keeps the commit.
  await bob.manager.send(name, "not read");
  const first = await alice.backup();
  await dieSending(alice);
  await beginEpoch(alice, bob);
  const second = await alice.backup();
  await alice.restore(first);
  await allAgree(alice, bob);
  await alice.manager.send(name, "one");
  await alice.restore(second);
  await alice.manager.send(name, "two");
  assertEquals(await read(await bob.channel(), 2), ["one", "two"]);
});

Deno.test("an agent is told that a copy of its directory has come back in its place, and blames nobody else", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const copy = bob.copyDisk();
  await bob.manager.send(name, "one");
  // The copy is behind: it joins anew, with the agent's own key.
  const thief = await new Actor(stage, bob.label, 1, copy).start();
  await thief.manager.send(name, "two");
  // From then on the agent can be told its present leaf.
  await until("the copy has changed its keys", async () => {
    const { tree, ownLeaf } = (await thief.inside()).group.current;
    return tree.leaf(ownLeaf)?.node.leafNodeSource === "commit";
  });
  // And reads on, so that the relay says that this agent has read what ended its epoch.
  await alice.manager.send(name, "three");
  assertEquals(await read(await thief.channel(), 1), ["three"]);
  await thief.stop();
  assertEquals(await read(await alice.channel(), 2), ["one", "two"]);
  bob.session.disconnect();
  await bob.session.connect();
  // With a proof, while the log holds what the copy has sent.
  const told = await toldOnTheWayBack(bob);
  assertEquals(told.map((kind) => kind.replace(/_.*/, "")), ["store"]);
});

Deno.test("nor does it blame the relay, when a place that the relay once made up hides what the copy has done", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  const { store } = bob.agent.parts;
  const place = await store.get(factsKind(channel.id), "position");
  const body = {
    channelId: channel.id,
    firstSequence: 2,
    lastSequence: 3,
    messages: 1,
    reason: "age" as const,
  };
  bob.session.inject({ kind: "notice", operation: "DeliverGap", body });
  await until(
    "it is believed",
    async () => String(await store.get(factsKind(channel.id), "position")) !== String(place),
  );
  const thief = await new Actor(stage, bob.label, 1, bob.copyDisk()).start();
  await thief.manager.send(name, "one");
  await (await thief.inside()).commit();
  await thief.stop();
  assertEquals(await read(await alice.channel(), 1), ["one"]);
  bob.session.disconnect();
  await bob.session.connect();
  assertEquals(await toldOnTheWayBack(bob), ["dropped_by_relay", "store_rolled_back"]);
  await allAgree(alice, bob);
});

/** Kinds of trouble that an agent reports which comes back, beside that it is back. */
async function toldOnTheWayBack(actor: Actor): Promise<string[]> {
  const kinds = async (): Promise<string[]> =>
    (await actor.channel()).health().issues.map(({ kind }) => kind).sort();
  await until(`${actor.label} is back`, async () => (await kinds()).includes("rejoined"));
  return (await kinds()).filter((kind) => kind !== "rejoined");
}

async function beginEpoch(alice: Actor, bob: Actor): Promise<void> {
  await (await bob.inside()).commit();
  await allAgree(alice, bob);
}

/** One membership of an agent whose directory is copied and put back at will. */
interface Scene {
  readonly random: Random;
  readonly alice: Actor;
  readonly bob: Actor;
  readonly tampering: Tampering;
  readonly copies: Copy[];
  readonly texts: string[];
}

async function send({ alice, texts }: Scene, count: number): Promise<void> {
  const fresh = Array.from({ length: count }, (_, i) => `message ${texts.length + i}`);
  await Promise.all(fresh.map((text) => alice.manager.send(name, text)));
  texts.push(...fresh);
}

const steps: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  "sends one by one": async (scene) => {
    for (let left = 1 + scene.random.below(4); left > 0; left--) await send(scene, 1);
  },
  "sends many as one": (scene) => send(scene, 2 + scene.random.below(60)),
  "dies sending": ({ alice, tampering }) => dieSending(alice, tampering),
  "dies": ({ alice, tampering }) => alice.crash(tampering),
  "starts again": async ({ alice, tampering }) => {
    await alice.stop();
    await alice.start(tampering);
  },
  "enters an epoch": ({ alice, bob }) => beginEpoch(alice, bob),
  "is copied": ({ alice, copies }) => Promise.resolve(copies.push(alice.copyDisk())),
  "is put back": async ({ random, alice, tampering, copies }) => {
    copies.push(alice.copyDisk());
    await alice.restore(random.pick(copies), tampering);
  },
};

/**
 * Notes every key under which the relay takes a message. By counters the agent does not learn of
 * its past.
 */
function watching(used: string[]): Tampering {
  return {
    call: async (operation, body, forward) => {
      const reply = await forward();
      if (operation === "SendMessage") {
        const { epoch, ciphertext } = body as RequestBody<"SendMessage">; // cast: of this operation
        const { keyNumber } = decodeMessageAad(
          readPrivateMessageHeader(ciphertext).authenticatedData,
        );
        used.push(`${epoch}/${keyNumber}`);
      }
      if (operation !== "Subscribe") return reply;
      const subscribed = reply as ReplyBody<"Subscribe">; // cast: of this operation
      return {
        ...subscribed,
        ...(subscribed.sent && { sent: { ...subscribed.sent, counter: 0 } }),
      };
    },
  };
}

Deno.test("whatever a directory and its copies go through, no key is used twice, and everything sent is read", async () => {
  const random = createRandom(inCampaign ? seedFromEnvironment() : 1);
  let [doubted, undoubted] = [0, 0];
  for (let run = 0; run < runs; run++) {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    // Nor by what it has acknowledged, and the log keeps what comes behind it.
    await bob.manager.send(name, "not read");
    const used: string[] = [];
    const scene: Scene = { random, alice, bob, tampering: watching(used), copies: [], texts: [] };
    alice.session.tampering = scene.tampering;
    const story: string[] = [];
    const isDoubted = async (): Promise<boolean> =>
      (await alice.channel()).health().issues.some(({ kind }) => kind === "rejoined");
    for (let step = 0; step < stepsEach && !await isDoubted(); step++) {
      const what = random.pick(Object.keys(steps));
      story.push(what);
      await steps[what]?.(scene);
      if (what !== "is put back") continue;
      await send(scene, 1);
      if (await isDoubted()) doubted++;
      else undoubted++;
    }
    const told = `seed ${random.seed}, run ${run}: ${story.join(", ")}; keys ${used.join(" ")}`;
    assertEquals(new Set(used).size, used.length, told);
    const { texts } = scene;
    if (texts.length > 0) {
      assertEquals(await read(await bob.channel(), texts.length, 20_000), texts, told);
    }
  }
  assert(doubted > 0 && undoubted > 0, `${doubted} copies were doubted, and ${undoubted} were not`);
  tried(`${runs} lives of a directory and its copies`);
});
