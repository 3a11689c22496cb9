/** Administration from the command line, beside a running API or without one. */
import type { Config } from "../config.ts";
import { keyRingPath, openKeyRings, rotateKeyRingFile } from "../key_ring_file.ts";
import { createSign } from "../cryptography.ts";
import { endorse } from "../domain/badges.ts";
import { badgeUse, tokenUse } from "../domain/key_ring.ts";
import type { Store } from "../domain/store.ts";
import { embeddedAddress, openEmbedded } from "../store/embedded.ts";
import { openStore } from "../store/mod.ts";
import { tellTime } from "../../server/limits/mod.ts";
import { type AdminDeps, isRotation, runCommand } from "./commands.ts";

export async function runAdmin(
  args: readonly string[],
  config: Config,
  nowMs: () => number = Date.now,
): Promise<string> {
  const rotate = createRotation(config, nowMs);
  // Needs no database, and works where that is away.
  const [command = ""] = args;
  if (args.length === 1 && isRotation(command)) return await rotate(command);
  const act = { atMs: nowMs(), actor: "admin:cli" };
  return await withStore(config, (store) => runCommand(args, { store, act, rotate }));
}

/** Adds a key to the ring that the command names. */
export function createRotation(config: Config, nowMs: () => number): AdminDeps["rotate"] {
  return async (command) => {
    const { jwtKeys, dataDir, badgeDomain: domain } = config;
    if (jwtKeys !== undefined && "json" in jwtKeys) {
      throw new Error(
        "Cannot rotate: STATIC_JWT_KEYS holds the keys themselves. Put them into a file and name that file instead",
      );
    }
    const use = command === "rotate-jwt-key" ? tokenUse : badgeUse;
    if (use === badgeUse && domain === undefined) {
      throw new Error(
        "Cannot rotate: the new key is endorsed under this API's name. Set STATIC_API_URL",
      );
    }
    // Makes the first keys if there are none yet.
    await openKeyRings(jwtKeys, dataDir);
    const { kid, sign_from: signFrom } = await rotateKeyRingFile(
      jwtKeys?.file ?? keyRingPath(dataDir),
      {
        use,
        nowMs: nowMs(),
        ...(use === badgeUse && domain !== undefined && {
          endorse: (by, successor) => endorse(createSign, { domain, by, successor }),
        }),
      },
    );
    if (signFrom === undefined) {
      return `Key ${kid} is the first for badges, and signs now. Running processes notice by themselves.`;
    }
    return `Key ${kid} is published now, signs in ${
      tellTime(1_000 * use.leadSeconds)
    }, and its predecessor is retired ` +
      `${
        tellTime(1_000 * use.lifetimeSeconds)
      } after that. Running processes notice by themselves.`;
  };
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
