/**
 * The badges that this agent shows in its leaves. Their source is asked now and then, so that a
 * badge that was renewed is shown in the next leaf that is made anyway; no commit is made for it.
 * A source that fails leaves the badges as they are.
 */
import { type AgentId, type Badge, encodeBadges, maxBadges, parseBadges } from "../../proto/mod.ts";
import { createError } from "../base/errors.ts";
import { type ChannelRoster, reportStrangers, type StrangersParts } from "./strangers.ts";
import { pause, type Runtime } from "../base/runtime.ts";
import { chooseBadges } from "../mls/badge_rules.ts";
import { type BadgeChoice, readBadges, showSame } from "../mls/badges.ts";
import type { Signatures } from "../mls/crypto/signatures.ts";

export interface BadgeSource {
  /** Badges as text, the most important first. Those beyond the two of a leaf are left out. */
  read(): Promise<readonly string[]>;
  /** Between two reads. */
  readonly everyMs: number;
  /** Set when the badges come from the service; see `reportStrangers`. */
  readonly strangersAmong?: StrangersParts["strangersAmong"] | undefined;
}

/** An agent, as its badges are followed. */
export interface BadgeFollower extends Omit<StrangersParts, "strangersAmong"> {
  readonly runtime: Runtime;
  readonly changed: () => void;
  readonly rosters: () => readonly ChannelRoster[];
}

/** An agent begins without badges when its source takes longer. */
const patienceMs = 3_000;
/** A source that has not returned by then has failed. */
const readMs = 60_000;

export class OwnBadges {
  /**
   * Resolves when there are badges to show, or after the patience. Rejects with `WireError` or
   * `StaticError` for text that is no badge of this agent, because nobody would be shown it.
   */
  readonly first: Promise<void>;
  readonly #source: BadgeSource;
  readonly #agentId: AgentId;
  /** The badges as they were read last. */
  #texts: readonly string[] | undefined;
  #shown: Uint8Array | undefined;
  #onChange = (): void => {};
  #look = (): Promise<void> => Promise.resolve();

  constructor(source: BadgeSource, agentId: AgentId, runtime: Runtime) {
    this.#source = source;
    this.#agentId = agentId;
    const read = this.#read(runtime);
    this.first = within(patienceMs, read, runtime);
    for (const each of [read, this.first]) each.catch(() => {}); // for those who ask
  }

  /** In a channel that requires badges not always those that this agent has now. */
  choice(signatures: Signatures): BadgeChoice {
    return (place) => chooseBadges(this.#shown, this.#agentId, place, signatures);
  }

  /** The badges as a leaf shows them where nobody asks for others. */
  get shown(): Uint8Array | undefined {
    return this.#shown;
  }

  /** Asks the source again and again; returns how to stop. */
  follow({ runtime, changed, rosters, ...parts }: BadgeFollower): () => void {
    let isOver = false;
    let cancel = (): void => {};
    const wait = (): void => {
      cancel();
      if (!isOver) cancel = runtime.after(this.#source.everyMs, look);
    };
    const { strangersAmong } = this.#source;
    const watch = async (): Promise<void> => {
      if (isOver || strangersAmong === undefined) return;
      await reportStrangers(rosters(), { ...parts, strangersAmong });
    };
    const haveEnded = (): boolean => {
      const badges = readBadges(this.#shown);
      return badges.length > 0 &&
        badges.every(({ notAfter }) => notAfter * 1000 < runtime.nowMs());
    };
    let areOver = haveEnded();
    const read = async (): Promise<void> => {
      if (isOver) return;
      await this.#read(runtime).catch(() => {});
      // KeyPackages that end with them are replaced, so that others can still let this agent in.
      const wereOver = areOver;
      areOver = haveEnded();
      if (areOver && !wereOver) this.#onChange();
    };
    const look = (): void => void read().then(watch).then(wait);
    this.#look = () => within(patienceMs, read(), runtime);
    this.#onChange = changed;
    wait();
    return () => {
      isOver = true;
      this.#onChange = () => {};
      cancel();
    };
  }

  /** The source may have others now. Resolves when it was asked, or after the patience. */
  look(): Promise<void> {
    return this.#look();
  }

  async #read(runtime: Runtime): Promise<void> {
    let texts: readonly string[] | undefined;
    await within(
      readMs,
      this.#source.read().then((read) => void (texts = read)).catch(() => {}),
      runtime,
    );
    if (texts === undefined || (this.#texts !== undefined && isSame(this.#texts, texts))) return;
    const badges = texts.flatMap((text) => this.#parse(text)).slice(0, maxBadges);
    this.#texts = texts;
    const shown = badges.length === 0 ? undefined : encodeBadges(badges);
    if (showSame(this.#shown, shown)) return;
    this.#shown = shown;
    this.#onChange();
  }

  #parse(text: string): readonly Badge[] {
    const badges = parseBadges(text);
    const foreign = badges.find(({ agentId }) => agentId !== this.#agentId);
    if (foreign === undefined) return badges;
    throw createError(
      "invalid_request",
      `Cannot use the badge of ${foreign.domain}: it is of agent ${foreign.agentId}, and this is ` +
        `${this.#agentId}; ask its issuer for one of this agent`,
    );
  }
}

/** Ends as the work ends, or after the time. */
async function within(ms: number, work: Promise<void>, runtime: Runtime): Promise<void> {
  const ending = new AbortController();
  try {
    await Promise.race([work, pause(runtime, ms, ending.signal)]);
  } finally {
    // Without a reason each look would pay for an exception that nobody sees.
    ending.abort("over");
  }
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, index) => text === right[index]);
}
