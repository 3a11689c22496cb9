import { assertEquals } from "@std/assert";
import { eventually } from "../../tests/support/mod.ts";
import { openTrust } from "./trust_file.ts";

Deno.test("names of trust.json count at once, and nobody is known by a file that cannot be used", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/trust.json`;
  const trust = openTrust(path);
  const agentId = "a".repeat(22);
  assertEquals(trust.names.size, 0);
  await Deno.writeTextFile(path, JSON.stringify({ names: { [agentId]: "Alice" } }));
  const named = (): Promise<string | undefined> => Promise.resolve(trust.names.get(agentId));
  await eventually({ what: "the name" }, named, (name) => name === "Alice");
  await Deno.writeTextFile(path, "{");
  trust.look();
  assertEquals(trust.names.size, 0);
  await Deno.remove(folder, { recursive: true });
});
