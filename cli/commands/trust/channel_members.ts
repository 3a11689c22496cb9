/** `channel members`: who is in a channel, and those that are in it by a badge that is over. */
import { agentInWords, ownersInWords } from "../../../proto/mod.ts";
import type { Channel, ChannelMember } from "../../../sdk/mod.ts";
import { agentFlag } from "../../agent.ts";
import type { Command, Context } from "../../command.ts";
import { badInput } from "../../failure.ts";
import { table } from "../../output.ts";
import { confirm } from "../../prompt.ts";
import { isoTime } from "../../texts/amounts.ts";
import {
  heardText,
  memberFields,
  memberName,
  memberRoles,
  onlineText,
  policyLines,
} from "../../texts/channel_texts.ts";
import { nameArgument, withChannel, yesFlag } from "../channel.ts";

export const listMembers: Command = {
  path: "channel members",
  summary: "list the members of a channel, from this agent's own state",
  details: [
    "In a channel that requires badges a member whose badge is over stays until an owner removes it: --expired lists these,",
    "by this machine's clock, and --remove removes them. ONLINE is what the relay says, which may say anything; HEARD is what",
    "this agent has verified itself: a message of the member, or its signed word about the group.",
  ],
  arguments: [nameArgument],
  flags: [
    { name: "expired", summary: "only members that are in it by a badge that is over" },
    { name: "remove", summary: "with --expired: remove them, all in one step; it asks first" },
    yesFlag,
    agentFlag,
  ],
  examples: [
    { command: "channel members acme/ops/deploy", what: "" },
    { command: "channel members acme/ops/deploy --expired --remove", what: "" },
  ],
  run: async (context) => {
    const { given } = context;
    if (given.has("remove") && !given.has("expired")) {
      throw badInput("--remove goes with --expired", "To remove a member: {} channel remove");
    }
    await withChannel(context, async (channel) => {
      if (!given.has("expired")) return await showMembers(context, channel, channel.members());
      const nowMs = context.platform.nowMs();
      const expired = channel.members().filter(({ badgeEndsMs = nowMs }) => badgeEndsMs < nowMs);
      if (given.has("remove")) await removeAll(context, channel, expired);
      else await showMembers(context, channel, expired);
    });
  },
};

async function showMembers(
  { output, platform }: Context,
  channel: Channel,
  members: readonly ChannelMember[],
): Promise<void> {
  const presence = await output.progress("asking the relay who is there", channel.presence());
  const online = new Map(presence.map((each) => [each.agentId, each.online]));
  const shown = members.map((member) => ({
    ...memberFields(member),
    relay_says_online: online.get(member.agentId),
  }));
  const policy = channel.policy();
  const isOpen = policy.admission === "members" && policy.posting === "members";
  await output.result({ channel: channel.name, policy, members: shown }, [
    `${channel.name} — anyone can choose this name. Owners: ${ownersInWords(channel.members())}`,
    ...table([
      ["AGENT ID", "WHO", "ONLINE", "HEARD"].map((title) => output.paint("dim", title)),
      ...members.map((member) => [
        member.agentId,
        agentInWords(member),
        onlineText(online.get(member.agentId)),
        heardText(member, platform.nowMs()),
        memberRoles(member, platform.nowMs()),
      ]),
    ]),
    ...(isOpen ? [] : ["", ...policyLines(policy)]),
  ]);
}

/** In one commit. This agent stays: it cannot remove itself. */
async function removeAll(
  context: Context,
  channel: Channel,
  expired: readonly ChannelMember[],
): Promise<void> {
  const { output } = context;
  const others = expired.filter(({ self }) => !self);
  const lines = others.map((member) => `${memberName(member)}, since ${endOf(member)}`);
  if (others.length > 0) {
    await output.note("The badges are over of:", ...lines);
    await confirm(context, `Remove ${countOf(others)} from ${channel.name}?`);
    const remove = others.map(({ agentId }) => agentId);
    await output.progress("removing them", channel.setIssuers(undefined, { remove }));
  }
  await output.result({ channel: channel.name, removed: others.map(memberFields) }, [
    others.length === 0
      ? `No other member of ${channel.name} is in it by a badge that is over`
      : `${output.paint("green", "✓")} Removed ${countOf(others)} from ${channel.name}`,
  ]);
}

function countOf({ length }: readonly unknown[]): string {
  return length === 1 ? "1 member" : `${length} members`;
}

function endOf({ badgeEndsMs = 0 }: ChannelMember): string {
  return isoTime(badgeEndsMs);
}
