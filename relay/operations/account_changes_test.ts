/**
 * A relay's handling of the API's news about accounts: the order, faults, and the records after a
 * restart.
 */
import { assertEquals } from "@std/assert";
import type { AccountChanges } from "../../proto/api/changes.ts";
import type { AccountId } from "../../proto/mod.ts";
import { eventually } from "../../tests/support/mod.ts";
import { type Engine, openSqliteEngine } from "../engine/mod.ts";
import { sampleAccount } from "../engine/testing/sample.ts";
import { FollowedAccounts } from "./account_changes.ts";

const [ann, ben, cat] = [sampleAccount(1), sampleAccount(2), sampleAccount(3)];
type Change = AccountChanges["changes"][number]["change"];

/** The API's side: what stands, what happened at which number, and what was asked for. */
class Feed {
  readonly asked: (number | undefined)[] = [];
  standing: Partial<AccountChanges> = {};
  isAway = false;
  readonly #changes: { seq: number; account_id: AccountId; change: Change }[] = [];
  #news = Promise.withResolvers<void>();

  get head(): number {
    return this.#changes.at(-1)?.seq ?? 0;
  }

  happens(account_id: AccountId, change: Change): void {
    this.#changes.push({ seq: this.head + 1, account_id, change });
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  /** As after a restored backup. */
  setBack(): void {
    this.#changes.length = 0;
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  follow = async (after: number | undefined, signal: AbortSignal): Promise<AccountChanges> => {
    this.asked.push(after);
    if (this.isAway) throw new Error("the API is away");
    const standing = {
      suspended: [],
      deleted: [],
      after: this.head,
      changes: [],
      ...this.standing,
    };
    if (after === undefined || after > this.head) return standing;
    const { promise: aborted, resolve } = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (after === this.head) await Promise.race([this.#news.promise, aborted]);
    signal.throwIfAborted();
    if (after > this.head) return standing;
    const changes = this.#changes.filter(({ seq }) => seq > after);
    return { after: changes.at(-1)?.seq ?? after, changes };
  };
}

/** The relay's side: whom it serves, and whose channels it has closed how often. */
class Core {
  readonly suspended = new Set<AccountId>();
  readonly closed: AccountId[] = [];
  readonly erased: AccountId[] = [];
  /** Accounts that have channels here. */
  readonly owners = new Set<AccountId>();
  /** Closing waits for it. */
  gate: Promise<void> = Promise.resolve();
  suspend = (account: AccountId): void => void this.suspended.add(account);
  resume = (account: AccountId): void => void this.suspended.delete(account);
  closeChannelsOf = async (account: AccountId): Promise<boolean> => {
    await this.gate;
    this.closed.push(account);
    return this.owners.has(account);
  };
  eraseChannelsOf = async (account: AccountId): Promise<void> => {
    await this.gate;
    this.erased.push(account);
  };
}

interface Life {
  readonly core: Core;
  readonly clock: { nowMs: number };
  readonly accounts: FollowedAccounts;
  readonly events: string[];
}

function live(engine: Engine, feed: Feed): Life {
  const [core, clock, events] = [new Core(), { nowMs: 1_000_000 }, new Array<string>()];
  const accounts = new FollowedAccounts({
    follow: feed.follow,
    core,
    onLimits: () => events.push("limits"),
    records: engine.records,
    nowMs: () => clock.nowMs,
    log: (_, event) => void events.push(event),
  });
  return { core, clock, accounts, events };
}

const until = async (what: string, isTrue: () => boolean): Promise<void> => {
  await eventually({ what }, () => Promise.resolve(isTrue()), (yes) => yes);
};

function feedTest(name: string, run: (engine: Engine, feed: Feed) => Promise<void>): void {
  Deno.test(name, async () => {
    const engine = await openSqliteEngine({ path: ":memory:" });
    try {
      await run(engine, new Feed());
    } finally {
      await engine.close();
    }
  });
}

feedTest(
  "a suspension does not wait until a deleted account's channels are closed",
  async (engine, feed) => {
    const { core, accounts } = live(engine, feed);
    await accounts.standing;
    const { promise, resolve } = Promise.withResolvers<void>();
    core.gate = promise;
    feed.happens(ann, "deleted");
    feed.happens(ben, "suspended");
    await until("both", () => core.suspended.has(ann) && core.suspended.has(ben));
    feed.happens(cat, "suspended");
    await until("the third", () => core.suspended.has(cat));
    assertEquals(core.closed, []);
    resolve();
    await until("closed", () => core.closed.includes(ann));
    await accounts.close();
  },
);

feedTest(
  "channels of a deleted account are closed again when nothing can be under way any more",
  async (engine, feed) => {
    const { core, clock, accounts } = live(engine, feed);
    await accounts.standing;
    feed.happens(ann, "deleted");
    await until("closed", () => core.closed.length === 1);
    clock.nowMs += 61_000;
    await until("closed again", () => core.closed.length === 2);
    clock.nowMs += 61_000;
    feed.happens(ben, "deleted");
    await until("the next", () => core.closed.includes(ben));
    assertEquals(core.closed, [ann, ann, ben]);
    await accounts.close();
  },
);

feedTest(
  "closed channels of a deleted account are erased once, 20 minutes later, also by a later life",
  async (engine, feed) => {
    const first = live(engine, feed);
    await first.accounts.standing;
    first.core.owners.add(ann);
    feed.happens(ann, "deleted");
    // Nothing of this one is here.
    feed.happens(ben, "deleted");
    await until("closed", () => first.core.closed.length === 2);
    first.clock.nowMs += 61_000;
    await until("closed again", () => first.core.closed.length === 4);
    await first.accounts.close();
    assertEquals(first.core.erased, []);

    feed.standing = { deleted: [ann, ben] };
    const second = live(engine, feed);
    second.core.owners.add(ann);
    await second.accounts.standing;
    second.core.gate = Promise.reject(new Error("the disk is full"));
    second.core.gate.catch(() => {});
    second.clock.nowMs += 22 * 60_000;
    await until("its failure", () => second.events.includes("channels_not_closed"));
    second.core.gate = Promise.resolve();
    await until("erased", () => second.events.includes("account_erased"));
    // Heard twice, as after the API was set back: closed again, and nothing is there to erase.
    second.core.owners.clear();
    feed.happens(ann, "deleted");
    await until("closed", () => second.core.closed.includes(ann));
    second.clock.nowMs += 61_000;
    await until("again", () => second.core.closed.length === 2);
    second.clock.nowMs += 22 * 60_000;
    feed.happens(cat, "deleted");
    await until("the next", () => second.core.closed.includes(cat));
    assertEquals(second.core.erased, [ann]);
    await second.accounts.close();
  },
);

feedTest(
  "a life that ended while it closed channels leaves the rest to the next one",
  async (engine, feed) => {
    const first = live(engine, feed);
    await first.accounts.standing;
    first.core.gate = Promise.reject(new Error("the disk is full"));
    first.core.gate.catch(() => {});
    feed.happens(ann, "deleted");
    await until("its failure", () => first.events.includes("channels_not_closed"));
    await first.accounts.close();
    feed.standing = { deleted: [ann] };
    const second = live(engine, feed);
    await until("closed", () => second.core.closed.includes(ann));
    await second.accounts.close();
  },
);

feedTest(
  "a relay that starts while the API is away serves nobody that was suspended",
  async (engine, feed) => {
    const first = live(engine, feed);
    await first.accounts.standing;
    feed.happens(ann, "suspended");
    feed.happens(ben, "suspended");
    feed.happens(ben, "resumed");
    await until("suspended", () => first.core.suspended.has(ann) && !first.core.suspended.has(ben));
    await first.accounts.close();
    feed.isAway = true;
    const second = live(engine, feed);
    await second.accounts.standing;
    assertEquals([...second.core.suspended], [ann]);
    // Resumed meanwhile, which the standing tells.
    feed.isAway = false;
    feed.happens(ann, "resumed");
    await until("resumed", () => second.core.suspended.size === 0);
    await second.accounts.close();
  },
);

feedTest(
  "a relay without a past closes what was deleted before, and suspends nobody that was resumed",
  async (engine, feed) => {
    feed.happens(ann, "deleted");
    feed.happens(ben, "suspended");
    feed.happens(ben, "resumed");
    feed.happens(cat, "suspended");
    feed.standing = { suspended: [cat] };
    const { core, accounts, events } = live(engine, feed);
    await until("closed", () => core.closed.length === 1);
    assertEquals([core.closed, [...core.suspended], events.includes("account_changed")], [[ann], [
      cat,
    ], false]);
    await accounts.close();
  },
);

feedTest(
  "a feed that was set back is read from its beginning, at once and by a later life",
  async (engine, feed) => {
    const first = live(engine, feed);
    await first.accounts.standing;
    for (let i = 0; i < 5; i++) feed.happens(ann, i % 2 === 0 ? "suspended" : "resumed");
    await until("suspended", () => first.core.suspended.has(ann));
    feed.setBack();
    await until("set back", () => first.events.includes("accounts_set_back"));
    feed.happens(ben, "deleted");
    await until("closed", () => first.core.closed.includes(ben));
    assertEquals([...first.core.suspended], [ben]);
    await first.accounts.close();

    for (let i = 0; i < 5; i++) feed.happens(cat, i % 2 === 0 ? "suspended" : "resumed");
    feed.standing = { suspended: [cat] };
    const second = live(engine, feed);
    await until("its cursor", () => feed.asked.at(-1) === 6);
    await second.accounts.close();
    feed.setBack();
    feed.happens(ann, "deleted");
    const third = live(engine, feed);
    await until("closed", () => third.core.closed.includes(ann));
    await third.accounts.close();
  },
);
