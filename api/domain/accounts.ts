/**
 * Accounts: sign-up with a first key, and the way back in with e-mail or id and password for
 * someone who lost every key.
 */
import { type AccountId, parseAccountId } from "../../proto/mod.ts";
import { defaultKeyName, type IssuedKey, type KeyCreation, type Keys } from "./keys.ts";
import type { StoredLogin } from "./account_store.ts";
import type { Account, AccountStore, Clock, Hasher, NewId, QueueParty } from "./deps.ts";
import type { Devices } from "./devices.ts";
import { emailKeyOf } from "./mail/emails.ts";
import { plainTraits } from "./key_permissions.ts";
import { Secret } from "../../server/secret.ts";

export type SignUp =
  | (
    & { readonly outcome: "created"; readonly account: Account; readonly key: IssuedKey }
    & KnownDevice
  )
  | { readonly outcome: "email_taken" };

export type Recovery =
  | (KeyCreation & KnownDevice)
  | { readonly outcome: "wrong_credentials" }
  | { readonly outcome: "suspended" };

/** The token of the place from which the password was good. */
export interface KnownDevice {
  readonly device: Secret | undefined;
}

export interface AccountsDeps {
  readonly store: AccountStore;
  readonly passwords: Hasher;
  readonly keys: Keys;
  readonly devices: Devices;
  readonly clock: Clock;
  readonly newId: NewId;
  /** The plan of new accounts. */
  readonly plan: string;
  readonly logIn: (
    by: { id: AccountId } | { email: string },
    attempt: { password: Secret; party: QueueParty },
  ) => Promise<StoredLogin | undefined>;
}

export interface Accounts {
  signUp(input: { email: string; password: Secret; party: QueueParty }): Promise<SignUp>;
  /** Unknown account and wrong password answer alike and take alike. */
  recover(
    input: {
      by: { id: AccountId } | { email: string };
      password: Secret;
      name: string;
      party: QueueParty;
    },
  ): Promise<Recovery>;
}

export function createAccounts(deps: AccountsDeps): Accounts {
  const { store, passwords, keys, devices, clock, newId, plan, logIn } = deps;
  return {
    signUp: async ({ email, password, party }) => {
      const passwordHash = await passwords.hash(normalizePassword(password), party);
      const account = {
        id: parseAccountId(newId()),
        email,
        emailKey: emailKeyOf(email),
        passwordHash,
        plan,
        createdAtMs: clock(),
      };
      const first = { name: defaultKeyName, traits: plainTraits };
      const { key, outcome } = await keys.issue(
        party,
        (key) => store.createAccount(account, { ...key, ...first }),
      );
      if (outcome === "email_taken") return { outcome };
      const device = devices.issue({ email, passwordHash });
      return { outcome: "created", account: outcome, key: { ...key, ...first }, device };
    },

    recover: async ({ by, password, name, party }) => {
      const login = await logIn(by, { password, party });
      if (login === undefined) return { outcome: "wrong_credentials" };
      if (login.isSuspended) return { outcome: "suspended" };
      const created = await keys.create({ accountId: login.id, passwordHash: login.passwordHash }, {
        name,
      });
      // The password was changed, or the account suspended, while it was being compared.
      return created.outcome === "revoked"
        ? { outcome: "wrong_credentials" }
        : { ...created, device: devices.issue(login) };
    },
  };
}

/** The same characters typed on another keyboard must give the same bytes. */
export function normalizePassword(password: Secret): Secret {
  return new Secret(password.reveal().normalize("NFC"));
}
