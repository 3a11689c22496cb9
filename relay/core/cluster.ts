/**
 * Other relays, as the core sees them: where several relays share a log, an agent may be connected
 * to any of them and change at any moment. Without this port (`CoreDeps.cluster` undefined) a relay
 * is alone, and everything is in its own memory.
 */
import type { AgentId, ChannelId, NoticeBody, NoticeName } from "../../proto/mod.ts";
import type { Cursor } from "../engine/engine.ts";
import type { ConfirmationStatement } from "./channel/confirmations.ts";
import type { JoinRequest, RejoinRequest } from "./channel/pending_joins.ts";
import type { RelayLoad } from "./relay_load.ts";

/** A request to join or rejoin as relays tell each other of it. */
export type SharedJoin = JoinRequest | Omit<RejoinRequest, "leafSenders" | "toldAtMs">;

/** How far a relay had read the log that relays share, and when. */
export interface LogMoment {
  readonly position: number;
  readonly timeMs: number;
}

/** An agent that wants a session here. */
export interface SessionWish {
  /**
   * When it came: the sessions that it has begun elsewhere since are newer than the one that it
   * asks for.
   */
  readonly since: LogMoment;
  /** Returns whether the agent still waits. */
  readonly isWanted: () => boolean;
}

export interface Cluster {
  moment(): LogMoment;
  /**
   * The agent's session is at this relay from here on: what older ones still send is void
   * everywhere. Returns its number. Everything that was accepted anywhere before the call is known
   * here when it resolves. Rejects when the agent has gone, or has begun a session at another relay
   * meanwhile. Without a wish, the agent comes now and waits.
   */
  beginSession(agentId: AgentId, wish?: SessionWish): Promise<number>;
  endSession(agentId: AgentId, session: number): void;
  /**
   * Everything that was accepted anywhere before the call is known here when this resolves. Rejects
   * without a majority.
   */
  catchUp(): Promise<void>;
  /** How long the oldest change that was asked for here has waited for its verdict. */
  waitingMs(): number;
  /** No newer session of the agent is known. */
  isNewest(agentId: AgentId, session: number): boolean;
  /** Another relay says that it takes agents, and has room on its disk. */
  hasRoomElsewhere(): boolean;
  /** The relays that are alive beside this one. */
  others(): readonly RelayLoad[];
  /** The agent was sent to another relay: no relay sends it away again soon. */
  moved(agentId: AgentId, timeMs: number): void;
  /** When a relay sent the agent to another one, by that relay's clock. */
  movedMs(agentId: AgentId): number | undefined;
  /** The agent has a session, here or at another relay. */
  isOnline(agentId: AgentId): boolean;
  /** To the agent's session at another relay; lost when it has none. */
  tell<Name extends NoticeName>(agentId: AgentId, operation: Name, body: NoticeBody<Name>): void;
  shareJoin(request: SharedJoin): void;
  endJoin(requestId: SharedJoin["requestId"]): void;
  confirm(channelId: ChannelId, agentId: AgentId, statement: ConfirmationStatement): void;
  /** Once, before the first session. */
  listen(listener: ClusterListener): void;
}

/** A fault in any of these is reported and costs nothing else. */
export interface ClusterListener {
  /** The agent's session is another one now, at another relay. */
  replaced(agentId: AgentId, session: number): void;
  /** A notice for an agent, if it has its session here. */
  told(agentId: AgentId, operation: NoticeName, body: NoticeBody<NoticeName>): void;
  joinShared(request: SharedJoin): void;
  joinEnded(requestId: SharedJoin["requestId"]): void;
  confirmed(channelId: ChannelId, agentId: AgentId, statement: ConfirmationStatement): void;
  /** A Welcome for these agents is in the log, at whichever relay the channel is in memory. */
  welcomed(channelId: ChannelId, agentIds: readonly AgentId[]): void;
  /** A cursor moved, at whatever relay; undefined: it was dropped. */
  cursorMoved(channelId: ChannelId, agentId: AgentId, cursor: Cursor | undefined): void;
  trimmed(channelId: ChannelId, through: number): void;
  /** Returns the load of this relay, which the others are told. */
  load(): RelayLoad;
  /**
   * Nothing that this relay has asked for was answered for long: its agents may be better off
   * elsewhere.
   */
  stalled(): void;
  /** The relays' KeyPackages are gone. */
  keyPackagesLost(): void;
}
