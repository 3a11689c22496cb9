/**
 * The API's address is enough: for the CLI, which pins the authority it is told of, and for the
 * SDK.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { StaticClient } from "../../sdk/mod.ts";
import type { Stack } from "../support/stack.ts";
import { User } from "./user.ts";

const password = "correct horse battery staple";

export async function checkDiscovery(
  t: Deno.TestContext,
  { api, caFile, quicUrl, grpcUrl }: Stack,
): Promise<void> {
  const { json } = await api.call("GET", "/.well-known/static");
  const ca = await Deno.readTextFile(caFile);

  await t.step(
    "the API tells where the relay is, what to trust, and nothing that is secret",
    () => {
      assertEquals(json.relay.urls, [quicUrl, grpcUrl]);
      assertEquals(json.relay.transports, ["quic", "webtransport", "grpc", "grpc-web", "connect"]);
      assertEquals(json.ca.pem, ca);
      assert(!JSON.stringify(json).includes("PRIVATE"));
    },
  );

  await t.step(
    "signup --api-url needs no other address, shows the authority's fingerprint and pins it",
    async () => {
      await using user = await User.create();
      const email = `d-${crypto.randomUUID()}@example.com`;
      const first = await user.run(["signup", "--api-url", api.url, "--email", email], {
        input: `${password}\n`,
      });
      assertStringIncludes(first.stderr, `SHA-256 ${json.ca.sha256}`);
      assertStringIncludes(first.stderr, json.mail.folder);
      const saved = await user.credentials();
      assertEquals([saved.api_url, saved.relay_url], [api.url, `${quicUrl},${grpcUrl}`]);
      // Good for the relay alone: the holder of its key must not become the API.
      assertEquals([saved.ca_file, await Deno.readTextFile(saved.relay_ca_file ?? "")], [
        undefined,
        ca,
      ]);
      await user.run(["channel", "create", "acme/ops/found"]);
      await user.run(["doctor"]);
      // Pinned: shown once, and another one is not believed.
      const again = await user.run(["login", "--yes", "--email", email, "--api-url", api.url], {
        input: `${password}\n`,
      });
      assert(!again.stderr.includes("SHA-256"));
      await user.run(["logout"]);
      await Deno.writeTextFile(saved.relay_ca_file ?? "", ca.replace("MII", "MIJ"));
      const options = { input: `${password}\n`, code: 5 };
      const changed = await user.run(["login", "--email", email, "--api-url", api.url], options);
      assertStringIncludes(changed.stderr, "has changed");
      // So is one that appears where there was none.
      await Deno.writeTextFile(saved.relay_ca_file ?? "", "none\n");
      const appeared = await user.run(["login", "--email", email, "--api-url", api.url], options);
      assertStringIncludes(appeared.stderr, "has changed");
    },
  );

  await t.step(
    "a key and the API's address are enough for commands without a saved account",
    async () => {
      const { apiKey } = await api.signUp();
      await using user = await User.create({ STATIC_API_URL: api.url, STATIC_API_KEY: apiKey });
      await user.run(["channel", "create", "acme/ops/found"]);
    },
  );

  await t.step("the SDK needs a key and the API's address", async () => {
    const { apiKey } = await api.signUp();
    const dataDir = await Deno.makeTempDir({ prefix: "static-sdk-" });
    try {
      await using client = await StaticClient.connect({
        apiUrl: api.url,
        apiKey,
        dataDir,
        identity: "found",
      });
      await client.createChannel("acme/ops/sdk");
      assertEquals(client.channels, ["acme/ops/sdk"]);
    } finally {
      await Deno.remove(dataDir, { recursive: true });
    }
  });
}
