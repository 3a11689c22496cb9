/**
 * A process that writes batches to a store until it is killed. Every batch sets the same five records to its own number; a
 * line with the number is printed once the batch is acknowledged. Three batches are under way at any time.
 */
import { openDirectoryStore } from "../../sdk/platform/directory_store.ts";
import { batchRecords, encodeBatch } from "./store_batches.ts";

const [folder = "", start = "0"] = Deno.args;
const store = await openDirectoryStore(folder);
const line = new TextEncoder();
let next = Number(start);

async function writeForever(): Promise<void> {
  for (;;) {
    const number = next++;
    const value = encodeBatch(number);
    await store.batch(batchRecords.map((id) => ({ type: "put", kind: "batch", id, value })));
    Deno.stdout.writeSync(line.encode(`${number}\n`));
  }
}

Deno.stdout.writeSync(line.encode("ready\n"));
await Promise.all([writeForever(), writeForever(), writeForever()]);
