/**
 * A stranger, a relay or a call that comes late must not take the place of a channel that is
 * something else's.
 */
import { assertEquals, assertRejects } from "@std/assert";
import { type ChannelEndReason, type ChannelId, parseChannelName } from "../../../proto/mod.ts";
import { StaticError } from "../../../sdk/mod.ts";
import {
  atOnce,
  createError,
  createKeyPackage,
  decodeKeyPackageMessage,
  Group,
} from "../../../sdk/testing/agents.ts";
import { loseStep } from "../../support/scenario/lost_step.ts";
import { deafen } from "../../support/scenario/recovery.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

const otherName = "evil/ops/deploy";

/** A Welcome into a group of the maker's own, which has the id of a channel that it is not in. */
async function welcomeInto(
  channelId: ChannelId,
  maker: Actor,
  keyPackage: Uint8Array,
): Promise<Uint8Array> {
  const { identity, signatures, runtime } = maker.agent.parts;
  const randomBytes = (length: number): Uint8Array => runtime.randomBytes(length);
  const nowMs = runtime.nowMs();
  const times = { notBeforeMs: nowMs - 60_000, notAfterMs: nowMs + 60_000 };
  const own = await createKeyPackage({
    suiteId: 3,
    identity,
    ...times,
    lastResort: false,
    randomBytes,
    signatures,
  });
  const start = { channelId, name: parseChannelName(otherName), sealing: undefined };
  const group = Group.create(start, own, {
    identity,
    signatures,
    randomBytes,
    policy: () => undefined,
    findPsk: () => undefined,
    clocksMs: () => [nowMs],
    carryOut: atOnce,
    padding: () => 0,
  });
  const { welcome } = group.prepare({ add: [decodeKeyPackageMessage(keyPackage)] });
  if (welcome === undefined) throw new Error("a commit that adds somebody has a Welcome");
  return welcome;
}

/** The relay says that the channel is over. */
function tellEnd({ session }: Actor, channelId: ChannelId, reason: ChannelEndReason): void {
  const body = { channelId, sequence: 900, timeMs: 0, reason };
  session.inject({ kind: "notice", operation: "DeliverChannelEnd", body });
}

async function assertWorks(alice: Actor, bob: Actor): Promise<void> {
  await allAgree(alice, bob);
  await alice.manager.send(name, "hello");
  assertEquals(await read(await bob.channel(), 1), ["hello"]);
}

Deno.test("a Welcome by hand with the id of another channel does not take that channel's place", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const mallory = await stage.actor("mallory", 2);
  const { channelId } = await bob.inside();
  const welcome = await welcomeInto(channelId, mallory, await bob.client.generateKeyPackage());
  await assertRejects(() => bob.client.joinChannel(otherName, welcome), StaticError, name);
  await bob.restart();
  assertEquals(bob.client.channels, [name]);
  await assertWorks(alice, bob);
});

Deno.test("a Welcome that an honest relay delivers does not lead into another channel than its sender's", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const mallory = await stage.actor("mallory", 2);
  const { channelId } = await bob.inside();
  const keyPackage = await bob.client.generateKeyPackage();
  const forged = await welcomeInto(channelId, mallory, keyPackage);
  await mallory.manager.create(otherName);
  mallory.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit") return forward();
    // cast: of this operation
    const { welcomes, ...rest } = body as { welcomes: { recipients: string[] }[] };
    return forward({
      ...rest,
      welcomes: welcomes.map(({ recipients }) => ({ recipients, welcome: forged })),
    });
  };
  await (await mallory.client.channel(otherName)).addMember(keyPackage);
  await until("the Welcome has arrived", () => bob.client.welcomes.includes(otherName));
  await assertRejects(() => bob.client.joinChannel(otherName), StaticError);
  await assertWorks(alice, bob);
});

Deno.test("a relay that answers to CreateChannel with the id of another channel costs no keys", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const { channelId } = await bob.inside();
  bob.session.tampering.call = async (operation, _, forward) => {
    const reply = await forward();
    return operation === "CreateChannel" ? { ...reply as object, channelId } : reply;
  };
  await assertRejects(() => bob.client.createChannel(otherName), StaticError);
  bob.session.tampering = {};
  await bob.restart();
  assertEquals(bob.client.channels, [name]);
  await assertWorks(alice, bob);
});

Deno.test("closing a channel erases no other one that has taken its name meanwhile", async () => {
  await using stage = await Stage.open();
  const [alice, bob] = [await stage.actor("alice"), await stage.actor("bob", 2)];
  for (const { manager } of [alice, bob]) await manager.create(name);
  const token = await bob.manager.invite(name);
  alice.session.tampering.call = async (operation, _, forward) => {
    const reply = await forward();
    if (operation === "CloseChannel") await alice.manager.joinWithToken(name, token);
    return reply;
  };
  await alice.client.closeChannel(name);
  alice.session.tampering = {};
  await alice.restart();
  await assertWorks(alice, bob);
});

Deno.test("an invite into another channel of a name does not take the place of one that works, by one false word of the relay", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const mallory = await stage.actor("mallory", 2);
  await mallory.manager.create(name);
  const token = await mallory.manager.invite(name);
  bob.session.tampering.call = (operation, _, forward) =>
    operation === "ListMembers"
      ? Promise.reject(createError("not_found", "no such channel"))
      : forward();
  const error = await assertRejects(
    () => bob.manager.joinWithToken(name, token),
    StaticError,
    "closeChannel",
  );
  assertEquals(error.code, "name_taken");
  bob.session.tampering = {};
  await bob.restart();
  await assertWorks(alice, bob);
});

Deno.test("leave() of a membership that an invite has replaced leaves the new one alone", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const former = await bob.channel();
  const inside = await bob.inside();
  // The relay breaks every answer; the last one comes by hand, as a Welcome of an owner.
  let answer: Uint8Array | undefined;
  bob.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverWelcome") return [notice];
    const { welcome } = notice.body;
    answer = welcome;
    return [{
      ...notice,
      body: { ...notice.body, welcome: welcome.slice().fill(0x55, welcome.length - 32) },
    }];
  };
  await loseStep(bob, alice);
  await until("bob is unwelcome", () => inside.state.unwelcome);
  deafen(alice, carol);
  await bob.client.joinChannel(name, answer);
  bob.session.tampering = {};
  await former.leave().catch(() => {});
  await bob.restart();
  await allAgree(alice, bob, carol);
  await assertWorks(alice, bob);
});

Deno.test("a channel that has ended does not ask to come back when leave() fails", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  const { channelId } = await bob.inside();
  let asked = 0;
  bob.session.tampering.call = (operation, _, forward) => {
    if (operation === "RequestRejoin") asked++;
    if (operation === "RequestRejoin" || operation === "LeaveChannel") {
      return Promise.reject(createError("overloaded", "later"));
    }
    return forward();
  };
  await loseStep(bob, alice);
  await until("bob asks", () => asked > 0);
  tellEnd(bob, channelId, "recovered");
  await until("it is over", () => channel.health().state === "ended");
  const before = asked;
  await assertRejects(() => channel.leave(), StaticError);
  // Long enough for the next request, which would come at once.
  await new Promise((resolve) => setTimeout(resolve, 100)); // wait: nothing may happen
  assertEquals(asked, before);
});
