// The examples in the doc comments of the public surface: each is run as it stands there.
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Channel, ChannelManager, type ConnectOptions, type Serving, type StaticClient } from "../../sdk/mod.ts";
import { sendBogus } from "../support/scenario/bad_commits.ts";
import { shareStack } from "../support/shared_stack.ts";
import { name, read, Stage, until } from "../support/scenario/stage.ts";

const files = [
  "sdk/client.ts",
  "sdk/connect_options.ts",
  "sdk/channel.ts",
  "sdk/manager.ts",
  "sdk/base/errors.ts",
  "sdk/content/envelope.ts",
  "sdk/content/incoming_request.ts",
];
const sdk = new URL("../../sdk/mod.ts", import.meta.url).href;

type Example = (...args: never[]) => unknown;

/** Every example is one function; its name is how the test knows it. Directories without a path are made below `dataDir`. */
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

/** Two guests without an account. */
async function withLinks(run: Run, options: ConnectOptions, dataDir: string): Promise<void> {
  await using inviter = await ChannelManager.connect(options);
  const channel = await inviter.create("acme/ops/deploy");
  await run("visit", await run("inviteGuest", inviter));
  const link = String(await run("inviteGuest", inviter));
  await using guest = await ChannelManager.connect({ link, dataDir, identity: "visitor 2" });
  await run("enterByLink", guest, link);
  assertEquals(await read(channel, 2), ["hello from a guest", "I have joined"]);
}

/** An agent that another one's user has given a name. */
async function withNames(
  run: Run,
  options: Omit<ConnectOptions, "dataDir" | "identity">,
  folder: string,
): Promise<void> {
  await using bob = await ChannelManager.connect({ ...options, dataDir: `${folder}/bob`, identity: "bob" });
  const channel = await bob.create("acme/ops/names");
  const trust = { names: new Map([[bob.client.agentId, "Alice's laptop"]]) };
  const ann = { ...options, dataDir: `${folder}/ann`, identity: "ann", trust };
  await using asker = await ChannelManager.connect(ann);
  await asker.joinWithToken(channel.name, await bob.invite(channel.name));
  const serving = channel.serve(() => "yes");
  const asking = await asker.client.openChannel(channel.name);
  assertEquals(await run("askAlice", asking, "are you there?"), "yes");
  assertEquals(await run("isBob", asking, bob.client.agentId, await bob.client.number()), true);
  await run("tell", bob.client);
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
    const [alice, bob, carol] = [await stage.actor("alice"), await stage.actor("bob"), await stage.actor("carol")];
    await run("open", alice.client satisfies StaticClient);
    await run("letIn", alice.client, bob.client);
    const channel: Channel = await alice.channel();
    const welcome = await channel.addMember(await carol.client.generateKeyPackage());
    await run("enter", carol.client, welcome);
    assertEquals(await read(channel, 1), ["here I am"]);
    const ready = (await bob.channel()).serve(() => "yes");
    assertEquals(await run("firstAnswer", alice.manager), "yes");
    await ready.stop();
    await bob.manager.send(name, "hi");
    await run("greet", alice.client);
    await run("report", channel);
    const stop = new AbortController();
    const printing = run("print", await bob.channel(), stop.signal);
    const logging = run("log", await carol.channel());
    await until("both have read", async () => (await carol.channel()).health().unread <= 1);
    stop.abort();
    await printing;
    assertEquals(await run("shareOwnership", channel, bob.client.agentId), 2);
    assertEquals(await run("announceOnly", channel), "owners");
    assertEquals(await run("isQuiet", channel), true);
    assert(Number(await run("afterAnIncident", channel, alice.client.agentId)) > 0);
    await channel.setPolicy({ posting: "members" });
    await until(
      "bob owns it too",
      async () => (await bob.channel()).members().filter(({ owner }) => owner).length === 2,
    );
    assertEquals(await run("stepDown", await bob.channel(), bob.client.agentId), false);
    await until("bob does not", () => channel.members().filter(({ owner }) => owner).length === 1);
    await run("removeGuests", channel);
    assertEquals(channel.members().length, 1);
    await logging.catch(() => {}); // she was removed, which ends her loop with an error
    const digits = channel.fingerprint();
    assertEquals(await run("sameChannel", channel, digits), true);
    assertEquals(await run("explain", channel), "all is well");
    assertMatch(String(await run("trySend", channel)), /^invalid_request: Cannot send an empty payload/);
  });

  await t.step("of managers, on a relay in memory", async () => {
    await using stage = await Stage.open();
    const [alice, bob] = [await stage.actor("alice"), await stage.actor("bob")];
    await run("found", alice.manager);
    const token = await run("inviteTwo", alice.manager);
    await run("join", bob.manager, token);
    assertEquals(await run("count", alice.manager), 2);
    assertEquals(await run("next", alice.manager), "I have joined");
    await run("announce", bob.manager);
    assertEquals(await run("firstSender", alice.manager), bob.client.agentId);
    await run("check", alice.manager);
    await run("reopen", bob.client);
    assertEquals(await run("whoElse", await alice.channel()), ["bob"]);
    assertEquals(await run("openDoors", alice.manager), 1);
    await run("withdraw", alice.manager, token);
    await run("closeDoors", alice.manager);
    assertEquals(await alice.manager.invites(), []);
    await run("sayGoodbye", await bob.channel());
    assertEquals(bob.client.channels, []);
    const keyPackage = Uint8Array.from(atob(String(await run("apply", bob.client))), (c) => c.charCodeAt(0));
    await until("bob is gone", async () => (await alice.channel()).members().length === 1);
    await (await alice.channel()).addMember(keyPackage);
    await run("tearDown", alice.client);
    await run("stop", alice.client);
    await run("finish", bob.manager);
  });

  await t.step("of requests, events and envelopes, on a relay in memory", async () => {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const [asking, serving] = [await alice.channel(), await bob.channel()];
    const stop = new AbortController();
    const following = run("follow", bob.client, stop.signal);
    const watching = run("watch", asking, stop.signal);
    await run("start", alice.client);
    assertEquals(await run("firstText", serving), "started");
    await asking.send("next");
    assertEquals(await run("nextText", serving), "next");
    await asking.send("who?");
    assertEquals(await run("whoIsNext", serving), "alice");
    await asking.send("again");
    assertEquals(await run("nextSender", bob.manager), "alice");
    await asking.send({ json: { degrees: -3 } });
    const schema = { "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } };
    const envelope = await serving.receiveEnvelope();
    assertEquals(await run("degreesOf", envelope, schema), -3);
    const weather = await run("serveWeather", serving, new Map([['{"city":"Oslo"}', -3]])) as Serving;
    assertEquals(await run("askForWeather", asking, bob.client.agentId), { degrees: -3 });
    await weather.stop();
    const voting = serving.serve((request) => {
      assertMatch(String(examples.get("describeRequest")?.(request as never)), /^alice asks, attempt 1, until 20/);
      left.delete("describeRequest");
      return "yes";
    });
    assertEquals(await run("vote", asking), 1);
    await voting.stop();
    await serving.send({ json: "an order" });
    assertEquals(await run("readOrder", asking), "an order");
    await serving.send("work");
    let worked = 0;
    await run("workOn", asking, () => Promise.resolve(void worked++), 2);
    assertEquals(worked, 2);
    const carol = await stage.actor("carol");
    await carol.client.joinChannel(name, await asking.addMember(await carol.client.generateKeyPackage()));
    stop.abort();
    await following;
    assertEquals(await watching, ["carol"]);
  });

  await t.step("of a channel that a member has stopped", async () => {
    for (const example of ["mend", "mendWith"]) {
      await using stage = await Stage.open();
      const { alice, bob, carol } = await stage.trio();
      await sendBogus(bob);
      const channel = await alice.channel();
      await until("recovery is offered", () => channel.health().recoverable === true);
      await run("review", channel);
      await run(example, channel, [carol.client.agentId]);
      await until("carol has followed", async () => (await carol.channel()).members().length === 2);
    }
  });

  await t.step("of whole programs, with a real relay and API", async () => {
    const stack = await shareStack();
    const { apiKey } = stack.account;
    // The example gives no certificates, as a user of a public relay would not: here they come from the environment.
    const before = Deno.env.get("STATIC_CA_FILE");
    Deno.env.set("STATIC_CA_FILE", stack.caFile);
    try {
      assertEquals(await run("hello", stack.quicUrl, stack.api.url, apiKey), "hello, bob");
    } finally {
      if (before === undefined) Deno.env.delete("STATIC_CA_FILE");
      else Deno.env.set("STATIC_CA_FILE", before);
    }
    const common = { endpoint: stack.quicUrl, apiUrl: stack.api.url, apiKey, tls: { caFile: stack.caFile } };
    const second = await stack.api.signUp();
    const owner: ConnectOptions = { ...common, apiKey: second.apiKey, identity: "owner", dataDir: `${folder}/owner` };
    assertEquals(await run("meet", owner, { ...common, identity: "guest", dataDir: `${folder}/guest` }), "welcome");
    await run("serve", owner);
    const described = await run("optionsFor", "agent", folder) as ConnectOptions;
    const client = await run("connectSoon", { ...described, ...common }) as StaticClient;
    await client.close();
    const { apiKey: third } = await stack.api.signUp();
    const inviter = { ...common, apiKey: third, identity: "inviter", dataDir: `${folder}/inviter` };
    await withLinks(run, inviter, `${folder}/visitor-2`);
    await withNames(run, { ...common, apiKey: third }, folder);
  });
  await Deno.remove(folder, { recursive: true });

  assertEquals([...left], [], "examples that no step runs");
});
