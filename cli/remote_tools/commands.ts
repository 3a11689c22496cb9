/** `mcp serve`, `mcp connect`: tools of one agent for others, over a channel. */
import { type AgentId, quoted, shownLines } from "../../proto/mod.ts";
import type { Channel } from "../../sdk/mod.ts";
import { agentFlag, withAgent } from "../agent.ts";
import { agentName } from "../agent_record.ts";
import { usesHost } from "../agent_access.ts";
import { parseCount } from "../arguments/values.ts";
import { watchConnection } from "../channel_warnings.ts";
import type { Command, Context } from "../command.ts";
import { findChannel, nameArgument, nameOf, yesFlag } from "../commands/channel.ts";
import { badInput, Failure } from "../failure.ts";
import {
  memberOf,
  modelFolder,
  readPolicy,
  ruleOf,
  senderOf,
  type SenderRule,
} from "../mcp/policy.ts";
import { modelSecrets } from "../mcp/secrets.ts";
import { confirm } from "../prompt.ts";
import { type AcceptedTool, AcceptedTools, screenTools } from "./accepted_tools.ts";
import { ToolCaller } from "./tool_caller.ts";

/** Behind names, as in `../lazy_sdk.ts`. */
const [connectModule, servingModule] = ["./connect.ts", "./tool_serving.ts"];

const [defaultSeconds, maxSeconds] = ["60", 7 * 24 * 3600];
const concurrency = 64;

const serveTools: Command = {
  path: "mcp serve",
  summary: "offer the tools of an MCP server to members of a channel, until Ctrl-C",
  details: [
    "Each caller gets a process of COMMAND, an MCP server, with its agent id in STATIC_SENDER. Members can read all calls.",
  ],
  arguments: [nameArgument, {
    name: "COMMAND",
    summary: "the program and its arguments, after --",
    rest: true,
  }],
  flags: [
    {
      name: "allow",
      value: "LIST",
      summary:
        "who may call, separated by commas: agent ids, your names for agents, @named, @DOMAIN, @own-account, *; must be given",
    },
    agentFlag,
  ],
  examples: [
    {
      command: "mcp serve acme/ops/deploy --allow @acme.com --agent builder -- ./build-tools",
      what: "",
    },
  ],
  run: async (context) => {
    const { given, platform, output } = context;
    requireHost(context);
    const words = (given.value("allow") ?? "").split(",").map((each) => each.trim()).filter((
      each,
    ) => each !== "");
    if (words.length === 0) {
      throw badInput("mcp serve needs --allow LIST", "Name who may call the tools");
    }
    const allowed = await Promise.all(words.map((each) => senderOf(context, each)));
    const argv = [given.value("COMMAND") ?? "", ...given.rest];
    const agent = agentName(context);
    const { ToolServing }: typeof import("./tool_serving.ts") = await import(servingModule);
    await withAgent(context, async (held) => {
      const channel = await findChannel(context, held);
      await using _ = watchConnection(context, channel);
      const serving = new ToolServing({
        context,
        startProgram: (caller) =>
          platform.startChild(argv, {
            variables: { STATIC_SENDER: caller, STATIC_AGENT: agent },
            without: (name) => name.startsWith("STATIC_"),
          }),
        mayCall: async ({ sender }) =>
          ruleOf(callRules(allowed, await readPolicy(context)), sender) === "accept",
      });
      const { interrupted: signal } = platform;
      await output.note(`Members of ${channel.name} may call tools of ${argv[0]}`);
      try {
        await channel.serve((request) => serving.handle(request), { concurrency, signal }).ended;
      } finally {
        serving.close();
      }
      if (!signal.aborted) throw channelOver(channel);
    });
  },
};

const connectTools: Command = {
  path: "mcp connect",
  summary: "let a language model use the tools that another member of a channel serves",
  details: [
    "Run it with --accept first, which shows you the tools, another owner's text. One that changes is refused.",
  ],
  arguments: [nameArgument, {
    name: "AGENT",
    summary: "the member: an agent id, or your name for it",
  }],
  flags: [
    { name: "as", value: "WORD", summary: "stands in front of the names of tools; must be given" },
    { name: "accept", summary: "show the tools of the member, and accept them" },
    {
      name: "timeout",
      value: "SECONDS",
      summary: `time for a call; ${defaultSeconds} when not given, at most ${maxSeconds}`,
    },
    { name: "hide-names", summary: "do not show the model what the agent calls itself" },
    yesFlag,
    agentFlag,
  ],
  examples: [
    { command: "mcp connect acme/ops/deploy builder --accept", what: "first, at a terminal" },
    { command: "mcp connect acme/ops/deploy builder --as acme", what: "then, in a harness" },
  ],
  run: async (context) => {
    const { given, platform } = context;
    requireHost(context);
    const seconds = parseCount("timeout", given.value("timeout") ?? defaultSeconds);
    if (seconds > maxSeconds) throw badInput(`--timeout is at most ${maxSeconds} seconds`);
    const timeoutMs = 1000 * seconds;
    const agentId = await memberOf(context, given.value("AGENT") ?? "");
    const accepted = new AcceptedTools(platform.files, modelFolder(context));
    if (given.has("accept")) return await accept(context, accepted, { agentId, timeoutMs });
    const prefix = given.value("as") ?? "";
    if (!/^[a-z][a-z0-9-]{0,15}$/.test(prefix)) {
      throw badInput("mcp connect needs --as WORD", "Up to 16 small letters, digits and hyphens");
    }
    const channel = nameOf(context);
    const tools = await accepted.read(channel, agentId);
    if (tools === undefined) {
      throw new Failure("not_found", `You have accepted no tools of ${agentId} in ${channel}`, {
        advice: `Look at them first: {} mcp connect ${channel} ${agentId} --accept`,
      });
    }
    const { connectTools: connect }: typeof import("./connect.ts") = await import(connectModule);
    const secrets = await modelSecrets(context);
    const hideNames = given.has("hide-names");
    await connect(context, { channel, agentId, tools, prefix, timeoutMs, hideNames, secrets });
  },
};

/** A person looks at what a model will read. */
async function accept(
  context: Context,
  accepted: AcceptedTools,
  { agentId, timeoutMs }: { readonly agentId: AgentId; readonly timeoutMs: number },
): Promise<void> {
  const { output, platform } = context;
  await withAgent(context, async (agent) => {
    const channel = await findChannel(context, agent);
    const caller = new ToolCaller({
      channel: () => Promise.resolve(channel),
      agentId,
      timeoutMs,
      randomBytes: (length) => platform.randomBytes(length),
    });
    const listed = await output.progress("asking for tools", caller.list(platform.interrupted));
    const { tools, leftOut } = screenTools(listed);
    await output.note(...tools.flatMap(toolLines), ...leftOutLine(leftOut));
    await confirm(context, `Accept these ${tools.length} tools of ${agentId} for your models?`);
    await accepted.write(channel.name, agentId, tools);
    await output.result({ agent_id: agentId, tools, left_out: leftOut }, [
      `${output.paint("green", "✓")} ${tools.length} tools of ${agentId} are accepted`,
    ]);
  });
}

function toolLines({ name, description, inputSchema }: AcceptedTool): string[] {
  return [name, `  ${shownLines(description)}`, `  ${JSON.stringify(inputSchema)}`, ""];
}

function leftOutLine(count: number): string[] {
  return count === 0
    ? []
    : [`${count} more are left out: too long, too many, or without a usable name`];
}

/**
 * Rules that accept those who were allowed here, unless a rule of the person's holds or refuses
 * them. The rule for all others is about messages to a model, and says nothing about tools.
 */
export function callRules(
  allowed: readonly string[],
  policy: Readonly<Record<string, SenderRule>>,
): Readonly<Record<string, SenderRule>> {
  const blocked = Object.entries(policy).filter(([sender, rule]) =>
    rule !== "accept" && sender !== "*"
  );
  return {
    ...Object.fromEntries(allowed.map((each) => [each, "accept" as const])),
    ...Object.fromEntries(blocked),
  };
}

export const remoteToolCommands: readonly Command[] = [serveTools, connectTools];

function requireHost(context: Context): void {
  if (usesHost(context)) return;
  throw badInput("Tools need a host, but STATIC_HOST is off", "Unset STATIC_HOST");
}

function channelOver(channel: Channel): Error {
  const { state } = channel.health();
  return new Failure("removed", `Channel ${quoted(channel.name)} is ${state} for this agent`);
}
