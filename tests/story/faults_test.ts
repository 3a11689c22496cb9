// Faults between an agent and the services it needs, with a running relay and API.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { type ConnectOptions, type ErrorCode, StaticClient, StaticError } from "../../sdk/mod.ts";
import { platform } from "../../sdk/platform/deno.ts";
import { connectAgent } from "../../sdk/testing/agents.ts";
import { startStack } from "../support/stack.ts";
import { createCertificate } from "../support/mod.ts";
import { read } from "../support/scenario/stage.ts";

async function refused(act: () => Promise<unknown>, code: ErrorCode): Promise<void> {
  const started = Date.now();
  try {
    await act();
  } catch (error) {
    assert(error instanceof StaticError, String(error));
    assertEquals(error.code, code, error.message);
    assert(Date.now() - started < 60_000, `it took ${Date.now() - started} ms`);
    return;
  }
  throw new Error(`expected ${code}, nothing failed`);
}

Deno.test("credentials, passphrases, certificates, clocks and services that are not there", async (t) => {
  await using stack = await startStack();
  const folder = await Deno.makeTempDir({ prefix: "static-faults-" });
  const { caFile, account: { apiKey, keyId }, api, quicUrl: endpoint } = stack;
  let agents = 0;
  const optionsOf = (more: Partial<ConnectOptions> = {}): ConnectOptions => {
    const identity = `agent ${++agents}`;
    const common = {
      endpoint,
      apiKey,
      apiUrl: api.url,
      tls: { caFile },
      cover: { mode: "off" as const },
    };
    return { ...common, identity, dataDir: `${folder}/${identity}`, ...more };
  };

  await t.step(
    "without a credential what is local works, and the rest fails with auth_failed",
    async () => {
      const { apiKey: _key, apiUrl: _url, ...anonymous } = optionsOf();
      await using client = await StaticClient.connect(anonymous);
      assert((await client.generateKeyPackage()).length > 100);
      await refused(() => client.createChannel("acme/ops/deploy"), "auth_failed");
    },
  );

  await t.step("a key needs the address of the API", async () => {
    const { apiUrl: _url, ...options } = optionsOf();
    await refused(() => StaticClient.connect(options), "invalid_request");
  });

  await t.step("a wrong passphrase opens nothing, and the right one does afterwards", async () => {
    const options = optionsOf({ passphrase: "correct horse" });
    await (await StaticClient.connect(options)).close();
    await refused(
      () => StaticClient.connect({ ...options, passphrase: "battery staple" }),
      "passphrase_wrong",
    );
    await (await StaticClient.connect(options)).close();
  });

  await t.step(
    "a data directory in use is refused, and free again after a connection that failed",
    async () => {
      const options = optionsOf();
      const client = await StaticClient.connect(options);
      await refused(() => StaticClient.connect(options), "store_locked");
      await client.close();
      await refused(
        () => StaticClient.connect({ ...options, apiUrl: "http://127.0.0.1:9" }),
        "connection_error",
      );
      await (await StaticClient.connect(options)).close();
    },
  );

  await t.step("a relay that is not there gives connection_error in time", async () => {
    await refused(
      () => StaticClient.connect(optionsOf({ endpoint: "grpc://127.0.0.1:9" })),
      "connection_error",
    );
  });

  await t.step("a relay whose certificate nobody vouches for is not spoken to", async () => {
    const { cert } = await createCertificate();
    const tls = { caCerts: [cert] };
    await refused(() => StaticClient.connect(optionsOf({ tls })), "connection_error");
  });

  await t.step("connecting can be given up", async () => {
    const stop = new AbortController();
    stop.abort();
    await assertRejects(
      () => StaticClient.connect(optionsOf({ signal: stop.signal })),
      DOMException,
      "aborted",
    );
  });

  await t.step(
    "connecting can be given up while the API does not answer, and the directory is free again",
    async () => {
      using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const options = optionsOf();
      const stop = new AbortController();
      const apiUrl = `http://127.0.0.1:${silent.addr.port}`;
      const connecting = assertRejects(
        () => StaticClient.connect({ ...options, apiUrl, signal: stop.signal }),
        DOMException,
        "aborted",
      );
      using _connection = await silent.accept();
      stop.abort();
      await connecting;
      await (await StaticClient.connect(options)).close();
    },
  );

  await t.step(
    "a credentials file that cannot be used matters only to those who need it",
    async () => {
      const before = Deno.env.get("XDG_CONFIG_HOME");
      await Deno.mkdir(`${folder}/static`);
      await Deno.writeTextFile(`${folder}/static/credentials.json`, "{ damaged");
      Deno.env.set("XDG_CONFIG_HOME", folder);
      try {
        await (await StaticClient.connect(optionsOf())).close();
        const { apiKey: _key, ...incomplete } = optionsOf();
        await refused(() => StaticClient.connect(incomplete), "auth_failed");
      } finally {
        if (before === undefined) Deno.env.delete("XDG_CONFIG_HOME");
        else Deno.env.set("XDG_CONFIG_HOME", before);
      }
    },
  );

  await t.step("a clock that is ten minutes off, either way, does not matter", async () => {
    for (const minutes of [-10, 10]) {
      const nowMs = (): number => platform.nowMs() + minutes * 60_000;
      await using wrong = StaticClient.over(
        await connectAgent(optionsOf(), { ...platform, nowMs }),
      );
      await using right = await StaticClient.connect(optionsOf());
      const channel = await wrong.createChannel(`acme/clock/m${minutes + 10}`);
      const welcome = await channel.addMember(await right.generateKeyPackage());
      const joined = await right.joinChannel(channel.name, welcome);
      await joined.send("on time");
      assertEquals(await read(channel, 1), ["on time"]);
    }
  });

  await t.step("a revoked key opens no new session, and those that are open go on", async () => {
    await using client = await StaticClient.connect(optionsOf());
    const channel = await client.createChannel("acme/ops/revoked");
    const { json } = await api.call("POST", "/v1/keys", { key: apiKey, body: { name: "spare" } });
    await api.call("DELETE", `/v1/keys/${keyId}`, { key: json.key });
    await refused(() => StaticClient.connect(optionsOf()), "auth_key_invalid");
    await channel.send("still here");
    await api.close();
    await channel.send("and without the API");
  });
  await Deno.remove(folder, { recursive: true });
});
