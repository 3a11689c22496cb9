/**
 * The cost of the profiles of cover traffic: `deno run -A bench/cover_profiles.ts`. Cells a day of an idle session,
 * counted on simulated time with all background work of a session, and round trips over a real QUIC connection.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { grantedToken, openTestRelay } from "../relay/testing/open_relay.ts";
import { platform } from "../sdk/platform/deno.ts";
import type { CoverProfile } from "../sdk/mod.ts";
import { Bench } from "../sdk/session/testing/bench.ts";
import { openRelaySession } from "../sdk/session/testing/mod.ts";
import { createCertificate } from "../tests/support/mod.ts";

/** Of one cell in QUIC's packets, as captured. */
const wireBytes = 4_194;
/** Simulated hours: enough for rare cells to average out, few enough for frequent ones to end. */
const hours: Readonly<Record<CoverProfile, number>> = { off: 24, light: 24, standard: 24, strong: 1, swift: 0.25 };
const calls = 40;

const certificate = await createCertificate();
const relay = await openTestRelay({ certificate });
for (const profile of Object.keys(hours) as CoverProfile[]) { // cast: keys of the table
  const cells = await cellsPerDay(profile);
  const trip = await roundTripMs(profile);
  const megabytes = (cells * wireBytes / 1e6).toFixed(1);
  console.log(`${profile.padEnd(9)} ${cells} cells a day  ${megabytes} MB each way  round trip ${trip.toFixed(1)} ms`);
}
await relay.close();

async function cellsPerDay(profile: CoverProfile): Promise<number> {
  const bench = new Bench({ session: { cover: profile } });
  await bench.online();
  const before = bench.relay.last.counts.cells;
  await bench.clock.advance(hours[profile] * 3_600_000);
  const cells = bench.relay.last.counts.cells - before;
  await bench.close();
  return Math.round(cells * 24 / hours[profile]);
}

/** The median of calls at random times. */
async function roundTripMs(profile: CoverProfile): Promise<number> {
  const seed = new Uint8Array(32).fill(7);
  const session = await openRelaySession({
    endpoint: `quic://localhost:${relay.quicPort}`,
    tls: { caCerts: [certificate.cert] },
    token: grantedToken("00000000-0000-4000-8000-000000000001"),
    cover: profile,
  }, {
    identity: new TextEncoder().encode(profile),
    publicKey: ed25519.getPublicKey(seed),
    sign: (message) => ed25519.sign(message, seed),
  }, platform);
  await session.call("Ping", {});
  const trips: number[] = [];
  for (let i = 0; i < calls; i++) {
    await new Promise((resolve) => setTimeout(resolve, 100 * Math.random()));
    const startMs = performance.now();
    await session.call("Ping", {});
    trips.push(performance.now() - startMs);
  }
  await session.close();
  return trips.sort((a, b) => a - b)[calls >> 1] ?? NaN;
}
