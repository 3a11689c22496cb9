/** What makes a relay the same one after a restart, kept in the data directory. */
import { readOrCreateOwned } from "../../server/mod.ts";

/** Leases belong to it: a relay that came back under another id could not return what it held. */
export async function loadRelayId(dataDir: string): Promise<string> {
  return (await readOrCreateOwned(`${dataDir}/relay_id`, () => crypto.randomUUID())).trim();
}
