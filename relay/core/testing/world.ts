/** A whole relay without sockets: the real core on an engine in memory, on simulated time. */
import {
  encodeBase64url,
  formatTokenGrant,
  parseAccountId,
  parseTokenGrant,
  type TokenGrant,
} from "../../../proto/mod.ts";
import { verifyEd25519 } from "../../ed25519.ts";
import { type Engine, openSqliteEngine } from "../../engine/mod.ts";
import { type CoreConfig, defaultCoreConfig } from "../config.ts";
import type { Cluster } from "../cluster.ts";
import type { CoreEvent, Quota, Reservation, TokenVerifier } from "../deps.ts";
import type { TransportKind } from "../client_link.ts";
import { createMeter, type Meter } from "../meter.ts";
import { createRelayCore, type RelayCore } from "../relay_core.ts";
import { TestClient, testOrigin } from "./client.ts";
import { SimulatedTime } from "./simulated_time.ts";

export interface World {
  readonly time: SimulatedTime;
  readonly engine: Engine;
  readonly core: RelayCore;
  readonly meter: Meter;
  readonly events: CoreEvent[];
  /** Messages that the account may still send. */
  readonly quota: { left: number };
  readonly load: { lagMs: number };
  connect(transport?: TransportKind): TestClient;
  close(): Promise<void>;
}

/** For tests that change a part of it. */
export { defaultCoreConfig };

/** For tests that read the log. */
export { decodeCommitBody, decodeFoundingBody, decodeMessageBody } from "../channel/entry_body.ts";

export const accountOf = (number: number): string =>
  `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

/** A token of these tests names its account, its end and what it may do. */
export const tokenOf = (account: number, expiresAtMs: number, grant?: TokenGrant): string =>
  `${accountOf(account)} ${expiresAtMs}${
    grant === undefined ? "" : ` ${JSON.stringify(formatTokenGrant(grant))}`
  }`;

export const startMs = Date.UTC(2026, 0, 1);
const hourMs = 60 * 60 * 1000;

export interface WorldOptions {
  readonly config?: Partial<CoreConfig>;
  readonly random?: (length: number) => Uint8Array;
  /** Continue on an engine that another world used, as after a restart. */
  readonly engine?: Engine;
  readonly startMs?: number;
  /** Other relays on the same log. */
  readonly cluster?: Cluster;
  /** Processor time; logins are not limited without it. */
  readonly cpuMs?: () => number;
  /** The time of another world, which goes on. */
  readonly time?: SimulatedTime;
  /** Accounts that pay nothing, by their number. All others have the plan `dev`. */
  readonly isFree?: (account: number) => boolean;
}

export async function createWorld(
  { config, random, engine: given, ...options }: WorldOptions = {},
): Promise<World> {
  const time = options.time ?? new SimulatedTime(options.startMs ?? startMs);
  const engine = given ?? await openSqliteEngine({ path: ":memory:" });
  const meter = createMeter();
  const events: CoreEvent[] = [];
  const quota = { left: Infinity };
  const load = { lagMs: 0 };
  await engine.leases.open({
    leaseId: "test",
    fence: 1,
    account: parseAccountId(accountOf(0)),
    granted: 1_000_000_000,
    expiresAtMs: startMs + 1_000 * 24 * hourMs,
  });
  const core = createRelayCore({ ...defaultCoreConfig, origins: [testOrigin], ...config }, {
    engine,
    cluster: options.cluster,
    tokens: createTokens(time, options.isFree),
    quota: createQuota(quota),
    nowMs: time.nowMs,
    elapsedMs: time.nowMs,
    cpuMs: options.cpuMs,
    after: time.after,
    randomBytes: random ?? ((length) => crypto.getRandomValues(new Uint8Array(length))),
    verifySignature: verifyEd25519,
    soon: queueMicrotask,
    loopLagMs: () => load.lagMs,
    log: (event) => void events.push(event),
    meter,
  });
  return {
    time,
    engine,
    core,
    meter,
    events,
    quota,
    load,
    connect: (transport) => new TestClient(core, transport),
    close: async () => {
      await core.close();
      if (given === undefined) await engine.close();
    },
  };
}

function createTokens(
  time: SimulatedTime,
  isFree: (account: number) => boolean = () => false,
): TokenVerifier {
  return {
    verify: (token) => {
      const [account, expiresAtMs, claim] = token.split(" ");
      const grant = claim === undefined ? undefined : parseTokenGrant(JSON.parse(claim));
      const times = { issuedAtMs: time.nowMs(), expiresAtMs: Number(expiresAtMs) };
      const plan = isFree(Number(account?.split("-").at(-1))) ? "free" : "dev";
      const verified = { account: parseAccountId(account ?? ""), plan, ...times, grant };
      return Promise.resolve(
        verified.expiresAtMs > time.nowMs() ? verified : { refused: "The token has expired" },
      );
    },
  };
}

function createQuota(quota: { left: number }): Quota {
  return {
    reserve: (_account, cost): Reservation => {
      if (quota.left < cost.messages) return { kind: "exhausted" };
      quota.left -= cost.messages;
      return { kind: "reserved", charge: { leaseId: "test", fence: 1, ...cost } };
    },
    settle: (_account, { messages }, appended) => {
      if (appended === false) quota.left += messages;
    },
    countBytes: () => {},
  };
}

/** Sixteen bytes that stand for a number. */
export function idOf<Id extends string>(number: number): Id {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(0, number);
  return encodeBase64url(bytes) as Id;
}
