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
  type ReplyBody,
} from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { StaticError } from "../base/errors.ts";
import { invitesKind } from "../channel/channel_kinds.ts";
import { createMemoryDisk, openMemory, RecordStore } from "../store/mod.ts";
import { InviteBook, type InviteScene, type MadeInvite } from "./invite_book.ts";
import type { GuestPass } from "./pass_notes.ts";

const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16));
const name = parseChannelName("acme/ops/deploy");
const [alice, bob]: [AgentId, AgentId] = [
  parseAgentId("a".repeat(22)),
  parseAgentId("b".repeat(22)),
];

type JoinRequest = NoticeBody<"DeliverJoinRequest">;

interface Bench {
  readonly book: InviteBook;
  readonly store: RecordStore;
  /** Writes so far. */
  readonly written: { count: number };
  /** A request that was made with the invite. */
  readonly requestWith: (made: MadeInvite, keyPackage?: Uint8Array) => JoinRequest;
  /** A channel in which these agents were removed, each in an epoch. */
  readonly scene: (epoch: number, expelled?: ReadonlyMap<AgentId, number>) => InviteScene;
  /** Passes that were revoked; while the API is away, none is. */
  readonly revoked: string[];
  apiAway: boolean;
  nowMs: number;
  relayNowMs: number;
}

async function createBench(): Promise<Bench> {
  const random = createRandom(6);
  const randomBytes = (length: number): Uint8Array<ArrayBuffer> => random.bytes(length);
  const store = await RecordStore.open(openMemory(createMemoryDisk(), randomBytes));
  const call = <Name extends CallName>(): Promise<ReplyBody<Name>> =>
    Promise.resolve({} as ReplyBody<Name>);
  const clocks = { nowMs: 1_790_000_000_000, relayNowMs: 1_790_000_000_000, apiAway: false };
  const revoked: string[] = [];
  const written = { count: 0 };
  const put: RecordStore["put"] = (kind, id, value) => {
    written.count++;
    return store.put(kind, id, value);
  };
  const book = new InviteBook({
    store: {
      put,
      get: (kind, id) => store.get(kind, id),
      delete: (kind, id) => store.delete(kind, id),
      list: (kind) => store.list(kind),
    },
    session: { call },
    runtime: { randomBytes, nowMs: () => clocks.nowMs },
    agentId: alice,
    relayNowMs: () => clocks.relayNowMs,
    revokePass: (id) => {
      if (clocks.apiAway) return Promise.reject(new Error("away"));
      revoked.push(id);
      return Promise.resolve();
    },
  });
  const scene: Bench["scene"] = (epoch, expelled = new Map()) => ({
    channelId,
    epoch,
    wasExpelledSince: (agentId, since) =>
      [...expelled].some(([each, at]) => at > since && (agentId === undefined || agentId === each)),
  });
  const requestWith: Bench["requestWith"] = (
    { invite: { secret, inviter } },
    keyPackage = Uint8Array.of(1),
  ) => {
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
  return Object.assign(clocks, { book, store, requestWith, scene, revoked, written });
}

async function admit(
  book: InviteBook,
  request: JoinRequest,
  scene: InviteScene,
): Promise<number | StaticError> {
  const [verdict] = await book.admit([request], scene);
  assert(verdict !== undefined);
  return verdict;
}

Deno.test("an invite ends by our own clock too: a relay that turns its clock back keeps none alive", async () => {
  const bench = await createBench();
  const made = await bench.book.create({ channelId, name }, { expiresInMs: 1000 });
  const request = bench.requestWith(made);
  bench.nowMs += 1001;
  const refused = await admit(bench.book, request, bench.scene(1));
  assert(refused instanceof StaticError && refused.message.includes("expired"));
});

Deno.test("a request is admitted once, and says when that was, in its own channel alone", async () => {
  const { book, requestWith, scene } = await createBench();
  const made = await book.create({ channelId, name }, {});
  const request = requestWith(made);
  assertEquals(await admit(book, request, scene(4)), 4);
  assertEquals(await admit(book, request, scene(9)), 4);
  const forged = { ...request, mac: new Uint8Array(32) };
  const notes = await book.notesOn([request, requestWith(made, Uint8Array.of(2)), forged]);
  assertEquals(notes.map((note) => note instanceof StaticError ? "refused" : note.admittedIn), [
    4,
    undefined,
    "refused",
  ]);
  const second = await admit(book, requestWith(made, Uint8Array.of(2)), scene(9));
  assert(second instanceof StaticError, "it was good for one");
  const elsewhere = {
    ...request,
    channelId: binaryIdFromBytes<ChannelId>(new Uint8Array(16).fill(1)),
  };
  assert(await admit(book, elsewhere, scene(4)) instanceof StaticError);
});

Deno.test("the invite by which an agent is being let in is known until its request is settled", async () => {
  const { book, requestWith, scene } = await createBench();
  const [made, other] = [
    await book.create({ channelId, name }, {}),
    await book.create({ channelId, name }, {}),
  ];
  const request = requestWith(made);
  const { agentId, inviteId } = request;
  assertEquals(book.inviteOf(channelId, agentId), undefined);
  await admit(book, request, scene(4));
  const elsewhere = binaryIdFromBytes<ChannelId>(new Uint8Array(16).fill(1));
  assertEquals([book.inviteOf(channelId, agentId), book.inviteOf(elsewhere, agentId)], [
    inviteId,
    undefined,
  ]);
  book.settled(requestWith(other));
  assertEquals(book.inviteOf(channelId, agentId), inviteId);
  book.settled(request);
  assertEquals(book.inviteOf(channelId, agentId), undefined);
});

Deno.test("requests that come together are admitted in one write, and no more of them than the invite is good for", async () => {
  const { book, requestWith, scene, written } = await createBench();
  const made = await book.create({ channelId, name }, { uses: 2 });
  const [first, second, third] = [1, 2, 3].map((n) => requestWith(made, Uint8Array.of(n)));
  assert(first !== undefined && second !== undefined && third !== undefined);
  const forged = { ...requestWith(made, Uint8Array.of(4)), mac: third.mac };
  const before = written.count;
  const [a, none, b, again, over] = await book.admit(
    [first, forged, second, first, third],
    scene(4),
  );
  assertEquals([a, b, again], [4, 4, 4]);
  assert(
    none instanceof StaticError && over instanceof StaticError && over.message.includes("often"),
  );
  assertEquals(written.count - before, 1);
  const notes = await book.notesOn([third, second, first]);
  assertEquals(notes.map((note) => note instanceof StaticError ? "refused" : note.admittedIn), [
    undefined,
    4,
    4,
  ]);
});

Deno.test("an invite is over for everybody once an agent that came in by it was removed", async () => {
  const { book, requestWith, scene } = await createBench();
  const made = await book.create({ channelId, name }, { uses: 3 });
  assertEquals(await admit(book, requestWith(made), scene(4)), 4);
  // In an earlier membership: that was before this invite.
  const before = scene(5, new Map([[bob, 4]]));
  assertEquals(await admit(book, requestWith(made, Uint8Array.of(2)), before), 5);
  assertEquals((await book.list(before)).length, 1);
  const after = scene(7, new Map([[bob, 6]]));
  const refused = await admit(book, requestWith(made, Uint8Array.of(3)), after);
  assert(refused instanceof StaticError && refused.message.includes("removed"), String(refused));
  assertEquals(await book.list(after), []);
  await book.tidy(after);
  assertEquals(await book.list(scene(7)), []);
});

Deno.test("a guest's pass ends with its invite, or with its removal, as soon as the API can be asked", async () => {
  const bench = await createBench();
  const { book, requestWith, scene, revoked } = bench;
  const dayMs = 86_400_000;
  const pass = (id: string): GuestPass => ({ id, expiresAtMs: bench.nowMs + 7 * dayMs });
  const unused = await book.create({ channelId, name }, {}, { pass: pass("unused") });
  const used = await book.create({ channelId, name }, {}, { pass: pass("used") });
  const withdrawn = await book.create({ channelId, name }, {}, { pass: pass("withdrawn") });
  assertEquals(await admit(book, requestWith(used), scene(4)), 4);
  bench.apiAway = true;
  await book.revoke(withdrawn.invite);
  assert(
    await admit(book, requestWith(withdrawn), scene(4)) instanceof StaticError,
    "it was withdrawn",
  );
  assertEquals((await book.list(scene(4))).map(({ id }) => id), [inviteIdOf(unused.invite.secret)]);
  bench.apiAway = false;
  await book.tidy(scene(4));
  assertEquals(revoked, ["withdrawn"]);
  // Two days later the unused invite has expired for long; the guest that came in goes on.
  bench.nowMs += 2.5 * dayMs;
  bench.relayNowMs += 2.5 * dayMs;
  await book.tidy(scene(5));
  assertEquals(revoked, ["withdrawn", "unused"]);
  await book.tidy(scene(7, new Map([[bob, 6]])));
  assertEquals(revoked, ["withdrawn", "unused", "used"]);
});

Deno.test("a record that cannot be read keeps no other pass from being revoked, and its own pass is not revoked blindly", async () => {
  const bench = await createBench();
  const { book, store, scene, revoked } = bench;
  const dayMs = 86_400_000;
  const pass = (id: string): GuestPass => ({ id, expiresAtMs: bench.nowMs + 7 * dayMs });
  const made: string[] = [];
  for (const id of ["left", "left too", "odd", "unused"]) {
    made.push(
      inviteIdOf((await book.create({ channelId, name }, {}, { pass: pass(id) })).invite.secret),
    );
  }
  const [left = "", leftToo = "", odd = ""] = made;
  // As if this agent had left the channel of the first two. Before and after all others, however
  // they are sorted.
  for (const id of [left, leftToo]) await store.delete(invitesKind(channelId), id);
  await store.put(invitesKind(channelId), odd, Uint8Array.of(0xff));
  for (const id of ["", "~"]) {
    await store.put("passes", `${id}unreadable`, Uint8Array.of(0xff));
    await store.put(invitesKind(channelId), `${id}unreadable`, Uint8Array.of(0xff));
  }
  await book.endPasses();
  assertEquals(revoked.toSorted(), ["left", "left too"]);
  assertEquals((await book.list(scene(4))).length, 1);
  bench.nowMs += 2.5 * dayMs;
  bench.relayNowMs += 2.5 * dayMs;
  await book.tidy(scene(4));
  await book.endPasses();
  assertEquals(revoked.toSorted(), ["left", "left too", "unused"]);
});
