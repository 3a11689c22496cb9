/**
 * Stands for a harness that is woken: `static wake exec -- harness.ts`, or `static channel
 * on-message … -- harness.ts`. It gets a prompt without the message, starts `static mcp` as its
 * configuration says, has its model call `wait`, and answers. With a marker it fails the first
 * time, as a harness may.
 */
import { McpSession } from "./session.ts";

const [record = "", marker] = Deno.args;
const only = Deno.env.get("STATIC_CHANNEL");
const isFirst = marker !== undefined &&
  await Deno.writeTextFile(marker, "", { createNew: true }).then(
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
const { messages } = await session.call("wait", { seconds: 5, channels: only && [only] });
for (const { id, channel, text, from } of messages) {
  await session.call("send", { channel, text: `heard ${text}`, to: [from.agent_id], reply_to: id });
}
await session.call("wait", { seconds: 0 });
await session[Symbol.asyncDispose]();
