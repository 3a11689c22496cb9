import { assertEquals } from "@std/assert";
import { ClosedStreams, StreamEnd } from "./closed_streams.ts";

Deno.test("ClosedStreams tells how a stream ended, and forgets the oldest resets first", () => {
  const closed = new ClosedStreams();
  closed.opened(1);
  closed.opened(7);
  closed.reset(7, StreamEnd.resetByUs);
  assertEquals(
    [1, 3, 5, 7, 9, 4].map((id) => closed.endOf(id)),
    [
      StreamEnd.ended,
      StreamEnd.skipped,
      StreamEnd.skipped,
      StreamEnd.resetByUs,
      StreamEnd.idle,
      StreamEnd.idle,
    ],
  );
  for (let id = 9; id < 3_000; id += 2) {
    closed.opened(id);
    closed.reset(id, StreamEnd.resetByPeer);
  }
  assertEquals([closed.endOf(7), closed.endOf(2_999)], [StreamEnd.ended, StreamEnd.resetByPeer]);
});
