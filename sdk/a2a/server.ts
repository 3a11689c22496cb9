/**
 * An A2A agent in a channel: requests of the channel become calls of its request handler, as they
 * would over HTTP. The body is that of A2A's JSON-RPC binding, so the A2A package reads and writes
 * it. The caller's name is the agent id of the sender.
 */
import { AgentCard, Extensions } from "@a2a-js/sdk";
import {
  type A2ARequestHandler,
  JsonRpcTransportHandler,
  ServerCallContext,
  STATE_HEADERS_KEY,
  validateVersion,
} from "@a2a-js/sdk/server";
import type {
  Channel,
  IncomingRequest,
  RequestHandler,
  Sendable,
  ServeOptions,
  Serving,
} from "../mod.ts";
import { findEarlierTask } from "./earlier_task.ts";
import {
  a2aBinding,
  cardMethod,
  contentType,
  eventHeader,
  extensionsHeader,
  field,
  formatPlace,
  maxBodyBytes,
  stopMethod,
  versionHeader,
} from "./wire.ts";

/** A call that runs for long, such as a stream, takes a place until it ends. */
const defaultConcurrency = 64;
/** Calls of one caller at once: a call may run for days, and others must have places left. */
const maxRunningOfOne = 16;
/** A stream's events are of use while it lasts; later nobody should find them among messages. */
const eventExpiryMs = 10 * 60_000;

type JsonRpcAnswer = Readonly<Record<string, unknown>>;

/**
 * Serves an A2A agent in a channel, like `channel.serve`. Requests of other content types are
 * refused; a program that has requests of its own, too, gives `createA2AHandler` those that
 * `isA2ARequest` knows.
 */
export function serveA2A(
  channel: Channel,
  agent: A2ARequestHandler,
  options: ServeOptions = {},
): Serving {
  return channel.serve(createA2AHandler(channel, agent), {
    concurrency: defaultConcurrency,
    ...options,
  });
}

/** Whether a request is one of A2A. */
export function isA2ARequest(request: IncomingRequest): boolean {
  return request.contentType === contentType;
}

/** Handles requests of A2A. Whatever happens, the requester gets a JSON-RPC response. */
export function createA2AHandler(channel: Channel, agent: A2ARequestHandler): RequestHandler {
  const handler = new A2AHandler(channel, agent);
  return (request) => handler.handle(request);
}

class A2AHandler {
  readonly #channel: Channel;
  readonly #agent: A2ARequestHandler;
  readonly #rpc: JsonRpcTransportHandler;
  /** Calls that run, by requester. */
  readonly #running = new Map<string, number>();
  /** Streams that run, by requester and conversation. */
  readonly #streams = new Map<string, AbortController>();

  constructor(channel: Channel, agent: A2ARequestHandler) {
    this.#channel = channel;
    this.#agent = agent;
    this.#rpc = new JsonRpcTransportHandler(agent);
  }

  async handle(request: IncomingRequest): Promise<Sendable> {
    const { agentId } = request.sender;
    const running = this.#running.get(agentId) ?? 0;
    this.#running.set(agentId, running + 1);
    let id: unknown = null;
    try {
      const body: unknown = request.json();
      id = field(body, "id") ?? null;
      if (running >= maxRunningOfOne) {
        throw new RangeError("Too many calls of this caller run; wait for one of them to end");
      }
      return sendable(await this.#call(request, body), id);
    } catch (error) {
      return sendable(failed(id, error), id);
    } finally {
      const left = (this.#running.get(agentId) ?? 1) - 1;
      if (left > 0) this.#running.set(agentId, left);
      else this.#running.delete(agentId);
    }
  }

  async #call(request: IncomingRequest, body: unknown): Promise<JsonRpcAnswer> {
    const [id, method] = [field(body, "id") ?? null, field(body, "method")];
    if (!isA2ARequest(request)) {
      throw new TypeError(`This agent takes requests of ${contentType} only`);
    }
    const card = await this.#agent.getAgentCard();
    if (method === cardMethod) return { jsonrpc: "2.0", id, result: AgentCard.toJSON(card) };
    if (method === stopMethod) return this.#stop(request, id);
    const context = contextOf(request);
    validateVersion(context.requestedVersion, card, a2aBinding);
    const earlier = request.attempt > 1
      ? await findEarlierTask(this.#agent, body, context)
      : undefined;
    const isStream = method === "SendStreamingMessage";
    if (earlier !== undefined) {
      const answer = { jsonrpc: "2.0", id, result: { task: earlier } };
      return isStream ? await this.#stream(request, id, [answer]) : answer;
    }
    // cast: the handler looks at every field itself
    const answered = await this.#rpc.handle(body as Record<string, unknown>, context);
    return Symbol.asyncIterator in answered
      ? await this.#stream(request, id, answered)
      : { ...answered };
  }

  /** Each event is a message of the request's conversation; the reply ends them. */
  async #stream(
    request: IncomingRequest,
    id: unknown,
    events: AsyncIterable<object> | object[],
  ): Promise<JsonRpcAnswer> {
    const { conversation, sender, attempt } = request;
    if (conversation === undefined) {
      throw new TypeError("A request for a stream names the conversation of its events");
    }
    const key = `${sender.agentId} ${conversation}`;
    if (this.#streams.has(key)) throw new TypeError("This conversation has a stream already");
    const stop = new AbortController();
    this.#streams.set(key, stop);
    const signal = AbortSignal.any([stop.signal, request.signal]);
    let count = 0;
    const end = (): object => ({ attempt, events: count });
    try {
      for await (const event of untilAborted(events, signal)) {
        const place = formatPlace({ attempt, number: count + 1 });
        await this.#channel.send(checkedText(event), {
          to: sender,
          conversation,
          contentType,
          replyTo: request.id,
          headers: { [eventHeader]: place },
          expiresInMs: eventExpiryMs,
          signal,
        });
        count++;
      }
      return { jsonrpc: "2.0", id, result: null, stream: end() };
    } catch (error) {
      if (stop.signal.aborted) return { jsonrpc: "2.0", id, result: null, stream: end() };
      return { ...failed(id, error), stream: end() };
    } finally {
      this.#streams.delete(key);
    }
  }

  /** Stops a stream of the same requester only. The task goes on; it is cancelled by CancelTask. */
  #stop({ sender, conversation }: IncomingRequest, id: unknown): JsonRpcAnswer {
    this.#streams.get(`${sender.agentId} ${conversation}`)?.abort();
    return { jsonrpc: "2.0", id, result: null };
  }
}

function contextOf({ sender, headers, id, attempt }: IncomingRequest): ServerCallContext {
  const version = headers[versionHeader];
  return new ServerCallContext({
    requestedExtensions: Extensions.parseServiceParameter(headers[extensionsHeader]),
    user: { isAuthenticated: sender.keyUnchanged, userName: sender.agentId },
    ...(version !== undefined && { requestedVersion: version }),
    state: new Map<string, unknown>([
      [STATE_HEADERS_KEY, headers],
      ["static", { sender, requestId: id, attempt }],
    ]),
  });
}

function failed(id: unknown, error: unknown): JsonRpcAnswer {
  return { jsonrpc: "2.0", id, error: JsonRpcTransportHandler.mapToJSONRPCError(error) };
}

/** A reply that no relay takes would be tried until the deadline. */
function sendable(answer: JsonRpcAnswer, id: unknown): Sendable {
  try {
    return checkedText(answer);
  } catch (error) {
    return JSON.stringify({
      ...failed(id, error),
      ...("stream" in answer && { stream: answer["stream"] }),
    });
  }
}

function checkedText(value: object): string {
  const text = JSON.stringify(value);
  const { length } = new TextEncoder().encode(text);
  if (length <= maxBodyBytes) return text;
  throw new RangeError(
    `The answer has ${length} bytes, and a channel carries ${maxBodyBytes}; ask for less of the history`,
  );
}

/** Ends when the signal is aborted, also while the next event is waited for. */
async function* untilAborted(
  events: AsyncIterable<object> | object[],
  signal: AbortSignal,
): AsyncGenerator<object> {
  let onAbort = (): void => {};
  const aborted = new Promise<undefined>((resolve) => onAbort = () => resolve(undefined));
  signal.addEventListener("abort", onAbort, { once: true });
  const iterator = Symbol.asyncIterator in events
    ? events[Symbol.asyncIterator]()
    : oneByOne(events);
  try {
    while (!signal.aborted) {
      const next = await Promise.race([iterator.next(), aborted]);
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    // The iterator may be waiting for an event that never comes.
    void iterator.return?.(undefined).catch(() => {});
  }
}

async function* oneByOne(events: readonly object[]): AsyncGenerator<object> {
  yield* events;
}
