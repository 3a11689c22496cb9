/** `mcp`: an agent for a language model. */
import { agentFlag } from "../agent.ts";
import { findPlace } from "../agent_record.ts";
import type { Command } from "../command.ts";
import { badInput } from "../failure.ts";
import { usesHost } from "../hosting.ts";
import { parseRule, rules } from "../mcp/policy.ts";
import { readSettings } from "../service/settings.ts";

/** Behind a name, as in `../later.ts`. */
const serveModule = "../mcp/serve.ts";

export const mcp: Command = {
  path: "mcp",
  summary: "let a language model use this agent: an MCP server on standard input and output",
  details: [
    "A harness starts it: give it this command. It is a client of the agent's host, so any number of sessions and other",
    "commands use one agent at once. Messages are read with a position of their own, and what a session was given and did",
    "not acknowledge comes again to the next one. Keys, passphrases and invites never reach the model.",
  ],
  flags: [
    { name: "reader", value: "NAME", summary: 'the position that it reads with; "mcp" when not given' },
    {
      name: "policy",
      value: "RULE",
      summary: "for senders without a rule: accept, hold or refuse; accept when not given",
    },
    {
      name: "allow",
      value: "LIST",
      summary: "what else it may do, separated by commas: create, invite, join, remove, leave",
    },
    agentFlag,
  ],
  examples: [{ command: "mcp --agent reviewer", what: "as the agent named reviewer" }],
  run: async (context) => {
    const { given, platform } = context;
    if (!usesHost(context)) throw badInput("STATIC_HOST is off, and mcp is a client of the host", "Unset it");
    const rule = given.value("policy") ?? "accept";
    const policy = parseRule(rule);
    if (policy === undefined) throw badInput(`"${rule}" is not a rule`, `Use one of ${rules.join(", ")}`);
    const wanted = (given.value("allow") ?? "").split(",").map((word) => word.trim()).filter((word) => word !== "");
    const { key } = await readSettings(context);
    const link = (await findPlace(context))?.guest?.link;
    const secrets = [key?.apiKey, link, platform.variable("STATIC_PASSPHRASE")].filter((secret) =>
      secret !== undefined
    );
    const { allowable, serveMcp }: typeof import("../mcp/serve.ts") = await import(serveModule);
    const allowed = new Set(allowable.filter((name) => wanted.includes(name)));
    if (allowed.size !== new Set(wanted).size) {
      throw badInput(
        `--allow ${wanted.join(",")} contains a tool that cannot be allowed`,
        `Use some of ${allowable.join(",")}`,
      );
    }
    await serveMcp(context, { reader: given.value("reader") ?? "mcp", secrets, policy, allowed });
  },
};
