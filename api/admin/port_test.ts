import { assertEquals } from "@std/assert";
import { createLog, Secret } from "../../server/mod.ts";
import { createRateLimiter } from "../domain/rate_limit.ts";
import { createAdminPort } from "./port.ts";

const secret = "admin-secret-for-tests-0123456789abcdef";

Deno.test("the admin port answers this machine's programs and its own page only, whatever name a page has given it", async () => {
  const ran: string[] = [];
  const answer = createAdminPort({
    secret: new Secret(secret),
    failures: createRateLimiter("admin", { limit: 1, windowMs: 60_000 }, () => 0),
    run: (_args, way) => {
      ran.push(way);
      return Promise.resolve("done");
    },
    view: () => Promise.resolve({}),
    page: () => Promise.resolve(undefined),
    log: createLog({ write: () => {}, nowMs: () => 0 }),
  });
  const ask = async (
    host: string,
    bearer = secret,
    headers: Record<string, string> = {},
  ): Promise<number> => {
    const body = JSON.stringify({ args: ["accounts"] });
    const length = { "content-type": "application/json", "content-length": String(body.length) };
    const all = { authorization: `Bearer ${bearer}`, ...length, ...headers };
    const request = new Request(`http://${host}/admin/v1/run`, {
      method: "POST",
      body,
      headers: all,
    });
    return (await answer(request))?.status ?? 0;
  };
  // A name that an attacker's DNS points to this machine comes without an origin of another host.
  for (const host of ["evil.example", "evil.example:9090", "127.0.0.1.evil.example", "192.0.2.1"]) {
    assertEquals(await ask(host), 403, host);
  }
  const foreign = [
    "null",
    "http://localhost:9091",
    "https://localhost:9090",
    "http://127.0.0.1:9090",
    "http://evil.example",
  ];
  for (const origin of foreign) {
    assertEquals(await ask("localhost:9090", secret, { origin }), 403, origin);
  }
  for (const site of ["cross-site", "same-site", "none"]) {
    assertEquals(await ask("localhost:9090", secret, { "sec-fetch-site": site }), 403, site);
  }
  assertEquals(ran, []);
  // Wrong credentials are limited, and the right one never is.
  assertEquals([await ask("127.0.0.1", "x"), await ask("127.0.0.1", "x"), await ask("127.0.0.1")], [
    401,
    429,
    200,
  ]);
  for (const host of ["localhost:9090", "[::1]:9090"]) assertEquals(await ask(host), 200, host);
  const own = { origin: "http://localhost:9090", "sec-fetch-site": "same-origin" };
  assertEquals(await ask("localhost:9090", secret, own), 200);
  assertEquals(ran, ["port", "port", "port", "page"]);
});
