import { assertEquals, assertRejects } from "@std/assert";
import { eventually, postgresInstalled, startPostgres, testWhen } from "../../tests/support/mod.ts";
import { Secret } from "../../server/mod.ts";
import { Fault } from "../domain/fault.ts";
import { connectDatabase, type DatabaseAddress } from "./database.ts";
import { openStore } from "./mod.ts";

const plainText = (url: string): DatabaseAddress => ({
  kind: "url",
  url: new Secret(url),
  tls: "disable",
  ca: undefined,
});
const options = { maxConnections: 1, deadlineMs: 500 };

/** A port of this machine that nobody listens on, or undefined when the family is missing here. */
function freePort(hostname: string): number | undefined {
  try {
    const listener = Deno.listen({ hostname, port: 0 });
    listener.close();
    return listener.addr.port;
  } catch {
    return undefined;
  }
}

testWhen(
  { met: freePort("::1") !== undefined, reason: "this machine has no IPv6" },
  "a database is reached at an IPv6 address",
  async () => {
    const listener = Deno.listen({ hostname: "::1", port: 0 });
    const dialled = listener.accept().then((connection) => connection.close());
    const opening = assertRejects(
      () => openStore(plainText(`postgres://u:p@[::1]:${listener.addr.port}/db`), options),
      Error,
    );
    assertEquals(
      await Promise.race([dialled.then(() => "dialled"), opening.then(() => "given up")]),
      "dialled",
    );
    listener.close();
    await opening;
  },
);

testWhen(
  postgresInstalled,
  "a query that is given up behind others on its connection gives nobody another's rows",
  async () => {
    const server = await startPostgres();
    const database = connectDatabase(plainText(await server.createDatabase()), {
      maxConnections: 1,
      deadlineMs: 400,
    });
    const ask = async (number: number, seconds = 0): Promise<string> => {
      const query = database.sql<
        { n: number }[]
      >`SELECT ${number}::int AS n FROM pg_sleep(${seconds})`;
      const rows = await database.run(query).catch((error: unknown) => error);
      if (rows instanceof Fault) return rows.code;
      if (rows instanceof Error) return rows.message;
      return JSON.stringify(rows) === JSON.stringify([{ n: number }]) ? "own" : "another's";
    };
    // The first takes longer than the deadline of those behind it; those who come last still have
    // time.
    const asked = [ask(0, 1), ...Array.from({ length: 20 }, (_, i) => ask(1 + i))];
    // wait: until shortly before the deadline
    await new Promise((resolve) => setTimeout(resolve, 350));
    asked.push(...Array.from({ length: 20 }, (_, i) => ask(21 + i)));
    const outcomes = new Set(await Promise.all(asked));
    await database.close();
    await server.close();
    assertEquals(
      [...outcomes].filter((outcome) => outcome !== "own" && outcome !== "overloaded"),
      [],
    );
  },
);

testWhen(
  postgresInstalled,
  "a process that stalls in its transaction holds up the others for seconds only",
  async () => {
    const server = await startPostgres();
    const url = await server.createDatabase();
    const [stalled, other] = [
      connectDatabase(plainText(url), options),
      connectDatabase(plainText(url), options),
    ];
    await other.run(other.sql`CREATE TABLE head AS SELECT 1 AS seq`);
    const stalling = stalled.transact(async (sql) => {
      await sql`SELECT * FROM head FOR UPDATE`;
      await new Promise(() => {});
    });
    await assertRejects(() => stalling, Fault);
    const add = (): Promise<unknown> =>
      other.run(other.sql`UPDATE head SET seq = seq + 1`).catch(() => undefined);
    await eventually({ what: "the lock" }, add, (done) => done !== undefined);
    await Promise.all([stalled.close(), other.close()]);
    await server.close();
  },
);
