import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { encodeFrame, type HostFrame, HostFrameReader, maxFrameBytes } from "./frames.ts";
import golden from "./testdata/frames.json" with { type: "json" };

function readAll(chunks: readonly Uint8Array[]): HostFrame[] {
  const reader = new HostFrameReader();
  return chunks.flatMap((chunk) => [...reader.push(chunk)]);
}

Deno.test("golden frames are encoded and decoded as they stand there", () => {
  for (const { name, header, bytes, frame } of golden.frames) {
    assertEquals(encodeFrame(JSON.parse(header), Uint8Array.fromHex(bytes)).toHex(), frame, name);
    const [decoded] = readAll([Uint8Array.fromHex(frame)]);
    assertEquals(decoded?.header, JSON.parse(header), name);
    assertEquals(decoded?.bytes.toHex(), bytes, name);
  }
});

Deno.test("FrameReader finds frames wherever the pieces are cut", () => {
  const all = Uint8Array.fromHex(golden.frames.map(({ frame }) => frame).join(""));
  const whole = readAll([all]);
  assertEquals(whole.length, golden.frames.length);
  for (const size of [1, 2, 3, 5, 7, 11, 64]) {
    const pieces = Array.from(
      { length: Math.ceil(all.length / size) },
      (_, i) => all.slice(i * size, (i + 1) * size),
    );
    assertEquals(readAll(pieces), whole, `pieces of ${size}`);
  }
});

Deno.test("FrameReader keeps what follows a frame, and gives nothing before a frame is complete", () => {
  const frame = encodeFrame({ id: 1 }, Uint8Array.of(1, 2, 3));
  const reader = new HostFrameReader();
  for (let cut = 0; cut < frame.length - 1; cut++) {
    assertEquals([...reader.push(frame.subarray(cut, cut + 1))], []);
  }
  const last = Uint8Array.from([...frame.subarray(-1), ...frame.subarray(0, 5)]);
  assertEquals([...reader.push(last)].length, 1);
  assertEquals([...reader.push(frame.subarray(5))].map(({ bytes }) => [...bytes]), [[1, 2, 3]]);
  assertEquals(reader.waiting, 0);
});

Deno.test("FrameReader refuses what is no frame", () => {
  for (const { name, frame } of golden.refused) {
    try {
      readAll([Uint8Array.fromHex(frame)]);
    } catch (error) {
      assertStringIncludes(String(error), "are not a frame", name);
      continue;
    }
    throw new Error(`${name} was taken`);
  }
});

Deno.test("a length alone reserves nothing", () => {
  const reader = new HostFrameReader();
  const before = Deno.memoryUsage().external;
  const claims = Array.from({ length: 50 }, () => new HostFrameReader());
  const length = new Uint8Array(8);
  new DataView(length.buffer).setUint32(0, maxFrameBytes, true);
  for (const claim of claims) assertEquals([...claim.push(length)], []);
  assertEquals([...reader.push(length)], []);
  assert(
    Deno.memoryUsage().external - before < maxFrameBytes,
    "50 frames of 8 MiB were only announced",
  );
});

Deno.test("encodeFrame() refuses what nobody would read", () => {
  assertThrows(() => encodeFrame({}, new Uint8Array(maxFrameBytes)), Error, "at most");
  assertThrows(() => encodeFrame({ text: "x".repeat(5 * 1024 * 1024) }), Error, "at most");
});
