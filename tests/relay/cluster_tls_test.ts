// A relay at the door of its nodes: without the right authority and its key it says so and does not
// start. `cluster_process_test.ts` has those that get in.
import { assert, assertMatch } from "@std/assert";
import { createCredentials, createNatsAccount } from "../../deploy/nats/account.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { leaderOf } from "../support/log_leader.ts";
import {
  createCertificate,
  eventually,
  natsInstalled,
  startNats,
  testWhen,
} from "../support/mod.ts";
import { TestAgent } from "../support/relay/agent.ts";
import { openQuic } from "../support/relay/deno_clients.ts";
import { startKeyServer } from "../support/relay/key_server.ts";
import { startRelayProcess } from "../support/relay/process.ts";
import { refusedStart } from "../support/relay/refused_start.ts";

/** An election takes 4 to 9 seconds, and longer on a machine that has much else to do. */
const recoveryMs = 90_000;

testWhen(
  natsInstalled,
  "a relay without its credentials, or with another authority for the nodes' TLS, does not start",
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "static-nats-tls-" });
    const { cert: otherCert } = await createCertificate();
    const files = {
      other_cert: otherCert,
      foreign: createCredentials(createNatsAccount(Date.now())),
    };
    const path = (name: keyof typeof files): string => `${folder}/${name}`;
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
    await using nats = await startNats({ nodes: 1 });
    const variables = { ...nats.variables, STATIC_DATA_DIR: folder };
    const wrong: Record<string, Record<string, string>> = {
      "another operator's user": { STATIC_NATS_CREDENTIALS: path("foreign") },
      "no credentials": { STATIC_NATS_CREDENTIALS: "" },
      "another authority": { STATIC_NATS_CA: path("other_cert") },
    };
    for (const [what, change] of Object.entries(wrong)) {
      const { message, log } = await refusedStart({ ...variables, ...change });
      assertMatch(message, /^Cannot start: the shared log cannot be used/, what);
      assert(!`${message}${log}`.includes("NKEY SEED"), `${what}: ${message}${log}`);
    }
    await Deno.remove(folder, { recursive: true });
  },
);

if (inCampaign) {
  testWhen(
    natsInstalled,
    "over TLS messages are accepted again after kill -9 of the log's leader",
    killLeader,
  );
}

async function killLeader(): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "static-nats-tls-" });
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  const nats = opened.use(await startNats());
  const keys = opened.use(await startKeyServer());
  const relay = opened.use(
    await startRelayProcess({
      ...nats.variables,
      STATIC_DATA_DIR: folder,
      STATIC_API_URL: keys.url,
      STATIC_API_INTERNAL_URL: keys.url,
    }),
  );
  const quicPort = Number(relay.quicUrl.slice(relay.quicUrl.lastIndexOf(":") + 1));
  const ca = await Deno.readTextFile(relay.caFile);
  const login = async (): Promise<TestAgent> => {
    const open = (): ReturnType<typeof openQuic> => openQuic(quicPort, ca);
    const agent = new TestAgent(
      { open, origin: `quic://localhost:${quicPort}` },
      await open(),
      crypto.randomUUID(),
    );
    await agent.authenticate(agent.client, await keys.sign(agent.account));
    opened.defer(() => agent.client.close());
    return agent;
  };
  const agent = await login();
  const channelId = await agent.createChannel();
  await agent.send(channelId, 0);
  await nats.kill(await leaderOf(nats, "static"));
  // This one meets the election. It may be refused, and its session ended: then an agent comes
  // again.
  await agent.send(channelId, 0).catch(() => {});
  const send = async (): Promise<string> => {
    try {
      const again = await login();
      await again.send(await again.createChannel(), 0);
      return "accepted";
    } catch (error) {
      return String(error);
    }
  };
  await eventually(
    { withinMs: recoveryMs, what: "a message is accepted" },
    send,
    (said) => said === "accepted",
  );
  tried("1 kill of the log's leader over TLS");
}
