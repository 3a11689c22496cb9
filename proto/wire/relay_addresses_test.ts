import { assert, assertEquals } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import { groupByRelay, relaysOf, someRelays } from "./relay_addresses.ts";

Deno.test("relaysOf() takes a TCP address right behind a QUIC one for the same relay, and no other", () => {
  assertEquals(relaysOf(["quic://a:1", "https://a:2"]), [0, 0]);
  assertEquals(relaysOf(["QUIC://a", "grpc://b", "quic://c", "https://c", "https://d"]), [
    0,
    0,
    1,
    1,
    2,
  ]);
  assertEquals(relaysOf(["https://a", "https://b", "quic://c", "quic://d"]), [0, 1, 2, 3]);
  assertEquals(relaysOf([]), []);
  assertEquals(groupByRelay(["quic://a", "https://a", "https://b"]), [["quic://a", "https://a"], [
    "https://b",
  ]]);
});

Deno.test("someRelays() draws whole relays by chance and keeps their order", () => {
  const seed = seedFromEnvironment();
  const random = createRandom(seed);
  const fraction = (): number => random.uint32() / 2 ** 32;
  const all = Array.from({ length: 6 }, (_, index) => [`quic://r${index}:1`, `https://r${index}:2`])
    .flat();
  assertEquals(someRelays(all, { max: 12, random: fraction }), all);
  const seen = new Set<string>();
  for (let round = 0; round < 200; round++) {
    const some = someRelays(all, { max: 8, random: fraction });
    assertEquals(some.length, 8, `seed ${seed}`);
    assertEquals(some, all.filter((address) => some.includes(address)));
    assert(groupByRelay(some).every((group) => group.length === 2), `seed ${seed}`);
    for (const address of some) seen.add(address);
  }
  assertEquals(seen.size, all.length, `seed ${seed}`);
});
