/** Letting others in and getting in: `channel invite`, `channel join`. */
import { looksLikeJoinLink, parseChannelName, parseInviteToken, quoted } from "../../proto/mod.ts";
import type { Channel, ChannelMember } from "../../sdk/mod.ts";
import type { CommandAgent } from "../agent_access.ts";
import { agentFlag, inChannelAlready, withAgent } from "../agent.ts";
import { agentName } from "../agent_record.ts";
import { memberFields, memberName } from "../texts/channel_texts.ts";
import type { Command, Context } from "../command.ts";
import { badInput, Failure } from "../failure.ts";
import { reasonOf } from "../disk.ts";
import { ask } from "../prompt.ts";
import { isoTime, span } from "../texts/amounts.ts";
import { parseCount, parseDurationMs } from "../arguments/values.ts";
import { readTrust } from "../trust.ts";
import { unlessInterrupted, waitUntil } from "../wait_until.ts";
import { agentWords, nameArgument, openChannel } from "./channel.ts";
import { type ChannelLink, type LinkAccess, prepareToJoin, readLink } from "./channel_link.ts";

const defaultJoinMs = 60_000;

export const inviteToChannel: Command = {
  path: "channel invite",
  summary: "print an invite token or a link, and admit the agent that uses it",
  details: [
    "Runs until the invite is used, because only a running member can admit others. Ctrl-C ends it; the token stays valid",
    "and works while this agent runs, for example with channel listen. Keep it secret: anyone who has it can join.",
    "A link also has the service's address. With a guest pass, an agent needs nothing else to join, not even an account.",
    "An agent that calls itself like a member is refused. If that member's keys are lost, an owner names it with --replaces:",
    "the agent that joins takes its place.",
  ],
  arguments: [nameArgument],
  flags: [
    {
      name: "uses",
      value: "N",
      summary: "number of agents that can join with it; 1 when not given",
    },
    {
      name: "expires",
      value: "TIME",
      summary: "how long it is valid, as in 30m, 12h or 7d; 1d when not given",
    },
    { name: "link", summary: "print a link instead of a token" },
    {
      name: "guest",
      summary:
        "add a guest pass to the link: one agent uses your account in this channel, for 7 days",
    },
    { name: "web", summary: "print the link as an https address, for people without this program" },
    {
      name: "replaces",
      value: "MEMBER",
      summary: "remove this member when the agent joins; for owners, not for links",
    },
    { name: "no-wait", summary: "print it and exit; run channel listen to admit the agent" },
    agentFlag,
  ],
  examples: [
    { command: "channel invite acme/ops/deploy", what: "for one agent, within a day" },
    { command: "channel invite acme/ops/deploy --uses 10 --expires 1h", what: "" },
    {
      command: "channel invite acme/ops/deploy --link --guest",
      what: "for an agent without an account",
    },
  ],
  run: (context) => {
    const { given } = context;
    const uses = parseCount("uses", given.value("uses") ?? "1");
    const expiresInMs = parseDurationMs("expires", given.value("expires") ?? "1d");
    const [guest, web, replaces] = [given.has("guest"), given.has("web"), given.value("replaces")];
    const isLink = given.has("link") || guest || web;
    if (isLink && replaces !== undefined) {
      throw badInput(
        "A link replaces no member, because anybody may open it",
        "Leave --link, --guest and --web out",
      );
    }
    return withAgent(context, async (manager) => {
      const channel = await openChannel(context, manager);
      const before = new Set(channel.members().map(({ agentId }) => agentId));
      if (isLink) {
        const fields = {
          channel: channel.name,
          uses,
          expiresInMs,
          ...(guest && { guest: {} }),
          web,
        };
        const link = await manager.act("inviteLink", fields);
        await showLink(context, { link, name: channel.name, expiresInMs, guest });
      } else {
        const fields = {
          channel: channel.name,
          uses,
          expiresInMs,
          ...(replaces !== undefined && { replaces: channel.member(replaces).agentId }),
        };
        const token = await manager.act("invite", fields);
        await showToken(context, { token, name: channel.name, expiresInMs });
      }
      if (given.has("no-wait")) return;
      const joined = (): ChannelMember[] =>
        channel.members().filter(({ agentId }) => !before.has(agentId));
      await letIn(context, { channel, joined, uses, waitMs: expiresInMs });
      await readAndWrite(context, channel.name);
    });
  },
};

export const joinChannel: Command = {
  path: "channel join",
  summary: "join a channel with an invite token or a link",
  details: [
    "Asks for the token or link, or reads it from a pipe. The channel's name is optional. The agent that made the invite",
    "must be running. A link with a guest pass needs no account.",
  ],
  arguments: [
    {
      name: "NAME",
      summary: "name of the channel, or the token or link alone",
      optional: true,
      check: checkNameOrToken,
    },
    {
      name: "TOKEN",
      summary: "the token or link; better pasted when asked",
      optional: true,
      secret: true,
    },
  ],
  flags: [
    {
      name: "timeout",
      value: "TIME",
      summary: "how long to wait for admission; 60s when not given",
    },
    {
      name: "from",
      value: "DOMAIN",
      summary: "enter only if this domain attests the agent that made the invite",
    },
    agentFlag,
  ],
  examples: [
    { command: "channel join", what: "asks for the token" },
    {
      command: "channel join --from acme.com < token.txt",
      what: "only if an agent of acme.com lets this one in",
    },
    {
      command: "channel join acme/ops/deploy --agent bob < token.txt",
      what: "as an agent named bob",
    },
  ],
  run: async (context) => {
    const { given, output } = context;
    const timeout = given.value("timeout");
    const timeoutMs = timeout === undefined ? defaultJoinMs : parseDurationMs("timeout", timeout);
    await checkFrom(context);
    const first = given.value("NAME");
    const alone = first !== undefined && isToken(first) ? first : undefined;
    if (alone !== undefined) {
      const what = looksLikeJoinLink(alone) ? "link" : "token";
      await output.warn(
        `The ${what} is on the command line, where other users of this machine and your shell history can see it`,
      );
    }
    const asking = "Invite token or link (not shown)";
    const token = (alone ?? given.value("TOKEN") ?? await ask(context, asking, { hidden: true }))
      .trim();
    const link = looksLikeJoinLink(token) ? readLink(token) : undefined;
    const name = alone === undefined && first !== undefined
      ? first
      : link?.channel ?? channelOf(token);
    if (link !== undefined && link.channel !== name) {
      throw badInput(
        `The link is for channel ${link.channel}, not for ${name}`,
        "Leave the name out",
      );
    }
    const ways = link === undefined ? [undefined] : await prepareToJoin(context, link);
    for (const [index, way] of ways.entries()) {
      try {
        return await join(context, { name, token, link, timeoutMs }, way);
      } catch (error) {
        const isPassOver = error instanceof Error &&
          Reflect.get(error, "code") === "auth_key_invalid";
        if (!isPassOver || index === ways.length - 1) throw error;
      }
    }
  },
};

interface JoinArguments {
  readonly name: string;
  readonly token: string;
  readonly link: ChannelLink | undefined;
  readonly timeoutMs: number;
}

async function join(
  context: Context,
  wanted: JoinArguments,
  way: LinkAccess | undefined,
): Promise<void> {
  const { output, platform } = context;
  await withAgent(context, async (manager) => {
    const joining = joinOrExplain(context, manager, wanted);
    const channel = await output.progress(
      "waiting to be let in",
      unlessInterrupted(platform, joining),
    );
    await way?.joined();
    const members = channel.members();
    const names = members.filter(({ self }) => !self).map(memberName).join(", ");
    await output.result({
      channel: channel.name,
      id: channel.id,
      members: members.map(memberFields),
    }, [
      `${output.paint("green", "✓")} Joined ${channel.name}, with ${names}`,
    ]);
    if (way?.keepsPass === true) {
      const text =
        "This agent keeps its earlier guest pass, and the new link is not used. Keep it for when that pass ends.";
      await output.note(text);
    }
    await readAndWrite(context, channel.name);
  }, way?.pass);
}

/** A domain that this user does not believe could attest nobody. */
async function checkFrom(context: Context): Promise<void> {
  const from = context.given.value("from");
  if (from === undefined || (await readTrust(context)).domains.has(from)) return;
  throw badInput(
    `${quoted(from, { max: 253 })} is not in your trust list`,
    "Add it with: {} trust add",
  );
}

function isToken(text: string): boolean {
  return text.startsWith("inv_") || looksLikeJoinLink(text);
}

function checkNameOrToken(text: string): void {
  if (!isToken(text)) parseChannelName(text);
}

/** A token names its channel. */
function channelOf(token: string): string {
  try {
    return parseInviteToken(token).name;
  } catch (cause) {
    throw badInput(
      `This is not an invite token: ${reasonOf(cause)}`,
      "Copy it again, whole: it begins with inv_",
    );
  }
}

interface ShownInvite {
  readonly token: string;
  readonly name: string;
  readonly expiresInMs: number;
}

async function showToken(
  context: Context,
  { token, name, expiresInMs }: ShownInvite,
): Promise<void> {
  const { platform, output } = context;
  const expires_at = isoTime(platform.nowMs() + expiresInMs);
  const guest = agentName(context) === "bob" ? "alice" : "bob";
  const join = `${platform.program} channel join ${name} --agent ${guest}`;
  await output.result({ token, channel: name, expires_at }, [token]);
  await output.note(
    "",
    `Valid for ${span(expiresInMs)}. To join, run this in another terminal and paste the token:`,
    `  ${output.command(join)}`,
  );
}

async function showLink(
  context: Context,
  { link, name, expiresInMs, guest }: Omit<ShownInvite, "token"> & {
    readonly link: string;
    readonly guest: boolean;
  },
): Promise<void> {
  const { platform, output } = context;
  const expires_at = isoTime(platform.nowMs() + expiresInMs);
  await output.result({ link, channel: name, expires_at, guest }, [link]);
  await output.note(
    "",
    `Valid for ${span(expiresInMs)}. Keep it as secret as a password. ${
      guest
        ? "An agent needs nothing else to join:"
        : "An agent needs an account of this service to join:"
    }`,
    `  ${output.onStderr("cyan", `${platform.program} channel join`)}`,
  );
}

interface InviteWait {
  readonly channel: Channel;
  readonly joined: () => ChannelMember[];
  readonly uses: number;
  readonly waitMs: number;
}

/** Tells of everybody who joins, until the invite is used up or has expired. */
async function letIn(
  context: Context,
  { channel, joined, uses, waitMs }: InviteWait,
): Promise<void> {
  const { platform, output } = context;
  const deadlineMs = platform.nowMs() + waitMs;
  for (let seen = 0; seen < uses; seen++) {
    const more = waitUntil(
      platform,
      deadlineMs - platform.nowMs(),
      [channel],
      () => joined().length > seen,
    );
    const inTime = await output.progress(`waiting for an agent to join (${seen} of ${uses})`, more);
    const member = joined()[seen];
    if (!inTime || member === undefined) {
      const how = seen === 0 ? "unused" : `after ${seen} of ${uses} joined`;
      throw new Failure("join_timeout", `The invite has expired ${how}`);
    }
    await output.result({ joined: memberFields(member) }, [
      `${output.paint("green", "✓")} ${memberName(member)} has joined`,
    ]);
  }
}

async function readAndWrite(context: Context, name: string): Promise<void> {
  const { platform, output } = context;
  const words = `${name}${agentWords(context)}`;
  await output.note(
    "",
    "Read and write:",
    `  ${output.command(`${platform.program} channel listen ${words}`)}`,
    `  ${output.command(`echo hello | ${platform.program} channel send ${words}`)}`,
  );
}

async function joinOrExplain(
  context: Context,
  manager: CommandAgent,
  { name, token, link, timeoutMs }: JoinArguments,
): ReturnType<CommandAgent["enter"]> {
  try {
    const how = { timeoutMs, from: context.given.value("from") };
    if (link !== undefined) return await manager.enter("joinLink", { link: link.text, ...how });
    return await manager.enter("joinWithToken", { channel: name, token, ...how });
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, "code") !== "join_timeout") {
      throw inChannelAlready(error, context) ?? error;
    }
    const text = `No member admitted this agent within ${span(timeoutMs)}`;
    const advice =
      "The agent that made the invite must be running channel invite or channel listen. Then try again";
    throw new Failure("join_timeout", text, { advice, cause: error });
  }
}
