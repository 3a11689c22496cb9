import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type CallName,
  calls,
  type ChannelId,
  type ChannelRight,
  channelRights,
  type ChannelScope,
  type InviteId,
  type JoinRequestId,
  parseChannelName,
  parseKeyId,
  type RequestBody,
  type TokenGrant,
} from "../../../proto/mod.ts";
import { needs } from "./authorization.ts";
import { Actor, channelName, commitRequest, messageRequest } from "../testing/actors.ts";
import { CallRefused } from "../testing/client.ts";
import { createPair, refused, worldTest } from "../testing/scene.ts";
import { idOf, startMs, tokenOf, type World } from "../testing/world.ts";

const key = parseKeyId("5f0c3c1e-8d6b-4e0e-9f0a-2f6f7c1f9a11");
const untilMs = startMs + 400 * 24 * 3_600_000;
/** A channel of the same account that no scope of these tests covers. */
const elsewhere = parseChannelName("acme/secret/plans");

const byName = (...allow: ChannelRight[]): ChannelScope => ({ pattern: "acme/ops/*", allow });

/** The agent comes back with a token that may only do so much. */
async function narrow(
  actor: Actor,
  world: World,
  grant: TokenGrant,
  account = actor.account,
): Promise<void> {
  actor.client.close();
  actor.client = world.connect();
  await actor.client.authenticate(actor.agent, tokenOf(account, untilMs, grant));
}

/** One request of each operation, as a member of the channel could send it. */
function requestsOf(actor: Actor, channelId: ChannelId): { [Name in CallName]: RequestBody<Name> } {
  const { agent, agentId } = actor;
  const rejoin = actor.rejoin(channelId);
  const [nonce, digest] = [new Uint8Array(16).fill(9), new Uint8Array(32)];
  const [inviteId, requestId] = [idOf<InviteId>(5), idOf<JoinRequestId>(6)];
  const strange = new Uint8Array(64);
  return {
    GetChallenge: { versions: [3], features: [] },
    Authenticate: {
      token: "x",
      publicKey: digest,
      identity: nonce,
      clientNonce: digest,
      relayNonce: digest,
      origin: "x",
      signature: strange,
    },
    RenewToken: { token: "x" },
    Ping: {},
    EndSession: {},
    ConfigureCover: { mode: "off", intervalMs: 0 },
    CreateChannel: { name: channelName, nonce },
    ListChannels: { limit: 10 },
    CloseChannel: { channelId },
    ListMembers: { channelId },
    LeaveChannel: { channelId, leafHash: digest, signature: strange },
    UploadKeyPackage: { keyPackages: [], replace: false },
    AddMember: { channelId, agentId, nonce },
    SendMessage: messageRequest(channelId, 1, 7, 32),
    SendCommit: commitRequest(channelId, 1, { sender: agent, salt: 3 }, {}),
    SendWelcome: { channelId, epoch: 1, recipients: [agentId], welcome: new Uint8Array(8) },
    FindCommit: { channelId, epoch: 0, generation: 0 },
    ClaimForFounding: { channelId, agentIds: [agentId], nonce },
    FoundGeneration: {
      channelId,
      founding: {
        generation: 1,
        baseEpoch: 0,
        transcriptHash: digest,
        badCommit: digest,
        blamed: agentId,
        signatureKey: digest,
        identity: nonce,
        members: [agentId],
        without: [],
        owners: [agentId],
        suite: 3,
        state: digest,
        signature: strange,
      },
      proof: {
        signatureKey: digest,
        identity: nonce,
        added: [],
        removed: [],
        state: digest,
        nextState: digest,
        signature: strange,
      },
      change: nonce,
      absent: [],
      welcomes: [],
    },
    Subscribe: { channelId, windowBytes: 1024, tag: 1 },
    Unsubscribe: { channelId },
    Acknowledge: { channelId, consumed: 0, received: 0 },
    RegisterInvite: { channelId, inviteId, expiresAtMs: startMs + 1000, uses: 1 },
    RevokeInvite: { channelId, inviteId },
    RequestJoin: { channelId, inviteId, keyPackage: rejoin.keyPackage, mac: digest, ttlMs: 1000 },
    RejectJoin: { channelId, requestId, code: "join_rejected", message: "" },
    RequestRejoin: rejoin,
    ReadOwn: { channelId, sequence: 1 },
    Confirm: { channelId, epoch: 0, state: digest, signature: strange },
    SendLeaf: { channelId, requestId, leafIndex: 0, leafNode: nonce },
  };
}

/** The relay's reply to an operation: a code, or that it was carried out. */
async function outcome<Name extends CallName>(
  actor: Actor,
  name: Name,
  body: RequestBody<Name>,
): Promise<string> {
  try {
    await actor.client.call(name, body);
    return "done";
  } catch (error) {
    if (error instanceof CallRefused) {
      return error.body.message.includes("scopes do not allow") ? "no" : error.body.code;
    }
    throw error;
  }
}

/**
 * The operations that each right allows, written down here independently of the relay's own table;
 * the others are about the session or the agent.
 */
const opened: Readonly<Record<ChannelRight | "any", readonly CallName[]>> = {
  create: ["CreateChannel", "CloseChannel", "ClaimForFounding", "FoundGeneration"],
  receive: ["Subscribe", "Acknowledge", "ListMembers"],
  send: ["SendMessage"],
  invite: ["AddMember", "RegisterInvite", "RevokeInvite", "RejectJoin"],
  any: [
    "SendCommit",
    "SendWelcome",
    "FindCommit",
    "ReadOwn",
    "Confirm",
    "SendLeaf",
    "RequestJoin",
    "RequestRejoin",
    "LeaveChannel",
  ],
};
const ofSession: readonly CallName[] = [
  "GetChallenge",
  "Authenticate",
  "RenewToken",
  "Ping",
  "EndSession",
  "ConfigureCover",
  "UploadKeyPackage",
  "Unsubscribe",
];
const operations = Object.keys(calls) as CallName[]; // cast: the table's own names
const judged = Object.values(opened).flat();

Deno.test("every operation is about the session, a list of channels, or a right", () => {
  assertEquals([...judged, ...ofSession, "ListChannels"].sort(), operations.toSorted());
});

worldTest("what is about the session is let through with any right", async (world) => {
  const { bob, channelId } = await createPair(world);
  for (const name of ofSession) {
    await narrow(bob, world, { key, scopes: [byName("send")] });
    const said = await outcome(bob, name, requestsOf(bob, channelId)[name]).catch(() => "ended");
    assert(said !== "no", `${name}: ${said}`);
  }
});

Deno.test("docs/accounts.md shows for every operation the right that it needs", async () => {
  const page = await Deno.readTextFile(new URL("../../../docs/accounts.md", import.meta.url));
  const rows = page.matchAll(/^\| (`[A-Z]\w+`(?:, `\w+`)*) +\| `(\w+)`/gm);
  const shown = Array.from(
    rows,
    ([, names = "", need]) => names.split(", ").map((name) => [name.slice(1, -1), need]),
  );
  assertEquals(Object.fromEntries(shown.flat()), needs);
});

for (const right of channelRights) {
  worldTest(
    `operation × scope: with ${right} alone exactly what needs it is let through`,
    async (world) => {
      const { bob, channelId } = await createPair(world);
      for (const name of judged) {
        await narrow(bob, world, { key, scopes: [byName(right)] });
        const body = requestsOf(bob, channelId)[name];
        const isAllowed = opened.any.includes(name) || opened[right].includes(name);
        assertEquals(await outcome(bob, name, body) === "no", !isAllowed, `${name} with ${right}`);
      }
    },
  );
}

worldTest(
  "operation × channel: what the scopes do not cover does not exist, also for its own account",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    const hidden = await alice.createChannel(2, elsewhere);
    await narrow(alice, world, { key, scopes: [byName(...channelRights)] });
    for (const name of judged.filter((each) => each !== "CreateChannel")) {
      const body = requestsOf(alice, hidden)[name];
      assertEquals(await outcome(alice, name, body), "not_found", name);
    }
    await refused(
      "not_allowed",
      alice.client.call("CreateChannel", { name: elsewhere, nonce: new Uint8Array(16) }),
    );
    const { channels } = await alice.client.call("ListChannels", { limit: 10 });
    assertEquals(channels.map((channel) => channel.channelId), [channelId]);
  },
);

worldTest(
  "a guest of the account that owns a channel sends and reads in it, and nothing else",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    const hidden = await alice.createChannel(2, elsewhere);
    const grant: TokenGrant = { key, scopes: [{ channelId, allow: ["send", "receive"] }] };
    await narrow(bob, world, grant, alice.account);
    await bob.subscribe(channelId);
    await bob.send(channelId, 1, 1);
    const requests = requestsOf(bob, channelId);
    const forbidden = [
      "CreateChannel",
      "CloseChannel",
      "ListChannels",
      "AddMember",
      "RegisterInvite",
      "RevokeInvite",
    ] as const;
    for (const name of [...forbidden, "RejectJoin"] as const) {
      assertEquals(await outcome(bob, name, requests[name]), "no", name);
    }
    for (const name of judged.filter((each) => each !== "CreateChannel")) {
      assertEquals(await outcome(bob, name, requestsOf(bob, hidden)[name]), "not_found", name);
    }
    const carol = await Actor.connect(world, 3);
    await refused("not_allowed", bob.commit(channelId, 1, { added: [carol.agentId] }));
    // A member that comes back is not a stranger: without this, a channel of guests could not admit
    // it again.
    await bob.commit(channelId, 1, {});
  },
);

worldTest(
  "a guest joins its channel with an invite, and no other with a good invite to that",
  async (world) => {
    const { alice, channelId } = await createPair(world);
    const hidden = await alice.createChannel(2, elsewhere);
    const inviteId = idOf<InviteId>(5);
    for (const id of [channelId, hidden]) {
      await alice.client.call("RegisterInvite", {
        channelId: id,
        inviteId,
        expiresAtMs: startMs + 100_000,
        uses: 5,
      });
    }
    const carol = new Actor(world, 3);
    await narrow(
      carol,
      world,
      { key, scopes: [{ channelId, allow: ["send", "receive"] }] },
      alice.account,
    );
    const join = (id: ChannelId): Promise<unknown> =>
      carol.client.call("RequestJoin", {
        channelId: id,
        inviteId,
        keyPackage: carol.keyPackage(),
        mac: new Uint8Array(32),
        ttlMs: 1000,
      });
    await join(channelId);
    await refused("not_found", join(hidden));
  },
);

worldTest("Welcomes of channels outside the scopes are not delivered", async (world) => {
  const alice = await Actor.connect(world, 1);
  const bob = new Actor(world, 2);
  const [open, hidden] = [await alice.createChannel(), await alice.createChannel(2, elsewhere)];
  for (const channelId of [open, hidden]) {
    await alice.commit(channelId, 0, { added: [bob.agentId] });
  }
  await narrow(bob, world, { key, scopes: [byName("receive")] });
  await world.time.advance(10);
  assertEquals(bob.client.pushed("DeliverWelcome").map(({ channelId }) => channelId), [open]);
});

worldTest("a session is renewed with the same claim only", async (world) => {
  const grant: TokenGrant = { key, scopes: [byName("send")] };
  const bob = new Actor(world, 2);
  await narrow(bob, world, grant);
  const renew = (other?: TokenGrant): Promise<unknown> =>
    bob.client.call("RenewToken", { token: tokenOf(2, untilMs + 1000, other) });
  await renew(grant);
  await refused("auth_failed", renew());
  await refused("auth_failed", renew({ key: null, scopes: grant.scopes }));
  await refused("auth_failed", renew({ key, scopes: [byName("send", "receive")] }));
});

worldTest(
  "one guest pass has so many sessions, and the account's others are not touched",
  async (world) => {
    const scopes: ChannelScope[] = [{ channelId: idOf<ChannelId>(1), allow: ["send"] }];
    const [first, second, third] = [10, 11, 12].map((number) => new Actor(world, number, 1)) as [
      Actor,
      Actor,
      Actor,
    ]; // cast: three
    for (const guest of [first, second]) await narrow(guest, world, { key, scopes });
    await assertRejects(() => narrow(third, world, { key, scopes }), Error, "connection lost");
    first.client.close();
    await narrow(third, world, { key, scopes });
    const owner = await Actor.connect(world, 1);
    assert((await owner.createChannel()).length > 0);
  },
  { config: { sessionsPerGuest: 2 } },
);

worldTest(
  "a guest does not bring back whom a commit removes while its own is on its way",
  async (world) => {
    const { alice, bob, channelId } = await createPair(world);
    const carol = await Actor.connect(world, 3);
    await alice.commit(channelId, 1, { added: [carol.agentId] });
    await narrow(
      bob,
      world,
      { key, scopes: [{ channelId, allow: ["send", "receive"] }] },
      alice.account,
    );
    const removing = alice.commit(channelId, 2, { removed: [carol.agentId] });
    // Judged while carol is a member, or before her removal is in the log, and appended when she is
    // none, if at all.
    const before = Array.from({ length: 4 }, (_, i) => bob.send(channelId, 2, i).catch(() => {}));
    const adding = assertRejects(
      () => bob.commit(channelId, 3, { added: [carol.agentId] }),
      CallRefused,
    );
    const [, { body }] = await Promise.all([removing, adding, ...before]);
    assert(["not_allowed", "epoch_conflict"].includes(body.code), body.code);
    const { members } = await alice.client.call("ListMembers", { channelId });
    assert(!members.some(({ agentId }) => agentId === carol.agentId));
    await refused("not_allowed", bob.commit(channelId, 3, { added: [carol.agentId] }));
  },
);
