/** Accounts: sign-up with a first key, and the way back in with e-mail or id and password for someone who lost every key. */
import { type AccountId, parseAccountId } from "../../proto/mod.ts";
import { defaultKeyName, type IssuedKey, type KeyCreation, type Keys } from "./keys.ts";
import type { Account, AccountStore, Clock, Hasher, NewId } from "./deps.ts";
import { Secret } from "../../server/secret.ts";

export type SignUp =
  | { readonly outcome: "created"; readonly account: Account; readonly key: IssuedKey }
  | { readonly outcome: "email_taken" };

export type Recovery = KeyCreation | { readonly outcome: "wrong_credentials" };

export interface AccountsDeps {
  readonly store: AccountStore;
  readonly passwords: Hasher;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly newId: NewId;
}

export interface Accounts {
  signUp(input: { email: string; password: Secret; client: string }): Promise<SignUp>;
  /** Unknown account and wrong password answer alike and take alike. */
  recover(
    input: { by: { id: AccountId } | { email: string }; password: Secret; name: string; client: string },
  ): Promise<Recovery>;
}

export function createAccounts({ store, passwords, keys, clock, newId }: AccountsDeps): Accounts {
  return {
    signUp: async ({ email, password, client }) => {
      const passwordHash = await passwords.hash(normalizePassword(password), client);
      const account = {
        id: parseAccountId(newId()),
        email,
        emailKey: emailKeyOf(email),
        passwordHash,
        createdAtMs: clock(),
      };
      const { key, outcome } = await keys.issue(
        { name: defaultKeyName, client },
        (key) => store.createAccount(account, key),
      );
      return outcome === "email_taken" ? { outcome } : { outcome: "created", account: outcome, key };
    },

    recover: async ({ by, password, name, client }) => {
      const account = await store.findPasswordHash("id" in by ? by : { emailKey: emailKeyOf(by.email) });
      const matches = await passwords.verify(normalizePassword(password), account?.passwordHash, client);
      if (!matches || account === undefined) return { outcome: "wrong_credentials" };
      return await keys.create({ accountId: account.id }, name);
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
  // What would end a host's name in a URL belongs to none.
  return /[\/?#:\\[\]%]/.test(host) ? undefined : URL.parse(`http://${host.normalize("NFC")}/`)?.hostname;
}

function splitEmail(email: string): readonly [string, string] {
  const at = email.lastIndexOf("@");
  return [email.slice(0, at), email.slice(at + 1)];
}

/** The same characters typed on another keyboard must give the same bytes. */
function normalizePassword(password: Secret): Secret {
  return new Secret(password.reveal().normalize("NFC"));
}
