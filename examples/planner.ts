/**
 * An agent that plans, in Deno: it opens a channel, prints an invitation, asks the worker about one
 * incident after the other, and closes the meeting with a summary. Everything that is said is
 * end-to-end encrypted.
 *
 *   deno run -A --unstable-net examples/planner.ts
 */
import {
  agentInWords,
  type Channel,
  ChannelManager,
  type ChannelMember,
  shown,
  StaticError,
} from "static-sdk";

const room = Deno.args[0] ?? "acme/incidents/triage";
const incidents = [
  "disk 93% full on db-2, growing 1% an hour",
  "three login failures for admin from one address",
  "certificate of api.example.com ends in two days",
];

async function workerIn(channel: Channel): Promise<ChannelMember> {
  // A name that its owner chose: enough among agents that were all invited by this one.
  const isWorker = ({ identity }: ChannelMember): boolean => identity === "worker";
  let member = channel.members().find(isWorker);
  while (member === undefined || !isWorker(member)) member = await channel.waitForMember();
  return member;
}

/**
 * A planner whose directory was deleted is another agent. Nobody lets it into the meeting before,
 * so it closes that one.
 */
async function openRoom({ client }: ChannelManager): Promise<Channel> {
  try {
    return await client.openChannel(room);
  } catch (error) {
    if (!(error instanceof StaticError) || error.code !== "name_taken") throw error;
    await client.closeChannel(room);
    return await client.openChannel(room);
  }
}

async function printNotes(channel: Channel): Promise<void> {
  for await (const note of channel.envelopes()) {
    console.log(
      `${note.sender.agentId} (${agentInWords(note.sender)}) says: ${shown(note.text())}`,
    );
  }
}

const planner = await ChannelManager.connect({
  dataDir: Deno.env.get("AGENT_DIR") ?? "dist/agents/planner",
  identity: "planner",
  closeOnSignals: true,
});
const channel = await openRoom(planner);
console.log(`invitation: ${await planner.invite(room, { expiresInMs: 3_600_000, uses: 10 })}`);
const notes = printNotes(channel);

const worker = await workerIn(channel);
const decided: string[] = [];
for (const incident of incidents) {
  // A worker that is offline gets it when it is back.
  const advice = (await channel.request({ json: { incident } }, { to: worker, timeoutMs: 600_000 }))
    .text();
  console.log(
    `${worker.agentId} (${agentInWords(worker)}) advises: ${incident} → ${shown(advice)}`,
  );
  decided.push(`${incident} → ${advice}`);
}
await channel.send({ json: { decided } });
console.log(`all ${decided.length} incidents are decided; members: ${channel.members().length}`);
await planner.close();
await notes;
