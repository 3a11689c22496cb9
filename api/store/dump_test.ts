/** A database of the last release, as `pg_dump` wrote it, is brought to the newest level with all that is in it. */
import { assertEquals } from "@std/assert";
import { backends, type OpenBackend, startTestApi } from "../../tests/support/api/harness.ts";
import { testWhen } from "../../tests/support/mod.ts";
import { Secret } from "../../server/mod.ts";
import { connectDatabase, type DatabaseAddress } from "./database.ts";
import { openEmbedded } from "./embedded.ts";

/** Made with the API before states and kinds: two accounts, a revoked key, a lease that was closed and two that were not. */
const dump = await Deno.readTextFile(new URL("./testdata/level_3.sql", import.meta.url));
const anna = {
  id: "983ad1b1-d421-472b-9f58-94166e3e9536",
  key: "sk_live_63Evthz0hPG15EZspbFbX6eoJN9dOoR7tzSTgFpK3WHDRJ",
  ci: "sk_live_qs3hMJYTdCkB49vuMRJmvL31RlBiza25NKGj3JgS3LjTZF",
  revoked: "sk_live_enLoXX2dcyO6fRFF3Lf53GU5aHVYvAj36Ohj2D7K1Wd0zK",
};
const bob = "sk_live_J1ublGwecuuVzREFhZuZMo51ybMGZADtZvl8hFDt3bqGXs";
/** While the leases of the dump are good. */
const thenMs = Date.parse("2026-11-15T20:03:00Z");

async function restore({ environment }: OpenBackend): Promise<void> {
  const { DATABASE_URL: url, STATIC_DATA_DIR: dataDir = "" } = environment;
  const embedded = url === undefined ? await openEmbedded(dataDir) : undefined;
  const address: DatabaseAddress | undefined = url === undefined
    ? embedded?.address
    : { kind: "url", url: new Secret(url), tls: "disable", ca: undefined };
  if (address === undefined) throw new TypeError("somebody else has the database open");
  const database = connectDatabase(address, { maxConnections: 1, deadlineMs: 10_000 });
  await database.sql.unsafe(dump);
  await database.close();
  await embedded?.close();
}

for (const backend of backends) {
  testWhen(backend.requirement, `a dump of the last release goes on working on ${backend.name}`, async () => {
    const open = await backend.open();
    try {
      await restore(open);
      const api = await startTestApi(open.environment);
      api.clock.aheadMs = thenMs - Date.now();
      const usage = async (key: string): Promise<number> =>
        (await api.call("GET", "/v1/usage", { key })).json.messages.used;
      try {
        const { json: { keys } } = await api.call("GET", "/v1/keys", { key: anna.key });
        assertEquals(keys.map(({ name }: { name: string }) => name), ["ci", "default"]);
        assertEquals((await api.call("POST", "/v1/tokens", { key: anna.ci })).status, 200);
        assertEquals((await api.call("POST", "/v1/tokens", { key: anna.revoked })).status, 401);
        assertEquals([await usage(anna.key), await usage(bob)], [130, 0]);
        const login = { email: "anna@example.com", password: "the password of anna" };
        assertEquals((await api.call("POST", "/v1/accounts/keys", { body: login })).status, 200);
        assertEquals((await api.call("POST", "/v1/accounts", { body: login })).json.code, "email_taken");
        const path = "/internal/v1/leases?relay_id=relay-1";
        const { json: { leases } } = await api.call("GET", path, { key: api.relaySecret });
        const lease = leases.find((each: { account_id: string }) => each.account_id === anna.id);
        const bytes = { payload: 100, padding: 0, cover: 0 };
        const report = { lease_id: lease.id, fence: lease.fence, consumed: 9, bytes, close: true };
        const body = { relay_id: "relay-1", reports: [report] };
        await api.call("POST", "/internal/v1/leases/reports", { key: api.relaySecret, body });
        assertEquals(await usage(anna.key), 132);
        // Nobody reports of Bob's lease: it counts as used when it has expired.
        api.clock.aheadMs += 600_000;
        assertEquals(await usage(bob), 40);
      } finally {
        await api.close();
      }
    } finally {
      await open.close();
    }
  });
}
