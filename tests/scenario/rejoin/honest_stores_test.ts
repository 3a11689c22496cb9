/**
 * Whatever an honest agent and an honest relay go through, no store is taken for an old one, and no
 * log for another one: 20 random schedules, and 100 in the campaign.
 */
import { assertEquals } from "@std/assert";
import { inCampaign, tried } from "../../support/campaign.ts";
import { createRandom, type Random, seedFromEnvironment } from "../../support/mod.ts";
import type { Tampering } from "../../support/scenario/memory_session.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

const [channels, schedulesEach, stepsEach] = [inCampaign ? 5 : 1, 20, 5];

interface Scene {
  readonly stage: Stage;
  readonly random: Random;
  readonly alarms: string[];
}

type Step = (actor: Actor, scene: Scene) => Promise<void>;

/** An agent that doubts its store asks to rejoin, and has given the reason before. */
function watching(actor: Actor, alarms: string[]): Tampering {
  return {
    call: async (operation, _, forward) => {
      if (operation === "RequestRejoin") {
        const { issues } = await actor.inside();
        alarms.push(
          ...issues.filter(({ kind }) => kind.startsWith("store_")).map(({ text }) => text),
        );
      }
      return await forward();
    },
  };
}

async function send(actor: Actor, count: number): Promise<void> {
  const texts = Array.from({ length: count }, (_, i) => `message ${i}`);
  await Promise.all(texts.map((text) => actor.manager.send(name, text, { queue: true })));
}

async function commit(actor: Actor): Promise<void> {
  await (await actor.inside()).commit();
}

async function readSome(actor: Actor, most: number, timeoutMs?: number): Promise<void> {
  const channel = await actor.channel();
  // Not `health().unread`, which also counts what was read and is not on disk yet.
  const { unread } = await actor.inside();
  if (unread > 0) await read(channel, Math.min(unread, most), timeoutMs);
}

const crash: Step = (actor, { alarms }) => actor.crash(watching(actor, alarms));

const steps: Readonly<Record<string, Step>> = {
  "sends": (actor, { random }) => send(actor, 1 + random.below(5)),
  "sends more than it has keys reserved for": (actor) => send(actor, 70),
  "crashes": crash,
  "crashes while it sends": async (actor, scene) => {
    const sending = send(actor, 1 + scene.random.below(80)).catch(() => {});
    // wait: at any moment of it
    if (scene.random.chance(0.5)) await new Promise((resolve) => setTimeout(resolve, 1));
    await crash(actor, scene);
    await sending;
  },
  "crashes while it commits": async (actor, scene) => {
    const committing = commit(actor).catch(() => {});
    // wait: at any moment of it
    if (scene.random.chance(0.5)) await new Promise((resolve) => setTimeout(resolve, 1));
    await crash(actor, scene);
    await committing;
  },
  "crashes while it reads": async (actor, scene) => {
    // a process that is gone reads no more
    const reading = readSome(actor, 100, 200).catch(() => {});
    await crash(actor, scene);
    await reading;
  },
  "loses its connection": async ({ session }) => {
    session.disconnect();
    await session.connect();
  },
  "loses the reply to a message": async (actor) => {
    actor.session.loseReplies = 1;
    await send(actor, 2);
  },
  "loses the reply to a commit": async (actor) => {
    actor.session.loseReplies = 1;
    await commit(actor).catch(() => {}); // the connection may be lost once too often for it
  },
  "commits": (actor) => commit(actor).catch(() => {}), // others may be faster too often
  "reads some": (actor, { random }) => readSome(actor, 1 + random.below(20)),
  "only sends from now on": async (actor, { alarms }) => {
    await actor.stop();
    await actor.start(watching(actor, alarms));
    await actor.client.channel(name, { receive: false });
  },
  "gets another relay": async (_, { stage }) => await stage.restartRelay(),
};

async function isSettled(actor: Actor): Promise<boolean> {
  const { state } = (await actor.channel()).health();
  return state === "ok";
}

for (let at = 0; at < channels; at++) {
  Deno.test(`crashes, lost connections and slow readers are never taken for a restored backup (${at + 1})`, async () => {
    const random = createRandom(seedFromEnvironment() + at);
    await using stage = await Stage.open();
    const actors = await stage.channelOf(2);
    const scene: Scene = { stage, random, alarms: [] };
    for (const actor of actors) actor.session.tampering = watching(actor, scene.alarms);
    const done: string[] = [];
    for (let schedule = 0; schedule < schedulesEach; schedule++) {
      for (let step = 0; step < stepsEach; step++) {
        const actor = random.pick(actors);
        const what = random.pick(Object.keys(steps));
        done.push(`${actor.label} ${what}`);
        await steps[what]?.(actor, scene);
      }
      for (const actor of actors) await until("all are in step", () => isSettled(actor));
      for (const actor of actors) {
        const { issues } = await actor.inside();
        scene.alarms.push(
          ...issues.filter(({ text }) => text.includes(" has seen ")).map(({ text }) => text),
        );
      }
      assertEquals(scene.alarms, [], `seed ${random.seed}: ${done.join(", ")}`);
    }
    await allAgree(...actors);
    tried(`${schedulesEach} schedules without an alarm`);
  });
}
