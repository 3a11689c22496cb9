import { assert, assertEquals } from "@std/assert";
import { agentIdOf } from "../../proto/mod.ts";
import type { MemberCredential } from "../mls/leaf.ts";
import type { Member } from "../mls/members.ts";
import { ChannelTrust } from "./trust.ts";

const identity = new TextEncoder().encode("alice");

function keyed(number: number): MemberCredential {
  const signatureKey = new Uint8Array(32);
  new DataView(signatureKey.buffer).setUint32(0, number);
  return { identity, signatureKey };
}

const agentOf = (credential: MemberCredential): Member["agentId"] =>
  agentIdOf(credential.signatureKey, credential.identity);
const member = (owner: boolean): Member => ({ leafIndex: 1, agentId: agentOf(keyed(0)), identity, owner });

Deno.test("a known identity's new key is an owner's to bring in, however many were tried before", () => {
  const trust = new ChannelTrust([]);
  trust.learn([keyed(0)]);
  for (let tried = 1; tried <= 10_000; tried++) {
    trust.policy(keyed(tried));
    if (tried % 1000 !== 0) continue;
    const added = [agentOf(keyed(tried))];
    assert(trust.judge(added, member(false)) !== undefined, `after ${tried} tries`);
    assertEquals(trust.judge(added, member(true)), undefined);
  }
});
