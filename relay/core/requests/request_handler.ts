/** Types that the handlers of requests share: the parts of the core, and the asker. */
import type {
  AccountId,
  AgentId,
  CallName,
  NoticeBody,
  NoticeName,
  ReplyBody,
  RequestBody,
} from "../../../proto/mod.ts";
import type { Allowances } from "../limits/allowances.ts";
import type { Channel } from "../channel/channel.ts";
import type { CoreConfig } from "../config.ts";
import type { CoreDeps } from "../deps.ts";
import type { FairTurns } from "../limits/fair_turns.ts";
import type { EndReason } from "../link.ts";
import type { LoadedChannels } from "../channel/loaded_channels.ts";
import type { LogId } from "../channel/log_id.ts";
import type { PendingJoins } from "../channel/pending_joins.ts";
import type { AccountPlans } from "../limits/plans.ts";
import type { Rates } from "../limits/rates.ts";
import type { Need } from "../upkeep/relief.ts";
import type { Agent } from "../session/agent.ts";
import type { Session } from "../session/session.ts";
import type { StorageWatch } from "../limits/storage_watch.ts";
import type { UnaskedAdditions } from "../limits/unasked.ts";

export interface CoreParts {
  readonly config: CoreConfig;
  readonly deps: CoreDeps;
  readonly channels: LoadedChannels;
  readonly joins: PendingJoins;
  readonly rates: Rates;
  readonly plans: AccountPlans;
  readonly allowances: Allowances;
  /** Amounts that removals took which nobody may refuse, of accounts and in channels. */
  readonly reserves: Allowances;
  readonly storage: StorageWatch;
  readonly logId: LogId;
  readonly unasked: UnaskedAdditions;
  /** For parts of requests that take less than a millisecond. */
  readonly turns: FairTurns;
  /** For parts of requests that take milliseconds: one at a time, of whichever account, with pauses between. */
  readonly slowTurns: FairTurns;
  /** The session of an agent that is connected here. */
  sessionOf(agentId: AgentId): Session | undefined;
  /** The agent is connected, here or at another relay. */
  isOnline(agentId: AgentId): boolean;
  /** To the agent's session, wherever it is; lost when it has none. */
  tell<Name extends NoticeName>(agentId: AgentId, operation: Name, body: NoticeBody<Name>): void;
  /** Resolves when all that any relay has answered before the call is known here; undefined for a relay that is alone. */
  catchUp(): Promise<void> | undefined;
  /** Sends requests to join and Welcomes that wait for this session, as far as its link has room. */
  pushWaiting(session: Session): void;
  /** Why an account may not have sessions. */
  suspension(account: AccountId): EndReason | undefined;
  /** Whether an agent is a member of a channel; not asked while there is place for everybody. */
  isMember(agentId: AgentId): Promise<boolean>;
  /** Makes a session that of its agent, in place of an older one; ends it when there is no room for it. */
  adopt(session: Session, agent: Agent, isMember: boolean): void;
  /** Its token says which plan its account has. */
  learnPlan(agent: Agent): void;
  /** Runs it, which appends to the channel, when the account that made the channel has a turn. Counted as waiting. */
  inTurn<Result>(channel: Channel, run: () => Promise<Result>): Promise<Result>;
  /** Something about this channel changed that its queue must be cared for soon. */
  touch(channel: Channel): void;
  /** Makes room in an account that is full, soon. */
  relieve(account: AccountId, need: Need): void;
}

export interface Asker {
  readonly core: CoreParts;
  readonly session: Session;
  /** Sent as a notice: wants no reply. */
  readonly quiet: boolean;
}

/** The asker after authentication. */
export interface AgentAsker extends Asker {
  readonly agent: Agent;
}

/** Rejects with `Refusal`, or a `WireError` of the contract, for an expected no. */
export type Handler<Name extends CallName, By extends Asker = AgentAsker> = (
  asker: By,
  body: RequestBody<Name>,
) => ReplyBody<Name> | Promise<ReplyBody<Name>>;
