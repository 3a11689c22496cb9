/** What an administrator can change. Each command answers one sentence that says what happens now. */
import type { Config } from "../config.ts";
import { keyRingPath, openKeyRing, rotateKeyRingFile } from "../key_ring_file.ts";
import { emailKeyOf } from "../domain/accounts.ts";
import { publishLeadSeconds, tokenLifetimeSeconds } from "../domain/key_ring.ts";
import type { Store } from "../domain/deps.ts";
import { embeddedAddress, openEmbedded } from "../store/embedded.ts";
import { openStore } from "../store/mod.ts";

const usage = `Usage:
  deno task admin set-plan <email> <plan>
  deno task admin set-limit <plan> <messages per month | unlimited>
  deno task admin rotate-jwt-key`;

export async function runAdmin(
  args: readonly string[],
  config: Config,
  nowMs: () => number = Date.now,
): Promise<string> {
  const [command, ...rest] = args;
  const [first = "", second = ""] = rest;
  if (command === "set-plan" && rest.length === 2) {
    return await withStore(config, (store) => setPlan(store, first, second));
  }
  if (command === "set-limit" && rest.length === 2) {
    return await withStore(config, (store) => setLimit(store, first, second));
  }
  if (command === "rotate-jwt-key" && rest.length === 0) return await rotateJwtKey(config, nowMs());
  throw new Error(usage);
}

async function setPlan(store: Store, email: string, plan: string): Promise<string> {
  switch (await store.setPlan(emailKeyOf(email), plan)) {
    case "set":
      return `${email} is now on plan ${plan}. Tokens issued from now on carry it.`;
    case "unknown_plan":
      throw new Error(`Cannot set the plan: there is no plan ${plan}. Plans are free, dev, team and enterprise`);
    case "unknown_account":
      throw new Error(`Cannot set the plan: ${email} has no account`);
  }
}

async function setLimit(store: Store, plan: string, text: string): Promise<string> {
  if (text !== "unlimited" && !/^\d{1,12}$/.test(text)) {
    throw new Error(`Cannot set the limit: ${text} is neither a number of messages nor "unlimited"`);
  }
  if (await store.setPlanLimit(plan, text === "unlimited" ? null : Number(text)) === "unknown_plan") {
    throw new Error(`Cannot set the limit: there is no plan ${plan}`);
  }
  return `Plan ${plan} now has ${text} messages a month. Leases already granted stay as they are.`;
}

async function rotateJwtKey(config: Config, nowMs: number): Promise<string> {
  if (config.jwtKeys !== undefined && "json" in config.jwtKeys) {
    throw new Error(
      "Cannot rotate: STATIC_JWT_KEYS holds the keys themselves. Put them into a file and name that file instead",
    );
  }
  // Makes the first key if there is none yet.
  await openKeyRing(config.jwtKeys, config.dataDir);
  const { kid } = await rotateKeyRingFile(config.jwtKeys?.file ?? keyRingPath(config.dataDir), nowMs);
  return `Key ${kid} is published now, signs in ${publishLeadSeconds / 60} minutes, and its predecessor is retired ` +
    `${tokenLifetimeSeconds / 60} minutes after that. Running processes notice by themselves.`;
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
