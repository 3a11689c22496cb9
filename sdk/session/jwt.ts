/** The little that a client reads of its own JWT. It verifies nothing: that is the relay's part. */
import { decodeBase64url } from "../../proto/mod.ts";

/** What the API issues, and what is assumed of a token that cannot be read. */
const usualLifetimeMs = 60 * 60 * 1000;

/** How long a token lasts that was issued just now, by the clock of its issuer. */
export function lifetimeMsOf(token: string, nowMs: number): number {
  const { iat, exp } = claimsOf(token);
  if (typeof exp !== "number") return usualLifetimeMs;
  return typeof iat === "number" ? (exp - iat) * 1000 : exp * 1000 - nowMs;
}

function claimsOf(token: string): { readonly iat?: unknown; readonly exp?: unknown } {
  try {
    const payload = decodeBase64url(token.split(".")[1] ?? "");
    const claims: unknown = payload === undefined ? {} : JSON.parse(new TextDecoder().decode(payload));
    return typeof claims === "object" && claims !== null ? claims : {};
  } catch {
    return {}; // an opaque token, of somebody else's making
  }
}
