import { assertEquals } from "@std/assert";
import { Writers } from "./writers.ts";

Deno.test("batches of a writer count once, in their order, and not without their predecessor", () => {
  const writers = new Writers();
  const take = (number: number, writer = "w"): string =>
    writers.take({ writer, relay: "r", number }, 1);
  assertEquals(take(2), "fenced");
  assertEquals([1, 1, 3, 2, 3, 2].map((number) => take(number)), [
    "counts",
    "late",
    "void",
    "counts",
    "counts",
    "late",
  ]);
  assertEquals(take(1, "other"), "counts");
  assertEquals(take(4), "counts");
});

Deno.test("a writer that was given up writes no more, in this copy and in one that is made of it", () => {
  const writers = new Writers();
  for (const writer of ["old", "new"]) writers.take({ writer, relay: "r", number: 1 }, 1);
  writers.take({ writer: "other", relay: "s", number: 1 }, 1);
  writers.giveUp("r", 5, "new");
  for (const each of [writers, new Writers(writers, writers.endings)]) {
    // A late copy of its first batch does not bring it back.
    assertEquals(each.take({ writer: "old", relay: "r", number: 1, began: 0 }, 6), "fenced");
    assertEquals(each.take({ writer: "next", relay: "r", number: 1, began: 5 }, 6), "counts");
    assertEquals(each.take({ writer: "old", relay: "r", number: 2 }, 2), "fenced");
    assertEquals(each.take({ writer: "new", relay: "r", number: 2 }, 2), "counts");
    assertEquals(each.take({ writer: "other", relay: "s", number: 2 }, 2), "counts");
  }
});

Deno.test("a relay has written behind a position when one of its lives has a batch there that counts", () => {
  const writers = new Writers();
  writers.take({ writer: "w", relay: "r", number: 1 }, 10);
  writers.take({ writer: "w", relay: "r", number: 3 }, 20);
  assertEquals([9, 10].map((position) => writers.hasWritten("r", position)), [true, false]);
  writers.take({ writer: "w", relay: "r", number: 2 }, 21);
  assertEquals([20, 21].map((position) => writers.hasWritten("r", position)), [true, false]);
  assertEquals(writers.hasWritten("s", 0), false);
});
