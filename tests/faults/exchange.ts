/** Agents that talk all the time in one channel on one stack, for faults to happen to them. */
import { inCampaign } from "../support/campaign.ts";
import { createRandom, type Random } from "../support/mod.ts";
import { Actor } from "./actor.ts";
import { type Audit, audit } from "../support/crowd/auditor.ts";
import { Stack } from "./stack.ts";

export const channel = "acme/faults/exchange";
/** Three, so that of any two texts somebody heard both. */
const residents = ["ann", "ben", "cat"];
/** All guests go one way. */
const guestWay = "guests";
/** Between two texts of an agent. */
const everyMs = inCampaign ? 60 : 200;
const progressMs = 60_000;

export class Exchange implements AsyncDisposable {
  readonly stack: Stack;
  readonly random: Random;
  readonly residents: readonly Actor[];
  readonly #guests: Actor[] = [];

  private constructor(stack: Stack, random: Random) {
    this.stack = stack;
    this.random = random;
    this.residents = residents.map((name) => stack.actor(name));
  }

  static async open(seed: number): Promise<Exchange> {
    const random = createRandom(seed);
    const ways = [...residents, guestWay];
    const stack = await Stack.start({
      random: createRandom(seed + 1),
      ways,
      ownDatabase: inCampaign,
    });
    const exchange = new Exchange(stack, random);
    try {
      await exchange.#assemble();
      return exchange;
    } catch (error) {
      await exchange[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The first resident, who made the channel and invites. */
  get owner(): Actor {
    const [owner] = this.residents;
    if (owner === undefined) throw new Error("There are residents");
    return owner;
  }

  others(than: Actor): Actor[] {
    return this.residents.filter((actor) => actor !== than);
  }

  /** A new agent, connected, not yet in the channel. */
  async guest(): Promise<Actor> {
    const guest = this.stack.actor(`guest${this.#guests.length + 1}`, { way: guestWay });
    this.#guests.push(guest);
    return await guest.start();
  }

  /** The next life of an agent that was killed. */
  async revive(actor: Actor): Promise<void> {
    await actor.start();
    await actor.ask({ do: "open", channel });
    await actor.ask({ do: "talk", everyMs });
  }

  async talk(actor: Actor): Promise<void> {
    await actor.ask({ do: "talk", everyMs });
  }

  /** Resolves when each of them was told that something it began to say from now on is accepted. */
  async progress(actors: readonly Actor[] = this.residents): Promise<void> {
    const sinceMs = Date.now();
    await until(`${actors.map(({ name }) => name).join(", ")} to be heard`, progressMs, () => {
      return actors.every(({ events }) => {
        const begun = new Set<string>();
        return events.some((event) => {
          if (event.event === "sending" && event.atMs >= sinceMs) begun.add(event.text);
          return event.event === "accepted" && begun.has(event.text);
        });
      });
    }).catch(async (error: Error) => {
      throw new Error(`${error.message}; ${await this.#complaints(actors)}`);
    });
  }

  /**
   * How long their sends take to be accepted, at the 99th percentile, while they talk for so long
   * from now on.
   */
  async slowestOf(actors: readonly Actor[], forMs: number): Promise<number> {
    const sinceMs = Date.now();
    while (Date.now() < sinceMs + forMs) await this.progress(actors);
    const waits = actors.flatMap(({ events }) => {
      const begun = new Map<string, number>();
      return events.flatMap((event) => {
        if (event.event === "sending" && event.atMs >= sinceMs) begun.set(event.text, event.atMs);
        const sentMs = event.event === "accepted" ? begun.get(event.text) : undefined;
        return event.event === "accepted" && sentMs !== undefined ? [event.atMs - sentMs] : [];
      });
    });
    return waits.toSorted((a, b) => a - b)[Math.ceil(waits.length * 0.99) - 1] ?? NaN;
  }

  /** Everybody stops; returns the auditor's verdict when all have had the time to hear all. */
  async finish(): Promise<Audit & { readonly used: number; readonly missing: number }> {
    const present = [...this.residents, ...this.#guests.filter((guest) => guest.running)];
    await Promise.all(present.map((actor) => actor.ask({ do: "hush" })));
    const judge = (): Audit =>
      audit([...this.residents, ...this.#guests].map(({ journal }) => journal), residents);
    await until("everybody to hear everything", 30_000, () => judge().violations.length === 0)
      .catch(() => {});
    const states = await Promise.all(present.map((actor) => actor.state()));
    await Promise.all(present.map((actor) => actor.close()));
    const missing = states.flatMap(({ health }) => health.missing).reduce(
      (sum, { messages }) => sum + messages,
      0,
    );
    return { ...judge(), missing, used: await this.stack.settledUsage() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stack[Symbol.asyncDispose]();
  }

  /** How those who can still answer see their channel. */
  async #complaints(actors: readonly Actor[]): Promise<string> {
    const silent = async (): Promise<undefined> => void await pause(5_000);
    const states = actors.map((actor) => Promise.race([actor.state().catch(String), silent()]));
    return JSON.stringify(await Promise.all(states));
  }

  async #assemble(): Promise<void> {
    // A long run says more than the free plan allows.
    await this.stack.admin("set-plan", this.stack.account.email, "enterprise");
    await Promise.all(this.residents.map((actor) => actor.start()));
    await this.owner.ask({ do: "create", channel });
    const token = await this.owner.text({ do: "invite" });
    for (const actor of this.others(this.owner)) await actor.ask({ do: "join", channel, token });
    for (const actor of this.residents) await this.talk(actor);
    await this.progress();
  }
}

/** Polls a condition; the error names it. */
export async function until(what: string, withinMs: number, holds: () => boolean): Promise<void> {
  const deadlineMs = Date.now() + withinMs;
  while (!holds()) {
    if (Date.now() > deadlineMs) throw new Error(`Waited ${withinMs} ms in vain for ${what}`);
    await pause(20);
  }
}

/** How long a fault lasts. */
export async function pause(ms: number): Promise<void> {
  // wait: the length of a fault, or between two looks
  await new Promise((resolve) => setTimeout(resolve, ms));
}
