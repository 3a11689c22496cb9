// Calls that cannot be answered, sessions that end, clients that close at the wrong moment: nobody
// waits for ever, nothing is lost in silence, and what is closed can be opened again.
import { assertEquals, assertGreater, assertRejects } from "@std/assert";
import { binaryIdFromBytes, type ChannelId, parseChannelName } from "../../../proto/mod.ts";
import { ChannelManager, type ErrorCode, StaticError, StoreError } from "../../../sdk/mod.ts";
import {
  Agent,
  createError,
  createMemoryDisk,
  createSignatures,
  factsKind,
  Inside,
  kindOf,
  newChannelRecord,
  openIdentity,
  openMemory,
  putChannel,
  RecordStore,
} from "../../../sdk/testing/agents.ts";
import { createNodeEd25519 } from "../../../sdk/platform/node_ed25519.ts";
import { declareNothing } from "../../support/scenario/hostile.ts";
import { type Actor, name, read, runtime, Stage, until } from "../../support/scenario/stage.ts";

/** Longer than anything here takes, shorter than the time-out that would end it otherwise. */
const soonMs = 5_000;

async function soon<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what}: nothing happened within ${soonMs} ms`)),
      soonMs,
    );
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function failsWith(code: ErrorCode, promise: Promise<unknown>): Promise<void> {
  const error = await assertRejects(() => promise, StaticError);
  assertEquals(error.code, code, error.message);
}

const unanswered = (): Promise<never> => new Promise(() => {});

Deno.test("a message that may queue does not wait for a connection that was lost while it was under way", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  let sent = 0;
  alice.session.tampering.call = (operation, _, forward) => {
    if (operation !== "SendMessage" || sent++ > 0) return forward();
    queueMicrotask(() => alice.session.disconnect());
    return unanswered();
  };
  const { accepted } = await soon("send", alice.manager.send(name, "later", { queue: true }));
  assertEquals(accepted, false);
  await alice.session.connect();
  assertEquals(await read(await bob.channel(), 1), ["later"]);
});

Deno.test("a queued message that the relay refuses later is reported", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const channel = await alice.channel();
  alice.session.disconnect();
  assertEquals((await channel.send("too much", { queue: true })).accepted, false);
  alice.session.tampering.call = (operation, _, forward) =>
    operation === "SendMessage"
      ? Promise.reject(createError("quota_exceeded", "no more this month"))
      : forward();
  await alice.session.connect();
  await until(
    "it is reported",
    () => channel.health().issues.some(({ kind }) => kind === "undelivered"),
    soonMs,
  );
});

/** Its disk writes nothing until `goOn` is called. */
function holdDisk(
  { agent: { parts: { store } } }: Actor,
): { readonly writing: Promise<void>; readonly goOn: (fault?: Error) => void } {
  const write = store.batch.bind(store);
  const [held, writing] = [Promise.withResolvers<Error | void>(), Promise.withResolvers<void>()];
  store.batch = async (changes) => {
    writing.resolve();
    const fault = await held.promise;
    if (fault !== undefined) throw fault;
    await write(changes);
  };
  const goOn = (fault?: Error): void => {
    store.batch = write;
    held.resolve(fault);
  };
  return { writing: writing.promise, goOn };
}

Deno.test("while a channel writes, no more messages may wait than at any other time", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const channel = await alice.channel();
  const { writing, goOn } = holdDisk(alice);
  const rotating = channel.rotate();
  await writing;
  const sent = Array.from(
    { length: 4_100 },
    (_, i) => channel.send(`${i}`).then(() => "sent", ({ code }) => code),
  );
  const { unsent } = alice.agent;
  goOn();
  await rotating;
  const ends = await Promise.all(sent);
  assertEquals([unsent, ends.indexOf("queue_full"), ends.lastIndexOf("sent")], [
    4_096,
    4_096,
    4_095,
  ]);
});

Deno.test("a message that is given while a channel writes rejects when that write fails", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const channel = await alice.channel();
  const { writing, goOn } = holdDisk(alice);
  const rotating = assertRejects(() => channel.rotate(), StaticError);
  await writing;
  const sent = assertRejects(() => channel.send("a"), StaticError);
  // As of a damaged store that was opened for reading: the end of the channel comes with the write.
  goOn(new StoreError("store_corrupt", "Cannot write"));
  await rotating;
  await soon("it rejects", sent);
});

Deno.test("while a channel writes, it knows that its connection is lost", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const inside = await Inside.of(alice.agent, name);
  await until("all is read", () => inside.state.caughtUp);
  const { writing, goOn } = holdDisk(alice);
  const rotating = assertRejects(async () => await (await alice.channel()).rotate(), StaticError);
  await writing;
  alice.session.disconnect();
  const { caughtUp } = inside.state;
  goOn();
  await alice.stop();
  await rotating;
  assertEquals(caughtUp, false);
});

Deno.test("a channel that is open is not kept waiting by one that is being created", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  alice.session.disconnect();
  const creating = assertRejects(() => alice.client.createChannel("acme/ops/other"), StaticError);
  assertEquals(
    (await soon("send", alice.manager.send(name, "meanwhile", { queue: true }))).accepted,
    false,
  );
  await alice.stop();
  await creating;
});

Deno.test("receive() gives each caller another message, and goes on after leaving and joining again", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const receive = async (timeoutMs = soonMs): Promise<string> =>
    new TextDecoder().decode(await bob.manager.receive(name, { timeoutMs }));
  assertEquals(await receive(1), "");
  const both = Promise.all([receive(), receive()]);
  for (const text of ["one", "two"]) await alice.manager.send(name, text);
  assertEquals(await both, ["one", "two"]);
  await (await bob.channel()).leave();
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  await alice.manager.send(name, "again");
  assertEquals(await receive(), "again");
});

Deno.test("closing does not wait for a relay that does not answer, and closing twice waits for the same end", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await alice.manager.send(name, "zero");
  let asked = false;
  bob.session.tampering = {
    // A hole in the log, and no answer to the question for what is missing.
    notice: (notice) =>
      notice.operation === "DeliverMessage" && notice.body.sequence === 3 ? [] : [notice],
    call: (operation, _, forward) => {
      if (operation !== "Subscribe") return forward();
      asked = true;
      return unanswered();
    },
  };
  for (const text of ["one", "two"]) await alice.manager.send(name, text);
  await until("bob asks for what is missing", () => asked, soonMs);
  void bob.client.close();
  await soon("close", bob.client.close());
  // The disk is free: the caller that waited for the second close() may open it.
  await bob.start();
});

Deno.test("a channel that is closed while it closes, and behind its end, is closed each time", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const inside = await alice.inside();
  let closed = 0;
  const close = (): Promise<unknown> => inside.close().then(() => closed++);
  await soon("closing twice", Promise.all([close(), close()]));
  await soon("closing what is over", Promise.all([close(), close()]));
  assertEquals([closed, inside.state.ended], [4, { error: undefined }]);
});

Deno.test("a log that is refused when it is asked for again ends the channel with the relay's reason", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await alice.manager.send(name, "zero");
  bob.session.tampering = {
    notice: (notice) =>
      notice.operation === "DeliverMessage" && notice.body.sequence === 3 ? [] : [notice],
    call: (operation, _, forward) =>
      operation === "Subscribe"
        ? Promise.reject(createError("not_found", "No such channel"))
        : forward(),
  };
  for (const text of ["one", "two"]) await alice.manager.send(name, text);
  await failsWith("not_found", soon("read", read(await bob.channel(), 3)));
});

Deno.test("joining ends with the session, and says why", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const token = await alice.manager.invite(name);
  alice.session.disconnect(); // nobody will answer
  const [dave, erin] = [await stage.actor("dave"), await stage.actor("erin")];
  const closed = failsWith("transport_error", dave.manager.joinWithToken(name, token));
  await dave.stop();
  await soon("join", closed);
  await failsWith("transport_error", dave.client.generateKeyPackage());
  const replaced = failsWith(
    "session_replaced",
    erin.manager.joinWithToken(name, token, { timeoutMs: 200 }),
  );
  erin.session.end(createError("session_replaced", "Another process took over"));
  await soon("join", replaced);
});

Deno.test("a channel that is stopped refuses changes at once", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.trio();
  declareNothing(alice);
  const [dave, erin] = [await stage.actor("dave"), await stage.actor("erin")];
  await (await alice.channel()).addMember(await dave.client.generateKeyPackage());
  const channel = await bob.channel();
  await until("it is stopped", () => channel.health().state === "stopped", soonMs);
  const keyPackage = await erin.client.generateKeyPackage();
  await failsWith("mls_error", soon("addMember", channel.addMember(keyPackage)));
});

Deno.test("who must rejoin asks as soon as there is a connection again", async () => {
  await using stage = await Stage.open();
  const { bob } = await stage.pair();
  let requests = 0;
  bob.session.tampering.call = (operation, _, forward) => {
    if (operation !== "RequestRejoin") return forward();
    return ++requests > 5 ? forward() : Promise.reject(createError("overloaded", "Later"));
  };
  const { id: channelId } = await bob.channel();
  const body = { channelId, reason: "lapsed", sequence: 9, timeMs: 0 } as const;
  bob.session.inject({ kind: "notice", operation: "DeliverChannelEnd", body });
  const startedMs = Date.now();
  for (let asked = 1; asked <= 5; asked++) {
    await until(`bob has asked ${asked} times`, () => requests === asked, 15_000);
    bob.session.disconnect();
    await bob.session.connect();
  }
  await until("bob has asked once more", () => requests > 5, 15_000);
  // Half of 1 + 2 + 4 + 8 + 16 s is the least that it would have waited by itself.
  assertGreater(15_000, Date.now() - startedMs);
});

Deno.test("a manager that cannot begin leaves the data directory free", async () => {
  const disk = createMemoryDisk();
  const open = (): Promise<RecordStore> =>
    RecordStore.open(openMemory(disk, (length) => runtime.randomBytes(length)));
  const store = await open();
  const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16));
  await store.batch([
    putChannel(
      newChannelRecord({
        channelId,
        name: parseChannelName(name),
        joinedEpoch: 0,
        joinedLeaf: new Uint8Array(0),
        rejoined: false,
      }),
    ),
  ]);
  await store.put(kindOf(channelId), "epoch", new Uint8Array([9]));
  await store.put(factsKind(channelId), "trust", new Uint8Array([9, 9]));
  const identity = await openIdentity(store, new TextEncoder().encode("zoe"), runtime);
  await using stage = await Stage.open();
  const { session } = await stage.actor("alice");
  const signatures = await createSignatures({ ed25519: createNodeEd25519() });
  const agent = await Agent.open({ store, session, runtime, signatures, identity });
  await assertRejects(() => ChannelManager.over(agent), StaticError);
  await (await open()).close();
});
