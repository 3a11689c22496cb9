/**
 * A process that dies by kill -9 at one moment of a period's end, while batches are under way or
 * while it opens. Arguments: folder, number of the first batch, moment, which end. Prints the
 * number of each acknowledged batch. Runs in Deno and, as a bundle, in Node.
 */
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import process from "node:process";
import { openDirectoryStore } from "../../sdk/platform/directory_store.ts";
import {
  batchesBefore,
  type Moment,
  numbered,
  recordOf,
  secretKind,
  type WhichEnd,
} from "./period_moments.ts";

const [folder = "", first = "0", at = "", end = ""] = process.argv.slice(2);
const [moment, which] = [at as Moment, end as WhichEnd]; // cast: the test gives one of them
let endPeriod: () => void = () => {};
let isEnding = which === "of opening";

function isNow(here: Moment): boolean {
  return isEnding && moment === here;
}

function die(): Promise<never> {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => {});
}

const store = await openDirectoryStore(folder, {}, (parts) => {
  const { blobs, periods } = parts;
  if (periods === undefined) throw new Error("This store forgets nothing");
  return {
    ...parts,
    blobs: {
      ...blobs,
      write: async (changes) => {
        const isList = changes.some(({ key }) => key[0] === "k".charCodeAt(0));
        if (isList && isNow("before the list")) await die();
        await blobs.write(changes);
        if (isList && isNow("behind the list")) await die();
      },
    },
    periods: {
      ...periods,
      after: (_ms, run) => {
        endPeriod = run;
        return () => {};
      },
      overwrite: async (place, bytes) => {
        const secret = bytes.some((byte) => byte !== 0) ? "new" : "old";
        if (isNow(`in the middle of the ${secret} secret`)) {
          const file = openSync(`${folder}/period`, "r+");
          writeSync(file, bytes, 0, 40, place * bytes.length);
          fsyncSync(file);
          closeSync(file);
          await die();
        }
        await periods.overwrite(place, bytes);
        if (isNow(`behind the ${secret} secret`)) await die();
      },
    },
  };
});
await store.put(secretKind, "rests", numbered(Number(first)));
async function write(number: number): Promise<void> {
  await store.put(secretKind, recordOf(number), numbered(number));
  process.stdout.write(`${number}\n`);
}
let number = Number(first);
for (; number < Number(first) + batchesBefore; number++) await write(number);
isEnding = true;
endPeriod();
for (;; number += 2) await Promise.all([write(number), write(number + 1)]);
