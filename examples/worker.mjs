/**
 * An agent that works, in Node: it joins by an invitation, takes the incidents that are addressed to it, and answers each with
 * advice. `think` stands where a language model would be asked.
 *
 *   node worker.mjs <invitation>
 */
// deno-lint-ignore-file explicit-function-return-type
import process from "node:process";
import { ChannelManager } from "static-sdk";

const [invitation, room = "acme/incidents/triage"] = process.argv.slice(2);
if (invitation === undefined) {
  console.error("Usage: node worker.mjs <invitation> [channel]");
  process.exit(2);
}

function think(incident) {
  if (incident.includes("disk")) return "extend the volume today";
  if (incident.includes("login")) return "block the address and watch";
  return "renew it now, then automate it";
}

const decoder = new TextDecoder();
const worker = await ChannelManager.connect({
  dataDir: process.env.AGENT_DIR ?? "dist/agents/worker",
  identity: "worker",
});
const { agentId } = worker.client;
const channel = worker.channels.includes(room)
  ? await worker.channel(room)
  : await worker.joinWithToken(room, invitation);
await channel.send(JSON.stringify({ kind: "ready" }));

for await (const payload of channel.messages()) {
  const { kind, to, incident } = JSON.parse(decoder.decode(payload));
  if (kind === "summary") break;
  if (kind !== "task" || to !== agentId) continue;
  console.log(`working on: ${incident}`);
  await channel.send(JSON.stringify({ kind: "done", incident, advice: think(incident) }));
}
console.log("the meeting is over");
await worker.close();
