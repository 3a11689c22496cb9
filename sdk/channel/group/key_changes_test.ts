import { assert, assertEquals } from "@std/assert";
import { agentIdOf, binaryIdFromBytes, type ChannelId } from "../../../proto/mod.ts";
import type { MemberCredential } from "../../mls/leaf.ts";
import type { Member } from "../../mls/members.ts";
import { putTrust } from "../records.ts";
import { ChannelTrust } from "./key_changes.ts";

const identity = new TextEncoder().encode("alice");

function keyed(number: number): MemberCredential {
  const signatureKey = new Uint8Array(32);
  new DataView(signatureKey.buffer).setUint32(0, number);
  return { identity, signatureKey };
}

const agentOf = (credential: MemberCredential): Member["agentId"] =>
  agentIdOf(credential.signatureKey, credential.identity);
const rights = { guest: false, mayAdd: true, mayPost: true };
const member = (owner: boolean): Member => ({
  leafIndex: 1,
  agentId: agentOf(keyed(0)),
  identity,
  owner,
  ...rights,
});

Deno.test("a known identity's new key is an owner's to bring in, however many were tried before", () => {
  const trust = new ChannelTrust([]);
  trust.learn([keyed(0)], { byOwner: false });
  for (let tried = 1; tried <= 10_000; tried++) {
    trust.policy(keyed(tried));
    if (tried % 1000 !== 0) continue;
    const added = [agentOf(keyed(tried))];
    assert(trust.judge(added, member(false)) !== undefined, `after ${tried} tries`);
    assertEquals(trust.judge(added, member(true)), undefined);
  }
});

Deno.test("members that come and go without end fill no record, and those that stay are not forgotten", () => {
  const trust = new ChannelTrust([]);
  const named = (number: number): MemberCredential => ({
    identity: new TextEncoder().encode(`${"x".repeat(250)}${number}`),
    signatureKey: keyed(number).signatureKey,
  });
  trust.learn([keyed(0)], { byOwner: false });
  for (let come = 1; come <= 15_000; come++) {
    trust.learn([named(come)], { byOwner: false });
    trust.prune([keyed(0), named(come)]);
  }
  const record = putTrust(binaryIdFromBytes<ChannelId>(new Uint8Array(16)), trust);
  assert(
    record.type === "put" && record.value.length < 4 * 1024 * 1024,
    "what is longer cannot be read again",
  );
  trust.policy(keyed(1));
  assert(trust.judge([agentOf(keyed(1))], member(false)) !== undefined, "alice is still known");
});

Deno.test("a known identity with another key is in doubt until an owner brings it in, also after a restart", () => {
  const before = new ChannelTrust([]);
  before.learn([keyed(0)], { byOwner: true });
  const stranger = keyed(1);
  assertEquals(before.learn([stranger], { byOwner: false }), {
    accepted: [],
    doubtful: [identity],
  });
  const trust = new ChannelTrust([...before.keys], [...before.doubtful]);
  assert(trust.isDoubtful(agentOf(stranger)) && !trust.isDoubtful(agentOf(keyed(0))));
  assertEquals(
    trust.enter([stranger], { byOwner: true }).doubtful,
    [identity],
    "a Welcome vouches for none in doubt",
  );
  assertEquals(trust.learn([stranger], { byOwner: true }), { accepted: [identity], doubtful: [] });
  assert(!trust.isDoubtful(agentOf(stranger)));
  assertEquals(
    trust.learn([keyed(0)], { byOwner: false }).doubtful,
    [identity],
    "the old key is another one now",
  );
});

Deno.test("those in doubt are bounded in number, and members among them are not forgotten", () => {
  const trust = new ChannelTrust([]);
  trust.learn([keyed(0)], { byOwner: true });
  for (let come = 1; come <= 6000; come++) {
    trust.learn([keyed(come)], { byOwner: false });
    trust.prune([keyed(0), keyed(1)]);
  }
  assertEquals([...trust.doubtful].length, 4096);
  assert(trust.isDoubtful(agentOf(keyed(1))));
  assert(trust.isDoubtful(agentOf(keyed(6000))));
});
