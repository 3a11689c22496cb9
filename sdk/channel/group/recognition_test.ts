import { utf8ToBytes } from "@noble/hashes/utils.js";
import { assertEquals } from "@std/assert";
import {
  agentIdOf,
  badgeAttributes,
  encodeBadges,
  nobodyKnown,
  notAttested,
  parseAccountId,
  type Trust,
} from "../../../proto/mod.ts";
import { verifyEd25519Batch } from "../../../wasm/mod.ts";
import { badgeSeconds, Issuer } from "../../mls/testing/issuer.ts";
import { Recogniser, type ShownAgent } from "./recognition.ts";

const acme = new Issuer();
const service = new Issuer("api.example", 8);
const account = parseAccountId("018f0000-1111-7222-8333-444455556666");
const key = { kid: "1", key: acme.key, closed: false };
const trusting: Trust = {
  ...nobodyKnown,
  domains: new Map([["acme.com", { keys: [key], source: "file", readMs: 0, changed: false }]]),
};

function agentOf(number: number): ShownAgent["agentId"] {
  return agentIdOf(new Uint8Array(32).fill(number), utf8ToBytes("ceo@acme.com"));
}

/** Counts what is verified. */
function createRecogniser(trust: () => Trust = () => trusting): {
  readonly recogniser: Recogniser;
  readonly verified: number[];
} {
  const verified: number[] = [];
  const recogniser = new Recogniser({
    trust: {
      get names() {
        return trust().names;
      },
      get domains() {
        return trust().domains;
      },
      get mailDomains() {
        return trust().mailDomains;
      },
    },
    ownAccount: () => ({ account, issuer: { domain: service.domain, keys: [service.key] } }),
    nowMs: () => (badgeSeconds + 60) * 1000,
    signatures: {
      verifyHandshakes: (items) => {
        verified.push(items.length);
        return verifyEd25519Batch(items);
      },
    },
  });
  return { recogniser, verified };
}

Deno.test("a badge is verified once, however many messages come", () => {
  const { recogniser, verified } = createRecogniser();
  const agentId = agentOf(1);
  const badges = acme.shown(agentId);
  for (let i = 0; i < 3; i++) {
    assertEquals(recogniser.of({ agentId, badges }).attested?.name, "deploy-bot");
  }
  assertEquals(verified, [1]);
  assertEquals(recogniser.of({ agentId }), { knownAs: undefined, ...notAttested });
});

Deno.test("members are verified together, and one wrong signature spoils no other", () => {
  const { recogniser, verified } = createRecogniser();
  const members = [1, 2, 3].map((number) => {
    const agentId = agentOf(number);
    return { agentId, badges: acme.shown(agentId) };
  });
  const names = (agents: readonly ShownAgent[]): unknown[] =>
    recogniser.all(agents).map(({ attested }) => attested?.name);
  assertEquals(names(members), ["deploy-bot", "deploy-bot", "deploy-bot"]);
  assertEquals(verified, [3]);
  const forged = agentOf(4);
  const { signature } = acme.badge(forged, { name: "another" });
  const wrong = encodeBadges([{ ...acme.badge(forged), signature }]);
  const right = { agentId: agentOf(5), badges: acme.shown(agentOf(5)) };
  assertEquals(names([{ agentId: forged, badges: wrong }, right]), [undefined, "deploy-bot"]);
  assertEquals(verified, [3, 2, 1, 1]);
  assertEquals(names(members), ["deploy-bot", "deploy-bot", "deploy-bot"]);
  assertEquals(verified, [3, 2, 1, 1]);
});

Deno.test("nothing of an issuer that nobody believes is verified, and a change of the list counts at once", () => {
  let trust = nobodyKnown;
  const { recogniser, verified } = createRecogniser(() => trust);
  const agentId = agentOf(1);
  const agent = { agentId, badges: acme.shown(agentId) };
  assertEquals([recogniser.of(agent).attested, verified], [undefined, []]);
  trust = trusting;
  assertEquals(recogniser.of(agent).attested?.domain, "acme.com");
  trust = { ...nobodyKnown, names: new Map([[agentId, "Alice"]]) };
  assertEquals(recogniser.of(agent), { knownAs: "Alice", ...notAttested });
});

Deno.test("a verdict ends with its badge, a second later at most", () => {
  let nowMs = (badgeSeconds + 60) * 1000;
  const recogniser = new Recogniser({
    trust: trusting,
    ownAccount: () => undefined,
    nowMs: () => nowMs,
    signatures: { verifyHandshakes: verifyEd25519Batch },
  });
  const agentId = agentOf(1);
  const agent = { agentId, badges: acme.shown(agentId, { notAfter: badgeSeconds + 60 }) };
  assertEquals(recogniser.of(agent).attested?.name, "deploy-bot");
  nowMs += 1000;
  assertEquals([recogniser.of(agent).attested, recogniser.of(agent).badgeExpired?.name], [
    undefined,
    "deploy-bot",
  ]);
  nowMs -= 1000;
  assertEquals(recogniser.of(agent).attested?.name, "deploy-bot", "a clock that was set back");
  assertEquals(recogniser.of({ ...agent, agentId: agentOf(2) }).attested, undefined, "a copy");
});

Deno.test("an agent of the same account, and malformed badges", () => {
  const { recogniser } = createRecogniser();
  const agentId = agentOf(1);
  const badges = service.shown(agentId, { attributes: badgeAttributes({ account }) });
  assertEquals(recogniser.of({ agentId, badges }).sameAccount, true);
  const cut = { agentId, badges: badges.subarray(1) };
  assertEquals(recogniser.of(cut), { knownAs: undefined, ...notAttested });
});

Deno.test("the badges of many members are verified in parts, and then nothing is left", () => {
  const { recogniser, verified } = createRecogniser();
  const members = Array.from({ length: 100 }, (_, number) => {
    const agentId = agentOf(number);
    return { agentId, badges: acme.shown(agentId) };
  });
  let before = 0;
  for (const _ of recogniser.prepare(members)) {
    const now = verified.reduce((sum, count) => sum + count, 0);
    assertEquals(now - before <= 32, true, "as many as a turn may have");
    before = now;
  }
  assertEquals(verified, [32, 32, 32, 4]);
  assertEquals(recogniser.all(members).every(({ attested }) => attested !== undefined), true);
  assertEquals(verified.length, 4);
});
