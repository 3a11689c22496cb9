/** `wake`, `wake codex`, `wake exec`, `wake hook`, `wake claude`: turns for a model that is idle. */
import { agentFlag } from "../agent.ts";
import { agentName } from "../agent_record.ts";
import { parseCount } from "../arguments/values.ts";
import type { Command, Context, FlagSpec } from "../command.ts";
import { badInput } from "../failure.ts";
import { usesHost } from "../agent_access.ts";
import { parseRule, rules } from "../mcp/policy.ts";
import { pluginFiles } from "./claude_plugin.ts";
import { sentence } from "./sentence.ts";
import { awaitWake } from "./hook.ts";
import { findSession, SessionFiles } from "./session_files.ts";
import type { WakeOptions } from "./waker.ts";

/** Behind a name, as in `../lazy_sdk.ts`. */
const wakerModule = "./waker.ts";

const [minSeconds, maxPerHour] = ["2", "60"];

const flags: readonly FlagSpec[] = [
  { name: "all", summary: "wake for messages to all members, too" },
  {
    name: "reader",
    value: "NAME",
    summary: 'reader of the model\'s sessions, as given to mcp; "mcp" when not given',
  },
  {
    name: "policy",
    value: "RULE",
    summary: "rule for senders without one, as given to mcp; accept when not given",
  },
  {
    name: "min-seconds",
    value: "N",
    summary: `seconds between two wakes, at least; ${minSeconds} when not given`,
  },
  {
    name: "max-per-hour",
    value: "N",
    summary: `wakes in an hour, at most; ${maxPerHour} when not given`,
  },
  agentFlag,
];

export const wake: Command = {
  path: "wake",
  summary: "print a line whenever something waits for an idle model, until Ctrl-C",
  details: [
    "For a harness that watches the output of a command. The line is always the same and has nothing of a message in it; the",
    "model fetches messages with the tool wait of static mcp. Messages and requests to this agent wake it, if the rules of mcp",
    "policy accept their sender. A wake that no session comes after is repeated after 1, 2, 4 … minutes, at most hourly.",
  ],
  flags: [{ name: "stdout", summary: "print to standard output; must be given" }, ...flags],
  examples: [{ command: "wake --stdout --agent reviewer", what: "for the agent named reviewer" }],
  run: async (context) => {
    const { given, platform: { stdout } } = context;
    if (!given.has("stdout")) {
      throw badInput("wake needs --stdout", "Or use wake codex, or wake exec -- COMMAND");
    }
    const tell = async (): Promise<boolean> => {
      await stdout.write(`${sentence}\n`);
      return true;
    };
    const session = findSession(context);
    // The session is one of Claude Code: its hook need not wake it, too.
    if (session !== undefined) await new SessionFiles(context, session).noteMonitor();
    await run(context, { repeats: true, tell });
  },
};

export const wakeCodex: Command = {
  path: "wake codex",
  summary: "wake an idle session of Codex, with codex queue",
  details: [
    "Codex takes the line for its user's words. It is always the same, and there is one in the session's queue at most. The",
    "thread is that of the shell command in which Codex runs this one, or --thread.",
  ],
  flags: [
    {
      name: "thread",
      value: "ID",
      summary: "the session's id (or CODEX_THREAD_ID, which Codex sets)",
    },
    ...flags,
  ],
  examples: [{
    command: "wake codex --thread 01a1f4cb-d866-70f3-b104-4809e7179e24",
    what: "",
  }],
  run: async (context) => {
    const { given, platform } = context;
    const thread = given.value("thread") ?? platform.variable("CODEX_THREAD_ID") ?? "";
    // The id becomes an argument of another program.
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(thread)) {
      throw badInput(
        "wake codex needs the id of a session",
        "Give --thread ID; Codex shows the id when a session ends, and with /status",
      );
    }
    const argv = ["codex", "queue", "--thread", thread, "--message", sentence];
    await run(context, { repeats: false, tell: () => execute(context, argv) });
  },
};

export const wakeExec: Command = {
  path: "wake exec",
  summary: "run a command whenever something waits for an idle model, until Ctrl-C",
  details: [
    "For a harness that is started for each turn. The command gets STATIC_AGENT, and nothing of a message. It runs once at a",
    "time; if it fails, or no session asked for messages, it runs again after 1, 2, 4 … minutes.",
  ],
  arguments: [{ name: "COMMAND", summary: "the program and its arguments, after --", rest: true }],
  flags,
  examples: [{
    command: "wake exec --agent reviewer -- claude -p 'Call the tool wait of static'",
    what: "",
  }],
  run: async (context) => {
    const argv = [context.given.value("COMMAND") ?? "", ...context.given.rest];
    await run(context, { repeats: true, tell: () => execute(context, argv) });
  },
};

export const wakeHook: Command = {
  path: "wake hook",
  summary:
    "wait until an idle session of Claude Code is to be woken: for the Stop hook of its plugin",
  details: [
    "Ends with 0 when the session is to be woken, and with another code otherwise: when the session is over, its monitor wakes",
    "it, or a later run has taken its place. Prints nothing of a message. The pace is kept from run to run.",
  ],
  flags,
  examples: [{ command: "wake hook --agent reviewer", what: "in a hook that Claude Code runs" }],
  run: async (context) => {
    const session = findSession(context);
    if (session === undefined) {
      throw badInput(
        "wake hook is for a hook of Claude Code, which sets CLAUDE_CODE_SESSION_ID and CLAUDE_PID",
        "Let static wake claude --write FOLDER write a plugin, or use wake --stdout",
      );
    }
    await awaitWake(
      context,
      new SessionFiles(context, session),
      (how) => run(context, { repeats: true, ...how }),
    );
  },
};

export const wakeClaude: Command = {
  path: "wake claude",
  summary: "write a plugin for Claude Code that adds the MCP server and wakes idle sessions",
  details: ["Use it with claude --plugin-dir FOLDER. Writing it again replaces its files."],
  flags: [
    { name: "write", value: "FOLDER", summary: "folder of the plugin; must be given" },
    { name: "all", summary: "wake for messages to all members, too" },
    agentFlag,
  ],
  examples: [{ command: "wake claude --write static-plugin --agent reviewer", what: "" }],
  run: async (context) => {
    const { given, output, platform: { files, variable } } = context;
    const folder = given.value("write");
    if (folder === undefined) throw badInput("wake claude needs --write FOLDER");
    const isNamed = given.value("agent") !== undefined || variable("STATIC_AGENT") !== undefined;
    const path = files.absolute(folder);
    const agent = isNamed ? agentName(context) : undefined;
    for (const { name, text } of pluginFiles({ agent, all: given.has("all") })) {
      await files.writePrivate(files.join(path, ...name), text);
    }
    await output.result({ folder: path }, [
      `${output.paint("green", "✓")} The plugin is in ${path}`,
    ]);
    await output.note("", "Use it:", `  ${output.command(`claude --plugin-dir ${path}`)}`);
  },
};

export const wakeCommands: readonly Command[] = [
  wake,
  wakeCodex,
  wakeExec,
  wakeHook,
  wakeClaude,
];

async function run(
  context: Context,
  method: Pick<WakeOptions, "tell" | "pace" | "over"> & { readonly repeats: boolean },
): Promise<void> {
  const { repeats, ...how } = method;
  const { given } = context;
  const rule = given.value("policy") ?? "accept";
  const policy = parseRule(rule);
  if (policy === undefined) {
    throw badInput(`"${rule}" is not a rule`, `Use one of ${rules.join(", ")}`);
  }
  const minMs = 1000 * parseCount("min-seconds", given.value("min-seconds") ?? minSeconds);
  const limits = {
    minMs,
    maxPerHour: parseCount("max-per-hour", given.value("max-per-hour") ?? maxPerHour),
    repeats,
  };
  if (!usesHost(context)) {
    throw badInput("wake needs a host, but STATIC_HOST is off", "Unset STATIC_HOST");
  }
  const reader = given.value("reader") ?? "mcp";
  const { wakeModel }: typeof import("./waker.ts") = await import(wakerModule);
  await wakeModel(context, { reader, policy, all: given.has("all"), limits, ...how });
}

/** Returns false when the command fails: it is run again later. */
async function execute(context: Context, argv: readonly string[]): Promise<boolean> {
  const { platform, output } = context;
  const variables = { STATIC_AGENT: agentName(context) };
  const code = await platform.runCommand(argv, { input: new Uint8Array(0), variables });
  if (code === 0 || platform.interrupted.aborted) return true;
  const how = code === undefined ? "was ended by a signal" : `ended with exit code ${code}`;
  await output.warn(`${argv[0]} ${how}: the model may not have been woken`);
  return false;
}
