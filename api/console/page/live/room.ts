/**
 * A channel as it stands on the page: what was said, what waits for an answer. It outlives connections. A message is on the page
 * from the moment it is typed, and one that could not be sent stays there, to be sent again.
 */
import { agentInWords, failureInWords } from "../../../../proto/mod.ts";
import type { Channel, ChannelMember, Envelope, IncomingRequest } from "static-sdk";

export interface Line {
  readonly id: number;
  readonly kind: "mine" | "theirs" | "asked" | "reply" | "question";
  /** The author. */
  readonly who: string;
  readonly text: string;
  readonly atMs: number;
  readonly state: "sending" | "sent" | "failed" | "waiting" | "done";
  readonly problem?: string;
  /** Of a question of somebody else's. */
  readonly answer?: (text: string) => void;
  /** Of what could not be sent. */
  readonly again?: () => void;
}

const maxLines = 500;
/** Characters of a message. */
const maxShown = 20_000;
const requestMs = 60_000;
const servedAtOnce = 16;

export class Room {
  #channel: Channel | undefined;
  #lines: readonly Line[] = [];
  #made = 0;
  #stop = new AbortController();

  constructor(readonly name: string, readonly changed: () => void) {}

  get lines(): readonly Line[] {
    return this.#lines;
  }

  get channel(): Channel | undefined {
    return this.#channel;
  }

  /** A new connection brings the channel again; what was said stays. */
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
    const line = this.#add({ kind: "mine", who: "you", text, state: "sending" });
    const send = async (): Promise<void> => {
      this.#change(line, { state: "sending" });
      try {
        if (this.#channel === undefined) throw new Error("The agent is not connected");
        await this.#channel.send(text);
        this.#change(line, { state: "sent" });
      } catch (error) {
        this.#change(line, { state: "failed", problem: failureInWords(error), again: () => void send() });
      }
    };
    void send();
  }

  request(to: Seen, text: string): void {
    const line = this.#add({ kind: "asked", who: `you to ${whoIs(to)}`, text, state: "waiting" });
    const ask = async (): Promise<void> => {
      this.#change(line, { state: "waiting" });
      try {
        if (this.#channel === undefined) throw new Error("The agent is not connected");
        const reply = await this.#channel.request(text, { to: to.agentId, timeoutMs: requestMs });
        this.#change(line, { state: "done" });
        this.#add({ kind: "reply", who: whoIs(to), text: contentOf(reply), state: "done" });
      } catch (error) {
        this.#change(line, { state: "failed", problem: failureInWords(error), again: () => void ask() });
      }
    };
    void ask();
  }

  async #read(channel: Channel, signal: AbortSignal): Promise<void> {
    try {
      for await (const envelope of channel.envelopes({ signal })) {
        this.#add({ kind: "theirs", who: whoIs(envelope.sender), text: contentOf(envelope), state: "done" });
      }
    } catch (error) {
      if (!signal.aborted) this.#add({ kind: "theirs", who: "Static", text: failureInWords(error), state: "failed" });
    }
  }

  /** A person answers: the question waits on the page until then. */
  #ask(request: IncomingRequest): Promise<string> {
    return new Promise((resolve) => {
      const line = this.#add({
        kind: "question",
        who: whoIs(request.sender),
        text: contentOf(request),
        state: "waiting",
        answer: (text) => {
          this.#change(line, { state: "done" });
          this.#add({ kind: "mine", who: `you to ${whoIs(request.sender)}`, text, state: "sent" });
          resolve(text);
        },
      });
      request.signal.addEventListener(
        "abort",
        () => this.#change(line, { state: "failed", problem: "It is too late." }),
      );
    });
  }

  #add(line: Omit<Line, "id" | "atMs">): number {
    const id = ++this.#made;
    this.#lines = [...this.#lines, { ...line, id, atMs: Date.now() }].slice(-maxLines);
    this.changed();
    return id;
  }

  #change(id: number, change: Partial<Line>): void {
    this.#lines = this.#lines.map((line) => {
      if (line.id !== id) return line;
      const { problem: _problem, again: _again, answer, ...rest } = line;
      return { ...rest, ...(change.state === "waiting" && answer !== undefined && { answer }), ...change };
    });
    this.changed();
  }
}

export type Seen = Pick<ChannelMember, "agentId" | "identity" | "keyUnchanged" | "knownAs">;

/** Names that agents chose themselves are claims; the agent id is always right. */
export function whoIs(agent: Seen): string {
  return `${agent.agentId}  ${agentInWords(agent)}`;
}

/** Anything may arrive; content that is not text is shown by its length. All lines are drawn anew with each that comes: so it is cut. */
export function contentOf(envelope: Pick<Envelope, "text" | "bytes">): string {
  try {
    const text = envelope.text();
    return text.length > maxShown ? `${text.slice(0, maxShown)}…\n(cut here, of ${text.length} characters)` : text;
  } catch {
    return `${envelope.bytes.length} bytes that are no text`;
  }
}
