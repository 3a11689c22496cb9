/**
 * The connection to PostgreSQL: pool, TLS as configured and asserted, and one deadline around every
 * query. A database that is away or hangs becomes the fault `overloaded` within that deadline; the
 * pool reconnects by itself.
 */
import postgres from "postgres";
import { Fault } from "../domain/fault.ts";
import { type Secret, waits } from "../../server/mod.ts";

export type Sql = postgres.Sql<{ bigint: number }>;
export type Transaction = postgres.TransactionSql<{ bigint: number }>;

/**
 * Three of libpq's modes: plain text, encrypted, and encrypted to a server that proves its name.
 */
export type TlsMode = "disable" | "require" | "verify-full";

export type DatabaseAddress =
  | {
    readonly kind: "url";
    readonly url: Secret;
    readonly tls: TlsMode;
    readonly ca: string | undefined;
  }
  | { readonly kind: "socket"; readonly path: string };

export interface PostgresPoolOptions {
  readonly maxConnections: number;
  /** Below the two seconds in which a request must be answered when the database is away. */
  readonly deadlineMs: number;
}

export interface PostgresDatabase {
  readonly sql: Sql;
  /**
   * Awaits a query under the deadline and turns connection trouble into a fault. A query that is
   * late and still waits for a connection is taken back: it must not run long after its caller was
   * told that it failed.
   */
  run<T extends readonly object[]>(query: postgres.PendingQuery<T>): Promise<postgres.RowList<T>>;
  /** The same for a transaction. */
  transact<T>(work: (sql: Transaction) => Promise<T>): Promise<T>;
  /** The name of the unique constraint that was violated, if that is what `error` says. */
  violatedConstraint(error: unknown): string | undefined;
  close(): Promise<void>;
}

const retryAfterSeconds = 2;
/** Reconnecting is cheap and the caller is waiting: no exponential patience. */
const reconnectSeconds = 0.25;

export function connectDatabase(
  address: DatabaseAddress,
  options: PostgresPoolOptions,
): PostgresDatabase {
  const sql: Sql = postgres({
    ...endpointOf(address),
    max: options.maxConnections,
    connect_timeout: options.deadlineMs / 1000,
    idle_timeout: 0,
    backoff: () => reconnectSeconds,
    onnotice: () => {},
    fetch_types: false,
    connection: {
      application_name: "static-api",
      statement_timeout: options.deadlineMs,
      // Everybody who adds to the audit waits for the one who adds: a process that stalls in its
      // transaction loses it.
      idle_in_transaction_session_timeout: waits.transaction.ms,
      // Every statement is prepared and finds its rows by keys, so a generic plan is enough. To
      // plan each request anew took four times as long as to carry it out.
      plan_cache_mode: "force_generic_plan",
    },
    // Counts stay far below 2^53; as numbers they go straight into JSON.
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  });
  return {
    sql,
    run: (query) => withDeadline(query, options.deadlineMs, () => giveUp(query)),
    transact: <T>(work: (sql: Transaction) => Promise<T>) => {
      let late = false;
      const begun = sql.begin(async (transaction) => {
        if (late) throw new Error("the caller no longer waits for this transaction");
        try {
          // In an object, because the driver would await the elements of an array.
          return { result: await work(transaction) };
        } catch (error) {
          // The driver would roll back on a connection that is gone, which nobody could catch. It
          // rejects when it hears of that.
          // limit: withDeadline
          if (isConnectionLost(error)) await new Promise(() => {});
          throw error;
        }
      });
      return withDeadline(
        begun.then(({ result }) => result),
        options.deadlineMs,
        () => late = true,
      );
    },
    violatedConstraint: (error) =>
      error instanceof postgres.PostgresError && error.code === "23505"
        ? error.constraint_name
        : undefined,
    close: () => sql.end({ timeout: waits.databaseClose.ms / 1_000 }),
  };
}

function endpointOf(
  address: DatabaseAddress,
): postgres.Options<Record<string, postgres.PostgresType>> {
  if (address.kind === "socket") {
    return {
      path: address.path,
      host: "localhost",
      user: "postgres",
      database: "postgres",
      max_lifetime: null,
    };
  }
  const url = new URL(address.url.reveal());
  const socketFolder = url.searchParams.get("host");
  // Without the brackets of an IPv6 address, and in an array, because the driver would cut a text
  // at its first colon.
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1") || "localhost";
  return {
    host: [host] as unknown as string, // cast: the driver takes lists, its types do not say so
    port: [Number(url.port || "5432")] as unknown as number, // cast: a list beside a list
    ...(socketFolder?.startsWith("/")
      ? { path: `${socketFolder}/.s.PGSQL.${url.port || "5432"}` }
      : {}),
    database: decodeURIComponent(url.pathname.slice(1)) || "postgres",
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    // The key is always given: `ssl: undefined` beside `sslmode=require` in a URL would connect in
    // plain text.
    ssl: tlsOptions(address, host),
  };
}

/**
 * `host` is what the certificate must be for: the driver names no address, and Node would then
 * compare with "localhost".
 */
function tlsOptions(
  { tls, ca }: { tls: TlsMode; ca: string | undefined },
  host: string,
): boolean | object {
  switch (tls) {
    case "disable":
      return false;
    case "require":
      return { rejectUnauthorized: false };
    case "verify-full":
      return { rejectUnauthorized: true, ca, host };
  }
}

/**
 * An array's text form, for words and uuids: the driver knows no arrays, because it is not asked to
 * fetch types.
 */
export function arrayText(items: readonly string[]): string {
  return `{${items.join(",")}}`;
}

/**
 * Refuses a connection that is not encrypted although it should be: a downgrade must not pass
 * unseen.
 */
export async function assertTls(
  { sql, run }: PostgresDatabase,
  address: DatabaseAddress,
): Promise<void> {
  if (address.kind === "socket" || address.tls === "disable") return;
  const [row] = await run(sql<{ ssl: boolean; version: string }[]>`
    SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()`);
  if (row?.ssl !== true) {
    throw new Error(
      `Cannot use the database: sslmode is ${address.tls}, but the connection is not encrypted`,
    );
  }
}

/**
 * Never one that was sent: the driver forgets a cancelled query whose answer is still to come, and
 * from then on every query on that connection gets the answer of the one before it. The database
 * ends it by itself (`statement_timeout`).
 */
function giveUp(query: { cancel(): unknown }): void {
  // The driver's mark of the connection that has it; its types do not say so.
  const isSent = Boolean(Reflect.get(query, "state"));
  if (!isSent) Promise.resolve(query.cancel()).catch(() => {});
}

async function withDeadline<T>(
  work: PromiseLike<T>,
  deadlineMs: number,
  giveUp: () => void,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(unavailable(new Error(`no answer within ${deadlineMs} ms`)));
      giveUp();
    }, deadlineMs);
  });
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    throw isConnectionTrouble(error) ? unavailable(error) : error;
  } finally {
    clearTimeout(timer);
  }
}

function unavailable(cause: unknown): Fault {
  return new Fault(
    "overloaded",
    "The database does not answer. The request may have taken effect, but not in part. Try again shortly",
    {
      cause,
      retryAfterSeconds,
    },
  );
}

/**
 * Errors that may go away: connection exceptions (08), a standby after a failover (25006), a
 * transaction that stalled (25P03), credentials or a database that are being replaced (28, 3D000),
 * deadlocks (40), no more resources (53), shutdown and cancellation (57), the client's codes.
 */
const troubleCode = /^(08...|25006|25P03|28...|3D000|40...|53...|57P0[1-5]|57014|CONNECT|E[A-Z]+$)/;

/** After these the connection is closed, by either side. */
const lostCode = /^(CONNECTION_|25P03|57P0[1-3]|E[A-Z]+$)/;

function isConnectionTrouble(error: unknown): boolean {
  return !(error instanceof Fault) && hasCode(error, troubleCode);
}

function isConnectionLost(error: unknown): boolean {
  return hasCode(error, lostCode);
}

function hasCode(error: unknown, codes: RegExp): boolean {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" && codes.test(code);
}
