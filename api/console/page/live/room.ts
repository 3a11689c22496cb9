/**
 * A channel of this tab's agent. It outlives connections: what was said stays. It carries out what
 * its reader does, and turns what comes in into turns of the conversation; `conversation.ts`
 * decides what becomes of them.
 */
import { failureInWords } from "../../../../proto/mod.ts";
import type { Channel, Envelope, IncomingRequest } from "static-sdk";
import {
  type Conversation,
  type ConversationTurn,
  converse,
  silence,
  type Speaker,
} from "./conversation.ts";
import { inWords } from "./display_name.ts";

/** Characters of a message. */
const maxShown = 20_000;
const requestMs = 60_000;
const servedAtOnce = 16;

export class ChatRoom {
  #channel: Channel | undefined;
  #conversation = silence;
  /** Gives others the answer that they wait for, by the id of the request. */
  readonly #awaited = new Map<number, (text: string) => void>();
  #stop = new AbortController();

  /** `self` is the tab's agent. */
  constructor(readonly name: string, readonly self: Speaker, readonly changed: () => void) {}

  get conversation(): Conversation {
    return this.#conversation;
  }

  get channel(): Channel | undefined {
    return this.#channel;
  }

  attach(channel: Channel): void {
    this.detach();
    this.#channel = channel;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const serving = channel.serve((request) => this.#ask(request), { concurrency: servedAtOnce });
    signal.addEventListener("abort", () => void serving.stop());
    void this.#read(channel, signal);
    this.changed();
  }

  detach(): void {
    this.#stop.abort();
    this.#channel = undefined;
  }

  say(text: string): void {
    const id = this.#turn({ do: "say", from: this.self, text, atMs: Date.now() });
    void this.#try(id, async (channel) => {
      await channel.send(text);
      this.#turn({ do: "sent", id });
    });
  }

  request(to: Speaker, text: string): void {
    const id = this.#turn({ do: "ask", from: this.self, to: [to], text, atMs: Date.now() });
    void this.#try(id, (channel) => this.#request(channel, { id, to, text }));
  }

  /** Sends what could not be sent. */
  again(id: number): void {
    const entry = this.#conversation.entries.find((each) => each.id === id);
    if (entry === undefined || entry.kind === "news") return;
    const { text } = entry;
    this.#turn({ do: "again", id });
    void this.#try(id, async (channel) => {
      if (entry.kind === "request" && entry.to[0] !== undefined) {
        return await this.#request(channel, { id, to: entry.to[0], text });
      }
      await channel.send(text);
      this.#turn({ do: "sent", id });
    });
  }

  answer(id: number, text: string): void {
    this.#turn({ do: "reply", of: id, reply: { from: this.self, text, atMs: Date.now() } });
    this.#awaited.get(id)?.(text);
  }

  /** The reader has seen everything. */
  read(): void {
    this.#turn({ do: "read" });
  }

  tell(text: string, atMs: number): void {
    this.#turn({ do: "tell", text, atMs });
  }

  async #request(
    channel: Channel,
    asked: { id: number; to: Speaker; text: string },
  ): Promise<void> {
    const reply = await channel.request(asked.text, { to: asked.to.agentId, timeoutMs: requestMs });
    this.#turn({
      do: "reply",
      of: asked.id,
      reply: { from: asked.to, text: contentOf(reply), atMs: reply.timeMs },
    });
  }

  async #try(id: number, work: (channel: Channel) => Promise<void>): Promise<void> {
    try {
      if (this.#channel === undefined) throw new Error("The agent is not connected");
      await work(this.#channel);
    } catch (error) {
      this.#turn({ do: "fail", id, problem: failureInWords(error) });
    }
  }

  async #read(channel: Channel, signal: AbortSignal): Promise<void> {
    try {
      for await (const envelope of channel.envelopes({ signal, all: true })) this.#hear(envelope);
    } catch (error) {
      if (!signal.aborted) this.tell(failureInWords(error), Date.now());
    }
  }

  /**
   * Members see what others ask each other, too. Requests and replies to this agent come by `serve`
   * and `request`.
   */
  #hear(envelope: Envelope): void {
    const { kind, id, sender: from, to = [], replyTo, timeMs: atMs } = envelope;
    const text = contentOf(envelope);
    const isMine = to.includes(this.self.agentId);
    if (!from.keyUnchanged) {
      return this.tell(
        `A message is not shown: ${inWords(from)} has another key than before.`,
        atMs,
      );
    }
    if (kind === "message") this.#turn({ do: "hear", from, text, atMs });
    else if (isMine) return;
    else if (kind === "request") {
      this.#turn({ do: "ask", from, to: this.#members(to), text, atMs, key: id });
    } else {this.#turn({
        do: "reply",
        of: replyTo ?? "",
        reply: { from, text, atMs, isError: kind === "error" },
      });}
  }

  #members(ids: readonly string[]): readonly Speaker[] {
    return this.#channel?.members().filter(({ agentId }) => ids.includes(agentId)) ?? [];
  }

  /** A person answers: the question waits on the page until then. */
  #ask(request: IncomingRequest): Promise<string> {
    const [from, atMs] = [request.sender, request.timeMs];
    const id = this.#turn({ do: "ask", from, to: [this.self], text: contentOf(request), atMs });
    return new Promise((resolve) => {
      this.#awaited.set(id, resolve);
      request.signal.addEventListener("abort", () => {
        this.#awaited.delete(id);
        this.#turn({ do: "fail", id, problem: "It is too late to answer." });
      });
    });
  }

  /** Returns the id of the entry, where the turn adds one. */
  #turn(turn: ConversationTurn): number {
    const { next } = this.#conversation;
    const after = converse(this.#conversation, turn);
    if (after !== this.#conversation) {
      this.#conversation = after;
      this.changed();
    }
    return next;
  }
}

/**
 * Anything may arrive; content that is not text is shown by its length. All lines are drawn anew
 * with each that comes: so it is cut.
 */
export function contentOf(envelope: Pick<Envelope, "text" | "bytes">): string {
  try {
    const text = envelope.text();
    return text.length > maxShown
      ? `${text.slice(0, maxShown)}…\n(cut here, of ${text.length} characters)`
      : text;
  } catch {
    return `${envelope.bytes.length} bytes that are no text`;
  }
}
