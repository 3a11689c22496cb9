/**
 * Requests to this agent, and the handler that serves them. A request is acknowledged when its
 * reply is accepted, or its time is over: until then it comes again after a crash. One that may
 * have been run by an earlier life of this agent is not run before the relay has said that no reply
 * to it stands in the log.
 */
import { type AgentId, type ContentFields, type MessageId, replyIdOf } from "../../proto/mod.ts";
import { createError, invalidArgument, isCode, StaticError } from "../base/errors.ts";
import { pause } from "../base/runtime.ts";
import { answerToFailure } from "./handler_failure.ts";
import type { IncomingEnvelope } from "./incoming.ts";
import { IncomingRequest } from "./incoming_request.ts";
import type { AttemptCount, ContentPorts, HandedMessage } from "./ports.ts";
import { bodyOf, envelope, fieldsOf, type Sendable } from "./values.ts";

/** Returns the reply, or throws; a `RemoteError` reaches the requester as it is. */
export type RequestHandler = (
  request: IncomingRequest,
) => Sendable | void | Promise<Sendable | void>;

/** How requests are served. */
export interface ServeOptions {
  /** How many requests are handled at once; 16 when not given. */
  readonly concurrency?: number | undefined;
  /** Ends serving like `stop()`. */
  readonly signal?: AbortSignal | undefined;
}

/** A handler at work. */
export interface Serving {
  /** Begins no more requests; resolves when those that run have ended. */
  stop(): Promise<void>;
  /** Resolves when serving has ended: stopped, or the channel is over. */
  readonly ended: Promise<void>;
}

interface QueuedRequest {
  readonly handed: HandedMessage;
  readonly key: string;
  readonly deadlineMs: number;
}

interface HandlerRun {
  readonly handler: RequestHandler;
  readonly concurrency: number;
  readonly running: Set<Promise<void>>;
  readonly stopped: () => void;
}

const defaultConcurrency = 16;
const maxWaiting = 1024;
const maxWaitingBytes = 4 * 1024 * 1024;
/** Requests whose reply was accepted in this life. */
const maxAnswered = 4096;
const retryMs = 1000;
const maxRetryMs = 30_000;
const maxErrorText = 1024;

export class Service {
  readonly #ports: ContentPorts;
  /** In the order in which they came. */
  readonly #waiting = new Map<string, QueuedRequest>();
  #waitingBytes = 0;
  readonly #answered = new Set<string>();
  readonly #underWay = new Set<string>();
  readonly #stop = new AbortController();
  #attempts: Promise<Map<string, AttemptCount>> | undefined;
  #work: HandlerRun | undefined;
  /** All that run, also of a handler that was stopped. */
  readonly #running = new Set<Promise<void>>();
  #isDraining = false;
  #cancelSweep: () => void = () => {};
  /** Up to here the log may hold replies of an earlier life. */
  #firstHead: number | undefined;

  constructor(ports: ContentPorts) {
    this.#ports = ports;
  }

  /** The log's end when this life first connected. */
  connected(head: number): void {
    this.#firstHead ??= head;
  }

  serve(
    handler: RequestHandler,
    { concurrency = defaultConcurrency, signal }: ServeOptions = {},
  ): Serving {
    if (!Number.isInteger(concurrency) || concurrency < 1) {
      throw invalidArgument(`concurrency is ${concurrency}: give an integer from 1 up`);
    }
    if (this.#work !== undefined) {
      throw invalidArgument("The channel is served already; stop() the other handler first");
    }
    signal?.throwIfAborted();
    let stopped = (): void => {};
    const ended = new Promise<void>((resolve) => stopped = resolve);
    const work: HandlerRun = { handler, concurrency, running: new Set(), stopped };
    const stop = async (): Promise<void> => {
      if (this.#work === work) this.#work = undefined;
      signal?.removeEventListener("abort", onAbort);
      await Promise.all(work.running);
      stopped();
    };
    const onAbort = (): void => void stop();
    signal?.addEventListener("abort", onAbort, { once: true });
    if (this.#stop.signal.aborted) stopped();
    else this.#work = work;
    this.#pump();
    return { stop, ended };
  }

  /** A request to this agent has arrived. */
  request(handed: HandedMessage): void {
    const { incoming: { id, sender, fields, body } } = handed;
    const key = `${sender}.${id}`;
    // The same request again, in a message of its own: its first copy is answered, once.
    if (this.#answered.has(key) || this.#underWay.has(key) || this.#waiting.has(key)) {
      return handed.done();
    }
    const waiting = { handed, key, deadlineMs: fields.deadlineMs ?? 0 };
    if (!this.#hasRoomFor(sender, body.length)) return this.#turnAway(waiting);
    this.#await(waiting);
    this.#pump();
  }

  /**
   * Begins no more requests; resolves when those that run have ended and their replies are
   * accepted.
   */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await Promise.all(this.#running);
  }

  /** The channel is over here: what runs is not waited for, and comes again if it can. */
  end(): void {
    this.#stop.abort();
    this.#cancelSweep();
    this.#work?.stopped();
    this.#work = undefined;
  }

  #pump(): void {
    const work = this.#work;
    if (work === undefined || this.#isDraining) return;
    for (const waiting of this.#waiting.values()) {
      if (work.running.size >= work.concurrency) return;
      this.#takeOut(waiting);
      this.#underWay.add(waiting.key);
      const running = this.#serveOne(waiting, work.handler).finally(() => {
        work.running.delete(running);
        this.#running.delete(running);
        this.#underWay.delete(waiting.key);
        this.#pump();
      });
      work.running.add(running);
      this.#running.add(running);
    }
  }

  async #serveOne(waiting: QueuedRequest, handler: RequestHandler): Promise<void> {
    const { handed, key, deadlineMs } = waiting;
    const { relayNowMs, runtime, isMember } = this.#ports;
    const { sender } = handed.incoming;
    const over = new AbortController();
    const abort = (): void =>
      over.abort(createError("request_timeout", "The request's deadline is over"));
    const cancel = runtime.after(Math.max(0, deadlineMs - relayNowMs()), abort);
    this.#stop.signal.addEventListener("abort", abort);
    const isOver = (): boolean => over.signal.aborted || relayNowMs() >= deadlineMs;
    try {
      if (await this.#isAnswered(waiting, over.signal)) return this.#finish(waiting);
      if (isOver()) return this.#expire(waiting);
      const attempt = await this.#nextAttempt(key, deadlineMs);
      // The disk may have taken long.
      if (isOver()) return this.#expire(waiting);
      if (!isMember(sender)) return this.#drop(waiting);
      const request = new IncomingRequest(handed.incoming, { attempt, signal: over.signal });
      const reply = await this.#run(handler, request);
      if (await this.#send(waiting, reply, over.signal)) this.#finish(waiting);
      else this.#expire(waiting);
    } catch (fault) {
      // The handler has not run: it is tried again, until the deadline.
      this.#tellFailed(waiting, fault);
      await pause(runtime, retryMs, over.signal);
      if (isOver()) this.#expire(waiting);
      else this.#await(waiting);
    } finally {
      cancel();
      this.#stop.signal.removeEventListener("abort", abort);
    }
  }

  /**
   * Whether an earlier life of this agent has replied; false as well when the time is over first.
   */
  async #isAnswered(
    { handed: { incoming } }: QueuedRequest,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { sequence, fields } = incoming;
    if (sequence > (this.#firstHead ?? Infinity) && fields.again !== true) return false;
    const { stands, agentId, runtime } = this.#ports;
    while (!signal.aborted) {
      try {
        return await stands(replyIdTo(incoming, agentId));
      } catch (error) {
        if (!(error instanceof StaticError)) throw error;
        await pause(runtime, error.retryAfterMs ?? retryMs, signal);
      }
    }
    return false;
  }

  /** On disk before the handler runs. */
  async #nextAttempt(key: string, deadlineMs: number): Promise<number> {
    const { records, relayNowMs, writeAlong } = this.#ports;
    const known = await this.#knownAttempts();
    const count = (known.get(key)?.count ?? 0) + 1;
    const over = [...known].filter(([, each]) => each.deadlineMs < relayNowMs()).map(([each]) =>
      each
    );
    for (const each of over) known.delete(each);
    known.set(key, { count, deadlineMs });
    await writeAlong([
      records.putAttempts(key, { count, deadlineMs }),
      ...over.filter((each) => each !== key).map((each) => records.deleteAttempts(each)),
    ]);
    return count;
  }

  #knownAttempts(): Promise<Map<string, AttemptCount>> {
    this.#attempts ??= this.#ports.records.attempts().then(
      (attempts) => new Map(attempts),
      (error) => {
        this.#attempts = undefined;
        throw error;
      },
    );
    return this.#attempts;
  }

  async #run(handler: RequestHandler, request: IncomingRequest): Promise<ReplyContent> {
    try {
      const value = await handler(request) ?? "";
      return { kind: "reply", fields: fieldsOf(value, {}), body: bodyOf(value) };
    } catch (thrown) {
      const { id, sender: { agentId } } = request;
      const answer = answerToFailure(thrown, request, this.#ports.runtime);
      this.#ports.tell({ type: "handler_failed", id, sender: agentId, error: answer ?? thrown });
      if (answer === undefined) {
        return failure("handler_failed", "The handler failed; its own side has the reason");
      }
      return failure(
        answer.remoteCode,
        answer.message,
        answer.retryable ? answer.retryAfterMs ?? 0 : undefined,
      );
    }
  }

  /** Until the relay has it; false when the time is over first. */
  async #send(waiting: QueuedRequest, reply: ReplyContent, signal: AbortSignal): Promise<boolean> {
    const { handed: { incoming }, deadlineMs } = waiting;
    const { send, agentId, runtime, relayNowMs } = this.#ports;
    const to = { to: [incoming.sender], replyTo: incoming.id, expiryMs: deadlineMs };
    const id = replyIdTo(incoming, agentId);
    let [sent, pauseMs, told] = [reply, retryMs, false];
    for (;;) {
      const timeoutMs = deadlineMs - relayNowMs();
      if (signal.aborted || timeoutMs <= 0) return false;
      try {
        await send(envelope({ kind: sent.kind, fields: { ...sent.fields, ...to } }, sent.body), {
          id,
          timeoutMs,
          signal,
        });
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        if (isCode(error, "payload_too_large", "invalid_request") && sent.kind === "reply") {
          sent = failure("reply_too_large", "The reply is larger than a message may be");
        } else {
          // Whatever it is, the handler has run: only the reply is tried again.
          if (
            !isCode(error, "quota_exceeded") &&
            !(error instanceof StaticError && error.retryable) && !told
          ) {
            this.#tellFailed(waiting, error);
            told = true;
          }
          await pause(
            runtime,
            (error instanceof StaticError ? error.retryAfterMs : undefined) ?? pauseMs,
            signal,
          );
          pauseMs = Math.min(2 * pauseMs, maxRetryMs);
        }
      }
    }
  }

  /** The relay has the reply: the request never comes again. */
  #finish({ handed, key }: QueuedRequest): void {
    this.#answered.add(key);
    const [oldest] = this.#answered;
    if (this.#answered.size > maxAnswered && oldest !== undefined) this.#answered.delete(oldest);
    this.#forget(handed, key);
  }

  #forget(handed: HandedMessage, key: string): void {
    const { records } = this.#ports;
    this.#knownAttempts().then(
      (known) => handed.done(known.delete(key) ? [records.deleteAttempts(key)] : []),
      // A record that cannot be read is not deleted either: it only costs its place.
      () => handed.done(),
    );
  }

  #tellFailed({ handed: { incoming: { id, sender } } }: QueuedRequest, fault: unknown): void {
    const error = fault instanceof StaticError
      ? fault
      : createError("internal", String(fault), { cause: fault });
    if (!this.#stop.signal.aborted) this.#ports.tell({ type: "reply_failed", id, sender, error });
  }

  /** Nobody could read the reply. */
  #drop({ handed, key }: QueuedRequest): void {
    const { id, sender } = handed.incoming;
    this.#ports.tell({ type: "request_dropped", id, sender });
    this.#forget(handed, key);
  }

  #expire({ handed, key }: QueuedRequest): void {
    if (this.#stop.signal.aborted) return;
    const { id, sender } = handed.incoming;
    this.#ports.tell({ type: "expired", kind: "request", id, sender });
    this.#forget(handed, key);
  }

  /** More wait than may. A handler's agent says so, one that serves nothing keeps quiet. */
  #turnAway(waiting: QueuedRequest): void {
    const { id, sender } = waiting.handed.incoming;
    this.#ports.tell({ type: "request_dropped", id, sender });
    if (this.#work === undefined) return waiting.handed.done();
    const busy = failure(
      "overloaded",
      "Too many requests wait for this handler; ask again later",
      0,
    );
    this.#send(waiting, busy, this.#stop.signal).catch(() => {}).then(() => waiting.handed.done());
  }

  #await(waiting: QueuedRequest): void {
    this.#waiting.set(waiting.key, waiting);
    this.#waitingBytes += waiting.handed.incoming.body.length;
    this.#sweepLater();
  }

  /** Nobody takes more than half of what may wait. */
  #hasRoomFor(sender: AgentId, length: number): boolean {
    if (this.#waiting.size >= maxWaiting || this.#waitingBytes + length > maxWaitingBytes) {
      return false;
    }
    const own = [...this.#waiting.values()].filter(({ handed }) =>
      handed.incoming.sender === sender
    );
    const bytes = own.reduce((sum, { handed }) => sum + handed.incoming.body.length, length);
    return own.length < maxWaiting / 2 && bytes <= maxWaitingBytes / 2;
  }

  #takeOut({ key, handed }: QueuedRequest): void {
    if (this.#waiting.delete(key)) this.#waitingBytes -= handed.incoming.body.length;
  }

  /** Takes out later the requests whose time is over while nobody has begun them. */
  #sweepLater(): void {
    this.#cancelSweep();
    const next = Math.min(...Array.from(this.#waiting.values(), ({ deadlineMs }) => deadlineMs));
    if (!Number.isFinite(next)) return;
    const { runtime, relayNowMs } = this.#ports;
    this.#cancelSweep = runtime.after(Math.max(0, next - relayNowMs()), () => {
      for (const waiting of this.#waiting.values()) {
        if (waiting.deadlineMs > relayNowMs()) continue;
        this.#takeOut(waiting);
        this.#expire(waiting);
      }
      this.#sweepLater();
    });
  }
}

function replyIdTo({ id, sender, fields }: IncomingEnvelope, agentId: AgentId): MessageId {
  return replyIdOf({ id, from: sender, secret: fields.replySecret ?? new Uint8Array(0) }, agentId);
}

interface ReplyContent {
  readonly kind: "reply" | "error";
  readonly fields: Pick<ContentFields, "contentType" | "error" | "retryAfterMs">;
  readonly body: Uint8Array;
}

/** `retryAfterMs`: the same request may succeed later; 0 when nobody knows when. */
function failure(code: string, text: string, retryAfterMs?: number): ReplyContent {
  const isCodeText = /^[\x20-\x7e]{1,64}$/.test(code);
  const retry = Number.isFinite(retryAfterMs)
    ? { retryAfterMs: Math.max(0, Math.ceil(retryAfterMs ?? 0)) }
    : {};
  return {
    kind: "error",
    fields: { error: isCodeText ? code : "failed", ...retry },
    body: new TextEncoder().encode(text.slice(0, maxErrorText)),
  };
}
