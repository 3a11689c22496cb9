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
  const enters = (key: string, guest: number): boolean => room.enter(key, guest) !== undefined;
  assertEquals([1, 2, 3].map((guest) => enters("a", guest)), [true, true, false]);
  assertEquals([1, 2].map((guest) => enters("b", guest)), [true, false]);
  room.next();
  assertEquals(enters("b", 2), true);
});

Deno.test("WaitingRoom gives a guest that leaves neither a turn nor a place", () => {
  const room = new WaitingRoom<string>({ perKey: 2, inAll: 2 });
  const leave = room.enter("a", "a1");
  room.enter("a", "a2");
  assertEquals(room.enter("b", "b1"), undefined);
  leave?.();
  leave?.();
  assertEquals([room.size, room.enter("b", "b1") !== undefined], [1, true]);
  assertEquals(Array.from({ length: 3 }, () => room.next()), ["a2", "b1", undefined]);
});
