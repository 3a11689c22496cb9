/** The agents of this user: `agents list`, `agents set receipts`, `agents delete`. */
import { shown } from "../../proto/mod.ts";
import { agentFlag, explained } from "../agent.ts";
import {
  agentName,
  agentPlace,
  openPlace,
  type Receipts,
  receiptsSettings,
  writePlace,
} from "../agent_record.ts";
import type { Command, Context, ParsedArguments } from "../command.ts";
import { badInput } from "../failure.ts";
import { loadSdk } from "../lazy_sdk.ts";
import { table } from "../output.ts";
import { confirm } from "../prompt.ts";
import { endIdleHost } from "./host.ts";
import { findRunning } from "../agent_access.ts";

export const listAgents: Command = {
  path: "agents list",
  summary: "list the agents of this user",
  examples: [{ command: "agents list", what: "" }],
  run: async (context) => {
    const { platform: { files, folders }, output } = context;
    const agents: { readonly name: string; readonly identity: string; readonly host: boolean }[] =
      [];
    for (const name of await files.list(folders.agents)) {
      const named = actingAs(context, name);
      const place = await agentPlace(named).catch(() => undefined);
      if (place === undefined) continue;
      const host = await findRunning(named).catch(() => undefined);
      host?.end();
      agents.push({ name, identity: place.identity, host: host !== undefined });
    }
    const rows = agents.map((
      { name, identity, host },
    ) => [name, shown(identity), host ? "host runs" : ""]);
    await output.result(
      { agents },
      agents.length === 0 ? [] : table([["AGENT", "IDENTITY"], ...rows]),
    );
    if (agents.length === 0) {
      await output.note("This user has no agents; the first channel command creates one");
    }
  },
};

export const setReceipts: Command = {
  path: "agents set receipts",
  summary: "say whether senders that ask learn what becomes of their messages to this agent",
  details: [
    "addressed, which every agent has at first: an agent that asks about a message to this one is told. off: nobody is, and",
    "nobody can tell so from the channel. The console never tells anybody.",
  ],
  arguments: [{ name: "SETTING", summary: "addressed or off" }],
  flags: [agentFlag],
  examples: [{ command: "agents set receipts off --agent reviewer", what: "" }],
  run: async (context) => {
    const { given, output, platform } = context;
    const receipts = receiptsOf(given.value("SETTING") ?? "");
    const place = await openPlace(context);
    await writePlace(context, { ...place, receipts });
    // One that runs was started with the setting from before.
    const isUsed = await endIdleHost(context).then(() => false, () => true);
    await output.result({ agent: place.name, receipts, running: isUsed }, [
      `${output.paint("green", "✓")} Agent "${place.name}" ${
        receipts === "off" ? "gives no receipts" : "gives receipts to senders that ask"
      }`,
    ]);
    if (isUsed) {
      await output.note(
        "Programs use the agent through a host that was started before. End the host:",
        `  ${output.command(`${platform.program} host stop --agent ${place.name}`)}`,
      );
    }
  },
};

function receiptsOf(text: string): Receipts {
  const receipts = receiptsSettings.find((each) => each === text);
  if (receipts !== undefined) return receipts;
  throw badInput(`"${text}" is no setting for receipts`, `Use ${receiptsSettings.join(" or ")}`);
}

export const deleteAgent: Command = {
  path: "agents delete",
  summary: "delete an agent's keys and state permanently",
  details: [
    "The agent stays listed in its channels until an owner removes it; leave them first if that matters. Asks for",
    "confirmation. Fails while a program uses the agent.",
  ],
  arguments: [{ name: "AGENT", summary: "name of the agent, as shown by agents list" }],
  flags: [{ name: "yes", summary: "do not ask for confirmation" }],
  examples: [{ command: "agents delete bob", what: "" }],
  run: async (context) => {
    const { platform: { files, folders }, output, given } = context;
    const named = actingAs(context, given.value("AGENT") ?? "");
    const { name, identity } = await agentPlace(named);
    await confirm(
      context,
      `Permanently delete agent "${name}" (${shown(identity)}) and the keys of its channels?`,
    );
    await endIdleHost(named);
    await assertFree(named);
    await files.remove(files.join(folders.agents, name));
    await output.result({ deleted: name }, [
      `${output.paint("green", "✓")} Agent "${name}" is deleted`,
    ]);
  },
};

/**
 * A program that holds the agent itself would lose its files while it runs. Other faults of the
 * files do not matter now.
 */
async function assertFree(context: Context): Promise<void> {
  const { verifyAgentStore } = await loadSdk();
  const { dataDir } = await agentPlace(context);
  await verifyAgentStore({ dataDir }).catch((error) => {
    if (error instanceof Error && Reflect.get(error, "code") === "store_locked") {
      throw explained(error, context);
    }
  });
}

/** The same command, as another agent. */
function actingAs(context: Context, name: string): Context {
  const given: ParsedArguments = {
    ...context.given,
    value: (each) => each === "agent" ? name : context.given.value(each),
  };
  agentName({ ...context, given });
  return { ...context, given };
}
