/**
 * Receipts for a model: what became of the messages of this session that it asked about, told once
 * each, and which messages of others may be called done.
 */
import type { Channel, Envelope, ReceiptState } from "../../sdk/mod.ts";
import type { AgentLink } from "./agent_link.ts";
import type { GivenMessage } from "./feed.ts";
import type { HeldMessages } from "./held_messages.ts";
import { refused } from "./refusal.ts";

/** A receipt for a model: nothing in it is the choice of another agent. */
export interface ReceiptView {
  readonly channel: string;
  readonly id: string;
  readonly agent_id: string;
  readonly state: ReceiptState;
}

interface TrackedMessage {
  readonly channel: Channel;
  /** By addressee, as the model was told. */
  readonly told: Map<string, ReceiptState>;
}

type ReceiptSubject = Pick<Envelope, "id" | "receipt"> & {
  readonly sender: Pick<Envelope["sender"], "agentId">;
};

/** The latest; of others the model is told no more. */
const maxAsked = 100;
const maxShown = 1000;

export class SessionReceipts {
  /** Channels that are listened to. */
  readonly #heard = new WeakSet<Channel>();
  #coming = new AbortController();
  readonly #asked = new Map<string, TrackedMessage>();
  /** Messages that the model was given and that may be done, by channel, sender and id. */
  readonly #shown = new Map<string, ReceiptSubject>();

  /** The model has sent it, and asks. */
  ask(channel: Channel, id: string): void {
    keep(this.#asked, id, { channel, told: new Map() }, maxAsked);
    if (this.#heard.has(channel)) return;
    this.#heard.add(channel);
    void this.#hear(channel);
  }

  /** Aborted when there may be news. */
  get coming(): AbortSignal {
    return this.#coming.signal;
  }

  async #hear(channel: Channel): Promise<void> {
    for await (const event of channel.events()) {
      const mayBeNews = event.type === "receipt"
        ? this.#asked.has(event.id)
        // Nobody was told of what came before.
        : event.type === "missed" || event.type === "connected";
      if (!mayBeNews) continue;
      this.#coming.abort();
      this.#coming = new AbortController();
    }
  }

  /** The model is given it. */
  show(channel: string, message: ReceiptSubject): void {
    if (message.receipt !== "done") return;
    keep(this.#shown, keyOf(channel, message.sender.agentId, message.id), message, maxShown);
  }

  /** Returns the receipts that the model has not been told. */
  async news(): Promise<ReceiptView[]> {
    const news: ReceiptView[] = [];
    for (const [id, { channel, told }] of this.#asked) {
      // One that cannot be asked now is asked with the next call.
      const receipts = await channel.receiptsOf(id).catch(() => []);
      for (const { agentId, state } of receipts) {
        if (state === undefined || told.get(agentId) === state) continue;
        news.push({ channel: channel.name, id, agent_id: agentId, state });
      }
      const isOver = receipts.every(({ agentId, state }) =>
        isLast(state) && told.get(agentId) === state
      );
      if (receipts.length > 0 && isOver) this.#asked.delete(id);
    }
    return news;
  }

  /** The model has them. */
  told(news: readonly ReceiptView[]): void {
    for (const { id, agent_id, state } of news) {
      this.#asked.get(id)?.told.set(agent_id, state);
    }
  }

  /** Throws for a message whose sender does not want to know, or that this session was not given. */
  async done(channel: Channel, id: string, from: string): Promise<void> {
    const message = this.#shown.get(keyOf(channel.name, from, id));
    if (message === undefined) {
      throw refused(
        "Not told: wait has returned no message of this id and agent_id with wants_done",
      );
    }
    await channel.giveReceipt(message, "done");
  }
}

function isLast(state: ReceiptState | undefined): boolean {
  return state === "done" || state === "refused";
}

function keyOf(channel: string, sender: string, id: string): string {
  return `${channel} ${sender} ${id}`;
}

/** The latest, up to so many. */
function keep<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}

/**
 * Messages that a person has released, with what their senders want to know: that they are
 * delivered when the model has them. Those that were dropped are told first.
 */
export function releasedWith(
  { link, held }: { readonly link: AgentLink; readonly held: HeldMessages },
  released: () => Promise<readonly GivenMessage[]>,
): () => Promise<readonly GivenMessage[]> {
  return async () => {
    for (const { channel, message } of await held.dropped()) {
      await tell(link, { channel, message }, "refused");
      await held.toldDropped(message);
    }
    return (await released()).map((each) => ({
      ...each,
      ack: async () => {
        await tell(link, each, "delivered");
        await each.ack();
      },
    }));
  };
}

async function tell(
  link: AgentLink,
  { channel, message }: Pick<GivenMessage, "channel" | "message">,
  state: "delivered" | "refused",
): Promise<void> {
  if (message.receipt === undefined) return;
  // In a channel that was left nobody can be told.
  await link.channel(channel).then((found) => found.giveReceipt(message, state)).catch(() => {});
}
