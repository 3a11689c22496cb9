/** How far each member has consumed its channel's log. */
import type { AgentId, ChannelId } from "../../proto/mod.ts";
import type { ChannelHeads } from "./channel_heads.ts";
import type { Database, Statement } from "./database.ts";
import type { Cursor, CursorMove } from "./engine.ts";
import { bytesPerMember, type LogBytes } from "./log_bytes.ts";

interface CursorsDeps {
  readonly heads: ChannelHeads;
  readonly logBytes: LogBytes;
}

export class CursorTable {
  readonly #heads: ChannelHeads;
  readonly #logBytes: LogBytes;
  readonly #all: Statement<{ agent: AgentId; consumed: number; acknowledged: number }>;
  readonly #move: Statement;
  readonly #drop: Statement;

  constructor(database: Database, { heads, logBytes }: CursorsDeps) {
    this.#heads = heads;
    this.#logBytes = logBytes;
    this.#all = database.prepare(
      "SELECT agent, consumed, acknowledged FROM cursor WHERE channel = ? ORDER BY agent",
    );
    // Only a cursor that is there: a late acknowledgement must not bring back one that was dropped.
    this.#move = database.prepare(`
      UPDATE cursor SET
        joining = CASE WHEN consumed < ?1 THEN NULL ELSE joining END,
        consumed = max(consumed, ?1),
        acknowledged = max(acknowledged, ?4)
      WHERE channel = ?2 AND agent = ?3 AND (consumed < ?1 OR acknowledged < ?4)`);
    // Not the cursor of an agent that was added again while the call was under way: that one
    // belongs to its new membership.
    this.#drop = database.prepare(`
      DELETE FROM cursor WHERE channel = ?1 AND agent = ?2 AND
        NOT EXISTS (SELECT 1 FROM listing WHERE agent = ?2 AND channel_id = ?3)`);
  }

  all(channelId: ChannelId): ReadonlyMap<AgentId, Cursor> {
    const channel = this.#heads.find(channelId);
    const rows = channel === undefined ? [] : this.#all.all(channel.number);
    return new Map(
      rows.map(({ agent, consumed, acknowledged }) => [agent, { consumed, acknowledged }]),
    );
  }

  /** Returns false when a position is beyond the log: that one stays. */
  move(channelId: ChannelId, moves: readonly CursorMove[]): boolean {
    const channel = this.#heads.find(channelId);
    if (channel === undefined) return true;
    let isWithin = true;
    for (const [agentId, { consumed, acknowledged }] of moves) {
      if (Math.max(consumed, acknowledged) > channel.head) isWithin = false;
      else this.#move.run(consumed, channel.number, agentId, acknowledged);
    }
    return isWithin;
  }

  drop(channelId: ChannelId, agentId: AgentId): void {
    const channel = this.#heads.find(channelId);
    if (channel === undefined) return;
    const dropped = this.#drop.run(channel.number, agentId, channelId);
    this.#logBytes.changed(channel, -dropped * bytesPerMember, false);
  }
}
