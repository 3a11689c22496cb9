/**
 * Known places. With each good password a client gets a token, and shows it with the next one: that
 * attempt is then paid from a budget that strangers cannot use up. A token proves nothing else, and
 * nobody keeps it but the client.
 *
 * It is authenticated together with the address that it was given for, which is checked before
 * anything is looked up: a token that somebody made up costs and tells nothing. And it holds a mark
 * of the password's hash, so that a new password ends all tokens.
 */
import { hkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { type AccountId, decodeBase64url, encodeBase64url, equalBytes } from "../../proto/mod.ts";
import { Secret } from "../../server/secret.ts";
import type { AccountLifecycleStore, StoredLogin } from "./account_store.ts";
import { emailKeyOf } from "./mail/emails.ts";
import type { Clock, RandomBytes } from "./deps.ts";

export const deviceLifetimeMs = 90 * 86_400_000;

/**
 * The token's parts: seconds since 1970, random bytes, the mark, and the code that authenticates
 * them.
 */
const [timeBytes, randomLength, markBytes, codeBytes] = [4, 16, 16, 32];
const bodyBytes = timeBytes + randomLength + markBytes;

export interface DevicesDeps {
  /** Secret of the deployment, out of which the keys are derived. */
  readonly secret: Secret;
  readonly store: Pick<AccountLifecycleStore, "findLogin">;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

export interface Devices {
  /**
   * For a place at which the password was good. Undefined for an account that has lost its address.
   */
  issue(login: Pick<StoredLogin, "email" | "passwordHash">): Secret | undefined;
  /** The account of this address, if the token is one of its known places. */
  find(token: string, email: string): Promise<AccountId | undefined>;
}

export function createDevices({ secret, store, clock, randomBytes }: DevicesDeps): Devices {
  const encoder = new TextEncoder();
  const keyed = (label: string): (bytes: Uint8Array) => Uint8Array => {
    const key = hkdf(sha256, encoder.encode(secret.reveal()), undefined, encoder.encode(label), 32);
    return (bytes) => hmac(sha256, key, bytes);
  };
  const [authenticate, mark] = [keyed("static device 1"), keyed("static device password 1")];
  const codeOf = (body: Uint8Array, email: string): Uint8Array =>
    authenticate(concatBytes(body, encoder.encode(emailKeyOf(email))));
  const markOf = (passwordHash: string): Uint8Array =>
    mark(encoder.encode(passwordHash)).subarray(0, markBytes);

  return {
    issue: ({ email, passwordHash }) => {
      if (email === null) return undefined;
      const body = concatBytes(
        encodeSeconds(clock()),
        randomBytes(randomLength),
        markOf(passwordHash),
      );
      return new Secret(encodeBase64url(concatBytes(body, codeOf(body, email))));
    },
    find: async (token, email) => {
      const bytes = decodeBase64url(token);
      if (bytes?.length !== bodyBytes + codeBytes) return undefined;
      const [body, code] = [bytes.subarray(0, bodyBytes), bytes.subarray(bodyBytes)];
      if (!equalBytes(code, codeOf(body, email))) return undefined;
      if (clock() - decodeSeconds(body) >= deviceLifetimeMs) return undefined;
      const login = await store.findLogin({ emailKey: emailKeyOf(email) });
      if (login === undefined) return undefined;
      return equalBytes(body.subarray(-markBytes), markOf(login.passwordHash))
        ? login.id
        : undefined;
    },
  };
}

function encodeSeconds(ms: number): Uint8Array {
  const bytes = new Uint8Array(timeBytes);
  new DataView(bytes.buffer).setUint32(0, Math.floor(ms / 1000));
  return bytes;
}

/** In milliseconds. */
function decodeSeconds(body: Uint8Array): number {
  return new DataView(body.buffer, body.byteOffset).getUint32(0) * 1000;
}
