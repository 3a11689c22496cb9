/**
 * A simulated agent: one connection at a time, what it was pushed, and what it has sent and may
 * send again.
 */
import type {
  AgentId,
  CallName,
  ChannelId,
  NoticeBody,
  NoticeEnvelope,
  ReplyBody,
  RequestBody,
} from "../../../proto/mod.ts";
import { CallRefused, type TestAgent, type TestClient } from "./client.ts";
import type { Outcome } from "./simulation_auditor.ts";
import { Reader, type Reading } from "./simulation_reader.ts";
import type { SimulatedRelay } from "./simulation_relay.ts";
import { startMs, tokenOf } from "./world.ts";

const tokenMs = 1_000 * 24 * 60 * 60 * 1000;
/** After this long a notice has surely reached the channel, if the relay still lives. */
const noticeMs = 2_000;

export interface Sent<Name extends "SendMessage" | "SendCommit"> {
  readonly atMs: number;
  readonly body: RequestBody<Name>;
}

export class SimulatedAgent {
  readonly agent: TestAgent;
  readonly account: number;
  client: TestClient | undefined;
  reader: Reader;
  /** Authenticated and, as far as it knows, connected. */
  ready = false;
  stalled = false;
  /** KeyPackages on the relay at the last authentication. */
  keyPackages = 0;
  readonly messages: Sent<"SendMessage">[] = [];
  readonly commits: Sent<"SendCommit">[] = [];
  joinRequests: NoticeBody<"DeliverJoinRequest">[] = [];
  rejoinRequests: NoticeBody<"DeliverRejoinRequest">[] = [];
  readonly #relay: SimulatedRelay;
  #tag = 0;

  constructor(agent: TestAgent, account: number, relay: SimulatedRelay) {
    this.agent = agent;
    this.account = account;
    this.#relay = relay;
    this.reader = new Reader(agent.agentId, relay.auditor);
  }

  get agentId(): AgentId {
    return this.agent.agentId;
  }

  get isConnected(): boolean {
    return this.ready && this.client?.ended === undefined;
  }

  /** Subscriptions that go on. */
  get readings(): Reading[] {
    return [...this.reader.readings.values()].filter(({ ended }) => !ended);
  }

  /** A new connection; an older one is left open, and the relay must replace it. */
  connect(): void {
    const client = this.#relay.connect();
    const reader = new Reader(this.agentId, this.#relay.auditor);
    client.onNotice = (notice) => {
      reader.hear(notice);
      this.#remember(notice);
    };
    this.client = client;
    this.reader = reader;
    this.ready = false;
    this.stalled = false;
    const token = tokenOf(this.account, startMs + tokenMs);
    client.authenticate(this.agent, token).then(({ agentId, keyPackages }) => {
      this.#relay.auditor.check(
        agentId === this.agentId,
        `${this.agentId} was taken for ${agentId}`,
      );
      if (this.client !== client) return;
      this.ready = true;
      this.keyPackages = keyPackages;
    }).catch((error: unknown) => {
      if (error instanceof CallRefused) {
        this.#relay.auditor.report(`authentication: ${error.message}`);
      }
    });
  }

  disconnect(): void {
    this.client?.close();
    this.client = undefined;
    this.ready = false;
  }

  /** Asks without waiting. The auditor hears of it first. */
  async ask<Name extends CallName>(
    operation: Name,
    body: RequestBody<Name>,
  ): Promise<Outcome<Name>> {
    const answer = this.#relay.auditor.asked(this.agentId, operation, body);
    const outcome = await this.#call(operation, body);
    answer(outcome);
    return outcome;
  }

  subscribe(
    channelId: ChannelId,
    windowBytes: number,
    after?: number,
  ): Promise<Outcome<"Subscribe">> {
    const tag = ++this.#tag;
    this.reader.asked.set(tag, after);
    return this.ask("Subscribe", {
      channelId,
      windowBytes,
      tag,
      ...(after !== undefined && { after }),
    });
  }

  async unsubscribe(channelId: ChannelId): Promise<void> {
    const reading = this.reader.readings.get(channelId);
    const outcome = await this.ask("Unsubscribe", { channelId });
    if (outcome.kind === "reply" && reading !== undefined) reading.ended = true;
  }

  acknowledge(
    channelId: ChannelId,
    consumed: number,
    received: number,
    quiet: boolean,
  ): Promise<unknown> | undefined {
    const { auditor, time } = this.#relay;
    const stay = auditor.channel(channelId)?.lastStay(this.agentId);
    if (stay !== undefined) stay.acknowledged.asked = Math.max(stay.acknowledged.asked, consumed);
    const body = { channelId, consumed, received };
    if (!quiet) return this.ask("Acknowledge", body);
    this.client?.notify("Acknowledge", body);
    const { life } = auditor;
    if (this.client === undefined || stay === undefined) return undefined;
    time.after(noticeMs, () => {
      if (life !== auditor.life) return;
      stay.acknowledged.known = Math.max(stay.acknowledged.known, consumed);
    });
    return undefined;
  }

  async #call<Name extends CallName>(
    operation: Name,
    body: RequestBody<Name>,
  ): Promise<Outcome<Name>> {
    if (this.client === undefined) return { kind: "lost" };
    try {
      const reply: ReplyBody<Name> = await this.client.call(operation, body);
      return { kind: "reply", body: reply };
    } catch (error) {
      return error instanceof CallRefused
        ? { kind: "refused", body: error.body }
        : { kind: "lost" };
    }
  }

  #remember({ operation, body }: NoticeEnvelope): void {
    if (operation === "DeliverJoinRequest") {
      this.joinRequests.push(body as NoticeBody<"DeliverJoinRequest">);
    }
    if (operation === "DeliverRejoinRequest") {
      this.rejoinRequests.push(body as NoticeBody<"DeliverRejoinRequest">);
    }
  }
}
