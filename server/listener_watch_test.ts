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
    using connection = await listener.accept();
    watch.accepted(connection.remoteAddr.port);
    assertEquals(reports, 0);
  }
  await dead.promise;
  assertEquals(reports, 1);
  watch.stop();
  listener.close();
});
