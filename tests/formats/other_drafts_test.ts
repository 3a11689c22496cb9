/**
 * Data that checkouts before 0.1.0 have written is refused with one sentence, and stays as it is
 * byte for byte.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { StaticClient, StaticError, verifyAgentStore } from "../../sdk/mod.ts";
import { EngineError, openSqliteEngine } from "../../relay/engine/mod.ts";
import { openDirectoryStore } from "../../sdk/platform/directory_store.ts";

const sentence = "it was made by a checkout before 0.1.0; this version cannot open it";

async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-drafts-" });
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Every file under a folder, by path. */
async function filesOf(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) {
      for (const [file, content] of await filesOf(path)) files.set(file, content);
    } else files.set(path, (await Deno.readFile(path)).toHex());
  }
  return files;
}

async function isRefused(folder: string, open: () => Promise<unknown>): Promise<Error> {
  const before = await filesOf(folder);
  const error = await assertRejects(open, Error, sentence);
  assertEquals(await filesOf(folder), before, "what was refused has changed");
  return error;
}

Deno.test("a relay's file of format 1 or 12 from before is refused, and not changed", () =>
  inFolder(async (folder) => {
    const path = `${folder}/relay.sqlite`;
    for (const format of [1, 12]) {
      const sqlite = new DatabaseSync(path);
      sqlite.exec(
        `PRAGMA application_id = 0x53745265; PRAGMA user_version = ${format}; PRAGMA journal_mode = WAL`,
      );
      sqlite.exec(
        "CREATE TABLE IF NOT EXISTS channel (number INTEGER PRIMARY KEY, id TEXT NOT NULL)",
      );
      sqlite.close();
      const error = await isRefused(folder, () => openSqliteEngine({ path }));
      assertEquals(error instanceof EngineError && error.code, "unsupported_version");
    }
  }));

Deno.test("an agent's directory from before is refused to every way of opening it, and not changed", () =>
  inFolder(async (folder) => {
    const dataDir = `${folder}/alice`;
    const store = await openDirectoryStore(dataDir);
    await store.put("channels", "a", Uint8Array.of(1));
    await store.close();
    const key = await Deno.readFile(`${dataDir}/key`);
    key[3] = "Y".charCodeAt(0);
    key.set(sha256(key.subarray(0, -8)).subarray(0, 8), key.length - 8);
    await Deno.writeFile(`${dataDir}/key`, key);
    const options = { identity: "alice", dataDir, endpoint: "quic://localhost:1", token: "none" };
    for (
      const open of [
        () => openDirectoryStore(dataDir),
        () => openDirectoryStore(dataDir, { passphrase: "any", repair: true, damaged: "accept" }),
        () => verifyAgentStore({ dataDir }),
        () => StaticClient.connect(options),
      ]
    ) {
      const error = await isRefused(folder, open);
      assertEquals("code" in error && error.code, "unsupported_version");
      if (error instanceof StaticError) assertEquals(error.retryable, false);
    }
  }));
