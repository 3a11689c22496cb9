/**
 * A2A calls to a member of a channel. The A2A package's own JSON-RPC transport makes them; what it
 * would post over HTTP is a request in the channel, so both sides of the package work as they do
 * over HTTP, and an agent that is offline is waited for.
 */
import {
  AgentCard,
  type AgentInterface,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
} from "@a2a-js/sdk";
import {
  type AgentCardResolver,
  JsonRpcTransportFactory,
  type RequestOptions,
  TenantTransportDecorator,
  type Transport,
  type TransportFactory,
} from "@a2a-js/sdk/client";
import type { Channel } from "../mod.ts";
import { createError } from "../base/errors.ts";
import { parseAgentUrl } from "./address.ts";
import type { Callee, ChannelCall } from "./calls.ts";
import { openStream } from "./stream.ts";
import {
  a2aBinding,
  cardMethod,
  contentType,
  field,
  reservedHeaders,
  versionHeader,
  withShortError,
} from "./wire.ts";

/** Opens channels: a `StaticClient` or a `ChannelManager`. */
export interface ChannelSource {
  channel(name: string): Promise<Channel>;
}

/** How calls are made. */
export interface ChannelTransportOptions {
  /**
   * How long a call may take, also while the agent is offline: one hour when not given, at most 7
   * days.
   */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 60 * 60_000;
const streamType = "text/event-stream";

/** Makes transports for the `ClientFactory` of `@a2a-js/sdk`. */
export class ChannelTransportFactory implements TransportFactory {
  readonly #source: ChannelSource;
  readonly #options: ChannelTransportOptions;

  /** The channels are those that the client is in. */
  constructor(source: ChannelSource, options: ChannelTransportOptions = {}) {
    this.#source = source;
    this.#options = options;
  }

  /** The binding's identifier in cards. */
  get protocolName(): string {
    return a2aBinding;
  }

  /**
   * Creates the transport for the address in a card. Throws `StaticError` when this agent is not in
   * that channel.
   */
  async create(url: string, agentCard: AgentCard): Promise<Transport> {
    const callee = await calleeOf(this.#source, url, this.#options);
    const post: typeof globalThis.fetch = (_address, init = {}) => postTo(callee, init);
    return new ChannelTransport(
      await new JsonRpcTransportFactory({ fetchImpl: post }).create(url, agentCard),
      "",
    );
  }
}

/** Asks an agent for its card, for `ClientFactory.createFromUrl`. */
export class ChannelCardResolver implements AgentCardResolver {
  readonly #source: ChannelSource;
  readonly #options: ChannelTransportOptions;

  /** The channels are those that the client is in. */
  constructor(source: ChannelSource, options: ChannelTransportOptions = {}) {
    this.#source = source;
    this.#options = options;
  }

  /**
   * `baseUrl` is an address that `agentUrl` makes. Of the ways in which the card says that the
   * agent is reached, this one is kept.
   */
  async resolve(baseUrl: string): Promise<AgentCard> {
    const callee = await calleeOf(this.#source, baseUrl, this.#options);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: cardMethod, params: {} });
    const answer: unknown = JSON.parse(await ask(callee, { body, headers: {} }));
    const error = field(answer, "error");
    if (error !== undefined) {
      throw createError(
        "transport_error",
        `The agent does not give its card: ${String(field(error, "message"))}`,
      );
    }
    const card = AgentCard.fromJSON(field(answer, "result"));
    // A card must not send calls elsewhere: to another member, or out of the encryption.
    const isHere = ({ protocolBinding, url }: AgentInterface): boolean =>
      protocolBinding === a2aBinding && url === baseUrl;
    const supportedInterfaces = card.supportedInterfaces.filter(isHere);
    if (supportedInterfaces.length > 0) return { ...card, supportedInterfaces };
    throw createError("transport_error", "The agent's card does not say that it is reached here");
  }
}

/**
 * The same calls under this binding's name. A stream that nobody reads any more is ended: the
 * package only stops reading it.
 */
class ChannelTransport extends TenantTransportDecorator {
  override get protocolName(): string {
    return a2aBinding;
  }

  override async *sendMessageStream(
    params: SendMessageRequest,
    options: RequestOptions = {},
  ): AsyncGenerator<StreamResponse, void, undefined> {
    yield* whileRead(options, (given) => super.sendMessageStream(params, given));
  }

  override async *resubscribeTask(
    params: SubscribeToTaskRequest,
    options: RequestOptions = {},
  ): AsyncGenerator<StreamResponse, void, undefined> {
    yield* whileRead(options, (given) => super.resubscribeTask(params, given));
  }
}

async function* whileRead<T>(
  options: RequestOptions,
  open: (options: RequestOptions) => AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  const stop = new AbortController();
  const signal = options.signal === undefined
    ? stop.signal
    : AbortSignal.any([options.signal, stop.signal]);
  try {
    yield* open({ ...options, signal });
  } finally {
    stop.abort();
  }
}

async function calleeOf(
  source: ChannelSource,
  url: string,
  options: ChannelTransportOptions,
): Promise<Callee> {
  const { channel, agentId } = parseAgentUrl(url);
  return {
    channel: await source.channel(channel),
    agentId,
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
  };
}

/** Sends a request that the A2A package posts. */
async function postTo(
  callee: Callee,
  { body, headers: given, signal }: RequestInit,
): Promise<Response> {
  const all = new Headers(given);
  const headers = Object.fromEntries([...all].filter(([name]) => !reservedHeaders.has(name)));
  const call: ChannelCall = { body: String(body), headers, ...(signal && { signal }) };
  if (all.get("accept") === streamType) return await openStream(callee, call);
  return new Response(await ask(callee, call), { headers: { "content-type": "application/json" } });
}

async function ask(
  { channel, agentId, timeoutMs }: Callee,
  { body, headers, signal }: ChannelCall,
): Promise<string> {
  const reply = await channel.request(body, {
    to: agentId,
    contentType,
    headers: { [versionHeader]: "1.0", ...headers },
    timeoutMs,
    signal,
  });
  return withShortError(reply.text());
}
