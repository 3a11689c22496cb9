/**
 * Nothing that was deleted is in the engine's files: names and ciphertexts, whichever way they
 * went, and however SQLite has moved them about before.
 */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import { parseChannelName } from "../../proto/mod.ts";
import type { Engine } from "./engine.ts";
import { openReplicaStore, openSqliteEngine } from "./sqlite.ts";
import { type OpenForSync, openForSync as openReally } from "./sync_handle.ts";
import { createChannel, message, sampleAccount, sampleChannelId } from "./testing/sample.ts";
import { filesContain } from "./testing/files.ts";

const channels = 40;
/** For each of which the disk is waited for. */
const rounds = 300;
const markOf = (channel: number, entry: number): string => `mark-${channel}-${entry}-`;
const nameOf = (channel: number): string => `secret-${channel}-name`;

type Random = ReturnType<typeof createRandom>;

/** Bodies that fit a page, fill one, or take several. */
function bodyOf(random: Random, mark: string): Uint8Array {
  const length = random.pick([64, 900, 4_060, 20_000]);
  return new TextEncoder().encode(mark.repeat(Math.ceil(length / mark.length)));
}

interface Filled {
  /** Texts of what is deleted, and of the rest. */
  readonly gone: string[];
  readonly kept: string[];
}

async function fillAndDelete(engine: Engine, random: Random): Promise<Filled> {
  const { gone, kept }: Filled = { gone: [], kept: [] };
  const heads = new Map<number, number>();
  for (let number = 1; number <= channels; number++) {
    const name = parseChannelName(`org/tests/${nameOf(number)}`);
    await createChannel(engine, number, { name, account: sampleAccount(number % 4) });
    heads.set(number, 0);
  }
  const expiresAtMs = 1e12;
  const room = { channelBytes: 1e9, accountBytes: 1e9 };
  for (let round = 0; round < rounds; round++) {
    const number = 1 + random.below(channels);
    const channelId = sampleChannelId(number);
    const entry = (heads.get(number) ?? 0) + 1;
    heads.set(number, entry);
    const mark = markOf(number, entry);
    await engine.append(channelId, message(`key-${mark}`, { body: bodyOf(random, mark) }));
    if (entry % 3 === 0) {
      const of = { channelId, most: 1_000, room };
      const value = new TextEncoder().encode(`record-${mark}`);
      await engine.records.put(`invite/${mark}`, { value, expiresAtMs, of }, 0);
    }
    if (entry % 5 === 0) {
      const state = new TextEncoder().encode(`state-${mark}`.repeat(1 + random.below(400)));
      await engine.saveSnapshot(channelId, { sequence: entry, state });
      // The usual way: everybody has read them, or they are too old.
      if (random.chance(0.5)) await engine.trim(channelId, entry - 2);
      else await engine.dropMessages(channelId, entry - 2, "age");
      for (let old = 1; old <= entry - 2; old++) gone.push(`${markOf(number, old)}mark`);
    }
  }
  for (const [number, head] of heads) {
    if (number % 4 !== 0) {
      kept.push(nameOf(number));
      continue;
    }
    await engine.append(sampleChannelId(number), message("end", { kind: "close" }));
    await engine.purge(sampleChannelId(number));
    gone.push(`${nameOf(number)}`);
    for (let entry = 1; entry <= head; entry++) gone.push(markOf(number, entry));
  }
  return { gone, kept };
}

const random = (): Random => createRandom(seedFromEnvironment());

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-wipe-" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("nothing that was deleted is in the relay's files after a wipe", () =>
  inFolder(async (folder) => {
    const path = `${folder}/relay.sqlite`;
    const engine = await openSqliteEngine({ path, checkpointPages: 100 });
    const { gone, kept } = await fillAndDelete(engine, random());
    // The log has old pages until others take their place, which may never be.
    assertGreater((await filesContain(folder, gone)).length, 0);
    assertEquals(await engine.wipe(1), true);
    assertEquals(await filesContain(folder, gone), []);
    assertEquals(await filesContain(folder, kept), kept);
    await engine.close();
    assertEquals(await filesContain(folder, gone), []);
  }));

Deno.test("the same holds for a relay's copy of a shared log", () =>
  inFolder(async (folder) => {
    const { engine } = await openReplicaStore({ path: `${folder}/copy.sqlite` });
    const { gone, kept } = await fillAndDelete(engine, random());
    assertEquals(await engine.wipe(1), true);
    assertEquals(await filesContain(folder, gone), []);
    assertEquals(await filesContain(folder, kept), kept);
    await engine.close();
  }));

Deno.test("a wipe beside a backup, and beside work, loses nothing", () =>
  inFolder(async (folder) => {
    const path = `${folder}/relay.sqlite`;
    const engine = await openSqliteEngine({ path, checkpointPages: 20 });
    const channelId = await createChannel(engine, 1);
    const body = new Uint8Array(3_000);
    const appending = Array.from(
      { length: 300 },
      (_, i) => engine.append(channelId, message(`m${i}`, { body })),
    );
    const backup = engine.backUp(`${folder}/copy.sqlite`, 1);
    const wiping = Array.from({ length: 5 }, (_, i) => engine.wipe(i));
    const wiped = await Promise.all(wiping);
    // One at a time, and none while the file is copied.
    assert(wiped.filter((isDone) => isDone).length <= 1);
    await Promise.all([backup, ...appending]);
    assertEquals(await engine.wipe(6), true);
    await engine.append(channelId, message("last"));
    await engine.close();
    const again = await openSqliteEngine({ path });
    assertEquals((await again.findChannel(channelId))?.head, 301);
    await again.close();
  }));

Deno.test("a wipe whose disk does not confirm leaves the log as it is, and says no", () =>
  inFolder(async (folder) => {
    const state = { isBroken: false };
    const openForSync: OpenForSync = async (path, kind) => {
      const handle = await openReally(path, kind);
      const syncData = (): Promise<void> =>
        state.isBroken && kind === "locked"
          ? Promise.reject(new Error("the disk is broken"))
          : handle.syncData();
      return { syncData, close: () => handle.close() };
    };
    const path = `${folder}/relay.sqlite`;
    const engine = await openSqliteEngine({ path, openForSync });
    const channelId = await createChannel(engine, 1);
    await engine.append(channelId, message("first"));
    state.isBroken = true;
    assertEquals(await engine.wipe(1), false);
    assert((await Deno.stat(`${path}-wal`)).size > 0);
    await engine.close();
    // The failed one holds its lock until the process ends.
    const copy = `${folder}/again.sqlite`;
    for (const end of ["", "-wal"]) await Deno.copyFile(`${path}${end}`, `${copy}${end}`);
    const again = await openSqliteEngine({ path: copy });
    assertEquals((await again.findChannel(channelId))?.head, 1);
    await again.close();
  }));
