/**
 * Owners and policy of a channel: `channel promote`, `demote`, `policy`; and whose keys are fresh:
 * `channel rotate`.
 */
import type { Channel, PolicyScope, Promotion } from "../../sdk/mod.ts";
import { agentFlag } from "../agent.ts";
import type { Command, Context } from "../command.ts";
import { badInput } from "../failure.ts";
import { memberFields, memberName, policyLines } from "../texts/channel_texts.ts";
import { memberArgument, nameArgument, withChannel } from "./channel.ts";

export const promoteMember: Command = {
  path: "channel promote",
  summary: "make a member an owner of a channel, or a guest a member",
  details: [
    "Only owners can do this. Owners remove members, promote and demote owners, and set the policy. With two owners the",
    "channel still has one when an agent is lost. An agent that came by a guest link lets nobody in, whichever key it uses,",
    "until it is promoted.",
  ],
  arguments: [nameArgument, memberArgument],
  flags: [
    {
      name: "to",
      value: "WHAT",
      summary: "owner (if not given), or member: a guest becomes a member like the others",
    },
    agentFlag,
  ],
  examples: [
    { command: "channel promote acme/ops/deploy 9f0kQ1mJ2vXr7LwT1bYgZk", what: "" },
    {
      command: "channel promote acme/ops/deploy 9f0kQ1mJ2vXr7LwT1bYgZk --to member",
      what: "no longer a guest",
    },
  ],
  run: async (context) => {
    const to = promotionOf(context);
    const verb = to === "owner" ? "owns" : "is no guest in";
    const promote = (channel: Channel, agentId: string): Promise<void> =>
      channel.promote(agentId, { to });
    await changeOwners(context, "promoting the member", verb, promote);
  },
};

function promotionOf({ given }: Context): Promotion {
  const value = given.value("to") ?? "owner";
  if (value === "owner" || value === "member") return value;
  throw badInput(`--to must be "owner" or "member", not "${value}"`, "");
}

export const demoteMember: Command = {
  path: "channel demote",
  summary: "make an owner of a channel an ordinary member",
  details: ["Only owners can do this, also for themselves. The last owner cannot be demoted."],
  arguments: [nameArgument, memberArgument],
  flags: [agentFlag],
  examples: [{ command: "channel demote acme/ops/deploy 9f0kQ1mJ2vXr7LwT1bYgZk", what: "" }],
  run: (context) =>
    changeOwners(
      context,
      "demoting the owner",
      "no longer owns",
      (channel, agentId) => channel.demote(agentId),
    ),
};

export const rotateKeys: Command = {
  path: "channel rotate",
  summary: "change this agent's keys in a channel now",
  details: [
    "Copies of the old keys cannot read later messages. This happens automatically about once a day. The signing key, from",
    "which the agent id is derived, stays. If it was stolen, an owner must remove the agent, and a new agent joins.",
  ],
  arguments: [nameArgument],
  flags: [agentFlag],
  examples: [{ command: "channel rotate acme/ops/deploy", what: "" }],
  run: (context) =>
    withChannel(context, async (channel) => {
      const { output } = context;
      await output.progress("changing the keys", channel.rotate());
      await output.result({ channel: channel.name, rotated: true, epoch: channel.health().epoch }, [
        `${output.paint("green", "✓")} This agent has new keys in ${channel.name}`,
      ]);
    }),
};

const scopes: readonly PolicyScope[] = ["members", "owners"];

export const showPolicy: Command = {
  path: "channel policy",
  summary: "show or change the rules for admitting agents and for posting",
  details: [
    "Without flags it shows the policy. Only owners can change it; every member enforces it. Members that may not post can",
    "still read everything.",
  ],
  arguments: [nameArgument],
  flags: [
    {
      name: "admission",
      value: "WHO",
      summary: "which members may add and invite: members (all) or owners",
    },
    { name: "posting", value: "WHO", summary: "which members may post: members (all) or owners" },
    agentFlag,
  ],
  examples: [
    { command: "channel policy acme/ops/deploy", what: "" },
    { command: "channel policy acme/ops/deploy --posting owners", what: "only owners post" },
  ],
  run: async (context) => {
    const [admission, posting] = [scopeOf(context, "admission"), scopeOf(context, "posting")];
    const wanted = {
      ...(admission !== undefined && { admission }),
      ...(posting !== undefined && { posting }),
    };
    await withChannel(context, async (channel) => {
      const { output } = context;
      if (Object.keys(wanted).length > 0) {
        await output.progress("changing the policy", channel.setPolicy(wanted));
      }
      const policy = channel.policy();
      await output.result({ channel: channel.name, policy }, policyLines(policy));
    });
  },
};

function scopeOf({ given }: Context, flag: string): PolicyScope | undefined {
  const value = given.value(flag);
  if (value === undefined) return undefined;
  const scope = scopes.find((each) => each === value);
  if (scope === undefined) {
    throw badInput(`--${flag} must be "members" or "owners", not "${value}"`, "");
  }
  return scope;
}

async function changeOwners(
  context: Context,
  progress: string,
  verb: string,
  act: (channel: Channel, agentId: string) => Promise<void>,
): Promise<void> {
  await withChannel(context, async (channel) => {
    const { given, output } = context;
    const member = channel.member(given.value("MEMBER") ?? "");
    await output.progress(progress, act(channel, member.agentId));
    const changed = channel.members().find(({ agentId }) => agentId === member.agentId) ?? member;
    await output.result({ channel: channel.name, member: memberFields(changed) }, [
      `${output.paint("green", "✓")} ${memberName(member)} ${verb} ${channel.name}`,
    ]);
  });
}
