import { assertEquals } from "@std/assert";
import { ListenerWatch } from "./listener_watch.ts";

Deno.test("a listener that accepts is left alone; one that stops is reported once", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const dead = Promise.withResolvers<void>();
  let reports = 0;
  const watch = new ListenerWatch({
    host: "127.0.0.1",
    port: listener.addr.port,
    intervalMs: 50,
    onDead: () => {
      reports++;
      dead.resolve();
    },
  });
  for (let i = 0; i < 5; i++) {
    using _connection = await listener.accept();
    watch.accepted();
    assertEquals(reports, 0);
  }
  await dead.promise;
  assertEquals(reports, 1);
  watch.stop();
  listener.close();
});

Deno.test("a listener that accepts others is not dead, although the watch itself does not get in", async () => {
  // Nobody accepts here: the watch waits in the system's queue, as behind a flood.
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const dead = Promise.withResolvers<void>();
  const watch = new ListenerWatch({
    host: "127.0.0.1",
    port: listener.addr.port,
    intervalMs: 20,
    onDead: dead.resolve,
  });
  let isDead = false;
  void dead.promise.then(() => isDead = true);
  for (let turn = 0; turn < 40; turn++) {
    watch.accepted();
    await new Promise((resolve) => setTimeout(resolve, 5)); // wait: turns of the watch
  }
  assertEquals(isDead, false);
  // Nobody is accepted any more.
  await dead.promise;
  watch.stop();
  listener.close();
});
