import { assertEquals } from "@std/assert";
import { createRandom, type Random, seedFromEnvironment } from "../../tests/support/mod.ts";
import { CarriedKeys, keyIn, rowBytes, tagIn, tagOf } from "./carried_keys.ts";
import { kindPrefixBytes } from "./names.ts";
import { textOf } from "./record_index.ts";

const random: Random = createRandom(seedFromEnvironment());

function rowsOf(keys: CarriedKeys, rows = 1000): Map<string, string> {
  const found = new Map<string, string>();
  for (const part of keys.parts(rows)) {
    for (let at = 0; at < part.length; at += rowBytes) {
      const row = part.subarray(at, at + rowBytes);
      found.set(textOf(tagIn(row)), keyIn(row).toHex());
    }
  }
  return found;
}

Deno.test("carried keys are those of a map, whatever came and went, and nothing else is left in their memory", () => {
  const names = Array.from({ length: 300 }, () => textOf(random.bytes(kindPrefixBytes + 32)));
  const keys = new CarriedKeys();
  const expected = new Map<string, Uint8Array>();
  for (let step = 0; step < 5000; step++) {
    const text = random.pick(names);
    if (random.chance(step < 2500 ? 0.6 : 0.4)) {
      if (expected.has(text)) continue;
      const key = random.bytes(32);
      expected.set(text, key.slice());
      keys.add(text, key);
      key.fill(0);
    } else {
      expected.delete(text);
      keys.delete(text);
    }
    if (step % 100 > 0) continue;
    for (const name of names) {
      assertEquals(keys.get(name)?.toHex(), expected.get(name)?.toHex(), `seed ${random.seed}`);
    }
    const rows = new Map(Array.from(expected, ([name, key]) => [tagOf(name), key.toHex()]));
    assertEquals(
      new Map([...rowsOf(keys, 7)].sort()),
      new Map([...rows].sort()),
      `seed ${random.seed}`,
    );
    const [all = new Uint8Array(0)] = keys.parts(1000);
    const behind = new Uint8Array(all.buffer).subarray(all.length);
    assertEquals(
      behind.every((byte) => byte === 0),
      true,
      `seed ${random.seed}: dropped keys are wiped`,
    );
  }
});

Deno.test("none are one part without rows, and wiped are none", () => {
  const keys = new CarriedKeys();
  assertEquals(keys.parts(10).map(({ length }) => length), [0]);
  const text = textOf(random.bytes(kindPrefixBytes + 32));
  keys.add(text, random.bytes(32));
  const [row = new Uint8Array(0)] = keys.parts(10);
  keys.wipe();
  assertEquals([keys.get(text), row.every((byte) => byte === 0), rowsOf(keys).size], [
    undefined,
    true,
    0,
  ]);
});
