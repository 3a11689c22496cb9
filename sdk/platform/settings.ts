/**
 * Settings of Node and Deno: environment variables, then the file that `static signup` and `static login` write for their
 * user (0600). A runtime that may not read them has none.
 */
import { readFile, stat } from "node:fs/promises";
import { homedir, platform } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createError } from "../base/errors.ts";
import type { PlatformSettings } from "./platform.ts";

/** Far more than it ever has. */
const maxFileBytes = 64 * 1024;

export async function readSettings(
  { withoutFile = false }: { readonly withoutFile?: boolean } = {},
): Promise<PlatformSettings> {
  const file = withoutFile ? {} : await readCredentials();
  const settings = {
    apiKey: variable("STATIC_API_KEY") ?? file.api_key,
    apiUrl: variable("STATIC_API_URL") ?? file.api_url,
    relayUrl: variable("STATIC_RELAY_URL") ?? file.relay_url,
    caFile: variable("STATIC_CA_FILE") ?? file.ca_file,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** `static/credentials.json` in the user's folder for configuration; undefined where there is none. */
export function credentialsPath(): string | undefined {
  const folder = variable("XDG_CONFIG_HOME") ?? (platform() === "win32" ? variable("APPDATA") : undefined);
  if (folder !== undefined) return join(folder, "static", "credentials.json");
  try {
    const parts = platform() === "darwin" ? ["Library", "Application Support"] : [".config"];
    return join(homedir(), ...parts, "static", "credentials.json");
  } catch {
    return undefined; // Deno without permission, a user without a home
  }
}

interface Credentials {
  readonly api_key?: string;
  readonly api_url?: string;
  readonly relay_url?: string;
  readonly ca_file?: string;
}

async function readCredentials(): Promise<Credentials> {
  const path = credentialsPath();
  const text = path === undefined ? undefined : await readIfThere(path);
  if (text === undefined) return {};
  try {
    const fields: unknown = JSON.parse(text);
    if (typeof fields !== "object" || fields === null) throw new Error("it is not an object");
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === "string"));
  } catch (cause) {
    // The cause would quote the file, which holds a key.
    const why = cause instanceof SyntaxError ? "it is not JSON" : "it is not an object";
    throw createError(
      "auth_failed",
      `Cannot use the credentials file ${path}: ${why}; write it again with static login`,
    );
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
