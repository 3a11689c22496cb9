/**
 * Sends idle sessions to other relays when this one has too many (`balance.ts`), and says what this
 * relay has to the others. An agent that comes straight back stays: it knows no other relay, or
 * found none that takes it.
 */
import { type AgentId, RecentMap } from "../../../proto/mod.ts";
import type { CoreConfig } from "../config.ts";
import type { CoreDeps } from "../deps.ts";
import type { RelayLoad } from "../relay_load.ts";
import { type Balance, startBalance, step } from "./balance.ts";
import type { Session } from "./session.ts";

export interface MovingBackHost {
  readonly config: Pick<CoreConfig, "maxSessions">;
  readonly deps: Pick<CoreDeps, "after" | "cluster" | "elapsedMs" | "meter" | "nowMs">;
  /** Sessions that have an agent, the oldest first. */
  withAgents(): Iterable<Session>;
  readonly countOfAgents: number;
  /** New ones are taken, with all that they bring. */
  readonly hasRoom: boolean;
  /** The relay does not stop, is not busy, and nothing that it asked for waits for long. */
  readonly isWell: boolean;
}

const lookMs = 1_000;
/** A relay that begins is full after so long, and steady before: agents of others find it first. */
const risingMs = 60_000;
const steadyMs = 30_000;
/** A session is moved once in this time. */
export const movedAgainMs = 10 * 60_000;
/** A session is idle when it has asked for nothing for so long. */
const idleMs = 2_000;
/** One that came back within this time stays for this time. */
const [returnMs, stayMs] = [60_000, 60 * 60_000];
const maxKnown = 10_000;

export class MovingBack {
  readonly #host: MovingBackHost;
  readonly #beganMs: number;
  #balance: Balance = startBalance;
  readonly #usedMs = new WeakMap<Session, number>();
  /** When agents were sent away, and until when those that came back stay. */
  readonly #sentMs = new RecentMap<AgentId, number>();
  readonly #stays = new RecentMap<AgentId, number>();
  #cancel: () => void = () => {};

  constructor(host: MovingBackHost) {
    this.#host = host;
    this.#beganMs = host.deps.elapsedMs();
    if (host.deps.cluster !== undefined) this.#lookLater();
  }

  /** The load that the other relays are told. */
  get load(): RelayLoad {
    const { config: { maxSessions }, countOfAgents, hasRoom, isWell, deps } = this.#host;
    const ageMs = deps.elapsedMs() - this.#beganMs;
    const capacity = hasRoom ? Math.floor(maxSessions * Math.min(1, ageMs / risingMs)) : 0;
    const isSending = this.#balance.state.kind === "sending";
    const isSteady = isWell && ageMs >= steadyMs;
    return { sessions: countOfAgents, hasRoom, capacity, isSteady, isSending };
  }

  /** The session has asked for something. */
  used(session: Session): void {
    if (this.#host.deps.cluster !== undefined) {
      this.#usedMs.set(session, this.#host.deps.elapsedMs());
    }
  }

  /** The agent has a session here. */
  came(agentId: AgentId): void {
    const sentMs = this.#sentMs.get(agentId);
    if (sentMs === undefined) return;
    const nowMs = this.#host.deps.elapsedMs();
    this.#sentMs.delete(agentId);
    if (nowMs - sentMs < returnMs) remember(this.#stays, agentId, nowMs);
  }

  stop(): void {
    this.#cancel();
  }

  #lookLater(): void {
    this.#cancel = this.#host.deps.after(lookMs, () => {
      this.#look();
      this.#lookLater();
    });
  }

  #look(): void {
    const { deps: { cluster, elapsedMs } } = this.#host;
    const look = { nowMs: elapsedMs(), own: this.load, others: cluster?.others() ?? [] };
    const { balance, send } = step(this.#balance, look);
    this.#balance = balance;
    let left = send;
    for (const session of this.#host.withAgents()) {
      if (left === 0) return;
      if (this.#mayGo(session)) left -= Number(this.#send(session));
    }
  }

  #mayGo(session: Session): boolean {
    const { agent } = session;
    const { cluster, elapsedMs, nowMs } = this.#host.deps;
    // A caller of typed calls has no connection on which it could be told.
    if (agent === undefined || session.link.transport === "typed" || !session.isQuiet) return false;
    if (elapsedMs() - (this.#usedMs.get(session) ?? -Infinity) < idleMs) return false;
    if (elapsedMs() - (this.#stays.get(agent.agentId) ?? -Infinity) < stayMs) return false;
    // Clocks of relays may differ, and be set.
    const movedMs = cluster?.movedMs(agent.agentId);
    return movedMs === undefined || Math.abs(nowMs() - movedMs) >= movedAgainMs;
  }

  /** Returns whether it went. */
  #send(session: Session): boolean {
    const { agent } = session;
    const { cluster, meter, elapsedMs, nowMs } = this.#host.deps;
    if (agent?.session === undefined) return false;
    meter.sessionsMoved++;
    remember(this.#sentMs, agent.agentId, elapsedMs());
    cluster?.moved(agent.agentId, nowMs());
    session.end({
      code: "relay_draining",
      message: "Another relay has more room for this session",
      retryAfterMs: 0,
    });
    return true;
  }
}

function remember(map: RecentMap<AgentId, number>, agentId: AgentId, nowMs: number): void {
  map.set(agentId, nowMs);
  const [oldest] = map.keys();
  if (map.size > maxKnown && oldest !== undefined) map.delete(oldest);
}
