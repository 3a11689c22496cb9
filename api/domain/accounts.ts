/** Accounts: sign-up with a first key, and the way back in with e-mail or id and password for someone who lost every key. */
import { type AccountId, parseAccountId } from "../../proto/mod.ts";
import { defaultKeyName, type IssuedKey, type KeyCreation, type Keys } from "./keys.ts";
import type { Login } from "./account_store.ts";
import type { Account, AccountStore, Clock, Hasher, NewId } from "./deps.ts";
import { plainTraits } from "./powers.ts";
import { Secret } from "../../server/secret.ts";

export type SignUp =
  | { readonly outcome: "created"; readonly account: Account; readonly key: IssuedKey }
  | { readonly outcome: "email_taken" };

export type Recovery = KeyCreation | { readonly outcome: "wrong_credentials" } | { readonly outcome: "suspended" };

export interface AccountsDeps {
  readonly store: AccountStore;
  readonly passwords: Hasher;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Of accounts that are made. */
  readonly plan: string;
  readonly logIn: (
    by: { id: AccountId } | { email: string },
    attempt: { password: Secret; client: string },
  ) => Promise<Login | undefined>;
}

export interface Accounts {
  signUp(input: { email: string; password: Secret; client: string }): Promise<SignUp>;
  /** Unknown account and wrong password answer alike and take alike. */
  recover(
    input: { by: { id: AccountId } | { email: string }; password: Secret; name: string; client: string },
  ): Promise<Recovery>;
}

export function createAccounts({ store, passwords, keys, clock, newId, plan, logIn }: AccountsDeps): Accounts {
  return {
    signUp: async ({ email, password, client }) => {
      const passwordHash = await passwords.hash(normalizePassword(password), client);
      const account = {
        id: parseAccountId(newId()),
        email,
        emailKey: emailKeyOf(email),
        passwordHash,
        plan,
        createdAtMs: clock(),
      };
      const first = { name: defaultKeyName, traits: plainTraits };
      const { key, outcome } = await keys.issue(client, (key) => store.createAccount(account, { ...key, ...first }));
      return outcome === "email_taken"
        ? { outcome }
        : { outcome: "created", account: outcome, key: { ...key, ...first } };
    },

    recover: async ({ by, password, name, client }) => {
      const login = await logIn(by, { password, client });
      if (login === undefined) return { outcome: "wrong_credentials" };
      if (login.isSuspended) return { outcome: "suspended" };
      const created = await keys.create({ accountId: login.id, passwordHash: login.passwordHash }, { name });
      // The password was changed, or the account suspended, while it was being compared.
      return created.outcome === "revoked" ? { outcome: "wrong_credentials" } : created;
    },
  };
}

/**
 * Addresses are compared without regard to case; Unicode is put in one form first, and the host in the form in which mail
 * travels, so that `münchen.example` and `xn--mnchen-3ya.example` are one.
 */
export function emailKeyOf(email: string): string {
  const [name] = splitEmail(email);
  return `${name.normalize("NFC").toLowerCase()}@${hostOfEmail(email) ?? ""}`;
}

/** Undefined when it is no host's name. */
export function hostOfEmail(email: string): string | undefined {
  const [, host] = splitEmail(email);
  // A character that would end a host's name in a URL belongs to none.
  return /[\/?#:\\[\]%]/.test(host) ? undefined : URL.parse(`http://${host.normalize("NFC")}/`)?.hostname;
}

function splitEmail(email: string): readonly [string, string] {
  const at = email.lastIndexOf("@");
  return [email.slice(0, at), email.slice(at + 1)];
}

/** The same characters typed on another keyboard must give the same bytes. */
export function normalizePassword(password: Secret): Secret {
  return new Secret(password.reveal().normalize("NFC"));
}
