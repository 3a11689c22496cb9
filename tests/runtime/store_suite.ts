/**
 * The encrypted store on the runtime's own disk: Deno and Node in a directory, a browser in
 * IndexedDB.
 */
import type { RecordStore, StoreOptions, StoreReader } from "../../sdk/platform/directory_store.ts";
import { createRandom } from "../support/random.ts";
import { check, Digest, failsWith, type RuntimeTest, sameBytes } from "../support/runtime/suite.ts";

/** Opens the store of this name in a place that is empty when the suite starts. */
export type OpenStore = (name: string, options?: StoreOptions) => Promise<RecordStore>;

const cheap = { memoryKiB: 8, iterations: 1, parallelism: 1 };
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

export function createTests(open: OpenStore): readonly RuntimeTest[] {
  return [
    {
      name: "a history of batches is there after reopening, the same in every runtime",
      run: async () => {
        const random = createRandom(7);
        const expected = new Map<string, Uint8Array>();
        for (let opening = 0; opening < 3; opening++) {
          const store = await open("history");
          for (let batch = 0; batch < 20; batch++) {
            const changes = Array.from({ length: 5 }, () => {
              const [id, value] = [`id ${random.below(30)}`, random.bytes(random.below(5000))];
              expected.set(id, value);
              return { type: "put", kind: "channel", id, value } as const;
            });
            await store.batch(changes);
          }
          await store.close();
        }
        const store = await open("history");
        const records = (await store.list("channel")).sort((a, b) => a.id < b.id ? -1 : 1);
        check(
          records.length === expected.size,
          `${records.length} records, expected ${expected.size}`,
        );
        const digest = new Digest();
        for (const { id, value } of records) {
          sameBytes(value, expected.get(id) ?? text(""), id);
          digest.add(text(id));
          digest.add(value);
        }
        check((await store.verify(["channel"])).damaged.length === 0, "verify found damage");
        await store.close();
        return digest.toString();
      },
    },
    {
      name: "a second opener is refused until the first has closed",
      run: async () => {
        const store = await open("locked");
        await failsWith("store_locked", () => open("locked"));
        await store.put("k", "a", text("1"));
        await store.close();
        const again = await open("locked");
        sameBytes(await again.get("k", "a"), text("1"), "record");
        await again.close();
      },
    },
    {
      name: "a passphrase opens the store, a wrong one does not, and it can be changed",
      run: async () => {
        const store = await open("passphrase", { passphrase: "first", cost: cheap });
        await store.put("k", "a", text("1"));
        await store.changePassphrase({ from: "first", to: "second" });
        await store.close();
        await failsWith("passphrase_wrong", () => open("passphrase", { passphrase: "first" }));
        await failsWith("passphrase_wrong", () => open("passphrase"));
        const again = await open("passphrase", { passphrase: "second" });
        sameBytes(await again.get("k", "a"), text("1"), "record");
        await again.close();
      },
    },
    {
      name:
        "a store of an older format is brought to the newest, once, and then refused to an older library",
      run: async () => {
        const store = await open("formats");
        await store.batch([
          { type: "put", kind: "k", id: "a", value: text("1") },
          { type: "put", kind: "k", id: "b", value: text("1") },
        ]);
        await store.close();
        let runs = 0;
        const migrations = [{
          name: "b goes, values are longer",
          values: { k: (value: Uint8Array) => Uint8Array.of(...value, 0) },
          changes: async (before: StoreReader) => {
            runs++;
            check((await before.list("k")).length === 2, "the store before has two records");
            return [{ type: "delete", kind: "k", id: "b" } as const];
          },
        }];
        for (let opening = 0; opening < 2; opening++) {
          const newer = await open("formats", { migrations });
          check((await newer.list("k")).length === 1, "one record is left");
          sameBytes(
            await newer.get("k", "a"),
            Uint8Array.of(...text("1"), 0),
            "the upgraded value",
          );
          await newer.close();
        }
        check(runs === 1, `the migration ran ${runs} times`);
        await failsWith("unsupported_version", () => open("formats"));
      },
    },
    {
      name: "parallel batches are all there",
      run: async () => {
        const store = await open("parallel");
        await Promise.all(
          Array.from({ length: 50 }, (_, i) => store.put("k", `id ${i}`, text(String(i)))),
        );
        check((await store.list("k")).length === 50, "a batch is missing");
        await store.close();
      },
    },
  ];
}
