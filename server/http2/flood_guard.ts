/**
 * Actions that a peer may repeat often but not endlessly, counted for its connection and for its
 * address. Each method throws the ConnectionError that ends a flood.
 */
import { Bucket } from "../limits/mod.ts";
import { ConnectionError, ErrorCode } from "../../proto/http2/mod.ts";
import type { Budgets } from "./budgets.ts";
import type { RequestStanding } from "./handler.ts";
import type { CallAdmission, PeerBudget } from "./peer_budgets.ts";

/** A DATA frame, either way, pays for the WINDOW_UPDATE and PING frames that come with it. */
const controlFramesPerData = 3;

export class FloodGuard {
  readonly #controlFrames: Bucket;
  readonly #emptyFrames: Bucket;
  readonly #resets: Bucket;
  readonly #peer: PeerBudget;
  readonly #now: () => number;
  #isMember = false;

  constructor(budgets: Budgets, peer: PeerBudget, now: () => number) {
    this.#peer = peer;
    this.#now = now;
    this.#controlFrames = new Bucket(budgets.controlFrames);
    this.#emptyFrames = new Bucket(budgets.emptyFrames);
    this.#resets = new Bucket(budgets.resets);
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
    const isAllowed = this.#controlFrames.take(this.#now(), amount) === undefined &&
      (this.#isMember || this.#peer.spendFrames(amount));
    if (!isAllowed) throw this.#offence("control frames");
  }

  emptyFrame(): void {
    if (this.#emptyFrames.take(this.#now()) !== undefined) throw this.#offence("empty DATA frames");
  }

  /** A stream that the peer reset or made us reset: work was begun for nothing. */
  reset(): void {
    const isAllowed = this.#resets.take(this.#now()) === undefined &&
      this.#peer.spendReset(this.#isMember);
    if (!isAllowed) throw this.#offence("streams were reset");
  }

  dataFrame(): void {
    this.#controlFrames.giveBack(controlFramesPerData);
    if (!this.#isMember) this.#peer.giveBackFrames(controlFramesPerData);
  }

  begin(standing: RequestStanding, end: () => void): CallAdmission {
    return this.#peer.begin(standing, end);
  }

  #offence(what: string): ConnectionError {
    this.#peer.offend();
    return tooMany(what);
  }
}

function tooMany(what: string): ConnectionError {
  return new ConnectionError(ErrorCode.enhanceYourCalm, `Too many ${what}`);
}
