/**
 * The HTTP API's operations on an account and on keys that are more than plain, for the CLI. See
 * `docs/accounts.md`.
 */
import {
  type CreatedAccount,
  createdAccountOf,
  type CreatedKey,
  createdKeyOf,
  type KnownPlace,
  type Login,
  missingField,
  textOf,
  timeOf,
} from "./http_api.ts";
import { type ApiAccess, type ApiOutcome, callApi, fieldOf } from "./http_call.ts";

export interface OwnAccount {
  readonly accountId: string;
  /** Undefined when somebody else has proved to own it. */
  readonly email: string | undefined;
  readonly isVerified: boolean;
  /** Waits for its code. */
  readonly pendingEmail: string | undefined;
  readonly plan: string;
  readonly createdAtMs: number;
  readonly isSuspended: boolean;
  readonly notices: readonly string[];
}

/** The things that ended together with a password. */
export interface RevocationCounts {
  readonly sessionsEnded: number;
  readonly keysRevoked: number;
}

interface ByKey {
  readonly apiKey: string;
}

/** `GET /v1/account`. */
export function readAccount(api: ApiAccess, apiKey: string): Promise<ApiOutcome<OwnAccount>> {
  return callApi(api, { method: "GET", path: "/v1/account", credential: apiKey, parse: accountOf });
}

/** `PATCH /v1/account`: a code goes to the new address. */
export function changeAddress(
  api: ApiAccess,
  { apiKey, email, password }: ByKey & Login,
): Promise<ApiOutcome<OwnAccount>> {
  const call = {
    path: "/v1/account",
    credential: apiKey,
    body: { email, password },
    secrets: [password],
  };
  return callApi(api, { method: "PATCH", ...call, parse: accountOf });
}

/** `POST /v1/account/verification`: a code goes to the account's address. */
export function askVerification(api: ApiAccess, apiKey: string): Promise<ApiOutcome<void>> {
  return callApi(api, {
    method: "POST",
    path: "/v1/account/verification",
    credential: apiKey,
    parse: () => {},
  });
}

/** `POST /v1/account/verification/confirm`: of the account's address, or of the one that waits. */
export function confirmAddress(
  api: ApiAccess,
  { apiKey, code, revokeKeys }: ByKey & { readonly code: string; readonly revokeKeys: boolean },
): Promise<ApiOutcome<OwnAccount>> {
  const body = { code, revoke_keys: revokeKeys };
  const call = {
    path: "/v1/account/verification/confirm",
    credential: apiKey,
    body,
    secrets: [code],
  };
  return callApi(api, { method: "POST", ...call, parse: accountOf });
}

/** `POST /v1/account/password`. */
export function changePassword(
  api: ApiAccess,
  { apiKey, password, newPassword, revokeKeys }: ByKey & {
    readonly password: string;
    readonly newPassword: string;
    readonly revokeKeys: boolean;
  },
): Promise<ApiOutcome<RevocationCounts & KnownPlace>> {
  const body = { password, new_password: newPassword, revoke_keys: revokeKeys };
  const call = {
    path: "/v1/account/password",
    credential: apiKey,
    body,
    secrets: [password, newPassword],
  };
  return callApi(api, { method: "POST", ...call, parse: endingsOf });
}

/** `DELETE /v1/account`. */
export function deleteAccount(
  api: ApiAccess,
  { apiKey, password }: ByKey & { readonly password: string },
): Promise<ApiOutcome<void>> {
  const call = { path: "/v1/account", credential: apiKey, body: { password }, secrets: [password] };
  return callApi(api, { method: "DELETE", ...call, parse: () => {} });
}

/**
 * `POST /v1/accounts/reset` and `POST /v1/accounts/claim`: a code goes to the address, if it is the
 * right thing to do.
 */
export function askForCode(
  api: ApiAccess,
  { purpose, email }: { readonly purpose: "reset" | "claim"; readonly email: string },
): Promise<ApiOutcome<void>> {
  return callApi(api, {
    method: "POST",
    path: `/v1/accounts/${purpose}`,
    body: { email },
    parse: () => {},
  });
}

/** `POST /v1/accounts/reset/confirm`: a new password. */
export function resetPassword(
  api: ApiAccess,
  { email, code, newPassword, revokeKeys }: {
    readonly email: string;
    readonly code: string;
    readonly newPassword: string;
    readonly revokeKeys: boolean;
  },
): Promise<ApiOutcome<RevocationCounts & KnownPlace>> {
  const body = { email, code, new_password: newPassword, revoke_keys: revokeKeys };
  const call = { path: "/v1/accounts/reset/confirm", body, secrets: [code, newPassword] };
  return callApi(api, { method: "POST", ...call, parse: endingsOf });
}

/** `POST /v1/accounts/claim/confirm`: a new account with the address that the code proves. */
export function claimAddress(
  api: ApiAccess,
  { email, code, password }: Login & { readonly code: string },
): Promise<ApiOutcome<CreatedAccount>> {
  const call = {
    path: "/v1/accounts/claim/confirm",
    body: { email, code, password },
    secrets: [code, password],
  };
  return callApi(api, { method: "POST", ...call, parse: createdAccountOf });
}

export interface RotatedKey extends CreatedKey {
  /** From when on the old one does not work any more. */
  readonly oldExpiresAtMs: number;
}

/** `POST /v1/keys/:id/rotate`. */
export function rotateApiKey(
  api: ApiAccess,
  { apiKey, id, overlapSeconds }: ByKey & { readonly id: string; readonly overlapSeconds: number },
): Promise<ApiOutcome<RotatedKey>> {
  return callApi(api, {
    method: "POST",
    path: `/v1/keys/${encodeURIComponent(id)}/rotate`,
    credential: apiKey,
    body: { overlap_seconds: overlapSeconds },
    parse: (json) => {
      const oldExpiresAtMs = timeOf(fieldOf(json, "replaces"), "expires_at");
      return { ...createdKeyOf(json, textOf(json, "key")), oldExpiresAtMs };
    },
  });
}

function accountOf(json: unknown): OwnAccount {
  const [email, pending, notices] = ["email", "pending_email", "notices"].map((name) =>
    fieldOf(json, name)
  );
  if (!Array.isArray(notices)) throw missingField("notices");
  return {
    accountId: textOf(json, "id"),
    email: typeof email === "string" ? email : undefined,
    isVerified: fieldOf(json, "email_verified") === true,
    pendingEmail: typeof pending === "string" ? pending : undefined,
    plan: textOf(json, "plan"),
    createdAtMs: timeOf(json, "created_at"),
    isSuspended: fieldOf(json, "suspended") === true,
    notices: notices.map(String),
  };
}

function endingsOf(json: unknown, device: string | undefined): RevocationCounts & KnownPlace {
  return {
    device,
    sessionsEnded: Number(fieldOf(json, "sessions_ended") ?? 0),
    keysRevoked: Number(fieldOf(json, "keys_revoked") ?? 0),
  };
}
