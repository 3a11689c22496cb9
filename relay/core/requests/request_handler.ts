/** Types that the handlers of requests share: the parts of the core, and the asker. */
import type { CallName, ReplyBody, RequestBody } from "../../../proto/mod.ts";
import type { BackgroundWork } from "../background.ts";
import type { LoadedChannels } from "../channel/loaded_channels.ts";
import type { LogId } from "../channel/log_id.ts";
import type { PendingJoins } from "../channel/pending_joins.ts";
import type { CoreConfig } from "../config.ts";
import type { CoreDeps } from "../deps.ts";
import type { CoreLimits } from "../limits/limits.ts";
import type { ConnectedAgent } from "../session/agent.ts";
import type { Session } from "../session/session.ts";
import type { Sessions } from "../session/sessions.ts";
import type { StorageReclaimer } from "../upkeep/storage_reclaimer.ts";
import type { Upkeep } from "../upkeep/upkeep.ts";

export interface CoreParts {
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
}

export interface Asker {
  readonly core: CoreParts;
  readonly session: Session;
  /** Sent as a notice: wants no reply. */
  readonly quiet: boolean;
}

/** The asker after authentication. */
export interface AgentAsker extends Asker {
  readonly agent: ConnectedAgent;
}

/** Rejects with `Refusal`, or a `WireError` of the contract, for an expected no. */
export type CallHandler<Name extends CallName, By extends Asker = AgentAsker> = (
  asker: By,
  body: RequestBody<Name>,
) => ReplyBody<Name> | Promise<ReplyBody<Name>>;
