import { assert, assertEquals, assertRejects } from "@std/assert";
import { inCampaign } from "../../tests/support/campaign.ts";
import { createRandom, type Random, seedFromEnvironment } from "../../tests/support/mod.ts";
import { openAll, type StolenStore, type Version } from "../../tests/support/stolen_store.ts";
import { utf8 } from "./bytes.ts";
import { StoreFault } from "./errors.ts";
import { changesInPeriod, periodMs } from "./forgetting_schedule.ts";
import { createMemoryDisk, type MemoryDisk, openMemory } from "./memory.ts";
import type { StoreOptions } from "./open_store.ts";
import type { StoreParts } from "./store_backend.ts";
import { RecordStore } from "./record_store.ts";

const random: Random = createRandom(seedFromEnvironment());

/**
 * A store whose timer runs when the test says so, over a disk that keeps everything that was ever
 * written to its database.
 */
class Scene {
  readonly disk: MemoryDisk = createMemoryDisk();
  readonly #versions: Version[] = [];
  readonly timers: { readonly ms: number; readonly run: () => void }[] = [];
  /** Writes until the process dies: every later one has no effect, and never ends. */
  writesLeft = Infinity;
  /** Of the last one before that, only half is on disk. */
  isTorn = false;

  async open(options: StoreOptions = {}): Promise<RecordStore> {
    this.disk.locked = false;
    this.timers.length = 0;
    return await RecordStore.open(this.parts(), options);
  }

  parts(): StoreParts {
    const parts = openMemory(this.disk, random.bytes, (ms, run) => {
      const timer = { ms, run };
      this.timers.push(timer);
      return () => void this.timers.splice(this.timers.indexOf(timer), 1);
    });
    const { blobs, periods } = parts;
    assert(periods !== undefined);
    return {
      ...parts,
      blobs: {
        ...blobs,
        write: (changes) =>
          this.#write(() => {
            for (const change of changes) {
              if (change.type === "put") {
                this.#versions.push({ name: change.key, value: change.value });
              }
            }
            return blobs.write(changes);
          }),
      },
      periods: {
        ...periods,
        overwrite: (place, bytes) =>
          this.#write(
            () => periods.overwrite(place, bytes),
            () => {
              const before = this.disk.period?.subarray(
                place * bytes.length,
                (place + 1) * bytes.length,
              );
              bytes.subarray(0, 40).forEach((byte, at) => before?.fill(byte, at, at + 1));
            },
          ),
      },
    };
  }

  /** The process is gone; nothing of it writes any more. */
  restart(): void {
    this.writesLeft = Infinity;
    this.isTorn = false;
  }

  steal(): StolenStore {
    const { key, period } = this.disk;
    return { key: key ?? new Uint8Array(0), period, versions: this.#versions };
  }

  /** Values that the thief can read, of records of secret kinds. */
  readable(): string[] {
    const { opened } = openAll(this.steal());
    return opened.filter(({ isSecret }) => isSecret).map(({ value }) =>
      new TextDecoder().decode(value)
    ).sort();
  }

  #write(act: () => Promise<void>, half: () => void = () => {}): Promise<void> {
    if (this.writesLeft <= 0) return new Promise(() => {});
    if (--this.writesLeft > 0 || !this.isTorn) return act();
    half();
    return new Promise(() => {});
  }
}

const put = (id: string, value: string) =>
  ({ type: "put", kind: "mls-a", id, value: utf8(value) }) as const;

/** Work that waits for no timer is done: memory answers in a few turns. */
async function untilStill(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
}

Deno.test("without an end of its period a store forgets nothing: the thief reads every version", async () => {
  const scene = new Scene();
  const store = await scene.open();
  for (const value of ["one", "two", "three"]) await store.batch([put("chain", value)]);
  assertEquals(scene.readable(), ["one", "three", "two"]);
});

Deno.test("when its period has ended, nothing opens what was overwritten or deleted, and the rest is read as before", async () => {
  const scene = new Scene();
  let store = await scene.open();
  await store.batch([put("chain", "old"), put("gone", "deleted"), put("idle", "stays")]);
  await store.put("channels", "a", utf8("plain"));
  for (const value of ["new", "newer"]) {
    await store.batch([put("chain", value), { type: "delete", kind: "mls-a", id: "gone" }]);
    assertEquals(scene.timers.map(({ ms }) => ms), [periodMs]);
    scene.timers[0]?.run();
    await untilStill();
    assertEquals(scene.readable(), [value, "stays"]);
    assertEquals(scene.timers, [], "nothing is left to forget");
    if (value === "new") {
      await store.close();
      store = await scene.open();
    }
  }
  assertEquals(
    (await store.list("mls-a")).map(({ value }) => new TextDecoder().decode(value)).sort(),
    [
      "newer",
      "stays",
    ],
  );
  assertEquals(await store.get("channels", "a"), utf8("plain"));
  assertEquals(await store.verify(), { records: 3, damaged: [] });
  await store.close();
});

Deno.test("a period ends after its changes without a timer, and when the store is closed", async () => {
  const scene = new Scene();
  const store = await scene.open();
  for (let i = 1; i < changesInPeriod; i++) await store.batch([put("chain", `value ${i}`)]);
  assertEquals(scene.readable().length, changesInPeriod - 1);
  await store.batch([put("chain", "last")]);
  await untilStill();
  assertEquals(scene.readable(), ["last"]);
  await store.batch([put("chain", "after")]);
  assertEquals(scene.readable(), ["after", "last"]);
  await store.close();
  assertEquals(scene.readable(), ["after"]);
});

Deno.test("several changes to one record in a batch all count", async () => {
  const scene = new Scene();
  const store = await scene.open();
  await store.batch([put("chain", "old")]);
  await store.batch(Array.from({ length: changesInPeriod }, (_, i) => put("chain", `value ${i}`)));
  await untilStill();
  assertEquals(scene.readable(), [`value ${changesInPeriod - 1}`]);
  await store.close();
});

Deno.test("changes of plain kinds alone end no period", async () => {
  const scene = new Scene();
  const store = await scene.open();
  for (let i = 0; i < 2 * changesInPeriod; i++) await store.put("channels", "a", utf8(String(i)));
  const before = scene.disk.period?.slice();
  await store.close();
  assertEquals([scene.timers, scene.disk.period], [[], before]);
});

Deno.test("after a crash the next opening forgets", async () => {
  const scene = new Scene();
  const crashed = await scene.open();
  await crashed.batch([put("chain", "old")]);
  await crashed.batch([put("chain", "new")]);
  await scene.open();
  assertEquals([scene.readable(), scene.timers], [["new"], []]);
});

Deno.test("a crash at or in the middle of any write of a period's end loses nothing, and all is forgotten by the next", async () => {
  for (const isTorn of [false, true]) {
    for (let writes = 0; writes <= 4; writes++) {
      const scene = new Scene();
      const crashed = await scene.open();
      await crashed.batch([put("chain", "old"), put("idle", "stays")]);
      await crashed.batch([put("chain", "new")]);
      Object.assign(scene, { writesLeft: writes, isTorn });
      scene.timers[0]?.run();
      // Under way at the same time: it is whole, or it is not there.
      const written = crashed.batch([put("chain", "newest"), put("idle", "went on")]).then(() =>
        true
      );
      await untilStill();
      const isWritten = await Promise.race([written, Promise.resolve().then(() => false)]);
      scene.restart();
      for (let opening = 0; opening < 3; opening++) {
        const store = await scene.open();
        const texts = (await store.list("mls-a")).map(({ value }) =>
          new TextDecoder().decode(value)
        ).sort();
        const where = `torn ${isTorn}, ${writes} writes, opening ${opening}`;
        if (isWritten || texts[0] === "newest") assertEquals(texts, ["newest", "went on"], where);
        else assertEquals(texts, ["new", "stays"], where);
        assertEquals(scene.readable(), texts, where);
        if (opening === 1) await store.close();
      }
    }
  }
});

Deno.test("a random history of batches, ends, crashes and openings ends as a plain map does, and only that can be read", async () => {
  for (let run = 0; run < (inCampaign ? 500 : 10); run++) {
    const scene = new Scene();
    const expected = new Map<string, string>();
    let store = await scene.open();
    for (let step = 0; step < 40; step++) {
      const id = `id${random.below(12)}`;
      if (random.chance(0.2)) expected.delete(id);
      else expected.set(id, `${run} ${step}`);
      const value = expected.get(id);
      await store.batch([
        value === undefined ? { type: "delete", kind: "mls-a", id } : put(id, value),
      ]);
      if (random.chance(0.2)) scene.timers[0]?.run();
      if (random.chance(0.3)) await untilStill();
      if (random.chance(0.1)) {
        Object.assign(scene, { writesLeft: random.below(4), isTorn: random.chance(0.5) });
        scene.timers[0]?.run();
        await untilStill();
        scene.restart();
        store = await scene.open();
      }
      const found = new Map(
        (await store.list("mls-a")).map(({ id, value }) => [id, new TextDecoder().decode(value)]),
      );
      assertEquals(
        new Map([...found].sort()),
        new Map([...expected].sort()),
        `seed ${random.seed}`,
      );
    }
    await store.close();
    assertEquals(scene.readable(), [...expected.values()].sort(), `seed ${random.seed}`);
  }
});

/** Two records of a secret kind, one of them from an earlier period, and a plain one. */
async function written(): Promise<Scene> {
  const scene = new Scene();
  let store = await scene.open();
  await store.batch([put("early", "1"), {
    type: "put",
    kind: "identity",
    id: "self",
    value: utf8("me"),
  }]);
  await store.close();
  store = await scene.open();
  await store.batch([put("late", "2")]);
  return scene;
}

const damages: Readonly<Record<string, (disk: MemoryDisk) => void>> = {
  "no period file": (disk) => disk.period = undefined,
  "an empty period file": (disk) => disk.period = new Uint8Array(0),
  "a damaged secret": (disk) => [20, 4116].forEach((at) => disk.period?.set([7, 7, 7], at)),
  "no key list": (disk) =>
    [...disk.blobs.keys()].filter((name) => name.startsWith("6b")).forEach((name) =>
      disk.blobs.delete(name)
    ),
  "a damaged key list": (disk) =>
    [...disk.blobs].forEach(([name, { value }]) => name.startsWith("6b") && value.set([7, 7], 40)),
};

for (const [what, damage] of Object.entries(damages)) {
  Deno.test(`${what}: refused; plain records can be read; accepted, the agent goes on and later opens as ever`, async () => {
    const scene = await written();
    damage(scene.disk);
    const before = structuredClone({ ...scene.disk, locked: false });
    const error = await assertRejects(() => scene.open(), StoreFault);
    assertEquals([error.code, error.kind], ["store_corrupt", "period"]);
    const reading = await scene.open({ damaged: "read" });
    assertEquals(await reading.get("identity", "self"), utf8("me"));
    const refused = await assertRejects(() => reading.get("mls-a", "early"), StoreFault);
    assertEquals([refused.code, refused.kind], ["store_corrupt", "mls-a"]);
    await reading.close();
    assertEquals({ ...scene.disk, locked: false }, before, "to read changes nothing");
    const accepted = await scene.open({ damaged: "accept" });
    await accepted.batch([put("early", "anew"), put("late", "anew")]);
    await accepted.close();
    const store = await scene.open();
    assertEquals((await store.list("mls-a")).length, 2);
    assertEquals(store.faults, []);
    await store.close();
    assertEquals(scene.readable(), ["anew", "anew"]);
  });
}

Deno.test("records that no key opens leave none behind in the memory of the cipher", async () => {
  const scene = new Scene();
  await (await scene.open()).batch(
    Array.from({ length: 500 }, (_, i) => put(`id ${i}`, String(i))),
  );
  scene.disk.period = undefined;
  const store = await scene.open({ damaged: "read" });
  const { grow } = WebAssembly.Memory.prototype;
  let grown = 0;
  WebAssembly.Memory.prototype.grow = function (pages: number): number {
    grown += pages;
    return grow.call(this, pages);
  };
  try {
    assertEquals((await store.verify()).damaged.length, 500);
  } finally {
    WebAssembly.Memory.prototype.grow = grow;
  }
  assertEquals(grown, 0);
  await store.close();
});

Deno.test("a period file of an earlier time does not open a later database", async () => {
  const scene = await written();
  const early = scene.disk.period?.slice();
  await (await scene.open()).close();
  scene.disk.period = early;
  const error = await assertRejects(() => scene.open(), StoreFault);
  assertEquals([error.code, error.kind], ["store_corrupt", "period"]);
});

Deno.test("an older copy that is put back is the older store, and forgets from there on", async () => {
  const scene = new Scene();
  let store = await scene.open();
  await store.batch([put("chain", "one")]);
  await store.close();
  const copy = structuredClone(scene.disk);
  store = await scene.open();
  await store.batch([put("chain", "two")]);
  await store.close();
  Object.assign(scene.disk, structuredClone(copy));
  store = await scene.open();
  assertEquals(await store.get("mls-a", "chain"), utf8("one"));
  await store.batch([put("chain", "other two")]);
  await store.close();
  assertEquals(scene.readable(), ["other two"]);
});

Deno.test("a secret that cannot be overwritten stops the store: nothing more is acknowledged", async () => {
  const scene = new Scene();
  const parts = scene.parts();
  assert(parts.periods !== undefined);
  const { periods } = parts;
  for (const failing of [1, 2]) {
    let calls = -Infinity;
    const overwrite: typeof periods.overwrite = (place, bytes) =>
      ++calls === failing ? Promise.reject(new Error("EIO")) : periods.overwrite(place, bytes);
    scene.disk.locked = false;
    const store = await RecordStore.open({ ...parts, periods: { ...periods, overwrite } });
    calls = 0;
    await store.batch([put("chain", `old ${failing}`)]);
    scene.timers[0]?.run();
    assertEquals((await store.failed).code, "store_failed");
    await assertRejects(() => store.batch([put("chain", "new")]), StoreFault);
    await store.close();
    scene.timers.length = 0;
    await (await scene.open()).close();
    assertEquals(scene.readable(), [`old ${failing}`]);
  }
});

if (inCampaign) {
  Deno.test("a key list of several parts", async () => {
    const scene = new Scene();
    let store = await scene.open();
    const count = 70_000;
    for (let at = 0; at < count; at += 10_000) {
      await store.batch(Array.from({ length: 10_000 }, (_, i) => put(`id ${at + i}`, `${at + i}`)));
    }
    await store.close();
    store = await scene.open();
    assertEquals((await store.list("mls-a")).length, count);
    for (let at = 0; at < count; at += 10_000) {
      await store.batch(
        Array.from(
          { length: 9_999 },
          (_, i) => ({ type: "delete", kind: "mls-a", id: `id ${at + i}` }) as const,
        ),
      );
    }
    await store.close();
    store = await scene.open();
    assertEquals((await store.verify()).damaged, []);
    assertEquals((await store.list("mls-a")).length, 7);
    await store.close();
  });
}
