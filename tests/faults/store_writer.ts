/**
 * A process that writes batches to a store until it is killed. Every batch sets the same five
 * records to its own number; a line with the number is printed once the batch is acknowledged.
 * Three batches are under way at any time; after some the store is closed and opened again, so that
 * a kill may hit that too.
 */
import { openDirectoryStore, type RecordStore } from "../../sdk/platform/directory_store.ts";
import { batchRecords, encodeBatch } from "./store_batches.ts";

const [folder = "", start = "0"] = Deno.args;
const line = new TextEncoder();
const batchesPerOpening = 12;
let next = Number(start);

async function writeBefore(end: number, store: RecordStore): Promise<void> {
  while (next < end) {
    const number = next++;
    const value = encodeBatch(number);
    await store.batch(batchRecords.map((id) => ({ type: "put", kind: "batch", id, value })));
    Deno.stdout.writeSync(line.encode(`${number}\n`));
  }
}

for (let opening = 0;; opening++) {
  const store = await openDirectoryStore(folder);
  if (opening === 0) Deno.stdout.writeSync(line.encode("ready\n"));
  const end = next + batchesPerOpening;
  await Promise.all([writeBefore(end, store), writeBefore(end, store), writeBefore(end, store)]);
  await store.close();
}
