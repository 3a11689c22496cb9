/**
 * The way back for a member that cannot follow the log any more: it asks, with the key of its old leaf, to be removed and
 * added again. Until a member answers it asks again from time to time. What was said in between is lost to it, and reported.
 */
import { rejoinStatement } from "../../proto/mod.ts";
import { createDeferred } from "../base/deferred.ts";
import { createError, isCode, type StaticError } from "../base/errors.ts";
import { jitter, pause } from "../base/runtime.ts";
import { Group } from "../mls/group.ts";
import type { OwnKeyPackage } from "../mls/key_package.ts";
import { type ChannelDeps, memberDepsOf } from "./deps.ts";
import { writeEntered } from "./entering.ts";
import { toStaticError } from "./faults.ts";
import { hashOfKeyPackage, type Membership } from "./membership.ts";
import type { Welcome } from "./welcomes.ts";

const firstPauseMs = 1000;
const maxPauseMs = 60_000;
/** A request that nobody answered this long is made anew. */
const answerMs = 10_000;

export interface RejoinEvents {
  /** In again: the log goes on after this entry. */
  readonly onJoined: (joinedSequence: number) => Promise<void>;
  /** There is no way back. */
  readonly onRefused: (error: StaticError) => void;
}

export class Rejoiner {
  readonly #deps: ChannelDeps;
  readonly #membership: Membership;
  readonly #events: RejoinEvents;
  readonly #stop = new AbortController();
  /** Ends the pause before the next request. */
  #endPause: () => void = () => {};
  #reason: string | undefined;

  constructor(membership: Membership, events: RejoinEvents, deps: ChannelDeps) {
    this.#membership = membership;
    this.#events = events;
    this.#deps = deps;
  }

  /** Why we are on our way back, if we are. */
  get reason(): string | undefined {
    return this.#reason;
  }

  start(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#run().catch((fault) => {
      this.#reason = undefined;
      this.#events.onRefused(toStaticError(fault, "Cannot rejoin"));
    });
  }

  /** There is a connection again: whoever waited for one asks at once. */
  hurry(): void {
    this.#endPause();
  }

  stop(): void {
    this.#stop.abort();
    this.#endPause();
  }

  async #run(): Promise<void> {
    const own = await this.#deps.keyPackages.create();
    for (let tries = 0; !this.#stop.signal.aborted; tries++) {
      try {
        const welcome = await this.#ask(own);
        if (welcome !== undefined) return await this.#enter(welcome);
      } catch (error) {
        if (isCode(error, "not_found", "not_allowed", "auth_failed", "auth_key_invalid", "mls_error")) throw error;
      }
      const ms = Math.min(firstPauseMs * 2 ** tries, maxPauseMs);
      if (!this.#stop.signal.aborted) await this.#pause(jitter(this.#deps.runtime, ms));
    }
  }

  async #pause(ms: number): Promise<void> {
    const end = new AbortController();
    this.#endPause = () => end.abort();
    await pause(this.#deps.runtime, ms, end.signal);
  }

  /** One request and its answer, or undefined when there was none. */
  async #ask(own: OwnKeyPackage): Promise<Welcome | undefined> {
    const { channelId } = this.#membership;
    const { promise, resolve } = createDeferred<Welcome>();
    const forget = this.#deps.welcomes.expect(channelId, (welcome) => {
      if (welcome.epoch <= this.#membership.epoch) return false;
      resolve(welcome);
      return true;
    });
    const stop = new AbortController();
    try {
      await this.#request(own, this.#membership.epoch);
      this.#stop.signal.addEventListener("abort", () => stop.abort(), { signal: stop.signal });
      const late = pause(this.#deps.runtime, answerMs, stop.signal);
      return await Promise.race([promise, late.then(() => undefined)]);
    } finally {
      stop.abort();
      forget();
    }
  }

  async #request(own: OwnKeyPackage, epoch: number, again = true): Promise<void> {
    const { channelId } = this.#membership;
    const { agentId, signatures, identity, session } = this.#deps;
    const statement = rejoinStatement({ channelId, agentId, epoch, keyPackageHash: hashOfKeyPackage(own.message) });
    const signature = await signatures.sign(identity.signingSeed, statement);
    try {
      await session.call("RequestRejoin", { channelId, keyPackage: own.message, signature, epoch });
    } catch (error) {
      if (!again || !isCode(error, "epoch_conflict") || error.epoch === undefined) throw error;
      await this.#request(own, error.epoch, false);
    }
  }

  /** Who came back meanwhile under a known identity with another key is not shown, unless an owner answers for it. */
  async #enter(welcome: Welcome): Promise<void> {
    const { keyPackages } = this.#deps;
    const { channelId, name, trust } = this.#membership;
    // A relay can make a group of strangers under our channel's id. It cannot make one in the name of a member we have met.
    const inviter = this.#membership.memberOf(welcome.sender);
    if (inviter === undefined) {
      throw createError(
        "mls_error",
        "Cannot rejoin: the Welcome was made by somebody we have not met; ask for an invite",
      );
    }
    const own = await keyPackages.findFor(welcome.welcome);
    const expected = { channelId, name, inviter: welcome.sender };
    const group = Group.join(welcome.welcome, own, memberDepsOf(this.#deps, trust.policy), expected);
    const used = await keyPackages.used(own, group.current.confirmationTag);
    // What readers are done with from now on belongs to a membership that is over.
    this.#membership.durable.retire();
    const { joinedSequence } = welcome;
    const entrance = { name, trust, position: joinedSequence, used, byOwner: inviter.owner };
    this.#membership.replace(await writeEntered(group, entrance, this.#deps));
    this.#reason = undefined;
    await this.#events.onJoined(joinedSequence);
  }
}
