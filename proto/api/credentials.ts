/**
 * The per-user file that `static signup` and `static login` write and that the SDK reads. It holds
 * one API key with the addresses at which it is good, because a key must never be sent anywhere
 * else. Reading and writing is the caller's part.
 */
import { WireError } from "../base/errors.ts";
import { isSameApi } from "./http_call.ts";

/** The file's JSON. Other fields are ignored. */
export interface Credentials {
  readonly api_key?: string | undefined;
  readonly api_url?: string | undefined;
  readonly relay_url?: string | undefined;
  /** To be trusted as API and relay. */
  readonly ca_file?: string | undefined;
  /** To be trusted as the relay alone: an authority that the API told of, and that was pinned. */
  readonly relay_ca_file?: string | undefined;
  /** Address of the key's account; for people. */
  readonly email?: string | undefined;
  /** Makes this place a known one of that account, at the API of this file. */
  readonly device?: string | undefined;
}

const fields = [
  "api_key",
  "api_url",
  "relay_url",
  "ca_file",
  "relay_ca_file",
  "email",
  "device",
] as const;

/** The parts of the system that tell where a user's files are. */
export interface UserPlaces {
  /** As Node names it: `win32`, `darwin`, `linux`. */
  readonly system: string;
  readonly variable: (name: string) => string | undefined;
  readonly home: () => string;
  readonly join: (...parts: readonly string[]) => string;
}

/** `static/credentials.json` in the user's folder for configuration. */
export function credentialsPath(places: UserPlaces): string {
  return userFile("credentials.json", places);
}

export function userFile(name: string, { system, variable, home, join }: UserPlaces): string {
  const named = variable("XDG_CONFIG_HOME") ??
    (system === "win32" ? variable("APPDATA") : undefined);
  const usual = system === "darwin" ? ["Library", "Application Support"] : [".config"];
  return join(named ?? join(home(), ...usual), "static", name);
}

/**
 * Throws `auth_failed` for what is no JSON object. The error does not quote the text, which holds a
 * key.
 */
export function parseCredentials(text: string, path: string): Credentials {
  const parsed = parseJson(text);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new WireError(
      "auth_failed",
      `Cannot use the credentials file ${path}: it is not a JSON object`,
    );
  }
  const known = fields.flatMap((name) => {
    const value: unknown = Reflect.get(parsed, name);
    return typeof value === "string" && value !== "" ? [[name, value]] : [];
  });
  return Object.fromEntries(known);
}

export function formatCredentials(credentials: Credentials): string {
  return `${JSON.stringify(credentials, null, 2)}\n`;
}

/** The saved key, if it is good at this address: it is sent to no other. */
export function savedKeyFor(apiUrl: string, { api_key, api_url }: Credentials): string | undefined {
  return api_url === undefined || isSameApi(apiUrl, api_url) ? api_key : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
