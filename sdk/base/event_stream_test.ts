import { assertEquals } from "@std/assert";
import { EventStream, maxWaitingEvents } from "./event_stream.ts";

Deno.test("every listener hears everything from when it began, and the end", async () => {
  const stream = new EventStream<number>();
  stream.tell(0);
  const [first, second] = [stream.listen(), stream.listen()];
  stream.tell(1);
  const later = first.next().then(() => first.next());
  stream.tell(2);
  stream.end();
  assertEquals((await later).value, 2);
  assertEquals((await first.next()).done, true);
  assertEquals(await Array.fromAsync(second), [1, 2]);
});

Deno.test("a listener that falls behind loses the oldest and is told how many", async () => {
  const stream = new EventStream<number>();
  const listener = stream.listen();
  for (let i = 0; i < maxWaitingEvents + 3; i++) stream.tell(i);
  assertEquals((await listener.next()).value, { type: "missed", count: 3 });
  assertEquals((await listener.next()).value, 3);
});

Deno.test("a listener ends by its signal, while it waits and before it begins", async () => {
  const stream = new EventStream<number>();
  const stop = new AbortController();
  const waiting = stream.listen(stop.signal).next();
  stop.abort();
  assertEquals((await waiting).done, true);
  assertEquals((await stream.listen(stop.signal).next()).done, true);
});
