import { assert, assertEquals } from "@std/assert";
import { childProcessorTime } from "./processor_time.ts";

const stat = (user: number, system: number): string =>
  `7 (a name) with) R 1 7 7 0 -1 4194304 9 9 0 0 500 600 ${user} ${system} 20 0 1 0 9 9 9`;

Deno.test("childProcessorTime() counts children's user and system time since the last call, whatever the process is called", () => {
  const texts = [stat(100, 50), stat(100, 50), stat(160, 90)];
  const spent = childProcessorTime(() => texts.shift() ?? "");
  assertEquals([spent(), spent(), spent()], [1.5, 0, 1]);
});

Deno.test("childProcessorTime() tells nothing where the system tells nothing", () => {
  assertEquals(childProcessorTime(() => "")(), undefined);
  assertEquals(
    childProcessorTime(() => {
      throw new Deno.errors.NotFound();
    })(),
    undefined,
  );
});

Deno.test({
  name: "childProcessorTime() sees a child that computes",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const spent = childProcessorTime();
    spent();
    // Of its own processor time: on a busy machine it may have little of the time that passes.
    const busy = "while (process.cpuUsage().user < 200_000);";
    await new Deno.Command(Deno.execPath(), { args: ["eval", busy] }).output();
    assert((spent() ?? 0) > 0.05);
  },
});
