/**
 * Stands for a harness that is woken: `static channel on-message … -- harness.ts`. It gets a prompt
 * without the message, starts `static mcp` as its configuration says, has its model call `wait`,
 * and answers. The first time it fails, as a harness may.
 */
import { McpSession } from "./session.ts";

const [record = "", marker = ""] = Deno.args;
const channel = Deno.env.get("STATIC_CHANNEL") ?? "";
const isFirst = await Deno.writeTextFile(marker, "", { createNew: true }).then(
  () => true,
  () => false,
);
if (isFirst) Deno.exit(1);
const session = await McpSession.open({
  words: ["--agent", "bot"],
  env: Deno.env.toObject(),
  record,
  mode: "auto",
});
const { messages } = await session.call("wait", { seconds: 5, channels: [channel] });
for (const { id, text, from } of messages) {
  await session.call("send", { channel, text: `heard ${text}`, to: [from.agent_id], reply_to: id });
}
await session.call("wait", { seconds: 0 });
await session[Symbol.asyncDispose]();
