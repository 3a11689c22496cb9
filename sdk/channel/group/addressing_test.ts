import { assert, assertEquals, assertThrows } from "@std/assert";
import { parseAgentId } from "../../../proto/mod.ts";
import { StaticError } from "../../base/errors.ts";
import { memberNamed } from "./addressing.ts";
import type { ChannelMember } from "./member_list.ts";

function member(letter: string, identity: string, knownAs?: string): ChannelMember {
  return {
    agentId: parseAgentId(letter.repeat(22)),
    identity,
    identityBytes: new TextEncoder().encode(identity),
    keyUnchanged: true,
    knownAs,
    attested: undefined,
    badgeExpired: undefined,
    sameAccount: false,
    owner: false,
    guest: false,
    self: false,
    absent: false,
    confirmedEpoch: undefined,
    lastHeardMs: undefined,
    lapsed: false,
    badgeEndsMs: undefined,
    postQuantum: true,
    resembles: [],
  };
}

Deno.test("a stranger that took the user's name for an agent that is not here is not offered as its address", () => {
  const [known, stranger] = [member("a", "bob", "Bob's desk"), member("b", "Alice's laptop")];
  const members = [stranger, known];
  assertEquals(memberNamed("Bob's desk", members), known);
  // Nobody by a claim, and nobody by a name that is written in another way.
  for (
    const [named, code] of [["Alice's laptop", "invalid_request"], [
      "bob's desk",
      "not_found",
    ]] as const
  ) {
    assertEquals(assertThrows(() => memberNamed(named, members), StaticError).code, code);
  }
  const { message } = assertThrows(() => memberNamed("Alice's laptop", members), StaticError);
  assert(message.includes(`${stranger.agentId} calls itself so, which proves nothing`), message);
});
