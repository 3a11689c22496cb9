/**
 * Several messages in one: charged by their number, bounded before that, and not overtaken when
 * they are refused.
 */
import { assertEquals } from "@std/assert";
import {
  binaryIdToBytes,
  encodeMessageAad,
  type MessageAad,
  type RequestBody,
} from "../../../proto/mod.ts";
import { createPrivateMessage } from "../../../tests/support/mod.ts";
import { type Actor, messageRequest } from "../testing/actors.ts";
import { createPair, refused, worldTest } from "../testing/scene.ts";

type SendMessage = RequestBody<"SendMessage">;

function bundle(
  channelId: SendMessage["channelId"],
  number: number,
  { bytes = 40, run, ...aad }: Partial<MessageAad> & {
    readonly bytes?: number;
    readonly run?: number;
  },
): SendMessage {
  const { ciphertext: _, ...request } = messageRequest(channelId, 1, number);
  const ciphertext = createPrivateMessage({
    groupId: binaryIdToBytes(channelId),
    epoch: 1,
    contentType: 1,
    authenticatedData: encodeMessageAad({ messageId: request.messageId, counter: 1, ...aad }),
    ciphertext: new Uint8Array(bytes),
  });
  return { ...request, ciphertext, ...(run !== undefined && { run }) };
}

function send({ client }: Actor, request: SendMessage): ReturnType<Actor["send"]> {
  return client.call("SendMessage", request);
}

worldTest("a bundle is charged by its number, whole or not at all, and once", async (world) => {
  const { alice, channelId } = await createPair(world);
  world.quota.left = 10;
  await send(alice, bundle(channelId, 1, { count: 7 }));
  assertEquals(world.quota.left, 3);
  await refused("quota_exceeded", send(alice, bundle(channelId, 2, { count: 4 })));
  assertEquals(world.quota.left, 3);
  assertEquals((await send(alice, bundle(channelId, 1, { count: 7 }))).duplicate, true);
  await send(alice, bundle(channelId, 3, { count: 3 }));
  assertEquals(world.quota.left, 0);
});

worldTest(
  "a number that cannot be, and a bundle of more than four cells, are refused before they are charged",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    world.quota.left = 100;
    for (const count of [0, 65, 65_535]) {
      await refused("invalid_request", send(alice, bundle(channelId, 1, { count })));
    }
    await refused(
      "payload_too_large",
      send(alice, bundle(channelId, 1, { count: 2, bytes: 16 * 1024 })),
    );
    assertEquals(world.quota.left, 100);
    await send(alice, bundle(channelId, 1, { count: 1, bytes: 16 * 1024 }));
    await send(alice, bundle(channelId, 2, { count: 64, bytes: 15 * 1024 }));
    assertEquals(world.quota.left, 35);
  },
);

worldTest("nothing of a run overtakes a bundle that was refused in it", async (world) => {
  const { alice, bob, channelId } = await createPair(world);
  world.quota.left = 3;
  await send(alice, bundle(channelId, 1, { count: 2, run: 1 }));
  await refused("quota_exceeded", send(alice, bundle(channelId, 2, { count: 2, run: 1 })));
  await refused("quota_exceeded", send(alice, bundle(channelId, 3, { count: 1, run: 1 })));
  assertEquals((await send(alice, bundle(channelId, 1, { count: 2, run: 1 }))).duplicate, true);
  await send(bob, bundle(channelId, 4, { count: 1, run: 0 }));
  world.quota.left = 2;
  await send(alice, bundle(channelId, 3, { count: 1, run: 2 }));
  await send(alice, bundle(channelId, 5, { count: 1, run: 2 }));
});

worldTest(
  "the last counter of a bundle and the number of its key are what its sender is told",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    const { sequence } = await send(
      alice,
      bundle(channelId, 1, { counter: 5, count: 4, keyNumber: 2 }),
    );
    const { sent } = await alice.subscribe(channelId);
    assertEquals(sent, { sequence, epoch: 1, counter: 8, keyNumber: 2 });
  },
);
