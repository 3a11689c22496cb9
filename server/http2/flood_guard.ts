/** What a peer may do often but not endlessly. Each method throws the ConnectionError that ends a flood. */
import { type Budgets, RateBudget } from "./budgets.ts";
import { ConnectionError, ErrorCode } from "./errors.ts";

/** A DATA frame, either way, pays for the WINDOW_UPDATE and PING frames that come with it. */
const controlFramesPerData = 3;

export class FloodGuard {
  readonly #controlFrames: RateBudget;
  readonly #emptyFrames: RateBudget;
  readonly #resets: RateBudget;

  constructor(budgets: Budgets, now: () => number) {
    this.#controlFrames = new RateBudget(budgets.controlFrames, now);
    this.#emptyFrames = new RateBudget(budgets.emptyFrames, now);
    this.#resets = new RateBudget(budgets.resets, now);
  }

  /** A frame that carries no data and is cheap to send. */
  controlFrame(amount = 1): void {
    if (!this.#controlFrames.spend(amount)) throw tooMany("control frames");
  }

  emptyFrame(): void {
    if (!this.#emptyFrames.spend()) throw tooMany("empty DATA frames");
  }

  /** A stream that the peer reset or made us reset: work was begun for nothing. */
  reset(): void {
    if (!this.#resets.spend()) throw tooMany("streams were reset");
  }

  dataFrame(): void {
    this.#controlFrames.giveBack(controlFramesPerData);
  }
}

function tooMany(what: string): ConnectionError {
  return new ConnectionError(ErrorCode.enhanceYourCalm, `Too many ${what}`);
}
