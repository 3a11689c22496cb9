import { assert, assertEquals } from "@std/assert";
import { formatInviteToken, parseInviteToken } from "../../../proto/mod.ts";
import {
  ChannelError,
  type ErrorCode,
  InvalidArgumentError,
  MlsError,
  QuotaExceededError,
  StaticError,
  TransportError,
} from "../../../sdk/mod.ts";
import { allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

type ErrorClass = new (...args: ConstructorParameters<typeof StaticError>) => StaticError;

/** The call fails with this class and code, and says what to do. */
async function refused(
  act: () => Promise<unknown>,
  expected: ErrorClass,
  code: ErrorCode,
): Promise<StaticError> {
  try {
    await act();
  } catch (error) {
    assert(error instanceof expected, `${String(error)} is no ${expected.name}`);
    assertEquals(error.code, code, error.message);
    return error;
  }
  throw new Error(`expected ${code}, nothing failed`);
}

Deno.test("names that are none are refused before anything is sent", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  for (
    const bad of [
      "",
      "acme",
      "acme/ops",
      "acme/ops/deploy/now",
      "Acme/ops/deploy",
      "acme//deploy",
      "acme/ops/dé",
    ]
  ) {
    await refused(() => alice.client.createChannel(bad), ChannelError, "channel_error");
    await refused(
      () => alice.client.joinChannel(bad, new Uint8Array(9)),
      ChannelError,
      "channel_error",
    );
    await refused(() => alice.client.channel(bad), ChannelError, "channel_error");
    await refused(() => alice.manager.invite(bad), ChannelError, "channel_error");
  }
  assertEquals(alice.client.channels, []);
});

Deno.test("a Welcome that is none, is for another agent, or leads elsewhere is refused and nothing is left behind", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const [carol, dave] = [await stage.actor("carol"), await stage.actor("dave")];
  await refused(() => carol.client.joinChannel(name, new Uint8Array(0)), MlsError, "mls_error");
  await refused(
    () => carol.client.joinChannel(name, new Uint8Array(3 * 1024 * 1024)),
    MlsError,
    "mls_error",
  );
  await refused(() => carol.client.joinChannel(name, new Uint8Array(500)), MlsError, "mls_error");
  const welcome = await (await alice.channel()).addMember(await carol.client.generateKeyPackage());
  await refused(() => dave.client.joinChannel(name, welcome), MlsError, "mls_error");
  await refused(() => carol.client.joinChannel("acme/ops/other", welcome), MlsError, "mls_error");
  const damaged = welcome.slice();
  damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
  await refused(() => carol.client.joinChannel(name, damaged), MlsError, "mls_error");
  assertEquals(carol.client.channels, []);
  // The KeyPackage was not used up by any of these.
  await carol.client.joinChannel(name, welcome);
  await refused(() => carol.client.joinChannel(name, welcome), ChannelError, "name_taken");
  await carol.manager.send(name, "in");
});

Deno.test("invite tokens: expired, revoked, used up, forged, of another channel, cut short", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const carol = await stage.actor("carol");
  const join = (token: string): Promise<unknown> =>
    carol.manager.joinWithToken(name, token, { timeoutMs: 60_000 });

  const expired = await alice.manager.invite(name, { expiresInMs: 1 });
  const made = stage.world.time.nowMs();
  await until("it has expired", () => stage.world.time.nowMs() > made + 1);
  await refused(() => join(expired), ChannelError, "join_rejected");

  const revoked = await alice.manager.invite(name);
  await alice.manager.revokeInvite(revoked);
  await refused(() => join(revoked), ChannelError, "join_rejected");

  const invite = parseInviteToken(await alice.manager.invite(name));
  const forged = formatInviteToken({ ...invite, secret: new Uint8Array(32).fill(1) });
  await refused(() => join(forged), ChannelError, "join_rejected");
  const renamed = formatInviteToken({ ...invite, inviter: carol.client.agentId });
  await refused(() => join(renamed), ChannelError, "join_rejected");

  const token = await alice.manager.invite(name);
  await refused(
    () => carol.manager.joinWithToken("acme/ops/other", token),
    ChannelError,
    "channel_error",
  );
  await refused(() => join(token.slice(0, -5)), InvalidArgumentError, "invalid_request");
  await refused(
    () => alice.manager.invite(name, { uses: 0 }),
    InvalidArgumentError,
    "invalid_request",
  );
  await refused(
    () => alice.manager.invite(name, { expiresInMs: -1 }),
    InvalidArgumentError,
    "invalid_request",
  );

  assertEquals(carol.client.channels, []);
  await join(token);
  const dave = await stage.actor("dave");
  await refused(
    () => dave.manager.joinWithToken(name, token, { timeoutMs: 60_000 }),
    ChannelError,
    "join_rejected",
  );
});

Deno.test("without a running inviter joining times out, and the same token works once it runs", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const token = await alice.manager.invite(name);
  await alice.stop();
  const carol = await stage.actor("carol");
  const started = Date.now();
  await refused(
    () => carol.manager.joinWithToken(name, token, { timeoutMs: 300 }),
    TransportError,
    "join_timeout",
  );
  assert(Date.now() - started < 60_000, "within its timeout");
  await alice.start();
  await carol.manager.joinWithToken(name, token, { timeoutMs: 60_000 });
  await allAgree(alice, bob, carol);
});

Deno.test("an asker that had to make room for others at the relay asks again by itself", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const carol = await stage.actor("carol");
  const { after } = carol;
  carol.after = (ms, run) => after(ms / 100, run);
  let rejected = 0;
  alice.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverJoinRequest" || rejected++ > 0) return [notice];
    const { channelId, requestId } = notice.body;
    void alice.session.call("RejectJoin", {
      channelId,
      requestId,
      code: "overloaded",
      message: "too many",
    });
    return [];
  };
  await carol.manager.joinWithToken(name, await alice.manager.invite(name), {
    timeoutMs: 6_000_000,
  });
  assertEquals(rejected, 2);
  await allAgree(alice, bob, carol);
});

Deno.test("when the quota is reached sends fail with its class, and later ones are not missed by anybody", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  stage.world.quota.left = 1;
  await alice.manager.send(name, "the last one");
  await refused(
    () => alice.manager.send(name, "one too many"),
    QuotaExceededError,
    "quota_exceeded",
  );
  stage.world.quota.left = 10;
  await alice.manager.send(name, "next month");
  assertEquals(await read(await bob.channel(), 2), ["the last one", "next month"]);
  assertEquals((await bob.channel()).health().missing, []);
});

Deno.test("empty and oversize payloads are refused, and a full mebibyte is not", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  await refused(() => alice.manager.send(name, ""), InvalidArgumentError, "invalid_request");
  const most = 1024 * 1024;
  await refused(
    () => alice.manager.send(name, new Uint8Array(most + 1)),
    InvalidArgumentError,
    "payload_too_large",
  );
  await alice.manager.send(name, new Uint8Array(most));
});

Deno.test("a KeyPackage that is none, or of somebody who is in already, is refused", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  await refused(() => channel.addMember(new Uint8Array(0)), MlsError, "key_package_invalid");
  await refused(() => channel.addMember(new Uint8Array(20_000)), MlsError, "key_package_invalid");
  await refused(
    async () => channel.addMember(await alice.client.generateKeyPackage()),
    ChannelError,
    "already_member",
  );
  await refused(() => channel.addMember("no agent id"), InvalidArgumentError, "invalid_request");
});

Deno.test("the data directory of one identity is not opened by another", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  await alice.stop();
  alice.label = "mallory";
  await refused(() => alice.start(), InvalidArgumentError, "invalid_request");
  alice.label = "alice";
  await alice.start();
});

Deno.test("after closing, everything fails with a clear error and nothing hangs", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const channel = await alice.channel();
  await alice.stop();
  await refused(() => channel.send("too late"), TransportError, "transport_error");
  await refused(
    () => alice.client.createChannel("acme/ops/other"),
    TransportError,
    "transport_error",
  );
  for await (const _ of channel.messages()) throw new Error("nothing is left to read");
  assertEquals(channel.health().state, "ended");
});

Deno.test("every call that waits is given up by its signal, with its reason", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const { manager, client } = alice;
  const [channel, to] = [await alice.channel(), bob.client.agentId];
  const reason = new Error("enough");
  const given = { signal: AbortSignal.abort(reason) };
  const keyPackage = new Uint8Array(1);
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    send: () => channel.send("?", given),
    request: () => channel.request("?", { to, ...given }),
    receive: () => channel.receive(given),
    receiveEnvelope: () => channel.receiveEnvelope(given),
    addMember: () => channel.addMember(keyPackage, given),
    removeMember: () => channel.removeMember(to, given),
    recover: () => channel.recover(given),
    leave: () => channel.leave(given),
    createChannel: () => client.createChannel("acme/ops/other", given),
    openChannel: () => client.openChannel(name, given),
    channel: () => client.channel(name, given),
    joinChannel: () => client.joinChannel(name, undefined, given),
    closeChannel: () => client.closeChannel(name, given),
    generateKeyPackage: () => client.generateKeyPackage(given),
    invite: () => manager.invite(name, given),
    invites: () => manager.invites(name, given),
    revokeInvite: () => manager.revokeInvite("?", given),
    revokeInviteById: () => manager.revokeInviteById({ channel: channel.name, id: "?" }, given),
    joinWithToken: () => manager.joinWithToken(name, "?", given),
    "manager.send": () => manager.send(name, "?", given),
    "manager.channel": () => manager.channel(name, given),
    "manager.create": () => manager.create("acme/ops/other", given),
    "manager.health": () => manager.health(name, given),
    "manager.receive": () => manager.receive(name, given),
  };
  for (const [call, make] of Object.entries(calls)) {
    const error = await make().then(() => "fulfilled", (error: unknown) => error);
    assertEquals(error, reason, call);
  }
  assertEquals(channel.members().length, 2, "nothing has happened");
});
