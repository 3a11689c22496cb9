/**
 * A use of the store from opening to closing, and what it came to. For every runtime with files:
 * Node runs it as a bundle.
 */
import process from "node:process";
import { openDirectoryStore, StoreFault } from "../../sdk/platform/directory_store.ts";

export interface StoreUse {
  /** The step that was refused first, with the error's code and text; undefined when none was. */
  readonly refused?: { readonly step: string; readonly code: string; readonly text: string };
  /** Records that were acknowledged now, by number. */
  readonly acknowledged: readonly number[];
  /** Records that were there before. */
  readonly found: readonly number[];
}

const kind = "use";

/** Writes records of these numbers, each with its number as content. */
export async function useStore(
  folder: string,
  numbers: readonly number[],
  valueBytes: number,
): Promise<StoreUse> {
  const [acknowledged, found]: [number[], number[]] = [[], []];
  let step = "open";
  try {
    const store = await openDirectoryStore(folder);
    try {
      step = "read";
      for (const { id, value } of await store.list(kind)) {
        if (value[0] === Number(id) % 256) found.push(Number(id));
      }
      step = "write";
      for (const number of numbers) {
        await store.put(kind, String(number), new Uint8Array(valueBytes).fill(number));
        acknowledged.push(number);
      }
    } finally {
      await store.close();
    }
    return { acknowledged, found };
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error;
    return { refused: { step, code: error.code, text: error.message }, acknowledged, found };
  }
}

/** As a program: folder, first number, how many, bytes of each. */
export async function main(): Promise<void> {
  const [folder = "", ...figures] = process.argv.slice(2);
  const [first = 0, count = 0, valueBytes = 0] = figures.map(Number);
  const numbers = Array.from({ length: count }, (_, i) => first + i);
  process.stdout.write(JSON.stringify(await useStore(folder, numbers, valueBytes)));
}
