/**
 * Settings of Node and Deno: environment variables, then the file that `static signup` and `static
 * login` write for their user (0600). A runtime that may not read them has none.
 */
import { readFile, stat } from "node:fs/promises";
import { homedir, platform } from "node:os";
import { join } from "node:path";
import process from "node:process";
import {
  type Credentials,
  credentialsPath,
  isSameApi,
  parseCredentials,
  savedKeyFor,
  WireError,
} from "../../proto/mod.ts";
import { createError } from "../base/errors.ts";
import type { PlatformSettings, SettingsOptions } from "./platform.ts";

/** Far more than it ever has. */
const maxFileBytes = 64 * 1024;

export async function readSettings(
  { withoutFile = false, apiUrl: given }: SettingsOptions = {},
): Promise<PlatformSettings> {
  const saved = withoutFile ? {} : await readCredentials();
  const named = variable("STATIC_API_URL");
  const apiUrl = named ?? saved.api_url;
  // Saved settings belong to one service: the token of another API must not go to this relay.
  const isOfService = saved.api_url === undefined || isSameApi(given ?? apiUrl, saved.api_url);
  const { relay_url, ca_file, relay_ca_file }: Credentials = isOfService ? saved : {};
  // So do variables that name it.
  const isNamedFor = given === undefined || named === undefined || isSameApi(given, named);
  const relayUrl = isNamedFor ? variable("STATIC_RELAY_URL") : undefined;
  const settings = {
    apiKey: variable("STATIC_API_KEY") ??
      (apiUrl === undefined ? saved.api_key : savedKeyFor(apiUrl, saved)),
    apiUrl,
    relayUrl: relayUrl ?? relay_url,
    isRelaySaved: relayUrl === undefined && relay_url !== undefined ? true : undefined,
    caFile: (isNamedFor ? variable("STATIC_CA_FILE") : undefined) ?? ca_file,
    relayCaFile: relay_ca_file,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

async function readCredentials(): Promise<Credentials> {
  const path = findCredentials();
  const text = path === undefined ? undefined : await readIfThere(path);
  if (path === undefined || text === undefined) return {};
  try {
    return parseCredentials(text, path);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw createError(
      error.code,
      `${error.message}; delete it and sign in again with: static login`,
    );
  }
}

/** Returns undefined where there is no place for it. */
export function findCredentials(): string | undefined {
  try {
    return credentialsPath({ system: platform(), variable, home: homedir, join });
  } catch {
    return undefined; // Deno without permission, a user without a home
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).size <= maxFileBytes ? await readFile(path, "utf8") : "";
  } catch {
    return undefined; // missing, or not ours to read
  }
}

/** An empty variable counts as none. */
function variable(name: string): string | undefined {
  try {
    return process.env[name] || undefined;
  } catch {
    return undefined; // Deno without permission
  }
}
