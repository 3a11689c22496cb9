/** Promises of a store when its format changes: forward, once, all or nothing, and never back. */
import { sha256 } from "@noble/hashes/sha2.js";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createRandom } from "../../tests/support/mod.ts";
import { Aes256Gcm, nonceBytes } from "../../wasm/mod.ts";
import { concat, utf8 } from "./bytes.ts";
import { decodeKeyFile } from "./data_key.ts";
import { deriveKeys } from "./derived_keys.ts";
import { StoreFault } from "./errors.ts";
import { createMemoryDisk, type MemoryDisk, openMemory } from "./memory.ts";
import type { StoreMigration } from "./migrations.ts";
import type { StoreOptions } from "./open_store.ts";
import { RecordStore } from "./record_store.ts";

const random = createRandom(11);
const text = (value: Uint8Array | undefined): string => new TextDecoder().decode(value);
const append = (what: string) => (value: Uint8Array): Uint8Array => utf8(`${text(value)} ${what}`);

const named: StoreMigration = { name: "names of seconds", values: { k: append("two") } };
const moved: StoreMigration = {
  name: "k/a moves to l/a",
  values: { k: append("three") },
  changes: async (before) => {
    const value = await before.get("k", "a");
    if (value === undefined) return [];
    return [{ type: "delete", kind: "k", id: "a" }, { type: "put", kind: "l", id: "a", value }];
  },
};

function openOn(disk: MemoryDisk, options: StoreOptions = {}): Promise<RecordStore> {
  return RecordStore.open(openMemory(disk, random.bytes), options);
}

/** Format 1, with a record each of kind `k`, of a kind of its family, and of another family. */
async function firstDisk(): Promise<MemoryDisk> {
  const disk = createMemoryDisk();
  const store = await openOn(disk);
  await store.batch([
    { type: "put", kind: "k", id: "a", value: utf8("one") },
    { type: "put", kind: "k-1x", id: "a", value: utf8("one") },
    { type: "put", kind: "other", id: "a", value: utf8("one") },
  ]);
  await store.close();
  return disk;
}

function formatOf({ blobs }: MemoryDisk): number | undefined {
  return blobs.get("68")?.value[0];
}

async function refusedAsNewer(disk: MemoryDisk, options: StoreOptions): Promise<void> {
  const before = new Map(disk.blobs);
  const error = await assertRejects(() => openOn(disk, options), StoreFault, "update this one");
  assertEquals(error.code, "unsupported_version");
  assertEquals(disk.blobs, before, "a store that was refused has changed");
}

Deno.test("a value of an older format is read as one of the newest, by the family of its kind", async () => {
  const disk = await firstDisk();
  const store = await openOn(disk, { migrations: [named] });
  assertEquals(text(await store.get("k", "a")), "one two");
  assertEquals((await store.list("k-1x")).map(({ value }) => text(value)), ["one two"]);
  assertEquals(text(await store.get("other", "a")), "one");
  await store.put("k", "a", utf8("new"));
  assertEquals(text(await store.get("k", "a")), "new");
  await store.close();
  const again = await openOn(disk, {
    migrations: [named, { ...moved, changes: () => Promise.resolve([]) }],
  });
  assertEquals(text(await again.get("k", "a")), "new three");
  assertEquals(text(await again.get("k-1x", "a")), "one two three");
  await again.close();
});

Deno.test("a store of a newer format is refused with what to do, whatever its opener accepts, and is not changed", async () => {
  const disk = await firstDisk();
  await (await openOn(disk, { migrations: [named] })).close();
  assertEquals(formatOf(disk), 2);
  for (const damaged of ["refuse", "read", "accept"] as const) {
    await refusedAsNewer(disk, { damaged });
  }
});

Deno.test("a store of another draft is refused with what to do, whatever its opener accepts, and is not changed", async () => {
  const disk = await firstDisk();
  assert(disk.key !== undefined);
  // Of checkouts without drafts, and of another draft.
  for (const draft of ["Y", "\0"]) {
    const content = concat(utf8(`STK${draft}`), disk.key.subarray(4, -8));
    disk.key = concat(content, sha256(content).subarray(0, 8));
    const before = structuredClone(disk);
    for (const damaged of ["refuse", "read", "accept"] as const) {
      const error = await assertRejects(() => openOn(disk, { damaged }), StoreFault);
      assertEquals([error.code, error.message], [
        "unsupported_version",
        "Cannot open the store: it was made by a checkout before 0.1.0; this version cannot open it. " +
        "Choose another directory, in which the agent begins anew. Nothing was changed",
      ]);
      assertEquals(disk, before);
    }
  }
});

Deno.test("a newer store is told from a damaged one by a head that has grown", async () => {
  const disk = await firstDisk();
  const head = disk.blobs.get("68");
  assert(disk.key !== undefined && head !== undefined);
  const { values, id } = deriveKeys(await decodeKeyFile(disk.key, undefined));
  const header = concat(Uint8Array.of(7), id);
  const nonce = random.bytes(nonceBytes);
  const sealed = new Aes256Gcm(values).seal({
    nonce,
    plaintext: new Uint8Array(100),
    aad: concat(utf8("static-store head"), header),
  });
  disk.blobs.set("68", { key: head.key, value: concat(header, nonce, sealed) });
  await refusedAsNewer(disk, {});
  disk.blobs.set("68", {
    key: head.key,
    value: concat(header, nonce, sealed.map((byte) => byte ^ 1)),
  });
  const error = await assertRejects(() => openOn(disk), StoreFault);
  assertEquals(error.code, "store_corrupt");
});

Deno.test("changes of a migration are made once, in order, and see values of the format before", async () => {
  const disk = await firstDisk();
  let runs = 0;
  const counted: StoreMigration = {
    ...moved,
    changes: (before) => (runs++, moved.changes?.(before) ?? fail()),
  };
  for (let opening = 0; opening < 3; opening++) {
    const store = await openOn(disk, { migrations: [named, counted] });
    assertEquals([await store.get("k", "a"), text(await store.get("l", "a"))], [
      undefined,
      "one two",
    ]);
    await store.close();
  }
  assertEquals([runs, formatOf(disk)], [1, 3]);
  const fresh = createMemoryDisk();
  await (await openOn(fresh, { migrations: [named, counted] })).close();
  assertEquals([runs, formatOf(fresh)], [1, 3], "a new store has nothing to migrate");
});

Deno.test("a migration that fails at any of its writes leaves the format before, and is repeated", async () => {
  for (const surviving of [0, 1]) {
    const disk = await firstDisk();
    const parts = openMemory(disk, random.bytes);
    let writes = 0;
    const write: typeof parts.blobs.write = (changes) =>
      writes++ < surviving ? parts.blobs.write(changes) : Promise.reject(new Error("killed"));
    const migrations = [named, moved];
    await assertRejects(
      () => RecordStore.open({ ...parts, blobs: { ...parts.blobs, write } }, { migrations }),
      StoreFault,
    );
    assertEquals(formatOf(disk), 1 + surviving);
    const store = await openOn(disk, { migrations });
    assertEquals([await store.get("k", "a"), text(await store.get("l", "a"))], [
      undefined,
      "one two",
    ]);
    await store.close();
    assertEquals(formatOf(disk), 3);
  }
});

Deno.test("without a head the newest record says the format: what was accepted is migrated, or refused", async () => {
  const disk = await firstDisk();
  const store = await openOn(disk, { migrations: [named] });
  await store.put("k", "b", utf8("new"));
  await store.close();
  disk.blobs.delete("68");
  await refusedAsNewer(disk, { damaged: "accept" });
  const accepted = await openOn(disk, { damaged: "accept", migrations: [named, moved] });
  assertEquals([text(await accepted.get("k", "b")), text(await accepted.get("l", "a"))], [
    "new three",
    "one two",
  ]);
  await accepted.close();
});

Deno.test("a damaged store that is opened for reading shows values of the newest format and is not changed", async () => {
  const disk = await firstDisk();
  disk.blobs.delete("68");
  const before = new Map(disk.blobs);
  const store = await openOn(disk, { damaged: "read", migrations: [named, moved] });
  assertEquals(text(await store.get("k", "a")), "one two three");
  await store.close();
  assertEquals(disk.blobs, before);
});

function fail(): never {
  throw new TypeError("this migration has changes");
}
