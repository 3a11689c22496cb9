/**
 * The unit of sending: one message, or several that waited at the same time. Once the relay may have seen it, its id,
 * its messages and their order stay the same through every retry.
 */
import {
  bundleBytesOf,
  bundledHeadBytes,
  type BundledMessage,
  bundlesCapability,
  type CounterRange,
  decodeContent,
  encodeBundle,
  maxBundleBytes,
  maxBundledMessages,
  type MessageId,
} from "../../proto/mod.ts";
import type { StaticError } from "../base/errors.ts";
import type { Epoch } from "../mls/epoch.ts";
import type { Sealed } from "../mls/group.ts";
import { listsExtension } from "../mls/leaf.ts";
import type { SendGroup } from "./send_group.ts";

/** The result of sending a message. */
export interface Sent {
  /** The message's id, which receivers see too. */
  readonly id: MessageId;
  /** False when it waits in the outbox: the relay cannot be reached now. */
  readonly accepted: boolean;
}

/** A message, until its caller is told what became of it. */
export interface Sending {
  /** Grows with every message: none leaves before those that were given before it. */
  readonly order: number;
  readonly id: MessageId;
  readonly payload: Uint8Array;
  /** As much is filled up so that its fields do not show; see `slackOf`. */
  readonly slackBytes: number;
  /** When its caller is told that it failed. */
  readonly untilMs: number;
  readonly queued: boolean;
  readonly settle: (result: Sent | StaticError) => void;
  settled: boolean;
  /** Its caller has given up: nobody wants it sent any more. */
  isOver: boolean;
  /** The relay knows it by its own id: nothing else goes with it. */
  isAlone: boolean;
  /** It goes with these, and with no others. */
  readonly group: SendGroup | undefined;
  /** Its id is the caller's: the relay may have it of an earlier process. */
  readonly mayBeKnown: boolean;
  /** Undefined while it waits for its turn. */
  bundle: Bundle | undefined;
}

export interface Bundle {
  /** Of a message that goes alone its own, so that the relay takes that once. */
  readonly id: MessageId;
  readonly messages: readonly Sending[];
  /** Of the first of them; the others have those that follow. Undefined until it is sealed, and in a new membership. */
  counter: number | undefined;
  /** The membership that the counter belongs to; see `Counters`. */
  life: number;
  sealed: Sealed | undefined;
  /** Earlier counters that the bundle reports as unused. */
  gone: CounterRange | undefined;
  /** Whether the relay may have it: not after it has said no. */
  tried: boolean;
  /** It carries something else too, which is on its way with it. */
  onSent: (() => void) | undefined;
  /** The membership in which it was given to the relay and no answer came: it may stand in the log under its counter there. */
  mayStandSince: number | undefined;
  /** Why the relay had no room for it when it was last given it. */
  noRoom: StaticError | undefined;
}

/** A request as JSON to two members has 107 bytes of them, its reply fewer. */
const hiddenFieldBytes = 128;

/** Whether every member reads several messages in one. */
export function allReadBundles({ tree }: Pick<Epoch, "tree">): boolean {
  for (const [, { node }] of tree.leaves()) if (!listsExtension(node, bundlesCapability)) return false;
  return true;
}

export interface Bundling {
  /** Whether messages may go together at all. */
  readonly mayBundle: boolean;
  readonly newId: () => MessageId;
}

/** The first that waits, and those behind it that fit. */
export function formBundle(waiting: readonly Sending[], { mayBundle, newId }: Bundling): Bundle | undefined {
  const [first] = waiting;
  if (first === undefined) return undefined;
  const group = mayBundle ? wholeGroup(waiting) : undefined;
  const messages = group ?? (mayBundle && first.group === undefined ? fitting(waiting) : [first]);
  const start = {
    counter: undefined,
    sealed: undefined,
    gone: undefined,
    noRoom: undefined,
    onSent: undefined,
    life: 0,
  };
  const id = group !== undefined && first.group !== undefined
    ? first.group.id
    : messages.length === 1
    ? first.id
    : newId();
  const bundle: Bundle = { id, messages, ...start, tried: false, mayStandSince: undefined };
  for (const message of messages) message.bundle = bundle;
  return bundle;
}

/** All of what was given as one. Undefined when some of it is missing, or does not fit in one. */
function wholeGroup(waiting: readonly Sending[]): Sending[] | undefined {
  const group = waiting[0]?.group;
  if (group === undefined || group.isApart) return undefined;
  const messages = waiting.slice(0, group.size).filter((sending) => sending.group === group && !sending.isAlone);
  return messages.length === group.size && fitting(messages).length === group.size ? messages : undefined;
}

function fitting(waiting: readonly Sending[]): Sending[] {
  const messages: Sending[] = [];
  let bytes = 0;
  for (const sending of waiting) {
    bytes += bundledHeadBytes + sending.payload.length + sending.slackBytes;
    const fits = messages.length < maxBundledMessages && bytes <= maxBundleBytes && !sending.isAlone;
    const isOther = sending.group !== messages[0]?.group;
    if (messages.length > 0 && (!fits || isOther)) break;
    messages.push(sending);
    if (!fits) break;
  }
  return messages;
}

export function plaintextOf({ messages }: Bundle): Uint8Array {
  return sealable(messages.map(({ id, payload }) => ({ id, plaintext: payload })));
}

/** With something more in the first message. Undefined when there is no room for it. */
export function fullerPlaintextOf({ messages }: Bundle, first: Uint8Array): Uint8Array | undefined {
  const parts = messages.map(({ id, payload }, i) => ({ id, plaintext: i === 0 ? first : payload }));
  return parts.length > 1 && bundleBytesOf(parts) > maxBundleBytes ? undefined : sealable(parts);
}

function sealable(parts: readonly BundledMessage[]): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only.plaintext : encodeBundle(parts);
}

/** Up to here the fields of contents do not show: a payload with fewer, or none, is filled up as if it had so many. */
export function slackBytesOf({ messages }: Bundle): number {
  return messages.reduce((sum, { slackBytes }) => sum + slackBytes, 0);
}

/** Of one message. */
export function slackOf(plaintext: Uint8Array): number {
  return Math.max(0, hiddenFieldBytes - (plaintext.length - contentLength(plaintext)));
}

/** Of what is said, without what is said about it. */
export function contentLength(plaintext: Uint8Array): number {
  const decoded = decodeContent(plaintext);
  return decoded.form === "enveloped" ? decoded.content.body.length : plaintext.length;
}

/** In the order in which their messages were given. */
export function isBehind({ messages: [first] }: Bundle, { messages: [other] }: Bundle): boolean {
  return (first?.order ?? 0) > (other?.order ?? 0);
}

/** Undefined before it has any. */
export function countersOf({ counter, messages }: Bundle): CounterRange | undefined {
  return counter === undefined ? undefined : { first: counter, count: messages.length };
}
