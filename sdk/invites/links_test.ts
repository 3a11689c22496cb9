/**
 * Making a link takes three steps: a pass at the API, an invite on our disk and at the relay, the
 * link. A fault between them.
 */
import { assertEquals, assertRejects } from "@std/assert";
import {
  binaryIdFromBytes,
  type CallName,
  type ChannelId,
  type Invite,
  inviteIdOf,
  joinMac,
  type JoinRequestId,
  type NoticeBody,
  parseAgentId,
  parseChannelName,
  parseJoinLink,
  type ReplyBody,
} from "../../proto/mod.ts";
import { createRandom } from "../../tests/support/mod.ts";
import { createError, StaticError } from "../base/errors.ts";
import { invitesKind } from "../channel/channel_kinds.ts";
import { createMemoryDisk, openMemory, RecordStore } from "../store/mod.ts";
import { InviteBook, type InviteBookDeps } from "./invite_book.ts";
import { createLink, type LinkOptions, type LinkService } from "./links.ts";

const channel = {
  channelId: binaryIdFromBytes<ChannelId>(new Uint8Array(16)),
  name: parseChannelName("acme/ops/deploy"),
};
const scene = { channelId: channel.channelId, epoch: 1, wasExpelledSince: () => false };
const nowMs = (): number => 1_790_000_000_000;

interface Bench {
  readonly passes: string[];
  readonly revoked: string[];
  readonly calls: string[];
  readonly service: LinkService;
  /** Whether the API can be asked. */
  readonly api: { isAway: boolean };
  /** As when the agent leaves its channel. */
  readonly leave: () => Promise<void>;
  /** A life of the agent, on the same disk. */
  readonly start: (changes?: Partial<InviteBookDeps["store"]>, refused?: CallName) => InviteBook;
}

async function createBench(): Promise<Bench> {
  const random = createRandom(12);
  const randomBytes = (length: number): Uint8Array<ArrayBuffer> => random.bytes(length);
  const store = await RecordStore.open(openMemory(createMemoryDisk(), randomBytes));
  const [passes, revoked, calls]: [string[], string[], string[]] = [[], [], []];
  const api = { isAway: false };
  const service: LinkService = {
    describe: () => Promise.resolve({ apiUrl: "https://api.example", relayUrls: [] }),
    createPass: () => {
      passes.push(`pass ${passes.length}`);
      const apiKey = "sk_live_AAAAAAAAbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0s2ROk";
      return Promise.resolve({ id: passes.at(-1) ?? "", apiKey });
    },
    revokePass: (id) =>
      api.isAway
        ? Promise.reject(createError("connection_error", "Cannot reach the API"))
        : Promise.resolve(void revoked.push(id)),
  };
  const leave = async (): Promise<void> => {
    const kind = invitesKind(channel.channelId);
    for (const { id } of await store.list(kind)) await store.delete(kind, id);
  };
  const start: Bench["start"] = (changes, refused) =>
    new InviteBook({
      store: {
        get: (kind, id) => store.get(kind, id),
        put: (kind, id, value) => store.put(kind, id, value),
        delete: (kind, id) => store.delete(kind, id),
        list: (kind) => store.list(kind),
        ...changes,
      },
      session: {
        call: <Name extends CallName>(name: Name) => {
          calls.push(name);
          if (name === refused) {
            return Promise.reject(createError("transport_error", "The connection was lost"));
          }
          return Promise.resolve({} as ReplyBody<Name>); // cast: nobody looks at it
        },
      },
      runtime: { randomBytes, nowMs },
      agentId: parseAgentId("a".repeat(22)),
      relayNowMs: nowMs,
      revokePass: (id) => service.revokePass(id),
    });
  return { passes, revoked, calls, service, api, leave, start };
}

/** Of a guest that has this invite. */
function requestWith({ secret, inviter }: Invite): NoticeBody<"DeliverJoinRequest"> {
  const keyPackage = new Uint8Array(8);
  return {
    channelId: channel.channelId,
    inviteId: inviteIdOf(secret),
    requestId: binaryIdFromBytes<JoinRequestId>(new Uint8Array(16)),
    agentId: parseAgentId("b".repeat(22)),
    keyPackage,
    mac: joinMac(secret, { ...channel, inviter, keyPackage }),
    expiresAtMs: nowMs() + 60_000,
  };
}

Deno.test("an agent that is killed between the pass and the invite has given out nothing, and its next life makes links", async () => {
  const { passes, calls, service, start } = await createBench();
  const reached = Promise.withResolvers<void>();
  const killed = start({
    put: () => {
      reached.resolve();
      return new Promise(() => {});
    },
  });
  void createLink(channel, { guest: true }, { service, book: killed, nowMs });
  await reached.promise;
  const book = start();
  assertEquals([passes.length, calls, await book.list(scene)], [1, [], []]);
  const link = await createLink(channel, { guest: true }, { service, book, nowMs });
  assertEquals([link.startsWith("static://join/#"), passes.length, calls], [true, 2, [
    "RegisterInvite",
  ]]);
  assertEquals((await book.list(scene)).length, 1);
});

Deno.test("a link that shall replace a member is refused before a pass or an invite is made", async () => {
  const { passes, calls, service, start } = await createBench();
  const book = start();
  // cast: of a program without types
  const options = { guest: true, replaces: "b".repeat(22) } as unknown as LinkOptions;
  await assertRejects(
    () => createLink(channel, options, { service, book, nowMs }),
    StaticError,
    "replaces nobody",
  );
  assertEquals([passes, calls, await book.list(scene)], [[], [], []]);
});

Deno.test("a pass whose invite cannot be written, or not registered, is revoked at once", async () => {
  const { passes, revoked, service, start } = await createBench();
  const full = start({ put: () => Promise.reject(new Error("disk full")) });
  await assertRejects(
    () => createLink(channel, { guest: true }, { service, book: full, nowMs }),
    Error,
    "disk full",
  );
  assertEquals(revoked, passes);
});

Deno.test("a pass ends with its invite, also when the relay cannot be told that the invite ends", async () => {
  const { passes, revoked, service, start } = await createBench();
  const book = start({}, "RevokeInvite");
  const { invite } = parseJoinLink(
    await createLink(channel, { guest: true }, { service, book, nowMs }),
  );
  await assertRejects(() => book.revoke(invite), StaticError, "connection was lost");
  assertEquals([revoked, await book.list(scene)], [passes, []]);
});

Deno.test("a pass whose invite has ended is revoked although the agent leaves before the API can be asked", async () => {
  const { passes, revoked, service, api, leave, start } = await createBench();
  const book = start();
  const { invite } = parseJoinLink(
    await createLink(channel, { guest: true }, { service, book, nowMs }),
  );
  api.isAway = true;
  await book.revoke(invite);
  await leave();
  await start().endPasses();
  assertEquals(revoked, []);
  api.isAway = false;
  await start().endPasses();
  await start().endPasses();
  assertEquals(revoked, passes);
});

Deno.test("an agent that leaves a channel revokes the pass that nobody has used, and not that of a guest", async () => {
  const { passes, revoked, service, leave, start } = await createBench();
  const book = start();
  const { invite } = parseJoinLink(
    await createLink(channel, { guest: true }, { service, book, nowMs }),
  );
  await createLink(channel, { guest: true }, { service, book, nowMs });
  assertEquals(await book.admit([requestWith(invite)], scene), [scene.epoch]);
  await start().endPasses();
  assertEquals(revoked, []);
  await leave();
  await start().endPasses();
  assertEquals(revoked, passes.slice(1));
});

Deno.test("a pass that a guest comes in by while the API is asked about another one is not revoked", async () => {
  const { passes, revoked, service, leave, start } = await createBench();
  const book = start();
  await createLink(channel, { guest: true }, { service, book, nowMs });
  await leave();
  const { invite } = parseJoinLink(
    await createLink(channel, { guest: true }, { service, book, nowMs }),
  );
  const revokePass = service.revokePass.bind(service);
  Object.assign(service, {
    revokePass: async (id: string) => {
      await book.admit([requestWith(invite)], scene);
      await leave();
      await revokePass(id);
    },
  });
  await book.endPasses();
  assertEquals(revoked, passes.slice(0, 1));
});
