import { assert, assertEquals, assertGreater } from "@std/assert";
import { ClassicLevel } from "classic-level";
import { createRandom, type Random, seedFromEnvironment } from "../../tests/support/mod.ts";
import { findDamagedTables, isSafeTable, setAside } from "./leveldb_tables.ts";

const random: Random = createRandom(seedFromEnvironment());

/** A database with tables of many blocks. */
async function withTables(act: (folder: string, tables: string[]) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-tables-" });
  try {
    // What lies in the log when a database is opened goes to a table.
    for (let opening = 0; opening < 2; opening++) {
      const level = new ClassicLevel(folder, { compression: false });
      for (let i = 0; i < 300; i++) await level.put(`name ${random.below(300)}`, "x".repeat(random.below(200)));
      await level.close();
    }
    const names = Array.from(Deno.readDirSync(folder), ({ name }) => name).filter((name) => name.endsWith(".ldb"));
    assertGreater(names.length, 0);
    await act(folder, names);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("tables that LevelDB wrote are safe", async () => {
  await withTables(async (folder) => assertEquals(await findDamagedTables(folder), []));
});

Deno.test("a table cut off anywhere is damaged, and can be set aside", async () => {
  await withTables(async (folder, [name = ""]) => {
    const table = await Deno.readFile(`${folder}/${name}`);
    for (let i = 0; i < 200; i++) {
      assert(!isSafeTable(table.slice(0, random.below(table.length))), `seed ${random.seed}`);
    }
    await Deno.writeFile(`${folder}/${name}`, table.slice(1));
    assertEquals(await findDamagedTables(folder), [name]);
    await setAside(folder, [name]);
    assertEquals(await findDamagedTables(folder), []);
    assertEquals(await Deno.readFile(`${folder}/${name}.damaged`), table.slice(1));
  });
});

Deno.test("damage to a value is left to the store, damage to the footer or the order of keys is not", async () => {
  await withTables(async (folder, [name = ""]) => {
    const table = await Deno.readFile(`${folder}/${name}`);
    const flip = (at: number): Uint8Array => {
      const changed = table.slice();
      changed[at] = (changed[at] ?? 0) ^ 0x80;
      return changed;
    };
    const text = new TextDecoder("latin1").decode(table);
    assert(isSafeTable(flip(text.indexOf("xxxxxxxx") + 4)));
    assert(!isSafeTable(flip(table.length - 1)));
    // The first block of a table this small is followed by its restart points: 0, then others.
    const restarts = text.indexOf("\0\0\0\0", text.lastIndexOf("xxxx", table.length / 2));
    assert(!isSafeTable(flip(restarts)));
    assert(!isSafeTable(flip(text.indexOf("name 1"))));
  });
});

Deno.test("isSafeTable() answers for any bytes", () => {
  for (let i = 0; i < 500; i++) {
    const bytes = random.bytes(random.below(300));
    bytes.set([0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb].slice(0, bytes.length), Math.max(0, bytes.length - 8));
    isSafeTable(bytes);
  }
});
