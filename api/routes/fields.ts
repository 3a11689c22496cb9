/**
 * The fields that requests and answers share. Each says in one sentence what it accepts; that
 * sentence is what a user sees.
 */
import { z } from "@hono/zod-openapi";
import { limits, shownLines } from "../../proto/mod.ts";
import { hostOfEmail } from "../domain/mail/emails.ts";
import { isCommonPassword } from "../domain/common_passwords.ts";
import { defaultKeyName } from "../domain/keys.ts";

const passwordMin = 8;
const passwordMax = 256;
const nameMax = 64;

const controlCharacter = /\p{Cc}/u;
/**
 * With characters that are shown as escapes, two names could look alike where somebody forgets to
 * show them so.
 */
const isVisible = (text: string): boolean => shownLines(text) === text;
/** Lone surrogates have no bytes in UTF-8: two different strings would become the same. */
const wellFormed = (text: string): boolean => text.isWellFormed();
const characters = (text: string): number => [...text].length;

/**
 * Deliberately loose: only a message that arrives proves an address. No white space or control
 * characters anywhere.
 */
const emailForm = /^[^\s@\p{Cc}]+@[^\s@.\p{Cc}]+(\.[^\s@.\p{Cc}]+)+$/u;
const isEmail = (text: string): boolean =>
  emailForm.test(text) && isVisible(text) && hostOfEmail(text) !== undefined;

export const email = z.string({ error: "must be a string" })
  .max(limits.emailBytes, `must have at most ${limits.emailBytes} characters`)
  .refine(isEmail, "must be an e-mail address")
  .refine(wellFormed, "must be valid Unicode")
  .openapi({
    example: "agent@example.com",
    format: "email",
    description: "The address of the account.",
  });

/**
 * Length is bounded before normalisation, which takes time with the square of the marks on one
 * letter: seconds for a whole body. Without `abort` the rules below would run all the same.
 */
export const password = z.string({ error: "must be a string" })
  .max(4 * passwordMax, { error: `must have at most ${passwordMax} characters`, abort: true })
  .refine(wellFormed, "must be valid Unicode")
  .refine(
    (text) => characters(text.normalize("NFC")) >= passwordMin,
    `must have at least ${passwordMin} characters`,
  )
  .refine(
    (text) => characters(text.normalize("NFC")) <= passwordMax,
    `must have at most ${passwordMax} characters`,
  )
  .openapi({
    example: "correct horse battery staple",
    minLength: passwordMin,
    maxLength: passwordMax,
    format: "password",
    description: "The password of the account.",
  });

/** For a password that is being chosen. An account that has such a one already can still use it. */
export const newPassword = password.refine(
  (text) => text.length > passwordMax || !isCommonPassword(text),
  "must not be one of the passwords that are guessed first",
).describe("The password that the account has from then on.");

export const keyName = z.string({ error: "must be a string" })
  .max(16 * nameMax, `must have at most ${nameMax} characters`)
  .transform((text) => text.trim())
  .pipe(
    z.string()
      .refine((text) => text.length > 0, "must not be empty")
      .refine((text) => characters(text) <= nameMax, `must have at most ${nameMax} characters`)
      .refine((text) => !controlCharacter.test(text), "must not contain control characters")
      .refine(
        isVisible,
        "must not contain invisible characters, or such that change the direction of text",
      )
      .refine(wellFormed, "must be valid Unicode"),
  )
  .default(defaultKeyName)
  .openapi({
    type: "string",
    minLength: 1,
    maxLength: nameMax,
    default: defaultKeyName,
    example: "ci",
  })
  .describe("What people call the key.");

/** A code as it was mailed; spaces and dashes do not matter. */
export const mailCode = z.string({ error: "must be a string" }).max(
  64,
  "must have at most 64 characters",
)
  .refine(
    (text) => /^[0-9A-Za-z\s-]+$/.test(text),
    "must be the letters and digits that were mailed",
  )
  .openapi({
    example: "7K3M-9Q2T-XW4B",
    description: "The code from the mail. Spaces and dashes do not matter.",
  });

export const id = z.uuid().openapi({ example: "5f0c3c1e-8d6b-4e0e-9f0a-2f6f7c1f9a11" });
export const timestamp = z.iso.datetime().openapi({ example: "2026-11-15T08:30:00.000Z" });
export const keyPrefix = z.string().openapi({
  example: "sk_live_AAAAAAAA",
  description: "The beginning of the key, by which people recognise it.",
});
export const shownKeyName = z.string().describe("What people call the key.");
export const keyId = id.describe("The id of the key.");
export const accountId = id.describe("The id of the account.");
export const createdAt = timestamp.describe("When it was made.");
export const revokeKeys = z.boolean().default(false).describe(
  "Whether all keys of the account are revoked too.",
);
export const token = z.string().describe(
  "A token with which an agent connects to a relay, for one hour.",
);
export const secretKey = z.string().openapi({
  description: "The full API key. Shown only here: store it now.",
  example: "sk_live_AAAAAAAAbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0s2ROk",
});
export const plan = z.string().openapi({
  example: "free",
  description: "free, dev, team or enterprise",
});

/** A path parameter that is no UUID names nothing, so it is answered 404 like any unknown id. */
export function parseUuid<Id>(
  text: string | undefined,
  parse: (text: string) => Id,
): Id | undefined {
  try {
    return parse((text ?? "").toLowerCase());
  } catch {
    return undefined;
  }
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
