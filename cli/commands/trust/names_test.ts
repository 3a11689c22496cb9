import { assertEquals } from "@std/assert";
import { startCli } from "../../testing/test_host.ts";

Deno.test("commands that change trust.json keep the fields that they do not know", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const [file, agentId] = [`${folder}/config/static/trust.json`, "c".repeat(22)];
    await Deno.mkdir(`${folder}/config/static`, { recursive: true });
    await Deno.writeTextFile(file, JSON.stringify({ version: 2, countries: ["fr"] }));
    const namesAfter = async (...argv: string[]): Promise<unknown> => {
      const { code, stderr } = await startCli(["trust", ...argv], { folder }).done;
      assertEquals(code, 0, stderr);
      const { names, ...others } = JSON.parse(await Deno.readTextFile(file));
      assertEquals(others, { version: 2, countries: ["fr"], domains: {}, mail_domains: [] });
      return names;
    };
    assertEquals(await namesAfter("name", agentId, "Carol", "--yes"), { [agentId]: "Carol" });
    assertEquals(await namesAfter("remove", "Carol"), {});
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
