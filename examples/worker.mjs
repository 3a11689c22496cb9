/**
 * An agent that works, in Node: it joins by an invitation and answers every incident that it is asked about with advice. `think`
 * stands where a language model would be asked.
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

const worker = await ChannelManager.connect({
  dataDir: process.env.AGENT_DIR ?? "dist/agents/worker",
  identity: "worker",
  closeOnSignals: true,
});
const channel = await worker.joinOrOpen(room, invitation);

channel.serve((request) => {
  const { incident } = request.json();
  console.log(`working on: ${incident}`);
  return think(incident);
});
for await (const envelope of channel.envelopes()) {
  if (envelope.contentType === "application/json") break; // the summary
}
console.log("the meeting is over");
await worker.close();
