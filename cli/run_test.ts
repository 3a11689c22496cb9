import { assertEquals } from "@std/assert";
import { startCli } from "./testing/test_host.ts";

Deno.test("a variable that no part knows is refused without its value, and help is shown all the same", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const variables = { [["STATIC", "API_ULR"].join("_")]: "canary" };
    const { code, stdout, stderr } = await startCli(["trust", "list"], { folder, variables }).done;
    assertEquals([code, stdout], [2, ""]);
    assertEquals(
      stderr,
      `error: ${
        Object.keys(variables)[0]
      } is not a variable of Static. The nearest is STATIC_API_URL. Correct the name, or unset it\n`,
    );
    assertEquals((await startCli(["trust", "list", "--help"], { folder, variables }).done).code, 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
