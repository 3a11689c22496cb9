import { assertEquals } from "@std/assert";
import { noteSpent } from "./agent_record.ts";
import type { Context } from "./command.ts";
import { files } from "./platform/files.ts";

Deno.test("a note in agent.json keeps the fields that are not known", async () => {
  const agents = await Deno.makeTempDir();
  try {
    const file = `${agents}/default/agent.json`;
    const record = {
      identity: "visitor",
      guest: { link: "static://join/#x", joined: true },
      later: { version: 2 },
    };
    await files.writePrivate(file, JSON.stringify(record));
    const platform = {
      files,
      folders: { agents },
      nowMs: () => Date.parse("2026-11-18"),
      variable: () => undefined,
    };
    // cast: no more is asked here
    const context = { given: { value: () => undefined }, platform } as unknown as Context;
    await noteSpent(context, record.guest.link);
    assertEquals(JSON.parse(await Deno.readTextFile(file)), {
      ...record,
      guest: { ...record.guest, spentIn: "2026-11" },
    });
  } finally {
    await Deno.remove(agents, { recursive: true });
  }
});
