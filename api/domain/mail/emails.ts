/** E-mail addresses: when two are the same, and which mailbox one leads to. */
import type { CodePurpose } from "../account_store.ts";

/**
 * Addresses are compared without regard to case; Unicode is put in one form first, and the host in
 * the form in which mail travels, so that `münchen.example` and `xn--mnchen-3ya.example` are one.
 */
export function emailKeyOf(email: string): string {
  const [name] = splitEmail(email);
  return `${name.normalize("NFC").toLowerCase()}@${hostOfEmail(email) ?? ""}`;
}

/**
 * The mailbox of an address: `a+x@host` is delivered to `a@host`. For what is counted, because
 * anybody can make up such aliases, and never for identity: each may be an account.
 */
export function mailboxOf(email: string): string {
  const [name, host] = splitEmail(emailKeyOf(email));
  return `${name.replace(/(?<=.)\+.*$/s, "")}@${host}`;
}

/**
 * All aliases of a mailbox are one. Its plain address is apart from them: anybody can make up
 * aliases and use up what they have.
 */
export function mailSubject(purpose: CodePurpose, email: string): string {
  const [key, mailbox] = [emailKeyOf(email), mailboxOf(email)];
  return key === mailbox ? `${purpose} ${key}` : `${purpose} aliases of ${mailbox}`;
}

/** Undefined when it is no host's name. */
export function hostOfEmail(email: string): string | undefined {
  const [, host] = splitEmail(email);
  // A character that would end a host's name in a URL belongs to none.
  return /[\/?#:\\[\]%]/.test(host)
    ? undefined
    : URL.parse(`http://${host.normalize("NFC")}/`)?.hostname;
}

function splitEmail(email: string): readonly [string, string] {
  const at = email.lastIndexOf("@");
  return [email.slice(0, at), email.slice(at + 1)];
}
