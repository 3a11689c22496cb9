import { assertEquals } from "@std/assert";
import { parseChannelId } from "../../../proto/mod.ts";
import type { RecordChange } from "../../store/mod.ts";
import { createPorts } from "./content_ports.ts";
import { ChannelQueue } from "./channel_queue.ts";
import { PositionRunner } from "./position_runner.ts";

const change = (id: string): RecordChange => ({
  type: "put",
  kind: "test",
  id,
  value: new Uint8Array(1),
});

Deno.test("a request is noted at once, in one write with what waits to be written", async () => {
  const channelId = parseChannelId("A".repeat(22));
  const writes: RecordChange[][] = [];
  const store = {
    batch: (changes: readonly RecordChange[]) => Promise.resolve(void writes.push([...changes])),
  };
  const progress = new PositionRunner(0, {
    channelId,
    store,
    alongside: () => [],
    position: () => ({ sequence: 5, epoch: undefined }),
    onDurable: () => Promise.resolve(),
    onNear: () => {},
    onFault: () => {},
    // Nothing ends a rest but somebody that waits.
    queue: new ChannelQueue(() => () => {}, () => {}),
  });
  // cast: of all of them, only these parts are used here
  const given = {
    membership: { channelId },
    health: {},
    progress: () => progress,
  } as unknown as Parameters<
    typeof createPorts
  >[0];
  const { writeAlong } = createPorts(
    given,
    { store } as unknown as Parameters<typeof createPorts>[1],
  ); // cast: as above
  progress.note([change("reply before")]);
  await writeAlong([change("attempt")]);
  assertEquals(writes.map((each) => each.map(({ id }) => id)), [[
    "reply before",
    "attempt",
    "position",
  ]]);
});
