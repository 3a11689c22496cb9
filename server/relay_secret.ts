/** The secret that a relay shows to the API. On one machine both read the same file; the one that starts first makes it. */
import { encodeBase64url } from "../proto/mod.ts";
import { readOrCreateOwned } from "./owned_file.ts";
import { Secret } from "./secret.ts";

const secretBytes = 32;

export async function loadRelaySecret(dataDir: string): Promise<Secret> {
  const make = (): string => encodeBase64url(crypto.getRandomValues(new Uint8Array(secretBytes)));
  return new Secret((await readOrCreateOwned(`${dataDir}/relay_secret`, make)).trim());
}
