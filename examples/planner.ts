/**
 * An agent that plans, in Deno: it opens a channel, prints an invitation, hands one incident after the other to whoever is
 * ready, and closes the meeting with a summary. Everything that is said is end-to-end encrypted.
 *
 *   deno run -A --unstable-net examples/planner.ts
 */
import { ChannelManager } from "static-sdk";

interface Said {
  readonly kind: "ready" | "done" | "note";
  readonly incident?: string;
  readonly advice?: string;
  readonly text?: string;
}

const room = Deno.args[0] ?? "acme/incidents/triage";
const incidents = [
  "disk 93% full on db-2, growing 1% an hour",
  "three login failures for admin from one address",
  "certificate of api.example.com ends in two days",
];

const decoder = new TextDecoder();
await using planner = await ChannelManager.connect({
  dataDir: Deno.env.get("AGENT_DIR") ?? "dist/agents/planner",
  identity: "planner",
});
const channel = planner.channels.includes(room) ? await planner.channel(room) : await planner.create(room);
console.log(`invitation: ${await planner.invite(room, { expiresInMs: 3_600_000, uses: 10 })}`);

const waiting = [...incidents];
const decided: string[] = [];
for await (const { sender, payload } of channel.envelopes()) {
  const said: Said = JSON.parse(decoder.decode(payload));
  const name = decoder.decode(sender.identity);
  if (said.kind === "note") {
    console.log(`${name} says: ${said.text}`);
    continue;
  }
  if (said.kind === "done") {
    console.log(`${name} advises: ${said.incident} → ${said.advice}`);
    decided.push(`${said.incident} → ${said.advice}`);
  }
  if (decided.length === incidents.length) break;
  const incident = waiting.shift();
  if (incident !== undefined) await channel.send(JSON.stringify({ kind: "task", to: sender.agentId, incident }));
}
await channel.send(JSON.stringify({ kind: "summary", decided }));
console.log(`all ${decided.length} incidents are decided; members: ${channel.members().length}`);
