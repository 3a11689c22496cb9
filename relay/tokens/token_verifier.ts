/**
 * Decides whether a token is the API's. The algorithm and the issuer are ours to say, never the
 * token's: a key that a token brings or points to (`jwk`, `jku`, `x5c`, `x5u`) is grounds for
 * refusal, not a help.
 */
import { decodeProtectedHeader, errors, jwtVerify } from "jose";
import { limits, narrowTokenHeader, parseAccountId, parseTokenGrant } from "../../proto/mod.ts";
import type { TokenVerifier, VerifiedToken } from "../core/deps.ts";
import type { TokenKeys } from "./token_keys.ts";

const algorithm = "EdDSA";
const issuer = "static-api";
/** How far the API's clock may be from ours. */
const toleranceSeconds = 5;
const maxPlanLength = 64;
/**
 * The API's tokens live for an hour. A longer one does not come from the API, even if it has its
 * signature.
 */
const maxLifetimeSeconds = 24 * 60 * 60;
const foreignKeyHeaders = ["jwk", "jku", "x5c", "x5u"];

type RefusedToken = { readonly refused: string };

export function createTokenVerifier(
  { keys, nowMs }: { keys: TokenKeys; nowMs: () => number },
): TokenVerifier {
  return {
    verify: async (token) => {
      const kid = readKeyId(token);
      if (typeof kid !== "string") return kid;
      const key = await keys.find(kid);
      if (key === undefined) {
        return refused("it is signed with a key that the API does not publish");
      }
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [algorithm],
          issuer,
          requiredClaims: ["sub", "plan", "iat", "exp"],
          clockTolerance: toleranceSeconds,
          crit: { [narrowTokenHeader]: true },
          currentDate: new Date(nowMs()),
        });
        return readClaims(payload, nowMs());
      } catch (error) {
        if (error instanceof errors.JOSEError) return refused(explain(error));
        throw error;
      }
    },
  };
}

function readKeyId(token: string): string | RefusedToken {
  if (token.length > limits.tokenBytes) {
    return refused(`it is longer than ${limits.tokenBytes} bytes`);
  }
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(token);
  } catch {
    return refused("it is not a JWT");
  }
  if (header.alg !== algorithm) return refused(`it is not signed with ${algorithm}`);
  if (foreignKeyHeaders.some((name) => name in header)) {
    return refused("it brings a key of its own");
  }
  if (typeof header.kid !== "string" || header.kid === "") {
    return refused("it does not say which key signed it");
  }
  return header.kid;
}

function readClaims(
  { sub, plan, iat, exp, static: claim }: {
    sub?: unknown;
    plan?: unknown;
    iat?: unknown;
    exp?: unknown;
    static?: unknown;
  },
  nowMs: number,
): VerifiedToken | RefusedToken {
  if (!isTime(iat) || !isTime(exp)) return refused("its times are not whole seconds since 1970");
  if (exp - iat > maxLifetimeSeconds) {
    return refused(`it lives longer than ${maxLifetimeSeconds / 3600} hours`);
  }
  if (iat * 1000 > nowMs + toleranceSeconds * 1000) {
    return refused("it was issued in the future; check the clocks");
  }
  if (typeof plan !== "string" || plan.length > maxPlanLength) {
    return refused("its plan is not a text");
  }
  const grant = claim === undefined ? undefined : parseTokenGrant(claim);
  if (claim !== undefined && grant === undefined) {
    return refused(`this relay cannot read its claim "static"`);
  }
  try {
    // A session is not ended before the tolerance that its token was accepted with.
    const times = { issuedAtMs: iat * 1000, expiresAtMs: (exp + toleranceSeconds) * 1000 };
    const verified = { account: parseAccountId(String(sub)), plan, ...times };
    return grant === undefined ? verified : { ...verified, grant };
  } catch {
    return refused("its subject is not an account id");
  }
}

function isTime(claim: unknown): claim is number {
  return Number.isSafeInteger(claim) && Number(claim) >= 0;
}

function explain(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) {
    return "it has expired; exchange the API key for a new one";
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    return `its claim "${error.claim}" is missing or wrong`;
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return "its signature is wrong";
  return "it is not a valid JWT";
}

function refused(reason: string): RefusedToken {
  return { refused: `Cannot accept the token: ${reason}` };
}
