// The examples in the doc comments of the public surface: each is run as it stands there.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { ChannelManager, type ConnectOptions, type Serving, StaticClient } from "../../sdk/mod.ts";
import { nobodyKnown } from "../../proto/mod.ts";
import { sendBogus } from "../support/scenario/bad_commits.ts";
import { shareStack } from "../support/shared_stack.ts";
import { name, read, Stage, until } from "../support/scenario/stage.ts";

const files = [
  "sdk/api/client.ts",
  "sdk/api/connect_options.ts",
  "sdk/api/channel.ts",
  "sdk/api/manager.ts",
  "sdk/base/errors.ts",
  "sdk/content/envelope.ts",
  "sdk/content/incoming_request.ts",
];
const sdk = new URL("../../sdk/mod.ts", import.meta.url).href;

type Example = (...args: never[]) => unknown;

/**
 * Every example is one function; its name is how the test knows it. Directories without a path are
 * made below `dataDir`.
 */
async function loadExamples(dataDir: string): Promise<Map<string, Example>> {
  const folder = await Deno.makeTempDir({ prefix: "static-examples-" });
  const examples = new Map<string, Example>();
  for (const file of files) {
    const text = await Deno.readTextFile(new URL(`../../${file}`, import.meta.url));
    for (const [, block = ""] of text.matchAll(/```ts\n([^]*?)```/g)) {
      const code = block.replace(/^ *\* ?/gm, "").replace('"static-sdk"', JSON.stringify(sdk))
        .replace(/(?<=dataDir: ")(?=\w+")/g, `${dataDir}/`);
      const [, example = ""] = /function (\w+)/.exec(code) ?? [];
      const path = `${folder}/${example}.ts`;
      await Deno.writeTextFile(path, code.replace(/^(async )?function/m, "export $&"));
      examples.set(example, (await import(`file://${path}`))[example]);
    }
  }
  await Deno.remove(folder, { recursive: true });
  return examples;
}

type Run = (example: string, ...args: unknown[]) => Promise<unknown>;

/** Two guests without an account: one of them knows where the service is. */
async function withLinks(run: Run, options: ConnectOptions, dataDir: string): Promise<void> {
  await using inviter = await ChannelManager.connect(options);
  const channel = await inviter.create("acme/ops/deploy");
  const newLink = async () =>
    await inviter.inviteLink(channel.name, {
      guest: { expiresInMs: 24 * 3_600_000, messages: 100 },
    });
  await run("visit", await newLink());
  const link = await newLink();
  await using guest = await ChannelManager.connect({ link, dataDir, identity: "visitor 2" });
  await (await guest.join(link)).send("I have joined");
  assertEquals(await read(channel, 2), ["hello from a guest", "I have joined"]);
}

/** An agent that another one's user has given a name. */
async function withNames(
  run: Run,
  options: Omit<ConnectOptions, "dataDir" | "identity">,
  folder: string,
): Promise<void> {
  await using bob = await ChannelManager.connect({
    ...options,
    dataDir: `${folder}/bob`,
    identity: "bob",
  });
  const channel = await bob.create("acme/ops/names");
  const trust = { ...nobodyKnown, names: new Map([[bob.client.agentId, "Alice's laptop"]]) };
  const ann = { ...options, dataDir: `${folder}/ann`, identity: "ann", trust };
  await using asker = await ChannelManager.connect(ann);
  await asker.joinWithToken(channel.name, await bob.invite(channel.name));
  const serving = channel.serve(() => "yes");
  const asking = await asker.client.openChannel(channel.name);
  assertEquals(await run("askAlice", asking, "are you there?"), "yes");
  assertEquals(await run("isBob", asking, bob.client.agentId, await bob.client.number()), true);
  await serving.stop();
}

Deno.test("every example of the public surface runs", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "static-examples-" });
  const examples = await loadExamples(folder);
  const left = new Set(examples.keys());
  const run: Run = async (example, ...args) => {
    left.delete(example);
    const act = examples.get(example) as ((...args: unknown[]) => unknown) | undefined;
    assert(act !== undefined, `there is no example ${example}`);
    return await act(...args);
  };

  await t.step("of channels, on a relay in memory", async () => {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const [channel, other] = [await alice.channel(), await bob.channel()];
    const ready = other.serve(() => "yes");
    assertEquals(await run("firstAnswer", alice.manager), "yes");
    await ready.stop();
    const voting = other.serve((request) => {
      const text = examples.get("describeRequest")?.(request as never);
      assertMatch(String(text), /^alice asks, attempt 1, until 20/);
      left.delete("describeRequest");
      return "yes";
    });
    assertEquals(await run("vote", channel), 1);
    await voting.stop();
    const weather = await run("serveWeather", other, new Map([["Oslo", -3]])) as Serving;
    const reply = await channel.request("Oslo", { to: bob.client.agentId });
    assertEquals(reply.json(), { degrees: -3 });
    await weather.stop();
    assertMatch(
      String(await run("trySend", channel)),
      /^invalid_request: Cannot send an empty payload/,
    );
    await other.send("hi");
    await run("greet", alice.client);
    await other.send({ json: "an order" });
    assertEquals(await run("readOrder", channel), "an order");
    const stop = new AbortController();
    const working = run("workOff", channel, () => Promise.resolve(), stop.signal);
    await run("tellAndSee", other, alice.client.agentId);
    stop.abort();
    await working;
    for (const work of ["one", "two"]) await other.send(work);
    let worked = 0;
    await run("workOn", channel, () => Promise.resolve(void worked++), 2);
    assertEquals(worked, 2);
  });

  await t.step("of loops, on a relay in memory", async () => {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const [channel, other] = [await alice.channel(), await bob.channel()];
    const schema = {
      "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) },
    };
    const warming = run("warm", channel, schema);
    await other.send({ json: { degrees: 31 } });
    assertEquals(await read(other, 1), ["Drink water."]);
    const stop = new AbortController();
    const following = run("follow", bob.client, stop.signal);
    const carol = await stage.actor("carol");
    await carol.client.joinChannel(
      name,
      await channel.addMember(await carol.client.generateKeyPackage()),
    );
    await until("bob has heard of carol", () => other.members().length === 3);
    assertEquals(await run("areThere", other, [alice.client.agentId, carol.client.agentId]), true);
    stop.abort();
    await following;
    await channel.leave();
    await warming;
  });

  await t.step("of a channel that a member has stopped", async () => {
    await using stage = await Stage.open();
    const { alice, bob, carol } = await stage.trio();
    await sendBogus(bob);
    const channel = await alice.channel();
    await until("recovery is offered", () => channel.health().recoverable === true);
    await run("mendWith", channel, [carol.client.agentId]);
    await until("carol has followed", async () => (await carol.channel()).members().length === 2);
  });

  await t.step("of whole programs, with a real relay and API", async () => {
    const stack = await shareStack();
    const { apiKey } = stack.account;
    // The example gives no certificates, as a user of a public relay would not: here they come from
    // the environment.
    const before = Deno.env.get("STATIC_CA_FILE");
    Deno.env.set("STATIC_CA_FILE", stack.caFile);
    try {
      assertEquals(await run("hello", stack.quicUrl, stack.api.url, apiKey), "hello, bob");
    } finally {
      if (before === undefined) Deno.env.delete("STATIC_CA_FILE");
      else Deno.env.set("STATIC_CA_FILE", before);
    }
    const common = {
      endpoint: stack.quicUrl,
      apiUrl: stack.api.url,
      apiKey,
      tls: { caFile: stack.caFile },
    };
    const second = await stack.api.signUp();
    const owner: ConnectOptions = {
      ...common,
      apiKey: second.apiKey,
      identity: "owner",
      dataDir: `${folder}/owner`,
    };
    assertEquals(
      await run("meet", owner, { ...common, identity: "guest", dataDir: `${folder}/guest` }),
      "welcome",
    );
    const described = await run("optionsFor", "agent", folder) as ConnectOptions;
    const client = await StaticClient.connect({ ...described, ...common });
    await client.close();
    const { apiKey: third } = await stack.api.signUp();
    const inviter = { ...common, apiKey: third, identity: "inviter", dataDir: `${folder}/inviter` };
    await withLinks(run, inviter, `${folder}/visitor-2`);
    await withNames(run, { ...common, apiKey: third }, folder);
  });
  await Deno.remove(folder, { recursive: true });

  assertEquals([...left], [], "examples that no step runs");
});
