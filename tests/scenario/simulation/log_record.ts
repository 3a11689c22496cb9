/**
 * The relay's log as it stands: the place of each message, and the members and owners that its
 * commits make of each epoch.
 */
import type { AgentId, MessageId } from "../../../proto/mod.ts";
import {
  decodeCommitBody,
  decodeFoundingBody,
  decodeMessageBody,
} from "../../../relay/core/testing/world.ts";
import type { Entry } from "../../../relay/engine/mod.ts";

/** Where a message stands. */
export interface MessagePlace {
  readonly sequence: number;
  readonly epoch: number;
  readonly sender: AgentId;
}

/** The group of an epoch, as far as the log shows it. */
export interface LoggedGroup {
  readonly members: ReadonlySet<AgentId>;
  readonly owners: readonly AgentId[];
}

export class LogRecord {
  readonly #founder: AgentId;
  readonly #places = new Map<MessageId, MessagePlace>();
  readonly #messages = new Map<number, MessagePlace>();
  readonly #groups = new Map<number, LoggedGroup>();
  #epoch = 0;

  constructor(founder: AgentId) {
    this.#founder = founder;
    this.#begin();
  }

  appended(entry: Entry): void {
    const { kind, epoch, sequence, sender } = entry;
    if (kind === "message") {
      const place = { sequence, epoch, sender };
      this.#places.set(decodeMessageBody(entry).messageId, place);
      this.#messages.set(sequence, place);
    }
    if (kind === "commit") {
      const { added, removed, owners } = decodeCommitBody(entry);
      const before = this.group();
      const staying = [...before?.members ?? []].filter((agentId) => !removed.includes(agentId));
      this.#move(epoch + 1, {
        members: new Set([...staying, ...added]),
        owners: owners?.agentIds ?? before?.owners ?? [],
      });
    }
    if (kind === "founding") {
      // Commits since its base are undone.
      const { founding: { members, owners } } = decodeFoundingBody(entry);
      this.#move(epoch + 1, { members: new Set(members), owners });
    }
  }

  /** The log begins anew: all entries that are left come again. */
  restart(): void {
    for (const known of [this.#places, this.#messages, this.#groups]) known.clear();
    this.#begin();
  }

  get epoch(): number {
    return this.#epoch;
  }

  /**
   * Of the present epoch, or of an earlier one; undefined for an epoch that the log does not have.
   */
  group(epoch = this.#epoch): LoggedGroup | undefined {
    return this.#groups.get(epoch);
  }

  /** Messages that were sent as one have ids of their own, and the place of the whole. */
  placeOf(id: MessageId, told: number): MessagePlace | undefined {
    return this.#places.get(id) ?? this.#messages.get(told);
  }

  #begin(): void {
    this.#move(0, { members: new Set([this.#founder]), owners: [this.#founder] });
  }

  #move(epoch: number, group: LoggedGroup): void {
    this.#epoch = epoch;
    this.#groups.set(epoch, group);
  }
}
