/**
 * The receipts that this agent owes: what became here of messages whose senders asked. It is plain
 * data, and `stepOwed` alone changes it.
 */
import type { AgentId, MessageId, Receipt, ReceiptState } from "../../../proto/mod.ts";

export interface ReceiptDebt {
  readonly id: MessageId;
  readonly asker: AgentId;
  readonly state: ReceiptState;
  /** All that read here are done with the message: it does not come again. */
  readonly isAcknowledged: boolean;
  /**
   * `noted`: it is not on disk yet. `due`: it is. `told`: the relay has it; kept while a program
   * may say more, or while the message may come again.
   */
  readonly at: "noted" | "due" | "told";
  /** When the debt began, by the local clock. */
  readonly sinceMs: number;
}

/** One receipt at a time. */
export type TellingStage =
  /** Nothing is due, or nothing may be sent. */
  | { readonly at: "resting" }
  /** Others may become due, and nobody can tell from the time what was acknowledged when. */
  | { readonly at: "collecting"; readonly timer: number }
  /** A receipt is on its way to the relay. */
  | {
    readonly at: "sending";
    readonly call: number;
    readonly debts: readonly ReceiptDebt[];
    readonly failures: number;
  }
  /** After one, or until it is tried again. */
  | { readonly at: "pausing"; readonly timer: number; readonly failures: number };

export interface OwedState {
  /** The debts by message and asker, the oldest first: senders choose the ids of their messages. */
  readonly debts: Map<string, ReceiptDebt>;
  telling: TellingStage;
  /** The last number that was given to a call or a timer. */
  numbers: number;
}

/** Knowledge of others at the moment of a step. */
export interface OwedFacts {
  readonly nowMs: number;
  /** The channel works, this agent may speak in it, and all its members read receipts. */
  readonly mayTell: boolean;
  readonly isMember: (agentId: AgentId) => boolean;
  /** At random. */
  readonly collectMs: number;
  /** Until the account's plan has room for one. */
  readonly budgetMs: number;
}

export type OwedEvent =
  /** A program is done with a message whose sender asked. `isLast`: it does not come again. */
  | {
    readonly type: "acknowledged";
    readonly id: MessageId;
    readonly asker: AgentId;
    readonly isLast: boolean;
  }
  /** The program says it, or its time was over. `isHere`: not everybody has acknowledged it. */
  | {
    readonly type: "said";
    readonly id: MessageId;
    readonly asker: AgentId;
    readonly state: ReceiptState;
    readonly isHere: boolean;
  }
  /** These are on disk, as they were then. */
  | { readonly type: "written"; readonly debts: readonly ReceiptDebt[] }
  /** The permit, the members or what they read may have changed. */
  | { readonly type: "look" }
  /** The relay has accepted the receipt. */
  | { readonly type: "accepted"; readonly call: number }
  /** The relay has refused the receipt. `waitMs`: as long as it asks to wait. */
  | { readonly type: "refused"; readonly call: number; readonly waitMs: number }
  /** Another membership: what was not on disk never will be. */
  | { readonly type: "entered" }
  /** A timer has run out: what is due is told, or tried again. */
  | { readonly type: "time"; readonly timer: number };

export type OwedEffect =
  | { readonly type: "wake"; readonly timer: number; readonly afterMs: number }
  | {
    readonly type: "send";
    readonly call: number;
    readonly asker: AgentId;
    readonly receipts: readonly Receipt[];
  }
  /** These have changed: what is known of them goes to disk, with whatever is written next. */
  | { readonly type: "note"; readonly keys: readonly string[] };

export function keyOf({ id, asker }: Pick<ReceiptDebt, "id" | "asker">): string {
  return `${id}.${asker}`;
}

/** Restores the debts that are on disk when a process starts. */
export function restoreOwed(debts: readonly ReceiptDebt[]): OwedState {
  const sorted = debts.toSorted((one, other) => one.sinceMs - other.sinceMs);
  return {
    debts: new Map(sorted.map((debt) => [keyOf(debt), debt])),
    telling: { at: "resting" },
    numbers: 0,
  };
}

export function timersOf({ telling }: OwedState): readonly (number | undefined)[] {
  return ["timer" in telling ? telling.timer : undefined];
}
