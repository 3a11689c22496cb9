/**
 * `trust.json` of a user: names that the user gave to agents (petnames), each after comparing the
 * agent's number, and domains whose badges the user believes. The CLI writes it and the SDK reads
 * it. A name that an agent chose itself proves nothing; one of this list is the user's own word.
 */
import { userFile, type UserPlaces } from "../api/credentials.ts";
import { isDomain } from "../base/domain.ts";
import { WireError } from "../base/errors.ts";
import { isAgentId } from "../base/ids.ts";
import { isClean, quoted } from "../base/shown_text.ts";
import { issuerFromJson, issuerToJson, type TrustedIssuer } from "./trusted_issuers.ts";

/** The agents that a user knows. Each is asked for every message, so a change counts at once. */
export interface Trust {
  /** The user's own names for agents, by agent id. */
  readonly names: ReadonlyMap<string, string>;
  /** Issuers whose badges the user believes, by domain. */
  readonly domains: ReadonlyMap<string, TrustedIssuer>;
  /** Domains for whose mailboxes the user believes the service. */
  readonly mailDomains: ReadonlySet<string>;
}

export const nobodyKnown: Trust = {
  names: new Map(),
  domains: new Map(),
  mailDomains: new Set(),
};

const maxNameLength = 64;
/** A person decides about each. */
const maxDomains = 1000;

/** `static/trust.json` in the user's folder for configuration. */
export function trustPath(places: UserPlaces): string {
  return userFile("trust.json", places);
}

/**
 * Throws `invalid_request` for a file in which a name is not clean, or stands twice, or a domain is
 * none: then nobody is known.
 */
export function parseTrust(text: string, path: string): Trust {
  const file = parseJson(text);
  if (!isObject(file)) throw unusable(path, "it is not a JSON object");
  const names = new Map<string, string>();
  for (const [agentId, name] of entriesOf(file, "names", path)) {
    if (!isAgentId(agentId) || typeof name !== "string") {
      throw unusable(path, "an entry is not an agent id and a name");
    }
    const why = whyNot(names, agentId, name);
    if (why !== undefined) throw unusable(path, `${quoted(name)} cannot be a name: ${why}`);
    names.set(agentId, name);
  }
  const domains = new Map<string, TrustedIssuer>();
  for (const [domain, entry] of entriesOf(file, "domains", path)) {
    const issuer = isDomain(domain) ? issuerFromJson(entry) : undefined;
    if (issuer === undefined) {
      throw unusable(path, `${quoted(domain, { max: 253 })} is not a domain with its keys`);
    }
    domains.set(domain, issuer);
  }
  const { mail_domains: mail = [] } = file;
  if (!Array.isArray(mail) || !mail.every((each) => typeof each === "string" && isDomain(each))) {
    throw unusable(path, "mail_domains is not a list of domains");
  }
  if (Math.max(domains.size, mail.length) > maxDomains) {
    throw unusable(path, `it has more than ${maxDomains} domains`);
  }
  return { names, domains, mailDomains: new Set(mail) };
}

/**
 * Returns the file with this content. Its other fields stay as they were: a later version may have
 * written them.
 */
export function formatTrust({ names, domains, mailDomains }: Trust, before = "{}"): string {
  const file = parseJson(before);
  const content = {
    ...(isObject(file) ? file : {}),
    names: Object.fromEntries(names),
    domains: Object.fromEntries(
      Array.from(domains, ([domain, issuer]) => [domain, issuerToJson(issuer)]),
    ),
    mail_domains: [...mailDomains],
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/**
 * Throws `invalid_request` for a name that cannot be told from something else: an id, a rule,
 * another agent's name.
 */
export function addName(names: Map<string, string>, agentId: string, name: string): void {
  const why = whyNot(names, agentId, name);
  if (why !== undefined) {
    throw new WireError("invalid_request", `Cannot use ${quoted(name)} as a name: ${why}`);
  }
  names.set(agentId, name);
}

function whyNot(
  names: ReadonlyMap<string, string>,
  agentId: string,
  name: string,
): string | undefined {
  const other = [...names].find(([id, each]) => id !== agentId && folded(each) === folded(name))
    ?.[0];
  return isAgentId(name)
    ? "it looks like an agent id"
    : /^\*|@/.test(name)
    ? "it has an @ or begins with *, which stand for rules and addresses"
    : isDomain(folded(name))
    ? "it looks like a domain"
    : name.length === 0 || name.length > maxNameLength
    ? `a name has 1 to ${maxNameLength} characters`
    : !isClean(name)
    ? "it has signs that cannot be seen, spaces at an end, or letters of several scripts"
    : other !== undefined
    ? `agent ${other} has that name`
    : undefined;
}

/** Names that differ in case or width only are one. */
function folded(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

function entriesOf(
  file: Readonly<Record<string, unknown>>,
  field: string,
  path: string,
): [string, unknown][] {
  const { [field]: entries = {} } = file;
  if (!isObject(entries)) throw unusable(path, `${field} is not an object`);
  return Object.entries(entries);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unusable(path: string, why: string): WireError {
  return new WireError("invalid_request", `Cannot use ${path}: ${why}`);
}
