import { startPostgres } from "./tests/support/mod.ts";
import { measureLoad } from "./bench/http_load.ts";
const pg = await startPostgres();
const dir = await Deno.makeTempDir();
const child = new Deno.Command(Deno.execPath(), {
  args: ["run", "-A", "--no-check", "--cpu-prof", "--cpu-prof-dir=/tmp/probe_api/prof", "api/main.ts"],
  env: {
    STATIC_API_PORT: "18090",
    STATIC_ADMIN_PORT: "off",
    STATIC_DATA_DIR: dir,
    DATABASE_URL: await pg.createDatabase(),
    STATIC_RATE_ACCOUNT: "999999999/1",
  },
  stdout: "null",
}).spawn();
const url = "http://127.0.0.1:18090";
for (;;) {
  try {
    await (await fetch(url + "/health")).text();
    break;
  } catch {
    await new Promise((r) => setTimeout(r, 100));
  }
}
const { api_key } = await (await fetch(url + "/v1/accounts", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ email: "b@c.de", password: "12345678" }),
})).json();
for (const [m, p] of [["POST", "/v1/tokens"]]) {
  console.log(
    await measureLoad({
      url,
      method: m,
      path: p,
      headers: { authorization: `Bearer ${api_key}` },
      connections: 16,
      seconds: 5,
    }),
  );
}
child.kill("SIGTERM");
await child.status;
await pg.close();
