/**
 * Pushing Welcomes: each is found in the entry that carries it, sent until its agent acknowledges
 * the joining commit.
 */
import { encodeNotice, generationOf } from "../../../proto/mod.ts";
import type { BackgroundWork } from "../background.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import { covers } from "./agent.ts";
import type { Session } from "./session.ts";

/** One Welcome after the other, each when the link has room for it: they may be large. */
export function pushWelcomes(session: Session, background: BackgroundWork): void {
  const [channel] = session.welcomes;
  if (channel === undefined || !session.hasRoom) return;
  session.welcomes.delete(channel);
  background.run(
    "welcome",
    () => sendWelcomeTo(session, channel).finally(() => pushWelcomes(session, background)),
  );
}

async function sendWelcomeTo(session: Session, channel: LoadedChannel): Promise<void> {
  const { agent } = session;
  if (agent === undefined || !covers(agent, channel) || !channel.hasWelcomeFor(agent.agentId)) {
    return;
  }
  const { agentId } = agent;
  const sequence = channel.state.welcomes.get(agentId) ?? 0;
  const carrier = await channel.itemAt(sequence);
  const joinedSequence = channel.state.members.get(agentId)?.joinedSequence;
  if (carrier === undefined || joinedSequence === undefined || !channel.hasWelcomeFor(agentId)) {
    return;
  }
  // A newer one came meanwhile, perhaps into another membership: it is sent on its own.
  if (channel.state.welcomes.get(agentId) !== sequence) return;
  const { item } = carrier;
  const found = carrier.welcomes.get(agentId);
  if (found === undefined || item.kind === "gap") return;
  const { channelId, name } = channel;
  const { welcome, epoch, state, notices } = found;
  const { sender, timeMs } = item;
  const body = {
    channelId,
    sequence,
    epoch,
    sender,
    timeMs,
    welcome,
    name,
    joinedSequence,
    generation: generationOf(epoch),
    ...(state && { state }),
  };
  const requestId = channel.answered.get(agentId);
  if (requestId !== undefined) {
    return session.deliver(encodeNotice("DeliverWelcome", { ...body, requestId }));
  }
  // A Welcome is large, and may be for a thousand: all who joined together are sent the same bytes.
  const notice = notices.get(joinedSequence) ?? encodeNotice("DeliverWelcome", body);
  notices.set(joinedSequence, notice);
  session.deliver(notice);
}
