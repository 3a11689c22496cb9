/** Seals what is sent as one, under counters of its own, in the present epoch. */
import { encodeMessageAad } from "../../proto/mod.ts";
import type { Epoch } from "../mls/epoch.ts";
import { allReadBundles, type Bundle, fullerPlaintextOf, plaintextOf, slackBytesOf } from "./bundling.ts";
import type { Counters } from "./counters.ts";
import type { ChannelDeps } from "./deps.ts";
import type { Membership } from "./membership.ts";
import type { ConfirmationRunner } from "./runner/confirmation_runner.ts";

export interface BundleSealerParts {
  readonly membership: Membership;
  readonly counters: Counters;
  readonly confirmations: Pick<ConfirmationRunner, "carry">;
  /** Messages that wait, beside the one that is sealed. */
  readonly waiting: () => number;
}

export class BundleSealer {
  readonly #parts: BundleSealerParts;
  readonly #deps: Pick<ChannelDeps, "session">;
  /** Whether all members of this epoch read bundles. */
  #readers: { readonly epoch: Epoch; readonly areAll: boolean } | undefined;

  constructor(parts: BundleSealerParts, deps: Pick<ChannelDeps, "session">) {
    this.#parts = parts;
    this.#deps = deps;
  }

  /** Whether the relay takes bundles. True without a connection. */
  get relayBundles(): boolean {
    const { state } = this.#deps.session;
    return state.kind !== "online" || state.connection.limits.bundledMessages !== undefined;
  }

  /** Whether every member of the present epoch, and the relay, know what a bundle is. */
  get mayBundle(): boolean {
    return this.relayBundles && this.#allRead;
  }

  get #allRead(): boolean {
    const { current } = this.#parts.membership.group;
    if (this.#readers?.epoch !== current) this.#readers = { epoch: current, areAll: allReadBundles(current) };
    return this.#readers.areAll;
  }

  /** With keys and counters of the present membership. */
  isSealed({ sealed, life }: Bundle): boolean {
    return sealed !== undefined && life === this.#parts.counters.life;
  }

  /** The same, and in the present epoch. */
  isCurrent(bundle: Bundle): boolean {
    return this.isSealed(bundle) && bundle.sealed?.epoch === this.#parts.membership.epoch;
  }

  /** Its key and its counters are durable when this resolves. */
  async seal(bundle: Bundle): Promise<void> {
    const { counters, confirmations, membership } = this.#parts;
    const { id: messageId, messages, messages: [first] } = bundle;
    if (bundle.counter === undefined || bundle.life !== counters.life) {
      bundle.counter = counters.take(messages.length);
      bundle.life = counters.life;
    }
    const { counter } = bundle;
    const carried = first && confirmations.carry(first.payload);
    const authenticate = (keyNumber: number): Uint8Array => {
      bundle.gone = counters.goneBefore(counter);
      return encodeMessageAad({ messageId, counter, count: messages.length, keyNumber, gone: bundle.gone });
    };
    bundle.sealed = await membership.durable.seal(plaintextOf(bundle), authenticate, {
      slackBytes: slackBytesOf(bundle),
      fuller: carried && fullerPlaintextOf(bundle, carried.plaintext),
      reserving: {
        isNeeded: () => counters.isBeyond(counter + messages.length - 1),
        changes: () => [counters.reserve(this.#allRead ? undefined : this.#parts.waiting())],
      },
    });
    bundle.onSent = bundle.sealed.isFuller ? carried?.done : undefined;
  }
}
