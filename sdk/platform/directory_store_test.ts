// One module that loads the native store: Deno may panic at the end when there are more ("cleanup
// hook").
import "./testing/leveldb_tables.ts";
import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import { inCampaign } from "../../tests/support/campaign.ts";
import {
  createRandom,
  type Random,
  seedFromEnvironment,
  testWhen,
} from "../../tests/support/mod.ts";
import {
  openDirectoryStore,
  type RecordStore,
  StoreFault,
  type StoreOptions,
} from "./directory_store.ts";

const random: Random = createRandom(seedFromEnvironment());
const kind = "channel";
const flipsPerFile = inCampaign ? 400 : 3;
const cutsPerFile = inCampaign ? 200 : 2;

async function withFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-store-" });
  try {
    await act(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function filesBelow(folder: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) paths.push(...await filesBelow(path));
    else paths.push(path);
  }
  return paths.sort();
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const entry of Deno.readDir(from)) {
    if (entry.isDirectory) await copyFolder(`${from}/${entry.name}`, `${to}/${entry.name}`);
    else await Deno.copyFile(`${from}/${entry.name}`, `${to}/${entry.name}`);
  }
}

/** All values that a record ever had, the last one first. */
type Expected = ReadonlyMap<string, readonly Uint8Array[]>;

/**
 * A store whose records lie in tables and in the write-ahead log, in several versions, as after a
 * crash.
 */
async function createStore(folder: string): Promise<Expected> {
  const expected = new Map<string, Uint8Array[]>();
  const running = `${folder}.running`;
  for (let opening = 0; opening < 3; opening++) {
    const store = await openDirectoryStore(running);
    for (let batch = 0; batch < 6; batch++) {
      const changes = Array.from({ length: 3 }, () => {
        const [id, value] = [`id ${random.below(25)}`, random.bytes(random.below(900))];
        expected.set(id, [value, ...expected.get(id) ?? []]);
        return { type: "put", kind, id, value } as const;
      });
      await store.batch(changes);
    }
    if (opening === 2) await copyFolder(running, folder);
    await store.close();
  }
  return expected;
}

interface Honesty {
  readonly refused: StoreFault | undefined;
  readonly intact: number;
  /** Of the records here nothing can be read without it. */
  readonly isPeriodLost: boolean;
}

/**
 * Opens a store that someone has touched. Every record must be as it was last written, or refused;
 * none may be absent or wrong. Opened in spite of its faults, a store may also answer what it was
 * rolled back to.
 */
async function assertHonest(
  folder: string,
  expected: Expected,
  options: StoreOptions = {},
): Promise<Honesty> {
  let store;
  try {
    store = await openDirectoryStore(folder, options);
  } catch (error) {
    assert(error instanceof StoreFault, `seed ${random.seed}: ${String(error)}`);
    return { refused: error, intact: 0, isPeriodLost: false };
  }
  try {
    const isPeriodLost = store.faults.some(({ kind }) => kind === "period");
    return { refused: undefined, intact: await countIntact(store, expected), isPeriodLost };
  } finally {
    await store.close();
  }
}

async function countIntact(store: RecordStore, expected: Expected): Promise<number> {
  let intact = 0;
  for (const [id, versions] of expected) {
    try {
      const read = await store.get(kind, id);
      if (read === undefined && store.faults.length > 0) continue;
      const allowed = store.faults.length > 0 ? versions : versions.slice(0, 1);
      assert(
        allowed.some((value) => value.join() === read?.join()),
        `seed ${random.seed}: a wrong value of ${id}`,
      );
      intact++;
    } catch (error) {
      assert(error instanceof StoreFault, `seed ${random.seed}: ${String(error)}`);
      assertEquals([error.code, error.kind], ["store_corrupt", kind], error.message);
    }
  }
  return intact;
}

/** Damages a copy of the store in one file, and returns the result. */
async function damage(
  template: string,
  path: string,
  change: (bytes: Uint8Array) => Uint8Array,
  expected: Expected,
): Promise<Honesty> {
  const copy = `${template}.copy`;
  await copyFolder(template, copy);
  const file = path.replace(template, copy);
  await Deno.writeFile(file, change(await Deno.readFile(file)));
  const found = await assertHonest(copy, expected);
  const { refused } = found;
  const repair = refused?.kind === "database";
  const rest = refused === undefined
    ? found
    : await assertHonest(copy, expected, { damaged: "read", repair });
  await Deno.remove(copy, { recursive: true });
  return { ...rest, refused };
}

/** LevelDB's diary carries no data; damage to the lock's database must only not matter. */
const carriesData = (path: string): boolean => !/\/(LOG(\.old)?|LOCK)$/.test(path);

function flipBit(bytes: Uint8Array): Uint8Array {
  const at = random.below(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  return bytes;
}

Deno.test("a flipped bit in any file gives the right data or a typed error, and the rest can be read", async () => {
  await withFolder(async (folder) => {
    const template = `${folder}/store`;
    const expected = await createStore(template);
    const outcomes = { untouched: 0, someRefused: 0, storeRefused: 0, readable: 0, periodsLost: 0 };
    for (const path of (await filesBelow(template)).filter(carriesData)) {
      if ((await Deno.stat(path)).size === 0) continue;
      for (let i = 0; i < flipsPerFile; i++) {
        const { refused, intact, isPeriodLost } = await damage(template, path, flipBit, expected);
        if (refused !== undefined) outcomes.storeRefused++;
        else if (intact === expected.size) outcomes.untouched++;
        else outcomes.someRefused++;
        if (intact > 0) outcomes.readable++;
        else if (isPeriodLost) outcomes.periodsLost++;
        else if (!path.endsWith("/key")) {
          console.log(`nothing left of ${path}: ${refused?.message}, ${refused?.cause}`);
        }
      }
    }
    console.log(JSON.stringify(outcomes));
    // A few flips may all be in values that were overwritten.
    if (inCampaign) assertGreater(outcomes.someRefused, 0);
    assertGreater(outcomes.storeRefused, 0);
    // Only without its key is nothing left to read, and of these records without the secret of
    // their period, or its key list.
    const flips = outcomes.untouched + outcomes.someRefused + outcomes.storeRefused;
    assertEquals(outcomes.readable, flips - flipsPerFile - outcomes.periodsLost);
  });
});

Deno.test("a file cut off anywhere, or missing, gives the right data or a typed error", async () => {
  await withFolder(async (folder) => {
    const template = `${folder}/store`;
    const expected = await createStore(template);
    let refusals = 0;
    for (const path of (await filesBelow(template)).filter(carriesData)) {
      for (let i = 0; i < cutsPerFile; i++) {
        const { refused, intact } = await damage(
          template,
          path,
          (bytes) => bytes.slice(0, random.below(bytes.length)),
          expected,
        );
        if (refused !== undefined || intact < expected.size) refusals++;
      }
    }
    assertGreater(refusals, 0);
  });
});

/** The permission bits of everything below a folder that anyone but the owner has. */
async function sharedBelow(folder: string): Promise<string[]> {
  const shared: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    const mode = (await Deno.stat(path)).mode ?? 0;
    if ((mode & 0o077) !== 0) shared.push(`${path} ${(mode & 0o777).toString(8)}`);
    if (entry.isDirectory) shared.push(...await sharedBelow(path));
  }
  return shared;
}

const unix = { met: Deno.build.os !== "windows", reason: "Windows has no permission bits" };

testWhen(
  unix,
  "files are 0600 and folders 0700 through openings and compactions, and the umask comes back",
  async () => {
    await withFolder(async (folder) => {
      await Deno.chmod(folder, 0o755);
      const before = Deno.umask(0o022);
      try {
        const [first, second] = [
          await openDirectoryStore(`${folder}/a`),
          await openDirectoryStore(`${folder}/b`),
        ];
        assertEquals(await sharedBelow(folder), []);
        const value = random.bytes(64 * 1024);
        for (let i = 0; i < 100; i++) await first.put(kind, `id ${i % 7}`, value);
        await first.close();
        await second.changePassphrase({ from: undefined, to: undefined });
        assertEquals(await sharedBelow(folder), []);
        assertEquals(Deno.umask(), 0o077);
        await second.close();
        assertEquals(Deno.umask(), 0o022);
      } finally {
        Deno.umask(before);
      }
      await Deno.chmod(`${folder}/a/key`, 0o644);
      await (await openDirectoryStore(`${folder}/a`)).close();
      assertEquals(await sharedBelow(folder), []);
    });
  },
);

Deno.test("what was overwritten or deleted is in no file of a store that was closed, and the rest is there", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/store`;
    const bytesOnDisk = async (): Promise<number> => {
      const sizes = (await filesBelow(`${path}/db`)).map(async (file) =>
        (await Deno.stat(file)).size
      );
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    };
    const store = await openDirectoryStore(path);
    for (let version = 0; version < 50; version++) {
      await store.put(kind, "overwritten", random.bytes(2000));
    }
    await store.put(kind, "deleted", random.bytes(50_000));
    await store.delete(kind, "deleted");
    const kept = random.bytes(2000);
    await store.put(kind, "overwritten", kept);
    assertGreater(await bytesOnDisk(), 150_000);
    await store.close();
    assertGreater(5000, await bytesOnDisk());
    // A crash between the two renames, and one before the first.
    for (const rename of [true, false]) {
      if (rename) await Deno.rename(`${path}/db`, `${path}/db.old`);
      await Deno.mkdir(`${path}/db.new`);
      const again = await openDirectoryStore(path);
      assertEquals(await again.get(kind, "overwritten"), kept);
      assertEquals(await again.get(kind, "deleted"), undefined);
      await again.close();
      assertEquals(Array.from(Deno.readDirSync(path), ({ name }) => name).sort(), [
        "db",
        "key",
        "lock",
        "period",
        "witness",
      ]);
    }
  });
});

Deno.test("a wrong passphrase changes no file", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/store`;
    const cost = { memoryKiB: 8, iterations: 1, parallelism: 1 };
    const store = await openDirectoryStore(path, { passphrase: "right", cost });
    await store.put(kind, "a", new Uint8Array(10));
    await store.close();
    const key = await Deno.readFile(`${path}/key`);
    const witness = await Deno.readFile(`${path}/witness`);
    for (const options of [{ passphrase: "wrong" }, {}]) {
      const error = await assertRejects(() => openDirectoryStore(path, options), StoreFault);
      assertEquals(error.code, "passphrase_wrong");
    }
    assertEquals([await Deno.readFile(`${path}/key`), await Deno.readFile(`${path}/witness`)], [
      key,
      witness,
    ]);
    const again = await openDirectoryStore(path, { passphrase: "right" });
    assertEquals(await again.get(kind, "a"), new Uint8Array(10));
    await again.close();
  });
});

Deno.test("a folder that cannot be created gives a typed error and leaves the umask alone", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/file`, "");
    const before = Deno.umask();
    const error = await assertRejects(() => openDirectoryStore(`${folder}/file/store`), StoreFault);
    assertEquals([error.code, Deno.umask()], ["store_failed", before]);
  });
});
