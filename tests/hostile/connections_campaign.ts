/** More connections than the process may have files open, held by clients that never finish a request. */
import { assertEquals, assertLess } from "@std/assert";
import { createCertificate } from "../support/mod.ts";
import { assertRecovered, assertServed, siegeMs } from "../support/hostile/held.ts";
import { besiege } from "../support/hostile/mod.ts";
import { anyBackend, createCall, signUp } from "../support/api/harness.ts";
import { startProcess } from "../support/api/process.ts";
import type { HolderReport } from "./attackers/connection_holder.ts";

const mostBytes = 200 * 2 ** 20;
const holder = new URL("attackers/connection_holder.ts", import.meta.url);

for (const [mode, openFiles] of [["plain", 400], ["TLS", 1_000]] as const) {
  Deno.test(`${mode}: two thousand held connections with ${openFiles} open files allowed leave the API serving`, async () => {
    const backend = await anyBackend.open();
    await using opened = new AsyncDisposableStack();
    opened.defer(() => backend.close());
    const { cert, key } = await createCertificate();
    const folder = backend.environment.STATIC_DATA_DIR ?? "";
    await Deno.writeTextFile(`${folder}/tls.crt`, cert);
    await Deno.writeTextFile(`${folder}/tls.key`, key);
    const tls = { STATIC_TLS_CERT: `${folder}/tls.crt`, STATIC_TLS_KEY: `${folder}/tls.key` };
    const environment = { ...backend.environment, ...mode === "TLS" ? tls : {} };
    await using api = await startProcess(environment, { openFiles });
    const port = Number(new URL(api.url).port);
    // A connection for each call: a new client must get in, not only one that was there before.
    using client = Deno.createHttpClient({ caCerts: [cert], poolMaxIdlePerHost: 0 });
    const call = createCall(`${mode === "TLS" ? "https" : "http"}://localhost:${port}`, { client });
    const { apiKey } = await signUp(call);
    const siege = await besiege<HolderReport>({
      name: `${mode}: 2,000 held connections, ${openFiles} open files`,
      pid: api.pid,
      everyMs: 50,
      honest: async () => {
        const { status, text } = await call("POST", "/v1/tokens", { key: apiKey });
        if (status !== 200) throw new Error(`${status} ${text}`);
      },
      attackers: [{
        script: holder,
        order: {
          port,
          addresses: Array.from({ length: 10 }, (_, i) => `127.0.1.${i + 1}`),
          parallel: 200,
          sends: mode === "TLS" ? "" : "POST /v1/accounts HTTP/1.1\r\nHost: localhost\r\nConte",
        },
      }],
      siegeMs,
    });
    // A call may meet the moment in which all places change hands.
    assertServed(siege, 1);
    assertLess(siege.peakBytes - siege.idleBytes, mostBytes, "the service's memory grew");
    assertRecovered(siege);
    assertEquals((await call("GET", "/ready")).status, 200);
  });
}
