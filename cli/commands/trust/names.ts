/** Agents that this user knows: `trust name`, `trust list`, `trust remove`, and `agents number`. */
import {
  addName,
  agentInWords,
  parseAgentId,
  quoted,
  type Trust,
  WireError,
} from "../../../proto/mod.ts";
import type { ChannelMember } from "../../../sdk/mod.ts";
import { agentFlag, withAgent } from "../../agent.ts";
import { agentName } from "../../agent_record.ts";
import type { Command, Context } from "../../command.ts";
import { badInput, Failure } from "../../failure.ts";
import type { CommandAgent } from "../../agent_access.ts";
import { table } from "../../output.ts";
import { confirm } from "../../prompt.ts";
import { changedWords, changeTrust, readTrust } from "../../trust.ts";
import { issuerFields } from "./issuers.ts";

export const nameAgent: Command = {
  path: "trust name",
  summary: "give an agent a name of your own, after comparing its number",
  details: [
    "Names that agents choose for themselves prove nothing. Ask the agent's owner for the 40 digits of agents number, outside",
    "of Static. The command shows the digits of the agent with this id and asks whether they are the same. From then on your",
    "agents show the agent under your name, and take the name as its address. Only you see it.",
  ],
  arguments: [
    { name: "AGENT_ID", summary: "agent id, as shown by channel members", check: parseAgentId },
    { name: "NAME", summary: "your name for it, up to 64 characters" },
  ],
  flags: [{
    name: "yes",
    summary: "do not show the digits and do not ask: you have compared the agent id",
  }, agentFlag],
  examples: [{ command: 'trust name Zk3f9aQ0mJ2vXr7LwT1bYg "Alice\'s laptop"', what: "" }],
  run: async (context) => {
    const { given, output } = context;
    const [agentId, name] = [
      parseAgentId(given.value("AGENT_ID") ?? ""),
      given.value("NAME") ?? "",
    ];
    // A name that cannot be used is refused before anybody reads digits. Names may be given and
    // taken back meanwhile.
    withName(await readTrust(context), agentId, name);
    if (!given.has("yes")) await compare(context, agentId);
    await changeTrust(context, (trust) => withName(trust, agentId, name));
    await output.result({ agent_id: agentId, known_as: name }, [
      `${output.paint("green", "✓")} ${agentId} is ${quoted(name)} from now on`,
    ]);
  },
};

export const listTrusted: Command = {
  path: "trust list",
  summary: "list the names that you gave to agents, and the domains that you believe",
  examples: [{ command: "trust list", what: "" }],
  run: async (context) => {
    const { output, platform } = context;
    const { names, domains, mailDomains } = await readTrust(context);
    const known = Array.from(names, ([agent_id, known_as]) => ({ agent_id, known_as }));
    const named = known.map(({ agent_id, known_as }) => [agent_id, quoted(known_as)]);
    const believed = [
      ...Array.from(domains, ([domain, { keys, source, changed }]) => [
        domain,
        keys.map(({ kid }) => kid).join(" "),
        changed ? changedWords(domain, platform.program) : `keys from the ${source}`,
      ]),
      ...Array.from(mailDomains, (domain) => [domain, "", "mailboxes, as the service says"]),
    ];
    await output.result({
      known,
      domains: Array.from(domains, ([domain, issuer]) => issuerFields(domain, issuer)),
      mail_domains: [...mailDomains],
    }, [
      ...(named.length === 0 ? [] : table([["AGENT ID", "NAME"], ...named])),
      ...(believed.length === 0 ? [] : table([["DOMAIN", "KEYS", ""], ...believed])),
    ]);
    if (named.length + believed.length === 0) {
      await output.note("You have given no names, and believe no domain");
    }
  },
};

export const removeTrusted: Command = {
  path: "trust remove",
  summary: "take a name back, or believe a domain no more",
  arguments: [{ name: "NAME", summary: "the name, the agent id, or the domain" }],
  examples: [
    { command: 'trust remove "Alice\'s laptop"', what: "" },
    { command: "trust remove acme.com", what: "" },
  ],
  run: async (context) => {
    const { output, given } = context;
    const wanted = given.value("NAME") ?? "";
    const { names, domains, mailDomains } = await readTrust(context);
    const [agentId, name] = [...names].find((entry) => entry.includes(wanted)) ?? [];
    const isDomain = domains.has(wanted) || mailDomains.has(wanted);
    if (agentId === undefined && !isDomain) {
      throw new Failure("not_found", `${quoted(wanted)} is no name or domain in your list`, {
        advice: "See them with: {} trust list",
      });
    }
    await changeTrust(context, (trust) => ({
      names: new Map([...trust.names].filter(([each]) => each !== agentId)),
      domains: new Map([...trust.domains].filter(([each]) => each !== wanted)),
      mailDomains: new Set([...trust.mailDomains].filter((each) => each !== wanted)),
    }));
    await output.result(
      agentId === undefined ? { domain: wanted, removed: wanted } : {
        agent_id: agentId,
        removed: name,
      },
      [`${output.paint("green", "✓")} ${
        agentId === undefined
          ? `Badges of ${wanted} are no longer believed`
          : `${agentId} is no longer ${quoted(name ?? "")}`
      }`],
    );
  },
};

export const showNumber: Command = {
  path: "agents number",
  summary: "show the number of this agent, for others to compare",
  details: [
    "Tell the 40 digits outside of Static, for example by telephone. Others name this agent by them with trust name.",
  ],
  flags: [agentFlag],
  examples: [{ command: "agents number", what: "" }],
  run: (context) =>
    withAgent(context, async (agent) => {
      const { agentId: agent_id } = agent;
      const number = await agent.number();
      await context.output.result({ agent_id, number }, [number]);
      await context.output.note(`Agent id: ${agent_id}`);
    }),
};

/** Throws for a name that cannot be used. */
function withName(trust: Trust, agentId: string, name: string): Trust {
  const names = new Map(trust.names);
  try {
    addName(names, agentId, name);
    return { ...trust, names };
  } catch (error) {
    throw error instanceof WireError ? badInput(error.message) : error;
  }
}

/** Throws unless the user says that the digits are the same. */
async function compare(context: Context, agentId: string): Promise<void> {
  await withAgent(context, async (agent) => {
    const found = await findAgent(agent, agentId);
    if (found === undefined) {
      throw new Failure(
        "not_found",
        `Agent ${agentId} is in no channel of agent "${agentName(context)}"`,
        {
          advice:
            "Act as an agent that shares a channel with it, with --agent NAME; or use --yes if you have compared the id",
        },
      );
    }
    await context.output.note(
      `${agentId}  ${agentInWords(found.member)}`,
      `Its number: ${found.number}`,
    );
    await confirm(context, "Did its owner tell you the same digits?");
  });
}

async function findAgent(
  agent: CommandAgent,
  wanted: string,
): Promise<{ readonly member: ChannelMember; readonly number: string } | undefined> {
  for (const name of agent.channels) {
    const channel = await agent.enter("open", { channel: name });
    const member = channel.members().find(({ agentId, absent }) => agentId === wanted && !absent);
    if (member !== undefined) return { member, number: await channel.numberOf(wanted) };
  }
  return undefined;
}
