/**
 * A person's decisions about senders: their messages reach the model, are held until the person has
 * looked, or are dropped. The rules are a file in the agent's folder and are read for each message,
 * so a change counts at once. Senders go by agent id, because any agent can call itself as it
 * likes, and a person may change the own name for one.
 */
import {
  type AgentId,
  isAgentId,
  isDomain,
  parseAgentId,
  quoted,
  type SeenAgent,
} from "../../proto/mod.ts";
import type { Context } from "../command.ts";
import { agentName } from "../agent_record.ts";
import { badInput, Failure } from "../failure.ts";
import { readTrust } from "../trust.ts";

export const rules = ["accept", "hold", "refuse"] as const;
export type SenderRule = typeof rules[number];

/** Stands for every sender without a rule of its own. */
export const others = "*";
/** Stands for every sender that the user has named. */
export const named = "@named";
/** Stands for every sender of the account of this agent. */
export const ownAccount = "@own-account";

/** Stands for every sender that this domain attests; undefined for what is no domain. */
export function domainOfRule(key: string): string | undefined {
  const domain = key.startsWith("@") ? key.slice(1) : "";
  return isDomain(domain) ? domain : undefined;
}

/** A sender as far as rules ask. */
export type JudgedSender = Pick<SeenAgent, "knownAs" | "attested" | "sameAccount"> & {
  readonly agentId: string;
};

export function parseRule(text: string | undefined): SenderRule | undefined {
  return rules.find((rule) => rule === text);
}

/** The folder of what belongs to models, of the chosen agent. */
export function modelFolder(context: Context): string {
  const { files, folders } = context.platform;
  return files.join(folders.agents, agentName(context), "mcp");
}

/**
 * The most exact rule wins: by agent id, for all named senders, for those of a domain, for those of
 * this account, for the others. A mailbox is less than the word of a domain, and has no rule.
 */
export function ruleOf(
  policy: Readonly<Record<string, SenderRule>>,
  { agentId, knownAs, attested, sameAccount }: JudgedSender,
): SenderRule | undefined {
  const keys = [
    agentId,
    ...(knownAs === undefined ? [] : [named]),
    ...(attested?.how === "domain" ? [`@${attested.domain}`] : []),
    ...(sameAccount === true ? [ownAccount] : []),
    others,
  ];
  const key = keys.find((each) => Object.hasOwn(policy, each));
  return key === undefined ? undefined : policy[key];
}

/** Returns the rules by sender. Throws when the file cannot be used: then nobody is let through. */
export async function readPolicy(context: Context): Promise<Readonly<Record<string, SenderRule>>> {
  const text = await context.platform.files.read(policyFile(context));
  if (text === undefined) return {};
  const parsed: unknown = parsedOrUndefined(text);
  const entries = typeof parsed === "object" && parsed !== null
    ? Object.entries(parsed)
    : undefined;
  const isRight = entries?.every(([, rule]) => parseRule(rule) !== undefined) === true;
  if (entries !== undefined && isRight) return Object.fromEntries(entries);
  const advice = "Correct it, or delete it and set the rules again with: {} mcp policy";
  throw new Failure("store_corrupt", `${policyFile(context)} is not a list of rules`, { advice });
}

export async function writeRule(context: Context, sender: string, rule: SenderRule): Promise<void> {
  const policy = { ...await readPolicy(context), [sender]: rule };
  await context.platform.files.writePrivate(
    policyFile(context),
    `${JSON.stringify(policy, undefined, 2)}\n`,
  );
}

function policyFile(context: Context): string {
  return context.platform.files.join(modelFolder(context), "policy.json");
}

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An agent id, or a word that stands for senders. A name that an agent chose itself is none. */
export async function senderOf(context: Context, text: string): Promise<string> {
  if ([others, named, ownAccount].includes(text)) return text;
  const domain = domainOfRule(text);
  if (domain !== undefined && (await readTrust(context)).domains.has(domain)) return text;
  if (domain !== undefined) {
    throw badInput(`${domain} is not in your trust list`, `Add it with: {} trust add ${domain}`);
  }
  return await memberOf(context, text);
}

/** An agent id, or the user's name for an agent. */
export async function memberOf(context: Context, text: string): Promise<AgentId> {
  if (isAgentId(text)) return text;
  const [agentId] = [...(await readTrust(context)).names].find(([, name]) => name === text) ?? [];
  if (agentId !== undefined) return parseAgentId(agentId);
  throw badInput(
    `${quoted(text)} is neither an agent id nor a name that you gave an agent`,
    "Name it with: {} trust name",
  );
}
