/**
 * Secrets of one machine: the relay shows one to the API, an operator another. Programs that share
 * the data directory read the same file; the one that starts first makes it.
 */
import { encodeBase64url } from "../proto/mod.ts";
import { readOrCreateOwned } from "./owned_file.ts";
import { Secret } from "./secret.ts";

const secretBytes = 32;

export async function loadRelaySecret(dataDir: string): Promise<Secret> {
  return await loadSecret(`${dataDir}/relay_secret`);
}

export async function loadAdminSecret(dataDir: string): Promise<Secret> {
  return await loadSecret(`${dataDir}/admin_secret`);
}

async function loadSecret(path: string): Promise<Secret> {
  const make = (): string => encodeBase64url(crypto.getRandomValues(new Uint8Array(secretBytes)));
  return new Secret((await readOrCreateOwned(path, make)).trim());
}
