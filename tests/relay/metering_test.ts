import {
  assert,
  assertEquals,
  assertGreater,
  assertLess,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import type { ChannelId } from "../../proto/mod.ts";
import { anyBackend, relaySecret, signUp } from "../support/api/harness.ts";
import { inCampaign } from "../support/campaign.ts";
import { eventually } from "../support/mod.ts";
import { type ApiProcess, startProcess } from "../support/api/process.ts";
import { TestAgent } from "../support/relay/agent.ts";
import { openQuic } from "../support/relay/deno_clients.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay/process.ts";
import { CallFailed } from "../support/relay/relay_client.ts";

const canary = "canary-5d1e";

interface Owner {
  readonly id: string;
  readonly apiKey: string;
  readonly token: string;
}

async function openTo({ caFile, quicUrl }: RelayProcess): ReturnType<typeof openQuic> {
  return await openQuic(
    Number(quicUrl.slice(quicUrl.lastIndexOf(":") + 1)),
    await Deno.readTextFile(caFile),
  );
}

/** An agent with a real token over QUIC, which finds the relay where it runs now. */
async function connect(current: () => RelayProcess, { id, token }: Owner): Promise<TestAgent> {
  const open = (): ReturnType<typeof openQuic> => openTo(current());
  const relay = {
    open,
    get origin() {
      return current().quicUrl;
    },
  };
  const agent = new TestAgent(relay, await open(), id);
  await agent.authenticate(agent.client, token);
  return agent;
}

async function usedBy(api: ApiProcess, { apiKey }: Owner): Promise<number> {
  return (await api.call("GET", "/v1/usage", { key: apiKey })).json.messages.used;
}

async function openLeases(api: ApiProcess, dataDir: string): Promise<number> {
  const path = `/internal/v1/leases?relay_id=${await Deno.readTextFile(`${dataDir}/relay_id`)}`;
  return (await api.call("GET", path, { key: relaySecret })).json.leases.length;
}

/** Entries in the channel's log: nothing but messages in these tests. */
async function headOf(agent: TestAgent, channelId: ChannelId): Promise<number> {
  const { channels } = await agent.client.call("ListChannels", { limit: 10 });
  return channels.find((channel) => channel.channelId === channelId)?.head ?? -1;
}

Deno.test("the relay and the API as processes: what is accepted is what is counted, whatever happens", async (t) => {
  const backend = await anyBackend.open();
  const api = await startProcess(backend.environment);
  const dataDir = await Deno.makeTempDir({ prefix: "static-relay-" });
  const variables = {
    STATIC_DATA_DIR: dataDir,
    STATIC_API_URL: api.url,
    STATIC_API_INTERNAL_URL: api.internalUrl,
    STATIC_RELAY_SECRET: relaySecret,
  };
  let relay = await startRelayProcess(variables);
  const outputs: string[] = [];
  try {
    const account = await signUp(api.call);
    const { json: { token } } = await api.call("POST", "/v1/tokens", { key: account.apiKey });
    const owner: Owner = { ...account, token };
    const agent = await connect(() => relay, owner);
    const channelId = await agent.createChannel();

    /**
     * Starts the relay again, and returns the account's usage when the earlier run is settled: the
     * content of the log.
     */
    const nextLife = async (): Promise<number> => {
      outputs.push(relay.output());
      relay = await startRelayProcess(variables);
      const settled = (): Promise<number> => openLeases(api, dataDir);
      await eventually({ what: "settled" }, settled, (open) => open === 0);
      const used = await usedBy(api, owner);
      agent.client = await openTo(relay);
      await agent.authenticate(agent.client, token);
      assertEquals(await headOf(agent, channelId), used);
      return used;
    };

    await t.step("messages of a running relay appear in the account's usage", async () => {
      for (let sent = 0; sent < 25; sent++) await agent.send(channelId, 0);
      await eventually({ what: "usage" }, () => usedBy(api, owner), (used) => used === 25);
      const metrics = await relay.metrics();
      assertStringIncludes(metrics, "static_relay_messages_accepted_total 25\n");
      assertStringIncludes(metrics, "static_relay_sessions_authenticated 1\n");
      assertStringIncludes(metrics, "static_relay_quota_messages_left 75\n");
    });

    await t.step(
      "kill -9 under load: the next life settles exactly what is in the log",
      async () => {
        let acknowledged = 25;
        const sending = Array.from({ length: 8 }, async () => {
          while (true) {
            await agent.send(channelId, 0);
            if (++acknowledged === 100) relay.signal("SIGKILL");
          }
        });
        await relay.finished();
        agent.client.close();
        await Promise.allSettled(sending);
        assertGreater(
          await nextLife(),
          acknowledged - 1,
          "nothing that was acknowledged is missing",
        );
      },
    );

    await t.step(
      "a second signal ends it at once, although the API hangs, and the next life settles",
      async () => {
        const before = await headOf(agent, channelId);
        for (let sent = 0; sent < 5; sent++) await agent.send(channelId, 0);
        api.signal("SIGSTOP");
        relay.signal("SIGTERM");
        // Those of the first second count as the same.
        const repeating = setInterval(() => relay.signal("SIGTERM"), 50);
        try {
          assertEquals(await relay.finished(), 1, relay.output());
        } finally {
          clearInterval(repeating);
          api.signal("SIGCONT");
        }
        assertEquals(await nextLife(), before + 5);
      },
    );

    await t.step("a token that does not verify is refused in words", async () => {
      const attempt = connect(() => relay, { ...owner, token: `${canary}.a.b` });
      await assertRejects(
        () => attempt,
        CallFailed,
        "auth_failed: Cannot accept the token: it is not a JWT",
      );
    });

    await t.step(
      "SIGTERM tells clients, returns leases and exits 0 within five seconds",
      async () => {
        const before = await headOf(agent, channelId);
        for (let sent = 0; sent < 10; sent++) await agent.send(channelId, 0);
        const startMs = performance.now();
        relay.signal("SIGTERM");
        assertEquals(await agent.client.ended, "relay_draining");
        const [ending] = await agent.client.notices.first("SessionEnding", 1);
        assertEquals(ending?.code, "relay_draining");
        assertGreater(ending?.retryAfterMs ?? 0, 0);
        assertEquals(await relay.finished(), 0, relay.output());
        assertLess(performance.now() - startMs, inCampaign ? 5_000 : 60_000);
        assertEquals([await openLeases(api, dataDir), await usedBy(api, owner)], [0, before + 10]);
      },
    );

    await t.step("no token, key, identity or ciphertext is in any log", () => {
      outputs.push(relay.output());
      const { ciphertext } = agent.message(channelId, 0);
      const bytes = {
        ciphertext: ciphertext.slice(-40),
        identity: agent.identity,
        secretKey: agent.secretKey,
      };
      const encoded = Object.entries(bytes).flatMap(([name, value]) =>
        [value.toHex(), value.toBase64().slice(0, -4), value.join(",")].map((text) =>
          [name, text] as const
        )
      );
      const secrets = [
        ["token", token],
        ["api key", owner.apiKey],
        ["relay secret", relaySecret],
        ["canary", canary],
        ...encoded,
      ];
      for (const output of outputs) {
        assertStringIncludes(output, `"event":"session_open","agentId":"${agent.agentId}"`);
        for (const [name, secret] of secrets) {
          assert(!output.includes(secret ?? ""), `${name} is in the log`);
        }
      }
    });
  } finally {
    await relay.stop();
    api.signal("SIGTERM");
    await api.finished();
    await backend.close();
    await Deno.remove(dataDir, { recursive: true });
  }
});
