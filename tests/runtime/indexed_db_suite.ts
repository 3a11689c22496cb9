/** Faults that only a browser's store can have. */
import { failsWith, type RuntimeTest } from "../support/runtime/suite.ts";
import type { OpenStore } from "./store_suite.ts";

/** The part of IndexedDB that is used: Deno's type library has none of it. */
interface BrowserGlobals {
  readonly indexedDB: {
    open(name: string, version: number): {
      readonly result: { close(): void };
      onsuccess: (() => void) | null;
      onerror: (() => void) | null;
    };
  };
}

export function createIndexedDbTests(open: OpenStore): readonly RuntimeTest[] {
  return [{
    name: "a database with the tables of a newer library is refused as such",
    run: async () => {
      const { indexedDB } = globalThis as unknown as BrowserGlobals; // cast: as described above
      await new Promise<void>((resolve, reject) => {
        const request = indexedDB.open("static-newer", 2);
        request.onerror = () => reject(new Error("cannot make the database"));
        request.onsuccess = () => {
          request.result.close();
          resolve();
        };
      });
      await failsWith("unsupported_version", () => open("newer"));
    },
  }];
}
