/**
 * Interfaces that the domain needs from outside. `store/`, `hashing/` and the wiring implement
 * these; tests may too.
 */
import type { AccountId, KeyId } from "../../proto/mod.ts";
import type { KeyOptions, StoredKeyOptions } from "./key_permissions.ts";
import type { Secret } from "../../server/secret.ts";

/** Milliseconds since 1970, UTC. */
export type Clock = () => number;

/** Cryptographically secure bytes. */
export type RandomBytes = (length: number) => Uint8Array<ArrayBuffer>;

export type NewId = () => string;

/**
 * Author of a change, for the audit: `key:<id>`, `session:<id>`, `password`, `mail`, `admin:cli`,
 * `admin:port`, `admin:page`.
 */
export type Actor = string;

/** When and by whom something is changed. */
export interface AuditStamp {
  readonly atMs: number;
  readonly actor: Actor;
}

/** Somebody whose work waits in a queue: a client's network, or an account. */
export interface QueueParty {
  readonly key: string;
  /**
   * The party has shown a key, a session or a known place of the account: half of a queue is for
   * such parties.
   */
  readonly isKnown: boolean;
}

/**
 * Argon2id with one profile. Jobs wait in turn between parties. Throws `overloaded` when the queue
 * is full.
 */
export interface Hasher {
  hash(secret: Secret, party: QueueParty): Promise<string>;
  /**
   * Without a hash it does the same work against a decoy and returns false, so that "unknown" takes
   * as long as "wrong".
   */
  verify(secret: Secret, hash: string | undefined, party: QueueParty): Promise<boolean>;
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
  /** The form in which addresses are compared. */
  readonly emailKey: string;
  readonly passwordHash: string;
  readonly plan: string;
  readonly createdAtMs: number;
}

export interface KeyRecord {
  readonly id: KeyId;
  readonly keyPrefix: string;
  readonly name: string;
  readonly lastUsedAtMs: number | null;
  readonly createdAtMs: number;
  readonly traits: KeyOptions;
}

export interface NewKey {
  readonly id: KeyId;
  readonly keyPrefix: string;
  readonly name: string;
  readonly keyHash: string;
  readonly createdAtMs: number;
  readonly traits: KeyOptions;
}

/** The credential that asks for a change, which must be good at that very moment. */
export interface KeyMaker {
  readonly keyId?: KeyId | undefined;
  readonly sessionId?: string | undefined;
  /** The one that the password was compared with, which may have taken seconds. */
  readonly passwordHash?: string | undefined;
}

export interface KeyLimits {
  /** Active keys of an account, guest passes apart. */
  readonly maxActiveKeys: number;
  readonly maxGuests: number;
}

export interface KeyAddition extends KeyLimits, AuditStamp {
  readonly accountId: AccountId;
  readonly by: KeyMaker;
}

export type AdditionRefusal = "limit_reached" | "prefix_taken" | "revoked";

export interface KeyRotation extends KeyAddition {
  readonly keyId: KeyId;
  readonly overlapMs: number;
  /** The successor without what it has from its predecessor. */
  readonly successor: Omit<NewKey, "name" | "traits">;
  /** Whether a key with these traits may be made by the caller. */
  readonly mayMake: (traits: KeyOptions) => boolean;
}

export interface StoredRotation {
  readonly name: string;
  readonly traits: KeyOptions;
  /** From when on the old key does not work any more. */
  readonly oldExpiresAtMs: number;
}

/**
 * The row that a request reads about its key: enough to decide, read every time so that a
 * revocation holds at once.
 */
export interface StoredKey {
  readonly id: KeyId;
  readonly accountId: AccountId;
  readonly plan: string;
  /** Undefined for one that was erased. */
  readonly keyHash: string | undefined;
  readonly revoked: boolean;
  /** Undefined for a plain key that does not expire. */
  readonly traits?: StoredKeyOptions | undefined;
  /** The account is. */
  readonly suspended?: boolean;
  /** Somebody else has proved to own the account's address. */
  readonly addressLost?: boolean;
  /** From 80 % of a limit on: messages used or leased, and the limit, as in `8123/10000`. */
  readonly nearLimit?: string | undefined;
}

export interface AccountStore {
  /** Account and first key together or neither. */
  createAccount(
    account: NewAccount,
    key: Omit<NewKey, "traits">,
  ): Promise<Account | "email_taken" | "prefix_taken">;
}

export interface KeyStore {
  addKey(key: NewKey, addition: KeyAddition): Promise<"added" | AdditionRefusal>;
  /**
   * The successor and the end of the old key together or neither. `conflict`: it was rotated
   * before.
   */
  rotateKey(
    rotation: KeyRotation,
  ): Promise<StoredRotation | "not_found" | "conflict" | "beyond" | AdditionRefusal>;
  /** Active keys that have not expired, newest first. */
  listKeys(accountId: AccountId, atMs: number): Promise<readonly KeyRecord[]>;
  /** False when there was no active key of this account to revoke. */
  revokeKey(accountId: AccountId, keyId: KeyId, act: AuditStamp): Promise<boolean>;
  findKey(keyPrefix: string): Promise<StoredKey | undefined>;
  /** Skips keys whose last use was written less than `minAgeMs` before, by whichever process. */
  recordUse(keyIds: readonly KeyId[], atMs: number, minAgeMs: number): Promise<void>;
}

export interface UsagePeriod {
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
  /** Counted under this key as well. */
  readonly keyId?: KeyId | undefined;
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

/** Messages of the month that are used or leased, and the limit. */
export interface UsageShare {
  readonly claimed: number;
  readonly limit: number | null;
}

export type GrantedLease = LeaseRecord & { readonly usage: UsageShare };

/** Usage of one day. */
export interface UsageDay {
  /** `2026-11-15`, UTC. */
  readonly day: string;
  /** Null for all that is not counted apart. */
  readonly keyId: KeyId | null;
  readonly messages: number;
  readonly bytes: ByteCounts;
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
  readUsage(accountId: AccountId, period: UsagePeriod, atMs: number): Promise<UsageRecord>;
  /** By day and key, ascending; both days included. */
  readUsageDays(
    accountId: AccountId,
    days: { from: string; to: string },
    atMs: number,
  ): Promise<readonly UsageDay[]>;
  /** One statement; never above the limit under any concurrency. */
  grantLease(
    grant: LeaseGrant,
  ): Promise<GrantedLease | "unknown_account" | "exhausted" | "nonce_taken">;
  /** Outcomes in the order of the reports. */
  reportLeases(
    relayId: string,
    reports: readonly LeaseReport[],
    atMs: number,
  ): Promise<readonly ReportOutcome[]>;
  /** Leases that were never closed, expired or not, oldest first. */
  listLeases(relayId: string, limit: number): Promise<readonly LeaseRecord[]>;
  /** Deletes leases that were closed before a moment, the oldest first. */
  forgetLeases(closedBeforeMs: number, limit: number): Promise<void>;
}
