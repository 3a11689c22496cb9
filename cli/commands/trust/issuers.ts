/**
 * Domains whose badges this user believes: `trust add`, `trust refresh`, `trust mail`. A document
 * is asked for only for a domain that the user names, or named before.
 */
import {
  believeIssuer,
  fetchIssuerDocument,
  fetchIssuers,
  followIssuers,
  isDomain,
  type IssuerDocument,
  issuerKeyNumber,
  parseIssuerDocument,
  quoted,
  type TrustedIssuer,
  WireError,
} from "../../../proto/mod.ts";
import type { Command, Context } from "../../command.ts";
import { reasonOf } from "../../disk.ts";
import { badInput, Failure } from "../../failure.ts";
import { confirm } from "../../prompt.ts";
import { changedWords, changeTrust, readTrust, webOf } from "../../trust.ts";

const domainArgument = {
  name: "DOMAIN",
  summary: "a domain in lower case, such as acme.com",
  check: parseDomain,
};
export const yesFlag = { name: "yes", summary: "do not ask for confirmation" };

export const trustIssuer: Command = {
  path: "trust add",
  summary: "believe the badges of a domain, after looking at its keys",
  details: [
    "Reads https://DOMAIN/.well-known/static-agents, shows the domain and its keys as digits, and asks. From then on your agents",
    "show agents that have a badge of this domain as attested by it. Compare the digits with the domain's owner, outside of",
    "Static. Only certificates that this machine trusts count, and those of --ca-file.",
  ],
  arguments: [domainArgument],
  flags: [
    { name: "file", value: "FILE", summary: "take the document from a file, without the web" },
    yesFlag,
  ],
  examples: [
    { command: "trust add acme.com", what: "" },
    { command: "trust add acme.com --file static-agents", what: "from a file that you were given" },
  ],
  run: async (context) => {
    const { given, output, platform } = context;
    const domain = parseDomain(given.value("DOMAIN") ?? "");
    const file = given.value("file");
    const document =
      await (file === undefined
        ? output.progress(`asking ${domain}`, fetchOne(context, domain))
        : readDocument(context, file, domain));
    const before = (await readTrust(context)).domains.get(domain);
    const found = {
      source: file === undefined ? "web" : "file",
      readMs: platform.nowMs(),
    } as const;
    const issuer = believeIssuer(document, found);
    await output.note(
      `${domain} ${before === undefined ? "has these keys" : "has these keys now"}:`,
      ...keyLines(issuer, before),
    );
    await confirm(context, `Believe badges of ${domain} that these keys signed?`);
    await changeTrust(context, (trust) => ({
      ...trust,
      domains: new Map(trust.domains).set(domain, issuer),
    }));
    await output.result(issuerFields(domain, issuer), [
      `${output.paint("green", "✓")} Agents with a badge of ${domain} are attested from now on`,
    ]);
  },
};

export const refreshIssuers: Command = {
  path: "trust refresh",
  summary: "read the keys of the domains that you believe again",
  details: [
    "A new key that an older key of the domain endorses is believed. Other new keys, and keys that are gone without being",
    "closed, are reported as issuer_keys_changed and wait for you. Commands that stay, such as mcp and",
    "channel listen, do the same once a day. Domains that were added from",
    "a file are left out.",
  ],
  examples: [{ command: "trust refresh", what: "" }],
  run: async (context) => {
    const { output, platform } = context;
    const { domains } = await readTrust(context);
    const wanted = [...domains].filter(([, { source }]) => source === "web").map(([each]) => each);
    const fetched = await output.progress(
      "asking the domains",
      fetchIssuers(wanted, await webOf(context)),
    );
    await changeTrust(context, (trust) => followIssuers(trust, fetched, platform.nowMs()));
    const after = (await readTrust(context)).domains;
    const rows = wanted.map((domain) => {
      const [answer, issuer] = [fetched.get(domain), after.get(domain)];
      const failed = answer instanceof WireError ? answer : undefined;
      return { domain, issuer, failed, isNew: keysOf(issuer) > keysOf(domains.get(domain)) };
    });
    await output.result(
      {
        domains: rows.map(({ domain, issuer, failed }) => ({
          ...(issuer === undefined ? { domain } : issuerFields(domain, issuer)),
          ...(failed !== undefined && { error: { code: failed.code, message: failed.message } }),
        })),
      },
      rows.map(({ domain, issuer, failed, isNew }) =>
        `${domain}: ${
          failed !== undefined
            ? failed.message
            : issuer?.changed === true
            ? changedWords(domain, platform.program)
            : isNew
            ? "a new key, which an older one endorses, is believed"
            : "no other keys"
        }`
      ),
    );
    if (rows.length === 0) await output.note("No domain's keys came from the web");
  },
};

export const trustMail: Command = {
  path: "trust mail",
  summary: "believe the service about mailboxes of a domain",
  details: [
    "The service can say that an agent's account has a verified e-mail address of a domain. With this, such agents are shown",
    "as having a mailbox there; it is less than a badge of the domain itself.",
  ],
  arguments: [domainArgument],
  examples: [{ command: "trust mail umbrella.org", what: "" }],
  run: async (context) => {
    const domain = parseDomain(context.given.value("DOMAIN") ?? "");
    await changeTrust(context, (trust) => ({
      ...trust,
      mailDomains: new Set([...trust.mailDomains, domain]),
    }));
    await context.output.result({ mail_domain: domain }, [
      `${
        context.output.paint("green", "✓")
      } Agents with a mailbox at ${domain}, as the service says, are shown so`,
    ]);
  },
};

/** A domain, its keys, and how they came here. */
export function issuerFields(
  domain: string,
  issuer: TrustedIssuer,
): Readonly<Record<string, unknown>> {
  return {
    domain,
    source: issuer.source,
    read_at: new Date(issuer.readMs).toISOString(),
    ...(issuer.changed && { issuer_keys_changed: true }),
    keys: issuer.keys.map((key) => ({
      kid: key.kid,
      number: issuerKeyNumber(key),
      ...(key.closed && { closed: true }),
    })),
  };
}

/** Keys with their digits; beside a list of before, what is new and what is gone. */
function keyLines(issuer: TrustedIssuer, before: TrustedIssuer | undefined): string[] {
  const numbers = (of: TrustedIssuer | undefined): string[] => of?.keys.map(issuerKeyNumber) ?? [];
  const known = numbers(before);
  const lines = issuer.keys.map((key) => {
    const number = issuerKeyNumber(key);
    const isNew = before !== undefined && !known.includes(number);
    return `  ${number}  ${key.kid}${key.closed ? ", closed" : ""}${isNew ? ", new" : ""}`;
  });
  const gone = (before?.keys ?? []).filter((key) => !numbers(issuer).includes(issuerKeyNumber(key)))
    .map((key) => `  ${issuerKeyNumber(key)}  ${key.kid}, not there any more`);
  return [...lines, ...gone];
}

function keysOf(issuer: TrustedIssuer | undefined): number {
  return issuer?.keys.length ?? 0;
}

/** Throws what is wrong with it. */
export function parseDomain(text: string): string {
  if (isDomain(text)) return text;
  throw badInput(
    `${quoted(text, { max: 253 })} is not a domain`,
    "Write it in lower case and without https://, as in acme.com",
  );
}

async function fetchOne(context: Context, domain: string): Promise<IssuerDocument> {
  try {
    return await fetchIssuerDocument(domain, await webOf(context));
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new Failure(error.code, error.message, {
      advice: `Ask its owner for the file, and add it with: {} trust add ${domain} --file FILE`,
      cause: error,
    });
  }
}

async function readDocument(
  { platform: { files } }: Context,
  path: string,
  domain: string,
): Promise<IssuerDocument> {
  const text = await files.read(path).catch((cause) => {
    throw badInput(`Cannot read ${path}: ${reasonOf(cause)}`);
  });
  if (text === undefined) throw badInput(`There is no file ${path}`);
  try {
    return parseIssuerDocument(text, domain);
  } catch (error) {
    throw error instanceof WireError ? badInput(error.message) : error;
  }
}
