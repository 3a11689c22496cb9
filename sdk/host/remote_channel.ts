/**
 * A channel whose agent a host holds. Properties that are read without waiting show the state that
 * the host sent last; it comes with every event of the channel.
 */
import {
  channelOperations,
  type OperationExtras,
  type ResultOf,
} from "../../proto/host/operations.ts";
import {
  type ChannelId,
  type ChannelName,
  type ChannelPolicy,
  findAddressee,
  openPolicy,
  parseAgentId,
  parseChannelId,
  parseChannelName,
  type PolicyScope,
} from "../../proto/mod.ts";
import { createError, type StaticError } from "../base/errors.ts";
import { EventStream } from "../base/event_stream.ts";
import type { Runtime } from "../base/runtime.ts";
import type { ChannelHealth } from "../channel/condition.ts";
import type { ChannelEvent, MissedEvents } from "../channel/events.ts";
import type {
  EnvelopeOptions,
  InboxReader,
  ReceiveOptions,
} from "../channel/runner/inbox_runner.ts";
import type { ChannelMember } from "../channel/group/member_list.ts";
import { Newcomers } from "../channel/group/newcomers.ts";
import type { SendOptions, Sent } from "../channel/messages/send_options.ts";
import type { ChannelPort } from "../channel/port.ts";
import { waitForMember } from "../channel/runner/waiting_for_member.ts";
import type { Answer, Answers } from "../content/answers.ts";
import { Envelope } from "../content/envelope.ts";
import type { AskOptions } from "../content/requester.ts";
import type { RequestHandler, ServeOptions, Serving } from "../content/service.ts";
import {
  type Addressee,
  addresseesOf,
  bodyOf,
  type ContentOptions,
  fieldsOf,
  type Sendable,
} from "../content/values.ts";
import type { TransportName } from "../transport/transport.ts";
import { type HostAnswer, resultOf } from "./connection.ts";
import { HeaderFields } from "./fields.ts";
import type { FrameHeader } from "./frames.ts";
import { GroupedSends, sentOf } from "./grouped_sends.ts";
import type { HostLink } from "./host_link.ts";
import type { ReadAhead } from "./read_ahead.ts";
import { RecentMessages } from "./recent_messages.ts";
import { envelopeAt, readRemote } from "./remote_reader.ts";
import { serveRemote } from "./remote_serving.ts";
import { RemoteStream } from "./remote_stream.ts";
import { decodeError } from "./wire_errors.ts";
import { decodeEnvelope, decodeEvent, decodeKeyAge, decodeMember } from "./wire_values.ts";

export class RemoteChannel implements ChannelPort {
  readonly name: ChannelName;
  readonly id: ChannelId;
  readonly #host: HostLink;
  readonly #runtime: Runtime;
  readonly #newcomers: Newcomers;
  readonly #events = new EventStream<ChannelEvent>();
  #members: ChannelMember[] = [];
  #fingerprint = "";
  #policy: ChannelPolicy = openPolicy;
  #health: ChannelHealth;
  #over: StaticError | undefined;
  /** The messages that `receive` returned. */
  readonly #received = new RecentMessages();
  readonly #sends: GroupedSends;
  readonly #holding = new Set<ReadAhead>();

  constructor(link: HostLink, runtime: Runtime, state: HeaderFields) {
    this.#host = link;
    this.#runtime = runtime;
    this.name = parseChannelName(state.text("name"));
    this.#sends = new GroupedSends(link, runtime, this.name);
    this.id = parseChannelId(state.text("id"));
    this.#health = { ...healthOf(state), keys: [] };
    const members = state.optionalObjects("members") ?? [];
    this.#newcomers = new Newcomers(members.map((member) => decodeMember(member).agentId));
    this.update(state, []);
  }

  /** Messages that loops have and have not seen come again, to whom asks first. */
  giveBack(): void {
    for (const loop of [...this.#holding]) loop.giveBack();
  }

  /** Earlier sends go first, before any other call. */
  get #link(): HostLink {
    this.#sends.flush();
    return this.#host;
  }

  get over(): StaticError | undefined {
    return this.#over;
  }

  /** Takes the host's news about the channel. */
  update(state: HeaderFields, events: readonly HeaderFields[]): void {
    this.#fingerprint = state.text("fingerprint");
    this.#policy = policyFrom(state.optionalObject("policy"));
    const members = state.optionalObjects("members");
    if (members !== undefined) {
      this.#members = members.map(decodeMember);
      this.#newcomers.look(this.#members.map(({ agentId }) => agentId));
    }
    const keys = state.optionalObjects("keys")?.map(decodeKeyAge) ?? this.#health.keys;
    this.#health = { ...healthOf(state), keys };
    // cast: the host's own, of this version
    for (const each of events) this.#tell(decodeEvent(each) as unknown as ChannelEvent);
  }

  /** The host has gone, and the next one has not said anything. */
  lost(error: StaticError): void {
    if (this.#health.state === "ended") return;
    const [problem, action] = [
      "The host of this agent has gone",
      "It is being started again; there is nothing to do",
    ];
    this.#health = { ...this.#health, state: "offline", problem, action };
    this.#tell({ type: "disconnected", error, ...this.#now });
  }

  /** The next host says how it is. */
  back(state: HeaderFields, transport: TransportName | undefined): void {
    this.update(state, []);
    if (this.#health.state !== "offline" && transport !== undefined) {
      this.#tell({ type: "connected", transport, ...this.#now });
    }
  }

  /** The channel was left, or is closed. */
  ended(error: StaticError): void {
    this.#tell({ type: "ended", error, ...this.#now });
  }

  /** The client was closed. */
  end(): void {
    this.#over ??= createError("transport_error", "The client was closed; connect again");
    this.#events.end();
  }

  async act<Op extends keyof typeof channelOperations>(
    op: Op,
    fields: FrameHeader,
    given?: OperationExtras,
  ): Promise<ResultOf<typeof channelOperations[Op]>> {
    const all = { ...this.#named, ...fields };
    const answered = op === "removeMember"
      ? await this.#remove(all)
      : await this.#link.ask(op, all, given);
    const state = answered.fields.optionalObject("state");
    // The program sees at once what it has done.
    if (state !== undefined) this.update(state, []);
    return resultOf(channelOperations[op], answered);
  }

  policy(): ChannelPolicy {
    return this.#policy;
  }

  /**
   * The message has its id from here on, so that the next host can be given it again: the relay
   * takes it once.
   */
  async send(value: Sendable, options: SendOptions): Promise<Sent> {
    const { to, signal, queue, replyTo, expiresInMs, timeoutMs, receipt } = options;
    const fields = {
      ...contentOf(value, options),
      message: this.#sends.newId(),
      to: to && addresseesOf(to),
      replyTo,
      expiresInMs,
      queue,
      timeoutMs,
      receipt,
    };
    if (signal === undefined && queue !== true) {
      return await this.#sends.send(fields, bodyOf(value));
    }
    const given = { bytes: bodyOf(value), signal };
    return sentOf((await this.#link.ask("send", { ...this.#named, ...fields }, given)).fields);
  }

  /** With a key the next host continues it. */
  async request(
    value: Sendable,
    { to, ...options }: AskOptions & { readonly to: Addressee },
  ): Promise<Envelope> {
    const [member] = addresseesOf(to);
    const fields = { ...this.#asking(value, options), to: member };
    return envelopeOf(
      await this.#link.ask("request", fields, { bytes: bodyOf(value), signal: options.signal }),
    );
  }

  requestAll(
    value: Sendable,
    { to, ...options }: AskOptions & { readonly to: readonly Addressee[] },
  ): Answers {
    const fields = { ...this.#asking(value, options), to: addresseesOf(to) };
    const stream = new RemoteStream(this.#link, "requestAll", fields, {
      bytes: bodyOf(value),
      isOnce: true,
    });
    options.signal?.addEventListener("abort", () => void stream.end("end").catch(() => {}), {
      once: true,
    });
    const asked = stream.open();
    asked.catch(() => {});
    return {
      next: async () => {
        const answered = await stream.next();
        options.signal?.throwIfAborted();
        return answered === undefined
          ? { done: true, value: undefined }
          : { done: false, value: answerOf(answered) };
      },
      return: async () => {
        await stream.end("end");
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator](): Answers {
        return this;
      },
    };
  }

  serve(handler: RequestHandler, options: ServeOptions): Serving {
    if (this.#over !== undefined) throw this.#over;
    return serveRemote(this.#link, this.name, handler, options);
  }

  envelopes(options: EnvelopeOptions): InboxReader {
    this.giveBack();
    const [runtime, holding] = [this.#runtime, this.#holding];
    return readRemote(this.#link, this.name, options, {
      runtime,
      holding,
      onMissed: (messages) => this.#missed(messages),
    });
  }

  async receive(
    { timeoutMs, signal }: ReceiveOptions,
  ): Promise<IteratorResult<Envelope, undefined> | undefined> {
    this.giveBack();
    const deadlineMs = this.#runtime.nowMs() + (timeoutMs ?? 0);
    for (;;) {
      const leftMs = Math.max(0, deadlineMs - this.#runtime.nowMs());
      const fields = { ...this.#named, timeoutMs: timeoutMs === undefined ? undefined : leftMs };
      const answered = await this.#link.ask("receive", fields, { signal });
      if (answered.fields.flag("none")) return undefined;
      const value = this.#envelopeOf(answered);
      const key = `${value.sender.agentId}.${value.id}`;
      // The next host gives it again.
      if (this.#received.has(key)) continue;
      this.#received.add(key);
      return { done: false, value };
    }
  }

  events(
    signal: AbortSignal | undefined,
  ): AsyncIterableIterator<ChannelEvent | MissedEvents, undefined> {
    return this.#events.listen(signal);
  }

  members(): ChannelMember[] {
    return [...this.#members];
  }

  knownMembers(): ChannelMember[] {
    return this.members();
  }

  /** The host has done it. */
  prepareMembers(): Promise<void> {
    return Promise.resolve();
  }

  async waitForMember(
    wanted: Addressee | undefined,
    options: ReceiveOptions,
  ): Promise<ChannelMember | undefined> {
    return await waitForMember(wanted, options, {
      channel: this,
      newcomers: this.#newcomers,
      runtime: this.#runtime,
    });
  }

  skipped({ id, sender: { agentId } }: Envelope, why: string): void {
    this.#tell({ type: "skipped", why, id, sender: agentId, ...this.#now });
  }

  async numberOf(agentId: string): Promise<string> {
    return (await this.#link.ask("number", { ...this.#named, agentId })).fields.text("number");
  }

  fingerprint(): string {
    return this.#fingerprint;
  }

  health(): ChannelHealth {
    return this.#health;
  }

  async #remove(fields: FrameHeader): Promise<HostAnswer> {
    const named = fields["agentId"];
    const addressee = findAddressee(String(named), this.#members);
    const agentId = addressee.kind === "found" ? addressee.member.agentId : named;
    // A host that died then may have done it.
    const done = async (error: unknown): Promise<HostAnswer> => {
      const answered = await this.#link.ask("members", this.#named);
      const ids =
        answered.fields.optionalObjects("members")?.map((member) => member.text("agentId")) ?? [];
      if (ids.some((id) => id === agentId)) throw error;
      this.#members = this.#members.filter((member) => member.agentId !== agentId);
      return answered;
    };
    return await this.#link.ask("removeMember", { ...fields, agentId }, {}, done);
  }

  /** A message, whose sender may want to hear of it. */
  #envelopeOf({ fields, bytes }: HostAnswer): Envelope {
    const incoming = decodeEnvelope(
      fields.optionalObject("envelope") ?? new HeaderFields({}),
      bytes,
    );
    return envelopeAt(this.#link, this.name, incoming, () => Promise.resolve());
  }

  get #named(): FrameHeader {
    return { channel: this.name };
  }

  #asking(value: Sendable, options: AskOptions): FrameHeader {
    const { timeoutMs, key } = options;
    return { ...this.#named, ...contentOf(value, options), timeoutMs, key };
  }

  #tell(event: ChannelEvent): void {
    if (event.type === "ended") {
      this.#over = event.error ??
        createError("not_found", `Channel "${this.name}" was left; join it again`);
    }
    this.#events.tell(event);
    if (event.type === "ended") this.#events.end();
  }

  /** A reader of the host was too slow. */
  #missed(messages: number): void {
    this.#tell({ type: "gap", messages, reason: "size", ...this.#now });
  }

  get #now(): { readonly atMs: number; readonly channel: ChannelName } {
    return { atMs: this.#runtime.nowMs(), channel: this.name };
  }
}

function contentOf(value: Sendable, options: ContentOptions): FrameHeader {
  const { contentType } = fieldsOf(value, options);
  const { conversation, headers } = options;
  return { contentType, conversation, headers };
}

function policyFrom(fields: HeaderFields | undefined): ChannelPolicy {
  const scope = (field: string): PolicyScope =>
    fields?.one(field, ["members", "owners"]) ?? "members";
  return { admission: scope("admission"), posting: scope("posting") };
}

function healthOf(state: HeaderFields): ChannelHealth {
  return state.raw("health") as ChannelHealth; // cast: the host's own, of this version
}

function envelopeOf({ fields, bytes }: HostAnswer): Envelope {
  const envelope = fields.optionalObject("envelope") ?? new HeaderFields({});
  return new Envelope(decodeEnvelope(envelope, bytes), { ack: () => Promise.resolve() });
}

function answerOf(answered: HostAnswer): Answer {
  const from = parseAgentId(answered.fields.text("from"));
  const error = answered.fields.optionalObject("error");
  if (error !== undefined) return { from, ok: false, error: decodeError(error) };
  return { from, ok: true, reply: envelopeOf(answered) };
}
