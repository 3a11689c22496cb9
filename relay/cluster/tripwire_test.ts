import { assertEquals } from "@std/assert";
import { Tripwire } from "./tripwire.ts";

const [ours, others] = [new Uint8Array([1]), new Uint8Array([2])];

function votes(...told: [relay: string, digest: Uint8Array][]): { stopped: number[]; differences: number } {
  const stopped: number[] = [];
  const tripwire = new Tripwire({
    relay: "me",
    digestAt: (position) => position === 128 ? ours : undefined,
    onDiffers: (position) => stopped.push(position),
  });
  for (const [relay, digest] of told) tripwire.take(relay, 128, digest);
  return { stopped, differences: tripwire.differences };
}

Deno.test("a relay whose copy differs stops, unless most agree with it", () => {
  assertEquals(votes(["me", ours], ["a", ours]), { stopped: [], differences: 0 });
  assertEquals(votes(["me", ours], ["a", others]).stopped, [128]);
  assertEquals(votes(["me", ours], ["a", ours], ["b", others]), { stopped: [], differences: 1 });
  assertEquals(votes(["me", ours], ["a", ours], ["b", others], ["c", others]).stopped, [128]);
});

Deno.test("a position that is not remembered is not judged", () => {
  const stopped: number[] = [];
  const tripwire = new Tripwire({ relay: "me", digestAt: () => undefined, onDiffers: (at) => stopped.push(at) });
  tripwire.take("a", 256, others);
  assertEquals(stopped, []);
});
