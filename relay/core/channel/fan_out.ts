/**
 * Tells the readers of a channel that there is something new, some of them at a time: for a
 * thousand readers that takes milliseconds. The channel's account has turns for it, as for its
 * requests. Messages that come meanwhile go with the next round, so a channel with much to say
 * wakes its readers less often, and each takes more at once.
 */
import type { AccountId } from "../../../proto/mod.ts";
import type { FairTurns, WorkCost } from "../limits/fair_turns.ts";
import type { Subscription } from "./subscription.ts";

export interface FanOutHost {
  readonly turns: Pick<FairTurns, "run">;
  /** A reader could not be told. */
  readonly onFault: (error: unknown) => void;
}

/** About a third of a millisecond. */
export const readersAtOnce = 32;
const readerCost: WorkCost = 10;

type ChannelReaders = ReadonlyMap<unknown, Pick<Subscription, "wake">>;

export class FanOut {
  readonly #host: FanOutHost;
  readonly #account: AccountId;
  readonly #readers: ChannelReaders;
  /** Readers of this round that have not been told yet. */
  #round: Iterator<Pick<Subscription, "wake">> | undefined;
  /** Something came after the round had begun. */
  #again = false;

  constructor(host: FanOutHost, account: AccountId, readers: ChannelReaders) {
    this.#host = host;
    this.#account = account;
    this.#readers = readers;
  }

  /** There is something new. */
  begin(): void {
    if (this.#round !== undefined) this.#again = true;
    else if (this.#readers.size > 0) this.#goOn(this.#readers.values());
  }

  #goOn(round: Iterator<Pick<Subscription, "wake">>): void {
    this.#round = round;
    const cost = Math.min(readersAtOnce, this.#readers.size) * readerCost;
    this.#host.turns.run(this.#account, cost, () => this.#wakeSome(round));
  }

  #wakeSome(round: Iterator<Pick<Subscription, "wake">>): void {
    for (let told = 0; told < readersAtOnce; told++) {
      const next = round.next();
      if (next.done === true) return this.#end();
      try {
        next.value.wake();
      } catch (error) {
        this.#host.onFault(error);
      }
    }
    this.#goOn(round);
  }

  #end(): void {
    this.#round = undefined;
    if (!this.#again) return;
    this.#again = false;
    this.begin();
  }
}
