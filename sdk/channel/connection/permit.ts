/** The two ends of a judgement about a connection: we may act, or there is a doubt. */
import type { ReplyBody } from "../../../proto/mod.ts";

declare const made: unique symbol;

/**
 * This connection has shown that we may act under our present leaf. `judgeConnection` alone makes
 * one.
 */
export interface Permit {
  readonly [made]: true;
  /** Different for each one. */
  readonly number: number;
}

/**
 * Why we may not act: what the relay says of its log, of us, of our store, or of how long we were
 * away.
 */
export interface Doubt {
  readonly by: "log" | "word" | "store" | "lapse";
  readonly reason: string;
  /** The last thing of ours that the relay knows. */
  readonly sent?: ReplyBody<"Subscribe">["sent"];
}
