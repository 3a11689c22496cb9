// Keys that are made later, with the folder `authority`: real nodes take them, and the log that
// they have stays.
import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { localNode } from "../../deploy/local/nats_server.ts";
import { addNatsKeys } from "../../deploy/nats/keys.ts";
import { freshPrefix, openTestCluster } from "../../relay/cluster/testing/open_test_cluster.ts";
import { sampleAgent, sampleChannel } from "../../relay/engine/testing/sample.ts";
import { natsInstalled, runCommand, startNats, testWhen } from "../support/mod.ts";

testWhen(
  natsInstalled,
  "a lost node gets new keys, and revoked relays are kept out: the log stays, because the account does",
  async () => {
    await using opened = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir({ prefix: "static-keys-" });
    opened.defer(() => Deno.remove(folder, { recursive: true }));
    await using nats = await startNats({ nodes: 1 });
    const authority = `${folder}/authority`;
    await runCommand("cp", ["-rL", `${nats.folder}/keys/authority`, authority]);
    const { credentials: first = "" } = nats.access;
    const prefix = freshPrefix();
    const credentialsIn = (keys: string): string =>
      Deno.readTextFileSync(`${folder}/${keys}/relay/relay.creds`);
    const accountsIn = (keys: string): string =>
      Deno.readTextFileSync(`${folder}/${keys}/node/accounts.conf`);
    let agents = 0;
    /** Of a relay that comes with these: whether the log has a channel. */
    const logOf = async (credentials: string): Promise<"empty" | "kept"> => {
      const { engine } = await openTestCluster({ ...nats.access, credentials, prefix });
      try {
        const { kind } = await engine.createChannel(
          sampleChannel(1, { creator: sampleAgent(++agents) }),
        );
        return kind === "created" ? "empty" : "kept";
      } finally {
        await engine.close();
      }
    };
    const useKeys = async (keys: string): Promise<void> => {
      await nats.kill(0);
      await Deno.remove(`${nats.folder}/keys`, { recursive: true });
      await Deno.symlink(`${folder}/${keys}`, `${nats.folder}/keys`);
      await nats.restart(0);
    };
    assertEquals(await logOf(first), "empty");

    await addNatsKeys(`${folder}/more`, [localNode], { authority }, Date.now());
    assertNotEquals(credentialsIn("more"), first);
    assertEquals(
      await logOf(credentialsIn("more")),
      "kept",
      "nodes take new credentials without being told",
    );
    await useKeys("more");
    assertEquals([await logOf(first), await logOf(credentialsIn("more"))], ["kept", "kept"]);

    // Tokens count seconds.
    await addNatsKeys(
      `${folder}/revoked`,
      [localNode],
      { authority, revoke: true },
      Date.now() + 1_000,
    );
    await useKeys("revoked");
    assertEquals(await logOf(credentialsIn("revoked")), "kept");
    for (const old of [first, credentialsIn("more")]) {
      await assertRejects(() => logOf(old), Error, "Authorization");
    }

    await addNatsKeys(`${folder}/later`, [localNode], { authority }, Date.now());
    assertEquals(accountsIn("later"), accountsIn("revoked"), "a revocation is kept");
    assertNotEquals(accountsIn("later"), accountsIn("more"));
    assertEquals(await logOf(credentialsIn("later")), "kept");
  },
);
