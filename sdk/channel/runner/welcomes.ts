/**
 * Welcomes that the relay has delivered. One that somebody waits for (a join, a rejoin) goes there;
 * any other waits here until the application joins its channel. In memory only: the relay delivers
 * a Welcome again until it is acknowledged.
 */
import {
  type AgentId,
  type ChannelId,
  type ChannelName,
  limits,
  type NoticeBody,
} from "../../../proto/mod.ts";
import { createError } from "../../base/errors.ts";
import { pause, type Runtime } from "../../base/runtime.ts";

export type Welcome = NoticeBody<"DeliverWelcome">;

/** Returns whether the waiting part took the Welcome. */
export type WelcomeTaker = (welcome: Welcome) => boolean;

/**
 * An agent that is added to more channels than this at once joins some of them after the next
 * connection.
 */
const maxWaiting = 1000;
/** A few of the largest, or hundreds of small ones: anybody may send them. */
const maxWaitingBytes = 16 * 1024 * 1024;
/** How long somebody who joins waits for one that is on its way. */
const arrivalMs = 2000;

export class Welcomes {
  /** The latest of each sender: one of garbage does not take the place of a good one. */
  readonly #waiting = new Map<ChannelId, Map<AgentId, Welcome>>();
  readonly #takers = new Map<ChannelId, WelcomeTaker>();

  readonly #onWaiting: (name: ChannelName) => void;
  readonly #arrivals = new Set<() => void>();

  /** `onWaiting` hears of those that nobody waits for. */
  constructor(onWaiting: (name: ChannelName) => void = () => {}) {
    this.#onWaiting = onWaiting;
  }

  /**
   * Resolves when one for this name is here, or when none has come in a while: the relay delivers
   * them after it connects.
   */
  async arrival(name: string, runtime: Runtime): Promise<void> {
    const isHere = (): boolean => this.names.some((each) => each === name);
    if (isHere()) return;
    const stop = new AbortController();
    const look = (): void => isHere() ? stop.abort() : undefined;
    this.#arrivals.add(look);
    await pause(runtime, arrivalMs, stop.signal);
    this.#arrivals.delete(look);
  }

  deliver(welcome: Welcome): void {
    const { channelId, sender } = welcome;
    if (this.#takers.get(channelId)?.(welcome) === true) return;
    const others = this.#all().filter((each) =>
      each.channelId !== channelId || each.sender !== sender
    );
    const bytes = others.reduce((sum, other) => sum + other.welcome.length, welcome.welcome.length);
    if (others.length >= maxWaiting || bytes > maxWaitingBytes) return;
    const here = this.#waiting.get(channelId) ?? new Map<AgentId, Welcome>();
    this.#waiting.set(channelId, here.set(sender, welcome));
    for (const look of this.#arrivals) look();
    this.#onWaiting(welcome.name);
  }

  /**
   * From now on Welcomes to this channel go to `taker`, beginning with those that are here already.
   * Returns a function to stop that.
   */
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

/** Throws `StaticError` for bytes that cannot be a Welcome. */
export function checkWelcome(welcome: Uint8Array): Uint8Array {
  if (welcome.length > 0 && welcome.length <= limits.welcomeBytes) return welcome;
  throw createError(
    "mls_error",
    `Cannot join: a Welcome has 1 to ${limits.welcomeBytes} bytes, got ${welcome.length}`,
  );
}
