/**
 * How tests of the core begin: a world of its own for each, two members in a channel, a refusal
 * that is expected.
 */
import { assertEquals, assertRejects } from "@std/assert";
import type { ChannelId, ErrorCode } from "../../../proto/mod.ts";
import { Actor } from "./actors.ts";
import { CallRefused } from "./client.ts";
import { createWorld, type World, type WorldOptions } from "./world.ts";

/** A test in a world of its own, in which nothing of the relay's own code may fail. */
export function worldTest(
  name: string,
  run: (world: World) => Promise<void>,
  options: WorldOptions = {},
): void {
  Deno.test(name, async () => {
    const world = await createWorld(options);
    try {
      await run(world);
      assertEquals(world.events.filter(({ event }) => event === "fault"), []);
    } finally {
      await world.close();
    }
  });
}

export async function refused(code: ErrorCode, call: Promise<unknown>): Promise<CallRefused> {
  const error = await assertRejects(() => call, CallRefused);
  assertEquals(error.body.code, code, error.message);
  return error;
}

export interface Pair {
  readonly alice: Actor;
  readonly bob: Actor;
  readonly channelId: ChannelId;
}

/** Alice has made a channel and added Bob, who has taken his Welcome: epoch 1. */
export async function createPair(world: World): Promise<Pair> {
  const alice = await Actor.connect(world, 1);
  const bob = await Actor.connect(world, 2);
  const channelId = await alice.createChannel();
  await alice.commit(channelId, 0, { added: [bob.agentId] });
  await bob.acknowledge(channelId, 1);
  return { alice, bob, channelId };
}

/** The same, and both read. */
export async function createReadingPair(world: World): Promise<Pair> {
  const pair = await createPair(world);
  await pair.alice.subscribe(pair.channelId);
  await pair.bob.subscribe(pair.channelId);
  return pair;
}

/** Alice owns, bob and carol read: epoch 2. */
export async function createTrio(world: World): Promise<Pair & { readonly carol: Actor }> {
  const pair = await createReadingPair(world);
  const carol = await Actor.connect(world, 3);
  const { sequence } = await pair.alice.commit(pair.channelId, 1, { added: [carol.agentId] });
  await carol.acknowledge(pair.channelId, sequence);
  await carol.subscribe(pair.channelId);
  return { ...pair, carol };
}
