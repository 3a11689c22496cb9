/** A use of the browser's store, for a page: what its test calls is a global. */
import { openBrowserStore, StoreFault } from "../../sdk/platform/browser_store.ts";

const [kind, valueBytes] = ["use", 50_000];

/**
 * Writes so many records, up to the first refusal. Returns, in JSON, how many were there, how many
 * came, and why no more.
 */
async function useBrowserStore(count: number): Promise<string> {
  let [found, acknowledged] = [0, 0];
  try {
    const store = await openBrowserStore("full");
    try {
      found = (await store.list(kind)).length;
      for (; acknowledged < count; acknowledged++) {
        await store.put(
          kind,
          String(found + acknowledged),
          crypto.getRandomValues(new Uint8Array(valueBytes)),
        );
      }
    } finally {
      await store.close();
    }
    return JSON.stringify({ found, acknowledged });
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error;
    return JSON.stringify({ found, acknowledged, code: error.code, text: error.message });
  }
}

Object.assign(globalThis, { useBrowserStore });
