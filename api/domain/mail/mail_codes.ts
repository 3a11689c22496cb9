/**
 * Codes that are sent by mail, and the messages that carry them. A code is 60 random bits in twelve
 * letters that are hard to confuse; the database has its SHA-256. The text of a message depends on
 * the address's state, so that only its mailbox learns it.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import type { RandomBytes } from "../deps.ts";
import type { CodePurpose } from "../account_store.ts";

/** Crockford's: without I, L, O and U. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const codeLength = 12;
export const codeLifetimeMs = 60 * 60_000;
/**
 * Between two mails for a reset: at most three in an hour. Shorter than a code lives, so that the
 * last one is good for anybody who asks meanwhile, also if a stranger had asked for it.
 */
export const resetPauseMs = 30 * 60_000;

/** `XXXX-XXXX-XXXX`. */
export function createCode(randomBytes: RandomBytes): string {
  const letters = Array.from(
    randomBytes(codeLength),
    (byte) => alphabet.charAt(byte % alphabet.length),
  ).join("");
  return letters.replace(/^(.{4})(.{4})/, "$1-$2-");
}

/** The same for what people make of a code when they type it. */
export function hashCode(text: string): Uint8Array {
  const letters = text.toUpperCase().replaceAll(/[\s-]/g, "").replaceAll("O", "0").replaceAll(
    /[IL]/g,
    "1",
  );
  return sha256(new TextEncoder().encode(letters));
}

export interface Letter {
  readonly subject: string;
  readonly body: string;
}

const closing =
  "It is good for 60 minutes. If you did not ask for this, do nothing: without the code nothing changes.";
const texts: Readonly<Record<CodePurpose, { readonly subject: string; readonly opening: string }>> =
  {
    verify: {
      subject: "Verify your address for Static",
      opening:
        "Somebody created a Static account with this address. If it was you, verify the address with this code:",
    },
    change: {
      subject: "Confirm your new address for Static",
      opening: "A Static account is to have this address from now on. Confirm it with this code:",
    },
    reset: {
      subject: "Reset your password at Static",
      opening: "Choose a new password with this code:",
    },
    claim: {
      subject: "Claim your address at Static",
      opening:
        "Create a Static account with this address. An account that carries it without having proved that it is " +
        "its own loses it. Your code:",
    },
  };

export function letterWith(purpose: CodePurpose, code: string): Letter {
  const { subject, opening } = texts[purpose];
  return { subject, body: `${opening}\n\n    ${code}\n\n${closing}\n` };
}

/** To somebody who cannot have what was asked for. */
export const hintLetters: Readonly<Record<"reset" | "claim", Letter>> = {
  reset: {
    subject: "Your address at Static",
    body:
      "Somebody asked to reset the password of the Static account with this address. That account has never proved " +
      "that the address is its own, so its password cannot be reset by mail. To take the address for a new account of " +
      "yours, claim it: POST /v1/accounts/claim.\n",
  },
  claim: {
    subject: "Your address at Static",
    body:
      "Somebody asked to claim this address. It belongs to a Static account that has verified it. If that is yours " +
      "and you lost its password, reset it: POST /v1/accounts/reset. If you did not ask for this, do nothing.\n",
  },
};

/** To the address that an account had until now. */
export const addressChangedLetter: Letter = {
  subject: "Your Static account has another address",
  body:
    "The Static account that had this address has another one from now on, and its sessions have ended. If it was not " +
    "you who asked for this, somebody has the account's password: write to the operator of this service at once.\n",
};
