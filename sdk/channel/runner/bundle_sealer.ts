/**
 * Seals what is sent as one, under the counters that it was given, in the present epoch; and how
 * contents are in it.
 */
import {
  bundleBytesOf,
  type BundledMessage,
  bundlesCapability,
  decodeContent,
  encodeBundle,
  encodeMessageAad,
  maxBundleBytes,
  sessionFeatures,
} from "../../../proto/mod.ts";
import type { SealingOptions } from "../../mls/durable_group.ts";
import type { ReadyMessage } from "../../mls/group.ts";
import type { ConfirmationRunner } from "./confirmation_runner.ts";
import type { OrderRunner } from "./order_runner.ts";
import type { ChannelDeps } from "../deps.ts";
import { Capability } from "../group/capability.ts";
import type { Membership } from "../group/membership.ts";
import type { Bundle } from "../messages/bundles.ts";

export interface BundleSealerParts {
  readonly membership: Membership;
  readonly confirmations: Pick<ConfirmationRunner, "carry">;
  readonly order: Pick<OrderRunner, "word">;
}

/** The content of a message as it is sealed. */
export interface SealableContent {
  readonly content: Uint8Array;
}

export class BundleSealer {
  readonly #parts: BundleSealerParts;
  readonly #deps: Pick<ChannelDeps, "session">;
  readonly #readers: Capability;
  /** A bundle carries something else too, which is on its way with it. */
  readonly #riders = new WeakMap<Bundle<SealableContent>, () => void>();

  constructor(parts: BundleSealerParts, deps: Pick<ChannelDeps, "session">) {
    this.#parts = parts;
    this.#deps = deps;
    this.#readers = new Capability(parts.membership, bundlesCapability);
  }

  /** Whether the relay takes bundles. True without a connection. */
  get doesRelayBundle(): boolean {
    const { state } = this.#deps.session;
    return state.kind !== "online" || state.connection.features.includes(sessionFeatures.bundles);
  }

  /** Whether every member of the present epoch knows what a bundle is. */
  get doAllRead(): boolean {
    return this.#readers.isOfAll;
  }

  /** Seals a bundle. The key and the counters of the bundle are durable when this resolves. */
  async seal(
    bundle: Bundle<SealableContent>,
    reserving: NonNullable<SealingOptions["reserving"]>,
  ): Promise<ReadyMessage> {
    const { confirmations, membership, order } = this.#parts;
    const { id: messageId, messages, messages: [first], made } = bundle;
    if (made === undefined) throw new TypeError("A bundle is sealed that has no counters");
    const { first: counter, gone } = made;
    const carried = first && confirmations.carry(first.given.content);
    const sealed = await membership.durable.seal(
      plaintextOf(bundle),
      (keyNumber) =>
        encodeMessageAad({
          messageId,
          counter,
          count: messages.length,
          keyNumber,
          gone,
          word: order.word,
        }),
      {
        slackBytes: messages.reduce((sum, { slackBytes }) => sum + slackBytes, 0),
        fuller: carried && fullerPlaintextOf(bundle, carried.plaintext),
        reserving,
      },
    );
    if (carried !== undefined && sealed.isFuller) this.#riders.set(bundle, carried.done);
    else this.#riders.delete(bundle);
    return sealed;
  }

  /** The bundle is on its way. */
  left(bundle: Bundle<SealableContent>): void {
    this.#riders.get(bundle)?.();
    this.#riders.delete(bundle);
  }
}

/** A request as JSON to two members has 107 bytes of them, its reply fewer. */
const hiddenFieldBytes = 128;

/**
 * Up to here the fields of contents do not show: a payload with fewer, or none, is filled up as if
 * it had so many.
 */
export function slackOf(plaintext: Uint8Array): number {
  return Math.max(0, hiddenFieldBytes - (plaintext.length - contentLength(plaintext)));
}

/** Returns the length of what is said, without what is said about it. */
export function contentLength(plaintext: Uint8Array): number {
  const decoded = decodeContent(plaintext);
  return decoded.form === "enveloped" ? decoded.content.body.length : plaintext.length;
}

function plaintextOf({ messages }: Bundle<SealableContent>): Uint8Array {
  return sealable(messages.map(({ id, given }) => ({ id, plaintext: given.content })));
}

/** With something more in the first message. Undefined when there is no room for it. */
function fullerPlaintextOf(
  { messages }: Bundle<SealableContent>,
  first: Uint8Array,
): Uint8Array | undefined {
  const parts = messages.map(({ id, given }, i) => ({
    id,
    plaintext: i === 0 ? first : given.content,
  }));
  return parts.length > 1 && bundleBytesOf(parts) > maxBundleBytes ? undefined : sealable(parts);
}

function sealable(parts: readonly BundledMessage[]): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only.plaintext : encodeBundle(parts);
}
