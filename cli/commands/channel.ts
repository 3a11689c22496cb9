/**
 * Channels and who is in them: `channel create`, `list`, `remove`, `fingerprint`,
 * `leave`, `close`.
 */
import { parseChannelName, quoted } from "../../proto/mod.ts";
import type { Channel } from "../../sdk/mod.ts";
import { agentFlag, inChannelAlready, withAgent } from "../agent.ts";
import { agentName } from "../agent_record.ts";
import { memberFields, memberName } from "../texts/channel_texts.ts";
import type { ArgumentSpec, Command, Context, FlagSpec } from "../command.ts";
import { badInput, Failure } from "../failure.ts";
import type { CommandAgent } from "../agent_access.ts";
import { confirm } from "../prompt.ts";
import { waitUntil } from "../wait_until.ts";

export const nameArgument: ArgumentSpec = {
  name: "NAME",
  summary: "channel name, org/namespace/service: lowercase letters, digits, hyphens",
  check: parseChannelName,
};

export const memberArgument: ArgumentSpec = {
  name: "MEMBER",
  summary: "agent id of the member, your own name for it, or NAME@DOMAIN of an attested one",
};

export const yesFlag: FlagSpec = { name: "yes", summary: "do not ask for confirmation" };
export const catchUpMs = 15_000;

export const createChannel: Command = {
  path: "channel create",
  summary: "create an encrypted channel, with this agent as its owner",
  arguments: [nameArgument],
  flags: [
    {
      name: "post-quantum",
      value: "MODE",
      summary: "prefer: agents of other makers may come in without post-quantum keys; else require",
    },
    agentFlag,
  ],
  examples: [{ command: "channel create acme/ops/deploy", what: "" }],
  run: (context) => {
    const postQuantum = context.given.value("post-quantum") ?? "require";
    if (postQuantum !== "require" && postQuantum !== "prefer") {
      throw badInput(`--post-quantum is require or prefer, and not ${quoted(postQuantum)}`);
    }
    return withAgent(context, async (client) => {
      const { platform, output } = context;
      const entering = client.enter("create", { channel: nameOf(context), postQuantum });
      const creating = entering.catch((error) => {
        throw inChannelAlready(error, context) ?? isTaken(error, context, client) ?? error;
      });
      const channel = await output.progress("creating the channel", creating);
      await output.result({ channel: channel.name, id: channel.id, agent_id: client.agentId }, [
        `${output.paint("green", "✓")} Channel ${channel.name} created`,
      ]);
      const next = `${platform.program} channel invite ${channel.name}${agentWords(context)}`;
      await output.note("", "Invite an agent:", `  ${output.command(next)}`);
    });
  },
};

export const listChannels: Command = {
  path: "channel list",
  summary: "list the channels that this agent is in",
  flags: [agentFlag],
  examples: [{ command: "channel list", what: "" }],
  run: (context) =>
    withAgent(context, async ({ channels, welcomes, agentId }) => {
      const names = [...channels].sort();
      await context.output.result({ channels: names, welcomes, agent_id: agentId }, names);
      if (names.length === 0) await context.output.note("This agent is in no channel");
    }),
};

export const removeMember: Command = {
  path: "channel remove",
  summary: "remove a member: it cannot read messages sent from now on",
  details: ["Only owners of the channel can do this."],
  arguments: [nameArgument, memberArgument],
  flags: [agentFlag],
  examples: [{ command: "channel remove acme/ops/deploy 9f0kQ1mJ2vXr7LwT1bYgZk", what: "" }],
  run: (context) =>
    withChannel(context, async (channel) => {
      const { given, output } = context;
      const member = channel.member(given.value("MEMBER") ?? "");
      await output.progress("removing the member", channel.removeMember(member.agentId));
      await output.result({ channel: channel.name, removed: memberFields(member) }, [
        `${output.paint("green", "✓")} ${memberName(member)} is no longer in ${channel.name}`,
      ]);
    }),
};

export const showFingerprint: Command = {
  path: "channel fingerprint",
  summary: "show the channel's fingerprint, to compare with other members",
  details: [
    "Compare the digits with another member outside of Static, for example by telephone. If they are equal, you are in the",
    "same group and nobody is in between. The digits change with every epoch: compare those of the same one.",
  ],
  arguments: [nameArgument],
  flags: [agentFlag],
  examples: [{ command: "channel fingerprint acme/ops/deploy", what: "" }],
  run: (context) =>
    withChannel(context, async (channel) => {
      const fingerprint = channel.fingerprint();
      const { epoch } = channel.health();
      await context.output.result({ channel: channel.name, fingerprint, epoch }, [
        `${fingerprint}  epoch ${epoch}`,
      ]);
    }),
};

export const leaveChannel: Command = {
  path: "channel leave",
  summary: "leave a channel and delete its keys here",
  details: [
    "When the last member leaves, the channel closes; the command asks first. When the last owner leaves, another member",
    "becomes owner: --successor, or the first one that this agent has heard of within 7 days.",
  ],
  arguments: [nameArgument],
  flags: [
    {
      name: "successor",
      value: "MEMBER",
      summary:
        "member that becomes owner; required if owners have rights of their own, or are silent",
    },
    yesFlag,
    agentFlag,
  ],
  examples: [{ command: "channel leave acme/ops/deploy", what: "" }],
  run: (context) =>
    withChannel(context, async (channel) => {
      const { output } = context;
      if (channel.members().length === 1) {
        await confirm(
          context,
          `This agent is the last member of ${channel.name}. Leave and close it permanently?`,
        );
      }
      const named = context.given.value("successor");
      const options = named === undefined ? {} : { successor: channel.member(named).agentId };
      await output.progress("leaving the channel", channel.leave(options));
      await output.result({ channel: channel.name, left: true }, [
        `${output.paint("green", "✓")} Left ${channel.name}`,
      ]);
    }),
};

export const closeChannel: Command = {
  path: "channel close",
  summary: "close a channel of this account for all members and free its name",
  details: [
    "Works even if the state of the agent that created the channel is lost. Asks for confirmation.",
  ],
  arguments: [nameArgument],
  flags: [yesFlag, agentFlag],
  examples: [{ command: "channel close acme/ops/deploy", what: "" }],
  run: async (context) => {
    const name = nameOf(context);
    await confirm(context, `Close ${name}? It closes for all members and cannot be restored`);
    await withAgent(context, async (client) => {
      const { output } = context;
      await output.progress("closing the channel", client.act("closeChannel", { channel: name }));
      await output.result({ channel: name, closed: true }, [
        `${output.paint("green", "✓")} ${name} is closed`,
      ]);
    });
  },
};

/**
 * The name is taken by a channel that is over, as the relay says, or by one of other agents. The
 * SDK says so in words for programs.
 */
function isTaken(
  error: unknown,
  context: Context,
  { channels }: Pick<CommandAgent, "channels">,
): Failure | undefined {
  const name = nameOf(context);
  if (!(error instanceof Error) || Reflect.get(error, "code") !== "name_taken") return undefined;
  if (!channels.includes(name)) {
    const whose = `This account has a channel "${name}", and agent "${
      agentName(context)
    }" has no keys of it`;
    const advice =
      `Act as an agent that is in it with --agent NAME, or join it with an invite of a member. To close it ` +
      `for all its members: {} channel close ${name}${agentWords(context)}`;
    return new Failure("name_taken", whose, { advice, cause: error });
  }
  const text = `Agent "${
    agentName(context)
  }" has the keys of a channel "${name}" that is over, as the relay says`;
  const advice = `If that is so, forget it with: {} channel close ${name}${
    agentWords(context)
  }; then create it again`;
  return new Failure("name_taken", text, { advice, cause: error });
}

export function nameOf({ given }: Context): string {
  return given.value("NAME") ?? "";
}

/** So that commands that are shown act as the same agent. */
export function agentWords({ given }: Context): string {
  const name = given.value("agent");
  return name === undefined ? "" : ` --agent ${name}`;
}

/** The channel, once this agent has followed what happened while it was away. */
export async function withChannel(
  context: Context,
  act: (channel: Channel) => Promise<void>,
): Promise<void> {
  await withAgent(context, async (client) => await act(await openChannel(context, client)));
}

type Opener = Pick<CommandAgent, "enter">;

/** The channel as this agent left it. */
export async function findChannel(context: Context, client: Opener): Promise<Channel> {
  const name = nameOf(context);
  try {
    return await client.enter("open", { channel: name });
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, "code") !== "not_found") throw error;
    throw new Failure("not_found", `Agent "${agentName(context)}" is not in channel "${name}"`, {
      advice:
        `See its channels with: {} channel list${
          agentWords(context)
        }. Create or join it, or act as another agent ` +
        "with --agent NAME",
      cause: error,
    });
  }
}

export async function openChannel(context: Context, client: Opener): Promise<Channel> {
  const { platform, output } = context;
  const channel = await findChannel(context, client);
  const state = (): string => channel.health().state;
  const isSettled = (): boolean => !["offline", "catching_up", "rejoining"].includes(state());
  const inTime = await output.progress(
    "catching up",
    waitUntil(platform, catchUpMs, [channel], isSettled),
  );
  const { problem, action } = channel.health();
  if (inTime && state() === "ok") return channel;
  throw new Failure(
    inTime ? "mls_error" : "transport_error",
    problem ?? "The channel cannot be used now",
    {
      advice: action,
    },
  );
}
