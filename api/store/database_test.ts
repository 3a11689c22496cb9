import { assertEquals, assertRejects } from "@std/assert";
import { testWhen } from "../../tests/support/mod.ts";
import { Secret } from "../../server/mod.ts";
import type { DatabaseAddress } from "./database.ts";
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
    assertEquals(await Promise.race([dialled.then(() => "dialled"), opening.then(() => "given up")]), "dialled");
    listener.close();
    await opening;
  },
);
