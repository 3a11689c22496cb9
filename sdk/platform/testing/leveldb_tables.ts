import { assert, assertEquals, assertGreater } from "@std/assert";
import { ClassicLevel } from "classic-level";
import { createRandom, type Random, seedFromEnvironment } from "../../../tests/support/mod.ts";
import { findDamagedTables, isSafeTable, setAside } from "../leveldb_tables.ts";

const random: Random = createRandom(seedFromEnvironment());

/** A database with tables of many blocks. */
async function withTables(act: (folder: string, tables: string[]) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-tables-" });
  try {
    // Records in the log go to a table when a database is opened.
    for (let opening = 0; opening < 2; opening++) {
      const level = new ClassicLevel(folder, { compression: false });
      for (let i = 0; i < 300; i++) {
        await level.put(`name ${random.below(300)}`, "x".repeat(random.below(200)));
      }
      await level.close();
    }
    const names = Array.from(Deno.readDirSync(folder), ({ name }) => name).filter((name) =>
      name.endsWith(".ldb")
    );
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

/** Reads numbers of seven bits a byte. */
function* varints(bytes: Uint8Array, from: number): Generator<number, never> {
  for (let at = from;;) {
    let [value, shift] = [0, 0];
    for (;; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    yield value;
  }
}

/** The size of the first data block, from the first entry of the index, from the footer. */
function firstBlockSize(table: Uint8Array): number {
  const [, , indexAt = 0] = take(varints(table, table.length - 48), 3);
  const [shared = 0, rest = 0] = take(varints(table, indexAt), 3);
  assertEquals(shared, 0);
  const lengthsBytes = 3; // all below 128
  const [offset, size = 0] = take(varints(table, indexAt + lengthsBytes + rest), 2);
  assertEquals(offset, 0);
  return size;
}

function take(numbers: Generator<number, never>, count: number): number[] {
  return Array.from({ length: count }, () => numbers.next().value);
}

Deno.test("damage to a value is left to the store; to footer, keys or restart points it is not", async () => {
  await withTables(async (folder, [name = ""]) => {
    const table = await Deno.readFile(`${folder}/${name}`);
    const flip = (at: number): Uint8Array => {
      const changed = table.slice();
      changed[at] = (changed[at] ?? 0) ^ 0x80;
      return changed;
    };
    const text = new TextDecoder("latin1").decode(table);
    assert(isSafeTable(flip(text.indexOf("xxxxxxxx") + 4)), "a value");
    assert(!isSafeTable(flip(table.length - 1)), "the footer");
    assert(!isSafeTable(flip(text.indexOf("name "))), "a key, now behind its successors");
    const end = firstBlockSize(table);
    for (let at = end - 8; at < end; at++) {
      assert(!isSafeTable(flip(at)), "the last restart point, or their number");
    }
  });
});

Deno.test("isSafeTable() answers for any bytes", () => {
  for (let i = 0; i < 500; i++) {
    const bytes = random.bytes(random.below(300));
    bytes.set(
      [0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb].slice(0, bytes.length),
      Math.max(0, bytes.length - 8),
    );
    isSafeTable(bytes);
  }
});
