/**
 * The life of an account after its sign-up: its address is proved, changed or claimed, its password
 * changed, it is deleted.
 */
import { type AccountId, parseAccountId } from "../../proto/mod.ts";
import { Secret } from "../../server/secret.ts";
import type {
  AccountLifecycleStore,
  AccountState,
  CodePurpose,
  CredentialRevocation,
  ExpectedAccount,
  StoredLogin,
} from "./account_store.ts";
import { type KnownDevice, normalizePassword } from "./accounts.ts";
import { actorOf, type Caller } from "./authentication.ts";
import type { Account, AuditStamp, Clock, Hasher, NewId, QueueParty, RandomBytes } from "./deps.ts";
import type { Devices } from "./devices.ts";
import { emailKeyOf, mailSubject } from "./mail/emails.ts";
import { Fault } from "./fault.ts";
import { defaultKeyName, type IssuedKey, type Keys } from "./keys.ts";
import {
  addressChangedLetter,
  codeLifetimeMs,
  createCode,
  hashCode,
  hintLetters,
  type Letter,
  letterWith,
  resetPauseMs,
} from "./mail/mail_codes.ts";
import { plainTraits } from "./key_permissions.ts";
import { orRefund, type RateLimiter } from "./rate_limit.ts";

export interface AccountLifecycleDeps {
  readonly store: AccountLifecycleStore;
  readonly passwords: Hasher;
  readonly keys: Pick<Keys, "issue">;
  readonly devices: Devices;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly randomBytes: RandomBytes;
  /** The plan of new accounts. */
  readonly plan: string;
  /** Mails for a reset to one mailbox. Nobody is told of it. */
  readonly resetMails: RateLimiter;
}

/** A warning is worth reading for longer than a code is good. */
const noticeLifetimeMs = 24 * 3_600_000;

/** A password as it was sent, and who sent it. */
export interface PasswordAttempt {
  readonly password: Secret;
  readonly party: QueueParty;
}

/** One object for each name, so that the others can be ruled out one by one. */
type NamedOutcome<Name extends string> = Name extends string ? { readonly outcome: Name } : never;

export interface AccountLifecycle {
  read(accountId: AccountId): Promise<AccountState | undefined>;
  /** The account whose password it is. */
  logIn(
    by: { id: AccountId } | { email: string },
    attempt: PasswordAttempt,
  ): Promise<StoredLogin | undefined>;
  sendVerification(account: { id: AccountId; email: string }): Promise<void>;
  /** The address is the account's when its code came back. */
  changeAddress(
    caller: Caller,
    change: PasswordAttempt & { email: string; version?: number | undefined },
  ): Promise<NamedOutcome<"sent" | "wrong_password" | "email_taken" | "conflict">>;
  /** With another address sessions end, and keys if asked; the address before is written to. */
  confirmAddress(
    caller: Caller,
    proof: { code: string; revokeKeys: boolean },
  ): Promise<"confirmed" | "code_invalid" | "email_taken">;
  changePassword(
    caller: Caller,
    change: PasswordAttempt & { newPassword: Secret; revokeKeys: boolean },
  ): Promise<
    | ({ readonly outcome: "changed" } & CredentialRevocation & KnownDevice)
    | NamedOutcome<"wrong_password" | "conflict">
  >;
  remove(
    caller: Caller,
    attempt: PasswordAttempt,
  ): Promise<"deleted" | "wrong_password" | "conflict">;
  /** False when no mail is to be sent, or one was sent lately. */
  askReset(email: string): Promise<void>;
  reset(
    proof: {
      email: string;
      code: string;
      newPassword: Secret;
      revokeKeys: boolean;
      party: QueueParty;
    },
  ): Promise<(CredentialRevocation & KnownDevice & { id: AccountId }) | "code_invalid">;
  askClaim(email: string): Promise<void>;
  claim(
    proof: { email: string; code: string; password: Secret; party: QueueParty },
  ): Promise<
    | (
      & { readonly outcome: "created"; readonly account: Account; readonly key: IssuedKey }
      & KnownDevice
    )
    | NamedOutcome<"code_invalid" | "email_taken">
  >;
}

export function createAccountLife(deps: AccountLifecycleDeps): AccountLifecycle {
  const parts = createParts(deps);
  return { ...ownLife(deps, parts), ...lifeByMail(deps, parts) };
}

/** Dependencies of the operations below. */
interface AccountLifecycleParts {
  readonly logIn: AccountLifecycle["logIn"];
  readonly hash: (password: Secret, party: QueueParty) => Promise<string>;
  /**
   * Code and message, which tells the code unless it is another letter. Only while the account has
   * what is expected.
   */
  readonly send: (
    about: { purpose: CodePurpose; email: string; accountId: AccountId | null; letter?: Letter },
    expected?: ExpectedAccount,
  ) => Promise<"added" | "recent" | "conflict">;
  readonly hint: (email: string, letter: Letter) => Promise<void>;
}

function createParts(
  { store, passwords, clock, newId, randomBytes }: AccountLifecycleDeps,
): AccountLifecycleParts {
  return {
    logIn: async (by, { password, party }) => {
      const login = await store.findLogin("id" in by ? by : { emailKey: emailKeyOf(by.email) });
      const matches = await passwords.verify(
        normalizePassword(password),
        login?.passwordHash,
        party,
      );
      return matches ? login : undefined;
    },
    hash: (password, party) => passwords.hash(normalizePassword(password), party),
    send: async ({ purpose, email, accountId, letter }, expected) => {
      const code = createCode(randomBytes);
      const expiresAtMs = clock() + codeLifetimeMs;
      const about = { email, emailKey: emailKeyOf(email), accountId, expiresAtMs };
      const outcome = await store.addCode(
        { id: newId(), purpose, codeHash: hashCode(code), ...about },
        {
          id: newId(),
          recipient: email,
          accountId,
          atMs: clock(),
          expiresAtMs,
          ...(letter ?? letterWith(purpose, code)),
        },
        expected,
      );
      if (outcome === "full") throw queueFull();
      return outcome;
    },
    hint: async (email, letter) => {
      const expiresAtMs = clock() + codeLifetimeMs;
      const message = {
        id: newId(),
        recipient: email,
        accountId: null,
        atMs: clock(),
        expiresAtMs,
        ...letter,
      };
      if (await store.addMessage(message) === "full") throw queueFull();
    },
  };
}

type OwnLife = Pick<
  AccountLifecycle,
  | "read"
  | "logIn"
  | "sendVerification"
  | "changeAddress"
  | "confirmAddress"
  | "changePassword"
  | "remove"
>;

/** The parts for somebody with a key or a session. */
function ownLife(
  { store, clock, newId, devices }: AccountLifecycleDeps,
  { logIn, hash, send }: AccountLifecycleParts,
): OwnLife {
  const act = (caller: Caller): AuditStamp => ({ atMs: clock(), actor: actorOf(caller) });
  return {
    read: (accountId) => store.readAccount(accountId, clock()),
    logIn,
    sendVerification: async ({ id, email }) => {
      await send({ purpose: "verify", email, accountId: id });
    },
    changeAddress: async (caller, { email, version, ...attempt }) => {
      const { accountId } = caller;
      const login = await logIn({ id: accountId }, attempt);
      if (login === undefined) return { outcome: "wrong_password" };
      if (await isOthers(store, accountId, { email, nowMs: clock() })) {
        return { outcome: "email_taken" };
      }
      const expected = { version, passwordHash: login.passwordHash };
      const outcome = await send({ purpose: "change", email, accountId }, expected);
      return { outcome: outcome === "added" ? "sent" : "conflict" };
    },
    confirmAddress: (caller, { code, revokeKeys }) => {
      const atMs = clock();
      const notice = {
        id: newId(),
        ...addressChangedLetter,
        atMs,
        expiresAtMs: atMs + noticeLifetimeMs,
      };
      const proof = { accountId: caller.accountId, codeHash: hashCode(code), revokeKeys, notice };
      return store.confirmAddress({ ...proof, ...act(caller) });
    },
    changePassword: async (caller, { newPassword, revokeKeys, ...attempt }) => {
      const login = await logIn({ id: caller.accountId }, attempt);
      if (login === undefined) return { outcome: "wrong_password" };
      const newHash = await hash(newPassword, attempt.party);
      const change = { accountId: login.id, oldHash: login.passwordHash, newHash, revokeKeys };
      const endings = await store.changePassword({ ...change, ...act(caller) });
      if (endings === "conflict") return { outcome: endings };
      const device = devices.issue({ email: login.email, passwordHash: newHash });
      return { outcome: "changed", ...endings, device };
    },
    remove: async (caller, attempt) => {
      const login = await logIn({ id: caller.accountId }, attempt);
      if (login === undefined) return "wrong_password";
      const order = { accountId: login.id, oldHash: login.passwordHash, ...act(caller) };
      return await store.deleteAccount(order) ? "deleted" : "conflict";
    },
  };
}

type LifeByMail = Pick<AccountLifecycle, "askReset" | "reset" | "askClaim" | "claim">;

/** The parts for somebody with a mailbox and nothing else. */
function lifeByMail(
  deps: AccountLifecycleDeps,
  { hash, send, hint }: AccountLifecycleParts,
): LifeByMail {
  const { store, clock, newId, keys, devices, plan, resetMails } = deps;
  const act = (): AuditStamp => ({ atMs: clock(), actor: "mail" });
  return {
    askReset: async (email) => {
      const login = await store.findLogin({ emailKey: emailKeyOf(email) });
      if (login === undefined || login.email === null) return;
      // To the address on file, not to the spelling that was sent.
      const about = { purpose: "reset", email: login.email, accountId: login.id } as const;
      // An account that never proved the address is not the mailbox owner's to open: nobody is told
      // the code, which is only counted.
      const letter = login.isVerified ? {} : { letter: hintLetters.reset };
      // Codes end with a password, and each alias has codes of its own: only this bounds what one
      // mailbox gets.
      const subject = mailSubject("reset", login.email);
      if (!(await resetMails.take(subject)).allowed) return;
      const giveBack = async (): Promise<void> => await resetMails.refund(subject);
      const outcome = await orRefund(
        send({ ...about, ...letter }, { quietMs: resetPauseMs }),
        giveBack,
      );
      if (outcome !== "added") await giveBack();
    },
    reset: async ({ email, code, newPassword, revokeKeys, party }) => {
      const proof = { emailKey: emailKeyOf(email), codeHash: hashCode(code) };
      // A guess must not cost what a password costs.
      if (!await store.hasCode({ ...proof, purpose: "reset", atMs: clock() })) {
        return "code_invalid";
      }
      const newHash = await hash(newPassword, party);
      const reset = await store.reset({ ...proof, newHash, revokeKeys, ...act() });
      return reset === "code_invalid"
        ? reset
        : { ...reset, device: devices.issue({ email, passwordHash: newHash }) };
    },
    askClaim: async (email) => {
      const login = await store.findLogin({ emailKey: emailKeyOf(email) });
      if (login?.isVerified === true) await hint(login.email ?? email, hintLetters.claim);
      else await send({ purpose: "claim", email, accountId: null });
    },
    claim: async ({ email, code, password, party }) => {
      const [id, emailKey] = [parseAccountId(newId()), emailKeyOf(email)];
      const proof = { emailKey, codeHash: hashCode(code), ...act() };
      if (!await store.hasCode({ ...proof, purpose: "claim" })) return { outcome: "code_invalid" };
      const passwordHash = await hash(password, party);
      const account = { id, email, emailKey, passwordHash, plan, createdAtMs: clock() };
      const { key, outcome } = await keys.issue(
        party,
        (key) => store.claim(proof, account, { ...key, name: defaultKeyName }),
      );
      if (typeof outcome === "string") return { outcome };
      const device = devices.issue({ email, passwordHash });
      return {
        outcome: "created",
        account: outcome,
        key: { ...key, name: defaultKeyName, traits: plainTraits },
        device,
      };
    },
  };
}

/**
 * Verified by another account; an address that another account only carries can be proved, and
 * taken.
 */
async function isOthers(
  store: AccountLifecycleStore,
  accountId: AccountId,
  { email, nowMs }: { email: string; nowMs: number },
): Promise<boolean> {
  const emailKey = emailKeyOf(email);
  if (!await store.isAddressVerified(emailKey)) return false;
  const own = (await store.readAccount(accountId, nowMs))?.email;
  return own === null || own === undefined || emailKeyOf(own) !== emailKey;
}

function queueFull(): Fault {
  return new Fault("overloaded", "Too many messages wait for the mail server; try again later", {
    retryAfterSeconds: 60,
  });
}
