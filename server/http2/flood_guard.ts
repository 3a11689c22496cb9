/**
 * Actions that a peer may repeat often but not endlessly, counted for its connection and for its address. Each method throws the
 * ConnectionError that ends a flood.
 */
import { type Budgets, RateBudget } from "./budgets.ts";
import { ConnectionError, ErrorCode } from "./errors.ts";
import type { PeerBudget } from "./peer_budgets.ts";

/** A DATA frame, either way, pays for the WINDOW_UPDATE and PING frames that come with it. */
const controlFramesPerData = 3;

export class FloodGuard {
  readonly #controlFrames: RateBudget;
  readonly #emptyFrames: RateBudget;
  readonly #resets: RateBudget;
  readonly #peer: PeerBudget;
  #isMember = false;

  constructor(budgets: Budgets, peer: PeerBudget, now: () => number) {
    this.#peer = peer;
    this.#controlFrames = new RateBudget(budgets.controlFrames, now);
    this.#emptyFrames = new RateBudget(budgets.emptyFrames, now);
    this.#resets = new RateBudget(budgets.resets, now);
  }

  /** The application knows whom this connection serves. */
  get isMember(): boolean {
    return this.#isMember;
  }

  vouch(): void {
    this.#isMember = true;
  }

  /** Bytes have come: those of an offender's strangers are not even looked at. */
  received(): void {
    if (!this.#isMember && this.#peer.isOffender) throw tooMany("requests came from this address");
  }

  /** A frame that carries no data and is cheap to send. */
  controlFrame(amount = 1): void {
    const isAllowed = this.#controlFrames.spend(amount) && (this.#isMember || this.#peer.spendFrames(amount));
    if (!isAllowed) throw this.#offence("control frames");
  }

  emptyFrame(): void {
    if (!this.#emptyFrames.spend()) throw this.#offence("empty DATA frames");
  }

  /** A stream that the peer reset or made us reset: work was begun for nothing. */
  reset(): void {
    if (!this.#resets.spend() || !this.#peer.spendReset(this.#isMember)) throw this.#offence("streams were reset");
  }

  dataFrame(): void {
    this.#controlFrames.giveBack(controlFramesPerData);
    if (!this.#isMember) this.#peer.giveBackFrames(controlFramesPerData);
  }

  /** False when a stranger's call must be refused. */
  admitsCall(): boolean {
    return this.#peer.admitsCall();
  }

  /** Work for a stranger goes on until `handlerEnded`, also when its stream is gone. */
  handlerStarted(): void {
    this.#peer.handlerStarted();
  }

  handlerEnded(): void {
    this.#peer.handlerEnded();
  }

  #offence(what: string): ConnectionError {
    this.#peer.offend();
    return tooMany(what);
  }
}

function tooMany(what: string): ConnectionError {
  return new ConnectionError(ErrorCode.enhanceYourCalm, `Too many ${what}`);
}
