import { assert, assertEquals, assertRejects } from "@std/assert";
import { createRandom, type Random, seedFromEnvironment } from "../../tests/support/mod.ts";
import { utf8 } from "./bytes.ts";
import { type StoreErrorCode, StoreFault } from "./errors.ts";
import { createMemoryDisk, type MemoryDisk, openMemory } from "./memory.ts";
import { maxValueBytes } from "./record.ts";
import type { StoreOptions } from "./open_store.ts";
import { RecordStore } from "./record_store.ts";

const random: Random = createRandom(seedFromEnvironment());

export async function openOn(disk: MemoryDisk, options: StoreOptions = {}): Promise<RecordStore> {
  return await RecordStore.open(openMemory(disk, random.bytes), options);
}

async function assertFails(
  code: StoreErrorCode,
  act: () => Promise<unknown>,
  kind?: string,
): Promise<StoreFault> {
  const error = await assertRejects(act, StoreFault);
  assertEquals(error.code, code, `${error.code}: ${error.message}`);
  if (kind !== undefined) assertEquals(error.kind, kind, error.message);
  return error;
}

/** The blobs of records, without the head. */
function recordsOn(disk: MemoryDisk): [string, { key: Uint8Array; value: Uint8Array }][] {
  return [...disk.blobs].filter(([name]) => name.startsWith("72"));
}

async function diskWith(count: number): Promise<MemoryDisk> {
  const disk = createMemoryDisk();
  const store = await openOn(disk);
  for (let i = 0; i < count; i++) await store.put("channel", `c${i}`, utf8(`value ${i}`));
  await store.close();
  return disk;
}

Deno.test("what was put is got, listed by kind, replaced and deleted, also after reopening", async () => {
  const disk = createMemoryDisk();
  let store = await openOn(disk);
  await store.put("channel", "a", utf8("1"));
  await store.put("channel", "b", utf8("2"));
  await store.put("identity", "a", new Uint8Array(0));
  await store.put("channel", "b", utf8("3"));
  assertEquals(await store.get("channel", "c"), undefined);
  await store.close();
  store = await openOn(disk);
  assertEquals(await store.get("channel", "a"), utf8("1"));
  assertEquals(await store.get("channel", "b"), utf8("3"));
  assertEquals(await store.get("identity", "a"), new Uint8Array(0));
  assertEquals((await store.list("channel")).map(({ id }) => id).sort(), ["a", "b"]);
  assertEquals(await store.list("other"), []);
  await store.batch([{ type: "delete", kind: "channel", id: "a" }, {
    type: "put",
    kind: "channel",
    id: "d",
    value: utf8("4"),
  }]);
  assertEquals((await store.list("channel")).map(({ id }) => id).sort(), ["b", "d"]);
  assertEquals(await store.verify(), { records: 3, damaged: [] });
  await store.close();
});

Deno.test("a random history of batches ends as a plain map does, through reopenings", async () => {
  const disk = createMemoryDisk();
  const expected = new Map<string, Uint8Array>();
  let store = await openOn(disk);
  for (let round = 0; round < 60; round++) {
    const batches = Array.from(
      { length: 1 + random.below(4) },
      () =>
        Array.from({ length: random.below(6) }, () => {
          const id = `id${random.below(20)}`;
          if (random.chance(0.3)) {
            expected.delete(id);
            return { type: "delete", kind: "k", id } as const;
          }
          const value = random.bytes(random.below(300));
          expected.set(id, value);
          return { type: "put", kind: "k", id, value } as const;
        }),
    );
    await Promise.all(batches.map((batch) => store.batch(batch)));
    if (random.chance(0.2)) {
      await store.close();
      store = await openOn(disk);
    }
    const found = new Map((await store.list("k")).map(({ id, value }) => [id, value]));
    assertEquals(new Map([...found].sort()), new Map([...expected].sort()), `seed ${random.seed}`);
  }
  await store.close();
});

Deno.test("of several changes to one record in a batch the last counts, and only it is written", async () => {
  const disk = createMemoryDisk();
  const store = await openOn(disk);
  const put = (id: string, value: string) =>
    ({ type: "put", kind: "k", id, value: utf8(value) }) as const;
  const remove = (id: string) => ({ type: "delete", kind: "k", id }) as const;
  await store.batch([
    put("a", "1"),
    put("b", "1"),
    put("a", "2"),
    remove("b"),
    remove("c"),
    put("c", "3"),
  ]);
  assertEquals((await store.list("k")).map(({ id }) => id).sort(), ["a", "c"]);
  assertEquals(await store.get("k", "a"), utf8("2"));
  assertEquals(recordsOn(disk).length, 2);
  await store.close();
});

Deno.test("reads during writes answer the old or the new value and never fail", async () => {
  const store = await openOn(createMemoryDisk());
  await store.put("k", "a", utf8("0"));
  const writes = Array.from({ length: 50 }, (_, i) => store.put("k", "a", utf8(String(i + 1))));
  const reads = await Promise.all(Array.from({ length: 50 }, () => store.get("k", "a")));
  for (const read of reads) assert(read !== undefined);
  await Promise.all(writes);
  assertEquals(await store.get("k", "a"), utf8("50"));
  await store.close();
});

Deno.test("nothing of names, ids or values is on disk in the clear", async () => {
  const disk = createMemoryDisk();
  const store = await openOn(disk, { passphrase: "canary-passphrase", cost: cheap });
  await store.put("canary-kind", "canary-id", utf8("canary-value"));
  await store.close();
  const everything = [...disk.blobs.values()].flatMap(({ key, value }) => [key, value]).concat(
    disk.key ?? [],
    disk.witness ?? [],
  );
  for (const bytes of everything) {
    assert(!new TextDecoder("latin1").decode(bytes).includes("canary"));
  }
});

Deno.test("a flipped bit in any byte of a record is refused with its kind, and the rest stays readable", async () => {
  const disk = await diskWith(3);
  const [name, blob] = recordsOn(disk)[1] ??
    ["", { key: new Uint8Array(), value: new Uint8Array() }];
  for (let at = 0; at < blob.value.length; at++) {
    const changed = blob.value.slice();
    changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
    disk.blobs.set(name, { key: blob.key, value: changed });
    const store = await openOn(disk, { damaged: "read" });
    const damaged: StoreFault[] = [];
    const left = await store.list("channel", (error) => damaged.push(error));
    assertEquals([left.length, damaged.length], [2, 1], `byte ${at}`);
    assertEquals([damaged[0]?.code, damaged[0]?.kind], ["store_corrupt", "channel"]);
    await assertFails("store_corrupt", () => store.list("channel"), "channel");
    assertEquals((await store.verify(["channel"])).damaged.map(({ kind }) => kind), ["channel"]);
    await store.close();
  }
});

Deno.test("swapped, copied and cut records are refused, never answered under another name", async () => {
  const disk = await diskWith(2);
  const [[firstName, first], [secondName, second]] = recordsOn(disk) as [
    [string, { key: Uint8Array; value: Uint8Array }],
    [string, { key: Uint8Array; value: Uint8Array }],
  ];
  disk.blobs.set(firstName, { key: first.key, value: second.value });
  disk.blobs.set(secondName, { key: second.key, value: first.value });
  await assertFails("store_corrupt", () => openOn(disk), "head");
  const store = await openOn(disk, { damaged: "read" });
  for (const id of ["c0", "c1"]) {
    await assertFails("store_corrupt", () => store.get("channel", id), "channel");
  }
  await assertFails("store_corrupt", () => store.put("channel", "new", utf8("x")));
  await store.close();
  for (let length = 0; length < first.value.length; length += 7) {
    disk.blobs.set(firstName, { key: first.key, value: first.value.slice(0, length) });
    const cut = await openOn(disk, { damaged: "read" });
    await cut.list("channel", (error) => assertEquals(error.code, "store_corrupt"));
    await cut.close();
  }
});

Deno.test("a record that vanished, or came back in an older version, is noticed when the store is opened", async () => {
  const disk = await diskWith(3);
  const old = new Map(disk.blobs);
  const store = await openOn(disk);
  await store.put("channel", "c1", utf8("newer"));
  await store.close();
  for (const [name, blob] of recordsOn(disk)) {
    const current = new Map(disk.blobs);
    disk.blobs.delete(name);
    await assertFails("store_corrupt", () => openOn(disk), "head");
    if (old.get(name)?.value !== blob.value) disk.blobs.set(name, old.get(name) ?? blob);
    if (old.get(name)?.value.join() !== blob.value.join()) {
      await assertFails("store_corrupt", () => openOn(disk), "head");
    }
    current.forEach((value, key) => disk.blobs.set(key, value));
  }
  await (await openOn(disk)).close();
});

Deno.test("a record that is exchanged for its older version while the store is open is refused", async () => {
  const disk = await diskWith(1);
  const old = recordsOn(disk);
  const store = await openOn(disk);
  await store.put("channel", "c0", utf8("newer"));
  for (const [name, blob] of old) disk.blobs.set(name, blob);
  await assertFails("store_corrupt", () => store.get("channel", "c0"), "channel");
  await store.close();
});

Deno.test("a record under a name that differs in any byte is noticed when the store is opened", async () => {
  const disk = await diskWith(2);
  const [name, blob] = recordsOn(disk)[0] ??
    ["", { key: new Uint8Array(), value: new Uint8Array() }];
  disk.blobs.delete(name);
  for (let at = 1; at < blob.key.length; at++) {
    const key = blob.key.slice();
    key[at] = (key[at] ?? 0) ^ (1 << random.below(8));
    disk.blobs.set("72 changed", { key, value: blob.value });
    await assertFails("store_corrupt", () => openOn(disk), "head");
  }
});

Deno.test("a database older than its witness is refused, can be read, and can be accepted", async () => {
  const disk = await diskWith(3);
  const backup = new Map(disk.blobs);
  const store = await openOn(disk);
  await store.put("channel", "later", utf8("x"));
  await store.close();
  disk.blobs.clear();
  backup.forEach((value, key) => disk.blobs.set(key, value));
  const error = await assertFails("store_corrupt", () => openOn(disk), "head");
  assert(error.message.includes("1 batches before"), error.message);
  const reading = await openOn(disk, { damaged: "read" });
  assertEquals(reading.faults.length, 1);
  assertEquals((await reading.list("channel")).length, 3);
  await reading.close();
  await assertFails("store_corrupt", () => openOn(disk));
  const accepted = await openOn(disk, { damaged: "accept" });
  await accepted.put("channel", "after", utf8("y"));
  await accepted.close();
  const again = await openOn(disk);
  assertEquals([again.faults.length, (await again.list("channel")).length], [0, 4]);
  await again.close();
});

Deno.test("missing head, witness or key file are refused, and nothing is created in their place", async () => {
  for (const part of ["head", "witness", "key"] as const) {
    const disk = await diskWith(2);
    if (part === "head") disk.blobs.delete("68");
    else disk[part] = undefined;
    const before = disk.blobs.size;
    await assertFails("store_corrupt", () => openOn(disk));
    assertEquals([disk.blobs.size, disk.locked], [before, false], part);
  }
});

Deno.test("a flipped bit in head, witness or key file is refused with a typed error", async () => {
  const disk = await diskWith(1);
  const head = disk.blobs.get("68");
  const parts = {
    head: head?.value ?? new Uint8Array(),
    witness: disk.witness ?? new Uint8Array(),
    key: disk.key ?? new Uint8Array(),
  };
  for (const [part, bytes] of Object.entries(parts)) {
    for (let at = 0; at < bytes.length; at++) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
      const copy: MemoryDisk = { ...disk, blobs: new Map(disk.blobs) };
      if (part === "head" && head !== undefined) {
        copy.blobs.set("68", { key: head.key, value: changed });
      } else if (part === "witness") copy.witness = changed;
      else copy.key = changed;
      const error = await assertRejects(() => openOn(copy), StoreFault);
      assertEquals(error.code, "store_corrupt", `${part} byte ${at}`);
    }
  }
});

Deno.test("the key file of another store is refused, and nothing changes", async () => {
  const [mine, other] = [await diskWith(2), await diskWith(2)];
  const before = new Map(mine.blobs);
  const key = mine.key;
  mine.key = other.key;
  await assertFails("passphrase_wrong", () => openOn(mine));
  assertEquals(mine.blobs, before);
  mine.key = key;
  const store = await openOn(mine);
  assertEquals((await store.list("channel")).length, 2);
  await store.close();
});

const cheap = { memoryKiB: 8, iterations: 1, parallelism: 1 };

Deno.test("a passphrase is needed once set, and changes without rewriting a record", async () => {
  const disk = createMemoryDisk();
  let store = await openOn(disk, { passphrase: "first", cost: cheap });
  await store.put("k", "a", utf8("1"));
  await store.close();
  const before = new Map(disk.blobs);
  await assertFails("passphrase_wrong", () => openOn(disk, { passphrase: "second" }));
  await assertFails("passphrase_wrong", () => openOn(disk));
  store = await openOn(disk, { passphrase: "first", cost: cheap });
  await assertFails(
    "passphrase_wrong",
    () => store.changePassphrase({ from: "wrong", to: "second" }),
  );
  await store.changePassphrase({ from: "first", to: "second" });
  await store.close();
  assertEquals(disk.blobs, before);
  await assertFails("passphrase_wrong", () => openOn(disk, { passphrase: "first" }));
  store = await openOn(disk, { passphrase: "second", cost: cheap });
  assertEquals(await store.get("k", "a"), utf8("1"));
  await store.changePassphrase({ from: "second", to: undefined });
  await store.close();
  store = await openOn(disk);
  assertEquals(await store.get("k", "a"), utf8("1"));
  await store.close();
  await assertFails("passphrase_wrong", () => openOn(disk, { passphrase: "second" }));
  assertEquals(disk.blobs, before);
});

Deno.test("after a failed write nothing is acknowledged until the store is opened again", async () => {
  const disk = createMemoryDisk();
  const parts = openMemory(disk, random.bytes);
  let full = false;
  const write: typeof parts.blobs.write = (changes) =>
    full ? Promise.reject(new Error("ENOSPC")) : parts.blobs.write(changes);
  const store = await RecordStore.open({ ...parts, blobs: { ...parts.blobs, write } });
  await store.put("k", "a", utf8("1"));
  full = true;
  await assertFails("store_full", () => store.put("k", "a", utf8("2")));
  full = false;
  await assertFails("store_full", () => store.put("k", "b", utf8("3")));
  await assertFails("store_full", () => store.get("k", "a"));
  await store.close();
  const again = await openOn(disk);
  assertEquals(await again.get("k", "a"), utf8("1"));
  assertEquals(await again.get("k", "b"), undefined);
  await again.close();
});

Deno.test("wrong kinds, ids and sizes, and a closed store, are refused", async () => {
  const store = await openOn(createMemoryDisk());
  for (const kind of ["", "Kind", "a b", "x".repeat(33)]) {
    await assertFails("invalid_request", () => store.put(kind, "a", utf8("")));
    await assertFails("invalid_request", () => store.list(kind));
  }
  for (const id of ["", "x".repeat(513)]) {
    await assertFails("invalid_request", () => store.get("k", id));
  }
  await assertFails(
    "payload_too_large",
    () => store.put("k", "a", new Uint8Array(maxValueBytes + 1)),
  );
  assertEquals(await store.list("k"), []);
  await store.close();
  await store.close();
  await assertFails("transport_error", () => store.get("k", "a"));
  await assertFails("transport_error", () => store.put("k", "a", utf8("")));
});

Deno.test("a second store on the same disk is refused until the first is closed", async () => {
  const disk = createMemoryDisk();
  const store = await openOn(disk);
  await assertFails("store_locked", () => openOn(disk));
  await store.close();
  await (await openOn(disk)).close();
});

Deno.test("clear() deletes a kind and no other, in several writes, also what is damaged, and for good", async () => {
  const disk = await diskWith(2500);
  for (const [, { value }] of recordsOn(disk).slice(0, 2)) {
    value[value.length - 1] = (value.at(-1) ?? 0) ^ 1;
  }
  const store = await openOn(disk);
  await store.put("identity", "a", utf8("1"));
  await assertFails("store_corrupt", () => store.list("channel"), "channel");
  await store.clear("channel");
  assertEquals(recordsOn(disk).length, 1);
  await store.clear("channel");
  await store.close();
  const again = await openOn(disk);
  assertEquals([await again.list("channel"), await again.verify()], [[], {
    records: 1,
    damaged: [],
  }]);
  await again.close();
});

Deno.test("clear() is refused where a write is", async () => {
  const disk = await diskWith(2);
  const [name] = recordsOn(disk)[0] ?? [];
  disk.blobs.delete(name ?? "");
  const damaged = await openOn(disk, { damaged: "read" });
  await assertFails("store_corrupt", () => damaged.clear("channel"));
  await damaged.close();
  const store = await openOn(createMemoryDisk());
  await store.close();
  await assertFails("transport_error", () => store.clear("channel"));
});
