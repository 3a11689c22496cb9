// The examples' agents talk to each other, both in Deno; `examples_campaign.ts` has each in its own
// runtime.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { startStack } from "../support/stack.ts";
import { environmentOf, run, type Running, temporaryFolder } from "./programs.ts";

Deno.test("every example is shorter than 80 lines", () => {
  for (
    const path of [
      "planner.ts",
      "worker.mjs",
      "observer.py",
      "page/page.mjs",
      "page/serve.ts",
      "page/index.html",
    ]
  ) {
    const lines =
      Deno.readTextFileSync(new URL(`../../examples/${path}`, import.meta.url)).split("\n").length -
      1;
    assert(lines < 80, `examples/${path} has ${lines} lines`);
  }
});

Deno.test("planner and worker coordinate over one channel", async () => {
  await using stack = await startStack();
  await using folder = await temporaryFolder();
  const environment = environmentOf(stack);
  const inDeno = (file: string, args: readonly string[]): Running =>
    run(Deno.execPath(), ["run", "-A", "--no-check", `examples/${file}`, ...args], {
      ...environment,
      AGENT_DIR: `${folder.path}/${file}`,
    });
  const planner = inDeno("planner.ts", []);
  const [, invitation = ""] = await planner.printed(/invitation: (inv_\S+)/);
  const worker = inDeno("worker.mjs", [invitation]);
  assertEquals(await worker.ended(), 0, worker.output());
  assertEquals(await planner.ended(), 0, planner.output());
  assertEquals(worker.output().match(/working on/g)?.length, 3);
  assertMatch(planner.output(), /all 3 incidents are decided; members: 2/);
});
