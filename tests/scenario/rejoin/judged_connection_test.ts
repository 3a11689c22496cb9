/**
 * Orders of events in which a connection is judged while something else is under way: stories of
 * the machine's readers and worlds.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { StaticError } from "../../../sdk/mod.ts";
import type { ReplyBody } from "../../../proto/mod.ts";
import { name, read, Stage, until } from "../../support/scenario/stage.ts";

Deno.test("a relay that takes its word back while a Welcome back is being written does not end the channel", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await bob.channel();
  const before = (await bob.inside()).life;
  const requests: Parameters<typeof alice.session.inject>[0][] = [];
  for (const member of [alice, carol]) {
    member.session.tampering.notice = (notice) => {
      if (notice.operation !== "DeliverRejoinRequest") return [notice];
      if (member === alice) requests.push(notice);
      return [];
    };
  }
  bob.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    return operation === "Subscribe"
      ? { ...reply as ReplyBody<"Subscribe">, acknowledged: 10_000 }
      : reply; // cast: of this operation
  };
  bob.session.disconnect();
  await bob.session.connect();
  await until("bob asks to come back", () => requests.length > 0);
  const answered = Promise.withResolvers<void>();
  const asked = { subscribe: false, commit: false };
  bob.session.tampering.call = async (operation, _body, forward) => {
    asked.subscribe ||= operation === "Subscribe";
    const reply = await forward();
    if (operation === "FindCommit" && asked.subscribe && !asked.commit) {
      asked.commit = true;
      await answered.promise;
    }
    return reply;
  };
  bob.session.disconnect();
  await bob.session.connect();
  await until("bob's connection is being judged", () => asked.commit);
  const sent = channel.send("queued", { queue: true });
  alice.session.tampering = {};
  for (const request of requests) alice.session.inject(request);
  // The Welcome is here, and waits for its turn.
  await until(
    "alice has let bob in",
    async () => (await alice.inside()).epoch > (await bob.inside()).epoch,
  );
  answered.resolve();
  await sent;
  await until(
    "bob is in step",
    async () => channel.health().state === "ok" && (await bob.inside()).life !== before,
  );
  assertEquals(await read(await alice.channel(), 1), ["queued"]);
});

Deno.test("a commit of ours that the relay has taken and the group has not is not taken for one of another copy", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const inside = await alice.inside();
  const channel = await alice.channel();
  const [taken, asks, mayAsk, mayAccept, mayRead] = [0, 1, 2, 3, 4].map(() =>
    Promise.withResolvers<void>()
  ) as [
    PromiseWithResolvers<void>,
    PromiseWithResolvers<void>,
    PromiseWithResolvers<void>,
    PromiseWithResolvers<void>,
    PromiseWithResolvers<void>,
  ]; // cast: five of them
  let isDropped = false;
  alice.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverMessage" || isDropped) return [notice];
    isDropped = true;
    return [];
  };
  let subscribed: ReplyBody<"Subscribe"> | undefined;
  alice.session.tampering.call = async (operation, _body, forward) => {
    if (operation === "Subscribe") {
      asks.resolve();
      await mayAsk.promise;
    }
    const reply = await forward();
    if (operation === "SendCommit") {
      taken.resolve();
      await mayAccept.promise;
    }
    if (operation === "Subscribe") {
      subscribed = reply as ReplyBody<"Subscribe">; // cast: of this operation
      await mayRead.promise;
    }
    return reply;
  };
  // The first is missing, so that alice fetches.
  for (const text of ["one", "two"]) await bob.manager.send(name, text);
  await asks.promise;
  const committed = inside.commit();
  await taken.promise;
  mayAsk.resolve();
  await until("the relay names the commit", () => subscribed?.sent?.commitHash !== undefined);
  assertEquals(subscribed?.sent?.epoch, inside.epoch);
  // A seal on a slow disk stands before it in the group's queue.
  alice.writeMs = 50;
  const sent = channel.send("mine");
  mayAccept.resolve();
  mayRead.resolve();
  await Promise.all([committed, sent]);
  assertEquals(await read(channel, 2), ["one", "two"]);
  assertEquals(
    channel.health().issues.map(({ kind }) => kind).filter((kind) => kind !== "missing_messages"),
    [],
  );
});

Deno.test("a change that waited for a connection is not made on the next one before that was compared", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const carol = await stage.actor("carol");
  const mayAnswer = Promise.withResolvers<void>();
  const calls: string[] = [];
  carol.session.tampering.call = async (operation, _body, forward) => {
    if (operation === "SendCommit") calls.push("commit");
    if (operation !== "Subscribe") return await forward();
    calls.push("asked");
    if (calls.length === 1) {
      await mayAnswer.promise;
      // The permit is given, and its write takes long.
      carol.writeMs = 200;
    } else await new Promise((resolve) => setTimeout(resolve, 500)); // wait: a slow relay
    const reply = await forward();
    calls.push("answered");
    return reply;
  };
  const joining = carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await until("carol subscribes", () => calls.length === 1);
  const inside = await carol.inside();
  const committed = inside.commit();
  mayAnswer.resolve();
  await until("the relay has answered", () => calls.includes("answered"));
  carol.session.disconnect();
  await carol.session.connect();
  await Promise.all([committed, joining]);
  assertEquals(calls.slice(0, 5), ["asked", "answered", "asked", "answered", "commit"]);
});

Deno.test("a change of a channel whose session is over is refused at once, and does not wait for a connection", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const inside = await alice.inside();
  await alice.crash();
  const startedMs = performance.now();
  await assertRejects(() => inside.commit(), StaticError);
  assert(performance.now() - startedMs < 15_000, "it waited half a minute for a permit");
});
