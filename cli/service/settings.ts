/**
 * Which service, with which key: what stands on the command line, then the environment, then the
 * file, then a local stack.
 */
import {
  type Credentials,
  isLoopback,
  isSameApi,
  parseApiKey,
  parseApiUrl,
  savedKeyFor,
} from "../../proto/mod.ts";
import type { TlsOptions } from "../../sdk/mod.ts";
import type { Context } from "../command.ts";
import { reasonOf } from "../disk.ts";
import { readCredentials } from "./credentials.ts";
import { badInput, Failure } from "../failure.ts";
import type { CommandPlatform } from "../platform/platform.ts";

export interface Settings {
  readonly apiUrl: string;
  /** Undefined when nobody has named a relay; the API may. */
  readonly relayUrl: string | undefined;
  /** Trusted as API and relay. */
  readonly caFile: string | undefined;
  readonly caCerts: readonly string[];
  /** Trusted as the relay alone: pinned, because the API told of it. */
  readonly relayCaFile: string | undefined;
  readonly relayCaCerts: readonly string[];
  readonly key: SettingsKey | undefined;
  /** The address that STATIC_API_KEY belongs to, if it is another one: that key is not sent. */
  readonly keyIsFor: string | undefined;
  /** The token that makes this a known place of an account of this API. */
  readonly device: string | undefined;
  readonly saved: Credentials;
}

export interface SettingsKey {
  readonly apiKey: string;
  readonly from: "environment" | "file";
}

const localApi = "http://127.0.0.1:8080";
/** The relay of a stack on this machine, if its API does not name one. */
export const localRelay = "quic://localhost:4433";

export async function readSettings(
  { given, platform }: Pick<Context, "given" | "platform">,
): Promise<Settings> {
  const saved = await readCredentials(platform);
  const [asked, named] = [given.value("api-url"), platform.variable("STATIC_API_URL")];
  const apiUrl = requireApiUrl(asked ?? named ?? saved.api_url ?? localApi);
  const isLocal = isLoopback(apiUrl);
  // Saved settings belong to one service, and so do variables that name it.
  const { relay_url, ca_file, relay_ca_file, device }: Credentials =
    saved.api_url === undefined || isSameApi(apiUrl, saved.api_url) ? saved : {};
  const isNamedFor = asked === undefined || named === undefined || isSameApi(asked, named);
  const variable = (name: string): string | undefined =>
    isNamedFor ? platform.variable(name) : undefined;
  const relayUrl = given.value("relay-url") ?? variable("STATIC_RELAY_URL") ?? relay_url;
  const caFile = given.value("ca-file") ?? variable("STATIC_CA_FILE") ?? ca_file ??
    (isLocal ? await findLocalAuthority(platform) : undefined);
  return {
    apiUrl,
    relayUrl,
    caFile: caFile === undefined ? undefined : platform.files.absolute(caFile),
    caCerts: caFile === undefined ? [] : [await readAuthority(caFile, platform)],
    relayCaFile: caFile === undefined ? relay_ca_file : undefined,
    relayCaCerts: caFile !== undefined || relay_ca_file === undefined
      ? []
      : [await readAuthority(relay_ca_file, platform)],
    key: findKey({ variable, saved, apiUrl }),
    keyIsFor: !isNamedFor && platform.variable("STATIC_API_KEY") !== undefined ? named : undefined,
    device,
    saved,
  };
}

/** The key, for commands that need one. */
export function requireKey({ key, keyIsFor, saved, apiUrl }: Settings): string {
  if (key !== undefined) return checkKey(key.apiKey);
  if (keyIsFor !== undefined) {
    const text =
      `STATIC_API_KEY is for ${keyIsFor}, as STATIC_API_URL says, not for ${apiUrl}; it is not sent there`;
    throw new Failure("auth_failed", text, {
      advice:
        `Set STATIC_API_URL and STATIC_API_KEY together, or sign in there with: {} login --api-url ${apiUrl}`,
    });
  }
  if (saved.api_key !== undefined) {
    throw new Failure(
      "auth_failed",
      `The saved key is for ${saved.api_url}, not for ${apiUrl}; it is not sent there`,
      {
        advice: "Give a key for this address as STATIC_API_KEY, or sign in there with: {} login",
      },
    );
  }
  throw new Failure("auth_failed", "You are not signed in", {
    advice: "Create an account with: {} signup. If you have one: {} login, or set STATIC_API_KEY",
  });
}

export function checkKey(apiKey: string): string {
  if (parseApiKey(apiKey) !== undefined) return apiKey;
  const text =
    "The API key is incomplete or mistyped: a key begins with sk_live_ or sk_test_ and ends in a checksum";
  throw new Failure("auth_key_invalid", text, {
    advice: "Copy it again, or get a new one with: {} login",
  });
}

/** For connections of the SDK. */
export function trustOf({ caCerts, relayCaCerts }: Settings): TlsOptions {
  return { caCerts, relayCaCerts };
}

export function requireRelay({ relayUrl }: Settings): string {
  if (relayUrl !== undefined) return relayUrl;
  throw badInput(
    "The relay's address is unknown: neither options nor the API name it",
    "Give --relay-url, or set STATIC_RELAY_URL",
  );
}

interface KeySources extends Pick<CommandPlatform, "variable"> {
  readonly saved: Credentials;
  readonly apiUrl: string;
}

function findKey({ variable, saved, apiUrl }: KeySources): SettingsKey | undefined {
  const inEnvironment = variable("STATIC_API_KEY");
  if (inEnvironment !== undefined) return { apiKey: inEnvironment, from: "environment" };
  const apiKey = savedKeyFor(apiUrl, saved);
  return apiKey === undefined ? undefined : { apiKey, from: "file" };
}

/** A password or key must not travel in clear, except to a service on this machine. */
function requireApiUrl(text: string): string {
  const url = parseApiUrl(text);
  if (url !== undefined) return url;
  throw badInput(
    `"${text}" cannot be the API's address`,
    "Give https://host (http:// only for a service on this machine)",
  );
}

/**
 * The authority that `deno task start` creates in its data directory, for users in the same folder.
 */
async function findLocalAuthority(
  { files, folders, variable }: CommandPlatform,
): Promise<string | undefined> {
  // Relative to where this was called, unless it is absolute.
  const folder = files.absolute(
    variable("STATIC_DATA_DIR") ?? files.join(folders.current, ".static"),
  );
  const path = files.join(folder, "ca.pem");
  return await files.read(path).catch(() => undefined) === undefined ? undefined : path;
}

export async function readAuthority(path: string, { files }: CommandPlatform): Promise<string> {
  const text = await files.read(path).catch((cause) => {
    throw badInput(`Cannot read the certificates in ${path}: ${reasonOf(cause)}`);
  });
  if (text === undefined) {
    throw badInput(
      `There is no file ${path} with certificates to trust`,
      "Is the stack's data directory gone? Start it again, or give --ca-file",
    );
  }
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw badInput(`${path} holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)`);
}
