/** kill -9, and a second process: what the store promises when its process does not cooperate. */
import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import { openDirectoryStore, StoreFault } from "../../sdk/platform/directory_store.ts";
import { inCampaign } from "../support/campaign.ts";
import { createRandom, type Random, seedFromEnvironment } from "../support/mod.ts";
import { batchRecords, decodeBatch } from "./store_batches.ts";

const rounds = inCampaign ? 200 : 3;
const random: Random = createRandom(seedFromEnvironment());
const writer = new URL("store_writer.ts", import.meta.url).pathname;

interface Lines {
  next(): Promise<string | undefined>;
}

function linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Lines {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let buffered = "";
  return {
    next: async () => {
      for (;;) {
        const end = buffered.indexOf("\n");
        if (end >= 0) {
          const line = buffered.slice(0, end);
          buffered = buffered.slice(end + 1);
          return line;
        }
        const { value, done } = await reader.read();
        if (done) return undefined;
        buffered += value;
      }
    },
  };
}

function startWriter(folder: string, start: number): { child: Deno.ChildProcess; lines: Lines } {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", writer, folder, String(start)],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  return { child, lines: linesOf(child.stdout) };
}

/**
 * Lets the writer acknowledge some batches, kills it somewhere in the next, and returns the highest
 * acknowledged number.
 */
async function writeAndKill(folder: string, start: number): Promise<number> {
  const { child, lines } = startWriter(folder, start);
  const until = random.below(60);
  let acknowledged = start - 1;
  assertEquals(await lines.next(), "ready");
  for (let seen = 0; seen < until; seen++) {
    acknowledged = Math.max(acknowledged, Number(await lines.next()));
  }
  // wait: to hit any moment of the next batch, not only its start
  await new Promise((resolve) => setTimeout(resolve, random.below(4)));
  child.kill("SIGKILL");
  for (let line = await lines.next(); line !== undefined; line = await lines.next()) {
    acknowledged = Math.max(acknowledged, Number(line));
  }
  await child.status;
  return acknowledged;
}

Deno.test(`after each of ${rounds} kill -9 every acknowledged batch is there, and no half batch`, async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-kill-" });
  let [written, start] = [0, 0];
  try {
    for (let round = 0; round < rounds; round++) {
      const acknowledged = await writeAndKill(folder, start);
      const store = await openDirectoryStore(folder);
      const values = await Promise.all(batchRecords.map((id) => store.get("batch", id)));
      const numbers = values.map((value) => value === undefined ? -1 : decodeBatch(value));
      const where =
        `seed ${random.seed}, round ${round}: acknowledged ${acknowledged}, found ${numbers}`;
      assertEquals(new Set(numbers).size, 1, where);
      assert((numbers[0] ?? -1) >= acknowledged, where);
      assertEquals((await store.verify(["batch"])).damaged, [], where);
      await store.close();
      written += acknowledged - start + 1;
      start = (numbers[0] ?? -1) + 1;
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  console.log(`${rounds} kills, ${written} acknowledged batches, none lost`);
  assertGreater(written, rounds);
});

Deno.test("a second process is refused with store_locked while the first has the store open", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-lock-" });
  const { child, lines } = startWriter(folder, 0);
  try {
    assertEquals(await lines.next(), "ready");
    const error = await assertRejects(() => openDirectoryStore(folder), StoreFault);
    assertEquals(error.code, "store_locked");
  } finally {
    child.kill("SIGKILL");
    while (await lines.next() !== undefined);
    await child.status;
    await (await openDirectoryStore(folder)).close();
    await Deno.remove(folder, { recursive: true });
  }
});
