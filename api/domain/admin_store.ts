/**
 * Storage of operators' commands, the audit, and the changes that relays follow; `store/`
 * implements it.
 */
import type { AccountId } from "../../proto/mod.ts";
import type { AuditStamp } from "./deps.ts";

/** An account as an operator sees it. */
export interface AccountOverview {
  readonly id: AccountId;
  readonly email: string | null;
  readonly isVerified: boolean;
  readonly plan: string;
  /** The limit for this account alone. */
  readonly messageLimit: number | null;
  readonly createdAtMs: number;
  readonly state: "active" | "suspended" | "deleted";
  readonly activeKeys: number;
  readonly openSessions: number;
  /** Messages of this month that are used or leased. */
  readonly claimed: number;
}

export interface KeyOverview {
  readonly id: string;
  readonly keyPrefix: string;
  readonly accountId: AccountId;
  readonly kind: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
}

export interface AccountQuery {
  /** A part of the address, in any case. */
  readonly search?: string;
  readonly by: "age" | "usage";
  readonly limit: number;
  readonly atMs: number;
}

export interface AdminStore {
  findAccount(who: { id: AccountId } | { emailKey: string }): Promise<AccountId | undefined>;
  listAccounts(
    query: AccountQuery & { readonly id?: AccountId },
  ): Promise<readonly AccountOverview[]>;
  findKeys(prefix: string, limit: number): Promise<readonly KeyOverview[]>;
  /** The smallest first; a `messageLimit` of null is no limit. */
  listPlans(): Promise<readonly { readonly name: string; readonly messageLimit: number | null }[]>;
  /** False when it was so already, or there is no such account. */
  suspend(accountId: AccountId, act: AuditStamp): Promise<boolean>;
  resume(accountId: AccountId, act: AuditStamp): Promise<boolean>;
  revokeAll(accountId: AccountId, act: AuditStamp): Promise<{ keys: number; sessions: number }>;
  setPlan(
    accountId: AccountId,
    plan: string,
    act: AuditStamp,
  ): Promise<"set" | "unknown_plan" | "unknown_account">;
  /** False when there is no such account. */
  setAccountLimit(accountId: AccountId, limit: number | null, act: AuditStamp): Promise<boolean>;
  setPlanLimit(
    plan: string,
    limit: number | null,
    act: AuditStamp,
  ): Promise<"set" | "unknown_plan">;
  /** All accounts on one plan go to another, except those whose plan an operator has set. */
  movePlan(from: string, to: string, act: AuditStamp): Promise<number>;
}

/** A row of the audit as it is stored. */
export interface AuditRow {
  readonly seq: number;
  readonly event: string;
  readonly accountId: string | null;
  readonly body: string;
  readonly hash: Uint8Array;
}

/**
 * An event as the account that it is about sees it: without its number, which tells how busy the
 * whole service is.
 */
export interface OwnEvent {
  readonly atMs: number;
  readonly event: string;
  readonly actor: string;
  readonly subject: string | null;
  readonly details: unknown;
}

export interface AuditStore {
  /** Newest first; with `beforeMs` those before that moment. */
  readOwnEvents(
    accountId: AccountId,
    page: { readonly beforeMs: number | undefined; readonly limit: number },
  ): Promise<readonly OwnEvent[]>;
  readAudit(after: number, limit: number): Promise<readonly AuditRow[]>;
  /** The number and hash that the next row builds on. */
  readAuditHead(): Promise<{ seq: number; hash: Uint8Array }>;
}

export type AccountChange = "suspended" | "resumed" | "deleted" | "limits";

export interface ChangesStore {
  /** The newest change's number. */
  lastChange(): Promise<number>;
  /** `accountId` is null for a change of all accounts. */
  readChanges(
    after: number,
    limit: number,
  ): Promise<
    readonly {
      readonly seq: number;
      readonly accountId: AccountId | null;
      readonly change: AccountChange;
    }[]
  >;
  /** Accounts that are suspended now, and those deleted since a moment, as of the newest change. */
  readStanding(
    deletedSinceMs: number,
  ): Promise<
    {
      readonly after: number;
      readonly suspended: readonly AccountId[];
      readonly deleted: readonly AccountId[];
    }
  >;
}
