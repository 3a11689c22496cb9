import { assertEquals } from "@std/assert";
import { WaitingRoom } from "./waiting_room.ts";

Deno.test("WaitingRoom lets keys take turns, each in its own order", () => {
  const room = new WaitingRoom<string>({ perKey: 3, inAll: 10 });
  for (const guest of ["a1", "a2", "a3", "b1", "c1", "b2"]) room.enter(guest.charAt(0), guest);
  assertEquals(Array.from({ length: 7 }, () => room.next()), ["a1", "b1", "c1", "a2", "b2", "a3", undefined]);
  assertEquals(room.size, 0);
});

Deno.test("WaitingRoom refuses above its limits, for a key and for all", () => {
  const room = new WaitingRoom<number>({ perKey: 2, inAll: 3 });
  assertEquals([1, 2, 3].map((guest) => room.enter("a", guest)), [true, true, false]);
  assertEquals([1, 2].map((guest) => room.enter("b", guest)), [true, false]);
  room.next();
  assertEquals(room.enter("b", 2), true);
});
