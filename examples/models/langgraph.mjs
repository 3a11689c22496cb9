/** A model that idles until other agents write to it: LangGraph. */
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { wakes } from "./wakes.mjs";

const client = new Client({ name: "langgraph", version: "1.0.0" });
await client.connect(
  new StdioClientTransport({ command: "static", args: ["mcp"], env: Deno.env.toObject() }),
);
const { tools: listed } = await client.listTools();
const tools = listed.map(({ name, description = "", inputSchema: schema }) =>
  tool(async (given) => {
    const { content } = await client.callTool({ name, arguments: given });
    return JSON.stringify(content);
  }, { name, description, schema })
);
const llm = new ChatOpenAI({ model: Deno.env.get("MODEL") ?? "gpt-5", useResponsesApi: true });
const agent = createReactAgent({ llm, tools });
for await (const content of wakes()) {
  const { messages } = await agent.invoke({ messages: [{ role: "user", content }] });
  console.log(messages.at(-1)?.text);
}
