/** A channel's record is read as it was written, and one that is damaged is not read at all. */
import { assertEquals, assertThrows } from "@std/assert";
import { bytesToHex } from "@noble/hashes/utils.js";
import { type AgentId, parseAgentId, parseChannelId, parseChannelName } from "../../proto/mod.ts";
import type { RecordChange } from "../store/mod.ts";
import { channelOf, type MembershipRecord, newChannelRecord, putChannel } from "./records.ts";

const golden = [
  "8c6f61636d652f6f70732f6465706c6f790783857642424242424242424242424242424242424242424241081b0000018bcf",
  "e56800764141414141414141414141414141414141414141414168696e766974652049857643434343434343434343434343",
  "434343434343434341091b0000018bcfe5680176424242424242424242424242424242424242424242417642424242424242",
  "4242424242424242424242424242418576444444444444444444444444444444444444444444410000f6f680800781827652",
  "52525252525252525252525252525252525252524107f4582001010101010101010101010101010101010101010101010101",
  "010101010101018182764545454545454545454545454545454545454545454109818268696e7669746520491b0000018bcf",
  "e5680281860109091b0000018bcfe568037641414141414141414141414141414141414141414141f6",
].join("");
const agent = (letter: string): AgentId => parseAgentId(`${letter.repeat(21)}A`);
const channelId = parseChannelId("BwcHBwcHBwcHBwcHBwcHBw");
const beginning = {
  channelId,
  name: parseChannelName("acme/ops/deploy"),
  joinedEpoch: 7,
  joinedLeaf: new Uint8Array(32).fill(1),
  rejoined: false,
};
const record: MembershipRecord = {
  ...newChannelRecord({ ...beginning, removed: [agent("R")] }),
  since: new Map([
    [agent("B"), { epoch: 8, atMs: 1_700_000_000_000, through: agent("A"), root: "invite I" }],
    [agent("C"), { epoch: 9, atMs: 1_700_000_000_001, through: agent("B"), root: agent("B") }],
    [agent("D"), { epoch: 0, atMs: 0, root: agent("D") }],
  ]),
  struck: new Map([["invite I", 1_700_000_000_002]]),
  expelled: new Map([[agent("E"), 9]]),
  loss: {
    since: 1,
    until: 9,
    latest: 9,
    learnedMs: 1_700_000_000_003,
    by: agent("A"),
    because: undefined,
  },
};

function valueOf(change: RecordChange): Uint8Array {
  if (change.type !== "put") throw new TypeError("a channel's record is put");
  return change.value;
}

Deno.test("a channel's record is read as it was written", () => {
  assertEquals(channelOf(channelId, valueOf(putChannel(record))), record);
});

Deno.test("golden: a channel's record", () => {
  assertEquals(bytesToHex(valueOf(putChannel(record))), golden);
});

Deno.test("a channel's record with a row that is damaged is not read", () => {
  const value = valueOf(putChannel(record));
  for (const at of [1, 20, value.length >> 1]) {
    assertThrows(() => channelOf(channelId, value.slice(0, at)), Error);
  }
});

Deno.test("a membership that begins anew knows nothing of one before, but what goes on in it", () => {
  const { since, struck, expelled, loss } = record;
  assertEquals(newChannelRecord(beginning).since.size + newChannelRecord(beginning).struck.size, 0);
  const again = newChannelRecord({ ...beginning, known: { since, struck, expelled, loss } });
  assertEquals([again.since, again.struck, again.expelled], [since, struck, expelled]);
  assertEquals([newChannelRecord(beginning).loss, again.loss], [undefined, loss]);
});
