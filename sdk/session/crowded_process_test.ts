/** Many agents of one process on a machine that is busy: all come back. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { assertEquals, assertLess } from "@std/assert";
import { SimulatedClock } from "../../tests/support/mod.ts";
import { DialPlaces } from "../transport/dial_places.ts";
import { parseEndpoints } from "../transport/endpoint.ts";
import type { Connector } from "../transport/transport.ts";
import type { SessionDeps } from "./options.ts";
import type { RelaySession } from "./relay_session.ts";
import { createRelaySession } from "./session.ts";
import { ScriptedRelay } from "./testing/scripted_relay.ts";

const agents = 150;
/** Of the processor, for a handshake. One attempt alone has 8 s, and 32 at last. */
const handshakeMs = 300;
const sliceMs = 50;

/** A processor that all handshakes under way share. */
class BusyMachine {
  readonly #clock: SimulatedClock;
  readonly #underWay = new Set<{ leftMs: number; readonly done: () => void }>();

  constructor(clock: SimulatedClock) {
    this.#clock = clock;
    this.#slice();
  }

  /** Timers of a busy process are late. */
  readonly after = (ms: number, run: () => void): () => void =>
    this.#clock.after(this.#underWay.size > 0 ? ms + sliceMs : ms, run);

  handshake(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const work = { leftMs: handshakeMs, done: resolve };
    this.#underWay.add(work);
    signal.addEventListener("abort", () => {
      this.#underWay.delete(work);
      reject(signal.reason);
    });
    return promise;
  }

  #slice(): void {
    this.#clock.after(sliceMs, () => {
      const each = sliceMs / this.#underWay.size;
      for (const work of this.#underWay) {
        work.leftMs -= each;
        if (work.leftMs > 0) continue;
        this.#underWay.delete(work);
        work.done();
      }
      this.#slice();
    });
  }
}

function sessionsOf(
  clock: SimulatedClock,
  deps: Pick<SessionDeps, "after" | "connectors" | "dials">,
): RelaySession[] {
  const seed = new Uint8Array(32).fill(3);
  const publicKey = ed25519.getPublicKey(seed);
  return Array.from({ length: agents }, (_, number) =>
    createRelaySession({
      endpoints: parseEndpoints("quic://relay.test", { caCerts: [], certificateHashes: [] }),
      identity: new TextEncoder().encode(`agent ${number}`),
      publicKey,
      sign: (message) => ed25519.sign(message, seed),
      cover: { mode: "off" },
    }, {
      ...deps,
      tokens: { renewable: true, get: () => Promise.resolve("token") },
      nowMs: () => clock.nowMs(),
      steadyMs: () => clock.nowMs(),
      randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    }));
}

async function closeAll(clock: SimulatedClock, sessions: readonly RelaySession[]): Promise<void> {
  const closed = sessions.map((session) => session.close());
  await clock.advance(5_000);
  await Promise.all(closed);
}

for (const dials of [new DialPlaces(), undefined]) {
  const how = dials === undefined ? "all at once few get in (the control)" : "in turn all do";
  Deno.test(`when ${agents} agents of one process connect on a busy machine, ${how}`, async () => {
    const clock = new SimulatedClock();
    const machine = new BusyMachine(clock);
    const served = new ScriptedRelay({ nowMs: () => Math.round(clock.nowMs()) }).connector();
    const connector: Connector = {
      ...served,
      connect: async (target, signal) => {
        await machine.handshake(signal);
        return await served.connect(target, signal);
      },
    };
    const sessions = sessionsOf(clock, {
      connectors: [connector],
      after: machine.after,
      ...(dials && { dials }),
    });
    for (let passedMs = 0; passedMs < 60_000; passedMs += sliceMs) await clock.advance(sliceMs);
    const online = sessions.filter(({ state }) => state.kind === "online").length;
    if (dials === undefined) assertLess(online, agents / 10);
    else assertEquals(online, agents);
    await closeAll(clock, sessions);
  });
}

Deno.test("where a network drops all that agents send, none of them waits for the others' attempts", async () => {
  const clock = new SimulatedClock();
  const dead: Connector = {
    ...new ScriptedRelay({ nowMs: () => 0 }).connector(),
    connect: (_, signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  };
  const relay = new ScriptedRelay({ nowMs: () => Math.round(clock.nowMs()) });
  const sessions = sessionsOf(clock, {
    connectors: [dead, relay.connector("grpc")],
    dials: new DialPlaces(),
    after: clock.after,
  });
  // Of 150 attempts by UDP 16 begin each half second, and TCP follows 1.5 s later.
  const withinMs = Math.ceil(agents / 16) * 500 + 2_000;
  for (let passedMs = 0; passedMs < withinMs; passedMs += sliceMs) await clock.advance(sliceMs);
  assertEquals(sessions.filter(({ state }) => state.kind === "online").length, agents);
  await closeAll(clock, sessions);
});
