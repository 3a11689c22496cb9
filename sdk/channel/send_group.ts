/**
 * Messages that a program gave its host as one, under an id that the program chose. They go as one bundle of that id. A program that
 * gives them to the next host again gets them sent once: the relay is asked whether the bundle stands in its log, and if it does
 * not, each message goes under its own id, which the relay takes once.
 */
import type { MessageId } from "../../proto/mod.ts";

export interface SendGroup {
  readonly id: MessageId;
  /** How many messages it has. */
  readonly size: number;
  /** A host before this one may have sent it, as one or in parts. Nobody has asked the relay yet. */
  isAgain: boolean;
  /** Each of its messages goes alone. */
  isApart: boolean;
}
