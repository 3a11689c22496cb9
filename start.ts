/**
 * The whole stack on one machine, as far as it exists: the HTTP API with its embedded database, in this process. It says
 * plainly what this checkout does not contain yet.
 */
import { ConfigError, configFromEnvironment, startApi } from "./api/mod.ts";

/** Parts of the stack that are still missing, by the file that will bring them. */
const missing = [
  { entry: "relay/main.ts", what: "relay: encrypted channels over QUIC, WebTransport and gRPC" },
  { entry: "sdk/mod.ts", what: "SDK: client library for Deno, Node and browsers" },
  { entry: "cli/main.ts", what: "CLI: the static command" },
];

async function exists(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(new URL(path, import.meta.url))).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

try {
  console.log("Static: starting the HTTP API (the first start makes its database and takes some seconds) …");
  const api = await startApi(configFromEnvironment(), { writeLog: (line) => console.log(line) });
  console.log(`
API       ${api.url}   (documentation: ${api.url}/docs)

Try:
  curl ${api.url}/health
  curl -X POST ${api.url}/v1/accounts -H 'content-type: application/json' -d '{"email":"you@example.org","password":"a long password"}'
  curl -X POST ${api.url}/v1/tokens -H 'authorization: Bearer <the api_key above>'

Not in this checkout yet:`);
  for (const { entry, what } of missing) if (!await exists(entry)) console.log(`  ${what}`);
  console.log("\nCtrl-C stops it.");
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.addSignalListener(signal, resolve);
  });
  await api.close();
  Deno.exit(0);
} catch (error) {
  console.error(startFault(error));
  Deno.exit(1);
}

/** What went wrong and what to do, without a stack trace where the reason is known. */
function startFault(error: unknown): unknown {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof Deno.errors.AddrInUse) {
    return "Cannot start: a port is taken. Stop what uses it, or set STATIC_API_PORT or STATIC_ADMIN_PORT to another.";
  }
  return error;
}
