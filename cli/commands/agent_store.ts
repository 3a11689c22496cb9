/** An agent's own files: `agent verify`, `agent repair`, `agent passphrase`. */
import type { StoreReport } from "../../sdk/mod.ts";
import { agentFlag, explained } from "../agent.ts";
import { agentPlace } from "../agent_record.ts";
import type { Command, Context } from "../command.ts";
import { Failure } from "../failure.ts";
import { loadSdk } from "../lazy_sdk.ts";
import { framed } from "../output.ts";
import { ask, confirm } from "../prompt.ts";
import { endIdleHost } from "./host.ts";

export const verifyAgent: Command = {
  path: "agent verify",
  summary: "check all of an agent's files and list what is damaged",
  details: ["Changes nothing. Exits with code 7 if something is damaged."],
  flags: [agentFlag],
  examples: [{ command: "agent verify --agent bob", what: "" }],
  run: async (context) => {
    const { verifyAgentStore } = await loadSdk();
    const report = await opened(context, (options) => verifyAgentStore(options));
    await show(context, report);
    if (report.intact) return;
    throw new Failure("store_corrupt", "Some of the agent's files are damaged", {
      advice: "Restore the whole folder from a backup, or save what is left with: {} agent repair",
      exit: "unhealthy",
    });
  },
};

export const repairAgent: Command = {
  path: "agent repair",
  summary: "repair an agent's damaged files as far as possible",
  details: ["Sets damaged files aside. Channels whose state is lost must be joined again."],
  flags: [agentFlag, { name: "yes", summary: "do not ask for confirmation" }],
  examples: [{ command: "agent repair --yes", what: "without asking" }],
  run: async (context) => {
    await agentPlace(context);
    await confirm(context, "Repair the agent's files? Damaged records are lost");
    const { repairAgentStore } = await loadSdk();
    await show(context, await opened(context, (options) => repairAgentStore(options)));
  },
};

export const changePassphrase: Command = {
  path: "agent passphrase",
  summary: "set, change or remove the passphrase that protects an agent's keys",
  details: [
    "Asks for the current passphrase and the new one; leave either empty for none. Commands read it from",
    "STATIC_PASSPHRASE.",
  ],
  flags: [agentFlag],
  examples: [{ command: "agent passphrase --agent bob", what: "" }],
  run: async (context) => {
    const { dataDir } = await agentPlace(context);
    await endIdleHost(context);
    const { changeAgentPassphrase } = await loadSdk();
    const passphrase = await ask(context, "Current passphrase (not shown; empty for none)", {
      hidden: true,
    });
    const to = await ask(context, "New passphrase (not shown; empty for none)", { hidden: true });
    const given = { ...(passphrase !== "" && { passphrase }), ...(to !== "" && { to }) };
    try {
      await changeAgentPassphrase({ dataDir, ...given });
    } catch (error) {
      throw explained(error, context);
    }
    await context.output.result({ changed: true, passphrase: to !== "" }, [
      "✓ The passphrase was changed",
    ]);
  },
};

interface StoreAccess {
  readonly dataDir: string;
  readonly passphrase?: string | undefined;
}

async function opened(
  context: Context,
  act: (options: StoreAccess) => Promise<StoreReport>,
): Promise<StoreReport> {
  const { dataDir } = await agentPlace(context);
  await endIdleHost(context);
  const passphrase = context.platform.variable("STATIC_PASSPHRASE");
  try {
    return await act({ dataDir, passphrase });
  } catch (error) {
    throw explained(error, context);
  }
}

async function show(
  { output }: Context,
  { records, damaged, faults, identity, channels }: StoreReport,
): Promise<void> {
  const found = { records, damaged, faults, identity: identity ?? null, channels };
  const lines = [...faults, ...damaged.map(({ text }) => text)].map((text) => `✗ ${framed(text)}`);
  await output.result(found, [
    `${records} records, ${damaged.length} damaged; ${channels.length} channels`,
    ...lines,
  ]);
}
