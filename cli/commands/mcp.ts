/** `mcp`: an agent for a language model. */
import { agentFlag } from "../agent.ts";
import type { Command } from "../command.ts";
import { badInput } from "../failure.ts";
import { usesHost } from "../agent_access.ts";
import { parseRule, rules } from "../mcp/policy.ts";
import { modelSecrets } from "../mcp/secrets.ts";

/** Behind a name, as in `../lazy_sdk.ts`. */
const serveModule = "../mcp/serve.ts";

export const mcp: Command = {
  path: "mcp",
  summary: "let a language model use this agent: an MCP server on standard input and output",
  details: [
    "A harness, the program that runs the model, starts this command. The agent's host serves it, so that several sessions",
    "and commands can use one agent. It reads messages with its own position. Messages that a session received without asking",
    "for more afterwards are delivered again to the next one. Keys, passphrases and invites never reach the model.",
  ],
  flags: [
    {
      name: "reader",
      value: "NAME",
      summary: 'name of the reader, which has its own position; "mcp" when not given',
    },
    {
      name: "policy",
      value: "RULE",
      summary: "rule for senders without one: accept, hold or refuse; accept when not given",
    },
    { name: "hide-names", summary: "do not show the model what agents call themselves" },
    {
      name: "allow",
      value: "LIST",
      summary: "more tools for the model, separated by commas: create, invite, join, remove, leave",
    },
    agentFlag,
  ],
  examples: [{ command: "mcp --agent reviewer", what: "as the agent named reviewer" }],
  run: async (context) => {
    const { given } = context;
    if (!usesHost(context)) {
      throw badInput("mcp needs a host, but STATIC_HOST is off", "Unset STATIC_HOST");
    }
    const rule = given.value("policy") ?? "accept";
    const policy = parseRule(rule);
    if (policy === undefined) {
      throw badInput(`"${rule}" is not a rule`, `Use one of ${rules.join(", ")}`);
    }
    const wanted = (given.value("allow") ?? "").split(",").map((word) => word.trim()).filter((
      word,
    ) => word !== "");
    const secrets = await modelSecrets(context);
    const { allowable, serveMcp }: typeof import("../mcp/serve.ts") = await import(serveModule);
    const allowed = new Set(allowable.filter((name) => wanted.includes(name)));
    if (allowed.size !== new Set(wanted).size) {
      throw badInput(
        `--allow ${wanted.join(",")} contains a tool that cannot be allowed`,
        `Use some of ${allowable.join(",")}`,
      );
    }
    await serveMcp(context, {
      reader: given.value("reader") ?? "mcp",
      secrets,
      hideNames: given.has("hide-names"),
      policy,
      allowed,
    });
  },
};
