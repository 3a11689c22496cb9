import { assertEquals } from "@std/assert";
import { type AddressableMember, findAddressee } from "./addressee.ts";

const [ann, bob, eve] = ["a", "b", "e"].map((letter) => letter.repeat(22)) as [
  string,
  string,
  string,
];
const attested = (
  name: string,
  how: "domain" | "mailbox" = "domain",
): AddressableMember["attested"] => ({
  domain: "acme.com",
  name,
  untilMs: 1,
  how,
});

function found(named: string, members: readonly AddressableMember[]): unknown {
  const addressee = findAddressee(named, members);
  const ids = (of: readonly AddressableMember[]): string[] => of.map(({ agentId }) => agentId);
  return addressee.kind === "found"
    ? addressee.member.agentId
    : [addressee.kind, ids(addressee.kind === "several" ? addressee.members : addressee.claiming)];
}

Deno.test("an agent is addressed by its id, the reader's name for it, or as an attested NAME@DOMAIN", () => {
  const members: AddressableMember[] = [
    // It claims every address that another has.
    { agentId: eve, identity: "deploy-bot@acme.com", knownAs: undefined },
    { agentId: ann, identity: "x", knownAs: "Ann's laptop", attested: attested("ann") },
    { agentId: bob, identity: "y", knownAs: undefined, attested: attested("deploy-bot") },
  ];
  assertEquals(found(ann, members), ann);
  assertEquals(found("Ann's laptop", members), ann);
  assertEquals(found("ann@acme.com", members), ann);
  assertEquals(found("deploy-bot@acme.com", members), bob);
  assertEquals(found("deploy-bot@acme.com", members.slice(0, 2)), ["nobody", [eve]]);
  assertEquals(found("deploy-bot@evil.com", members), ["nobody", []]);
  assertEquals(found("deploy-bot", members), ["nobody", []]);
  // An identity may look like the id of another, and never leads away from it.
  const posing = [{ agentId: eve, identity: bob, knownAs: undefined }, ...members];
  assertEquals(found(bob, posing), bob);
});

Deno.test("two agents of one name at a domain, and a mailbox, are no address", () => {
  const twice: AddressableMember[] = [ann, bob].map((agentId) => ({
    agentId,
    identity: "",
    knownAs: undefined,
    attested: attested("deploy-bot"),
  }));
  assertEquals(found("deploy-bot@acme.com", twice), ["several", [ann, bob]]);
  const mailbox = {
    agentId: ann,
    identity: "",
    knownAs: undefined,
    attested: attested("account", "mailbox"),
  };
  assertEquals(found("account@acme.com", [mailbox]), ["nobody", []]);
});
