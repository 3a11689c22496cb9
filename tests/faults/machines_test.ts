/**
 * Faults of machines that agents and their relay run on: full disks, damaged and shared
 * directories, wrong clocks. On a real stack.
 */
import { assert, assertEquals, assertGreater, assertStringIncludes } from "@std/assert";
import { type Channel, type ConnectOptions, StaticClient } from "../../sdk/mod.ts";
import { inCampaign } from "../support/campaign.ts";
import {
  createRandom,
  eventually,
  type Random,
  seedFromEnvironment,
  testWhen,
} from "../support/mod.ts";
import { add, codeOf, optionsFor as withoutCredential } from "./clients.ts";
import { until } from "./exchange.ts";
import { SmallDisk, smallDisks } from "./small_disk.ts";
import { Stack, type StackOptions } from "./stack.ts";

const seed = seedFromEnvironment();

/** One way for all agents of a test. */
async function startStack(relay: NonNullable<StackOptions["relay"]> = {}): Promise<Stack> {
  return await Stack.start({
    random: createRandom(seed),
    ways: ["all", "twin", "ahead", "behind"],
    relay,
  });
}

const started: { stack?: Promise<Stack> } = {};

Deno.test.afterAll(async () => {
  await (await started.stack)?.[Symbol.asyncDispose]();
});

/** For tests whose faults are on the machines of agents. It ends after the last test. */
async function shareStack(): Promise<Stack> {
  return await (started.stack ??= startStack());
}

function optionsFor(stack: Stack, identity: string): ConnectOptions {
  return {
    ...withoutCredential(stack, identity),
    apiUrl: stack.api.url,
    apiKey: stack.account.apiKey,
  };
}

const fullText = "Cannot write to the store: the disk is full. Free space, then connect again";

/** The texts of a channel from its oldest unread one, up to this one. */
async function upTo(wanted: string, channel: Channel): Promise<string[]> {
  const texts: string[] = [];
  for await (const payload of channel.messages({ signal: AbortSignal.timeout(60_000) })) {
    texts.push(new TextDecoder().decode(payload));
    if (texts.at(-1) === wanted) break;
  }
  return texts;
}

testWhen(
  smallDisks,
  "a relay whose disk is full refuses, typed, loses nothing it accepted, and goes on by itself",
  async () => {
    await using disk = await SmallDisk.mount(24);
    await using stack = await startStack({ STATIC_DATA_DIR: disk.folder });
    await using ann = await StaticClient.connect(optionsFor(stack, "ann"));
    await using ben = await StaticClient.connect(optionsFor(stack, "ben"));
    const channel = await ann.createChannel("acme/faults/disk");
    const joined = await add(channel, ben);
    const accepted: string[] = [];
    const say = async (text: string): Promise<string> => {
      const code = await codeOf(channel.send(text, { timeoutMs: 3_000 }));
      if (code === "fulfilled") accepted.push(text);
      return code;
    };
    assertEquals(await say("before"), "fulfilled");
    await disk.fill();
    let number = 0;
    const code = await eventually(
      { what: "the refusal" },
      () => say(`full ${number++}`),
      (code) => code !== "fulfilled",
    );
    assertEquals(code, "storage_full");
    await disk.free();
    await eventually(
      { what: "the first message after it" },
      () => say(`after ${number++}`),
      (code) => code === "fulfilled",
    );
    const heard = await upTo(accepted.at(-1) ?? "", joined);
    assertEquals(heard.filter((text) => accepted.includes(text)), accepted);
    assertEquals(new Set(heard).size, heard.length);
  },
);

testWhen(
  smallDisks,
  "an agent whose disk is full stops, typed, others do not notice, and its next start loses nothing",
  async () => {
    const stack = await shareStack();
    await using disk = await SmallDisk.mount(8);
    const options = { ...optionsFor(stack, "ben"), dataDir: `${disk.folder}/ben` };
    await using ann = await StaticClient.connect(optionsFor(stack, "ann"));
    const channel = await ann.createChannel("acme/faults/disk");
    const ben = await StaticClient.connect(options);
    const joined = await add(channel, ben);
    await channel.send("before");
    assertEquals(await upTo("before", joined), ["before"]);
    await disk.fill();
    let number = 0;
    // Every message that it reads, and every 64th that it sends, needs the disk.
    const reading = codeOf(upTo("never said", joined));
    const code = await eventually(
      { what: "the refusal" },
      async () => {
        await channel.send(`full ${number++}`);
        return await codeOf(joined.send(`full ${number}`, { timeoutMs: 3_000 }));
      },
      (code) => code !== "fulfilled",
    );
    assertEquals([code, await reading], ["store_full", "store_full"]);
    assertEquals(joined.health().problem, `Channel "${channel.name}" stopped: ${fullText}`);
    await ben.close();
    await disk.free();
    await channel.send("after");
    await using again = await StaticClient.connect(options);
    const heard = (await upTo("after", await again.channel(channel.name))).filter((text) =>
      text !== "before"
    );
    const last = [...Array.from({ length: number }, (_, i) => `full ${i}`), "after"];
    assertEquals(
      heard,
      last.slice(-heard.length),
      "nothing is missing behind the first that comes again",
    );
    assertEquals((await again.channel(channel.name)).health().missing, []);
    await (await again.channel(channel.name)).send("I am back");
  },
);

Deno.test("directories and clocks of agents", async (t) => {
  const random = createRandom(seed);
  const stack = await shareStack();
  await using ann = await StaticClient.connect(optionsFor(stack, "ann"));
  const channel = await ann.createChannel("acme/faults/machines");

  await t.step("a second process on a directory is refused, and the first goes on", async () => {
    await using first = await StaticClient.connect(optionsFor(stack, "twin"));
    const joined = await add(channel, first);
    const second = stack.actor("twin");
    await second.start().catch(() => {});
    assertStringIncludes(second.remarks.join(), "another process");
    await joined.send("still the only one");
    assertEquals(await upTo("still the only one", channel), ["still the only one"]);
  });

  await t.step(
    "a damaged directory is refused with a typed error, or nothing of it was lost",
    async () => {
      const options = optionsFor(stack, "dan");
      {
        await using dan = await StaticClient.connect(options);
        await add(channel, dan);
      }
      const outcomes = new Map<string, string>();
      // LevelDB's log for people, and its lock file, have no content that matters.
      for (
        const name of (await filesIn(options.dataDir)).filter((name) =>
          !/LOCK$|LOG(\.old)?$/.test(name)
        )
      ) {
        const copy = await copyFolder(options.dataDir, `${stack.folder}/damaged`);
        await damage(`${copy}/${name}`, random);
        outcomes.set(name, await tryDirectory({ ...options, dataDir: copy }, channel.name));
        await Deno.remove(copy, { recursive: true });
      }
      console.log(`seed ${seed}:`, Object.fromEntries(outcomes));
      for (const [name, outcome] of outcomes) {
        assert(
          ["whole", "store_corrupt", "passphrase_wrong"].includes(outcome),
          `${name}: ${outcome}`,
        );
      }
      assertGreater(outcomes.size, 3);
      assertEquals(await tryDirectory(options, channel.name), "whole");
    },
  );

  await t.step(
    "a damaged directory can be read: who is in its channels, and nothing is changed",
    async () => {
      const options = optionsFor(stack, "dan");
      const copy = await copyFolder(options.dataDir, `${stack.folder}/read`);
      await Deno.remove(`${copy}/witness`);
      {
        await using dan = await StaticClient.connect({
          ...options,
          dataDir: copy,
          damaged: "read",
        });
        assertEquals([dan.channels, dan.transport], [[channel.name], undefined]);
        const joined = await dan.channel(channel.name);
        const others = joined.members().filter(({ self }) => !self);
        assert(others.some(({ agentId }) => agentId === ann.agentId));
        assertEquals(await codeOf(joined.send("?")), "store_corrupt");
      }
      assertEquals(
        await tryDirectory({ ...options, dataDir: copy }, channel.name),
        "store_corrupt",
      );
      await Deno.remove(copy, { recursive: true });
    },
  );

  await t.step(
    "a directory that is put back from a copy is noticed, sends nothing with used keys, and is heard again",
    async () => {
      const options = optionsFor(stack, "gil");
      {
        await using gil = await StaticClient.connect(options);
        await (await add(channel, gil)).send("gil is here");
      }
      const backup = await copyFolder(options.dataDir, `${stack.folder}/backup of gil`);
      {
        await using gil = await StaticClient.connect(options);
        const joined = await gil.channel(channel.name);
        await Promise.all(Array.from({ length: 100 }, (_, i) => joined.send(`gil ${i}`)));
      }
      await upTo("gil 99", channel);
      await Deno.remove(options.dataDir, { recursive: true });
      await Deno.rename(backup, options.dataDir);
      await using gil = await StaticClient.connect(options);
      const joined = await gil.channel(channel.name);
      await joined.send("gil again");
      await upTo("gil again", channel);
      const kinds = joined.health().issues.map(({ kind }) => kind);
      assert(
        kinds.includes("rejoined") && kinds.some((kind) => kind.startsWith("store_")),
        kinds.join(),
      );
      await joined.leave();
    },
  );

  // KeyPackages of an agent that is ahead are not valid yet for others: the harder of the two.
  const clocks = [["ahead", 600_000], ["behind", -600_000]] as const;
  for (const [way, clockAheadMs] of inCampaign ? clocks : clocks.slice(0, 1)) {
    await t.step(
      `an agent whose clock is ten minutes ${way} joins, adds, sends and hears`,
      async () => {
        const eve = await stack.actor(way, { clockAheadMs }).start();
        const keyPackage = await eve.text({ do: "key_package" });
        await channel.addMember(Uint8Array.fromBase64(keyPackage));
        await eve.ask({ do: "enter", channel: channel.name });
        await using fay = await StaticClient.connect(optionsFor(stack, `fay ${way}`));
        await eve.ask({ do: "add", keyPackage: (await fay.generateKeyPackage()).toBase64() });
        const joined = await entered(fay, channel.name);
        await eve.ask({ do: "send_at_once", count: 3 });
        assertEquals((await upTo(`${way} 0.3`, joined)).length, 3);
        await joined.send(`to ${way}`);
        const heard = (): boolean =>
          eve.events.some((event) => event.event === "heard" && event.text === `to ${way}`);
        await until("it to be heard", 20_000, heard);
        assertEquals((await eve.state()).health.issues, []);
        await eve.close();
      },
    );
  }
});

/** Joins by the Welcome that the relay delivers. */
async function entered(client: StaticClient, name: string): Promise<Channel> {
  await until("the Welcome", 20_000, () => client.welcomes.includes(name));
  return await client.joinChannel(name);
}

/** Whether the directory opens with its channel in it. */
async function tryDirectory(options: ConnectOptions, name: string): Promise<string> {
  return await codeOf((async () => {
    await using client = await StaticClient.connect(options);
    await client.channel(name);
  })()).then((code) => code === "fulfilled" ? "whole" : code);
}

/** Paths in a folder, of files at any depth. */
async function filesIn(folder: string, within = ""): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isFile } of Deno.readDir(`${folder}/${within}`)) {
    if (isFile) files.push(within + name);
    else files.push(...await filesIn(folder, `${within}${name}/`));
  }
  return files;
}

async function copyFolder(from: string, to: string): Promise<string> {
  for (const name of await filesIn(from)) {
    await Deno.mkdir(`${to}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
  return to;
}

/** One bit of a byte anywhere in it. */
async function damage(path: string, random: Random): Promise<void> {
  const bytes = await Deno.readFile(path);
  const at = random.below(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  await Deno.writeFile(path, bytes);
}
