/**
 * The unit of sending: one message, or several that waited at the same time. Once the relay may
 * have seen it, its id, its messages and their order stay the same through every retry.
 */
import {
  bundledHeadBytes,
  type CounterRange,
  maxBundleBytes,
  maxBundledMessages,
  type MessageId,
} from "../../../proto/mod.ts";
import type { SendRefusal } from "./obstacles.ts";

/**
 * Messages that a program gave its host as one, under an id that the program chose. They go as one
 * bundle of that id. A program that gives them to the next host again gets them sent once: the
 * relay is asked whether the bundle stands in its log, and if it does not, each message goes under
 * its own id, which the relay takes once.
 */
export interface SendGroup {
  readonly id: MessageId;
  /** How many messages it has. */
  readonly size: number;
  /** A host before this one may have sent it, as one or in parts. */
  readonly isAgain: boolean;
}

/**
 * A message until the relay has it, or nobody wants it sent any more. `M`: the content, and who
 * waits for it.
 */
export interface OutgoingMessage<M> {
  /** Grows with every message: none leaves before those that were given before it. */
  readonly order: number;
  readonly id: MessageId;
  readonly given: M;
  /** The length of its content. */
  readonly bytes: number;
  /** As much is filled up so that the fields of its content do not show. */
  readonly slackBytes: number;
  /** When its caller is told that it failed. One that is queued has no such time. */
  readonly untilMs: number;
  /** The messages that its caller gave with it, as one. */
  readonly group: SendGroup | undefined;
  /** Its id is the caller's: the relay may have it of an earlier process. */
  readonly mayBeKnown: boolean;
  /**
   * `freely`: with others that wait. `alone`: the relay knows it by its own id. `whole`: with all
   * of its group, or like each of them alone. `again`: the same, and the relay is asked first.
   */
  goes: "freely" | "alone" | "whole" | "again";
  /**
   * `told`: that it waits in the queue. `gone`: it has given up, and what the relay does not have
   * is not sent.
   */
  caller: "waits" | "told" | "gone";
}

export interface Bundle<M> {
  /** A message that goes alone keeps its own id, so that the relay takes that id once. */
  readonly id: MessageId;
  readonly messages: readonly OutgoingMessage<M>[];
  made: CountedBundle | undefined;
  fate: BundleFate;
}

/** The bytes that lie under counters of ours. */
export interface CountedBundle {
  /** The counter of the first message; the others have those that follow. */
  readonly first: number;
  /** The membership that they belong to. */
  readonly life: number;
  /** Earlier counters that it tells as gone. */
  gone: CounterRange | undefined;
  sealed: SealedBundle | undefined;
}

export interface SealedBundle {
  readonly epoch: number;
  readonly message: Uint8Array;
}

export type BundleFate =
  /** The relay does not have it; perhaps it had no room. */
  | { readonly at: "unsent"; readonly noRoom: SendRefusal | undefined }
  /** `since`: as below, of an earlier copy. */
  | { readonly at: "under_way"; readonly call: number; readonly since: number | undefined }
  /**
   * No answer came. It may stand in the log under its counter of the membership in which it was
   * given to the relay first.
   */
  | { readonly at: "may_stand"; readonly since: number };

export const unsent: BundleFate = Object.freeze({ at: "unsent", noRoom: undefined });

export interface BundlingOptions {
  /** Whether messages may go together at all. */
  readonly mayBundle: boolean;
  readonly newId: () => MessageId;
}

export function isQueued({ untilMs }: OutgoingMessage<unknown>): boolean {
  return untilMs === Infinity;
}

/** The first that waits, and those behind it that fit. */
export function formBundle<M>(
  waiting: readonly OutgoingMessage<M>[],
  { mayBundle, newId }: BundlingOptions,
): Bundle<M> | undefined {
  const [first] = waiting;
  if (first === undefined) return undefined;
  const whole = mayBundle ? wholeGroup(waiting) : undefined;
  const messages = whole ?? (mayBundle && first.group === undefined ? fitting(waiting) : [first]);
  const id = whole !== undefined && first.group !== undefined
    ? first.group.id
    : messages.length === 1
    ? first.id
    : newId();
  return { id, messages, made: undefined, fate: unsent };
}

/** All of what was given as one. Undefined when some of it is missing, or does not fit in one. */
function wholeGroup<M>(waiting: readonly OutgoingMessage<M>[]): OutgoingMessage<M>[] | undefined {
  const group = waiting[0]?.group;
  if (group === undefined) return undefined;
  const messages = waiting.slice(0, group.size).filter((each) =>
    each.group === group && each.goes !== "alone"
  );
  return messages.length === group.size && fitting(messages).length === group.size
    ? messages
    : undefined;
}

function fitting<M>(waiting: readonly OutgoingMessage<M>[]): OutgoingMessage<M>[] {
  const messages: OutgoingMessage<M>[] = [];
  let bytes = 0;
  for (const message of waiting) {
    bytes += bundledHeadBytes + message.bytes + message.slackBytes;
    const fits = messages.length < maxBundledMessages && bytes <= maxBundleBytes &&
      message.goes !== "alone";
    const isOther = message.group !== messages[0]?.group;
    if (messages.length > 0 && (!fits || isOther)) break;
    messages.push(message);
    if (!fits) break;
  }
  return messages;
}

/** The place of a bundle among others, and among messages. */
export function orderOf({ messages }: Bundle<unknown>): number {
  return messages[0]?.order ?? 0;
}

/** Undefined before it has any. */
export function countersOf({ made, messages }: Bundle<unknown>): CounterRange | undefined {
  return made && { first: made.first, count: messages.length };
}

/** The relay may have it, now or since an earlier copy. */
export function mayStand({ fate }: Bundle<unknown>): boolean {
  return fate.at === "may_stand" || (fate.at === "under_way" && fate.since !== undefined);
}

export function isAbandoned({ messages }: Bundle<unknown>): boolean {
  return messages.every(({ caller }) => caller === "gone");
}
