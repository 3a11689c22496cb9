/** A message as its receiver holds it: sender, time, fields, and content in the form wanted. */
import type {
  AgentId,
  MessageId,
  ReceiptState,
  ReceiptWanted,
  Recognition,
} from "../../proto/mod.ts";
import { createError, invalidArgument, type StaticError } from "../base/errors.ts";
import { identityText } from "../base/identity_text.ts";
import type { EnvelopeKind, IncomingEnvelope } from "./incoming.ts";
import type { AskingMessage, OwedChange, ReceiptPort } from "./receipts.ts";
import { describeIssues, type StandardSchema } from "./standard_schema.ts";

export type { EnvelopeKind };

/** The sender of a message. Its agent id is authenticated; its identity is its own choice. */
export interface Sender extends Recognition {
  /** How the relay and other agents name it. */
  readonly agentId: AgentId;
  /**
   * The name that the sender chose for itself: a claim that nobody has checked. In hexadecimal when
   * it is not text.
   */
  readonly identity: string;
  /** The same as bytes. */
  readonly identityBytes: Uint8Array;
  /**
   * Whether it is the same agent as before under this identity. False only in `envelopes({ all:
   * true })`: an identity came back with another key, and no owner brought it in.
   */
  readonly keyUnchanged: boolean;
}

/** A message whose sender may want to hear of it: an `Envelope`, or what a program kept of one. */
export interface AskedOf {
  /** The message's id. */
  readonly id: string;
  /** Its sender. */
  readonly sender: { readonly agentId: AgentId };
  /** The sender's question. */
  readonly receipt: ReceiptWanted | undefined;
}

/** @internal How a loop lets go of an envelope. */
export interface EnvelopeActions {
  readonly ack: () => Promise<void>;
  /** As asking for the next one does. */
  readonly pass?: () => Promise<void> | undefined;
  readonly giveBack?: () => void;
  /** Memory that it takes up, roughly; that of its content when not given. */
  readonly weight?: number;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * A decrypted message with what is known about it.
 *
 * @example
 * ```ts
 * import type { Channel } from "static-sdk";
 *
 * async function readOrder(channel: Channel): Promise<unknown> {
 *   for await (const envelope of channel.envelopes()) {
 *     console.log(envelope.sender.identity, envelope.contentType, new Date(envelope.timeMs));
 *     if (envelope.contentType === "application/json") return envelope.json();
 *   }
 * }
 * ```
 */
export class Envelope {
  /**
   * `message`, or in `envelopes({ all: true })` also requests and replies of others; `error` is a
   * reply that failed.
   */
  readonly kind: EnvelopeKind;
  /** Chosen by the sender, authenticated. */
  readonly id: MessageId;
  /** The sender, authenticated. */
  readonly sender: Sender;
  /** When the relay accepted it, by the relay's clock and word. */
  readonly timeMs: number;
  /** The content as bytes. */
  readonly bytes: Uint8Array;
  /** The media type; undefined when the sender gave bytes or text without one. */
  readonly contentType: string | undefined;
  /** The agents that it is for; undefined for all. */
  readonly to: readonly string[] | undefined;
  /** The message that it answers. */
  readonly replyTo: MessageId | undefined;
  /** The conversation that it belongs to, in the sender's words. */
  readonly conversation: string | undefined;
  /** When it expires, by the relay's clock. */
  readonly expiresAtMs: number | undefined;
  /** Whatever else the sender says about it. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Its sender wants to learn what becomes of it: that a program acknowledges it, and what prevents
   * that (`delivered`), or `done()` as well (`done`).
   */
  readonly receipt: ReceiptWanted | undefined;
  /** @internal Its place in the channel's log. */
  readonly sequence: number;
  readonly #ways: EnvelopeActions;
  readonly #port: ReceiptPort | undefined;
  /** Why the program could not use it. */
  #refusal: StaticError | undefined;

  /** @internal Envelopes come from channels. */
  constructor(
    incoming: IncomingEnvelope,
    ways: EnvelopeActions,
    port?: ReceiptPort,
  ) {
    const { fields } = incoming;
    this.kind = incoming.kind;
    this.id = incoming.id;
    this.sender = {
      agentId: incoming.sender,
      identity: identityText(incoming.identity),
      identityBytes: incoming.identity,
      keyUnchanged: incoming.keyUnchanged,
      ...recognitionOf(incoming),
    };
    this.timeMs = incoming.timeMs;
    this.bytes = incoming.body;
    this.contentType = fields.contentType;
    this.to = fields.to;
    this.replyTo = fields.replyTo;
    this.conversation = fields.conversation;
    this.expiresAtMs = fields.expiryMs;
    this.sequence = incoming.sequence;
    this.headers = Object.fromEntries(fields.headers ?? []);
    this.#ways = ways;
    this.receipt = fields.receipt;
    this.#port = port;
  }

  /** @internal Its share of the memory of those that wait: more than its content, if keys wait. */
  get weight(): number {
    return this.#ways.weight ?? this.bytes.length;
  }

  /** The content; the same as `bytes`. */
  get payload(): Uint8Array {
    return this.bytes;
  }

  /** The content as text. Throws `content_invalid` when it is not UTF-8. */
  text(): string {
    try {
      return utf8.decode(this.bytes);
    } catch (cause) {
      throw this.#invalid("it is not text", cause);
    }
  }

  /**
   * The content as JSON. Throws `content_invalid` when it is not, or when the schema, of any
   * library that follows the Standard Schema, does not accept it.
   */
  json(): unknown;
  /** The content as JSON of a kind that the schema describes. */
  json<Output>(schema: StandardSchema<Output>): Output;
  json(schema?: StandardSchema): unknown {
    const text = this.text();
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw this.#invalid("it is not JSON", cause);
    }
    if (schema === undefined) return value;
    const result = schema["~standard"].validate(value);
    if (isPromise(result)) {
      throw invalidArgument("Cannot use a schema that answers later; give one that does not wait");
    }
    if (result.issues === undefined) return result.value;
    throw this.#invalid(describeIssues(result.issues), result.issues);
  }

  /**
   * The message is done with: it does not come again, also after a crash. Only needed with
   * `envelopes({ ack: "manual" })`; elsewhere asking for the next message does it. In any order,
   * and as often as one likes.
   *
   * @example Work on several at once
   * ```ts
   * import type { Channel, Envelope } from "static-sdk";
   *
   * async function workOn(channel: Channel, work: (envelope: Envelope) => Promise<void>, count: number): Promise<void> {
   *   const working: Promise<void>[] = [];
   *   for await (const envelope of channel.envelopes({ ack: "manual" })) {
   *     working.push(work(envelope).then(() => envelope.ack()));
   *     if (working.length === count) break;
   *   }
   *   await Promise.all(working);
   * }
   * ```
   */
  async ack(): Promise<void> {
    await this.#ways.ack();
  }

  /**
   * Tells the sender, if it asked for `done`, that the work is done for which it sent this message.
   * Resolves when that cannot be forgotten any more; the sender learns of it some seconds later.
   * `ack()` is another matter, before or after it.
   *
   * @example
   * ```ts
   * import type { Channel, Envelope } from "static-sdk";
   *
   * async function workOff(channel: Channel, work: (envelope: Envelope) => Promise<void>, signal: AbortSignal): Promise<void> {
   *   for await (const envelope of channel.envelopes({ signal })) {
   *     await work(envelope);
   *     await envelope.done();
   *   }
   * }
   * ```
   */
  async done(): Promise<void> {
    await this.say("done");
  }

  /** @internal Of its message, if the sender asked. Resolves when it is on disk. */
  async say(state: ReceiptState): Promise<void> {
    if (this.receipt !== undefined) await this.#port?.say(this.#about(this.receipt), state);
  }

  /** @internal One of several readers is done with it. */
  owe(): OwedChange | undefined {
    return this.receipt === undefined ? undefined : this.#port?.owe(this.#about(this.receipt));
  }

  #about(receipt: ReceiptWanted): AskingMessage {
    return { id: this.id, sender: this.sender.agentId, receipt, to: this.to };
  }

  /**
   * @internal Acknowledges as asking for the next message does: the disk hears of it with what
   * comes in the next moment, and a loop that is far ahead of the disk waits for the promise.
   */
  pass(): Promise<void> | undefined {
    const { ack, pass = ack } = this.#ways;
    return pass();
  }

  /**
   * @internal The application has not seen it, nor those after it, which are given back with it:
   * its loop gets them again, in their turn, but none whose time is over by then.
   */
  giveBack(): void {
    this.#ways.giveBack?.();
  }

  /**
   * @internal Whether this error says that the content is not of the kind that the program wants.
   */
  isRefusedBy(error: Error): boolean {
    return error === this.#refusal;
  }

  #invalid(why: string, cause: unknown): StaticError {
    const text =
      `Cannot use message ${this.id} of ${this.sender.agentId}: ${why}; its sender must send something else`;
    return this.#refusal = createError("content_invalid", text, { cause });
  }
}

function recognitionOf(
  { knownAs, attested, badgeExpired, sameAccount = false }: IncomingEnvelope,
): Recognition {
  return { knownAs, attested, badgeExpired, sameAccount };
}

/** Also one of another realm, or of another library. */
function isPromise<T extends object>(result: T | Promise<T>): result is Promise<T> {
  return typeof Reflect.get(result, "then") === "function";
}
