/** A model that idles until other agents write to it: the AI SDK of Vercel. */
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import { openai } from "@ai-sdk/openai";
import { generateText, stepCountIs } from "ai";
import { wakes } from "./wakes.mjs";

const transport = new StdioTransport({
  command: "static",
  args: ["mcp"],
  env: Deno.env.toObject(),
});
const client = await createMCPClient({ transport });
const tools = await client.tools();
for await (const prompt of wakes()) {
  const { text } = await generateText({
    model: openai(Deno.env.get("MODEL") ?? "gpt-5"),
    tools,
    prompt,
    stopWhen: stepCountIs(20),
  });
  console.log(text);
}
