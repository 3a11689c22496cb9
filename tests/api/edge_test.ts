import { assert, assertEquals } from "@std/assert";
import "../support/built_console.ts";
import { eventually, freePort, postgresInstalled, testWhen } from "../support/mod.ts";
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

testWhen(postgresInstalled, "two edge processes have one limit for an account", async () => {
  const backend = await realPostgres.open();
  await using opened = new AsyncDisposableStack();
  opened.defer(() => backend.close());
  const limit = 40;
  const calls = [freePort(), freePort()].map((port) => {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["serve", "-A", "--no-check", "--host=127.0.0.1", `--port=${port}`, "api/edge.ts"],
      env: {
        ...testEnvironment,
        ...backend.environment,
        // As good as nothing comes back while the test runs.
        STATIC_RATE_ACCOUNT: `${limit}/86400`,
      },
      stdout: "null",
      stderr: "null",
    }).spawn();
    opened.defer(async () => {
      child.kill("SIGKILL");
      await child.status;
    });
    return createCall(`http://127.0.0.1:${port}`);
  });
  for (const call of calls) {
    const health = (): Promise<number> =>
      call("GET", "/health").then(({ status }) => status, () => 0);
    await eventually({ what: "the edge" }, health, (status) => status === 200);
  }
  const [one, two] = calls;
  if (one === undefined || two === undefined) throw new Error("unreachable");
  const { apiKey } = await signUp(one);
  const counts = { taken: 0, unanswered: 0, refused: 0 };
  while (counts.refused < 4) {
    const asking = [one, two].map((call) => call("GET", "/v1/keys", { key: apiKey }));
    for (const { status } of await Promise.all(asking)) {
      if (status === 200) counts.taken++;
      else if (status === 429) counts.refused++;
      // Of a database that is late nobody knows whether it has counted.
      else if (status === 503) counts.unanswered++;
      else throw new Error(`status ${status}`);
    }
  }
  assert(
    counts.taken <= limit && counts.taken + counts.unanswered >= limit,
    JSON.stringify(counts),
  );
});
