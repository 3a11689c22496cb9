/**
 * kill -9, a second process, and a full disk: what the engine promises when its process or its disk
 * does not cooperate.
 */
import {
  assert,
  assertEquals,
  assertExists,
  assertGreater,
  assertRejects,
  fail,
} from "@std/assert";
import { type Engine, EngineError, openSqliteEngine } from "../../relay/engine/mod.ts";
import {
  createChannel,
  message,
  readAll,
  sampleChannelId,
} from "../../relay/engine/testing/sample.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { createRandom, type Random, seedFromEnvironment, testWhen } from "../support/mod.ts";
import { writerChannels, writerLease } from "./engine_writer_channels.ts";

const rounds = inCampaign ? 200 : 2;
const random: Random = createRandom(seedFromEnvironment());
const writer = new URL("engine_writer.ts", import.meta.url).pathname;

interface Accepted {
  readonly channel: number;
  readonly sequence: number;
  readonly key: string;
}

/** With the relay's own permissions and no more, so that nothing in the engine needs others. */
function startWriter(folder: string, run: string): Deno.ChildProcess {
  const permissions = [`--allow-read=${folder}`, `--allow-write=${folder}`];
  return new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      ...permissions,
      writer,
      `${folder}/engine.sqlite`,
      run,
    ],
    stdout: "piped",
    stderr: "null",
  }).spawn();
}

/**
 * Lets a writer run for a random while, kills it at a random moment, and returns the entries that
 * were reported as accepted.
 */
async function writeAndKill(folder: string, run: string): Promise<Accepted[]> {
  const child = startWriter(folder, run);
  const killAfter = 1 + random.below(600);
  let [text, lines, killed] = ["", 0, false];
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true });
    lines = text.split("\n").length - 1;
    if (lines < killAfter || killed) continue;
    killed = true;
    // wait: to hit any moment of a group, not only the one after an answer
    await new Promise((resolve) => setTimeout(resolve, random.below(5)));
    child.kill("SIGKILL");
  }
  await child.status;
  assert(killed, `the writer ended by itself: ${text.slice(-500)}`);
  const [ready, ...reports] = text.slice(0, text.lastIndexOf("\n")).split("\n");
  assertEquals(ready, "ready");
  return reports.map((line) => {
    const [channel, sequence, key = ""] = line.split(" ");
    return { channel: Number(channel), sequence: Number(sequence), key };
  });
}

/**
 * Every accepted entry is where it was said to be, sequences are dense, and heads, epochs and
 * charges match the log.
 */
async function checkEverything(engine: Engine, accepted: readonly Accepted[]): Promise<void> {
  let messages = 0;
  for (const number of writerChannels) {
    const channelId = sampleChannelId(number);
    const items = await readAll(engine, channelId, 1024 * 1024);
    assertEquals(
      items.map(({ sequence }) => sequence),
      items.map((_, i) => i + 1),
      "sequences have holes",
    );
    const record = await engine.findChannel(channelId);
    assertEquals(record?.head, items.length);
    assertEquals(record?.epoch, items.filter(({ kind }) => kind === "commit").length);
    const size = await engine.queueSize(channelId);
    assertEquals(size.messages, items.filter(({ kind }) => kind === "message").length);
    messages += size.messages;
    for (const { sequence, key } of accepted.filter(({ channel }) => channel === number)) {
      assertEquals(
        (await engine.findKey(channelId, key))?.sequence,
        sequence,
        `${key} is lost or elsewhere`,
      );
    }
  }
  const lease = (await engine.leases.list()).find(({ leaseId }) => leaseId === writerLease);
  assertEquals(lease?.consumed, messages, "charges and messages differ");
}

Deno.test(`after each of ${rounds} kill -9 every accepted entry is there, at its place, with its charge`, async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-engine-kill-" });
  const path = `${folder}/engine.sqlite`;
  const accepted: Accepted[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      const ofRound = await writeAndKill(folder, `run${round}`);
      accepted.push(...ofRound);
      const engine = await openSqliteEngine({ path });
      try {
        await checkEverything(engine, round === rounds - 1 ? accepted : ofRound);
      } catch (cause) {
        throw new Error(`seed ${random.seed}, round ${round}, ${accepted.length} accepted`, {
          cause,
        });
      } finally {
        await engine.close();
      }
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  console.log(
    `${rounds} kills, ${accepted.length} accepted entries, none lost (seed ${random.seed})`,
  );
  assertGreater(accepted.length, rounds);
  tried(`${rounds} kills of an engine`);
});

Deno.test("a second process is refused while the first has the file open, and may open it afterwards", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-engine-lock-" });
  const path = `${folder}/engine.sqlite`;
  const child = startWriter(folder, "lock");
  const output = child.stdout.getReader();
  try {
    // Long enough for its log to be copied back a few times: the lock has to survive that.
    let reported = 0;
    while (reported < 50_000) {
      reported += (await output.read()).value?.length ?? fail("the writer ended");
    }
    const error = await assertRejects(
      () => openSqliteEngine({ path }),
      EngineError,
      "another process",
    );
    assertEquals(error.code, "locked");
  } finally {
    child.kill("SIGKILL");
    while (!(await output.read()).done);
    await child.status;
    await (await openSqliteEngine({ path })).close();
    await Deno.remove(folder, { recursive: true });
  }
});

/** A file system of two megabytes, which only root may make. */
async function mountSmallDisk(): Promise<string | undefined> {
  const folder = await Deno.makeTempDir({ prefix: "static-engine-full-" });
  if (await succeeds("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder)) return folder;
  await Deno.remove(folder);
  return undefined;
}

async function succeeds(command: string, ...args: string[]): Promise<boolean> {
  try {
    return (await new Deno.Command(command, { args, stdout: "null", stderr: "null" }).output())
      .success;
  } catch {
    return false;
  }
}

async function unmount(folder: string): Promise<void> {
  // Lazily, because after a failed test the engine still has its files open.
  await succeeds("umount", "-l", folder);
  await Deno.remove(folder);
}

async function canMount(): Promise<boolean> {
  const folder = await mountSmallDisk();
  if (folder !== undefined) await unmount(folder);
  return folder !== undefined;
}

testWhen(
  { met: await canMount(), reason: "a small tmpfs cannot be mounted here" },
  "a full disk refuses the entry with a typed error, loses nothing, and goes on when there is room again",
  async () => {
    const folder = await mountSmallDisk();
    assertExists(folder);
    const path = `${folder}/engine.sqlite`;
    try {
      const engine = await openSqliteEngine({ path, checkpointPages: 40 });
      const channelId = await createChannel(engine, 1);
      let accepted = 0;
      const append = async (): Promise<void> => {
        await engine.append(channelId, message(`${accepted}`, { body: random.bytes(10_000) }));
        accepted++;
      };
      const fillDisk = (): Promise<EngineError> =>
        assertRejects(async () => {
          for (;;) await append();
        }, EngineError);
      assertEquals((await fillDisk()).code, "io");
      assertGreater(accepted, 10);
      // Memory and disk agree: the refused entry is nowhere, and others can be read.
      assertEquals((await engine.findChannel(channelId))?.head, accepted);
      assertEquals((await readAll(engine, channelId)).length, accepted);
      assertEquals((await fillDisk()).code, "io");
      assert(await succeeds("mount", "-o", "remount,size=16m", folder));
      for (let i = 0; i < 100; i++) await append();
      await engine.close();

      const again = await openSqliteEngine({ path });
      const items = await readAll(again, channelId);
      assertEquals(
        items.map(({ sequence }) => sequence),
        Array.from({ length: accepted }, (_, i) => i + 1),
      );
      await again.close();
    } finally {
      await unmount(folder);
    }
  },
);
