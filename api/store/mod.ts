/** The domain's store over SQL: one object from its parts, on a migrated database. */
import type { Store } from "../domain/store.ts";
import { StartFailed } from "../../server/mod.ts";
import { createAccountLifeStore } from "./account_lifecycle.ts";
import { createAccountStore } from "./accounts.ts";
import { createAdminStore } from "./admin.ts";
import { createAuditStore } from "./audit.ts";
import { createBadgeStore } from "./badges.ts";
import {
  assertTls,
  connectDatabase,
  type DatabaseAddress,
  type PostgresDatabase,
  type PostgresPoolOptions,
} from "./database.ts";
import { openEmbedded } from "./embedded.ts";
import { createExpiryStore } from "./expiry.ts";
import { createKeyStore } from "./keys.ts";
import { createMailStore } from "./mail.ts";
import { migrate, readMigrations } from "./migrate.ts";
import { createRateStore } from "./rates.ts";
import { createSessionStore } from "./sessions.ts";
import { createUsageStore } from "./usage.ts";

export type { DatabaseAddress, PostgresPoolOptions, TlsMode } from "./database.ts";

export interface OpenStore {
  readonly store: Store;
  /** Names of the migrations that this start applied. */
  readonly applied: readonly string[];
  /** Resolves when the database cannot come back in this process. */
  readonly failed: Promise<Error>;
  close(): Promise<void>;
}

export async function openStore(
  address: DatabaseAddress,
  options: PostgresPoolOptions,
): Promise<OpenStore> {
  const database = connectDatabase(address, options);
  try {
    await assertTls(database, address);
    const applied = await migrate(database, await readMigrations());
    // limit: none, because a server is connected to again, however often it goes.
    const failed = new Promise<never>(() => {});
    return { store: createStore(database), applied, failed, close: database.close };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The embedded database of a data directory, opened and closed with its store. */
export async function openEmbeddedStore(dataDir: string, deadlineMs: number): Promise<OpenStore> {
  const embedded = await openEmbedded(dataDir);
  if (embedded === undefined) {
    throw new StartFailed(
      `Cannot open the embedded database: another process has ${dataDir} open. Stop it, or set DATABASE_URL`,
    );
  }
  try {
    const open = await openStore(embedded.address, { maxConnections: 1, deadlineMs });
    return {
      ...open,
      failed: embedded.failed,
      close: async () => {
        await open.close();
        await embedded.close();
      },
    };
  } catch (error) {
    await embedded.close();
    throw error;
  }
}

function createStore(database: PostgresDatabase): Store {
  const { sql, run } = database;
  return {
    ...createAccountStore(database),
    ...createAccountLifeStore(database),
    ...createRateStore(database),
    ...createSessionStore(database),
    ...createMailStore(database),
    ...createExpiryStore(database),
    ...createAdminStore(database),
    ...createAuditStore(database),
    ...createKeyStore(database),
    ...createBadgeStore(database),
    ...createUsageStore(database),
    ping: async () => {
      await run(sql`SELECT 1`);
    },
  };
}
