/**
 * The queue of things to send, in the order in which they were given: messages, and bundles that
 * were formed already and go again. A bundle that comes apart leaves its messages in their place.
 */
import {
  type Bundle,
  type BundlingOptions,
  formBundle,
  orderOf,
  type OutgoingMessage,
} from "./bundles.ts";

export interface SendQueue<M> {
  messages: OutgoingMessage<M>[];
  bundles: Bundle<M>[];
  /** The bytes of messages that are in no bundle yet. */
  bytes: number;
}

export function newSendQueue<M>(): SendQueue<M> {
  return { messages: [], bundles: [], bytes: 0 };
}

export function countQueued({ messages, bundles }: SendQueue<unknown>): number {
  return bundles.reduce((sum, bundle) => sum + bundle.messages.length, messages.length);
}

export function isEmptyQueue({ messages, bundles }: SendQueue<unknown>): boolean {
  return messages.length === 0 && bundles.length === 0;
}

export function enqueue<M>(queue: SendQueue<M>, message: OutgoingMessage<M>): void {
  queue.messages.push(message);
  queue.bytes += message.bytes;
}

/** The messages of a bundle that came apart wait again. */
export function scatterInto<M>(queue: SendQueue<M>, messages: readonly OutgoingMessage<M>[]): void {
  for (const { bytes } of messages) queue.bytes += bytes;
  queue.messages = [...messages, ...queue.messages].sort((a, b) => a.order - b.order);
}

/** Puts back a bundle that goes again. */
export function putBack<M>(queue: SendQueue<M>, bundle: Bundle<M>): void {
  queue.bundles = [...queue.bundles, bundle].sort((a, b) => orderOf(a) - orderOf(b));
}

/** Returns the next bundle to send. */
export function takeBundle<M>(
  queue: SendQueue<M>,
  bundling: BundlingOptions,
): Bundle<M> | undefined {
  const [bundle] = queue.bundles;
  const before = bundle === undefined ? Infinity : orderOf(bundle);
  const [message] = queue.messages;
  if (message === undefined || message.order > before) return queue.bundles.shift();
  const until = bundle === undefined ? -1 : queue.messages.findIndex(({ order }) => order > before);
  const formed = formBundle(until < 0 ? queue.messages : queue.messages.slice(0, until), bundling);
  for (const { bytes } of queue.messages.splice(0, formed?.messages.length ?? 0)) {
    queue.bytes -= bytes;
  }
  return formed;
}

/** Returns whether it was there, and in no bundle. */
export function removeMessage<M>(queue: SendQueue<M>, message: OutgoingMessage<M>): boolean {
  const at = queue.messages.indexOf(message);
  if (at < 0) return false;
  queue.messages.splice(at, 1);
  queue.bytes -= message.bytes;
  return true;
}

/** Returns whether it was there. */
export function removeBundle<M>(queue: SendQueue<M>, bundle: Bundle<M>): boolean {
  const at = queue.bundles.indexOf(bundle);
  if (at >= 0) queue.bundles.splice(at, 1);
  return at >= 0;
}
