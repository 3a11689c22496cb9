/** An agent whose account is suspended learns that, and not that some connection was lost. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { runAdmin } from "../../api/mod.ts";
import { startCli } from "../../cli/testing/test_host.ts";
import { AuthError, StaticClient, StaticError } from "../../sdk/mod.ts";
import { readTestConfig } from "../support/api/harness.ts";
import { eventually } from "../support/mod.ts";
import { startStack } from "../support/stack.ts";

Deno.test("an agent of a suspended account is told so by send(), connect() and the CLI, and goes on when it is resumed", async () => {
  await using stack = await startStack();
  const { account, api, caFile, quicUrl, backend } = stack;
  const config = readTestConfig(backend.environment);
  const dataDir = await Deno.makeTempDir({ prefix: "static-suspended-" });
  const options = {
    endpoint: quicUrl,
    apiUrl: api.url,
    apiKey: account.apiKey,
    tls: { caFile },
    identity: new TextEncoder().encode("alice"),
  };
  const variables = {
    STATIC_API_URL: api.url,
    STATIC_API_KEY: account.apiKey,
    STATIC_RELAY_URL: quicUrl,
    STATIC_CA_FILE: caFile,
    STATIC_HOST: "off",
  };
  const runCli = (...argv: string[]): Promise<{ stdout: string; stderr: string }> =>
    startCli(argv, { folder: `${dataDir}/cli`, variables }).done;
  const client = await StaticClient.connect({ ...options, dataDir: `${dataDir}/one` });
  try {
    const channel = await client.createChannel("acme/ops/suspended");
    await runCli("channel", "create", "acme/ops/other");
    await channel.send("before");
    await runAdmin(["suspend", account.id], config);
    const error = await eventually(
      { what: "send() is refused" },
      () => channel.send("after").then(() => undefined, (error: unknown) => error),
      (error) => error instanceof StaticError && error.code === "account_suspended",
    );
    assert(error instanceof AuthError);
    const startMs = performance.now();
    await assertRejects(() => channel.send("again"), AuthError, "suspended");
    // Far from the 30 s that a message waits for a connection.
    assert(performance.now() - startMs < 20_000);
    const refused = await assertRejects(
      () => StaticClient.connect({ ...options, dataDir: `${dataDir}/two` }),
      AuthError,
      "suspended",
    );
    assertEquals(refused.code, "account_suspended");
    const said = await runCli("channel", "send", "acme/ops/other", "hello", "--json");
    assertEquals(JSON.parse(said.stderr).error.code, "account_suspended");
    await runAdmin(["resume", account.id], config);
    await eventually(
      { what: "sends again" },
      () => channel.send("resumed").then(() => true, () => false),
      (sent) => sent,
    );
  } finally {
    await client.close();
    await Deno.remove(dataDir, { recursive: true });
  }
});
