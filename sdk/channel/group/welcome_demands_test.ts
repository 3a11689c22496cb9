import { assertEquals, assertThrows } from "@std/assert";
import { type Attested, nobodyKnown, notAttested, parseAgentId } from "../../../proto/mod.ts";
import { StaticError } from "../../base/errors.ts";
import type { Group } from "../../mls/group.ts";
import {
  checkDemands,
  checkOpened,
  checkWelcomed,
  type WelcomeDemands,
} from "./welcome_demands.ts";

const [inviter, other] = ["a", "b"].map((letter) => parseAgentId(letter.repeat(22)));
const word: Attested = { domain: "acme.com", name: "deploy-bot", untilMs: 1, how: "domain" };

/** The code with which it ends: the inviter has this word, and another member that of acme.com. */
function judged(
  demands: WelcomeDemands,
  { attested, required = false }: { attested?: Attested | undefined; required?: boolean },
): unknown {
  const group = {
    members: () => [{ agentId: other }, { agentId: inviter }],
    binding: { issuers: { required, issuers: [] } },
  } as unknown as Group; // cast: with what is read here
  const recogniser = {
    of: ({ agentId }: { readonly agentId: string }) => ({
      ...notAttested,
      knownAs: undefined,
      attested: agentId === inviter ? attested : word,
    }),
  };
  const [code, inAlready] = [checkWelcomed, checkOpened].map((check) => {
    try {
      return check(group, inviter, demands, recogniser);
    } catch (error) {
      return error instanceof StaticError ? error.code : error;
    }
  });
  assertEquals(inAlready, code, "one that is in already has the same demands");
  return code;
}

Deno.test("a joiner enters only by an agent that the domain attests, and not by its mailbox", () => {
  const from = "acme.com";
  assertEquals(judged({ from }, { attested: word }), undefined);
  for (
    const attested of [
      undefined,
      { ...word, domain: "evil.com" },
      { ...word, how: "mailbox" as const },
    ]
  ) {
    assertEquals(judged({ from }, { attested }), "not_attested");
    assertEquals(judged({}, { attested }), undefined);
  }
});

Deno.test("a joiner may demand a channel that requires badges", () => {
  assertEquals(judged({ requireIssuers: true }, {}), "not_attested");
  assertEquals(judged({ requireIssuers: true }, { required: true }), undefined);
});

Deno.test("a demand that no domain can meet is refused before anybody is asked", () => {
  const issuer = { keys: [], source: "web", readMs: 0, changed: false } as const;
  const trust = { domains: new Map([["acme.com", issuer]]) };
  checkDemands({ from: "acme.com" }, trust);
  checkDemands({}, nobodyKnown);
  assertThrows(() => checkDemands({ from: "ACME" }, trust), StaticError, "is not a domain");
  const unlisted = { from: "acme.org" };
  assertThrows(
    () => checkDemands(unlisted, trust),
    StaticError,
    "is not on this user's trust list",
  );
});
