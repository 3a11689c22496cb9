/**
 * Welcomes that the relay has delivered. One that somebody waits for (a join, a rejoin) goes there; any other waits here until
 * the application joins its channel. In memory only: the relay delivers a Welcome again until it is acknowledged.
 */
import type { AgentId, ChannelId, ChannelName, NoticeBody } from "../../proto/mod.ts";

export type Welcome = NoticeBody<"DeliverWelcome">;

/** Whoever waits says whether it took it. */
export type WelcomeTaker = (welcome: Welcome) => boolean;

/** An agent that is added to more channels than this at once joins some of them after the next connection. */
const maxWaiting = 1000;
/** A few of the largest, or hundreds of small ones: anybody may send them. */
const maxWaitingBytes = 16 * 1024 * 1024;

export class Welcomes {
  /** The latest of each sender: one of garbage does not take the place of a good one. */
  readonly #waiting = new Map<ChannelId, Map<AgentId, Welcome>>();
  readonly #takers = new Map<ChannelId, WelcomeTaker>();

  deliver(welcome: Welcome): void {
    const { channelId, sender } = welcome;
    if (this.#takers.get(channelId)?.(welcome) === true) return;
    const others = this.#all().filter((each) => each.channelId !== channelId || each.sender !== sender);
    const bytes = others.reduce((sum, other) => sum + other.welcome.length, welcome.welcome.length);
    if (others.length >= maxWaiting || bytes > maxWaitingBytes) return;
    const here = this.#waiting.get(channelId) ?? new Map<AgentId, Welcome>();
    this.#waiting.set(channelId, here.set(sender, welcome));
  }

  /** From now on Welcomes to this channel go to `taker`, beginning with those that are here already. Answers how to stop. */
  expect(channelId: ChannelId, taker: WelcomeTaker): () => void {
    this.#takers.set(channelId, taker);
    for (const here of this.#waiting.get(channelId)?.values() ?? []) {
      if (taker(here)) this.#forgetOne(here);
    }
    return () => {
      if (this.#takers.get(channelId) === taker) this.#takers.delete(channelId);
    };
  }

  /** All that wait for this name; at most one of them is of use. */
  find(name: ChannelName): Welcome[] {
    return this.#all().filter((welcome) => welcome.name === name);
  }

  /** The channel was joined, or its Welcome is of no use. */
  forget(channelId: ChannelId): void {
    this.#waiting.delete(channelId);
  }

  get names(): ChannelName[] {
    return [...new Set(this.#all().map(({ name }) => name))];
  }

  #all(): Welcome[] {
    return Array.from(this.#waiting.values(), (here) => [...here.values()]).flat();
  }

  #forgetOne({ channelId, sender }: Welcome): void {
    const here = this.#waiting.get(channelId);
    here?.delete(sender);
    if (here?.size === 0) this.#waiting.delete(channelId);
  }
}
