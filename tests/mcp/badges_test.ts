// A model in a channel of an impostor with a badge of its own making, whose key the channel pins,
// and of an agent with a true badge: every word that the model is shown, by its user's list.
import { ed25519 } from "@noble/curves/ed25519.js";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  type AgentId,
  badgeStatement,
  encodeBase64url,
  formatBadge,
  formatIssuerDocument,
  type UnsignedBadge,
} from "../../proto/mod.ts";
import { ChannelManager } from "../../sdk/mod.ts";
import { shareStack } from "../support/shared_stack.ts";
import { openHome, runStatic } from "./home.ts";
import { McpSession } from "./session.ts";

const name = "acme/ops/ship";
const [trueSeed, falseSeed] = [1, 2].map((byte) => new Uint8Array(32).fill(byte)) as [
  Uint8Array,
  Uint8Array,
];
const bot = ["--agent", "bot"];

function badgeBy(seed: Uint8Array, name: string, agentId: AgentId): string {
  const nowS = Math.floor(Date.now() / 1000);
  const badge: UnsignedBadge = {
    domain: "acme.com",
    issuerKey: ed25519.getPublicKey(seed),
    name,
    agentId,
    notBefore: nowS - 60,
    notAfter: nowS + 3600,
    attributes: [],
  };
  return formatBadge({ ...badge, signature: ed25519.sign(badgeStatement(badge), seed) });
}

Deno.test("a model and an impostor with a badge of its own making, whose key the channel pins: every word that it is shown", async () => {
  const stack = await shareStack();
  await using home = await openHome(stack);
  await using closing = new AsyncDisposableStack();
  // Of another account than the model: agents of its own would be told as such.
  const { apiKey } = await stack.api.signUp();
  const connect = async (identity: string, badge?: string): Promise<ChannelManager> => {
    const manager = await ChannelManager.connect({
      endpoint: stack.quicUrl,
      apiUrl: stack.api.url,
      apiKey,
      tls: { caFile: stack.caFile },
      cover: "off",
      dataDir: `${home.folder}/${identity}`,
      identity,
      badge: badge ?? false,
    });
    return closing.adopt(manager, (each) => each.close());
  };
  /** Its id is known after a first connection. */
  const badged = async (
    identity: string,
    { seed, name }: { readonly seed: Uint8Array; readonly name: string },
  ): Promise<ChannelManager> => {
    const first = await connect(identity);
    const { agentId } = first.client;
    await first.close();
    return await connect(identity, badgeBy(seed, name, agentId));
  };
  const impostor = await badged("ceo@acme.com", { seed: falseSeed, name: "ceo" });
  const deploy = await badged("deployer", { seed: trueSeed, name: "deploy-bot" });
  const channel = await impostor.create(name);
  // As its owner the impostor pins its own key as one of acme.com, and gives the model's agent a
  // badge by it. None of this counts for a reader.
  const { agent_id } = JSON.parse(
    await runStatic(home.env, ["agents", "number", ...bot, "--json"]),
  );
  await runStatic(home.env, ["badge", "use", badgeBy(falseSeed, "bot", agent_id), ...bot]);
  const pinned = [falseSeed, trueSeed].map((seed) => ({
    domain: "acme.com",
    key: encodeBase64url(ed25519.getPublicKey(seed)),
  }));
  await channel.setIssuers(pinned);
  await deploy.joinWithToken(name, await impostor.invite(name));
  await runStatic(home.env, ["channel", "join", name, ...bot], await impostor.invite(name));
  const session = closing.use(
    await McpSession.open({ words: bot, env: home.env, record: home.record }),
  );
  const ids = new Map<string, string>([
    [impostor.client.agentId, "<impostor>"],
    [deploy.client.agentId, "<deploy>"],
  ]);
  const named = (value: unknown): string =>
    JSON.stringify(value).replace(/[\w-]{22}/g, (id) => ids.get(id) ?? id);
  const members = async (): Promise<string[]> => {
    const { members } = await session.call("members", { channel: name });
    return members.flatMap((each: { agent_id: string }) => {
      if (!ids.has(each.agent_id)) return [];
      const { last_heard: _, relay_says_online: __, ...shown } = each as Record<string, unknown>;
      return [named(shown)];
    });
  };
  const heard = async (count: number): Promise<string[]> => {
    const senders: string[] = [];
    while (senders.length < count) {
      const { messages } = await session.call("wait", { channels: [name] });
      senders.push(...messages.map(({ from }: { from: unknown }) => named(from)));
    }
    return senders;
  };
  const speak = async (): Promise<void> => {
    for (const each of [impostor, deploy]) await (await each.channel(name)).send("ship it");
  };

  // With an empty list both are strangers, whatever they show.
  await session.call("wait", { channels: [name], seconds: 0 });
  const [stranger, other] = [
    '{"agent_id":"<impostor>","who":"UNVERIFIED agent","attested_by":null,"calls_itself":"ceo@acme.com"',
    '{"agent_id":"<deploy>","who":"UNVERIFIED agent","attested_by":null,"calls_itself":"deployer"',
  ];
  assertEquals(await members(), [`${stranger},"owner":true}`, `${other}}`]);
  await speak();
  assertEquals(await heard(2), [`${stranger}}`, `${other}}`]);

  // The user adds the true acme.com, from its document.
  const document = formatIssuerDocument({
    domain: "acme.com",
    keys: [{ kid: "2026-11", key: ed25519.getPublicKey(trueSeed) }],
    closed: [],
  });
  await Deno.writeTextFile(`${home.folder}/static-agents`, document);
  const adding = ["trust", "add", "acme.com", "--file", `${home.folder}/static-agents`, "--yes"];
  await runStatic(home.env, adding);
  const attested =
    '{"agent_id":"<deploy>","who":"deploy-bot, attested by acme.com","attested_by":"acme.com"}';
  await speak();
  assertEquals(await heard(2), [`${stranger}}`, attested]);
  assertEquals(await members(), [`${stranger},"owner":true}`, attested]);
  const people = await runStatic(home.env, ["channel", "members", name, ...bot]);
  assertEquals(
    people.split("\n")[0],
    `${name} — anyone can choose this name. Owners: unverified (1)`,
  );

  // The key that the user's list does not have is told.
  assertStringIncludes(
    await runStatic(home.env, ["channel", "health", name, ...bot]),
    "does not have for acme.com",
  );

  // It is addressed by the name that its domain gave it; the impostor by nothing that it chose.
  await session.call("send", { channel: name, to: ["deploy-bot@acme.com"], text: "hello" });
  const { to } = await found(deploy, "hello");
  assertEquals(to, [deploy.client.agentId]);
  for (const claim of ["ceo@acme.com", "deployer"]) {
    await assertRejects(
      () => session.call("send", { channel: name, to: [claim], text: "x" }),
      Error,
      "chose this name, which proves nothing",
    );
  }

  // Hold everybody but acme.com.
  await runStatic(home.env, ["mcp", "policy", "*", "hold", ...bot]);
  await runStatic(home.env, ["mcp", "policy", "@acme.com", "accept", ...bot]);
  await speak();
  assertEquals(await heard(1), [attested]);
  const { held_back } = await session.call("wait", { channels: [name], seconds: 0 });
  assertEquals(held_back, 1);
  assertEquals(channel.health().issues, []);
});

async function found(
  manager: ChannelManager,
  text: string,
): Promise<{ readonly to: readonly string[] | undefined }> {
  for await (const envelope of (await manager.channel(name)).envelopes()) {
    if (envelope.text() === text) return { to: envelope.to };
  }
  throw new Error("The channel ended");
}
