/** A session on simulated time with a scripted relay at its other end. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { SimulatedClock } from "../../../tests/support/mod.ts";
import type { NoticeEnvelope } from "../../../proto/mod.ts";
import { parseEndpoints } from "../../transport/endpoint.ts";
import type { Connector } from "../../transport/transport.ts";
import type { SessionOptions } from "../options.ts";
import type { ConnectionInfo, RelaySession } from "../relay_session.ts";
import { createRelaySession } from "../session.ts";
import type { TokenSource } from "../tokens.ts";
import { ScriptedRelay, type ScriptedRelayOptions } from "./scripted_relay.ts";

export interface BenchOptions {
  /** The endpoint as a user writes it. */
  readonly endpoint?: string;
  readonly session?: Partial<SessionOptions>;
  readonly relay?: Omit<ScriptedRelayOptions, "nowMs">;
  readonly tokens?: TokenSource;
  readonly connectors?: (relay: ScriptedRelay) => readonly Connector[];
  readonly relayAheadMs?: number;
}

export class Bench {
  readonly clock = new SimulatedClock();
  /** How far the client's clock has been set since it began. */
  skewMs = 0;
  /** How far the relay's clock is ahead of the client's, before that was set. */
  relayAheadMs: number;
  readonly relay: ScriptedRelay;
  readonly session: RelaySession;
  /** The calls to listeners, in order: notices by name, "online" and "offline". */
  readonly heard: string[] = [];
  readonly notices: NoticeEnvelope[] = [];
  readonly connections: (ConnectionInfo | undefined)[] = [];

  constructor(
    { endpoint = "quic://relay.test", session, relay, tokens, connectors, relayAheadMs = 0 }:
      BenchOptions = {},
  ) {
    this.relayAheadMs = relayAheadMs;
    const seed = new Uint8Array(32).fill(3);
    this.relay = new ScriptedRelay({
      nowMs: () => Math.round(this.clock.nowMs()) + this.relayAheadMs,
      ...relay,
    });
    this.session = createRelaySession({
      endpoints: parseEndpoints(endpoint, { caCerts: [], certificateHashes: [] }),
      identity: new TextEncoder().encode("agent"),
      publicKey: ed25519.getPublicKey(seed),
      sign: (message) => ed25519.sign(message, seed),
      cover: { mode: "off" },
      ...session,
    }, {
      connectors: connectors?.(this.relay) ?? [this.relay.connector()],
      tokens: tokens ??
        { renewable: true, get: ({ instead } = {}) => Promise.resolve(`${instead ?? ""}+token`) },
      nowMs: () => this.clock.nowMs() + this.skewMs,
      steadyMs: () => this.clock.nowMs(),
      after: this.clock.after,
      randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    });
    this.session.onNotice((notice) => {
      this.notices.push(notice);
      this.heard.push(notice.operation);
    });
    this.session.onConnection((connection) => {
      this.connections.push(connection);
      this.heard.push(connection === undefined ? "offline" : "online");
    });
  }

  /** Until it is online, or the time is up. */
  async online(withinMs = 60_000): Promise<ConnectionInfo> {
    for (let passedMs = 0; passedMs <= withinMs; passedMs += 50) {
      await this.clock.settle();
      const { state } = this.session;
      if (state.kind === "online") return state.connection;
      await this.clock.advance(50);
    }
    throw new Error(`not online within ${withinMs} ms: ${JSON.stringify(this.session.state)}`);
  }

  /** Nothing must be left behind: no timer, no open link. */
  async close(): Promise<void> {
    const closed = this.session.close();
    // A goodbye waits for its tick.
    await this.clock.advance(5_000);
    await closed;
    if (this.clock.timers > 0) throw new Error(`${this.clock.timers} timers are left`);
    if (this.relay.links.some(({ isOpen }) => isOpen)) throw new Error("a link is still open");
  }
}
