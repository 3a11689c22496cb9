/** What the domain needs from outside. `store/`, `hashing/` and the wiring implement these; tests may too. */
import type { AccountId, KeyId } from "../../proto/mod.ts";
import type { Secret } from "../../server/secret.ts";

/** Milliseconds since 1970, UTC. */
export type Clock = () => number;

/** Cryptographically secure bytes. */
export type RandomBytes = (length: number) => Uint8Array<ArrayBuffer>;

export type NewId = () => string;

/** Argon2id with one profile. Jobs wait in turn between `client`s. Throws `overloaded` when the queue is full. */
export interface Hasher {
  hash(secret: Secret, client: string): Promise<string>;
  /** Without a hash it does the same work against a decoy and returns false, so that "unknown" takes as long as "wrong". */
  verify(secret: Secret, hash: string | undefined, client: string): Promise<boolean>;
}

export interface Account {
  readonly id: AccountId;
  readonly email: string;
  readonly plan: string;
  readonly createdAtMs: number;
}

export interface NewAccount {
  readonly id: AccountId;
  readonly email: string;
  /** What decides whether two addresses are the same. */
  readonly emailKey: string;
  readonly passwordHash: string;
  readonly createdAtMs: number;
}

export interface KeyRecord {
  readonly id: KeyId;
  readonly keyPrefix: string;
  readonly name: string;
  readonly lastUsedAtMs: number | null;
  readonly createdAtMs: number;
}

export interface NewKey {
  readonly id: KeyId;
  readonly keyPrefix: string;
  readonly name: string;
  readonly keyHash: string;
  readonly createdAtMs: number;
}

/** What one request reads about its key: enough to decide, read every time so that a revocation holds at once. */
export interface StoredKey {
  readonly id: KeyId;
  readonly accountId: AccountId;
  readonly plan: string;
  readonly keyHash: string;
  readonly revoked: boolean;
}

export interface AccountStore {
  /** Account and first key together or neither. */
  createAccount(account: NewAccount, key: NewKey): Promise<Account | "email_taken" | "prefix_taken">;
  findPasswordHash(
    by: { id: AccountId } | { emailKey: string },
  ): Promise<{ id: AccountId; passwordHash: string } | undefined>;
}

export interface KeyStore {
  /** With `by`, the key that asks for it: only if that one is active at this very moment. */
  addKey(
    key: NewKey,
    options: { accountId: AccountId; by: KeyId | undefined; maxActiveKeys: number },
  ): Promise<"added" | "limit_reached" | "prefix_taken" | "revoked">;
  /** Active keys, newest first. */
  listKeys(accountId: AccountId): Promise<readonly KeyRecord[]>;
  /** False when there was no active key of this account to revoke. */
  revokeKey(accountId: AccountId, keyId: KeyId, atMs: number): Promise<boolean>;
  findKey(keyPrefix: string): Promise<StoredKey | undefined>;
  /** Skips keys whose last use was written less than `minAgeMs` before, by whichever process. */
  recordUse(keyIds: readonly KeyId[], atMs: number, minAgeMs: number): Promise<void>;
}

export interface Period {
  readonly startMs: number;
  readonly endMs: number;
}

export interface ByteCounts {
  readonly payload: number;
  readonly padding: number;
  readonly cover: number;
}

export interface UsageRecord {
  readonly plan: string;
  readonly used: number;
  readonly limit: number | null;
  readonly bytes: ByteCounts;
}

export interface LeaseGrant {
  readonly nonce: string;
  readonly id: string;
  readonly relayId: string;
  readonly accountId: AccountId;
  readonly wanted: number;
  readonly grantedAtMs: number;
  readonly expiresAtMs: number;
  readonly periodStartMs: number;
}

export interface LeaseRecord {
  readonly id: string;
  readonly fence: number;
  readonly accountId: AccountId;
  readonly granted: number;
  readonly consumed: number;
  readonly expiresAtMs: number;
  readonly periodStartMs: number;
  readonly plan: string;
}

export interface LeaseReport {
  readonly leaseId: string;
  readonly fence: number;
  readonly consumed: number;
  readonly bytes: ByteCounts;
  readonly close: boolean;
}

export type ReportOutcome = "accepted" | "unknown" | "refused";

export interface UsageStore {
  readUsage(accountId: AccountId, period: Period, atMs: number): Promise<UsageRecord>;
  /** One statement; never above the limit under any concurrency. */
  grantLease(grant: LeaseGrant): Promise<LeaseRecord | "unknown_account" | "exhausted" | "nonce_taken">;
  /** Outcomes in the order of the reports. */
  reportLeases(relayId: string, reports: readonly LeaseReport[], atMs: number): Promise<readonly ReportOutcome[]>;
  /** Leases that were never closed, expired or not, oldest first. */
  listLeases(relayId: string, limit: number): Promise<readonly LeaseRecord[]>;
  /** Deletes leases that were closed before a moment, the oldest first. */
  forgetLeases(closedBeforeMs: number, limit: number): Promise<void>;
}

export interface PlanStore {
  setPlan(emailKey: string, plan: string): Promise<"set" | "unknown_account" | "unknown_plan">;
  setPlanLimit(plan: string, limit: number | null): Promise<"set" | "unknown_plan">;
}

export interface Store extends AccountStore, KeyStore, UsageStore, PlanStore {
  /** Resolves when the database answers, otherwise throws `overloaded` with a cause that says why. */
  ping(): Promise<void>;
}
