/**
 * The relay without sockets: sessions come in as links, everything durable goes to the engine. This
 * module puts the rooms together; see the architecture page.
 */
import type { AccountId } from "../../proto/mod.ts";
import { BackgroundWork } from "./background.ts";
import { LoadedChannels } from "./channel/loaded_channels.ts";
import { LogId } from "./channel/log_id.ts";
import { PendingJoins } from "./channel/pending_joins.ts";
import type { CoreConfig } from "./config.ts";
import type { CoreStats } from "./core_stats.ts";
import type { CoreDeps } from "./deps.ts";
import { CoreLimits } from "./limits/limits.ts";
import type { ClientLink, CoreSession } from "./client_link.ts";
import { closeChannelsOf, eraseChannelsOf } from "./requests/channel_requests.ts";
import { followCluster } from "./requests/cluster_events.ts";
import { dispatch } from "./requests/dispatch.ts";
import { followEntry } from "./requests/entry_events.ts";
import { greet } from "./requests/greeting.ts";
import type { CoreParts } from "./requests/request_handler.ts";
import { Sessions } from "./session/sessions.ts";
import { StorageReclaimer } from "./upkeep/storage_reclaimer.ts";
import { Upkeep } from "./upkeep/upkeep.ts";

export interface RelayCore {
  /** A connection. One that cannot be taken is ended through its link, with the reason. */
  open(link: ClientLink): CoreSession;
  /**
   * Takes no more connections, tells every client to come back elsewhere or later, and resolves
   * when all are gone.
   */
  drain(): Promise<void>;
  /** Ends what is left of sessions, and takes no more. Writes nothing. */
  leave(): Promise<void>;
  /** The same, and writes what is not on disk yet. The engine stays open. */
  close(): Promise<void>;
  stats(): CoreStats;
  /** Ends the sessions of an account and takes no new ones, until it is resumed. */
  suspend(account: AccountId): void;
  resume(account: AccountId): void;
  /**
   * Closes the channels that an account has made. Safe to repeat. Returns whether anything of one
   * is stored still.
   */
  closeChannelsOf(account: AccountId): Promise<boolean>;
  /** Deletes them, once they are closed. */
  eraseChannelsOf(account: AccountId): Promise<void>;
}

export function createRelayCore(config: CoreConfig, deps: CoreDeps): RelayCore {
  return new LiveCore(config, deps);
}

class LiveCore implements RelayCore, CoreParts {
  readonly config: CoreConfig;
  readonly deps: CoreDeps;
  readonly background: BackgroundWork;
  readonly limits: CoreLimits;
  readonly logId: LogId;
  readonly joins: PendingJoins;
  readonly channels: LoadedChannels;
  readonly sessions: Sessions;
  readonly relief: StorageReclaimer;
  readonly upkeep: Upkeep;

  constructor(config: CoreConfig, deps: CoreDeps) {
    const { cluster, engine, log, nowMs, randomBytes } = deps;
    this.config = config;
    this.deps = deps;
    this.background = new BackgroundWork(deps);
    this.limits = new CoreLimits(config, deps);
    this.logId = new LogId({ records: engine.records, nowMs, randomBytes });
    this.joins = new PendingJoins(
      config,
      this.limits.places,
      (requestId) => cluster?.endJoin(requestId),
    );
    this.channels = new LoadedChannels(config, {
      engine,
      nowMs,
      fanOut: {
        turns: this.limits.turns,
        onFault: (error) => log({ event: "fault", where: "fan-out", error }),
      },
      appended: (channel, entry) => followEntry(this, channel, entry),
    });
    this.sessions = new Sessions(this, {
      handle: (session, envelope) => dispatch(this, session, envelope),
      greet: (session, agentId) => greet(this, session, agentId),
    });
    this.relief = new StorageReclaimer(this);
    this.upkeep = new Upkeep(this);
    cluster?.listen(followCluster(this));
  }

  open(link: ClientLink): CoreSession {
    return this.sessions.open(link);
  }

  async drain(): Promise<void> {
    await this.sessions.drain();
  }

  async leave(): Promise<void> {
    await this.sessions.leave();
  }

  async close(): Promise<void> {
    await this.leave();
    await this.upkeep.close();
    this.joins.clear();
  }

  stats(): CoreStats {
    const { level, logins, slowTurns, storage, turns } = this.limits;
    const channels = [...this.channels];
    return {
      sessions: this.sessions.size,
      authenticated: this.sessions.agents.length,
      channels: channels.length,
      subscriptions: channels.reduce((sum, { subscriptions }) => sum + subscriptions.size, 0),
      queueBytes: channels.reduce((sum, { queueBytes }) => sum + queueBytes, 0),
      requestsWaiting: turns.waiting + slowTurns.waiting,
      loginsWaiting: logins.waiting,
      joinRequests: this.joins.size,
      sheddingLevel: level,
      storage: { ...storage.size, level: storage.level },
    };
  }

  suspend(account: AccountId): void {
    this.sessions.suspend(account);
  }

  resume(account: AccountId): void {
    this.sessions.resume(account);
  }

  closeChannelsOf(account: AccountId): Promise<boolean> {
    return closeChannelsOf(this, account);
  }

  eraseChannelsOf(account: AccountId): Promise<void> {
    return eraseChannelsOf(this, account);
  }
}
