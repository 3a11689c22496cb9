/** Administration from the command line, beside a running API or without one. */
import type { Config } from "../config.ts";
import { keyRingPath, openKeyRings, rotateKeyRingFile } from "../key_ring_file.ts";
import { tokenUse } from "../domain/key_ring.ts";
import type { Store } from "../domain/store.ts";
import { embeddedAddress, openEmbedded } from "../store/embedded.ts";
import { openStore } from "../store/mod.ts";
import { runCommand } from "./commands.ts";

export async function runAdmin(
  args: readonly string[],
  config: Config,
  nowMs: () => number = Date.now,
): Promise<string> {
  const rotate = (): Promise<string> => rotateJwtKey(config, nowMs());
  // Needs no database, and works where that is away.
  if (args.length === 1 && args[0] === "rotate-jwt-key") return await rotate();
  const act = { atMs: nowMs(), actor: "admin:cli" };
  return await withStore(config, (store) => runCommand(args, { store, act, rotateJwtKey: rotate }));
}

export async function rotateJwtKey(config: Config, nowMs: number): Promise<string> {
  if (config.jwtKeys !== undefined && "json" in config.jwtKeys) {
    throw new Error(
      "Cannot rotate: STATIC_JWT_KEYS holds the keys themselves. Put them into a file and name that file instead",
    );
  }
  // Makes the first key if there is none yet.
  await openKeyRings(config.jwtKeys, config.dataDir);
  const { kid } = await rotateKeyRingFile(
    config.jwtKeys?.file ?? keyRingPath(config.dataDir),
    { use: tokenUse, nowMs },
  );
  return `Key ${kid} is published now, signs in ${
    tokenUse.leadSeconds / 60
  } minutes, and its predecessor is retired ` +
    `${tokenUse.lifetimeSeconds / 60} minutes after that. Running processes notice by themselves.`;
}

/** An embedded database that a running API has open is reached through that API's socket. */
async function withStore(config: Config, work: (store: Store) => Promise<string>): Promise<string> {
  const embedded = config.database === undefined ? await openEmbedded(config.dataDir) : undefined;
  const address = config.database ?? embeddedAddress(config.dataDir);
  try {
    const { store, close } = await openStore(address, { maxConnections: 1, deadlineMs: 5000 });
    try {
      return await work(store);
    } finally {
      await close();
    }
  } finally {
    await embedded?.close();
  }
}
