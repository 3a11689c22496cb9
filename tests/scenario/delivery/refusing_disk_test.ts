/**
 * A disk that refuses a write, in the middle of everything: what the agent says, and that nobody
 * else pays for it.
 */
import { assertEquals, assertRejects } from "@std/assert";
import { StaticError, StoreError } from "../../../sdk/mod.ts";
import { sendBogus } from "../../support/scenario/bad_commits.ts";
import { allStopped } from "../../support/scenario/recovery.ts";
import { name, read, Stage, until } from "../../support/scenario/stage.ts";

async function codeOf(act: () => Promise<unknown>): Promise<string> {
  return (await assertRejects(act, StaticError)).code;
}

Deno.test("after a write that failed every channel of the agent says why, and closing it leaves nothing open", async () => {
  await using stage = await Stage.open();
  const { bob } = await stage.pair();
  const other = await bob.manager.create("acme/ops/other");
  const waiting = codeOf(() => other.receive());
  void bob.diesAfter(0);
  assertEquals(
    await codeOf(async () => await (await bob.manager.channel(name)).rotate()),
    "store_failed",
  );
  assertEquals(await waiting, "store_failed", "one that only waits hears of it too");
  await bob.agent.close();
  assertEquals(bob.session.state.kind, "ended");
});

Deno.test("an inviter whose disk refuses rejects nobody, and lets the agent in after its next start", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const carol = await stage.actor("carol");
  const token = await alice.manager.invite(name);
  const channel = await alice.channel();
  let rejections = 0;
  alice.session.tampering.call = (operation, _body, forward) => {
    if (operation === "RejectJoin") rejections++;
    return forward();
  };
  void alice.diesAfter(0);
  const joining = carol.manager.joinWithToken(name, token, { timeoutMs: 60_000 });
  await until("alice has stopped", () => channel.health().state === "ended");
  assertEquals(rejections, 0);
  await alice.crash();
  const joined = await joining;
  assertEquals(joined.members().length, 3);
});

Deno.test("an owner whose disk refuses the founding that it made hears of it, and closes", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await sendBogus(bob);
  await allStopped(alice, carol);
  const channel = await alice.channel();
  await until("recovery is offered", () => channel.health().recoverable === true);
  alice.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    if (operation === "ClaimForFounding") void alice.diesAfter(0);
    return reply;
  };
  assertEquals(
    [await codeOf(() => channel.recover()), await codeOf(() => channel.recover())],
    Array(2).fill("store_failed"),
  );
  await alice.agent.close();
  assertEquals(alice.session.state.kind, "ended");
});

Deno.test("a write of a name that is refused before anything is written costs one call, and no other channel", async () => {
  for (const refused of ["nonce", "membership"] as const) {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const channel = await bob.channel();
    const { store } = bob.agent.parts;
    const write = store.batch.bind(store);
    let writes = 0;
    // As of a damaged store that was opened for reading.
    store.batch = (changes) => {
      if (writes++ < (refused === "nonce" ? 0 : 1)) return write(changes);
      return Promise.reject(
        new StoreError("store_corrupt", "Cannot write: the store was opened for reading"),
      );
    };
    assertEquals(
      await codeOf(() => bob.client.createChannel("acme/ops/other")),
      "store_corrupt",
      refused,
    );
    store.batch = write;
    assertEquals([channel.health().state, await bob.client.channel(name).then(() => "opens")], [
      "ok",
      "opens",
    ]);
    await alice.manager.send(name, "still here");
    assertEquals(await read(channel, 1), ["still here"]);
    await bob.client.createChannel("acme/ops/other");
  }
});

Deno.test("a channel that cannot begin costs the call that enters it, and no other channel", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  const other = await alice.manager.create("acme/ops/other");
  const { keyPackages } = bob.agent;
  const renew = keyPackages.renew.bind(keyPackages);
  keyPackages.renew = () => {
    throw new TypeError("It cannot begin");
  };
  const welcome = await other.addMember(await bob.client.generateKeyPackage());
  await assertRejects(
    () => bob.client.joinChannel("acme/ops/other", welcome),
    Error,
    "It cannot begin",
  );
  keyPackages.renew = renew;
  assertEquals(channel.health().state, "ok");
  const opened = await bob.client.channel("acme/ops/other");
  await other.send("read after all");
  assertEquals(await read(opened, 1), ["read after all"]);
});
