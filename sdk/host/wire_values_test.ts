import { utf8ToBytes } from "@noble/hashes/utils.js";
import { assertEquals } from "@std/assert";
import { agentIdOf, binaryIdFromBytes, type MessageId } from "../../proto/mod.ts";
import type { ChannelMember } from "../channel/group/member_list.ts";
import { Envelope } from "../content/envelope.ts";
import { HeaderFields } from "./fields.ts";
import { decodeEnvelope, decodeMember, encodeEnvelope, encodeMember } from "./wire_values.ts";

const ways = { ack: () => Promise.resolve() };
const attested = {
  domain: "acme.com",
  name: "deploy-bot",
  untilMs: 1_800_000_000_000,
  how: "domain",
} as const;
const identityBytes = utf8ToBytes("deploy@acme.com");
const agentId = agentIdOf(new Uint8Array(32), identityBytes);
const stranger: ChannelMember = {
  agentId,
  identity: "deploy@acme.com",
  identityBytes,
  keyUnchanged: true,
  knownAs: undefined,
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
  badgeEndsMs: 1_800_000_000_000,
  postQuantum: true,
  resembles: [],
};
const members: readonly ChannelMember[] = [
  stranger,
  { ...stranger, knownAs: "Alice", attested, sameAccount: true },
  { ...stranger, badgeExpired: { ...attested, how: "mailbox" } },
];

Deno.test("a host tells how it recognises members, and senders of messages", () => {
  for (const member of members) {
    const sent = JSON.parse(JSON.stringify(encodeMember(member)));
    assertEquals(decodeMember(new HeaderFields(sent)), member);
    const { knownAs, attested, badgeExpired, sameAccount } = member;
    const envelope = new Envelope({
      kind: "message",
      lane: "message",
      id: binaryIdFromBytes<MessageId>(new Uint8Array(16)),
      sender: agentId,
      identity: identityBytes,
      keyUnchanged: true,
      knownAs,
      attested,
      badgeExpired,
      sameAccount,
      timeMs: 1,
      sequence: 0,
      fields: {},
      body: new Uint8Array(0),
    }, ways);
    const header = JSON.parse(JSON.stringify(encodeEnvelope(envelope)));
    const decoded = decodeEnvelope(new HeaderFields(header), new Uint8Array(0));
    assertEquals(new Envelope(decoded, ways).sender, envelope.sender);
  }
});
