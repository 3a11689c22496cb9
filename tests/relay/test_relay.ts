/** A whole relay for tests: the real core on an engine in memory, behind the real ports, with tokens and quota of these tests. */
import { createRelayCore } from "../../relay/core/relay.ts";
import { type CoreConfig, defaultCoreConfig } from "../../relay/core/config.ts";
import { createMeter, type Meter } from "../../relay/core/meter.ts";
import type { CoreDeps, CoreEvent, Quota, TokenVerifier } from "../../relay/core/ports.ts";
import { openSqliteEngine } from "../../relay/engine/mod.ts";
import { type RelayServer, type RelayServerOptions, startRelayServer } from "../../relay/server.ts";
import { verifyEd25519 } from "../../relay/signatures.ts";
import { parseAccountId } from "../../proto/mod.ts";
import { createCertificate, type TestCertificate } from "../support/mod.ts";

export interface TestRelay extends AsyncDisposable {
  readonly server: RelayServer;
  readonly certificate: TestCertificate;
  readonly origin: string;
  readonly meter: Meter;
  /** Faults of the relay's own code; none is allowed, and closing fails if there was one. */
  readonly faults: unknown[];
  /** Fill and cover that accounts were charged for. */
  readonly counted: { padding: number; cover: number };
}

export interface TestRelayOptions {
  readonly config?: Partial<CoreConfig>;
  readonly limits?: RelayServerOptions["limits"];
}

/** Not the default, so that the change of size is always part of the test. */
const cellBytes = 2048;

export async function startTestRelay(options: TestRelayOptions = {}): Promise<TestRelay> {
  const certificate = await createCertificate();
  const origin = "quic://localhost:4433";
  const engine = await openSqliteEngine({ path: ":memory:" });
  const faults: unknown[] = [];
  const counted = { padding: 0, cover: 0 };
  const meter = createMeter();
  const config: CoreConfig = { ...defaultCoreConfig, origins: [origin], cellBytes, ...options.config };
  const timers = new Set<() => void>();
  const deps: CoreDeps = {
    engine,
    tokens: createTokens(),
    quota: createQuota(counted),
    nowMs: () => Date.now(),
    after: (ms, run) => after(timers, ms, run),
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    verifySignature: verifyEd25519,
    loopLagMs: () => 0,
    log: (event: CoreEvent) => void (event.event === "fault" && faults.push(event.error)),
    meter,
  };
  await engine.leases.open({
    leaseId: "test",
    fence: 1,
    account: parseAccountId("00000000-0000-4000-8000-000000000000"),
    granted: 1_000_000_000,
    expiresAtMs: Date.now() + 86_400_000,
  });
  const server = await startRelayServer({
    core: createRelayCore(config, deps),
    config,
    deps,
    listen: { hostname: "::", quicPort: 0, grpcPort: 0 },
    certificate,
    allowsOrigin: (web) => web.startsWith("http://127.0.0.1:"),
    limits: { strangersPerAddress: 1_000, ...options.limits },
    onFault: (error) => void faults.push(error),
  });
  return {
    server,
    certificate,
    origin,
    meter,
    faults,
    counted,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await engine.close();
      for (const cancel of timers) cancel();
      if (faults.length > 0) throw new AggregateError(faults, "The relay reported faults");
    },
  };
}

function after(timers: Set<() => void>, ms: number, run: () => void): () => void {
  const timer = setTimeout(() => {
    timers.delete(cancel);
    run();
  }, ms);
  const cancel = (): void => {
    timers.delete(cancel);
    clearTimeout(timer);
  };
  timers.add(cancel);
  return cancel;
}

/** A token of these tests names its account and its end. */
function createTokens(): TokenVerifier {
  return {
    verify: (token) => {
      const [account = "", expiresAtMs] = token.split(" ");
      const verified = { account: parseAccountId(account), plan: "dev", expiresAtMs: Number(expiresAtMs) };
      return Promise.resolve(verified.expiresAtMs > Date.now() ? verified : { refused: "The token has expired" });
    },
  };
}

function createQuota(counted: { padding: number; cover: number }): Quota {
  return {
    reserve: (_account, payloadBytes) => ({ kind: "reserved", charge: { leaseId: "test", fence: 1, payloadBytes } }),
    settle: () => {},
    countBytes: (_account, { padding, cover }) => {
      counted.padding += padding;
      counted.cover += cover;
    },
  };
}
