import { assertEquals } from "@std/assert";
import {
  agentIdOf,
  binaryIdFromBytes,
  CellPacker,
  type ChannelId,
  encodeMessageAad,
  encodeNotice,
  encodeRequest,
  limits,
  type MessageId,
} from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { Group } from "./group.ts";
import { createCellPadding } from "./crypto/padding.ts";
import { World } from "./testing/world.ts";

const bob = agentIdOf(new Uint8Array(32), Uint8Array.of(1));
const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16));

Deno.test("messages up to a cell have one length, and so on cell by cell, sent and delivered", async () => {
  const world = new World(createRandom(1));
  const creator = await world.create();
  const padding = createCellPadding(limits.cellBytes);
  const group = Group.restore(creator.member.parts, { ...creator.deps, padding });
  const messageId = binaryIdFromBytes<MessageId>(new Uint8Array(16));
  const lengths = new Map<number, Set<number>>();
  for (const size of [0, 1, 63, 64, 1024, 3000, 3700, 4000, 8000, 20_000]) {
    const { epoch, message } = await group.seal(
      new Uint8Array(size),
      encodeMessageAad({ messageId, counter: 1 }),
    );
    const envelopes = [
      encodeRequest(1, "SendMessage", {
        channelId,
        epoch,
        messageId,
        ciphertext: message,
        run: 2 ** 32 - 1,
      }),
      encodeNotice("DeliverMessage", {
        channelId,
        sequence: 1,
        epoch,
        sender: bob,
        timeMs: 1,
        messageId,
        ciphertext: message,
      }),
    ];
    const cells = envelopes.map((envelope) => {
      const packer = new CellPacker(limits.cellBytes);
      packer.push("data", envelope);
      let count = 0;
      while (packer.next() !== undefined) count++;
      return count;
    });
    assertEquals(cells[0], cells[1]);
    lengths.set(cells[0] ?? 0, (lengths.get(cells[0] ?? 0) ?? new Set()).add(message.length));
  }
  assertEquals([...lengths.keys()], [1, 2, 3, 5]);
  for (const [cells, sizes] of lengths) {
    assertEquals(sizes.size, 1, `${cells} cells: ${[...sizes]}`);
  }
});
