import { assertEquals, assertThrows } from "@std/assert";
import { bytes, concat, ping, preface } from "../../tests/support/http2/wire.ts";
import { ConnectionError } from "./errors.ts";
import { FrameReader } from "./frame_reader.ts";

Deno.test("FrameReader yields the same frames however the bytes are cut", () => {
  const stream = concat(
    preface,
    ping(new Uint8Array(8)),
    concat(bytes(0, 0, 3, 0, 1, 0, 0, 0, 5), bytes(7, 8, 9)),
  );
  for (let cut = 0; cut <= stream.length; cut++) {
    const frames: string[] = [];
    const reader = new FrameReader(
      ({ type, flags, streamId, bytes: from, start, end }) =>
        frames.push(`${type} ${flags} ${streamId} ${from.slice(start, end)}`),
      preface,
    );
    reader.receive(stream.subarray(0, cut));
    reader.receive(stream.subarray(cut));
    assertEquals(frames, ["6 0 0 0,0,0,0,0,0,0,0", "0 1 5 7,8,9"]);
  }
});

Deno.test("FrameReader refuses a frame by its header, before its payload came or room for it was made", () => {
  const reader = new FrameReader(() => {}, preface);
  reader.receive(preface);
  assertThrows(
    () => reader.receive(bytes(0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1)),
    ConnectionError,
    "16777215 bytes",
  );
});

Deno.test("FrameReader stops in the middle of a chunk when it is told to", () => {
  let frames = 0;
  const reader = new FrameReader(() => {
    frames++;
    reader.stop();
  }, preface);
  reader.receive(concat(preface, ping(new Uint8Array(8)), ping(new Uint8Array(8))));
  assertEquals(frames, 1);
});
