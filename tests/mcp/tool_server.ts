/**
 * An MCP server with tools that count, wait, die and misbehave: `tool_server.ts FOLDER`. The folder
 * has what they have done, and says what they shall do.
 */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const [folder = ""] = Deno.args;

async function note(name: string, text: string): Promise<void> {
  await Deno.writeTextFile(`${folder}/${name}`, `${text}\n`, { append: true });
}

async function isThere(name: string): Promise<boolean> {
  return await Deno.stat(`${folder}/${name}`).then(() => true, () => false);
}

/** Until the file is there. */
async function until(name: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !await isThere(name)) {
    // wait: between two looks at a condition
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function says(text: string): { content: [{ type: "text"; text: string }] } {
  return { content: [{ type: "text", text }] };
}

const added = await isThere("changed") ? "Adds, and tells others" : "Adds two numbers";
await note("started", `${Deno.env.get("STATIC_SENDER")}`);

serveStdio(() => {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  server.registerTool("add", {
    description: added,
    inputSchema: z.object({ one: z.number(), other: z.number() }),
    annotations: { readOnlyHint: true },
  }, ({ one, other }) => says(`${one + other}`));
  server.registerTool("who", { description: "Tells who calls" }, () => {
    const names = Object.keys(Deno.env.toObject()).filter((name) => name.startsWith("STATIC_"));
    return says(JSON.stringify({ caller: Deno.env.get("STATIC_SENDER"), names: names.sort() }));
  });
  for (const [name, idempotentHint] of [["deploy", false], ["look", true]] as const) {
    server.registerTool(name, {
      description: `Waits for the file go; ${name}`,
      annotations: { idempotentHint },
    }, async ({ mcpReq: { signal } }) => {
      await note(name, "began");
      await until("go", signal);
      await note(name, signal.aborted ? "cancelled" : "ended");
      return says(`${name} is done`);
    });
  }
  server.registerTool("die", { description: "Ends its server" }, () => Deno.exit(1));
  server.registerTool("big", { description: "Says two megabytes" }, () => says("x".repeat(2e6)));
  server.registerTool("noise", { description: "Prints what is no message" }, () => {
    console.log("no message\n{}\n[1]\n" + JSON.stringify({ jsonrpc: "2.0", id: 99, result: {} }));
    return says("quiet again");
  });
  server.registerTool("fails", { description: "Fails" }, () => {
    throw new Error("out of order");
  });
  return server;
});
