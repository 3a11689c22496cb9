/**
 * A relay's records of accounts, in memory and in the engine: the suspended ones, and those whose
 * channels are to be closed, and deleted.
 */
import { z } from "zod";
import { type AccountId, parseAccountId } from "../../proto/mod.ts";
import type { Records } from "../engine/engine.ts";

const cursorKey = "account-changes";
const standingKey = "account-standing";
const erasingKey = "account-erasing";
/**
 * Only the newest suspended accounts are kept, so that the record stays below a megabyte. The API
 * tells all of them.
 */
const maxKept = 20_000;
const keptMs = 10 * 365 * 24 * 60 * 60 * 1000;

/** Accounts, with the time from which they wait. */
const waitingForm = z.array(z.tuple([z.uuid(), z.number()]));
const storedForm = z.object({ suspended: z.array(z.uuid()), closing: waitingForm });

export interface RestrictedAccounts {
  readonly suspended: ReadonlySet<AccountId>;
  /** With the time at which it was learnt. */
  readonly closing: ReadonlyMap<AccountId, number>;
}

export class AccountStatus {
  readonly #records: Records;
  readonly #nowMs: () => number;
  #suspended: ReadonlySet<AccountId> = new Set();
  #closing: ReadonlyMap<AccountId, number> = new Map();
  #erasing: ReadonlyMap<AccountId, number> = new Map();
  /** One write after the other: two that follow different things share the record. */
  #writing: Promise<void> = Promise.resolve();

  constructor({ records, nowMs }: { readonly records: Records; readonly nowMs: () => number }) {
    this.#records = records;
    this.#nowMs = nowMs;
  }

  /** Suspended, or deleted not long ago. */
  get suspended(): ReadonlySet<AccountId> {
    return this.#suspended;
  }

  get closing(): ReadonlyMap<AccountId, number> {
    return this.#closing;
  }

  /** Their channels are closed, and stay for a while so that members hear of it. */
  get erasing(): ReadonlyMap<AccountId, number> {
    return this.#erasing;
  }

  async load(): Promise<void> {
    this.#erasing = waitingOf(JSON.parse(await this.#read(erasingKey) ?? "[]"));
    const text = await this.#read(standingKey);
    if (text === undefined) return;
    const { suspended, closing } = storedForm.parse(JSON.parse(text));
    this.#suspended = new Set(suspended.map(parseAccountId));
    this.#closing = waitingOf(closing);
  }

  /** How far an earlier life has come. */
  async cursor(): Promise<number | undefined> {
    const text = await this.#read(cursorKey);
    return text === undefined ? undefined : Number(text);
  }

  moveTo(cursor: number): Promise<void> {
    return this.#write(cursorKey, () => String(cursor));
  }

  /** Durable when it resolves. */
  async update(
    { suspended = this.#suspended, closing = this.#closing }: Partial<RestrictedAccounts>,
  ): Promise<void> {
    const isSame = isEqual(suspended, this.#suspended) &&
      isEqual(new Set(closing.keys()), new Set(this.#closing.keys()));
    [this.#suspended, this.#closing] = [suspended, closing];
    if (!isSame) await this.#write(standingKey, () => this.#text());
  }

  async closed(account: AccountId): Promise<void> {
    const closing = new Map(this.#closing);
    closing.delete(account);
    await this.update({ closing });
  }

  /** From now on, unless it waits already. Durable when it resolves. */
  async toErase(account: AccountId): Promise<void> {
    if (this.#erasing.has(account)) return;
    this.#erasing = new Map([...this.#erasing, [account, this.#nowMs()]]);
    await this.#writeErasing();
  }

  async erased(account: AccountId): Promise<void> {
    const erasing = new Map(this.#erasing);
    erasing.delete(account);
    this.#erasing = erasing;
    await this.#writeErasing();
  }

  #writeErasing(): Promise<void> {
    return this.#write(erasingKey, () => JSON.stringify([...this.#erasing]));
  }

  #text(): string {
    return JSON.stringify({
      suspended: [...this.#suspended].slice(-maxKept),
      closing: [...this.#closing],
    });
  }

  async #read(key: string): Promise<string | undefined> {
    const stored = await this.#records.get(key);
    return stored && new TextDecoder().decode(stored.value);
  }

  #write(key: string, text: () => string): Promise<void> {
    const write = async (): Promise<void> => {
      const value = new TextEncoder().encode(text());
      const revision = (await this.#records.get(key))?.revision ?? 0;
      const stored = await this.#records.put(
        key,
        { value, expiresAtMs: this.#nowMs() + keptMs },
        revision,
      );
      if (stored.kind === "conflict") {
        throw new Error(`Cannot keep ${key}: another relay writes to the same storage`);
      }
    };
    const written = this.#writing.then(write);
    this.#writing = written.catch(() => {});
    return written;
  }
}

function waitingOf(stored: unknown): Map<AccountId, number> {
  const waiting = waitingForm.parse(stored);
  return new Map(waiting.map(([account, sinceMs]) => [parseAccountId(account), sinceMs]));
}

function isEqual(one: ReadonlySet<AccountId>, other: ReadonlySet<AccountId>): boolean {
  return one.size === other.size && one.isSubsetOf(other);
}
