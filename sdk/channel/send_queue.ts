/**
 * The queue of things to send, in the order in which they were given: messages, and bundles that were formed already
 * and go again. A bundle that comes apart leaves its messages in their place.
 */
import { type Bundle, type Bundling, formBundle, type Sending } from "./bundling.ts";

export class SendQueue {
  #messages: Sending[] = [];
  #bundles: Bundle[] = [];
  #bytes = 0;

  get length(): number {
    return this.#bundles.reduce((sum, { messages }) => sum + messages.length, this.#messages.length);
  }

  /** Of messages that are in no bundle yet. */
  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#messages.length === 0 && this.#bundles.length === 0;
  }

  *all(): Generator<Sending> {
    for (const { messages } of this.#bundles) yield* messages;
    yield* this.#messages;
  }

  get bundles(): readonly Bundle[] {
    return this.#bundles;
  }

  add(sending: Sending): void {
    this.#messages.push(sending);
    this.#bytes += sending.payload.length;
  }

  /** Messages of a dissolved bundle wait again, each alone. */
  scatter(messages: readonly Sending[]): void {
    for (const sending of messages) {
      sending.bundle = undefined;
      this.#bytes += sending.payload.length;
    }
    this.#messages = [...messages, ...this.#messages].sort((a, b) => a.order - b.order);
  }

  /** It goes again. */
  putBack(bundle: Bundle): void {
    this.#bundles = [...this.#bundles, bundle].sort((a, b) => orderOf(a) - orderOf(b));
  }

  /** Returns the next bundle to send. */
  take(bundling: Bundling): Bundle | undefined {
    const [bundle] = this.#bundles;
    const before = bundle === undefined ? Infinity : orderOf(bundle);
    const [message] = this.#messages;
    if (message === undefined || message.order > before) return this.#bundles.shift();
    const until = bundle === undefined ? -1 : this.#messages.findIndex(({ order }) => order > before);
    const formed = formBundle(until < 0 ? this.#messages : this.#messages.slice(0, until), bundling);
    for (const { payload } of this.#messages.splice(0, formed?.messages.length ?? 0)) this.#bytes -= payload.length;
    return formed;
  }

  /** Returns whether it was there. */
  removeMessage(sending: Sending): boolean {
    const at = this.#messages.indexOf(sending);
    if (at < 0) return false;
    this.#messages.splice(at, 1);
    this.#bytes -= sending.payload.length;
    return true;
  }

  removeBundle(bundle: Bundle): boolean {
    const at = this.#bundles.indexOf(bundle);
    if (at >= 0) this.#bundles.splice(at, 1);
    return at >= 0;
  }

  clear(): void {
    this.#messages = [];
    this.#bundles = [];
    this.#bytes = 0;
  }
}

function orderOf({ messages }: Bundle): number {
  return messages[0]?.order ?? 0;
}
