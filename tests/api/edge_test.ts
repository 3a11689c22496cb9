import { assertEquals } from "@std/assert";
import "../support/built_console.ts";
import { eventually, postgresInstalled, testWhen } from "../support/mod.ts";
import { createCall, realPostgres, signUp, testEnvironment } from "../support/api/harness.ts";

testWhen(postgresInstalled, "the edge entry serves the same API under deno serve", async () => {
  const backend = await realPostgres.open();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["serve", "-A", "--no-check", "--host=127.0.0.1", `--port=${port}`, "api/edge.ts"],
    env: { ...testEnvironment, ...backend.environment },
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    const call = createCall(`http://127.0.0.1:${port}`);
    const health = (): Promise<number> =>
      call("GET", "/health").then(({ status }) => status, () => 0);
    await eventually({ what: "the edge" }, health, (status) => status === 200);
    const { apiKey } = await signUp(call);
    assertEquals((await call("POST", "/v1/tokens", { key: apiKey })).status, 200);
    assertEquals((await call("GET", "/ready")).status, 200);
    for (const path of ["/console", "/console/assets/live.js"]) {
      assertEquals((await call("GET", path)).status, 200, path);
    }
  } finally {
    child.kill("SIGKILL");
    await child.status;
    await backend.close();
  }
});
