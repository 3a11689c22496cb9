/** What makes a relay the same one after a restart, kept in the data directory: its id, and the secret it shares with the API. */
import { encodeBase64url } from "../../proto/mod.ts";
import { readOrCreateOwned } from "./owned_file.ts";
import { Secret } from "./secret.ts";

const secretBytes = 32;

/** The API of the same machine reads the same file; whoever starts first makes it. */
export async function loadRelaySecret(dataDir: string): Promise<Secret> {
  const make = (): string => encodeBase64url(crypto.getRandomValues(new Uint8Array(secretBytes)));
  return new Secret((await readOrCreateOwned(`${dataDir}/relay_secret`, make)).trim());
}

/** Leases belong to it: a relay that came back under another id could not return what it held. */
export async function loadRelayId(dataDir: string): Promise<string> {
  return (await readOrCreateOwned(`${dataDir}/relay_id`, () => crypto.randomUUID())).trim();
}
