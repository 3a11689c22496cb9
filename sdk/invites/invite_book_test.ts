import { assert, assertEquals } from "@std/assert";
import {
  type AgentId,
  binaryIdFromBytes,
  type CallName,
  type ChannelId,
  inviteIdOf,
  joinMac,
  type JoinRequestId,
  type NoticeBody,
  parseAgentId,
  parseChannelName,
  parseInviteToken,
  type ReplyBody,
} from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { StaticError } from "../base/errors.ts";
import { createMemoryDisk, openMemory, RecordStore } from "../store/mod.ts";
import { InviteBook } from "./invite_book.ts";

const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16));
const name = parseChannelName("acme/ops/deploy");
const [alice, bob]: [AgentId, AgentId] = [parseAgentId("a".repeat(22)), parseAgentId("b".repeat(22))];

interface Bench {
  readonly book: InviteBook;
  /** A request that was made with the token. */
  readonly requestWith: (token: string, keyPackage?: Uint8Array) => NoticeBody<"DeliverJoinRequest">;
  nowMs: number;
  relayNowMs: number;
}

async function createBench(): Promise<Bench> {
  const random = createRandom(6);
  const randomBytes = (length: number): Uint8Array<ArrayBuffer> => random.bytes(length);
  const store = await RecordStore.open(openMemory(createMemoryDisk(), randomBytes));
  const call = <Name extends CallName>(): Promise<ReplyBody<Name>> => Promise.resolve({} as ReplyBody<Name>);
  const clocks = { nowMs: 1_790_000_000_000, relayNowMs: 1_790_000_000_000 };
  const book = new InviteBook({
    store,
    session: { call },
    runtime: { randomBytes, nowMs: () => clocks.nowMs },
    agentId: alice,
    relayNowMs: () => clocks.relayNowMs,
  });
  const requestWith: Bench["requestWith"] = (token, keyPackage = Uint8Array.of(1)) => {
    const { secret, inviter } = parseInviteToken(token);
    return {
      requestId: binaryIdFromBytes<JoinRequestId>(randomBytes(16)),
      channelId,
      inviteId: inviteIdOf(secret),
      agentId: bob,
      keyPackage,
      mac: joinMac(secret, { channelId, name, inviter, keyPackage }),
      expiresAtMs: clocks.relayNowMs + 1000,
    };
  };
  return Object.assign(clocks, { book, requestWith });
}

Deno.test("an invite ends by our own clock too: a relay that turns its clock back keeps none alive", async () => {
  const bench = await createBench();
  const token = await bench.book.create({ channelId, name }, { expiresInMs: 1000 });
  const request = bench.requestWith(token);
  bench.nowMs += 1001;
  const refused = await bench.book.admit(request, 1);
  assert(refused instanceof StaticError && refused.message.includes("expired"));
});

Deno.test("a request is admitted once, and says when that was, in its own channel alone", async () => {
  const { book, requestWith } = await createBench();
  const token = await book.create({ channelId, name }, {});
  const request = requestWith(token);
  assertEquals(await book.admit(request, 4), 4);
  assertEquals(await book.admit(request, 9), 4);
  assertEquals(await book.admittedIn(request), 4);
  assert(await book.admit(requestWith(token, Uint8Array.of(2)), 9) instanceof StaticError, "it was good for one");
  const elsewhere = { ...request, channelId: binaryIdFromBytes<ChannelId>(new Uint8Array(16).fill(1)) };
  assert(await book.admit(elsewhere, 4) instanceof StaticError);
});
