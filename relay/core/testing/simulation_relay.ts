/**
 * The relay of a schedule: the real core on the real engine in memory, slow at random, and mortal.
 */
import { parseAccountId } from "../../../proto/mod.ts";
import type { Random } from "../../../tests/support/mod.ts";
import { type Engine, openSqliteEngine } from "../../engine/mod.ts";
import { type CoreConfig, defaultCoreConfig } from "../config.ts";
import type { Quota, Reservation, TokenVerifier } from "../deps.ts";
import { createMeter } from "../meter.ts";
import { createRelayCore, type RelayCore } from "../relay_core.ts";
import { TestClient, testOrigin } from "./client.ts";
import { createShakyEngine, type ShakyEngine } from "./shaky_engine.ts";
import { settle, SimulatedTime } from "./simulated_time.ts";
import { Auditor } from "./simulation_auditor.ts";
import { verifyFast } from "./simulation_bytes.ts";
import { accountOf, startMs } from "./world.ts";

const minuteMs = 60_000;
const roundMs = 20;
const maxRounds = 500;
const leaseId = "simulation";
/** Turns of the event loop that transactions and answers of a whole group of the engine take. */
const restartTurns = 16;

export interface RelayOptions {
  readonly random: Random;
  /** How often a call of the engine waits, and for how long at most. */
  readonly waitChance: number;
  readonly waitMs: number;
  /** Messages that the accounts may send together. */
  readonly quota: number;
  /** Messages that the lease really has. */
  readonly granted: number;
  readonly queueBytes: number;
}

export class SimulatedRelay {
  /** One turn is enough: the engine in memory waits for nothing but its own promises. */
  readonly time = new SimulatedTime(startMs, 1);
  readonly auditor: Auditor;
  readonly config: CoreConfig;
  readonly #options: RelayOptions;
  readonly #engine: Engine;
  #core!: RelayCore;
  #shaky!: ShakyEngine;
  #quota: { left: number };
  #limit: number;
  readonly #clients = new Set<TestClient>();
  /** Timers of one life end with it. */
  #timers = new Set<() => void>();

  private constructor(engine: Engine, options: RelayOptions) {
    this.#engine = engine;
    this.#options = options;
    this.config = createConfig(options);
    const { queueAgeMs, lapseAgeMs } = this.config.limits;
    this.auditor = new Auditor({ nowMs: this.time.nowMs, keysMs: queueAgeMs, lapseMs: lapseAgeMs });
    this.#limit = options.quota;
    this.#quota = { left: options.quota };
    this.#start();
  }

  static async open(options: RelayOptions): Promise<SimulatedRelay> {
    const engine = await openSqliteEngine({ path: ":memory:" });
    const account = parseAccountId(accountOf(0));
    const expiresAtMs = startMs + 1_000 * 24 * 60 * minuteMs;
    await engine.leases.open({ leaseId, fence: 1, account, granted: options.granted, expiresAtMs });
    return new SimulatedRelay(engine, options);
  }

  connect(): TestClient {
    const client = new TestClient(this.#core);
    this.#clients.add(client);
    return client;
  }

  /** Work under way needs time to pass; returns undefined when it never ends. */
  async within<T>(work: Promise<T>): Promise<T | undefined> {
    let done = false;
    const working = work.finally(() => done = true);
    for (let rounds = 0; !done && rounds < maxRounds; rounds++) await this.time.advance(roundMs);
    return done ? await working : undefined;
  }

  /** The plan grew. */
  refill(messages: number): void {
    this.#limit += messages;
    this.#quota.left += messages;
  }

  /** Gone from one moment to the next; a new one on the same disk. */
  async crash(): Promise<void> {
    this.#shaky.kill();
    await this.#restart(false);
  }

  async restart(): Promise<void> {
    const closed = await this.within(this.#core.close().then(() => true));
    if (closed === undefined) this.auditor.report("the relay does not close");
    this.#shaky.kill();
    await this.#restart(true);
  }

  /** Counted three times: by the model, by the quota in memory and by the lease on disk. */
  async checkQuota(): Promise<void> {
    const { messages } = this.auditor;
    const [lease] = await this.#engine.leases.list();
    const used = this.#limit - this.#quota.left;
    this.auditor.check(
      used === messages,
      `${messages} messages were accepted, the quota counts ${used}`,
    );
    this.auditor.check(
      lease?.consumed === messages,
      `${messages} were accepted, the lease counts ${lease?.consumed}`,
    );
  }

  /** Entries that everybody has taken are gone from the disk. */
  async checkTrimmed(): Promise<void> {
    for (const { channel, closed, members, leaving } of this.auditor.channels.values()) {
      if (closed !== undefined || leaving.length === members.size) continue;
      const [left] = await this.#engine.read(channel.channelId, { after: 0, maxBytes: 1 });
      this.auditor.check(
        left === undefined,
        `${channel.name} keeps entry ${left?.sequence}, which nobody needs`,
      );
    }
  }

  async close(): Promise<void> {
    this.#shaky.kill();
    await this.#engine.close();
  }

  async #restart(orderly: boolean): Promise<void> {
    for (const cancel of this.#timers) cancel();
    for (const client of this.#clients) client.end(undefined);
    this.#clients.clear();
    // Calls that had reached the engine still take effect. A large group of them takes some more
    // turns.
    await this.time.advance(0);
    await settle(restartTurns);
    this.auditor.restarted(orderly);
    this.#quota = { left: this.#limit - this.auditor.messages };
    this.#start();
  }

  #start(): void {
    const { random, waitChance, waitMs } = this.#options;
    const timers = new Set<() => void>();
    this.#timers = timers;
    const after = (ms: number, run: () => void): () => void => {
      const cancel = this.time.after(ms, () => {
        timers.delete(cancel);
        run();
      });
      timers.add(cancel);
      return () => {
        timers.delete(cancel);
        cancel();
      };
    };
    const delayMs = (): number | undefined =>
      random.chance(waitChance) ? 1 + random.below(waitMs) : undefined;
    this.#shaky = createShakyEngine(this.#engine, {
      after,
      delayMs,
      onCreated: (channel) => this.auditor.follow(channel, this.#engine),
    });
    this.#core = createRelayCore(this.config, {
      engine: this.#shaky,
      tokens: createTokens(),
      quota: createQuota(this.#quota, (run) => {
        const ms = delayMs();
        return ms === undefined ? run() : new Promise((resolve) => after(ms, () => resolve(run())));
      }),
      nowMs: this.time.nowMs,
      elapsedMs: this.time.nowMs,
      after,
      randomBytes: (length) => random.bytes(length),
      verifySignature: verifyFast,
      soon: queueMicrotask,
      loopLagMs: () => 0,
      log: (event) => {
        if (event.event === "fault") {
          this.auditor.report(`fault in ${event.where}: ${String(event.error)}`);
        }
      },
      meter: createMeter(),
    });
  }
}

/** Small limits, so that a short schedule reaches them. */
function createConfig({ queueBytes }: RelayOptions): CoreConfig {
  return {
    ...defaultCoreConfig,
    origins: [testOrigin],
    limits: {
      ...defaultCoreConfig.limits,
      queueBytesPerChannel: queueBytes,
      queueAgeMs: 10 * minuteMs,
      lapseAgeMs: 60 * minuteMs,
      lapseCommits: 40,
    },
    highWaterBytes: 4 * 1024,
    lowWaterBytes: 1024,
    slowReaderMs: 2_000,
    idleChannels: 0,
    keyPackagesWanted: 2,
  };
}

function createTokens(): TokenVerifier {
  return {
    verify: (token) => {
      const [account = "", expiresAtMs] = token.split(" ");
      return Promise.resolve({
        account: parseAccountId(account),
        plan: "dev",
        issuedAtMs: startMs,
        expiresAtMs: Number(expiresAtMs),
      });
    },
  };
}

type Answer = (run: () => Reservation) => Reservation | Promise<Reservation>;

function createQuota(quota: { left: number }, answer: Answer): Quota {
  return {
    reserve: (_account, cost) =>
      answer(() => {
        if (quota.left < cost.messages) return { kind: "exhausted" };
        quota.left -= cost.messages;
        return { kind: "reserved", charge: { leaseId, fence: 1, ...cost } };
      }),
    settle: (_account, { messages }, appended) => {
      if (appended === false) quota.left += messages;
    },
    countBytes: () => {},
  };
}
