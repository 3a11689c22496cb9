import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  type ChannelId,
  errorCodes,
  type MessageId,
  parseBinaryId,
  parseChannelId,
} from "../../proto/mod.ts";
import { createError, StaticError } from "../base/errors.ts";
import type { Connector } from "../transport/transport.ts";
import { type CoverProfile, type CoverStop, parseCover } from "./cover.ts";
import { Bench } from "./testing/bench.ts";
import { ScriptedRelay } from "./testing/scripted_relay.ts";

const channelId: ChannelId = parseChannelId("AAAAAAAAAAAAAAAAAAAAAA");

/** The error, which must be a `StaticError` of this code. */
async function rejectsWith(code: string, promise: Promise<unknown>): Promise<StaticError> {
  const error = await assertRejects(() => promise, StaticError);
  assertEquals(error.code, code, error.message);
  return error;
}

Deno.test("a session authenticates with a statement over the configured origin and is online with what the relay told", async () => {
  const bench = new Bench({ relay: { cellBytes: 2048 }, endpoint: "quic://Relay.TEST" });
  const info = await bench.online();
  assertEquals(info.cellBytes, 2048);
  assertEquals(info.transport, "quic");
  const [request] = bench.relay.last.requestsFor("Authenticate");
  assertEquals(request?.body.origin, "quic://relay.test:4433");
  assertEquals(bench.heard, ["online"]);
  await bench.close();
});

Deno.test("replies reach their requests, whatever their order", async () => {
  const ids: number[] = [];
  const bench = new Bench({
    relay: {
      script: (link, request) => {
        if (request.operation !== "Unsubscribe") return false;
        ids.push(request.id);
        if (ids.length === 3) {
          for (const id of [...ids].reverse()) link.reply(id, "Unsubscribe", {});
        }
        return true;
      },
    },
  });
  await bench.online();
  const replies = [1, 2, 3].map(() => bench.session.call("Unsubscribe", { channelId }));
  assertEquals(await Promise.all(replies), [{}, {}, {}]);
  assertEquals(new Set(ids).size, 3);
  await bench.close();
});

Deno.test("the relay's error is thrown with its class, code and times", async () => {
  const bench = new Bench({
    relay: {
      script: (link, { id, operation }) => {
        if (operation !== "ListMembers") return false;
        link.error(id, "rate_limited", { retryAfterMs: 1_500 });
        return true;
      },
    },
  });
  const error = await rejectsWith("rate_limited", bench.session.call("ListMembers", { channelId }));
  assertEquals([error.name, error.retryable, error.retryAfterMs], [
    "UnavailableError",
    true,
    1_500,
  ]);
  await bench.close();
});

Deno.test("an error code of a newer relay is treated like internal", async () => {
  const bench = new Bench({
    relay: {
      script: (link, { id, operation }) => {
        if (operation !== "ListMembers") return false;
        link.error(id, "code_of_tomorrow");
        return true;
      },
    },
  });
  await rejectsWith("internal", bench.session.call("ListMembers", { channelId }));
  await bench.close();
});

Deno.test("a call that is never answered ends after its own timeout, and its late reply is ignored", async () => {
  let late = 0;
  const bench = new Bench({
    relay: {
      script: (_link, { id, operation }) => {
        if (operation !== "Unsubscribe") return false;
        late = id;
        return true;
      },
    },
  });
  await bench.online();
  const call = rejectsWith(
    "transport_error",
    bench.session.call("Unsubscribe", { channelId }, { timeoutMs: 700 }),
  );
  await bench.clock.advance(699);
  bench.relay.last.notice("KeyPackagesLow", { remaining: 0, wanted: 1, hasLastResort: false });
  await bench.clock.advance(1);
  await call;
  bench.relay.last.reply(late, "Unsubscribe", {});
  await bench.clock.settle();
  assertEquals(bench.session.state.kind, "online");
  await bench.close();
});

Deno.test("a call ends at once when its signal says so", async () => {
  const bench = new Bench({
    relay: { script: (_link, { operation }) => operation === "Unsubscribe" },
  });
  await bench.online();
  const controller = new AbortController();
  const call = bench.session.call("Unsubscribe", { channelId }, { signal: controller.signal });
  await bench.clock.settle();
  controller.abort(new Error("changed my mind"));
  await assertRejects(() => call, Error, "changed my mind");
  await assertRejects(
    () => bench.session.call("Ping", {}, { signal: controller.signal }),
    Error,
    "changed my mind",
  );
  await bench.close();
});

Deno.test("a call waits for the session; without one it fails with connection_error and the reason", async () => {
  const bench = new Bench();
  bench.relay.unreachable = new Error("nobody listens there");
  const call = rejectsWith(
    "connection_error",
    bench.session.call("Ping", {}, { timeoutMs: 3_000 }),
  );
  await bench.clock.advance(3_000);
  const error = await call;
  assert(error.message.includes("nobody listens there"), error.message);
  const patient = bench.session.call("Ping", {}, { timeoutMs: 60_000 });
  bench.relay.unreachable = undefined;
  await bench.online();
  assertEquals((await patient).relayTimeMs > 0, true);
  await bench.close();
});

Deno.test("calls in flight reject with transport_error when the connection is lost, and the session comes back by itself", async () => {
  const bench = new Bench({
    relay: { script: (_link, { operation }) => operation === "Unsubscribe" },
  });
  await bench.online();
  const call = rejectsWith("transport_error", bench.session.call("Unsubscribe", { channelId }));
  await bench.clock.settle();
  bench.relay.last.hangUp();
  await call;
  assertEquals(bench.session.state.kind, "offline");
  await bench.online();
  assertEquals(bench.heard, ["online", "offline", "online"]);
  assertEquals(bench.relay.links.length, 2);
  await bench.close();
});

Deno.test("listeners hear of the connection before any notice of it, whether they came before its answer or in one piece with it", async () => {
  const bench = new Bench({
    relay: {
      script: (link, request) => {
        if (request.operation !== "Authenticate") return false;
        const held: Uint8Array[] = [];
        const send = link.sendBytes.bind(link);
        link.sendBytes = (...parts) => void held.push(...parts);
        link.notice("KeyPackagesLow", { remaining: 0, wanted: 1, hasLastResort: false });
        link.answer(request);
        link.notice("CoverStopped", { message: "" });
        link.sendBytes = send;
        link.sendBytes(...held);
        return true;
      },
    },
  });
  await bench.online();
  assertEquals(bench.heard, ["online", "KeyPackagesLow", "CoverStopped"]);
  await bench.close();
});

Deno.test("the last acknowledgement of a channel leaves before the next request, and none leaves offline", async () => {
  const bench = new Bench();
  bench.session.acknowledge({ channelId, consumed: 1, received: 1 });
  await bench.online();
  for (let at = 1; at <= 100; at++) {
    bench.session.acknowledge({ channelId, consumed: at, received: at });
  }
  await bench.session.call("Ping", {});
  const sent = bench.relay.last.requests.map(({ operation }) => operation);
  assertEquals(sent.slice(-2), ["Acknowledge", "Ping"]);
  assertEquals(bench.relay.last.requestsFor("Acknowledge").map(({ body }) => body.consumed), [100]);
  await bench.close();
});

for (const code of ["session_replaced", "auth_failed", "auth_key_invalid"] as const) {
  Deno.test(`a session that the relay ends with ${code} is over for good`, async () => {
    const bench = new Bench({
      relay: { script: (_link, { operation }) => operation === "Unsubscribe" },
    });
    await bench.online();
    const call = rejectsWith("transport_error", bench.session.call("Unsubscribe", { channelId }));
    await bench.clock.settle();
    bench.relay.last.notice("SessionEnding", { code, message: "go away" });
    bench.relay.last.hangUp();
    await call;
    await bench.clock.advance(120_000);
    const { state } = bench.session;
    assert(state.kind === "ended" && state.error?.code === code, JSON.stringify(state));
    await rejectsWith(code, bench.session.call("Ping", {}));
    assertEquals(bench.relay.links.length, 1);
    await bench.close();
  });
}

Deno.test("a draining relay's clients come back spread over the time that it names", async () => {
  const waits: number[] = [];
  for (let i = 0; i < 40; i++) {
    const bench = new Bench();
    await bench.online();
    bench.relay.last.notice("SessionEnding", {
      code: "relay_draining",
      message: "",
      retryAfterMs: 10_000,
    });
    bench.relay.last.hangUp();
    await bench.clock.settle();
    const { state } = bench.session;
    assert(state.kind === "offline" && state.error.code === "relay_draining");
    waits.push(state.retryAtMs - bench.clock.nowMs());
    await bench.close();
  }
  assert(Math.max(...waits) <= 10_000 && Math.min(...waits) > 0);
  assert(waits.filter((ms) => ms < 5_000).length >= 5);
  assert(waits.filter((ms) => ms > 5_000).length >= 5);
});

Deno.test("a relay that asks to be left alone is, and one that names a year is not believed", async () => {
  for (
    const [retryAfterMs, atLeastMs, atMostMs] of [[5_000, 5_000, 10_000], [
      1e15,
      60_000,
      600_000,
    ]] as const
  ) {
    const bench = new Bench();
    await bench.online();
    bench.relay.last.notice("SessionEnding", { code: "overloaded", message: "", retryAfterMs });
    bench.relay.last.hangUp();
    await bench.clock.settle();
    const { state } = bench.session;
    assert(state.kind === "offline");
    const waitMs = state.retryAtMs - bench.clock.nowMs();
    assert(waitMs >= atLeastMs && waitMs <= atMostMs, String(waitMs));
    await bench.close();
  }
});

Deno.test("attempts slow down with every failure, up to a limit, and start anew after a good connection", async () => {
  const bench = new Bench({ session: { timing: { minRetryMs: 100, maxRetryMs: 1_600 } } });
  bench.relay.unreachable = new Error("down");
  await bench.clock.advance(20_000);
  const attempts = bench.relay.refused;
  assert(attempts >= 14 && attempts <= 30, String(attempts));
  bench.relay.unreachable = undefined;
  await bench.online();
  await bench.clock.advance(15_000);
  bench.relay.last.hangUp();
  await bench.clock.settle();
  const { state } = bench.session;
  assert(state.kind === "offline" && state.retryAtMs - bench.clock.nowMs() <= 100);
  await bench.close();
});

Deno.test("an idle session pings within the idle timeout, and a relay that falls silent is noticed", async () => {
  let silent = false;
  const bench = new Bench({ relay: { limits: { idleTimeoutMs: 9_000 }, script: () => silent } });
  await bench.online();
  const link = bench.relay.last;
  await bench.clock.advance(60_000);
  assert(link.requestsFor("Ping").length >= 9);
  assertEquals(bench.relay.links.length, 1);
  silent = true;
  await bench.clock.advance(9_001);
  assert(!link.isOpen);
  silent = false;
  await bench.online();
  await bench.close();
});

Deno.test("a relay that falls silent under a request is noticed soon, although the idle timeout is long", async () => {
  let silent = false;
  const bench = new Bench({
    relay: {
      limits: { idleTimeoutMs: 600_000 },
      script: (link, { id, operation }) => {
        if (!silent && operation === "Unsubscribe") link.reply(id, "Unsubscribe", {});
        return silent || operation === "Unsubscribe";
      },
    },
  });
  await bench.online();
  const link = bench.relay.last;
  const ask = (): Promise<unknown> => bench.session.call("Unsubscribe", { channelId });
  // Requests that are answered bring no Ping.
  for (let second = 0; second < 5; second++) {
    await ask();
    await bench.clock.advance(900);
  }
  assertEquals(link.requestsFor("Ping").length, 0);
  // Also right after a heartbeat.
  const beats = (): number => link.requestsFor("Ping").length;
  while (beats() === 0) await bench.clock.advance(100);
  silent = true;
  const unanswered = rejectsWith("transport_error", ask());
  await bench.clock.advance(4_000);
  assertEquals(beats(), 2);
  assert(link.isOpen);
  await bench.clock.advance(9_000);
  assert(!link.isOpen);
  await unanswered;
  silent = false;
  await bench.online();
  await bench.close();
});

Deno.test("the token is renewed on the open session before it expires, by the relay's clock", async () => {
  for (const relayAheadMs of [0, 600_000, -600_000]) {
    const bench = new Bench({ relayAheadMs, relay: { tokenMs: 100_000 } });
    await bench.online();
    assertEquals(bench.session.relayNowMs() - bench.clock.nowMs(), relayAheadMs);
    await bench.clock.advance(450_000);
    const renewals = bench.relay.last.requestsFor("RenewToken");
    assert(renewals.length >= 4 && renewals.length <= 6, String(renewals.length));
    assertEquals(new Set(renewals.map(({ body }) => body.token)).size, renewals.length);
    assertEquals(bench.relay.links.length, 1);
    await bench.close();
  }
});

Deno.test("a token is renewed as often as before when the machine's clock is set by hours", async () => {
  const hourMs = 3_600_000;
  for (const stepMs of [4 * hourMs, -4 * hourMs]) {
    const bench = new Bench({ relay: { tokenMs: hourMs } });
    await bench.online();
    bench.skewMs = stepMs;
    await bench.clock.advance(4 * hourMs);
    const renewals = bench.relay.last.requestsFor("RenewToken").length;
    assert(renewals >= 4 && renewals <= 6, `${renewals} renewals`);
    assertEquals(bench.relay.links.length, 1);
    await bench.close();
  }
});

Deno.test("the relay's time goes on when the machine's clock is set, and is asked again and again", async () => {
  const hourMs = 3_600_000;
  const bench = new Bench();
  const ahead = (): number => bench.session.relayNowMs() - bench.clock.nowMs();
  bench.skewMs = hourMs;
  assertEquals(ahead(), hourMs);
  await bench.online();
  assertEquals(ahead(), 0);
  for (const skewMs of [5 * hourMs, -5 * hourMs]) {
    bench.skewMs = skewMs;
    assertEquals(ahead(), 0);
  }
  bench.relayAheadMs = 2_000;
  await bench.clock.advance(60_000);
  assertEquals([ahead(), bench.relay.links.length], [2_000, 1]);
  // Without a connection the machine may sleep: our own clock counts, with the distance that was
  // known.
  bench.relay.unreachable = new Error("no way there");
  bench.relay.last.hangUp();
  await bench.clock.settle();
  assertEquals(ahead(), 2_000);
  bench.skewMs += hourMs;
  assertEquals(ahead(), 2_000 + hourMs);
  bench.relay.unreachable = undefined;
  await bench.online();
  assertEquals(ahead(), 2_000);
  await bench.close();
});

Deno.test("an API that is down delays a renewal and does not end the session", async () => {
  let down = false;
  let given = 0;
  const bench = new Bench({
    relay: { tokenMs: 3_600_000 },
    tokens: {
      renewable: true,
      get: () =>
        down
          ? Promise.reject(new StaticError("connection_error", "API down"))
          : Promise.resolve(`t${given++}`),
    },
  });
  await bench.online();
  down = true;
  await bench.clock.advance(3_500_000);
  assertEquals([bench.session.state.kind, given], ["online", 1]);
  down = false;
  await bench.clock.advance(90_000);
  assertEquals(bench.relay.last.requestsFor("RenewToken").map(({ body }) => body.token), ["t1"]);
  assertEquals(bench.relay.links.length, 1);
  await bench.close();
});

Deno.test("a session that expired opens again with another token; a refused token is replaced once, then it is over", async () => {
  const asked: (string | undefined)[] = [];
  let refusing = false;
  const bench = new Bench({
    relay: {
      script: (link, { id, operation }) => {
        if (operation !== "Authenticate" || !refusing) return false;
        link.error(id, "auth_failed");
        return true;
      },
    },
    tokens: {
      renewable: true,
      get: ({ instead } = {}) => Promise.resolve(`token ${asked.push(instead)}`),
    },
  });
  await bench.online();
  bench.relay.last.notice("SessionEnding", { code: "session_expired", message: "" });
  bench.relay.last.hangUp();
  await bench.clock.settle();
  await bench.online();
  assertEquals(asked, [undefined, "token 1"]);
  refusing = true;
  bench.relay.last.hangUp();
  await bench.clock.advance(60_000);
  assertEquals(asked, [undefined, "token 1", undefined, "token 3"]);
  const { state } = bench.session;
  assert(state.kind === "ended" && state.error?.code === "auth_failed");
  await bench.close();
});

Deno.test("without a credential the session ends at once with auth_failed", async () => {
  const bench = new Bench({
    tokens: {
      renewable: false,
      get: () => Promise.reject(new StaticError("auth_failed", "no credential")),
    },
  });
  await rejectsWith("auth_failed", bench.session.call("Ping", {}));
  await bench.close();
});

Deno.test("the next way is taken when one fails, remembered, and named", async () => {
  const blocked = new ScriptedRelay({ nowMs: () => 0 });
  blocked.unreachable = new Error("UDP is blocked");
  const bench = new Bench({
    connectors: (relay) => [blocked.connector("quic"), relay.connector("cells")],
  });
  assertEquals((await bench.online()).transport, "cells");
  bench.relay.last.hangUp();
  await bench.clock.settle();
  await bench.online();
  assertEquals([blocked.refused, bench.relay.links.length], [1, 2]);
  await bench.close();
});

Deno.test("a way whose packets nobody answers holds up the next one for less than two seconds", async () => {
  const silent = (connector: Connector): Connector => ({
    ...connector,
    connect: (_target, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason))
      ),
  });
  const bench = new Bench({
    connectors: (relay) => [silent(relay.connector("quic")), relay.connector("cells")],
  });
  assertEquals((await bench.online(2_000)).transport, "cells");
  await bench.close();
});

/** Connects after so long, unless it is given up before. */
function slowConnect(connector: Connector, bench: () => Bench, ms: number): Connector["connect"] {
  return async (target, signal) => {
    await new Promise<void>((resolve, reject) => {
      const cancel = bench().clock.after(ms, resolve);
      signal.addEventListener("abort", () => {
        cancel();
        reject(signal.reason);
      });
    });
    return await connector.connect(target, signal);
  };
}

/**
 * QUIC takes 5 s to connect, and a TCP port that nobody serves so long to refuse. Each token takes
 * its time too.
 */
function slowQuic(refusalMs: number, tokenMs = 0): { bench: Bench; blocked: ScriptedRelay } {
  const blocked = new ScriptedRelay({ nowMs: () => 0 });
  blocked.unreachable = new Error("no TCP here");
  const get = async (): Promise<string> => {
    await Promise.resolve(); // the first is asked for before there is a bench
    if (tokenMs > 0) await new Promise<void>((resolve) => bench.clock.after(tokenMs, resolve));
    return "token";
  };
  const bench: Bench = new Bench({
    tokens: { renewable: true, get },
    connectors: (relay) => {
      const [quic, cells] = [relay.connector("quic"), blocked.connector("cells")];
      return [
        { ...quic, connect: slowConnect(quic, () => bench, 5_000) },
        { ...cells, connect: slowConnect(cells, () => bench, refusalMs) },
      ];
    },
  });
  return { bench, blocked };
}

Deno.test("on a slow network the first connection gets its whole time when no other way works", async () => {
  const { bench, blocked } = slowQuic(800);
  assertEquals((await bench.online(8_000)).transport, "quic");
  assertEquals(blocked.refused, 1);
  await bench.close();
});

Deno.test("a slow network on which a relay has answered is not waited for", async () => {
  const busy = new ScriptedRelay({
    nowMs: () => 0,
    script: (link, { id, operation }) => {
      if (operation !== "GetChallenge") return false;
      link.error(id, "overloaded", { retryAfterMs: 1_000 });
      return true;
    },
  });
  const bench: Bench = new Bench({
    connectors: (relay) => {
      const [quic, cells] = [relay.connector("quic"), busy.connector("cells")];
      return [
        { ...quic, connect: slowConnect(quic, () => bench, 60_000) },
        { ...cells, connect: slowConnect(cells, () => bench, 400) },
      ];
    },
  });
  await bench.clock.advance(2_000);
  const { state } = bench.session;
  assert(state.kind === "offline" && state.error.code === "overloaded", state.kind);
  await bench.close();
});

for (const tokenMs of [0, 400]) {
  const how = tokenMs === 0 ? "" : ", however long a token takes";
  Deno.test(`where a refusal comes at once nobody waits for packets that are not answered${how}`, async () => {
    const { bench, blocked } = slowQuic(0, tokenMs);
    await bench.clock.advance(1_600 + 2 * tokenMs);
    assertEquals([bench.session.state.kind, blocked.refused], ["offline", 1]);
    await bench.close();
  });
}

Deno.test("after attempts that ran out of time the next ones are given longer, so that a slow network is enough", async () => {
  const bench: Bench = new Bench({
    connectors: (relay) => {
      const connector = relay.connector();
      return [{ ...connector, connect: slowConnect(connector, () => bench, 20_000) }];
    },
  });
  await bench.online(120_000);
  assertEquals(bench.relay.links.length, 1);
  await bench.close();
});

Deno.test("what the relay itself refuses is not asked again by another way", async () => {
  const other = new ScriptedRelay({ nowMs: () => 0 });
  const bench = new Bench({
    relay: {
      script: (link, { id, operation }) => {
        if (operation !== "GetChallenge") return false;
        link.error(id, "overloaded");
        return true;
      },
    },
    connectors: (relay) => [relay.connector("quic"), other.connector("cells")],
  });
  await bench.clock.advance(100);
  const { state } = bench.session;
  assert(state.kind === "offline" && state.error.code === "overloaded");
  assertEquals(other.links.length, 0);
  await bench.close();
});

Deno.test("a relay whose places are taken on one port is asked on its other one next, and the best way comes first again", async () => {
  const other = new ScriptedRelay({ nowMs: () => 0 });
  let isFull = true;
  const bench = new Bench({
    relay: {
      script: (link, { operation }) => {
        if (operation !== "GetChallenge" || !isFull) return false;
        link.hangUpWith(errorCodes.overloaded.close);
        return true;
      },
    },
    connectors: (relay) => [relay.connector("quic"), other.connector("cells")],
  });
  assertEquals((await bench.online(1_000)).transport, "cells");
  assertEquals([bench.relay.links.length, other.links.length], [1, 1]);
  isFull = false;
  other.last.hangUp();
  await bench.clock.advance(1_000);
  assertEquals((await bench.online()).transport, "quic");
  await bench.close();
});

Deno.test("ways take turns while a relay is busy on each, one a round, and an API that is busy changes no way", async () => {
  const asked: string[] = [];
  const refusing = (transport: "quic" | "cells"): Connector => {
    const relay = new ScriptedRelay({
      nowMs: () => 0,
      script: (link, { id, operation }) => {
        if (operation !== "GetChallenge") return false;
        asked.push(transport);
        link.error(id, "overloaded", { retryAfterMs: 1_000 });
        return true;
      },
    });
    return relay.connector(transport);
  };
  let apiIsBusy = false;
  const bench = new Bench({
    tokens: {
      renewable: true,
      get: () =>
        apiIsBusy ? Promise.reject(createError("overloaded", "busy")) : Promise.resolve("token"),
    },
    connectors: () => [refusing("quic"), refusing("cells")],
  });
  await bench.clock.advance(0);
  assertEquals(asked, ["quic"]);
  apiIsBusy = true;
  await bench.clock.advance(10_000);
  apiIsBusy = false;
  while (asked.length < 5) await bench.clock.advance(100);
  assertEquals(asked, ["quic", "cells", "quic", "cells", "quic"]);
  await bench.close();
});

Deno.test("calls under way and calls that wait are bounded", async () => {
  const bench = new Bench({
    relay: { script: (_link, { operation }) => operation === "Unsubscribe" },
  });
  await bench.online();
  const calls = Array.from(
    { length: 64 + 1_024 },
    () => bench.session.call("Unsubscribe", { channelId }).catch((error: unknown) => error),
  );
  await rejectsWith("overloaded", bench.session.call("Unsubscribe", { channelId }));
  await bench.clock.settle();
  assertEquals(bench.relay.last.requestsFor("Unsubscribe").length, 64);
  await bench.close();
  for (const error of await Promise.all(calls)) {
    assert(error instanceof StaticError && error.code === "transport_error");
  }
});

Deno.test("what a slow network has not taken is bounded, and calls that gave up do not make it grow", async () => {
  const bench = new Bench();
  await bench.online();
  let flow = (): void => {};
  bench.relay.last.stalled = new Promise((resolve) => flow = resolve);
  const ciphertext = new Uint8Array(1_000_000);
  const body = {
    channelId,
    epoch: 0,
    messageId: parseBinaryId<MessageId>("AAAAAAAAAAAAAAAAAAAAAA"),
    ciphertext,
  };
  for (let round = 0; round < 5; round++) {
    const calls = Array.from(
      { length: 20 },
      () => rejectsAny(bench.session.call("SendMessage", body, { timeoutMs: 100 })),
    );
    await bench.clock.advance(200);
    await Promise.all(calls);
  }
  flow();
  await bench.clock.advance(100);
  assertEquals(bench.relay.last.requestsFor("SendMessage").length, 5);
  await bench.close();
});

async function rejectsAny(promise: Promise<unknown>): Promise<void> {
  await assertRejects(() => promise, StaticError);
}

Deno.test("close() says goodbye, rejects what is under way, and is safe at any time", async () => {
  const bench = new Bench({
    relay: { script: (_link, { operation }) => operation === "Unsubscribe" },
  });
  await bench.online();
  const call = rejectsWith("transport_error", bench.session.call("Unsubscribe", { channelId }));
  await bench.clock.settle();
  await bench.close();
  await call;
  assertEquals(bench.relay.last.requestsFor("EndSession").length, 1);
  await rejectsWith("transport_error", bench.session.call("Ping", {}));
  await bench.close();

  for (const afterMs of [0, 1]) {
    const early = new Bench();
    if (afterMs > 0) await early.clock.settle();
    await early.close();
    assertEquals(early.session.state, { kind: "ended", error: undefined });
  }
  const offline = new Bench();
  offline.relay.unreachable = new Error("down");
  await offline.clock.advance(1_000);
  await offline.close();
});

Deno.test("a listener that fails ends the session with listener_died", async () => {
  const bench = new Bench();
  await bench.online();
  bench.session.onNotice(() => {
    throw new TypeError("a mistake");
  });
  bench.relay.last.notice("CoverStopped", { message: "" });
  await bench.clock.settle();
  const { state } = bench.session;
  assert(state.kind === "ended" && state.error?.code === "listener_died");
  assert(state.error.cause instanceof TypeError);
  assertEquals(bench.relay.last.closeCode, errorCodes.listener_died.close);
  await bench.close();
});

Deno.test("cover is asked of the relay and sent to it", async () => {
  const bench = new Bench({ session: { cover: { mode: "constant", intervalMs: 100 } } });
  await bench.online();
  await bench.clock.advance(10_000);
  const { body } = bench.relay.last.requestsFor("ConfigureCover")[0] ?? {};
  assertEquals(body, { mode: "constant", intervalMs: 100 });
  const { cells, coverCells } = bench.relay.last.counts;
  assert(cells >= 100 && cells <= 105 && coverCells >= 95, `${cells} cells, ${coverCells} cover`);
  await bench.close();
});

Deno.test("constant: authentication, calls and the goodbye take their ticks, one cell each", async () => {
  const bench = new Bench({ session: { cover: { mode: "constant", intervalMs: 1_000 } } });
  const sentMs: number[] = [];
  let before = 0;
  const watch = async (ms: number): Promise<void> => {
    for (let i = 0; i < ms / 10; i++) {
      await bench.clock.advance(10);
      const { cells } = bench.relay.last.counts;
      for (; before < cells; before++) sentMs.push(bench.clock.nowMs());
    }
  };
  await watch(2_000);
  await bench.online();
  const calls = Promise.all(Array.from({ length: 40 }, () => bench.session.call("Ping", {})));
  await watch(10_000);
  await calls;
  const closing = bench.session.close();
  await watch(2_000);
  await closing;
  const requests = bench.relay.last.requests.map(({ operation }) => operation);
  assertEquals(requests.slice(0, 3), ["GetChallenge", "ConfigureCover", "Authenticate"]);
  assertEquals(requests.at(-1), "EndSession");
  const gaps = sentMs.slice(2).map((atMs, i) => atMs - (sentMs[i + 1] ?? 0));
  assert(gaps.length >= 11 && gaps.every((gap) => gap >= 480 && gap <= 1_520), `gaps of ${gaps}`);
  await bench.close();
});

Deno.test("the client's own budget stops cover both ways, says so, and cover comes back with the next day", async () => {
  const budget = { bytes: 50 * 4096, period: "day" } as const;
  const told: CoverStop[] = [];
  const onStopped = (stop: CoverStop): void => void told.push(stop);
  const bench = new Bench({
    session: { cover: { mode: "constant", intervalMs: 1_000, budget, onStopped } },
  });
  await bench.online();
  await bench.clock.advance(60_000);
  assertEquals(bench.relay.last.counts.coverCells, 50);
  assertEquals(told.map(({ until }) => until), [new Date(86_400_000)]);
  assertStringIncludes(
    told[0]?.message ?? "",
    "The client's own budget for cover traffic is used up",
  );
  assertEquals(bench.heard, ["online", "CoverStopped"]);
  const modes = (): unknown[] =>
    bench.relay.last.requestsFor("ConfigureCover").map(({ body }) => body);
  assertEquals(modes(), [{ mode: "constant", intervalMs: 1_000 }, { mode: "off", intervalMs: 0 }]);
  const call = bench.session.call("Ping", {});
  await bench.clock.advance(2_000);
  await call;
  bench.relay.last.hangUp({ message: "restart" });
  await bench.online();
  assertEquals(modes(), [{ mode: "off", intervalMs: 0 }]);
  await bench.clock.advance(86_400_000 - bench.clock.nowMs());
  await bench.clock.advance(20_000);
  assertEquals(modes().at(-1), { mode: "constant", intervalMs: 1_000 });
  await bench.close();
});

Deno.test("when the relay's budget is used up the client stops its own cover until the time that it is told", async () => {
  const told: CoverStop[] = [];
  const onStopped = (stop: CoverStop): void => void told.push(stop);
  const cover = { mode: "poisson", intervalMs: 1_000, onStopped } as const;
  const bench = new Bench({ session: { cover }, relayAheadMs: 5_000_000 });
  await bench.online();
  await bench.clock.advance(20_000);
  const untilMs = Math.round(bench.clock.nowMs() + 5_000_000 + 100_000);
  bench.relay.last.notice("CoverStopped", { message: "used up", untilMs });
  await bench.clock.settle();
  assertEquals(told, [{ message: "used up", until: new Date(untilMs) }]);
  const { coverCells } = bench.relay.last.counts;
  await bench.clock.advance(99_000);
  assertEquals(bench.relay.last.counts.coverCells, coverCells);
  await bench.clock.advance(20_000);
  assert(bench.relay.last.counts.coverCells > coverCells);
  assertEquals(bench.heard, ["online", "CoverStopped"]);
  await bench.close();
});

Deno.test("cover options: profiles by name, or a mode; what cannot work is refused", () => {
  assertEquals(parseCover(), {
    mode: "poisson",
    intervalMs: 10_000,
    budget: undefined,
    onStopped: undefined,
  });
  assertEquals(parseCover("strong"), {
    mode: "constant",
    intervalMs: 250,
    budget: undefined,
    onStopped: undefined,
  });
  assertEquals(parseCover({ mode: "constant" }), parseCover({ profile: "strong" }));
  const wrong = [
    "loud",
    { profile: "light" },
    { profile: "strong", mode: "off" },
    { intervalMs: 10 },
    { mode: "constant", intervalMs: 4_001 },
    { mode: "poisson", intervalMs: 9 },
    { mode: "poisson", intervalMs: 10.5 },
    { budget: { bytes: -1, period: "day" } },
    { budget: { bytes: 1, period: "week" } },
  ];
  for (const choice of wrong) {
    const error = assertThrows(
      () => parseCover(choice as Parameters<typeof parseCover>[0]),
      StaticError,
    );
    assertEquals(error.code, "invalid_request");
  }
  // An option that a program kept from before.
  const kept = assertThrows(() => parseCover("swift" as CoverProfile), StaticError);
  assertEquals(
    kept.message,
    "Cannot use these cover options: the profile is off, standard or strong",
  );
});
