import { ed25519 } from "@noble/curves/ed25519.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { assertEquals } from "@std/assert";
import { agentIdOf, parseAccountId } from "../base/ids.ts";
import { attest, type Attestation, type BadgeReader, notAttested } from "./attestation.ts";
import {
  type Badge,
  badgeAttributes,
  badgeStatement,
  type UnsignedBadge,
  verifyBadge,
} from "./badge.ts";
import { nobodyKnown, type Trust } from "./trust.ts";
import type { TrustedIssuer } from "./trusted_issuers.ts";

const seedOf = (number: number): Uint8Array => new Uint8Array(32).fill(number);
const keyOf = (number: number): Uint8Array => ed25519.getPublicKey(seedOf(number));
const [acme, service, stranger] = [1, 2, 3];
const agentId = agentIdOf(keyOf(9), utf8ToBytes("ceo@acme.com"));
const account = parseAccountId("018f0000-1111-7222-8333-444455556666");
const other = parseAccountId("018f0000-1111-7222-8333-444455557777");
const seconds = 1_800_000_000;
const day = 24 * 60 * 60;

function badge(by: number, fields: Partial<UnsignedBadge> = {}): Badge {
  const unsigned = {
    domain: "acme.com",
    issuerKey: keyOf(by),
    name: "deploy-bot",
    agentId,
    notBefore: seconds,
    notAfter: seconds + 30 * day,
    attributes: [],
    ...fields,
  };
  return { ...unsigned, signature: ed25519.sign(badgeStatement(unsigned), seedOf(by)) };
}

function ofService(of: { account?: typeof account; mailDomain?: string }): Badge {
  const attributes = badgeAttributes(of);
  return badge(service, { domain: "api.example", name: "account", attributes });
}

function issuer(...numbers: number[]): TrustedIssuer {
  const keys = numbers.map((number) => ({
    kid: String(number),
    key: keyOf(number),
    closed: number === 5,
  }));
  return { keys, source: "file", readMs: 0, changed: false };
}

const trust: Trust = { ...nobodyKnown, domains: new Map([["acme.com", issuer(acme, 5)]]) };
const own = { account, issuer: { domain: "api.example", keys: [keyOf(4), keyOf(service)] } };
const reader: BadgeReader = { trust, own, nowMs: (seconds + day) * 1000, holds: verifyBadge };

function judge(badges: readonly Badge[], by: Partial<BadgeReader> = {}): Attestation {
  return attest({ agentId, badges }, { ...reader, ...by });
}

const deployBot = {
  domain: "acme.com",
  name: "deploy-bot",
  untilMs: (seconds + 30 * day) * 1000,
  how: "domain",
} as const;

Deno.test("an agent is attested by a domain of the reader's list, with the key of the list", () => {
  assertEquals(judge([badge(acme)]), { ...notAttested, attested: deployBot });
  assertEquals(judge([badge(5)]).attested, deployBot, "what a closed key signed counts");
  assertEquals(judge([badge(stranger)]), notAttested, "acme.com, by a key of its own");
  assertEquals(judge([badge(acme)], { trust: nobodyKnown }), notAttested, "nobody on the list");
  assertEquals(judge([badge(acme, { domain: "acme.org" })]), notAttested);
  assertEquals(judge([]), notAttested);
});

Deno.test("a copied badge, and one that was changed, say nothing", () => {
  const thief = agentIdOf(keyOf(8), utf8ToBytes("ceo@acme.com"));
  const renamed = agentIdOf(keyOf(9), utf8ToBytes("deploy@acme.com"));
  for (const id of [thief, renamed]) {
    assertEquals(attest({ agentId: id, badges: [badge(acme)] }, reader), notAttested);
  }
  assertEquals(judge([{ ...badge(acme), name: "ceo" }]), notAttested);
});

Deno.test("a signature is verified only for issuers that the reader believes, and who is named", () => {
  const asked: string[] = [];
  const holds = ({ domain, name }: Badge): boolean => asked.push(`${name}@${domain}`) > 0;
  judge([badge(stranger), badge(acme, { domain: "acme.org" })], { holds });
  assertEquals(asked, []);
  judge([badge(stranger), badge(acme)], { holds });
  assertEquals(asked, ["deploy-bot@acme.com"]);
});

Deno.test("a badge counts from its beginning to its end, by the reader's clock", () => {
  const at = (ms: number): Attestation => judge([badge(acme)], { nowMs: ms });
  const [start, end] = [seconds * 1000, deployBot.untilMs];
  assertEquals(at(end).attested, deployBot);
  assertEquals(at(end + 1), { ...notAttested, badgeExpired: deployBot });
  assertEquals(at(start - 10 * 60_000).attested, deployBot, "the issuer's clock may be ahead");
  assertEquals(at(start - 10 * 60_000 - 1), notAttested);
  const renewed = badge(acme, { notBefore: seconds + 20 * day, notAfter: seconds + 50 * day });
  const late = judge([badge(acme), renewed], { nowMs: end + 1 });
  assertEquals(late.attested?.untilMs, (seconds + 50 * day) * 1000);
  assertEquals(late.badgeExpired, undefined);
});

Deno.test("the service says whose account an agent belongs to, and another account is not this one", () => {
  assertEquals(judge([ofService({ account })]), { ...notAttested, sameAccount: true });
  assertEquals(judge([ofService({ account: other })]), notAttested);
  assertEquals(judge([ofService({ account })], { own: undefined }), notAttested);
  const over = { nowMs: (seconds + 31 * day) * 1000 };
  assertEquals(judge([ofService({ account })], over), notAttested);
  const attributes = badgeAttributes({ account });
  assertEquals(judge([badge(acme, { attributes })]).sameAccount, false, "not acme.com's to say");
  const forged = badge(stranger, { domain: "api.example", attributes });
  assertEquals(judge([forged]), notAttested);
});

Deno.test("whoever has an account is not attested by the service's domain, listed or not", () => {
  const domains = new Map([["api.example", issuer(service)]]);
  for (
    const badges of [[ofService({ account: other })], [
      ofService({ account: other, mailDomain: "acme.com" }),
    ]]
  ) {
    assertEquals(judge(badges, { trust: { ...trust, domains } }), notAttested);
  }
  const named = badge(service, { domain: "api.example" });
  assertEquals(judge([named], { trust: { ...trust, domains } }).attested?.domain, "api.example");
});

Deno.test("a mailbox counts if its domain is on the list of mail domains, and as a mailbox", () => {
  const badges = [ofService({ account, mailDomain: "umbrella.org" })];
  assertEquals(judge(badges).attested, undefined);
  const mail = { ...trust, mailDomains: new Set(["umbrella.org"]) };
  const mailbox = {
    ...deployBot,
    domain: "umbrella.org",
    name: "account",
    how: "mailbox",
  } as const;
  assertEquals(judge(badges, { trust: mail }), {
    attested: mailbox,
    badgeExpired: undefined,
    sameAccount: true,
  });
  assertEquals(judge([...badges, badge(acme)], { trust: mail }).attested, deployBot);
  // A domain's own badge says nothing about mailboxes, and mail domains make no issuers.
  const posing = badge(acme, { attributes: badgeAttributes({ mailDomain: "umbrella.org" }) });
  assertEquals(judge([posing], { trust: mail }).attested, deployBot);
  const asIssuer = badge(stranger, { domain: "umbrella.org" });
  assertEquals(judge([asIssuer], { trust: mail }), notAttested);
});
