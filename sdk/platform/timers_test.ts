import { assertEquals } from "@std/assert";
import { after } from "./timers.ts";

Deno.test("after() waits as long as it is told, also beyond what setTimeout takes, and can be cancelled", async () => {
  let ran = 0;
  const cancel = after(3_000_000_000, () => ran++);
  await new Promise<void>((resolve) => after(20, resolve));
  assertEquals(ran, 0);
  cancel();
});
