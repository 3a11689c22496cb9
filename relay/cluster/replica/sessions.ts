/**
 * Which agent has its session where: an agent has one, at one relay, and the newest one counts.
 * Sessions are numbered by the position in the log at which they began, so every relay agrees on
 * which is newer, and what an older one still sends is void.
 */
import { type AgentId, parseAgentId } from "../../../proto/mod.ts";
import type { ReplicaStore } from "../../engine/mod.ts";

interface SessionRecord {
  readonly session: number;
  readonly relay: string;
  readonly writer: string;
  readonly timeMs: number;
  readonly isOpen: boolean;
  /** When a relay sent the agent to another one last. */
  readonly movedMs: number | undefined;
}

interface SessionPlaceRow {
  agent: string;
  session: number;
  relay: string;
  writer: string;
  time_ms: number;
  is_open: number;
  moved_ms: number | null;
}

interface SessionStart {
  readonly writer: string;
  readonly relay: string;
  readonly position: number;
  readonly timeMs: number;
  /** The last entry that the relay had read when the agent asked. */
  readonly behind: number;
}

type SessionWrite = { run(...values: (string | number | null | Uint8Array)[]): number };

export class ReplicaSessions {
  readonly #places = new Map<AgentId, SessionRecord>();
  #changed = new Set<AgentId>();
  readonly #put: SessionWrite;
  readonly #delete: SessionWrite;

  constructor(database: ReplicaStore["database"]) {
    database.prepare(`
      CREATE TABLE IF NOT EXISTS session (
        agent TEXT PRIMARY KEY, session INTEGER NOT NULL, relay TEXT NOT NULL, writer TEXT NOT NULL,
        time_ms INTEGER NOT NULL, is_open INTEGER NOT NULL, moved_ms INTEGER
      ) STRICT, WITHOUT ROWID`).run();
    this.#put = database.prepare("INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?, ?)");
    this.#delete = database.prepare("DELETE FROM session WHERE agent = ?");
    for (const row of database.prepare<SessionPlaceRow>("SELECT * FROM session").all()) {
      const { agent, session, relay, writer, time_ms: timeMs, is_open, moved_ms } = row;
      this.#places.set(parseAgentId(agent), {
        session,
        relay,
        writer,
        timeMs,
        isOpen: is_open === 1,
        movedMs: moved_ms ?? undefined,
      });
    }
  }

  /**
   * Returns the session's number. Several may begin at one position: the later one is higher by a
   * part. Undefined when it does not begin: its agent has begun another one elsewhere since it
   * asked for this one, or the relay was behind the log.
   */
  begin(
    agentId: AgentId,
    { writer, relay, position, timeMs, behind }: SessionStart,
  ): number | undefined {
    const place = this.#places.get(agentId);
    const unread = (behind + 1) * sessionsPerPosition;
    if (place?.isOpen && place.writer !== writer && place.session >= unread) return undefined;
    const session = Math.max(position * sessionsPerPosition, (place?.session ?? 0) + 1);
    const movedMs = place?.movedMs;
    this.#set(agentId, { session, relay, writer, timeMs, isOpen: true, movedMs });
    return session;
  }

  /** Returns whether it was the agent's newest. */
  end(agentId: AgentId, session: number): boolean {
    const place = this.#places.get(agentId);
    if (place?.session !== session || !place.isOpen) return false;
    this.#set(agentId, { ...place, isOpen: false });
    return true;
  }

  /** The move may be of any of the agent's sessions: the next one may have begun already. */
  moved(agentId: AgentId, timeMs: number): void {
    const place = this.#places.get(agentId);
    if (place !== undefined) this.#set(agentId, { ...place, movedMs: timeMs });
  }

  movedMs(agentId: AgentId): number | undefined {
    return this.#places.get(agentId)?.movedMs;
  }

  /** Ends those of a relay's lives but this one; returns whose they were. */
  endAll(relay: string, except?: string): AgentId[] {
    const ended: AgentId[] = [];
    for (const [agentId, place] of this.#places) {
      if (!place.isOpen || place.relay !== relay || place.writer === except) continue;
      this.#set(agentId, { ...place, isOpen: false });
      ended.push(agentId);
    }
    return ended;
  }

  isReplaced(agentId: AgentId, session: number): boolean {
    return (this.#places.get(agentId)?.session ?? 0) > session;
  }

  placeOf(
    agentId: AgentId,
  ): { readonly session: number; readonly relay: string; readonly writer: string } | undefined {
    const place = this.#places.get(agentId);
    return place?.isOpen ? place : undefined;
  }

  /** Relays that have sessions. */
  relays(): Set<string> {
    return new Set(
      [...this.#places.values()].filter(({ isOpen }) => isOpen).map(({ relay }) => relay),
    );
  }

  /** Forgets the sessions that ended long ago: what they sent has come, or never will. */
  forget(beforeMs: number): void {
    for (const [agentId, { isOpen, timeMs }] of this.#places) {
      if (isOpen || timeMs >= beforeMs) continue;
      this.#places.delete(agentId);
      this.#changed.add(agentId);
    }
  }

  takeChanged(): readonly [AgentId, SessionRecord | undefined][] {
    const changed = [...this.#changed].map((
      agentId,
    ): [AgentId, SessionRecord | undefined] => [agentId, this.#places.get(agentId)]);
    this.#changed = new Set();
    return changed;
  }

  /** Inside a group. */
  write(changed: readonly [AgentId, SessionRecord | undefined][]): void {
    for (const [agentId, place] of changed) {
      if (place === undefined) this.#delete.run(agentId);
      else {this.#put.run(
          agentId,
          place.session,
          place.relay,
          place.writer,
          place.timeMs,
          Number(place.isOpen),
          place.movedMs ?? null,
        );}
    }
  }

  #set(agentId: AgentId, place: SessionRecord): void {
    this.#places.set(agentId, place);
    this.#changed.add(agentId);
  }
}

/** More than a batch has commands. */
const sessionsPerPosition = 1024;
