/** Pushing a Welcome: found in the entry that carries it, sent until its agent acknowledges the joining commit. */
import type { AgentId } from "../../proto/mod.ts";
import type { Entry } from "../engine/engine.ts";
import type { Channel } from "./channel.ts";
import { decodeCommitBody, decodeWelcomeBody } from "./entry_body.ts";
import type { Session } from "./session.ts";

export async function sendWelcomeTo(session: Session, channel: Channel): Promise<void> {
  const agentId = session.agent?.agentId;
  if (agentId === undefined || !channel.hasWelcomeFor(agentId)) return;
  const sequence = channel.state.welcomes.get(agentId) ?? 0;
  const entry = await channel.entryAt(sequence);
  const member = channel.state.members.get(agentId);
  if (entry === undefined || member === undefined || !channel.hasWelcomeFor(agentId)) return;
  // A newer one came meanwhile, perhaps into another membership: it is sent on its own.
  if (channel.state.welcomes.get(agentId) !== sequence) return;
  const found = welcomeIn(entry, agentId);
  if (found === undefined) return;
  const requestId = channel.answered.get(agentId);
  session.notify("DeliverWelcome", {
    channelId: channel.channelId,
    sequence: entry.sequence,
    epoch: found.epoch,
    sender: entry.sender,
    timeMs: entry.timeMs,
    welcome: found.welcome,
    name: channel.name,
    ...(requestId !== undefined && { requestId }),
    joinedSequence: member.joinedSequence,
  });
}

/** `epoch` is the one into which it welcomes. */
function welcomeIn(entry: Entry, agentId: AgentId): { welcome: Uint8Array; epoch: number } | undefined {
  if (entry.kind === "welcome") {
    const { welcome, epoch, recipients } = decodeWelcomeBody(entry.body);
    return recipients.includes(agentId) ? { welcome, epoch } : undefined;
  }
  if (entry.kind !== "commit") return undefined;
  const found = decodeCommitBody(entry.body).welcomes.find(({ recipients }) => recipients.includes(agentId));
  return found && { welcome: found.welcome, epoch: entry.epoch + 1 };
}
