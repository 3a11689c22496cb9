/**
 * Requests of this agent that wait for replies. A request that was given a key is on disk before it
 * is sent, and a reply to it before it is acknowledged: until its deadline, asking again with the
 * key continues the request or finds the replies. A reply to any other request that nobody waits
 * for is consumed: nobody could ask for it.
 */
import {
  type AgentId,
  binaryIdFromBytes,
  type MessageId,
  replyIdOf,
  replySecretBytes,
} from "../../proto/mod.ts";
import { createError, invalidArgument, isCode, isRefusal, StaticError } from "../base/errors.ts";
import { answerOf, type AnswerQueue, type Answers, answersOf } from "./answers.ts";
import type { IncomingEnvelope } from "./incoming.ts";
import type { ContentPorts, HandedMessage, SentRequest } from "./ports.ts";
import {
  bodyOf,
  type ContentOptions,
  duration,
  envelope,
  fieldsOf,
  type Sendable,
} from "./values.ts";

/** How a request is made. */
export interface AskOptions extends ContentOptions {
  /**
   * How long to wait for replies, also while those who are asked are offline: 60 seconds when not
   * given, at most 7 days.
   */
  readonly timeoutMs?: number | undefined;
  /** Gives up waiting; the call then rejects with its reason. The request may still be handled. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Names the request until its deadline, such as the number of an order: asking the same members
   * again with the same key, also after a crash, continues the same request, or returns the reply
   * that has come. At most 128 characters.
   */
  readonly key?: string | undefined;
}

interface PendingRequest extends AnswerQueue {
  readonly key: string | undefined;
  /** The addressees whose reply has not come. */
  readonly waiting: Set<AgentId>;
  /** How many have said that the same request may succeed later. */
  later: number;
  /** Undefined while the disk is read. */
  asked: SentRequest | undefined;
  /** Cancels what happens at its deadline. */
  cancel: () => void;
  readonly signal: AbortSignal | undefined;
}

const defaultTimeoutMs = 60_000;
const maxKeyCharacters = 128;
const maxPending = 4096;
const idBytes = 16;

export class Requester {
  readonly #ports: ContentPorts;
  readonly #pending = new Set<PendingRequest>();
  /** Pending requests that are known by their id. */
  readonly #waiting = new Map<MessageId, PendingRequest>();
  #asked: Promise<Map<MessageId, SentRequest>> | undefined;
  #cancelSweep: () => void = () => {};
  #ended: StaticError | undefined;

  constructor(ports: ContentPorts) {
    this.#ports = ports;
  }

  /** The relay's clock is known: what an earlier life kept beyond its deadline goes. */
  connected(): void {
    this.#sweep();
  }

  /** Asks at once. Throws for arguments that are wrong, before anything is sent. */
  ask(value: Sendable, to: readonly AgentId[], options: AskOptions): Answers {
    const { key, signal } = options;
    const { relayNowMs, maxAgeMs, runtime } = this.#ports;
    const timeoutMs = Math.min(
      duration("timeoutMs", options.timeoutMs ?? defaultTimeoutMs),
      maxAgeMs(),
    );
    this.#check(to, key);
    signal?.throwIfAborted();
    const said: RequestContent = {
      fields: fieldsOf(value, options),
      body: bodyOf(value),
      timeoutMs,
    };
    const fresh: SentRequest = {
      id: binaryIdFromBytes<MessageId>(runtime.randomBytes(idBytes)),
      key,
      secret: runtime.randomBytes(replySecretBytes),
      to,
      deadlineMs: relayNowMs() + timeoutMs,
    };
    encodeRequest(fresh, said, false);
    const pending = this.#begin(to, key, signal);
    this.#transmit(pending, fresh, said).catch((error: unknown) => {
      if (signal?.aborted !== true) this.#fail(pending, [...pending.waiting], staticErrorOf(error));
    });
    return answersOf(pending, to.length, signal);
  }

  /** A reply to this agent. */
  async reply(handed: HandedMessage): Promise<void> {
    const { agentId, records, refuse } = this.#ports;
    const { incoming, incoming: { id, sender, fields: { replyTo } } } = handed;
    const asked = replyTo &&
      (this.#waiting.get(replyTo)?.asked ?? (await this.#known()).get(replyTo));
    if (asked === undefined || !asked.to.includes(sender)) return handed.done();
    // Under another id it could come twice.
    if (id !== replyIdOf({ id: asked.id, from: agentId, secret: asked.secret }, sender)) {
      refuse(incoming, "a reply has an id that is not derived from its request");
      return handed.done();
    }
    if (asked.key !== undefined) await records.write([records.putReply(asked.id, incoming)]);
    const pending = this.#waiting.get(asked.id);
    if (pending !== undefined) this.#take(pending, incoming);
    handed.done();
  }

  /** Fails what waits for a reply of this agent: it will not reply any more. */
  gone(agentId: AgentId): void {
    for (const pending of [...this.#pending]) this.#fail(pending, [agentId], goneError(agentId));
  }

  end(error: StaticError): void {
    this.#ended ??= error;
    this.#cancelSweep();
    for (const pending of [...this.#pending]) this.#fail(pending, [...pending.waiting], error);
  }

  #check(to: readonly AgentId[], key: string | undefined): void {
    if (this.#ended !== undefined) throw this.#ended;
    if (to.includes(this.#ports.agentId)) {
      throw invalidArgument("Cannot ask oneself; name another member");
    }
    if (key !== undefined && (key === "" || key.length > maxKeyCharacters)) {
      throw invalidArgument(`A request's key has 1 to ${maxKeyCharacters} characters`);
    }
    if (key !== undefined && [...this.#pending].some((each) => each.key === key)) {
      throw invalidArgument("A request with this key waits already; wait for its reply");
    }
    if (this.#pending.size < maxPending) return;
    throw createError(
      "queue_full",
      `Cannot ask: ${maxPending} requests wait for replies; wait for some of them`,
    );
  }

  #begin(
    to: readonly AgentId[],
    key: string | undefined,
    signal: AbortSignal | undefined,
  ): PendingRequest {
    const stop = (): void => {
      pending.cancel();
      signal?.removeEventListener("abort", abort);
      this.#pending.delete(pending);
      if (pending.asked !== undefined) this.#waiting.delete(pending.asked.id);
    };
    const abort = (): void => {
      stop();
      pending.wake();
    };
    const start = { answers: [], later: 0, asked: undefined, cancel: () => {}, wake: () => {} };
    const pending: PendingRequest = { ...start, key, waiting: new Set(to), signal, stop };
    signal?.addEventListener("abort", abort);
    this.#pending.add(pending);
    return pending;
  }

  async #transmit(
    pending: PendingRequest,
    fresh: SentRequest,
    said: RequestContent,
  ): Promise<void> {
    const { key } = fresh;
    const before = key === undefined ? undefined : await this.#askedBefore(key, fresh.to);
    const asked = before ?? fresh;
    // An agent that replied to a key may have left since.
    if (before !== undefined) await this.#recall(pending, before);
    else if (!fresh.to.every(this.#ports.isMember)) await this.#catchUp(pending, fresh, said);
    if (!this.#pending.has(pending)) return;
    if (before === undefined && key !== undefined) await this.#note({ ...fresh, key });
    if (!this.#attach(pending, asked)) return;
    try {
      await this.#send(pending, asked, encodeRequest(asked, said, before !== undefined));
    } catch (error) {
      if (before === undefined && error instanceof StaticError && isRefusal(error)) {
        this.#forget(asked);
      }
      if (!isCode(error, "transport_error", "connection_error") || this.#ended !== undefined) {
        throw error;
      }
      const text =
        `No reply within ${said.timeoutMs} ms: the relay has not confirmed the request; ask again`;
      throw createError("request_timeout", text, { cause: error });
    }
    this.#expireLater(pending, asked, said);
  }

  async #send(
    pending: PendingRequest,
    { id, deadlineMs }: SentRequest,
    plaintext: Uint8Array,
  ): Promise<void> {
    const { send, relayNowMs } = this.#ports;
    const timeoutMs = Math.max(0, deadlineMs - relayNowMs());
    const { signal } = pending;
    await send(plaintext, { id, timeoutMs, signal });
  }

  #expireLater(
    pending: PendingRequest,
    { deadlineMs }: SentRequest,
    { timeoutMs }: RequestContent,
  ): void {
    if (!this.#pending.has(pending)) return;
    const late = `No reply within ${timeoutMs} ms; ask again, or with a longer timeoutMs`;
    const error = createError("request_timeout", late);
    const { runtime, relayNowMs } = this.#ports;
    const leftMs = Math.max(0, deadlineMs - relayNowMs());
    pending.cancel = runtime.after(leftMs, () => this.#fail(pending, [...pending.waiting], error));
  }

  /** The request that goes by this key now. */
  async #askedBefore(key: string, to: readonly AgentId[]): Promise<SentRequest | undefined> {
    const nowMs = this.#ports.relayNowMs();
    const before = [...(await this.#known()).values()].find((each) =>
      each.key === key && each.deadlineMs > nowMs
    );
    if (before === undefined || before.to.join() === to.join()) return before;
    throw invalidArgument(
      "A request with this key was made to others; ask the same members, or use another key",
    );
  }

  /** Collects replies that an earlier call, or the program before a restart, received. */
  async #recall(pending: PendingRequest, asked: SentRequest): Promise<void> {
    const { records, isMember } = this.#ports;
    if (!this.#attach(pending, asked)) return;
    for (const from of asked.to) {
      const reply = await records.reply(asked.id, from);
      if (reply !== undefined) this.#take(pending, reply);
      else if (!isMember(from)) this.#fail(pending, [from], goneError(from));
    }
  }

  /**
   * An agent that was let in has its Welcome when the relay has the commit, which may be before our
   * group follows it: nobody is refused before the group has caught up. The request's own time goes
   * on meanwhile.
   */
  async #catchUp(pending: PendingRequest, asked: SentRequest, said: RequestContent): Promise<void> {
    const { isMember, catchUp } = this.#ports;
    this.#expireLater(pending, asked, said);
    await catchUp(said.timeoutMs);
    pending.cancel();
    const missing = asked.to.find((each) => !isMember(each));
    if (missing !== undefined) throw noMember(missing);
  }

  /** Durable before it is sent. */
  async #note(asked: SentRequest & { readonly key: string }): Promise<void> {
    const { records } = this.#ports;
    const known = await this.#known();
    known.set(asked.id, asked);
    await records.write([records.putAsked(asked)]);
    this.#sweep();
  }

  /**
   * Requests and replies go from the disk with their deadline: they are all that lies there of what
   * was said.
   */
  #sweep(): void {
    const { records, relayNowMs, runtime } = this.#ports;
    this.#cancelSweep();
    this.#known().then(async (known) => {
      const over = [...known.values()].filter(({ deadlineMs }) => deadlineMs <= relayNowMs());
      for (const { id } of over) known.delete(id);
      if (over.length > 0) await records.write(over.flatMap((each) => records.deleteAsked(each)));
      const next = Math.min(...Array.from(known.values(), ({ deadlineMs }) => deadlineMs));
      if (this.#ended !== undefined || !Number.isFinite(next)) return;
      this.#cancelSweep();
      this.#cancelSweep = runtime.after(Math.max(1, next - relayNowMs()), () => this.#sweep());
    }).catch(() => {}); // The next life tries again.
  }

  /** From now on replies go to this call; false when nobody waits any more. */
  #attach(pending: PendingRequest, asked: SentRequest): boolean {
    if (!this.#pending.has(pending)) return false;
    pending.asked = asked;
    this.#waiting.set(asked.id, pending);
    return true;
  }

  #take(pending: PendingRequest, reply: IncomingEnvelope): void {
    if (!pending.waiting.delete(reply.sender)) return;
    const answer = answerOf(reply);
    if (!answer.ok && answer.error.retryable) pending.later++;
    pending.answers.push(answer);
    this.#settle(pending);
  }

  #fail(pending: PendingRequest, agents: readonly AgentId[], error: StaticError): void {
    for (const from of agents) {
      if (pending.waiting.delete(from)) pending.answers.push({ from, ok: false, error });
    }
    this.#settle(pending);
  }

  #settle({ asked, waiting, later, stop, wake }: PendingRequest): void {
    if (waiting.size === 0) stop();
    // Everybody said "later": asking again is another request, because nobody replies to this one
    // twice.
    if (asked !== undefined && later === asked.to.length) this.#forget(asked);
    wake();
  }

  /** Left for its deadline when it fails: it only costs a record. */
  #forget(asked: SentRequest): void {
    const { records } = this.#ports;
    if (asked.key === undefined || this.#ended !== undefined) return;
    this.#known().then((known) => {
      known.delete(asked.id);
      return records.write(records.deleteAsked(asked));
    }).catch(() => {});
  }

  #known(): Promise<Map<MessageId, SentRequest>> {
    this.#asked ??= this.#ports.records.asked().then(
      (all) => new Map(all.map((each) => [each.id, each])),
      (error) => {
        this.#asked = undefined;
        throw error;
      },
    );
    return this.#asked;
  }
}

/** The content of a request. */
interface RequestContent {
  readonly fields: ReturnType<typeof fieldsOf>;
  readonly body: Uint8Array;
  readonly timeoutMs: number;
}

function encodeRequest(
  { to, deadlineMs, secret }: SentRequest,
  { fields, body }: RequestContent,
  again: boolean,
): Uint8Array {
  const asked = { ...fields, to, deadlineMs, replySecret: secret, ...(again && { again }) };
  return envelope({ kind: "request", fields: asked }, body);
}

function staticErrorOf(error: unknown): StaticError {
  if (error instanceof StaticError) return error;
  return createError("internal", `Cannot ask: ${error instanceof Error ? error.message : error}`, {
    cause: error,
  });
}

function noMember(agentId: AgentId): StaticError {
  return invalidArgument(`Cannot ask ${agentId}: it is not a member of this channel`);
}

function goneError(agentId: AgentId): StaticError {
  return createError(
    "not_found",
    `${agentId} is no longer a member of the channel, and did not reply`,
  );
}
