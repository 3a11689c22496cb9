/**
 * Applies `migrations/*.sql` at start: in order, each once, all in one transaction under an
 * advisory lock, so that any number of processes may start together. Forward only: a file that was
 * applied may never change afterwards, and a database that has had more of them than this program
 * knows is refused. So is one of another draft (`proto/base/draft.ts`).
 */
import { drafts, otherDraftText } from "../../proto/mod.ts";
import { StartFailed } from "../../server/mod.ts";
import type { PostgresDatabase } from "./database.ts";

export interface SqlMigration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
}

const folder = new URL("../../migrations/", import.meta.url);
const fileName = /^(\d{4})_([a-z0-9_]+)\.sql$/;
/** Any constant of ours; the lock's key space belongs to the database. */
const lockKey = 0x57a71c;
/** Checkouts without drafts wrote `schema_migrations`. */
const table = `static_migrations_draft_${drafts.database}`;
const anyTable = "^(schema_migrations|static_migrations_draft_[0-9]+)$";

export async function readMigrations(): Promise<readonly SqlMigration[]> {
  const migrations: SqlMigration[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    const match = fileName.exec(name);
    if (match === null) continue;
    migrations.push({
      version: Number(match[1]),
      name,
      text: await Deno.readTextFile(new URL(name, folder)),
    });
  }
  return migrations.sort((a, b) => a.version - b.version);
}

/**
 * Returns the names of what was applied now. Throws `StartFailed` for a database of a newer API, or
 * of another draft.
 */
export async function migrate(
  { sql }: PostgresDatabase,
  migrations: readonly SqlMigration[],
): Promise<readonly string[]> {
  return await sql.begin(async (sql) => {
    await sql`SET LOCAL statement_timeout = 0`;
    await sql`SELECT pg_advisory_xact_lock(${lockKey})`;
    checkDraft(
      await sql<{ name: string }[]>`
        SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() AND tablename ~ ${anyTable}`,
    );
    await sql`
      CREATE TABLE IF NOT EXISTS ${sql(table)} (
        version int PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`;
    const rows = await sql<{ version: number; name: string; sha256: string }[]>`
      SELECT version, name, sha256 FROM ${sql(table)} ORDER BY version`;
    checkKnown(rows, migrations);
    const applied = new Map(rows.map(({ version, sha256 }) => [version, sha256]));
    const names: string[] = [];
    for (const { version, name, text } of migrations) {
      const digest = await sha256(text);
      const before = applied.get(version);
      if (before === digest) continue;
      if (before !== undefined) {
        throw new Error(
          `Cannot migrate: ${name} was applied before and has changed since. Add a new migration instead`,
        );
      }
      await sql.unsafe(text);
      await sql`INSERT INTO ${
        sql(table)
      } (version, name, sha256) VALUES (${version}, ${name}, ${digest})`;
      names.push(name);
    }
    return names;
  });
}

function checkDraft(found: readonly { readonly name: string }[]): void {
  if (found.every(({ name }) => name === table)) return;
  throw new StartFailed(
    otherDraftText("the database", "Set DATABASE_URL or STATIC_DATA_DIR to a new, empty one"),
  );
}

function checkKnown(
  applied: readonly { readonly version: number; readonly name: string }[],
  migrations: readonly SqlMigration[],
): void {
  const known = new Set(migrations.map(({ version }) => version));
  const newer = applied.filter(({ version }) => !known.has(version)).map(({ name }) => name);
  if (newer.length === 0) return;
  throw new StartFailed(
    `Cannot open the database: a newer API has migrated it (${
      newer.join(", ")
    }). Start that one, or restore a backup ` +
      "from before it ran. Nothing was changed",
  );
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex();
}
