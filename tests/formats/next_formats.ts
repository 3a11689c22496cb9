/**
 * A change of each format, made for the test: what the next version of the program could bring.
 * Both count how often they ran.
 */
import { DatabaseSync } from "node:sqlite";
import { type CborValue, decodeCbor, encodeCbor } from "../../proto/mod.ts";
import { openDirectoryStore } from "../../sdk/platform/directory_store.ts";
import { storeMigrations } from "../../sdk/testing/agents.ts";
import type { MoreFormats } from "./written_data.ts";

/** `now` is called in the middle of each change. */
export function nextFormats(now: () => void | Promise<void> = () => {}): MoreFormats {
  return {
    relay: [{
      name: "channels have notes",
      change: (sqlite) => {
        sqlite.exec(
          "ALTER TABLE channel ADD COLUMN note TEXT; CREATE TABLE applied (times INTEGER)",
        );
        sqlite.exec("INSERT INTO applied VALUES (1)");
        for (const { number, name } of sqlite.prepare("SELECT number, name FROM channel").all()) {
          sqlite.prepare("UPDATE channel SET note = ? WHERE number = ?").run(
            `note of ${name}`,
            Number(number),
          );
        }
        void now();
        sqlite.exec("UPDATE entry SET time_ms = time_ms + 1");
      },
    }],
    store: [{
      name: "channels have notes",
      values: { channels: withNote },
      changes: async (before) => {
        const times = Number(new TextDecoder().decode(await before.get("applied", "times")));
        await now();
        return [{
          type: "put",
          kind: "applied",
          id: "times",
          value: new TextEncoder().encode(String(times + 1)),
        }];
      },
    }],
  };
}

function withNote(value: Uint8Array): Uint8Array {
  const fields = decodeCbor(value);
  // cast: a record of kind "channels" is a list
  return encodeCbor([...fields as CborValue[], "note"]);
}

/**
 * How often the change took effect in a relay's file, which nobody has open, and the file's format.
 */
export function relayApplied(folder: string): { format: number; times: number } {
  const sqlite = new DatabaseSync(`${folder}/relay.sqlite`);
  try {
    const known =
      sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'applied'").get() !== undefined;
    const times = known ? sqlite.prepare("SELECT count(*) AS times FROM applied").get()?.times : 0;
    return {
      format: Number(sqlite.prepare("PRAGMA user_version").get()?.user_version),
      times: Number(times),
    };
  } finally {
    sqlite.close();
  }
}

/**
 * Opens an agent's directory as a program with these formats does; returns how often the change
 * took effect.
 */
export async function storeApplied(
  directory: string,
  { store: more }: Pick<MoreFormats, "store">,
): Promise<number> {
  const store = await openDirectoryStore(directory, { migrations: [...storeMigrations, ...more] });
  try {
    return Number(new TextDecoder().decode(await store.get("applied", "times")));
  } finally {
    await store.close();
  }
}
