import { Code, ConnectError } from "@connectrpc/connect";
import { assert, assertEquals, assertNotEquals, assertRejects, assertThrows } from "@std/assert";
import { ErrorDetailSchema } from "../../proto/wire/grpc.ts";
import {
  type AnyStruct,
  type CallName,
  calls,
  type ChannelId,
  decodeClientEnvelope,
  encodeBase64url,
  type NoticeEnvelope,
  type ReplyBody,
  type RequestBody,
} from "../../proto/mod.ts";
import { Strangers } from "../strangers.ts";
import {
  createRandom,
  sampleBody,
  seedFromEnvironment,
  SimulatedClock,
} from "../../tests/support/mod.ts";
import type { GrpcCaller } from "./caller.ts";
import type { TypedSession } from "./typed_session.ts";
import { TypedSessions } from "./typed_sessions.ts";
import type { TypedClient, Upstream } from "./upstream.ts";

const channelId = "AAAAAAAAAAAAAAAAAAAAAA" as ChannelId;
const random = createRandom(seedFromEnvironment());
const nonce = new Uint8Array(32).fill(7);

/** An upstream that answers every request as its test says, by default with something valid. */
const caller: GrpcCaller = { remoteAddress: "192.0.2.1", vouch: () => {} };

class Bench {
  readonly clock = new SimulatedClock();
  readonly clients: TypedClient[] = [];
  readonly seen: CallName[] = [];
  closed = 0;
  taken = 0;
  /** Undefined leaves the request without an answer. */
  answer: (operation: CallName) => unknown = (operation) => this.sample(operation);
  busy: Promise<void> | undefined;
  readonly sessions: TypedSessions;
  readonly upstream: Upstream = {
    cellBytes: 4096,
    openTyped: (client) => {
      this.clients.push(client);
      return {
        send: (_lane, bytes) => this.#send(client, bytes),
        taken: () => void this.taken++,
        close: () => void this.closed++,
      };
    },
    openCells: () => {
      throw new Error("not in this test");
    },
  };

  constructor(strangers = 10) {
    this.sessions = new TypedSessions({
      upstream: this.upstream,
      strangers: new Strangers(strangers, this.clock.nowMs),
      idleTimeoutMs: 60_000,
      nowMs: this.clock.nowMs,
      after: this.clock.after,
      randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
      onFault: (error) => {
        throw error;
      },
    });
  }

  get client(): TypedClient {
    const client = this.clients.at(-1);
    assert(client !== undefined);
    return client;
  }

  sample(operation: CallName): unknown {
    if (operation === "GetChallenge") return { ...sample(calls[operation].reply) as object, nonce };
    return sample(calls[operation].reply);
  }

  /** An authenticated session and the value of its metadata entry. */
  async authenticate(): Promise<{ session: TypedSession; header: string }> {
    await this.sessions.challenge(sampleRequest("GetChallenge"), caller);
    const { sessionToken } = await this.sessions.authenticate(
      { ...sampleRequest("Authenticate"), relayNonce: nonce },
      caller,
    );
    const header = encodeBase64url(sessionToken);
    return { session: this.sessions.find(header), header };
  }

  notice(bytes = 10): void {
    const body = { remaining: 1, wanted: 2, hasLastResort: false };
    this.client.receive({ kind: "notice", operation: "KeyPackagesLow", body }, bytes);
  }

  #send(client: TypedClient, bytes: Uint8Array): Promise<void> | undefined {
    const { id, operation } = decodeClientEnvelope(bytes);
    this.seen.push(operation);
    if (operation === "Authenticate") client.authenticated();
    const body = this.answer(operation) as ReplyBody<CallName> | undefined;
    if (body !== undefined) client.receive({ kind: "reply", id, operation, body } as never, 10);
    return this.busy;
  }
}

function sampleRequest<Name extends CallName>(operation: Name): RequestBody<Name> {
  return sample(calls[operation].request) as RequestBody<Name>;
}

/** Something valid, whatever it is. */
function sample(schema: AnyStruct): unknown {
  return schema.parse(sampleBody(schema, random), "sample");
}

function codeOf(error: unknown): string | undefined {
  return error instanceof ConnectError ? error.findDetails(ErrorDetailSchema)[0]?.code : undefined;
}

async function failsWith(code: string, act: () => Promise<unknown>): Promise<void> {
  assertEquals(codeOf(await assertRejects(act, ConnectError)), code);
}

Deno.test("a login that gave its place up is told that the relay is full, not that it failed", async () => {
  const bench = new Bench(1);
  await bench.sessions.challenge(sampleRequest("GetChallenge"), caller);
  await bench.clock.advance(3_000);
  bench.answer = (operation) => ({
    ...bench.sample(operation) as object,
    nonce: nonce.map((byte) => byte ^ 1),
  });
  await bench.sessions.challenge(sampleRequest("GetChallenge"), {
    ...caller,
    remoteAddress: "198.51.100.7",
  });
  const late = { ...sampleRequest("Authenticate"), relayNonce: nonce };
  await failsWith("overloaded", () => bench.sessions.authenticate(late, caller));
});

Deno.test("a login that the relay refuses because of its own load is not blamed on its address", async () => {
  const bench = new Bench(4);
  const challenge = (remoteAddress: string): Promise<unknown> =>
    bench.sessions.challenge(sampleRequest("GetChallenge"), { ...caller, remoteAddress });
  bench.answer = () => undefined;
  for (
    const [address, code] of [["192.0.2.1", "overloaded"], ["203.0.113.9", "auth_failed"]] as const
  ) {
    for (let count = 0; count < 3; count++) {
      const attempt = challenge(address);
      bench.client.receive({ kind: "error", id: 1, body: { code, message: "no" } }, 10);
      await failsWith(code, () => attempt);
    }
  }
  let number = 0;
  bench.answer = (operation) => ({
    ...bench.sample(operation) as object,
    nonce: nonce.map(() => number),
  });
  for (const address of ["192.0.2.1", "192.0.2.1", "203.0.113.9", "203.0.113.9", "198.51.100.7"]) {
    number++;
    await challenge(address);
    await bench.clock.advance(1);
  }
  const kept = await Promise.all([1, 2, 3, 4].map((which) => {
    const answer = { ...sampleRequest("Authenticate"), relayNonce: nonce.map(() => which) };
    return bench.sessions.authenticate(answer, caller).then(() => true, () => false);
  }));
  assertEquals([kept[0], kept[1], kept[2] === kept[3]], [true, true, false]);
});

Deno.test("a session that ends right behind its challenge is not kept", async () => {
  const bench = new Bench();
  bench.answer = () => undefined;
  const attempt = bench.sessions.challenge(sampleRequest("GetChallenge"), caller);
  const body = bench.sample("GetChallenge") as ReplyBody<"GetChallenge">;
  bench.client.receive({ kind: "reply", id: 1, operation: "GetChallenge", body }, 10);
  bench.client.ended({ code: "relay_draining", message: "The relay stops" });
  await failsWith("relay_draining", () => attempt);
  const answer = { ...sampleRequest("Authenticate"), relayNonce: nonce };
  await failsWith("auth_failed", () => bench.sessions.authenticate(answer, caller));
});

Deno.test("a session is found by the token that Authenticate answered, and by nothing else", async () => {
  const bench = new Bench();
  const { session, header } = await bench.authenticate();
  assertEquals(bench.sessions.find(header), session);
  assertEquals(bench.sessions.size, 1);
  assert(bench.sessions.knows(header));
  for (
    const wrong of [
      null,
      "",
      "AAAA",
      encodeBase64url(new Uint8Array(32)),
      header.slice(1),
      `${header}A`,
    ]
  ) {
    const error = assertThrows(() => bench.sessions.find(wrong), ConnectError);
    assertEquals([codeOf(error), error.code], ["auth_failed", Code.Unauthenticated]);
    assert(!bench.sessions.knows(wrong ?? undefined));
  }
  const other = await bench.authenticate();
  assertNotEquals(other.header, header);
});

Deno.test("a challenge is answered once, in time, and by the one who asked", async () => {
  const bench = new Bench();
  const answer = { ...sampleRequest("Authenticate"), relayNonce: nonce };
  await failsWith("auth_failed", () => bench.sessions.authenticate(answer, caller));
  await bench.authenticate();
  await failsWith("auth_failed", () => bench.sessions.authenticate(answer, caller));
  await bench.sessions.challenge(sampleRequest("GetChallenge"), caller);
  await bench.clock.advance(30_000);
  assertEquals(bench.closed, 1);
  await failsWith("auth_failed", () => bench.sessions.authenticate(answer, caller));
});

Deno.test("a refused Authenticate ends its session upstream", async () => {
  const bench = new Bench();
  await bench.sessions.challenge(sampleRequest("GetChallenge"), caller);
  bench.answer = () => undefined;
  const attempt = bench.sessions.authenticate({
    ...sampleRequest("Authenticate"),
    relayNonce: nonce,
  }, caller);
  bench.client.receive({ kind: "error", id: 2, body: { code: "auth_failed", message: "no" } }, 10);
  await failsWith("auth_failed", () => attempt);
  assertEquals([bench.closed, bench.sessions.size], [1, 0]);
});

Deno.test("a login for which there is no place is told so, before and while it answers its challenge", async () => {
  const bench = new Bench();
  const answer = { ...sampleRequest("Authenticate"), relayNonce: nonce };
  const noPlace = { code: "overloaded", message: "no place", retryAfterMs: 5_000 } as const;
  const retryOf = (error: ConnectError): unknown =>
    error.findDetails(ErrorDetailSchema)[0]?.retryAfterMs;
  await bench.sessions.challenge(sampleRequest("GetChallenge"), caller);
  bench.client.ended(noPlace);
  const before = await assertRejects(
    () => bench.sessions.authenticate(answer, caller),
    ConnectError,
  );
  await bench.sessions.challenge(sampleRequest("GetChallenge"), caller);
  bench.answer = () => undefined;
  const attempt = bench.sessions.authenticate(answer, caller);
  bench.client.ended(noPlace);
  const meanwhile = await assertRejects(() => attempt, ConnectError);
  for (const error of [before, meanwhile]) {
    assertEquals([codeOf(error), retryOf(error)], ["overloaded", 5_000n]);
  }
});

Deno.test("sessions that have not authenticated are limited, and authenticated ones do not count", async () => {
  const bench = new Bench(2);
  await bench.authenticate();
  const challenge = (): Promise<unknown> =>
    bench.sessions.challenge(sampleRequest("GetChallenge"), caller);
  await challenge();
  await challenge();
  await failsWith("overloaded", challenge);
  await bench.clock.advance(30_000);
  await challenge();
});

Deno.test("who calls an ended session is told why", async () => {
  const bench = new Bench();
  const { session, header } = await bench.authenticate();
  bench.answer = () => undefined;
  const pending = session.call("Ping", {});
  bench.client.ended({ code: "session_replaced", message: "a newer one" });
  await failsWith("session_replaced", () => pending);
  await failsWith("session_replaced", () => session.call("Ping", {}));
  assertEquals(
    codeOf(assertThrows(() => bench.sessions.find(header), ConnectError)),
    "session_replaced",
  );
  assertEquals(bench.sessions.size, 0);
});

Deno.test("a call that its client gives up does not wait, and its late reply is nobody's", async () => {
  const bench = new Bench();
  const { session } = await bench.authenticate();
  bench.answer = () => undefined;
  const controller = new AbortController();
  const call = session.call("Ping", {}, controller.signal);
  controller.abort(new ConnectError("gone", Code.Canceled));
  assertEquals((await assertRejects(() => call, ConnectError)).code, Code.Canceled);
  bench.client.receive({ kind: "reply", id: 3, operation: "Ping", body: { relayTimeMs: 1 } }, 10);
  assert(!session.inUse);
});

Deno.test("what was pushed before the stream is kept; a newer stream ends the older", async () => {
  const bench = new Bench();
  const { session } = await bench.authenticate();
  bench.notice(100);
  bench.notice(100);
  assertEquals(session.pendingBytes, 200);
  const first = session.deliver(new AbortController().signal);
  assertEquals((await first.next()).value?.operation, "KeyPackagesLow");
  await first.next();
  assertEquals([session.pendingBytes, bench.taken], [0, 2]);
  const waiting = first.next();
  const second = session.deliver(new AbortController().signal);
  const next = second.next();
  await failsWith("session_replaced", () => waiting);
  bench.notice();
  assertEquals((await next).value?.operation, "KeyPackagesLow");
  bench.client.ended(undefined);
  assertEquals((await second.next()).done, true);
});

Deno.test("a new stream ends all subscriptions before a call of the client is passed on", async () => {
  const bench = new Bench();
  const { session } = await bench.authenticate();
  await session.call("Subscribe", { ...sampleRequest("Subscribe"), channelId });
  const other = "BBBBBBBBBBBBBBBBBBBBBA" as ChannelId;
  await session.call("Subscribe", { ...sampleRequest("Subscribe"), channelId: other });
  await session.call("Unsubscribe", { channelId: other });
  bench.seen.length = 0;
  const stream = session.deliver(new AbortController().signal);
  const first = stream.next();
  await session.call("Subscribe", { ...sampleRequest("Subscribe"), channelId });
  assertEquals(bench.seen, ["Unsubscribe", "Subscribe"]);
  bench.notice();
  assertEquals((await first).done, false);
  await stream.return(undefined);
});

Deno.test("a new stream takes what waits, also when the relay is not heard before there is room", async () => {
  const bench = new Bench();
  const { session } = await bench.authenticate();
  await session.call("Subscribe", { ...sampleRequest("Subscribe"), channelId });
  bench.answer = (operation) => operation === "Unsubscribe" ? undefined : bench.sample(operation);
  bench.notice(2 << 20);
  const stream = session.deliver(new AbortController().signal);
  const first = stream.next().then(({ value }) => value?.operation);
  assertEquals(await Promise.race([first, bench.clock.settle()]), "KeyPackagesLow");
  bench.client.ended(undefined);
  await stream.return(undefined);
});

Deno.test("a stream that its client leaves is over at once", async () => {
  const bench = new Bench();
  const { session } = await bench.authenticate();
  const controller = new AbortController();
  const next = session.deliver(controller.signal).next();
  await bench.clock.settle();
  assert(session.inUse);
  controller.abort();
  assertEquals((await next).done, true);
  assert(!session.inUse);
});

Deno.test("what nobody takes is bounded: the session ends as a slow reader's", async () => {
  const bench = new Bench();
  const { session, header } = await bench.authenticate();
  for (let i = 0; i < 10; i++) bench.notice(1 << 20);
  assertEquals(bench.closed, 1);
  assert(session.pendingBytes < 5 << 20);
  assertEquals(
    codeOf(assertThrows(() => bench.sessions.find(header), ConnectError)),
    "slow_reader",
  );
});

Deno.test("calls wait while the relay has enough to do", async () => {
  const bench = new Bench();
  const { session } = await bench.authenticate();
  const { promise, resolve } = Promise.withResolvers<void>();
  bench.busy = promise;
  await session.call("Ping", {});
  bench.busy = undefined;
  bench.seen.length = 0;
  const waiting = session.call("Ping", {});
  await bench.clock.settle();
  assertEquals(bench.seen, []);
  resolve();
  await waiting;
  assertEquals(bench.seen, ["Ping"]);
});

Deno.test("a session has a bounded number of calls under way, those that wait included", async () => {
  const bench = new Bench();
  const { session } = await bench.authenticate();
  const { promise, resolve } = Promise.withResolvers<void>();
  bench.busy = promise;
  bench.answer = () => undefined;
  const outcomes = Promise.allSettled(Array.from({ length: 512 }, () => session.call("Ping", {})));
  await failsWith("overloaded", () => session.call("Ping", {}));
  await bench.clock.settle();
  assertEquals(bench.seen.filter((operation) => operation === "Ping").length, 1);
  bench.client.ended({ code: "relay_draining", message: "going" });
  resolve();
  const codes = (await outcomes).map((outcome) =>
    outcome.status === "rejected" ? codeOf(outcome.reason) : "answered"
  );
  assertEquals(new Set(codes), new Set(["relay_draining"]));
  assert(!session.inUse);
});

Deno.test("an unused session ends, one with an open stream does not", async () => {
  const bench = new Bench();
  const unused = await bench.authenticate();
  const used = await bench.authenticate();
  const controller = new AbortController();
  const stream = used.session.deliver(controller.signal);
  const next: Promise<IteratorResult<NoticeEnvelope>> = stream.next();
  await bench.clock.advance(59_000);
  bench.sessions.find(unused.header);
  await bench.clock.advance(59_000);
  assertEquals(bench.sessions.size, 2);
  await bench.clock.advance(60_000);
  assertEquals(bench.sessions.size, 1);
  assertEquals(
    codeOf(assertThrows(() => bench.sessions.find(unused.header), ConnectError)),
    "transport_error",
  );
  controller.abort();
  await next;
  await bench.clock.advance(120_000);
  assertEquals(bench.sessions.size, 0);
});

Deno.test("before authentication a call is as small as in cells", async () => {
  const bench = new Bench();
  const large = {
    ...sampleRequest("UploadKeyPackage"),
    keyPackages: [new Uint8Array(16_384), new Uint8Array(16_384)],
  };
  await failsWith(
    "payload_too_large",
    () => bench.sessions.once(caller, (session) => session.call("UploadKeyPackage", large)),
  );
  const { session } = await bench.authenticate();
  await session.call("UploadKeyPackage", large);
});

Deno.test("sessions of one IPv6 network, or of an address that comes mapped, share an address", async () => {
  const bench = new Bench();
  for (const address of ["2001:db8::1", "2001:db8::2:3", "::ffff:192.0.2.1", "192.0.2.1"]) {
    await bench.sessions.challenge(sampleRequest("GetChallenge"), {
      ...caller,
      remoteAddress: address,
    }).catch(
      () => {},
    );
  }
  const [first, second, mapped, plain] = bench.clients.map(({ remoteAddress }) => remoteAddress);
  assertEquals([second, plain], [first, mapped]);
  assertNotEquals(first, plain);
});
