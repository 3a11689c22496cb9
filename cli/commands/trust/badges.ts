/**
 * Badges: `badge key new`, `badge key close`, `badge document` and `badge issue` for issuers,
 * `badge use` and `badge show` for their agents. None of them asks anything of the network, but to
 * learn the id of an agent of this user.
 */
import {
  accountOf,
  type Badge,
  equalBytes,
  formatBadge,
  formatIssuerDocument,
  isAgentId,
  isBadgeName,
  issuerDocumentPath,
  issuerKeyNumber,
  mailDomainOf,
  maxBadgeSeconds,
  parseBadges,
  quoted,
  type TrustedKey,
  verifyBadge,
  WireError,
} from "../../../proto/mod.ts";
import { agentFlag, withAgent } from "../../agent.ts";
import { agentName, badgeFileOf } from "../../agent_record.ts";
import { parseCount } from "../../arguments/values.ts";
import type { Command, Context, FlagSpec } from "../../command.ts";
import { reasonOf } from "../../disk.ts";
import { badInput } from "../../failure.ts";
import { table } from "../../output.ts";
import { confirm } from "../../prompt.ts";
import { isoTime, utc } from "../../texts/amounts.ts";
import { readTrust, tellHost } from "../../trust.ts";
import {
  findIssuerKeys,
  formatIssuerKeys,
  hasSigner,
  type IssuerKeys,
  readIssuerKeys,
  signBadge,
  withNewKey,
  withoutKey,
} from "./issuer_keys.ts";
import { parseDomain } from "./issuers.ts";

const domainFlag: FlagSpec = {
  name: "domain",
  value: "DOMAIN",
  summary: "the domain that issues the badges",
};
const keysFlag: FlagSpec = {
  name: "keys",
  value: "FILE",
  summary: "file of the domain's private keys; by default one of this user's own",
};
const seedBytes = 32;
const daySeconds = 24 * 60 * 60;
const [maxDays, defaultDays] = [maxBadgeSeconds / daySeconds, 30];
/** A leaf shows as many. */
const maxShown = 2;

export const addIssuerKey: Command = {
  path: "badge key new",
  summary: "make a key that issues badges of a domain, and print the domain's document",
  details: [
    `Put what is printed on the domain's web site, at ${issuerDocumentPath}. A further key is endorsed by the one before it, so`,
    "readers that believe the domain believe it too. The private key stays in a file of yours, or in --keys FILE on a stick.",
  ],
  flags: [domainFlag, keysFlag],
  examples: [{ command: "badge key new --domain acme.com > static-agents", what: "" }],
  run: async (context) => {
    const { platform } = context;
    const { domain, path } = issuerOf(context);
    const none: IssuerKeys = { document: { domain, keys: [], closed: [] }, seeds: new Map() };
    const before = await findIssuerKeys(context, path, domain) ?? none;
    const kid = freshName(before, new Date(platform.nowMs()).toISOString().slice(0, 7));
    await writeKeys(
      context,
      path,
      withNewKey(before, { kid, seed: platform.randomBytes(seedBytes) }),
    );
  },
};

export const closeIssuerKey: Command = {
  path: "badge key close",
  summary: "issue no more by a key, and print the domain's document",
  details: [
    "Badges that the key signed stay valid until they end. With --take-out the key leaves the document and its private half is",
    "deleted: do that once no badge by it is in use.",
  ],
  arguments: [{ name: "KID", summary: "name of the key, such as 2026-11" }],
  flags: [
    domainFlag,
    keysFlag,
    { name: "take-out", summary: "take the key out, and delete its private half" },
    { name: "yes", summary: "do not ask for confirmation" },
  ],
  examples: [{ command: "badge key close 2026-11 --domain acme.com > static-agents", what: "" }],
  run: async (context) => {
    const { given } = context;
    const { domain, path } = issuerOf(context);
    const keys = await readIssuerKeys(context, path, domain);
    const kid = given.value("KID") ?? "";
    const others = keys.document.keys.filter((each) => each.kid !== kid);
    if (others.length === keys.document.keys.length) {
      throw badInput(`${domain} has no key ${quoted(kid)}`);
    }
    const takeOut = given.has("take-out");
    if (takeOut && others.length === 0) throw badInput(`${domain} would have no key left`);
    if (takeOut) await confirm(context, `Delete the private key ${kid} of ${domain}?`);
    const left = withoutKey(keys, kid, { takeOut });
    await writeKeys(context, path, left);
    if (!hasSigner(left)) {
      await context.output.warn(
        `No open key of ${domain} is left: the next one is endorsed by none, and every reader must add the domain again`,
      );
    }
  },
};

export const showDocument: Command = {
  path: "badge document",
  summary: "print the document of a domain, to be put on its web site",
  flags: [domainFlag, keysFlag],
  examples: [{ command: "badge document --domain acme.com > static-agents", what: "" }],
  run: async (context) => {
    const { domain, path } = issuerOf(context);
    await printDocument(context, await readIssuerKeys(context, path, domain));
  },
};

export const issueBadge: Command = {
  path: "badge issue",
  summary: "sign a badge: this agent is NAME at DOMAIN",
  details: [
    "For an agent of yours, the badge is kept with it and shown in its channels. For another agent, give its id: the badge is",
    "printed, and its owner keeps it with badge use. A badge says whom the domain vouches for. It ends by itself.",
  ],
  flags: [
    domainFlag,
    { name: "name", value: "NAME", summary: "name of the agent at the domain, such as deploy-bot" },
    {
      name: "agent",
      value: "AGENT",
      summary: 'agent id, or one of your agents (or STATIC_AGENT; then "default")',
    },
    {
      name: "days",
      value: "DAYS",
      summary: `how long the badge is valid, at most ${maxDays}; ${defaultDays} when not given`,
    },
    keysFlag,
  ],
  examples: [
    { command: "badge issue --domain acme.com --name deploy-bot", what: "for your own agent" },
    {
      command: "badge issue --domain acme.com --name deploy-bot --agent Zk3f9aQ0mJ2vXr7LwT1bYg",
      what: "for another one",
    },
  ],
  run: async (context) => {
    const { given, output } = context;
    const { domain, path } = issuerOf(context);
    const keys = await readIssuerKeys(context, path, domain);
    const name = given.value("name") ?? "";
    if (!isBadgeName(name)) {
      throw badInput(
        `${quoted(name)} cannot be the name of an agent at ${domain}`,
        "Give --name with 1 to 64 of a-z, 0-9, dot, dash and underscore",
      );
    }
    const days = parseCount("days", given.value("days") ?? String(defaultDays));
    if (days > maxDays) throw badInput(`--days must be at most ${maxDays}, not ${days}`);
    const wanted = given.value("agent") ?? "";
    const isForeign = isAgentId(wanted);
    const agentId = isForeign ? wanted : await withAgent(
      context,
      (agent) => Promise.resolve(agent.agentId),
    );
    const notBefore = Math.floor(context.platform.nowMs() / 1000);
    const badge = signBadge(keys, {
      name,
      agentId,
      notBefore,
      notAfter: notBefore + days * daySeconds,
      attributes: [],
    });
    if (badge === undefined) {
      throw badInput(
        `${domain} has no open key in ${path}`,
        `Make one with: {} badge key new --domain ${domain}`,
      );
    }
    if (!isForeign) return await keepBadges(context, [badge]);
    await output.result(badgeFields(badge), [formatBadge(badge)]);
    await output.note(
      "Its owner keeps it with:",
      `  ${output.command(`${context.platform.program} badge use BADGE`)}`,
    );
  },
};

export const useBadge: Command = {
  path: "badge use",
  summary: "show a badge in this agent's channels",
  details: [
    "An agent shows two badges at most, one of each domain. The badge goes into the agent's next KeyPackages and commits; others",
    "see it after that.",
  ],
  arguments: [{ name: "BADGE", summary: "the badge, as badge_… or a file with it" }],
  flags: [agentFlag],
  examples: [{ command: "badge use deploy-bot.badge", what: "" }],
  run: async (context) => {
    const badges = await readBadges(context, context.given.value("BADGE") ?? "");
    await withAgent(context, async ({ agentId }) => {
      const nowMs = context.platform.nowMs();
      for (const badge of badges) {
        const { name, domain, notAfter } = badge;
        const why = !verifyBadge(badge)
          ? "its key did not sign it"
          : nowMs > notAfter * 1000
          ? `it has ended on ${utc(notAfter * 1000)}`
          : undefined;
        if (why !== undefined) throw badInput(`Cannot use the badge ${name} of ${domain}: ${why}`);
      }
      const other = badges.find((badge) => badge.agentId !== agentId);
      if (other === undefined) return await keepBadges(context, badges);
      throw badInput(
        `The badge ${other.name} of ${other.domain} is for agent ${other.agentId}, and agent "${
          agentName(context)
        }" is ${agentId}`,
        "Ask for one with this id, or choose another agent with --agent",
      );
    });
  },
};

export const showBadge: Command = {
  path: "badge show",
  summary: "show what a badge says, and whether you believe its issuer",
  arguments: [{
    name: "BADGE",
    summary: "the badge, as badge_… or a file with it; those of this agent when left out",
    optional: true,
  }],
  flags: [agentFlag],
  examples: [{ command: "badge show deploy-bot.badge", what: "" }],
  run: async (context) => {
    const { given, output, platform } = context;
    const named = given.value("BADGE");
    const badges = named === undefined
      ? await keptBadges(context)
      : await readBadges(context, named);
    const { domains } = await readTrust(context);
    const shown = badges.map((badge) => ({
      badge,
      verdict: verdictOn(badge, domains.get(badge.domain)?.keys ?? [], platform.nowMs()),
    }));
    await output.result(
      { badges: shown.map(({ badge, verdict }) => ({ ...badgeFields(badge), verdict })) },
      shown.flatMap(({ badge, verdict }) => table(badgeRows(badge, verdict))),
    );
    if (badges.length === 0) await output.note(`Agent "${agentName(context)}" has no badge`);
  },
};

/** The domain that was named, and the file of its keys. */
function issuerOf(
  { given, platform: { files, folders } }: Context,
): { readonly domain: string; readonly path: string } {
  const domain = given.value("domain");
  if (domain === undefined) throw badInput("Name the domain with --domain, as in acme.com");
  const usual = files.join(folders.credentialsFile, "..", "issuers", `${parseDomain(domain)}.json`);
  return { domain, path: files.absolute(given.value("keys") ?? usual) };
}

/** Names of closed keys are not given again. */
function freshName({ document: { keys, closed } }: IssuerKeys, month: string): string {
  const taken = new Set([...keys.map(({ kid }) => kid), ...closed]);
  for (let count = 1;; count++) {
    const name = count === 1 ? month : `${month}-${count}`;
    if (!taken.has(name)) return name;
  }
}

async function writeKeys(context: Context, path: string, keys: IssuerKeys): Promise<void> {
  await context.platform.files.writePrivate(path, formatIssuerKeys(keys));
  await printDocument(context, keys);
  const { domain } = keys.document;
  await context.output.note(
    `The private keys of ${domain} are in ${path}: keep a copy, and show it to nobody`,
    `Put the document at https://${domain}${issuerDocumentPath}`,
  );
}

async function printDocument({ output }: Context, { document }: IssuerKeys): Promise<void> {
  const text = formatIssuerDocument(document);
  await output.result(JSON.parse(text), text.trimEnd().split("\n"));
}

/** A badge as text, or the badges in a file. */
async function readBadges(context: Context, named: string): Promise<Badge[]> {
  const text = named.startsWith("badge_") ? named : await readText(context, named);
  if (text === undefined) throw badInput(`There is no file ${named}`);
  try {
    return parseBadges(text);
  } catch (error) {
    throw error instanceof WireError ? badInput(`${error.message}`) : error;
  }
}

async function readText(
  { platform: { files } }: Context,
  path: string,
): Promise<string | undefined> {
  return await files.read(path).catch((cause) => {
    throw badInput(`Cannot read ${path}: ${reasonOf(cause)}`);
  });
}

async function keptBadges(context: Context): Promise<Badge[]> {
  const path = badgeFileOf(context);
  return await readText(context, path) === undefined ? [] : await readBadges(context, path);
}

/** With those of other domains that the agent shows already. */
async function keepBadges(context: Context, badges: readonly Badge[]): Promise<void> {
  const { platform, output } = context;
  const others = (await keptBadges(context)).filter(({ domain }) =>
    !badges.some((each) => each.domain === domain)
  );
  const kept = [...badges, ...others].slice(0, maxShown);
  const text = kept.map((badge) => `${formatBadge(badge)}\n`).join("");
  await platform.files.writePrivate(badgeFileOf(context), text);
  await tellHost(context);
  for (const { domain } of others.filter((each) => !kept.includes(each))) {
    await output.warn(`The badge of ${domain} is shown no more: an agent shows ${maxShown}`);
  }
  await output.result(
    { badges: badges.map(badgeFields) },
    badges.map(({ name, domain, notAfter }) =>
      `${output.paint("green", "✓")} Agent "${
        agentName(context)
      }" shows that it is ${name} at ${domain}, until ${utc(notAfter * 1000)}`
    ),
  );
  await output.note(
    "Channels that the agent is in already see it with its next keys. To give it these now:",
    `  ${output.command(`${platform.program} channel rotate NAME`)}`,
  );
}

function badgeFields(badge: Badge): Readonly<Record<string, unknown>> {
  const { domain, name, agentId, notBefore, notAfter } = badge;
  const mail = mailDomainOf(badge);
  return {
    badge: formatBadge(badge),
    domain,
    name,
    agent_id: agentId,
    valid_from: isoTime(notBefore * 1000),
    valid_until: isoTime(notAfter * 1000),
    ...(mail !== undefined && { mail_domain: mail }),
    key: issuerKeyNumber({ key: badge.issuerKey }),
  };
}

function badgeRows(badge: Badge, verdict: string): string[][] {
  const { domain, name, agentId, notBefore, notAfter, issuerKey } = badge;
  return [
    ["Badge", `${name} at ${domain}`],
    ["Agent", agentId],
    ["Valid", `${utc(notBefore * 1000)} to ${utc(notAfter * 1000)}`],
    ["Key", issuerKeyNumber({ key: issuerKey })],
    ["Verdict", verdict],
  ];
}

function verdictOn(badge: Badge, keys: readonly TrustedKey[], nowMs: number): string {
  const { domain, issuerKey, notBefore, notAfter } = badge;
  if (!verifyBadge(badge)) return "false: this key did not sign it";
  if (keys.length === 0) return `not believed: ${domain} is not in your trust list`;
  if (!keys.some(({ key }) => equalBytes(key, issuerKey))) {
    return `not believed: your trust list has other keys of ${domain}`;
  }
  if (nowMs < notBefore * 1000) return "not valid yet";
  if (nowMs > notAfter * 1000) return "expired";
  return accountOf(badge) === undefined
    ? `attested by ${domain}`
    : "of an account: the service's word about whose agent it is, and no word of a domain";
}
