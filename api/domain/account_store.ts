/** Storage of accounts, their sessions and their mail; `store/` implements it. */
import type { AccountId } from "../../proto/mod.ts";
import type { Account, AuditStamp, NewAccount, NewKey } from "./deps.ts";

/** An account as its owner sees it. */
export interface AccountState {
  readonly id: AccountId;
  /** Null after somebody else has proved to own the address. */
  readonly email: string | null;
  readonly isVerified: boolean;
  /** An address that waits for its code. */
  readonly pendingEmail: string | null;
  readonly plan: string;
  readonly createdAtMs: number;
  readonly isSuspended: boolean;
  readonly hasLostAddress: boolean;
  /** Grows with every change. */
  readonly version: number;
}

export interface StoredLogin {
  readonly id: AccountId;
  /**
   * The address as its owner wrote it: other spellings are compared as the same, and may be another
   * mailbox.
   */
  readonly email: string | null;
  readonly passwordHash: string;
  readonly isSuspended: boolean;
  readonly isVerified: boolean;
}

export type CodePurpose = "verify" | "change" | "reset" | "claim";

export interface NewCode {
  readonly id: string;
  readonly purpose: CodePurpose;
  readonly email: string;
  readonly emailKey: string;
  readonly accountId: AccountId | null;
  readonly codeHash: Uint8Array;
  readonly expiresAtMs: number;
}

export interface MailMessage {
  readonly id: string;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
}

export interface QueuedMessage extends MailMessage {
  readonly accountId: AccountId | null;
  readonly atMs: number;
  /** From then on nobody needs it. */
  readonly expiresAtMs: number;
}

/** Things that ended together with a password or an address. */
export interface CredentialRevocation {
  readonly sessionsEnded: number;
  readonly keysRevoked: number;
}

/**
 * The mail with the code for an address, and the letter to the address that the account had until
 * then.
 */
export interface AddressProof extends AuditStamp {
  readonly accountId: AccountId;
  readonly codeHash: Uint8Array;
  /** With another address only. */
  readonly revokeKeys: boolean;
  readonly notice: Omit<QueuedMessage, "recipient" | "accountId">;
}

export interface Proof {
  readonly emailKey: string;
  readonly codeHash: Uint8Array;
}

/** Conditions that an account must still meet when it is changed. */
export interface ExpectedAccount {
  readonly version?: number | undefined;
  readonly passwordHash?: string | undefined;
  /** For so long no code of the same purpose was made. */
  readonly quietMs?: number | undefined;
}

export interface AccountLifecycleStore {
  readAccount(accountId: AccountId, atMs: number): Promise<AccountState | undefined>;
  findLogin(by: { id: AccountId } | { emailKey: string }): Promise<StoredLogin | undefined>;
  /** Whether an account has proved to own the address. */
  isAddressVerified(emailKey: string): Promise<boolean>;
  /** `conflict`: the password was changed meanwhile. */
  changePassword(
    change: AuditStamp & {
      accountId: AccountId;
      oldHash: string;
      newHash: string;
      revokeKeys: boolean;
    },
  ): Promise<CredentialRevocation | "conflict">;
  /** Proves the account's own address, or gives it the one that waits. */
  confirmAddress(proof: AddressProof): Promise<"confirmed" | "code_invalid" | "email_taken">;
  reset(
    proof: AuditStamp & Proof & { newHash: string; revokeKeys: boolean },
  ): Promise<(CredentialRevocation & { id: AccountId }) | "code_invalid">;
  /** A new account with a proven address, which another account may lose by it. */
  claim(
    proof: AuditStamp & Proof,
    account: NewAccount,
    key: Omit<NewKey, "traits">,
  ): Promise<Account | "code_invalid" | "email_taken" | "prefix_taken">;
  /** Erases all but what accounting needs. With `oldHash`, only while that is the password. */
  deleteAccount(order: AuditStamp & { accountId: AccountId; oldHash?: string }): Promise<boolean>;
  /**
   * Code and message together or neither; `full` when too many messages wait. An account's codes
   * are counted one at a time.
   */
  addCode(
    code: NewCode,
    message: QueuedMessage,
    expected?: ExpectedAccount,
  ): Promise<"added" | "full" | "recent" | "conflict">;
  /** Whether the code is good now; only its use proves that. */
  hasCode(proof: Proof & { purpose: "reset" | "claim"; atMs: number }): Promise<boolean>;
  addMessage(message: QueuedMessage): Promise<"added" | "full">;
}

export interface AccountSession {
  readonly id: string;
  readonly accountId: AccountId;
  readonly plan: string;
  readonly isSuspended: boolean;
  readonly hasLostAddress: boolean;
  readonly expiresAtMs: number;
}

/** A session as its owner sees it in a list. */
export interface OpenSession {
  readonly id: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export interface SessionStore {
  /**
   * False when this is no longer the account's password, or the account was suspended meanwhile.
   */
  openSession(
    session: AuditStamp & {
      id: string;
      accountId: AccountId;
      passwordHash: string;
      secretHash: Uint8Array;
      expiresAtMs: number;
    },
  ): Promise<boolean>;
  findSession(secretHash: Uint8Array, atMs: number): Promise<AccountSession | undefined>;
  /** Open ones, newest first. */
  listSessions(accountId: AccountId, atMs: number): Promise<readonly OpenSession[]>;
  /** False when it is over, or another account's. */
  endSession(session: { id: string; accountId: AccountId }, act: AuditStamp): Promise<boolean>;
  endSessions(accountId: AccountId, act: AuditStamp): Promise<number>;
}

export interface ExpiryStore {
  /**
   * Deletes messages, codes, sessions and badges that are over, and takes keys that have expired
   * out of those that are counted.
   */
  forgetExpired(atMs: number): Promise<void>;
}

export interface MailStore {
  /** Takes messages whose time has come out of everybody else's sight for a while. */
  takeDue(
    order: { atMs: number; limit: number; hiddenMs: number },
  ): Promise<readonly (MailMessage & { attempts: number })[]>;
  /** Removes a mail that was sent, or never will be. */
  remove(id: string): Promise<void>;
  postpone(id: string, untilMs: number): Promise<void>;
  countWaiting(): Promise<number>;
}
