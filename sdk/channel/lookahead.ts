/**
 * Looks for requests and replies among messages that were passed over because nobody reads, so that a handler does not
 * starve behind them. Those found are handed on at once. The position in the log stays before the messages, so
 * everything is read once more when there is room, and after a crash.
 */
import type { AgentId, NoticeBody } from "../../proto/mod.ts";
import { isHandedOn } from "../content/incoming.ts";
import { ChainForks } from "../mls/chain_forks.ts";
import type { InboxRunner } from "./runner/inbox_runner.ts";
import type { Intake } from "./intake.ts";
import type { Membership } from "./membership.ts";

export interface LookaheadParts {
  readonly membership: Membership;
  readonly inbox: InboxRunner;
  readonly intake: Intake;
  readonly agentId: AgentId;
}

export class Lookahead {
  readonly #parts: LookaheadParts;
  #forks = new ChainForks();
  /** The last entry that was looked at; 0 for none. */
  #through = 0;

  constructor(parts: LookaheadParts) {
    this.#parts = parts;
  }

  /** Each entry is opened once, however often it is passed over. */
  async look(entry: NoticeBody<"DeliverMessage">): Promise<void> {
    const { membership, intake, inbox, agentId } = this.#parts;
    if (entry.sequence <= this.#through) return;
    this.#through = entry.sequence;
    const outcome = await membership.durable.preview(entry.ciphertext, {
      forks: this.#forks,
      sender: entry.sender,
      isWanted: (payload) => isHandedOn(payload, agentId),
    });
    const found = outcome?.kind === "message" ? intake.preview(entry, outcome) : undefined;
    if (found !== undefined) inbox.handAhead(found);
  }

  /** The log is read at this entry, in turn. */
  reached(sequence: number): void {
    if (this.#through > 0 && sequence > this.#through) this.restart();
  }

  /** Nothing that was looked at will come again, or all of it is looked at anew. */
  restart(): void {
    if (this.#through === 0) return;
    this.#through = 0;
    this.#forks = new ChainForks();
    this.#parts.inbox.handedAhead.clear();
  }
}
