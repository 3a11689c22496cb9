/**
 * Welcomes that the relay has delivered. One that somebody waits for (a join, a rejoin) goes there; any other waits here until
 * the application joins its channel. In memory only: the relay delivers a Welcome again until it is acknowledged.
 */
import type { ChannelId, ChannelName, NoticeBody } from "../../proto/mod.ts";

export type Welcome = NoticeBody<"DeliverWelcome">;

/** Whoever waits says whether it took it. */
export type WelcomeTaker = (welcome: Welcome) => boolean;

/** An agent that is added to more channels than this at once joins some of them after the next connection. */
const maxWaiting = 1000;
/** A few of the largest, or hundreds of small ones: anybody may send them. */
const maxWaitingBytes = 16 * 1024 * 1024;

export class Welcomes {
  readonly #waiting = new Map<ChannelId, Welcome>();
  readonly #takers = new Map<ChannelId, WelcomeTaker>();

  deliver(welcome: Welcome): void {
    if (this.#takers.get(welcome.channelId)?.(welcome) === true) return;
    const others = [...this.#waiting.values()].filter(({ channelId }) => channelId !== welcome.channelId);
    const bytes = others.reduce((sum, other) => sum + other.welcome.length, welcome.welcome.length);
    if (others.length < maxWaiting && bytes <= maxWaitingBytes) this.#waiting.set(welcome.channelId, welcome);
  }

  /** From now on Welcomes to this channel go to `taker`, beginning with one that is here already. Answers how to stop. */
  expect(channelId: ChannelId, taker: WelcomeTaker): () => void {
    this.#takers.set(channelId, taker);
    const here = this.#waiting.get(channelId);
    if (here !== undefined && taker(here)) this.#waiting.delete(channelId);
    return () => {
      if (this.#takers.get(channelId) === taker) this.#takers.delete(channelId);
    };
  }

  find(name: ChannelName): Welcome | undefined {
    return [...this.#waiting.values()].find((welcome) => welcome.name === name);
  }

  /** The channel was joined, or its Welcome is of no use. */
  forget(channelId: ChannelId): void {
    this.#waiting.delete(channelId);
  }

  get names(): ChannelName[] {
    return Array.from(this.#waiting.values(), ({ name }) => name);
  }
}
