/** What a token says about itself. Read, not verified: it has just come from the API that made it. */
import { decodeBase64url } from "../../proto/mod.ts";
import { Failure } from "../failure.ts";

export interface Claims {
  readonly accountId: string;
  readonly plan: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

export function readClaims(token: string): Claims {
  try {
    const bytes = decodeBase64url(token.split(".")[1] ?? "");
    const claims: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (typeof claims !== "object" || claims === null) throw new TypeError("not an object");
    const field = (name: string): unknown => Reflect.get(claims, name);
    const [sub, plan, iat, exp] = ["sub", "plan", "iat", "exp"].map(field);
    if (typeof sub === "string" && typeof plan === "string" && typeof iat === "number" && typeof exp === "number") {
      return { accountId: sub, plan, issuedAtMs: iat * 1000, expiresAtMs: exp * 1000 };
    }
    throw new TypeError("claims are missing");
  } catch (cause) {
    throw new Failure("connection_error", "The API answered with a token that cannot be read", { cause });
  }
}
