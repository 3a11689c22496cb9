/**
 * Requests of this agent that wait for replies. A reply is acknowledged when somebody has it. One to a request that was given a
 * key, and that nobody waits for now, is held until its deadline: the program may have been killed, and ask again.
 */
import { type AgentId, binaryIdFromBytes, type MessageId, requestIdOf } from "../../proto/mod.ts";
import { createError, invalidArgument, RemoteError, type StaticError } from "../base/errors.ts";
import { Serial } from "../base/serial.ts";
import type { RecordChange } from "../store/mod.ts";
import { Envelope } from "./envelope.ts";
import type { Handed, Ports } from "./ports.ts";
import { bodyOf, type ContentOptions, duration, envelope, fieldsOf, type Sendable } from "./values.ts";

/** How a request is made. */
export interface AskOptions extends ContentOptions {
  /** How long to wait for replies, also while those who are asked are offline: 60 seconds when not given, at most 7 days. */
  readonly timeoutMs?: number;
  /** Gives up waiting; the call then rejects with its reason. The request may still be handled. */
  readonly signal?: AbortSignal;
  /**
   * Names the request for ever, such as the number of an order: asking again with the same key, also after a crash, continues
   * the same request instead of making another. At most 128 characters.
   */
  readonly key?: string;
}

/** What became of a request, for one of those who were asked. */
export type Answer =
  | { readonly from: AgentId; readonly ok: true; readonly reply: Envelope }
  | { readonly from: AgentId; readonly ok: false; readonly error: StaticError };

/** One answer for each of those who were asked, as they come. */
export type Answers = AsyncIterableIterator<Answer, undefined>;

interface Pending {
  readonly id: MessageId;
  readonly keyed: boolean;
  /** Those whose reply has not come. */
  readonly waiting: Set<AgentId>;
  readonly answers: Answer[];
  wake: () => void;
  /** Nobody waits any more. */
  readonly stop: () => void;
}

const defaultTimeoutMs = 60_000;
const maxKeyCharacters = 128;
const maxHeld = 256;
const idBytes = 16;

export class Requester {
  readonly #ports: Ports;
  readonly #pending = new Map<MessageId, Pending>();
  readonly #held = new Map<MessageId, Handed>();
  #asked: Promise<Map<MessageId, number>> | undefined;
  #ended: StaticError | undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Asks at once. Throws for arguments that are wrong, before anything is sent. */
  ask(value: Sendable, to: readonly AgentId[], options: AskOptions): Answers {
    const { key, signal } = options;
    const { agentId, relayNowMs, runtime, send } = this.#ports;
    const timeoutMs = duration("timeoutMs", options.timeoutMs ?? defaultTimeoutMs);
    this.#check(to, key);
    signal?.throwIfAborted();
    const fields = { ...fieldsOf(value, options), to, deadlineMs: relayNowMs() + timeoutMs };
    const body = bodyOf(value);
    const plaintext = envelope({ kind: "request", fields }, body);
    const id = key === undefined
      ? binaryIdFromBytes<MessageId>(runtime.randomBytes(idBytes))
      : requestIdOf(agentId, key);
    const pending = this.#begin({ id, to, timeoutMs, signal, keyed: key !== undefined });
    const transmit = async (): Promise<void> => {
      const again = pending.keyed && await this.#noteAsked(id, fields.deadlineMs);
      if (pending.waiting.size === 0) return;
      const bytes = again ? envelope({ kind: "request", fields: { ...fields, again } }, body) : plaintext;
      await send(bytes, { id, timeoutMs, ...(signal !== undefined && { signal }) });
    };
    transmit().catch((error: StaticError) => this.#fail(pending, [...pending.waiting], error));
    return answersOf(pending, to.length, signal);
  }

  /** A reply to this agent, under an id that its sender may use. */
  async reply(handed: Handed): Promise<void> {
    const { incoming: { fields, sender, id } } = handed;
    const request = fields.replyTo;
    const pending = request && this.#pending.get(request);
    if (pending?.waiting.has(sender) === true) return this.#take(pending, handed);
    const isKeyed = request !== undefined && (await this.#known()).has(request);
    // Meanwhile somebody may have asked.
    const late = request && this.#pending.get(request);
    if (late?.waiting.has(sender) === true) return this.#take(late, handed);
    if (!isKeyed || this.#held.has(id)) return handed.done();
    this.#held.set(id, handed);
    const [oldest] = this.#held.values();
    if (this.#held.size > maxHeld && oldest !== undefined) this.#letGo(oldest);
    const leftMs = (fields.expiryMs ?? 0) - this.#ports.relayNowMs();
    this.#ports.runtime.after(leftMs, () => this.#letGo(handed));
  }

  /** It will not reply any more. */
  gone(agentId: AgentId): void {
    const error = createError("not_found", `${agentId} is no member of the channel any more, and did not reply`);
    for (const pending of this.#pending.values()) this.#fail(pending, [agentId], error);
  }

  end(error: StaticError): void {
    this.#ended ??= error;
    for (const pending of this.#pending.values()) this.#fail(pending, [...pending.waiting], error);
  }

  #check(to: readonly AgentId[], key: string | undefined): void {
    const { agentId, isMember } = this.#ports;
    if (this.#ended !== undefined) throw this.#ended;
    for (const each of to) {
      if (each === agentId) throw invalidArgument("Cannot ask oneself; name another member");
      if (!isMember(each)) throw invalidArgument(`Cannot ask ${each}: it is not a member of this channel`);
    }
    if (key !== undefined && (key === "" || key.length > maxKeyCharacters)) {
      throw invalidArgument(`A request's key has 1 to ${maxKeyCharacters} characters`);
    }
  }

  #begin({ id, to, timeoutMs, signal, keyed }: Asking): Pending {
    if (this.#pending.has(id)) throw invalidArgument("A request with this key waits already; wait for its reply");
    const late = createError(
      "request_timeout",
      `No reply within ${timeoutMs} ms; ask again, or with a longer timeoutMs`,
    );
    const cancel = this.#ports.runtime.after(timeoutMs, () => this.#fail(pending, [...pending.waiting], late));
    const stop = (): void => {
      cancel();
      signal?.removeEventListener("abort", abort);
      this.#pending.delete(id);
    };
    const pending: Pending = { id, keyed, waiting: new Set(to), answers: [], wake: () => {}, stop };
    const abort = (): void => {
      stop();
      pending.wake();
    };
    signal?.addEventListener("abort", abort);
    this.#pending.set(id, pending);
    for (const handed of [...this.#held.values()]) {
      if (handed.incoming.fields.replyTo === id && pending.waiting.has(handed.incoming.sender)) {
        this.#take(pending, handed);
      }
    }
    return pending;
  }

  #take(pending: Pending, handed: Handed): void {
    const { incoming, incoming: { kind, sender, fields, body } } = handed;
    this.#held.delete(incoming.id);
    pending.waiting.delete(sender);
    if (kind === "error") {
      const remoteCode = fields.error ?? "failed";
      const text = new TextDecoder().decode(body);
      const error = new RemoteError(text, { remoteCode, retryable: remoteCode === "overloaded" });
      pending.answers.push({ from: sender, ok: false, error });
    } else {
      pending.answers.push({ from: sender, ok: true, reply: new Envelope(incoming, () => Promise.resolve()) });
    }
    handed.done(this.#settled(pending));
    pending.wake();
  }

  #fail(pending: Pending, agents: readonly AgentId[], error: StaticError): void {
    for (const from of agents) {
      if (pending.waiting.delete(from)) pending.answers.push({ from, ok: false, error });
    }
    const changes = this.#settled(pending);
    // Left for the next time when it fails: it only costs a record.
    if (changes.length > 0) this.#ports.records.write(changes).catch(() => {});
    pending.wake();
  }

  /** What to write when everybody who was asked has replied, or will not. */
  #settled({ id, keyed, waiting, stop }: Pending): RecordChange[] {
    if (waiting.size > 0) return [];
    stop();
    if (!keyed || this.#ended !== undefined) return [];
    void this.#known().then((known) => known.delete(id));
    return [this.#ports.records.deleteAsked(id)];
  }

  #letGo(handed: Handed): void {
    if (this.#ended === undefined && this.#held.delete(handed.incoming.id)) handed.done();
  }

  #known(): Promise<Map<MessageId, number>> {
    this.#asked ??= this.#ports.records.asked().then((asked) => new Map(asked));
    return this.#asked;
  }

  /** Durable before it is sent. Returns whether it was asked before. */
  async #noteAsked(id: MessageId, deadlineMs: number): Promise<boolean> {
    const { records, relayNowMs } = this.#ports;
    const known = await this.#known();
    const again = known.has(id);
    const over = [...known].filter(([each, untilMs]) => each !== id && untilMs < relayNowMs()).map(([each]) => each);
    for (const each of over) known.delete(each);
    known.set(id, deadlineMs);
    await records.write([records.putAsked(id, deadlineMs), ...over.map((each) => records.deleteAsked(each))]);
    return again;
  }
}

interface Asking {
  readonly id: MessageId;
  readonly to: readonly AgentId[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly keyed: boolean;
}

function answersOf(pending: Pending, count: number, signal: AbortSignal | undefined): Answers {
  let given = 0;
  const next = async (): Promise<IteratorResult<Answer, undefined>> => {
    while (given < count) {
      const answer = pending.answers.shift();
      if (answer !== undefined) {
        given++;
        return { done: false, value: answer };
      }
      signal?.throwIfAborted();
      await new Promise<void>((resolve) => pending.wake = resolve);
    }
    return { done: true, value: undefined };
  };
  const calls = new Serial();
  return {
    next: () => calls.run(next),
    return: () => {
      pending.stop();
      given = count;
      pending.wake();
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator](): Answers {
      return this;
    },
  };
}
