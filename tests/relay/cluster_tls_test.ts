// A relay on nodes of other machines: TLS, and a key of its own. Everywhere else tests use nodes on loopback without either.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createCertificate, natsInstalled, startNats, testWhen } from "../support/mod.ts";
import { createNatsAccount } from "../support/nats_credentials.ts";
import { runRelayProcess, startRelayProcess } from "../support/relay/process.ts";

testWhen(
  natsInstalled,
  "a relay reaches its nodes over TLS with its credentials, and without either it does not start",
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "static-nats-tls-" });
    const account = createNatsAccount();
    const { cert, key } = await createCertificate();
    const { cert: otherCert } = await createCertificate();
    const files = { cert, key, other_cert: otherCert, credentials: account.credentials, foreign: account.foreign };
    const path = (name: keyof typeof files): string => `${folder}/${name}`;
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
    // A busy machine takes longer than the two seconds that a node waits for a handshake.
    const tls = `tls { cert_file: "${path("cert")}", key_file: "${path("key")}", timeout: 30 }`;
    await using nats = await startNats({ nodes: 1, settings: `${tls}\n${account.settings}` });
    const variables = {
      STATIC_DATA_DIR: folder,
      STATIC_RELAY_ENGINE: "jetstream",
      STATIC_RELAY_LOG_REPLICAS: "1",
      STATIC_NATS_URLS: nats.urls.join().replace("nats:", "tls:"),
      STATIC_NATS_MONITOR_URLS: nats.monitorUrls.join(),
      STATIC_NATS_CREDENTIALS: path("credentials"),
      STATIC_NATS_CA: path("cert"),
    };
    {
      await using relay = await startRelayProcess(variables);
      assertMatch(await relay.metrics(), /^static_relay_cluster_relays 1$/m);
      relay.signal("SIGTERM");
      assertEquals(await relay.finished(), 0, relay.output());
      assert(!relay.output().includes("NKEY SEED"), "the key is in no log");
    }
    const wrong: Record<string, Record<string, string>> = {
      "another operator's user": { STATIC_NATS_CREDENTIALS: path("foreign") },
      "no credentials": { STATIC_NATS_CREDENTIALS: "" },
      "another authority": { STATIC_NATS_CA: path("other_cert") },
    };
    for (const [what, change] of Object.entries(wrong)) {
      const { code, output } = await runRelayProcess({ ...variables, ...change });
      assertEquals(code, 1, what);
      assertMatch(output, /^Cannot start: the shared log cannot be used/m, what);
      assert(!output.includes("NKEY SEED") && !output.includes("    at "), `${what}: ${output}`);
    }
    await Deno.remove(folder, { recursive: true });
  },
);
