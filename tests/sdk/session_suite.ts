/** A session with a real relay, in any runtime and over any transport. */
import { ed25519 } from "@noble/curves/ed25519.js";
import {
  CellReader,
  decodeClientEnvelope,
  decodeRelayEnvelope,
  limits,
  parseBinaryId,
} from "../../proto/mod.ts";
import {
  openRelaySession,
  type Platform,
  type RelayOptions,
  type RelaySession,
  StaticError,
} from "../../sdk/session/testing/mod.ts";
import { check, failsWith, type RuntimeTest } from "../support/runtime/suite.ts";

/**
 * Where the relay is and how it is to be reached; plain values, so that a page or a process can be
 * given them.
 */
export interface SessionTarget
  extends Required<Pick<RelayOptions, "endpoint" | "transport">>, Pick<RelayOptions, "tls"> {
  readonly apiKey: string;
  readonly apiUrl: string;
  /** The expected value of `transport`. */
  readonly expected: string;
  /** A port of this machine on which nobody listens. */
  readonly deadEndpoint: string;
  /**
   * Trust under which the relay is a stranger; undefined where a runtime was told to trust
   * everybody.
   */
  readonly wrongTls: RelayOptions["tls"] | undefined;
}

/** For another process or a page. */
export interface CountedTarget extends SessionTarget {
  /** How many of the tests; all when not given. */
  readonly count?: number | undefined;
}

const offKey = `sk_live_${"0".repeat(46)}`;

/**
 * How many of the tests are about a transport. They come first. The others are about sessions,
 * whatever carries them.
 */
export const testsOfTransport = 5;

export function createSessionTests(
  platform: Platform,
  target: SessionTarget,
): readonly RuntimeTest[] {
  const { endpoint, transport, apiKey, apiUrl } = target;
  const tls = target.tls === undefined ? {} : { tls: target.tls };
  const usual: RelayOptions = {
    endpoint,
    transport,
    ...tls,
    apiKey,
    apiUrl,
    cover: { mode: "off" },
  };
  const open = async (
    options: Partial<RelayOptions> = {},
    { agent = 1, on = platform }: { agent?: number; on?: Platform } = {},
  ): Promise<RelaySession> => {
    const seed = new Uint8Array(32).fill(agent);
    return await openRelaySession({ ...usual, ...options }, {
      identity: Uint8Array.of(agent),
      publicKey: ed25519.getPublicKey(seed),
      sign: (message) => ed25519.sign(message, seed),
    }, on);
  };
  /**
   * A machine that has much to do may take longer for a way than a session waits for it: then the
   * session took the next one.
   */
  const openByExpectedWay = async (): Promise<RelaySession> => {
    for (let triesLeft = 20;; triesLeft--) {
      const session = await open();
      await session.call("Ping", {}, { timeoutMs: 60_000 });
      const { state } = session;
      check(state.kind === "online", `the session is ${state.kind}`);
      if (state.connection.transport === target.expected) return session;
      check(triesLeft > 0, `it chose ${state.connection.transport}`);
      await session.close();
    }
  };
  return [
    {
      name:
        "it opens, says which transport it chose, and answers calls one by one and many at once",
      run: async () => {
        const session = await openByExpectedWay();
        for (let i = 0; i < 50; i++) await session.call("Ping", {});
        await Promise.all(Array.from({ length: 100 }, () => session.call("Ping", {})));
        await session.close();
      },
    },
    {
      name:
        "an envelope of a mebibyte goes up beside small ones, and the relay's errors come back typed",
      run: async () => {
        const session = await open();
        const channelId = parseBinaryId<never>("AAAAAAAAAAAAAAAAAAAAAA");
        const body = {
          channelId,
          epoch: 0,
          messageId: channelId,
          ciphertext: new Uint8Array(1_000_000),
        };
        const large = failsWith("not_found", () => session.call("SendMessage", body));
        await failsWith("not_found", () => session.call("ListMembers", { channelId }));
        await large;
        await session.close();
      },
    },
    {
      name:
        "with constant cover cells leave from a thread of their own, a tap hears of each, and nothing else changes",
      run: async () => {
        const started: string[] = [];
        const tap = createPingTap();
        const connectors = platform.connectors.map((connector) => ({
          ...connector,
          connectInThread: async (
            ...args: Parameters<NonNullable<typeof connector.connectInThread>>
          ) => {
            tap.restart();
            const stream = await connector.connectInThread?.(...args);
            check(stream !== undefined && "attach" in stream, "a thread was started");
            started.push(connector.transport);
            return stream;
          },
        }));
        const session = await open({ cover: { mode: "constant", intervalMs: 20 }, tap: tap.hear }, {
          on: { ...platform, connectors },
        });
        await Promise.all(Array.from({ length: 100 }, () => session.call("Ping", {})));
        // More when the machine is so slow that the session makes sure of its connection.
        const { sent, received } = tap.pings;
        check(sent >= 100 && received >= 100, `the tap saw ${sent} pings and ${received} replies`);
        const channelId = parseBinaryId<never>("AAAAAAAAAAAAAAAAAAAAAA");
        const body = {
          channelId,
          epoch: 0,
          messageId: channelId,
          ciphertext: new Uint8Array(100_000),
        };
        await failsWith("not_found", () => session.call("SendMessage", body));
        // More than one when a busy machine lost the first connection.
        check(
          started.length > 0 && started.every((name) => name === target.expected),
          `threads: ${started}`,
        );
        await session.close();
        await failsWith("transport_error", () => session.call("Ping", {}));
      },
    },
    {
      name: "an API or a relay that is not there gives connection_error within the timeout",
      run: async () => {
        await failsWith(
          "connection_error",
          () => open({ apiUrl: target.deadEndpoint.replace(/^\w+/, "http") }),
        );
        const session = await open({ endpoint: target.deadEndpoint });
        await failsWith("connection_error", () => session.call("Ping", {}, { timeoutMs: 1_500 }));
        await session.close();
      },
    },
    {
      name: "a relay whose certificate is not trusted is not talked to, and the error says so",
      run: async () => {
        if (target.wrongTls === undefined) return;
        const session = await open({ tls: target.wrongTls });
        const call = session.call("Ping", {}, { timeoutMs: 2_500 });
        const error = await call.then(() => undefined, (error: unknown) => error);
        check(
          error instanceof StaticError && error.code === "connection_error",
          `it ended with ${String(error)}`,
        );
        check(/certificate|handshake/i.test(error.message), error.message);
        await session.close();
      },
    },
    {
      name: "a local clock that is ten minutes off does not matter",
      run: async () => {
        for (const aheadMs of [600_000, -600_000]) {
          const off: Platform = { ...platform, nowMs: () => platform.nowMs() + aheadMs };
          const session = await open({}, { on: off });
          await session.call("Ping", {});
          const { state } = session;
          check(state.kind === "online", `the session is ${state.kind}`);
          check(
            Math.abs(session.relayNowMs() - platform.nowMs()) < 5_000,
            "the relay's clock is known",
          );
          await session.close();
        }
      },
    },
    {
      name: "a newer session of the same agent takes the place of the older, which ends for good",
      run: async () => {
        const older = await open({}, { agent: 2 });
        await older.call("Ping", {});
        const newer = await open({}, { agent: 2 });
        await newer.call("Ping", {});
        await until("the older one to end", () => older.state.kind === "ended");
        await failsWith("session_replaced", () => older.call("Ping", {}));
        await newer.call("Ping", {});
        await newer.close();
      },
    },
    {
      name: "a wrong key, a mistyped one and a wrong token give auth errors",
      run: async () => {
        await failsWith("auth_key_invalid", () => open({ apiKey: `${apiKey.slice(0, -1)}?` }));
        await failsWith("auth_key_invalid", () => open({ apiKey: offKey }));
        const session = await openRelaySession({
          endpoint,
          transport,
          ...tls,
          token: "not.a.token",
        }, {
          identity: Uint8Array.of(3),
          publicKey: ed25519.getPublicKey(new Uint8Array(32)),
          sign: (message) => ed25519.sign(message, new Uint8Array(32)),
        }, platform);
        await failsWith("auth_failed", () => session.call("Ping", {}));
      },
    },
  ];
}

async function until(what: string, isTrue: () => boolean, withinMs = 60_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!isTrue()) {
    check(performance.now() < deadline, `waited too long for ${what}`);
    // wait: for something that the relay does by itself
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Reads cells as a relay does; `restart` when another connection begins. */
function createPingTap(): {
  readonly hear: NonNullable<RelayOptions["tap"]>;
  readonly restart: () => void;
  readonly pings: { sent: number; received: number };
} {
  const bounds = { cellBytes: limits.cellBytes, maxEnvelopeBytes: limits.envelopeBytes };
  const readers = { sent: new CellReader(bounds), received: new CellReader(bounds) };
  const pings = { sent: 0, received: 0 };
  const decode = { sent: decodeClientEnvelope, received: decodeRelayEnvelope };
  return {
    pings,
    restart: () => {
      Object.assign(readers, { sent: new CellReader(bounds), received: new CellReader(bounds) });
      Object.assign(pings, { sent: 0, received: 0 });
    },
    hear: (cells, cellBytes, direction) => {
      readers[direction].configure({ ...bounds, cellBytes });
      readers[direction].read(cells, (bytes) => {
        const envelope = decode[direction](bytes);
        if ("operation" in envelope && envelope.operation === "Ping") pings[direction]++;
      });
    },
  };
}
