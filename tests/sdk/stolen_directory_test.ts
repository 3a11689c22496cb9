// Stolen state in real time: a relay, an API, three agents, and a thief with a copy of one
// directory. A day passes in seconds.
import { assert, assertEquals } from "@std/assert";
import { readPrivateMessageHeader } from "../../proto/mod.ts";
import { ChannelManager, StaticClient } from "../../sdk/mod.ts";
import { openDirectoryStore } from "../../sdk/platform/directory_store.ts";
import { platform } from "../../sdk/platform/deno.ts";
import { type Agent, connectAgent, createPace, storeMigrations } from "../../sdk/testing/agents.ts";
import { read, until } from "../support/scenario/stage.ts";
import { Thief } from "../support/scenario/thief.ts";
import { copyRunning } from "../support/stolen_store.ts";
import { shareStack } from "../support/shared_stack.ts";

const name = "acme/theft/room";

interface Member {
  readonly agent: Agent;
  readonly manager: ChannelManager;
  readonly client: StaticClient;
}

/** Everything that is delivered to a member, and read by a thief too. */
class Wire {
  #thief: Thief | undefined;
  #tail: Promise<void> = Promise.resolve();

  constructor({ agent }: Member) {
    agent.parts.session.onNotice(({ operation, body }) => {
      if (operation === "DeliverMessage") this.#pass(body.ciphertext);
      if (operation === "DeliverCommit") this.#pass(body.commit);
    });
  }

  /** From now on; what is under way is read first. */
  async tap(steal: () => Promise<Thief>): Promise<Thief> {
    const stolen = this.#tail.then(steal);
    this.#tail = stolen.then((thief) => void (this.#thief = thief), () => {});
    return await stolen;
  }

  async idle(): Promise<void> {
    await this.#tail;
  }

  #pass(bytes: Uint8Array): void {
    this.#tail = this.#tail.then(async () => {
      const thief = this.#thief;
      if (thief !== undefined && readPrivateMessageHeader(bytes).epoch >= thief.epoch) {
        await thief.read(bytes);
      }
    });
  }
}

Deno.test("a thief of a directory reads a real channel until its victim heals by itself, and nothing after", async () => {
  const stack = await shareStack();
  await using opened = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "static-theft-" });
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  let dayMs = 3_000;
  const hurried = { periodMs: () => dayMs, restMs: () => dayMs / 24, turnMs: 1, retryMs: 50 };
  const member = async (identity: string, pace = createPace()): Promise<Member> => {
    const { api, account: { apiKey }, caFile, quicUrl } = stack;
    const reach = {
      endpoint: quicUrl,
      apiUrl: api.url,
      apiKey,
      tls: { caFile },
      cover: { mode: "off" } as const,
    };
    const options = { ...reach, dataDir: `${folder}/${identity}`, identity };
    const agent = await connectAgent(options, platform, { pace });
    const manager = await ChannelManager.over(agent);
    opened.defer(() => manager.close());
    return { agent, manager, client: StaticClient.over(agent) };
  };
  const alice = await member("alice");
  await alice.manager.create(name);
  const invite = await alice.manager.invite(name, { uses: 2 });
  const [bob, carol] = [await member("bob", hurried), await member("carol")];
  for (const { manager } of [bob, carol]) await manager.joinWithToken(name, invite);
  const [channel, elsewhere] = [await bob.client.channel(name), await carol.client.channel(name)];
  const wire = new Wire(carol);
  const say = async (text: string): Promise<void> => {
    await alice.manager.send(name, text);
    for (const each of [channel, elsewhere]) assertEquals(await read(each, 1), [text]);
    await wire.idle();
  };
  const steal = async (to: string): Promise<Thief> => {
    await copyRunning(`${folder}/bob`, to);
    const stolen = await openDirectoryStore(to, { migrations: storeMigrations });
    opened.defer(() => stolen.close());
    return await Thief.of(stolen, bob.agent, channel.id);
  };
  let thief: Thief | undefined;
  let torn: unknown;
  const deadlineMs = Date.now() + 180_000;
  // A copy that is made while the keys change is worth nothing: the thief comes again. On a slow
  // machine days become longer.
  for (let tries = 0; thief?.heard.length !== 1; tries++) {
    assert(Date.now() < deadlineMs, `the thief came ${tries} times in vain: ${torn}`);
    thief = await wire.tap(() => steal(`${folder}/copy${tries}`)).catch((error) =>
      void (torn = error)
    );
    await say(`before ${tries}`);
    if (tries > 0) dayMs *= 2;
  }
  const since = Date.now();
  await until(
    "bob has changed its keys by itself, and the thief is out",
    () => thief.isOut,
    120_000 + 2 * dayMs,
  );
  console.log(
    `The thief was out ${Date.now() - since} ms after it read; a day had ${dayMs / 1000} s`,
  );
  await say("after");
  assertEquals(thief.heard.length, 1, thief.heard.join());
  for (const { client } of [alice, bob, carol]) {
    assertEquals((await client.channel(name)).health().state, "ok");
  }
});
